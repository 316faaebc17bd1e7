# SPDX-License-Identifier: BSD-2-Clause
"""The run that README.md shows, made by a command and not by hand.

    python lab/bench/readme.py            # measure, and say whether README shows the same
    python lab/bench/readme.py RUN        # likewise, with a run of `quick` that was measured before
    python lab/bench/readme.py --write [RUN]

It is measured on the deterministic board, so that the same figures come out wherever the same
compiler made what is measured, and the same packages are on the board: both stand above the table,
in a comment. Two boots differ by up to 0.1 %, which may change a last digit. Below the table only
the words are compared. Exit status 1: README shows something else.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import sys
import tempfile
from pathlib import Path

from click import echo as say

from teemark.base import paths
from teemark.boards.made_by import compiler
from teemark.boards.optee import versions
from teemark.cli import main as cli
from teemark.findings.subject import subjects
from teemark.report import summary
from teemark.run import reader
from teemark.run.reader import RunData

BOARD = "qemu-v8-icount"
PLAN = "quick"
README = paths.root() / "README.md"
PACKAGES = ("optee-os", "kernel", "openssl")
RULE, SENTENCE = re.compile(r"^ *─+ *$"), re.compile(r"^ *[•!?\d]")
"""Above the table's lines, and what comes below them."""

BLOCK = re.compile(
    r"<!-- run: (?P<by>[^\n]*) -->\n\n(?P<text>(?:    [^\n]*\n|\n)*?)\n*<!-- end of the run -->\n"
)
NUMBER = re.compile(r"\d[\d\N{NARROW NO-BREAK SPACE}]*(?:\.\d+)?(?:\N{NARROW NO-BREAK SPACE}%)?")
SPACE = "\N{NARROW NO-BREAK SPACE}"

RELATIVE, PERCENT = 0.002, 0.2
"""How far two boots may be apart, each rounded: a figure, and a share in per cent."""


def made_by() -> str:
    """What the figures depend on."""
    known = versions()
    return ", ".join([compiler(), *(f"{name} {known[name]}" for name in PACKAGES)])


def shown(run: RunData) -> str:
    """Returns what `teemark run` prints of it."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        summary.show(subjects([run])[0])
    lines = [
        f"$ .venv/bin/teemark run --board {BOARD} --plan {PLAN}",
        *(line.rstrip() for line in out.getvalue().splitlines()),
        f"report: runs/20261122T100000Z-{BOARD}-{PLAN}/report.html",
        f"raw:    runs/20261122T100000Z-{BOARD}-{PLAN}/run.ndjson",
    ]
    text = "\n".join(f"    {line}".rstrip() for line in lines)
    return re.sub(r"\n{3,}", "\n\n", text) + "\n"


def stored(readme: str) -> tuple[str, str]:
    """What README says the run was made by, and the run."""
    found = BLOCK.search(readme)
    if found is None:
        sys.exit(f"{README}: there is no run in it")
    return found["by"], found["text"]


def with_run(readme: str, by: str, text: str) -> str:
    made = f"<!-- run: {by} -->\n\n{text}\n<!-- end of the run -->\n"
    return BLOCK.sub(lambda _: made, readme)


def differences(one: str, other: str) -> list[str]:
    """Lines of the table and sentences that one of the two has, or that differ in a word; in the
    table also those that differ in a figure by more than boots do."""
    first, second = _unwrapped(one), _unwrapped(other)
    if len(first) != len(second):
        words = [{_words(line): line for line in lines} for lines in (first, second)]
        left = [words[n][key] for n in (0, 1) for key in words[n].keys() - words[1 - n].keys()]
        return [f"only in one: {line.strip()}" for line in left] or ["a line is there twice"]
    found = []
    table = False
    for a, b in zip(first, second, strict=True):
        table = (table or RULE.match(a) is not None) and not SENTENCE.match(a)
        if _words(a) != _words(b) or (table and not _close(a, b)):
            found.append(f"{a.strip()}  ≠  {b.strip()}")
    return found


def _unwrapped(text: str) -> list[str]:
    """Its lines, where a sentence that was wrapped is one: another figure may wrap it elsewhere."""
    lines: list[str] = []
    for line in text.splitlines():
        if lines and SENTENCE.match(lines[-1]) and re.match(r" {6}\S", line):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
    return lines


def _words(line: str) -> str:
    """The line without its figures; a small one may be a bound, as in "< 0.01 %"."""
    return " ".join(NUMBER.sub("#", line.replace("< ", "  ")).split())


def _close(one: str, other: str) -> bool:
    """Every figure equal, or apart by what two boots are or by one in the last digit shown."""
    for pair in zip(NUMBER.findall(one), NUMBER.findall(other), strict=True):
        digits = [text.removesuffix("%").replace(SPACE, "") for text in pair]
        values = [float(text) for text in digits]
        last = 1.001 * 10.0 ** -min(len(text.partition(".")[2]) for text in digits)
        allowed = PERCENT if pair[0].endswith("%") else RELATIVE * max(values)
        if abs(values[0] - values[1]) > max(allowed, last):
            return False
    return True


def measure() -> RunData:
    with tempfile.TemporaryDirectory(prefix="teemark-") as folder:
        out = Path(folder) / "run"
        if cli.run(["run", "--board", BOARD, "--plan", PLAN, "--out", str(out)]) != 0:
            sys.exit(f"{PLAN} on {BOARD} failed")
        return reader.read(out)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("run", nargs="?", type=Path, metavar="RUN")
    parser.add_argument("--write", action="store_true", help="put it into README.md")
    asked = parser.parse_args()
    text = shown(measure() if asked.run is None else reader.read(asked.run))
    readme = README.read_text(encoding="utf-8")
    if asked.write:
        README.write_text(with_run(readme, made_by(), text), encoding="utf-8")
        return 0
    by, before = stored(readme)
    if by != made_by():
        say(f"README's run was made by {by}; here it is {made_by()}")
    found = differences(before, text)
    for line in found:
        say(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
