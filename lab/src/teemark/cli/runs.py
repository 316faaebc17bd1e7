# SPDX-License-Identifier: BSD-2-Clause
"""Reads the runs that a command is given, and turns figures into JSON."""

from pathlib import Path

from teemark.base.console import say
from teemark.findings.notices import notices
from teemark.model.stats import Estimate
from teemark.run import reader
from teemark.run.reader import RunData
from teemark.wording.interval import Interval


def read(path: Path) -> RunData:
    """Reads the run at a path, and warns on stderr of everything that the run lacks."""
    run = reader.read(path)
    warn(run)
    return run


def warn(run: RunData) -> None:
    for notice in notices(run):
        say(f"teemark: {run.file}: {notice.plain}")
    for fail in run.fails:
        say(f"teemark: {run.file}: failed: {fail.case}: {fail.reason}")


def figure(value: Estimate | None) -> dict[str, float | None]:
    return {"value": value.value if value else None, **low_high(value.interval if value else None)}


def low_high(interval: Interval | None) -> dict[str, float | None]:
    return {end: getattr(interval, end, None) for end in ("low", "high")}
