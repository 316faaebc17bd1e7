# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: E501, RUF001 (outputs as they are)
"""The audit: contradictions in outputs of programs and in tables are found, and nothing else is."""

import re
import time
import tomllib
from pathlib import Path
from random import Random

import pytest

import consistent
from synthetic import Synthetic
from teemark.audit import Audited, audit
from teemark.audit.numbers import number
from teemark.audit.text import read
from teemark.base import paths
from teemark.cli import main as cli
from teemark.reference.data import Reference
from teemark.wording import fmt

INPUTS = Path(__file__).parent / "inputs"
EXPECTED = tomllib.loads((INPUTS / "expected.toml").read_text(encoding="utf-8"))


def audited(text: str) -> Audited:
    return audit(read(text, "f"))


def found(made: Audited) -> list[str]:
    return [f"{one.place.line} {one.key}" for one in made.findings if one.place is not None]


@pytest.mark.parametrize("name", EXPECTED)
def test_planted_errors_are_found_and_nothing_else(name: str) -> None:
    made = audited((INPUTS / name).read_text(encoding="utf-8"))
    assert found(made) == EXPECTED[name], [one.claim for one in made.findings]


def test_every_input_has_its_findings_named() -> None:
    assert sorted(EXPECTED) == sorted(
        path.name for path in INPUTS.iterdir() if path.name != "expected.toml"
    )


def test_a_table_of_a_vendor_is_read() -> None:
    made = audited((INPUTS / "vendor-csv-table.rst").read_text(encoding="utf-8"))
    assert made.figures >= 18


SPEED = (
    "Doing sha256 ops for 3s on 64 size blocks: 3000000 sha256 ops in 3.00s\n"
    "Doing sha256 ops for 3s on 256 size blocks: 1500000 sha256 ops in 2.99s\n"
    "version: 3.0.19\n"
    "type             64 bytes    256 bytes\n"
    "sha256           64000.00k   128428.09k\n"
)
FIO = (
    "  read: IOPS=12.1k, BW=47.3MiB/s (49.6MB/s)(2838MiB/60001msec)\n"
    "    clat (usec): min=48, max=3140, avg=81.25, stdev=20.13\n"
    "     |  1.00th=[   52],  5.00th=[   57], 10.00th=[   60], 20.00th=[   66],\n"
    "     | 30.00th=[   72], 99.99th=[ 2180]\n"
)
FIO_2 = "  write: io=1024.0MB, bw=12345KB/s, iops=3086, runt= 84937msec\n"
GRID = (
    "+-----------+-----------+----------+---------------+\n"
    "| File      | Size (MB) | Time (s) | Rate (MB/s)   |\n"
    "+===========+===========+==========+===============+\n"
    "| a         | 10        | 2.0      | 5.0           |\n"
    "+-----------+-----------+----------+---------------+\n"
)
REPORT = "Total Time: 900 us\n  - copying: 300 us\n  - hashing: 500 us\n"
CRITERION = (
    "fib 20                  time:   [26.029 us 26.251 us 26.505 us]\n"
    "                        thrpt:  [603.66 Melem/s 609.50 Melem/s 614.70 Melem/s]\n"
)
XTEST = (
    "Starting test: SHA256, size=65536 bytes, random=no, unaligned=no, inner loops=1, loops=200, warm-up=2 s\n"
    "min=1559.26us max=4086.38us mean=1962.64us stddev=297.881us (cv 15.1776%) (31.8449MiB/s)\n"
    "2-sigma interval: 1366.88..2558.4us (24.4293..45.7247MiB/s)\n"
)
CHANGES = "| case | before (ms) | after (ms) | change |\n|--|--|--|--|\n| a | 10.0 | 12.0 | +20 % |\n| b | 8.0 | 6.0 | -25 % |\n| c | 5.0 | 5.5 | +10 % |\n"
SCORES = "Board      Clock (MHz)  Score  Score/MHz\nA          1000         3120   3.12\nB          1500         4500   3.00\n"
BASELINE = "| variant | time (ms) | speed-up |\n|--|--|--|\n| C | 12.0 | 1.00 |\n| assembly | 6.0 | 2.00 |\n| instructions | 1.5 | 8.00 |\n"
RELATIVE = "| command | Mean [s] | Min [s] | Max [s] | Relative |\n|--|--|--|--|--|\n| a | 5.00 ± 0.02 | 4.98 | 5.02 | 1.00 |\n| b | 13.50 ± 0.04 | 13.40 | 13.60 | 2.70 ± 0.02 |\n"

PLANTED = {
    "openssl's table": (SPEED, "128428.09k", "182428.09k", "5 rate"),
    "openssl's keys": ("                  sign    verify    sign/s verify/s\nrsa 2048 bits 0.000288s 0.000015s   3472.0  66194.0\n", "3472.0", "4372.0", "2 per-second"),
    "openssl's KEMs": ("             keygen    encaps    decaps keygens/s  encaps/s  decaps/s\n ML-KEM-768 0.000034s 0.000019s 0.000030s   29277.7   51310.1   33656.1\n", "51310.1", "15310.1", "2 per-second"),
    "openssl -mr": ("+DT:sha256:1:16\n+R:381191:sha256:0.990000\n+H:16\n+F:6:sha256:6160662.63\n", "6160662.63", "6610662.63", "4 rate"),
    "tcrypt a second": ("tcrypt: test  4 ( 1024 byte blocks, 1024 bytes per update,   1 updates): 190332 opers/sec, 194899968 bytes/sec\n", "194899968", "149899968", "1 rate"),
    "tcrypt in cycles": ("test  4 (  256 byte blocks,  256 bytes per update,   1 updates):   3072 cycles/operation,   12 cycles/byte\n", "   12 cycles", "   21 cycles", "1 cycles"),
    "kcapi-speed": ("SHA-256(G)                           |d|   16384 bytes|   125.0 MB/s|8000 ops/s\n", "125.0", "152.0", "1 rate"),
    "dd": ("1073741824 bytes (1.1 GB, 1.0 GiB) copied, 12.5034 s, 85.9 MB/s\n", "85.9", "95.8", "1 rate"),
    "dd of busybox": ("104857600 bytes (100.0MB) copied, 2.000000 seconds, 50.0MB/s\n", "50.0MB", "55.0MB", "1 rate"),
    "dd in another language": ("524288000 Bytes (524 MB, 500 MiB) kopiert, 4,9992 s, 105 MB/s\n", "105 MB", "501 MB", "1 rate"),
    "time": ("1.20user 0.30system 0:02.00elapsed 75%CPU (0avgtext+0avgdata 1234maxresident)k\n", "75%", "57%", "1 utilisation"),
    "xtest": (XTEST, "31.8449", "38.1449", "2 rate"),
    "xtest's interval": (XTEST, "..2558.4us", "..5558.4us", "3 spread"),
    "criterion": (CRITERION, "26.251", "28.251", "1 spread"),
    "criterion's throughput": (CRITERION, "614.70", "641.70", "2 rate"),
    "fio": (FIO, "49.6MB", "94.6MB", "1 conversion"),
    "fio's mean": (FIO, "avg=81.25", "avg=8125.1", "2 spread"),
    "fio's percentiles": (FIO, "[   72]", "[   27]", "4 spread"),
    "fio 2": (FIO_2, "12345KB", "21345KB", "1 rate"),
    "cyclictest": ("T: 0 ( 2604) P:95 I:1000 C: 349868 Min:      4 Act:    6 Avg:    5 Max:      35\n", "Avg:    5", "Avg:   50", "1 spread"),
    "wolfSSL": ("AES-128-CBC-enc    370 MiB took 1.002 seconds,  369.261 MiB/s Cycles per byte =   8.08\n", "369.261", "396.261", "1 rate"),
    "wolfSSL's keys": ("RSA     2048  public      1200 ops took 1.003 sec, avg 0.836 ms, 1196.411 ops/sec\n", "1196.411", "1916.411", "1 per-second"),
    "Mbed TLS": ("  SHA-256                  :      79200 KiB/s,         12 ns/byte\n", "79200", "29200", "1 rate"),
    "a Markdown table": ("| f | Size | Time | Throughput |\n|--|--|--|--|\n| a | 10 MB | 2 s | 5.0 MB/s |\n", "5.0", "9.0", "3 rate"),
    "sizes in the cells": ("| size | time | rate |\n|--|--|--|\n| 1 MiB | 16.2 ms | 61.7 MiB/s |\n| 64 KiB | 1.02 ms | 61.3 MiB/s |\n", "61.7", "71.6", "3 rate"),
    "a grid": (GRID, "5.0  ", "9.0  ", "4 rate"),
    "CSV": ("file,size (MB),time (s),rate (MB/s)\na,10,2.0,5.0\nb,30,3.0,10.0\n", "10.0", "30.1", "3 rate"),
    "times a byte": ("| alg | ns/B | MB/s |\n|--|--|--|\n| a | 8.0 | 125 |\n", "125", "152", "3 rate"),
    "nanoseconds per byte": (
        "| op | Time per byte (ns) | Rate (MB/s) |\n|---|---|---|\n| sha | 10.0 | 100 |\n",
        "100 |",
        "120 |",
        "3 rate",
    ),
    "times an operation": ("| op | time per op (ms) | ops/s |\n|--|--|--|\n| sign | 2.50 | 400 |\n", "400", "480", "3 per-second"),
    "score/MHz": (SCORES, "3.12", "3.21", "2 quotient"),
    "changes": (CHANGES, "-25 %", "-52 %", "4 change"),
    "overheads": ("| | a (ms) | b (ms) | Overhead |\n|--|--|--|--|\n| get | 10.0 | 11.4 | 14.0 % |\n| put | 20.0 | 22.6 | 13.0 % |\n| list | 50.0 | 54.0 | 8.0 % |\n", "13.0 %", "31.0 %", "4 change"),
    "hyperfine's table": (RELATIVE, "2.70", "2.20", "4 factor"),
    "factors of a baseline": (BASELINE, "8.00", "6.00", "5 factor"),
    "a mean outside its range": ("| op | min (ms) | mean (ms) | max (ms) |\n|--|--|--|--|\n| a | 1.0 | 2.0 | 3.0 |\n", "2.0", "4.0", "3 spread"),
    "parts below their whole": (REPORT, "500 us", "800 us", "3 part-above-whole"),
    "names that end where their whole's does": ("Total: 100 ms\n  one: 70 ms\n  two: 20 ms\n", "20 ms", "60 ms", "3 part-above-whole"),
    "parts behind a tab": ("Total: 100 ms\n\tone: 70 ms\n\ttwo: 20 ms\n", "20 ms", "60 ms", "3 part-above-whole"),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_a_contradiction_is_found(name: str) -> None:
    """Each text is right, and one figure is changed in it."""
    text, right, wrong, finding = PLANTED[name]
    assert text.count(right) == 1
    made = audited(text)
    assert made.findings == ()
    assert made.tested > 0
    assert finding in found(audited(text.replace(right, wrong)))


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize("way", ["mail", "a code block", "folded blanks"])
def test_an_output_is_read_as_it_is_pasted(name: str, way: str) -> None:
    text, right, wrong, finding = PLANTED[name]
    text = text.replace(right, wrong)
    if way == "mail":
        text = "".join(f"> {line}\n" for line in text.splitlines())
    elif way == "a code block":
        text = "".join(f"    {line}\n" for line in f"```\n{text}```".splitlines())
        finding = f"{int(finding.split()[0]) + 1} {finding.split()[1]}"
    elif name in ("score/MHz", "parts below their whole"):
        pytest.skip("blanks are all that tells its columns or its parts")
    else:
        text = re.sub(r"(?<=\S) +", " ", text)
    assert finding in found(audited(text))


def test_a_line_that_mail_has_folded_is_read_with_the_next() -> None:
    text = "> tcrypt: test 0 (128 bit key, 16 byte blocks): 558165\n> operations in 1 seconds (8930641 bytes)\n"
    assert found(audited(text)) == ["1 rate"]


AGREE = (
    SPEED.replace("Doing", "Forked child 0\nDoing", 1).replace("64000.00k", "256000.00k"),
    "| | KEM |\n|--|--|\n| Delta of B and A (ms) | -12 |\n",
    "difference (us): -45.0\nchange: -12 %\noffset: -3 ms\n",
    "                     rsa15360 73.900000s 0.000746s 0.180727s       0.0    1339.7       5.5\n",
    "RNG                  1 MB took 1.000 seconds,    1.074 MB/s\n",
    "  read: IOPS=20.0k, BW=78.1MiB/s (81.9MB/s)(80.0KiB/1msec)\n    slat (nsec): min=0, max=0, avg= 0.00, stdev= 0.00\n",
    "real\t0m3.001s\nuser\t0m9.020s\nsys\t0m0.100s\n",
    "Time in TEE: 579 ms\nRead I/O: 176 ms\nTotal time: 595 ms",
    "| threads | latency (ms) | ops/s |\n|--|--|--|\n| 4 | 10.0 | 400 |\n",
    "| | median (ms) | mean (ms) | sd (ms) |\n|---|---|---|---|\n| a | 5 | 6 | 2 |\n| b | 8 | 9 | 1 |\n| total | 9 | 12 | 3 |",
    "| op | p50 (op/s) | p99 (op/s) |\n|--|--|--|\n| a | 900 | 300 |\n",
    "Only the ARM Cortex-A53 at 1.4 GHz and the Cortex-A72 at 2.0 GHz\n\n| alg | MB/s |\n|--|--|\n| sha256 | 900 |\n",
    "SHA-256 on a Raspberry Pi 4, Cortex-A72 at 1.5 GHz\n\n| alg | MB/s |\n|--|--|\n| sha256 | 12 |\n",
    "CPUs 0-3 = 4 of them, in 10 - 2 = 8 steps of the plan on 2024-11-05 = day 5\nTime: 5 ms\n",
    "| metric | value (ms) |\n|---|---|\n| Host-side difference | 0.0083 |\n| 95 % | −0.134 … 0.0267 |",
    "| part | takes | 95 % | share |\n|---|---|---|---|\n| compute | 41.1 ms | 33.2 … 73.9 ms | 104 % |\n"
    "| unexplained | −4.03 ms | −34.8 … 8.34 ms | −10 % |\n| the call | 39.4 ms | 30.3 … 45.3 ms | 100 % |",
    "| op | avg (ms) | published (ms) | ratio | NS avg (ms) | published (ms) | ratio |\n|---|---|---|---|---|---|---|\n"
    "| delete | 30.04 | 49.678530 | 0.605× | 3.033 × 10⁻⁴ | 0.007390 | 0.0410× |",
    "- 10 clients\n\n  | op | req/s | Latency (ms) |\n  |--|--|--|\n  | get | 4000 | 2.5 |\n",
    "| command | Mean [s] | Min [s] | Max [s] |\n|--|--|--|--|\n| `cat a \\| wc` | 1.40 | 1.20 | 1.50 |\n",
    "field,min,mean,max\nlongitude,-77.5,-73.93,-73.7005968\nlatitude,40.1,40.7,41.2\n",
    "op,how,time (mean),time (min)\na,c,5 ms,4 ms\nb,c,6 ms,5 ms\nop,how,stack,heap\na,c,50,70\n",
    "| set | A | B | Diff |\n|--|--|--|--|\n| x | 20.0 KB | 16.0 KB | 4.0 KB |\n"
    "| y | 16.0 KB | 20.5 KB | 4.5 KB |\n| z | 30.0 KB | 41.0 KB | 11.0 KB |\n",
    "Solver\n    Size of it: 16.9 M\n\n    Preconditioner\n      Unknowns: 5000\n      Nonzeros: 140000\n",
    "Mean:   -0.30 %  (slower)\nP99:   +2.40 %\nMax:   -3.20 %\nMin:   +9.10 %\n",
    "| | a (ms) | b (ms) | Overhead | Ratio |\n|--|--|--|--|--|\n| Min | 10.0 | 11.4 | 14.0 % | 1.14x |\n"
    "| P50 | 20.0 | 22.6 | 13.0 % | 1.13x |\n| P99 | 50.0 | 54.0 | 8.0 % | 1.08x |\n",
    "Time: 5 ms\n    i += 1\n    while blank:\n        i += 1\n    if bar:\n        i += 1\n",
    "| test | time (µs) | overhead |\n|--|--|--|\n| base, tiny | 8.00 | - |\n| base, large | 60.0 | - |\n"
    "| map, tiny | 16.0 | 2.00x |\n| map, large | 90.0 | 1.50x |\n| ring, tiny | 24.0 | 3.00x |\n",
    # names aligned at their end, and what follows an empty line, are no parts
    "\t      dense count = 199 of all\n\t       hash count = 199 of all\n\t       flat count = 199 of all\n",
    "\t        martin flat, add time = 2.83\n\t         phmap flat, add time = 2.86\n\t         boost flat, add time = 1.88\n",
    "one median: 9.05s\n\n  two run 1: 5.42s\n  two run 2: 7.06s\n",
    # floating point's sums, operations that are named Min and Max
    "| op | min | max | mean |\n|--|--|--|--|\n| a | 28.54626703642159 | 28.54626703642159 | 28.54626703642148 |\n",
    "| operation | time |\n|--|--|\n| Sum | 100 µs |\n| Min (i32) | 5.72 µs |\n| Max (i32) | 5.67 µs |\n",
    # the baseline of another group, and one in the text
    "| n | path | mean (µs) | Δmean |\n|--|--|--|--|\n| 12000 | tree | 8908 | +0% |\n| 12000 | tree, 4 | 3997 | -55% |\n| 16000 | grid | 2058 | -28% |\n",
    # nothing binds what has no heading, nor "ratio" in a word
    "| way | reads (ops/s) | | writes (ops/s) | |\n|--|--|--|--|--|\n| a | 133568 | 1.0x | 132620 | 1.0x |\n| b | 208474 | 1.6x | 125410 | 0.9x |\n| c | 753375 | 5.6x | 1194849 | 9.0x |\n",
    "| machine | Key Generation | Signing | Verification |\n|--|--|--|--|\n| A | 240 ms | 6.9 ms | 2.07 ms |\n",
    # the factor of whichever is faster
    "| op | A | B | Speedup |\n|--|--|--|--|\n| x | 0.01 ms | 0.14 ms | 14.0x |\n| y | 36.35 ms | 34.36 ms | 1.06x |\n| z | 211.7 ms | 188.6 ms | 1.1x |\n",
    # a column of shares and of sizes
    "| what | on | off | Difference |\n|--|--|--|--|\n| read | 22.33 ms | 16.00 ms | +39.6% |\n| get | 84.00 ms | 55.00 ms | +52.7% |\n| size | 843776 bytes | 839680 bytes | 4096 bytes |\n",
    # what wasn't done, and what is part of a part
    "Total verifications: 111\n  Passed: 111\n  Failed: 0\n  N/A: 105\n",
    "Total: 100 ms\n  encrypt: 60 ms\n  of which memcpy: 30 ms\n  decrypt: 40 ms\n",
    "| operation | time |\n|--|--|\n| min | 5.72 µs |\n| max | 5.67 µs |\n",
    # a size that isn't processed, what runs side by side, the mean of factors
    "| alg | Key size | Time | Throughput |\n|--|--|--|--|\n| AES | 16 bytes | 2.5 ms | 400 MB/s |\n",
    "| op | Latency per op (ms) | ops/s |\n|--|--|--|\n| TLS (16 conns) | 8 ms | 2000 ops/s |\n",
    "| op | old | new | Speedup |\n|--|--|--|--|\n| a | 10 ms | 5 ms | 2.0x |\n| b | 10 ms | 2.5 ms | 4.0x |\n| Average | 10 ms | 3.75 ms | 3.0x |\n",
    # three inputs, of which no two are bound
    "| op | A (ms) | B (ms) | C (ms) | Speedup |\n|--|--|--|--|--|\n| x | 1.0 | 2.0 | 4.0 | 3.0x |\n",
    # what the factor is made of isn't read, or isn't there
    "| model | old tok/s | new tok/s | speedup | old MB | new MB |\n|--|--|--|--|--|--|\n| a | 74562 tok | 65451 tok | 0.88x | 363 | 363 |\n",
    "| run | A MP | B MP | C MP |\n|--|--|--|--|\n| whole | 14.428s | 2min14.616s | 12.244s |\n| Speedup | 20.17x | 2.16x | 23.74x |\n",
    "| what | before | after | Factor |\n|--|--|--|--|\n| copies | 8416 bytes | 8416 bytes | 5x fewer copies |\n",
    "Model name: Cortex-A55\nCPU(s): 8\nThread(s) per core: 1\nCore(s) per socket: 4\nSocket(s): 1\n",
)


@pytest.mark.parametrize("text", AGREE)
def test_what_may_be_right_is_no_finding(text: str) -> None:
    assert [one.claim for one in audited(text).findings] == []


@pytest.mark.parametrize("number", ["1e2147483648", "1e100000000", "9e-999999999"])
def test_a_number_of_very_many_digits_takes_neither_time_nor_memory(number: str) -> None:
    began = time.process_time()
    assert audited(f"a: {number}\nb: {number} ms\nTime: 5 ms\nMean: {number} ms\n").findings == ()
    assert time.process_time() - began < 5


def test_it_says_how_much_it_read_and_which_lines_it_did_not() -> None:
    made = audited(
        "| f | Size | Time | Rate |\n|-|-|-|-|\n| a | 4096 B | 100 µs | 40.96 MB/s |\n\nWe tried 17 and 23.",
    )
    assert (made.figures, made.lines, made.tested) == (3, 1, 1)
    assert made.unknown == (("We tried 17 and 23.", 5),)
    assert made.summary == (
        "f: read 3 figures in 1 line; 1 could be tested: 0 findings; not read: 1 line with numbers (5)."
    )


@pytest.mark.parametrize("maker", consistent.MAKERS)
def test_tables_that_agree_give_no_alarm(maker: object) -> None:
    """25 of each of 10 kinds."""
    assert callable(maker)
    texts = [maker(Random(seed)) for seed in range(25)]
    assert [one.claim for text in texts for one in audited(text).findings] == []


DERIVED = {
    "openssl": r"(\d+\.\d+)k?$",
    "xtest": r"\((\d+\.\d+)MiB/s",
    "tcrypt": r"(\d+) bytes/sec",
    "kcapi": r"(\d+)\.\d+ [kM]B/s",
    "scaling": r"(\d+\.\d+)x",
    "comparison": r"(\d+\.\d+)x",
}


@pytest.mark.parametrize("name", DERIVED)
def test_a_wrong_figure_among_right_ones_is_found(name: str) -> None:
    maker = next(one for one in consistent.MAKERS if one.__name__ == name)
    tried = 0
    for seed in range(20):
        text = maker(Random(seed))
        place = re.search(DERIVED[name], text)
        if place is None:
            continue
        wrong = f"{float(place[1]) * 1.5:.2f}" if "." in place[1] else str(int(place[1]) * 2)
        altered = text[: place.start(1)] + wrong + text[place.end(1) :]
        assert audited(altered).findings, altered
        tried += 1
    assert tried >= 10


def test_a_program_that_ran_twice_is_no_contradiction() -> None:
    for maker in (consistent.openssl, consistent.tcrypt, consistent.xtest):
        text = "\n".join(maker(Random(seed)) for seed in (3, 4, 5))
        assert audited(text).findings == ()


def test_a_report_of_ours_gives_no_alarm(tmp_path: Path) -> None:
    """Many tables with the same headings, of different things; medians, means and deviations."""
    Synthetic().write(tmp_path)
    assert cli.run(["report", str(tmp_path), "-o", str(tmp_path / "out")]) == 0
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    made = audited(text)
    assert made.figures > 200
    assert [one.claim for one in made.findings] == []


ADVERSARIES = (
    "1", "1.", "1,", "123,123,", "((()", "()", "- 1 - ", "1 + 1 = ", "1-2-", "a: ", "a=1 ", "1 ms ",
    "1x ", "50 %, ", "|1", "| 1 ms ", "sha-256 ", "1.0s ", "1.0k ", "= ", "# ", "\t1", "a,1,",
    "1 MB 1 ms 1 MB/s 5 calls ", "tcrypt: test 1 (1 byte blocks): ", "x | 1.234567 ms | 1.234567 ms\n",
    "a: 1 ms\n", "  a: 1 ms\n", "[ 1.1] ", "=== a", "1.00th=[ 1], ", "a 1 MB took 1.0 seconds, ", "+--+\n| 1 |\n",
)  # fmt: skip


@pytest.mark.parametrize("piece", ADVERSARIES)
def test_no_pattern_backtracks_without_bound(piece: str) -> None:
    """Four times the text takes about four times the CPU time: quadratic work would take sixteen
    times."""

    def work(length: int, often: int) -> float:
        text = f"Rate: 10 MB/s\n\n{piece * (length // len(piece))}"
        times = []
        for _ in range(often):
            start = time.process_time()
            audited(text)
            times.append(time.process_time() - start)
        return min(times)

    # What disturbs the longer one is tried again; the shorter one is too short to be seen once.
    assert any(work(16_000, 1) < 9 * work(4_000, 3) for _ in range(6))


def test_sources_of_bounds_can_be_looked_up(reference: Reference) -> None:
    said = [one.source for one in reference.constants.values()]
    said += [f"{one.source} {one.note}" for one in reference.cycles]
    assert all(said)
    assert not [text for text in said if "secondary" in text]


def test_every_rule_is_described() -> None:
    text = (paths.root() / "docs" / "published-figures.md").read_text(encoding="utf-8")
    source = "".join(
        path.read_text()
        for path in (paths.root() / "lab/src/teemark/audit").iterdir()
        if path.is_file()
    )
    rules = set(re.findall(r'(?:Tested|follows|in_order)\(\s*"([a-z-]+)"', source)) | set(
        re.findall(r'"([a-z-]+): \w+ (?:=|<=) ', source)
    )
    rules -= {"rule"}
    assert len(rules) > 10
    assert [rule for rule in sorted(rules) if f"`{rule}`" not in text] == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (85043.71, "85'044"),
        (11.6186, "11.62"),
        (0.07589, "0.07589"),
        (-65556, "−65'556"),
        (1.5, "1.5"),
        (9.9999, "10"),
        (0.00012, "0.00012"),
    ],
)
def test_numbers_are_written(value: float, text: str) -> None:
    assert number(value).replace(fmt.THIN, "'") == text
