# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: E501, RUF001 (outputs as they are)
"""The audit reads each format: its figures are where they belong, nonsense is an error with
its line, and nothing at all makes a traceback. And the command."""

import json
import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import consistent
from teemark.audit import audit
from teemark.audit.numbers import NUMBER, figure, plain
from teemark.audit.text import KNOWN, read
from teemark.base.errors import DataError
from teemark.cli import main as cli

EXAMPLES = {
    "openssl": (
        "Doing sha256's for 3s on 16 size blocks: 300 sha256's in 2.99s",
        ("sha256", {"count": "300", "time": "2.99 s"}),
    ),
    "openssl 1.0 with a blank in its name": (
        "Doing aes-256 cbc for 3s on 16 size blocks: 12 aes-256 cbc's in 3.00s",
        ("aes-256 cbc", {"count": "12"}),
    ),
    "openssl table": (
        "type             16 bytes     64 bytes\nsha256          65000.00k   120000.50k",
        ("sha256", {"64 bytes": "120000.50 kB/s"}),
    ),
    "openssl KEMs": (
        " ML-KEM-768 0.000034s 0.000019s 0.000030s   29277.7   51310.1   33656.1",
        ("ML-KEM-768", {"": "33656.1 /s"}),
    ),
    "cryptsetup": (
        "#     Algorithm |       Key |      Encryption |      Decryption\n"
        "        aes-xts        256b      1030.4 MiB/s            N/A",
        ("aes-xts", {"there": "1030.4 MiB/s"}),
    ),
    "argon2": (
        "argon2id      4 iterations, 102904 memory, 4 parallel threads (CPUs) for 256-bit key (requested 2000 ms time)",
        ("argon2id", {"times": "4", "memory": "102904", "asked": "2000 ms"}),
    ),
    "time": ("real\t0m 0.437s\nuser\t0m0.1s", ("real", {"time": "0.437 s"})),
    "tcrypt": (
        "testing speed of async cbc(aes) (cbc-aes-ce) encryption\n"
        "[   61.2] test 0 (128 bit key, 16 byte blocks): 1 operation in 309 cycles (16 bytes)",
        ("cbc(aes) (cbc-aes-ce) encryption", {"time": "309 cycles", "done": "16 bytes"}),
    ),
    "Mbed TLS": ("  AES-CBC-128              :      12427 KiB/s,          7 cycles/byte", ("AES-CBC-128", {"slope": "7 cycles/byte"})),
    "lscpu": ("CPU max MHz:         1500.0000", ("CPU max MHz", {"most": "1500.0000 MHz"})),
    "Markdown": (
        "## Files\n| Operation | Time | Rate (MB/s) |\n|---|:--:|--:|\n| **a** | `0.5` s | 20.0 |",
        ("a", {"Time": "0.5 s", "Rate (MB/s)": "20.0 MB/s"}),
    ),
    "a table of hyperfine's": (
        "| Command | Mean [ms] | Min [ms] |\n|:---|---:|---:|\n| `sleep` | 210.7 ± 87.5 | 100.7 |",
        ("sleep", {"Mean [ms]": "210.7 ms"}),
    ),
    "aligned": (
        "Metric\tValue\tMeaning\nMax Throughput\t~12.5 MB/s\tpeak\nCost\t~67 μ s\tleast",
        ("Max Throughput", {"Value": "~12.5 MB/s"}),
    ),
    "CSV": ("case,median (ms)\nfib,2.5\nsha,3.5", ("fib", {"median (ms)": "2.5 ms"})),
    "csv-table without a header option": (
        '.. csv-table:: Speeds\n\n   "Algorithm", "MB/s"\n   "sha2-512", "7.71"\n',
        ("sha2-512", {"MB/s": "7.71 MB/s"}),
    ),
    "a grid with cells of two lines": (
        "+-----+--------+\n| Op  | Time   |\n|     | (ms)   |\n+=====+========+\n| a   | 5.5    |\n+-----+--------+\n| b   | 6.5    |\n+-----+--------+\n",
        ("b", {"Time (ms)": "6.5 ms"}),
    ),
    "a database's grid": (
        "+----+-----------+\n| op | time (ms) |\n+----+-----------+\n| a  |       5.5 |\n| b  |       6.5 |\n+----+-----------+\n",
        ("b", {"time (ms)": "6.5 ms"}),
    ),
    "names": ("Real-world encryption: ~19.6 MB/s", ("Real-world encryption", {"": "~19.6 MB/s"})),
    "names behind a trace": ("D/TA:  hash: 12 ms", ("hash", {"": "12 ms"})),
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_figures_are_where_they_belong(name: str) -> None:
    text, (row, figures) = EXAMPLES[name]
    reading = read(text, "f")
    assert all(one.line > 0 for one in reading.figures)
    there = {(one.row, one.column): one.text for one in reading.figures}
    for column, shown in figures.items():
        assert there.get((row, column)) == shown, there


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("3,846,021 µs", 3.8460205, 3.8460215),
        ("0,437 s", 0.4365, 0.4375),
        ("~11.6 ms", 0.0115, 0.0117),
        ("80–82 %", 0.795, 0.825),
        ("~5-10 MB/s", 4e6, 11e6),
        ("**26602 KB/s**", 26601.5e3, 26602.5e3),
        ("105", 105, 105),
        ("-93", -93, -93),
        ("−4.03 ms", -0.004035, -0.004025),
        ("1.2e-3 s", 0.00115, 0.00125),
        ("85\u202f044 bytes", 85044, 85044),
        ("12\xa0ms", 0.0115, 0.0125),
        ("< 5 ms", 0, 0.0055),
        ("210.7 ± 87.5 ms", 0.21065, 0.21075),
    ],
)
def test_printed_numbers_stand_for_what_rounds_to_them(text: str, low: float, high: float) -> None:
    made = figure(plain(text))
    assert made is not None
    assert (made.span.low, made.span.high) == pytest.approx((low, high))


@pytest.mark.parametrize(
    "text",
    ["fast", "1.2.3", "sha256", "", "v3.3.1", "SHA-256", "Cortex-A53", "2025-10-12", "14:02:33",
     "0x4000", "testdata4.5Mb.json", "eb0ab446-a63c-4ad5-aada-c665de645221", "#6142"],
)  # fmt: skip
def test_names_dates_and_versions_are_no_numbers(text: str) -> None:
    assert NUMBER.search(plain(text)) is None


@pytest.mark.parametrize(("text", "kept"), [("480*1000*1000", "480*1000*1000"), ("(a )*2", "(a )*2"), ("**a** *b* `c`", "a b c"), ("* item", "* item")])  # fmt: skip
def test_an_asterisk_is_emphasis_or_multiplication(text: str, kept: str) -> None:
    assert plain(text) == kept


@pytest.mark.parametrize(("text", "line"), [("", 1), ("\n\nnothing to see\nhere", 3)])
def test_nonsense_is_an_error_with_its_line(text: str, line: int) -> None:
    with pytest.raises(DataError, match=rf"^f:{line}: "):
        audit(read(text, "f"))


def test_the_hint_names_the_programs() -> None:
    for name in ("openssl speed", "tcrypt", "hyperfine", "fio", "dd", "Mbed TLS's benchmark"):
        assert name in KNOWN


PIECES = st.sampled_from(
    [line for text, _ in EXAMPLES.values() for line in text.split("\n")]
    + [
        "|---|---|",
        "+--+--+",
        "# Hardware",
        "0",
        "1e9",
        "~-5 ms",
        "(0 bytes)",
        "|",
        "\t\t",
        "99,99",
    ]
)
NOISE = st.text(st.characters(codec="utf-8"), max_size=30)


def _survives(text: str) -> None:
    """Findings, or an error that names the line."""
    said = ""
    try:
        audit(read(text, "f"))
    except DataError as error:
        said = error.message
    assert said == "" or re.match(r"f:\d+: ", said)


@given(st.lists(st.one_of(PIECES, PIECES, NOISE), max_size=12), st.randoms(use_true_random=False))
def test_no_text_makes_a_traceback(lines: list[str], rng: Random) -> None:
    """Lines of all formats in any order, with digits changed and pieces cut out."""
    text = "\n".join(lines)
    for _ in range(rng.randint(0, 5)):
        place = rng.randint(0, len(text))
        text = text[:place] + rng.choice("019.|:-, k\n") + text[place + rng.randint(0, 3) :]
    _survives(text)


@given(st.sampled_from(consistent.MAKERS), st.integers(0, 10**6), st.data())
def test_a_damaged_output_makes_no_traceback(maker: object, seed: int, data: st.DataObject) -> None:
    assert callable(maker)
    text: str = maker(Random(seed))
    place = data.draw(st.integers(0, len(text)))
    altered = text[:place] + data.draw(NOISE) + text[place + data.draw(st.integers(0, 9)) :]
    _survives(altered)


@pytest.mark.parametrize("digit", ["0", "9"])
@pytest.mark.parametrize("maker", consistent.MAKERS)
def test_figures_that_are_all_alike_make_no_traceback(maker: object, digit: str) -> None:
    """Nothing is divided by a time of 0."""
    assert callable(maker)
    text = re.sub(r"\d", digit, maker(Random(1)))
    for one in (text, maker(Random(2))):
        audit(read(one, "f"))


def test_the_command_says_what_and_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text(consistent.openssl(Random(3)))
    bad.write_text(
        "\n| a | Size | Time | Throughput |\n|---|---|---|---|\n| f | 10 MB | 2 s | 9.0 MB/s |\n"
    )
    assert cli.run(["audit", str(good)]) == 0
    capsys.readouterr()
    assert cli.run(["audit", str(good), str(bad)]) == 1
    said = capsys.readouterr()
    assert said.out.startswith(
        f"{bad}:4: error: f, Throughput: 9.0 MB/s is printed, but 10 MB ÷ 2 s = 5 MB/s. [rate]"
    )
    assert f"{bad}: read 3 figures in 1 line; 1 could be tested: 1 finding." in said.err
    assert cli.run(["audit", "--json", str(bad)]) == 1
    (read,) = json.loads(capsys.readouterr().out)
    (finding,) = read["findings"]
    assert (finding["key"], finding["severity"], finding["place"]["line"]) == ("rate", "error", 4)
    assert "5 MB/s" in finding["claim"]
    assert (read["figures"], read["tested"]) == (3, 1)


@pytest.mark.parametrize(
    ("content", "status", "message"),
    [
        (None, 2, "can't be read"),
        (b"words only", 1, ":1: no figure"),
        (b"a\n\xff", 1, ":2: not UTF-8"),
    ],
)
def test_files_that_cant_be_audited(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    content: bytes | None,
    status: int,
    message: str,
) -> None:
    file = tmp_path / "f"
    if content is not None:
        file.write_bytes(content)
    assert cli.run(["audit", str(file)]) == status
    assert message in capsys.readouterr().err
    assert cli.run(["audit"]) == 2
