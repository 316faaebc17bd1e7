# SPDX-License-Identifier: BSD-2-Clause
"""Are two boots of the deterministic board the same? Measures a plan in each and compares.

    python lab/bench/exact.py [--plan quick] [--board qemu-v8-icount] [--all]
    python lab/bench/exact.py RUN RUN

The medians must be identical, or at most 0.1 % apart with a reason. Exit status 1: a case is
further apart, or apart without a reason.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from click import echo as say

from teemark import cli
from teemark.model.compare import differences, only_in_one
from teemark.run import reader
from teemark.run.reader import RunData


def measure(board: str, plan: str, folder: Path) -> RunData:
    """One boot."""
    if cli.run(["run", "--board", board, "--plan", plan, "--out", str(folder)]) != 0:
        sys.exit(f"{plan} on {board} failed")
    return reader.read(folder)


def compare(first: RunData, second: RunData, *, everything: bool) -> bool:
    """Say what is apart; whether all holds."""
    found = differences(first, second)
    for one in sorted(found, key=lambda one: one.relative, reverse=True):
        if everything or not one.same:
            say(
                f"{one.relative:8.4%}{' ' if one.holds else '!'} "
                f"{one.case:34} x{one.repeat:<2} {one.first.value:14.2f} "
                f"{one.second.value:14.2f} ns  "
                f"{one.reason or ''}"
            )
    lonely = only_in_one(first, second)
    for case in lonely:
        say(f"{case}: measured by one of the two only")
    same = sum(one.same for one in found)
    worst = max((one.relative for one in found), default=0.0)
    say(
        f"{len(found)} medians: {same} identical, {len(found) - same} apart, by {worst:.4%} at most"
    )
    return bool(found) and not lonely and all(one.holds for one in found)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("runs", nargs="*", metavar="RUN", help="two that were measured before")
    parser.add_argument("--plan", default="quick")
    parser.add_argument("--board", default="qemu-v8-icount")
    parser.add_argument("--all", action="store_true", help="list identical medians too")
    asked = parser.parse_args()
    if len(asked.runs) not in (0, 2):
        parser.error("name two runs, or none")
    if asked.runs:
        first, second = (reader.read(Path(run)) for run in asked.runs)
    else:
        with tempfile.TemporaryDirectory(prefix="teemark-") as folder:
            first, second = (
                measure(asked.board, asked.plan, Path(folder) / name) for name in ("a", "b")
            )
    return 0 if compare(first, second, everything=asked.all) else 1


if __name__ == "__main__":
    sys.exit(main())
