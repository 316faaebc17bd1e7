# SPDX-License-Identifier: BSD-2-Clause
"""The run that README.md shows, made by a command and not by hand.

    python lab/bench/readme.py

It is measured on the deterministic board, so that the same figures come out wherever the same
compiler made what is measured, and the same packages are on the board: both stand above the table,
in a comment. lab/tests/test_readme.py says whether README still shows what the board gives.
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
    """Names the tools and packages that the figures depend on."""
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
    """Returns what README says the run was made by, and the run."""
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
