# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: E501, RUF001 (documents as they are)
"""The audit: planted errors of made-up documents are found, and nothing else is."""

import re
import time
from pathlib import Path
from random import Random

import pytest

import consistent
from synthetic import Synthetic
from teemark.audit import RULES, Audited, audit
from teemark.audit.rule import number
from teemark.audit.text import read
from teemark.base import paths
from teemark.cli import main as cli
from teemark.reference.data import Reference
from teemark.wording import fmt

DOCUMENTS = Path(__file__).parent / "documents"
MARK = "‹planted›"
DEVELOPED = ("release_note", "blog_post", "run_log")
KEPT_BACK = ("thesis", "readme", "slides")
"""Written before the rules were tuned: 30 of their 36 errors were found at the first try, without a
false alarm. Five of the six others were words that the reader didn't know, one was a rule."""
ROUND_3 = ("field_study", "field_notes", "gateway")
"""Likewise 40 errors: 32 at the first try, with one false alarm; 36 with four rules mended, without.
Lines marked ‹missed› have the others."""


def audited(reference: Reference, text: str) -> Audited:
    return audit(read(text, "f"), reference)


@pytest.mark.parametrize("name", [*DEVELOPED, *KEPT_BACK, *ROUND_3])
def test_planted_errors_are_found_and_nothing_else(reference: Reference, name: str) -> None:
    lines = (DOCUMENTS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    planted = {number for number, line in enumerate(lines, 1) if MARK in line}
    made = audited(
        reference,
        "\n".join(line.replace(MARK, "").replace("‹missed›", "").rstrip() for line in lines),
    )
    found = {one.place.line for one in made.findings if one.place is not None}
    assert len(planted) >= 11
    assert found == planted, {one.claim for one in made.findings}


def test_a_document_put_right_has_no_finding_left(reference: Reference) -> None:
    """The errors of a document, each put right by hand, leave nothing behind."""
    text = (DOCUMENTS / "release_note.txt").read_text(encoding="utf-8").replace(f" {MARK}", "")
    for wrong, right in (
        ("speed-up of 3x", "speed-up of 4x"), ("(9x)", "(15x)"), ("reduction of 40 %", "reduction of 25 %"),
        ("160 MB/s", "81.92 MB/s"), ("26.2 MB/s", "41.9 MB/s"), ("180 MB/s.", "145 MB/s."),
        ("25 % |", "15 % |"), ("308", "288"), ("that is 2.5 ms", "that is 1.5 ms"),
        ("mean 75", "mean 95"), ("140 %", "98 %"), ("(32 KiB)", "(64 KiB)"),
    ):  # fmt: skip
        assert wrong in text, wrong
        text = text.replace(wrong, right)
    made = audited(reference, text)
    assert made.findings == ()
    assert made.tested > 30


CONTRADICTIONS = {
    "a CPU load above its CPUs": ("CPU load: 240 %", "percent"),
    "a factor of two rates": ("It went from 12 MB/s to 180 MB/s, 9x faster.", "factor"),
    "cycles and clock": ("It takes 8.3 cycles a byte, at 1.2 GHz 180 MB/s.", "cycles"),
    "size and time": ("It hashed 4,096 B in 100 µs, that is 80 MB/s.", "rate"),
    "a file of a heading": (
        "### Files (10MB file)\n| Operation | Time | Rate |\n|---|---|---|\n| SHA-1 | 0.437s | 42.9 MB/s |",
        "rate",
    ),
    "a percentage in words": (
        "| Metric | API | Own | Analysis |\n|---|---|---|---|\n"
        "| Time | 3.26 s | 3.52 s | The API is ~18.2% faster |",
        "factor",
    ),
    "a speed that no software has": (
        "SHA-256 on a Cortex-A53 at 1.2 GHz\n\nThroughput: 900 MB/s\n",
        "published-speed",
    ),
    "CPU time of openssl": (
        "Doing sha256 ops for 3s on 64 size blocks: 99 sha256 ops in 0.20s\n",
        "cpu-time",
    ),
    "a unit of something else": ("| op | throughput (ms) |\n|---|---|\n| a | 5.0 |\n", "impossible-unit"),
    "a scaling that is one less": (
        "| Metric | 40MB | 100MB | Scaling Factor |\n|---|---|---|---|\n| Time | 3,249 ms | 8,128 ms | 1.50x |",
        "factor",
    ),
    "about as much in another unit": ("The overhead per call is **~11,133 µs (~21.1 ms)**.", "conversion"),
    "a range wider than the words": ("tenfold: it fell from 85 ms to 30 ms, a tenfold gain", "factor"),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_contradiction_is_found(reference: Reference, name: str) -> None:
    text, rule = CONTRADICTIONS[name]
    findings = audited(reference, text).findings
    assert rule in [one.key for one in findings], findings
    assert all(one.place is not None and one.place.line > 0 for one in findings)


AGREE = (
    "CPU load: 240 % on 4 cores",
    "A quad-core board. CPU load: 240 %",
    "It went from 12 MB/s to 180 MB/s, 15x faster.",
    "We repeated it three times: 12 ms and 15 ms.",
    "At 4 KiB an empty call takes 85 µs, and the throughput of SHA-256 is 20 MB/s.",
    "Version 4.5.0 of 12 May 2025 on a Cortex-A53 hashes 1 MB in 80 ms.",
    "The file of 40 MB (40MB file) took 3.26 s.\n\n| x | Time | Rate |\n|---|---|---|\n"
    "| a | 3.26 s | 12.55 MiB/s |",
    "Time in TEE: 579 ms\nRead I/O: 176 ms\nTotal time: 595 ms",
    "| | median | mean | sd |\n|---|---|---|---|\n| a | 5 ms | 6 ms | 2 ms |\n| total | 9 ms | 12 ms | 3 ms |",
    "Overhead: 240 % of the baseline",
    "| runs | starts | 3 % more is seen in |\n|---|---|---|\n| 2500 | 20 | 84 % |\n| 392 | 194 | 47 % |",
    "Of 8 starts 22 cases and 36 files were seen.",
    # sentences and tables of our own reports of the five documents
    "| metric | value (ms) |\n|---|---|\n| Host-side difference | 0.0083 |\n| 95 % | −0.134 … 0.0267 |",
    "A comparison with mean values. As one, 1.778416 ms^2 would be a deviation of 1.334 ms.",
    "| op | avg (ms) | published (ms) | ratio | NS avg (ms) | published (ms) | ratio |\n|---|---|---|---|---|---|---|\n"
    "| delete | 30.04 | 49.678530 | 0.605× | 3.033 × 10⁻⁴ | 0.007390 | 0.0410× |",
    "| metric | Size (MB) | published (MB) | ratio | Runs | published | ratio |\n|---|---|---|---|---|---|---|\n"
    "| File | 10 | 10 | 1.00× | 10 | 1 (inferred) | 10.0× |",
    "| source | Size (MB) | Time (s) | Throughput (MB/s) | by 4096 bytes (MB/s) |\n|---|---|---|---|---|\n"
    "| hwrng | 1 | 6.967 | 0.1435 | 0.07713 |",
    "| of | kernel (MB/s) | published (MB/s) | own (MB/s) | published (MB/s) | Improvement | published | ratio |\n"
    "|---|---|---|---|---|---|---|---|\n| AES | 1.927 | 14.986 | 43.51 | ~5 to 10 | 0.04428x | 1.5 to 3x | 0.0197× |\n"
    "| 95 % | 1.46 … 4.48 | | 41.0 … 49.4 | | 0.0330 … 0.119 | | |",
    "- Software is called 20 MB/s, and it may be.\n- The comparison is with software that nobody measured here "
    "and that has no source; published code does 65 to 80 MB/s of SHA-256 on this core, 8.66 x as much.",
    "| backend | median (ms) | 95 % | sd |\n|---|---|---|---|\n| tee | 916 | 674 … 968 | 17 % |\n"
    "| c | 344 | 281 … 401 | 31 % |\n| k | 404 | 318 … 700 | 41 % |",
    "It takes 366× (345 … 367); opening one while another keeps it loaded: 73.2 µs (73.1 … 77.5 µs).",
    "From 1 to 4 MiB a byte takes 1.00× the time of one from 4 to 64 KiB, where it has 0.5: 2.00 times as much here.",
    "Of the time, it is 99.8 %, where x has 99.9 %: 0.999 times as much here (it holds from 99.9 %).",
    "| part | takes | 95 % | share |\n|---|---|---|---|\n| compute | 41.1 ms | 33.2 … 73.9 ms | 104 % |\n"
    "| unexplained | −4.03 ms | −34.8 … 8.34 ms | −10 % |\n| the call | 39.4 ms | 30.3 … 45.3 ms | 100 % |",
    "By the formula of the chunks it is −65.6 ms here, less than nothing.",
    "| step | times | takes | on a CPU |\n|---|---|---|---|\n| read | 5 | 11.2 ms | 11.2 ms |\n| hash | 6 | 178 ms | 140 ms |",
    "| part | ms | share |\n|---|---|---|\n| a | 15.4 | 49 % |\n| b | 9.0 | 30 % |\n| c | 5.6 | 18.7 % |",
)


@pytest.mark.parametrize("text", AGREE)
def test_what_may_be_right_is_no_finding(reference: Reference, text: str) -> None:
    assert audited(reference, text).findings == ()


def test_it_says_how_much_it_read_and_what_it_did_not_understand(reference: Reference) -> None:
    made = audited(reference, "Size: 4096 B\nTime: 100 µs\nRate: 40.96 MB/s\nWe tried 17 and 23.")
    assert (made.figures, made.lines) == (3, 3)
    assert made.tested >= 1
    assert made.unknown == (("17", 4), ("23", 4))
    assert made.summary == (
        "f: read 3 figures in 3 lines; 1 could be tested: 0 findings; 2 numbers not "
        "understood (line 4: 17, line 4: 23)."
    )


@pytest.mark.parametrize("maker", consistent.MAKERS)
def test_tables_that_agree_give_no_alarm(reference: Reference, maker: object) -> None:
    """25 of each of 10 kinds."""
    assert callable(maker)
    texts = [maker(Random(seed)) for seed in range(25)]
    assert [one for text in texts for one in audited(reference, text).findings] == []


DERIVED = {
    "xtest": r"\((\d+\.\d+)MiB/s",
    "tcrypt": r"(\d+) bytes/sec",
    "kcapi": r"(\d+)\.\d+ [kM]B/s",
    "report": r"Utilization: (\d+\.\d+)%",
    "scaling": r"(\d+\.\d+)x",
    "comparison": r"(\d+\.\d+)x",
}


@pytest.mark.parametrize("name", DERIVED)
def test_a_wrong_figure_among_right_ones_is_found(reference: Reference, name: str) -> None:
    maker = next(one for one in consistent.MAKERS if one.__name__ == name)
    tried = 0
    for seed in range(20):
        text = maker(Random(seed))
        place = re.search(DERIVED[name], text)
        if place is None:
            continue
        wrong = f"{float(place[1]) * 1.5:.2f}" if "." in place[1] else str(int(place[1]) * 2)
        altered = text[: place.start(1)] + wrong + text[place.end(1) :]
        assert audited(reference, altered).findings, altered
        tried += 1
    assert tried >= 10


def test_a_program_that_ran_twice_is_no_contradiction(reference: Reference) -> None:
    for maker in (consistent.openssl, consistent.tcrypt, consistent.xtest):
        text = "\n".join(maker(Random(seed)) for seed in (3, 4, 5))
        assert audited(reference, text).findings == ()


def test_a_report_of_ours_gives_no_alarm(reference: Reference, tmp_path: Path) -> None:
    """Many tables with the same headings, of different things; medians, means and deviations."""
    Synthetic().write(tmp_path)
    assert cli.run(["report", str(tmp_path), "-o", str(tmp_path / "out")]) == 0
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    made = audited(reference, text)
    assert made.figures > 200
    assert made.findings == ()


def test_an_emulator_is_not_held_to_its_core(reference: Reference) -> None:
    text = CONTRADICTIONS["a speed that no software has"][0] + "Run in QEMU.\n"
    assert audited(reference, text).findings == ()


def test_what_the_caller_knows_comes_first(reference: Reference) -> None:
    text = "SHA-256\n\nThroughput: 900 MB/s\n"
    assert audited(reference, text).findings == ()
    made = audit(read(text, "f"), reference, "cortex-a53", 1.2e9)
    (finding,) = made.findings
    assert finding.key == "published-speed"
    assert "inferred" not in finding.claim


ADVERSARIES = (
    "1", "1.", "1,", "123,123,", "((()", "()", "- 1 - ", "1 + 1 = ", "1-2-", "a: ", "a=1 ", "1 ms ",
    "1x ", "1 ms 2x ", "50 %, ", "|1", "| 1 ms ", "sha-256 ", "1.0s ", "1.0k ", "= ", "# ", "\t1", "of 1 ms, ",
    "1 MB 1 ms 1 MB/s 5 calls ", "tcrypt: test 1 (1 byte blocks): ", "x | 1.234567 ms | 1.234567 ms\n",
    "a: 1 ms\n", "test 1: 1 ms (1)\n", "[ 1.1] ", "=== a", "7 cores ", "10MB file ",
)  # fmt: skip


@pytest.mark.parametrize("piece", ADVERSARIES)
def test_no_pattern_backtracks_without_bound(reference: Reference, piece: str) -> None:
    """Issue 21, 5. Four times the text takes about four times the CPU time: quadratic work would
    take sixteen times."""

    def work(length: int) -> float:
        text = f"Rate: 10 MB/s\n\n{piece * (length // len(piece))}"
        times = []
        for _ in range(3):
            start = time.process_time()
            audited(reference, text)
            times.append(time.process_time() - start)
        return min(times)

    assert any(work(16_000) < 9 * work(4_000) for _ in range(2))


def test_a_sum_of_thousands_of_numbers_makes_no_traceback(reference: Reference) -> None:
    """It is deeper than Python's stack, and stays untested."""
    text = f"{'1 + ' * 4500}1 = 7 ms. Then 2 + 3 = 6 ms."
    (finding,) = audited(reference, text).findings
    assert finding.claim == "“2 + 3 = 6 ms”: it is 5 ms."


def test_sources_of_bounds_can_be_looked_up(reference: Reference) -> None:
    said = [one.source for one in reference.constants.values()]
    said += [f"{one.source} {one.note}" for one in reference.cycles]
    assert all(said)
    assert not [text for text in said if "secondary" in text]


def test_every_rule_is_described() -> None:
    text = (paths.root() / "docs" / "published-figures.md").read_text(encoding="utf-8")
    assert [rule.name for rule in RULES if f"`{rule.name}`" not in text] == []


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
        (0.00012, "1.2'×'10⁻⁴"),
    ],
)
def test_numbers_are_written(value: float, text: str) -> None:
    assert number(value).replace(fmt.THIN, "'") == text
