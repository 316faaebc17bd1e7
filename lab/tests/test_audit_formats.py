# SPDX-License-Identifier: BSD-2-Clause
"""What the audit reads: each format's figures are where they belong, nonsense is an error with
its line, and nothing at all makes a traceback. And the command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import consistent
from synthetic import Synthetic
from teemark.audit import audit, formats
from teemark.audit.figures import papers
from teemark.audit.formats import runs
from teemark.audit.sheet import measure
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
        ("sha256's", 16, {"operations": "300", "time": "2.99 s", "asked": "3 s"}),
    ),
    "openssl table": (
        "type             16 bytes     64 bytes\nsha256          65000.00k   120000.50k",
        ("sha256", 64, {"rate": "120000.50 kB/s"}),
    ),
    "openssl keys": (
        KEYS,
        ("rsa 2048 bits, line 2, 1", None, {"time": "0.000288 s", "per second": "3472.0 /s"}),
    ),
    "openssl -mr": (
        "+DT:sha256:1:16\n+R:381191:sha256:0.990000\n+H:16:64\n+F:6:sha256:6160662.63:1.00",
        ("sha256", 16, {"operations": "381191", "rate": "6160662.63 B/s"}),
    ),
    "xtest": (XTEST, ("sha256", 65536, {"min": "1559.26 us", "rate": "31.8449 MiB/s"})),
    "cryptsetup": (
        ARGON + "#     Algorithm |       Key |      Encryption |      Decryption\n"
        "        aes-xts        256b      1030.4 MiB/s            N/A",
        ("aes-128-xts encryption", None, {"rate": "1030.4 MiB/s"}),
    ),
    "kcapi-speed": (
        "SHA-256(G)                           |d|   16384 bytes|    12.5 MB/s|800 ops/s",
        ("sha-256(g) decryption", 16384, {"rate": "12.5 MB/s", "operations": "800 count"}),
    ),
    "time": (
        "$ time kcapi-dgst -c sha256 -i f\n0ab9real\t0m 0.437s\nuser\t0m0.1s",
        ("of line 2", None, {"total": "0.437 s"}),
    ),
    "tcrypt": (
        CYCLES,
        ("cbc(aes) (cbc-aes-ce) encryption 128 bit", 64, {"bytes done": "7872 bytes"}),
    ),
    "report": (
        consistent.report(Random(1)),
        ("run 1", None, {"chunk": "1048576 bytes", "operations": "1"}),
    ),
    "Markdown": (MARKDOWN, ("a", None, {"time": "0.5 s", "rate": "20.0 MB/s"})),
    "runs": (
        "| Step (100 Runs) | avg (ms) |\n|---|---|\n| a | 1.5 |",
        ("", None, {"runs": "100"}),
    ),
    "names": (
        "Real-world encryption: ~19.6 MB/s",
        ("real-world encryption", None, {"rate": "~19.6 MB/s"}),
    ),
    "aligned": (ALIGNED, ("", None, {"rate": "~12.5 MB/s"})),
    "sentences": (
        "Small files (1–100 Bytes) take ~65–67 µs, then 0.08 µs per Byte.",  # noqa: RUF001
        ("", None, {"smallest": "1 bytes", "largest": "100 bytes"}),
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_figures_are_where_they_belong(name: str) -> None:
    text, (record, size, figures) = EXAMPLES[name]
    paper = papers(formats.read(text, "f"))
    assert all(cell.line > 0 for cell in paper.sheet.cells)
    for quantity, shown in figures.items():
        figure = paper.records[record, size].get(quantity)
        assert figure is not None, (quantity, paper.records)
        assert figure.text == shown


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("3,846,021 µs", 3.8460205, 3.8460215),
        ("~11.6 ms", 0.0115, 0.0117),
        ("80–82 %", 0.795, 0.825),  # noqa: RUF001
        ("~5-10 MB/s", 4e6, 11e6),
        ("**26602 KB/s**", 26601.5e3, 26602.5e3),
        ("105", 105, 105),
        ("0.51:1", 0.505, 0.515),
        ("-93", -93, -93),
    ],
)
def test_printed_numbers_stand_for_what_rounds_to_them(text: str, low: float, high: float) -> None:
    found = measure(text)
    assert found is not None
    assert (found.span.low, found.span.high) == pytest.approx((low, high))


@pytest.mark.parametrize("text", ["fast", "1.2.3", "12 apples", "sha256", "", "v3.3.1", "12,5 ms"])
def test_other_words_are_no_numbers(text: str) -> None:
    assert measure(text) is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("\n\nnothing to see\nhere", 3),
        ("type  16 bytes  64 bytes\nsha1  12.00k", 2),
        ("+H:16:64\n+F:6:sha256:1.0", 2),
        ("+DT:sha256:three:16", 1),
        ("+H:16\n+F:6:sha256:many", 2),
        ("\n# Algorithm | Key | Encryption | Decryption\naes-cbc 128b fast slow", 3),
    ],
)
def test_nonsense_is_an_error_with_its_line(text: str, line: int) -> None:
    with pytest.raises(DataError, match=rf"^f:{line}: "):
        audit([formats.read(text, "f")], REFERENCE)


PIECES = st.sampled_from(
    [line for text, _ in EXAMPLES.values() for line in text.split("\n")]
    + ["|---|---|", "# Hardware", "0", "0.0 s", "1e9", "~-5 ms", "(0 bytes)", "|", "\t\t", "99,99"]
)
NOISE = st.text(st.characters(codec="utf-8"), max_size=30)


def _survives(text: str) -> None:
    """Findings, or an error that names the line."""
    said = ""
    try:
        audit([formats.read(text, "f")], REFERENCE, "cortex-a53", 1.2e9)
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
    sheets = [formats.read(one, "f") for one in (text, maker(Random(2)))]
    audit(sheets, REFERENCE, "cortex-a53", 1.2e9)


def test_a_run_is_audited() -> None:
    sheet = runs.sheet(Synthetic().run())
    assert "oneshot sha256 tee 4096" in {cell.row for cell in sheet.cells}
    assert audit([sheet], REFERENCE) == ()


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
    out = capsys.readouterr().out
    assert out.startswith(f"{bad}:4: error: f, Throughput: 9.0 MB/s is printed, but size ÷ time = ")
    assert cli.run(["audit", "--json", str(bad)]) == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert {key: finding[key] for key in ("rule", "severity", "line")} == {
        "rule": "derived",
        "severity": "error",
        "line": 4,
    }
    assert "5 MB/s" in finding["evidence"]


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
