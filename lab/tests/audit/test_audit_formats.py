# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: E501, RUF001 (documents as they are)
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
from teemark.audit.numbers import numbers, plain
from teemark.audit.text import read
from teemark.base.errors import DataError
from teemark.cli import main as cli
from teemark.reference import data

REFERENCE = data.load()

KEYS = (
    "                  sign    verify    sign/s verify/s\n"
    "rsa 2048 bits 0.000288s 0.000015s   3472.0  66194.0"
)
ARGON = "PBKDF2-sha1 1898732 iterations per second for 256-bit key\n"
XTEST = (
    "Starting test: SHA256, size=65536 bytes, random=no, unaligned=no, inner loops=1, loops=200, "
    "warm-up=2 s\nmin=1559.26us max=4086.38us mean=1962.64us stddev=297.881us (cv 15.1776%) "
    "(31.8449MiB/s)\n2-sigma interval: 1366.88..2558.4us (24.4293..45.7247MiB/s)"
)
CYCLES = (
    "testing speed of cbc(aes) (cbc-aes-ce) encryption\n"
    "tcrypt: test 0 (128 bit key, 16 byte blocks): 1 operation in 309 cycles (16 bytes)\n"
    "tcrypt: test 1 (128 bit key, 64 byte blocks): 123 operations in 1 seconds (7872 bytes)"
)
ALIGNED = "Metric\tValue\tMeaning\nMax Throughput\t~12.5 MB/s\tpeak\nCost\t~67 μ s\tleast"
MARKDOWN = (
    "## Files\n| Operation | Time | Rate (MB/s) |\n|---|:--:|--:|\n| **a** | `0.5` s | 20.0 |"
)

EXAMPLES = {
    "openssl": (
        "Doing sha256's for 3s on 16 size blocks: 300 sha256's in 2.99s",
        ("operations in", {", and": "2.99 s"}),
    ),
    "openssl table": (
        "type             16 bytes     64 bytes\nsha256          65000.00k   120000.50k",
        ("sha256", {"64 bytes": "120000.50 kB/s"}),
    ),
    "openssl keys": (
        KEYS,
        ("rsa 2048 bits", {"per operation,": "0.000288 s"}),
    ),
    "openssl -mr": (
        "+DT:sha256:1:16\n+R:381191:sha256:0.990000\n+H:16:64\n+F:6:sha256:6160662.63:1.00",
        ("sha256", {"operations": "381191", "16 bytes": "6160662.63 B/s"}),
    ),
    "xtest": (XTEST, ("rate", {"": "31.8449 MiB/s"})),
    "cryptsetup": (
        ARGON + "#     Algorithm |       Key |      Encryption |      Decryption\n"
        "        aes-xts        256b      1030.4 MiB/s            N/A",
        ("aes-128-xts", {"Encryption": "1030.4 MiB/s"}),
    ),
    "kcapi-speed": (
        "SHA-256(G)                           |d|   16384 bytes|    12.5 MB/s|800 ops/s",
        ("SHA-256(G) decryption", {", ~": "16384 bytes"}),
    ),
    "time": (
        "$ time kcapi-dgst -c sha256 -i f\n0ab9real\t0m 0.437s\nuser\t0m0.1s",
        ("real", {"": "0.437 s"}),
    ),
    "tcrypt": (
        CYCLES,
        ("", {"operations": "123", ")": "7872 bytes"}),
    ),
    "Markdown": (MARKDOWN, ("a", {"Time": "0.5 s", "Rate (MB/s)": "20.0 MB/s"})),
    "aligned": (ALIGNED, ("Max Throughput", {"Value": "~12.5 MB/s"})),
    "names": ("Real-world encryption: ~19.6 MB/s", ("Real-world encryption", {"": "~19.6 MB/s"})),
    "pairs": ("size=4096 time=100us", ("size", {"": "4096 bytes"})),
    "names of counts": ("Calls: 7", ("Calls", {"": "7"})),
    "sentences": ("We ran 1000 calls in 2.5 s.", ("We ran", {"calls": "1000"})),
    "lists": ("It took 12.1, 12.3 and 12.0 ms.", ("It took", {",": "12.1 ms"})),
    "changes": ("It fell from 12 to 18 MB/s.", ("It fell from", {"to": "12 MB/s"})),
    "words for factors": ("It is twice as fast.", ("It is", {"as fast.": "2 x"})),
    "a size in a sentence of two lines": ("It hashed\n50 MB.", ("It hashed", {".": "50 MB"})),
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
        ("~11.6 ms", 0.0115, 0.0117),
        ("80–82 %", 0.795, 0.825),
        ("~5-10 MB/s", 4e6, 11e6),
        ("**26602 KB/s**", 26601.5e3, 26602.5e3),
        ("105 calls", 105, 105),
        ("0.51:1", 0.505, 0.515),
        ("-93 errors", -93, -93),
        ("1.2e-3 s", 0.00115, 0.00125),
        ("85\u202f044 bytes", 85044, 85044),
        ("85\xa0044 bytes", 85044, 85044),
        ("12\xa0ms", 0.0115, 0.0125),
    ],
)
def test_printed_numbers_stand_for_what_rounds_to_them(text: str, low: float, high: float) -> None:
    (found,) = numbers(plain(text))
    span = found.figure().span
    assert (span.low, span.high) == pytest.approx((low, high))


@pytest.mark.parametrize(
    "text",
    ["fast", "1.2.3", "sha256", "", "v3.3.1", "SHA-256", "Cortex-A53", "2025-10-12", "14:02:33",
     "12 May 2025", "0x4000", "testdata4.5Mb.json", "eb0ab446-a63c-4ad5-aada-c665de645221", "Linux 6.6",
     "see [17]", "#6142", "Table 4.1", "1. First"],
)  # fmt: skip
def test_names_dates_and_versions_are_no_numbers(text: str) -> None:
    assert numbers(plain(text)) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("\n\nnothing to see\nhere", 3),
    ],
)
def test_nonsense_is_an_error_with_its_line(text: str, line: int) -> None:
    with pytest.raises(DataError, match=rf"^f:{line}: "):
        audit(read(text, "f"), REFERENCE)


PIECES = st.sampled_from(
    [line for text, _ in EXAMPLES.values() for line in text.split("\n")]
    + ["|---|---|", "# Hardware", "0", "0.0 s", "1e9", "~-5 ms", "(0 bytes)", "|", "\t\t", "99,99"]
)
NOISE = st.text(st.characters(codec="utf-8"), max_size=30)


def _survives(text: str) -> None:
    """Findings, or an error that names the line."""
    said = ""
    try:
        audit(read(text, "f"), REFERENCE, "cortex-a53", 1.2e9)
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
    """Nothing is divided by a time of 0, nor by what is left of 100 %."""
    assert callable(maker)
    text = re.sub(r"\d", digit, re.sub(r"\d+%", "100%", maker(Random(1))))
    for one in (text, maker(Random(2))):
        audit(read(one, "f"), REFERENCE, "cortex-a53", 1.2e9)


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
    assert cli.run(["audit", "--core", "cortex-a1", str(file)]) == 2
    assert "known: cortex-a53" in capsys.readouterr().err
