# SPDX-License-Identifier: BSD-2-Clause
"""The run that README.md shows, made by a command and not by hand.

    python lab/tests/tools/readme.py

The run is measured on the deterministic board: its figures are the same wherever the compiler and
the packages on the board are the same, which a comment above the table names.
lab/tests/cli/test_readme.py checks that README still shows what the board gives.
"""

import contextlib
import io
import re
import sys
import tempfile
from pathlib import Path

from teemark.base import paths
from teemark.boards.optee import compiler, versions
from teemark.cli import main as cli
from teemark.findings.subject import subjects
from teemark.report import summary
from teemark.run import reader
from teemark.run.reader import RunData

BOARD = "qemu-v8-icount"
PLAN = "quick"
README = paths.root() / "README.md"
PACKAGES = ("optee-os", "kernel", "openssl")
BLOCK = re.compile(
    r"<!-- run: (?P<by>[^\n]*) -->\n\n(?P<text>(?:    [^\n]*\n|\n)*?)\n*<!-- end of the run -->\n"
)


def made_by() -> str:
    """Returns the names and versions of the tools and packages that the figures depend on."""
    known = versions()
    return ", ".join([compiler(), *(f"{name} {known[name]}" for name in PACKAGES)])


def shown(run: RunData) -> str:
    """Returns the run as README shows it: the command, and what `teemark run` prints."""
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
    """Returns README's line on the tools, and its text of the run."""
    found = BLOCK.search(readme)
    if found is None:
        sys.exit(f"{README}: there is no run in it")
    return found["by"], found["text"]


def with_run(readme: str, by: str, text: str) -> str:
    made = f"<!-- run: {by} -->\n\n{text}\n<!-- end of the run -->\n"
    return BLOCK.sub(lambda _: made, readme)


def measure() -> RunData:
    with tempfile.TemporaryDirectory(prefix="teemark-") as folder:
        out = Path(folder) / "run"
        if cli.run(["run", "--board", BOARD, "--plan", PLAN, "--out", str(out)]) != 0:
            sys.exit(f"{PLAN} on {BOARD} failed")
        return reader.read(out)


def main() -> int:
    readme = README.read_text(encoding="utf-8")
    README.write_text(with_run(readme, made_by(), shown(measure())), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
