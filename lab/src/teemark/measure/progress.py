# SPDX-License-Identifier: BSD-2-Clause
"""How a run is shown while it goes on: a bar on a terminal, a few lines in a pipe."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from teemark.measure.runner import Progress, Watcher
from teemark.plan.plan import Plan
from teemark.run.records import AnyRecord

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

LINE_SECONDS = 15.0


@contextlib.contextmanager
def watching(asked: Plan, title: str, starts: int = 1) -> Iterator[Watcher]:
    progress = Progress.of(asked, starts)
    if not sys.stderr.isatty():
        lines = Lines(progress, title)
        yield lines
        lines.close()
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[note]}", markup=False),
    )
    from rich.progress import Progress as Bars

    with Bars(*columns, console=Console(stderr=True, emoji=False), transient=True) as bars:
        yield Bar(progress, title, bars)


class Bar(Watcher):
    """A live bar."""

    def __init__(self, progress: Progress, title: str, bars: Bars) -> None:
        self._progress = progress
        self._title = title
        self._bars = bars
        self._drawn = 0.0
        self._task: TaskID = bars.add_task(f"{title}: starting", total=None, note="")

    def record(self, record: AnyRecord) -> None:
        seen = self._progress
        seen.see(record)
        now = time.monotonic()
        if now - self._drawn < 0.1:
            return
        self._drawn = now
        if seen.hashed:
            self._draw("hashing files", seen.hashed, seen.files_expected)
        elif seen.samples == 0:
            known = seen.cases + seen.skipped + seen.failed
            self._draw("checking", known, known + max(0, len(seen.asked) - seen.cases))
        else:
            left = seen.seconds_left(now)
            note = f"{_left(left)}  {seen.current}" if left is not None else seen.current
            self._draw(f"measuring {seen.cases} cases", seen.samples, seen.expected, note)

    def _draw(self, what: str, done: int, total: int | None, note: str | None = None) -> None:
        self._bars.update(
            self._task,
            description=f"{self._title}{which_start(self._progress)}: {what}",
            total=total,
            completed=done,
            note=self._progress.current if note is None else note,
        )

    def quiet(self) -> None:
        self._draw("measuring", 0, None, "nothing on the wire until it is done")


def which_start(seen: Progress) -> str:
    return f", start {seen.start} of {seen.starts}" if seen.starts > 1 else ""


def _left(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 60}:{whole % 60:02d} left"


class Lines(Watcher):
    """A line now and then."""

    def __init__(self, progress: Progress, title: str) -> None:
        self._progress = progress
        self._title = title
        self._quiet = False
        self._said = time.monotonic()
        self._say("starting")

    def _say(self, what: str) -> None:
        self._said = time.monotonic()
        sys.stderr.write(f"{self._title}{which_start(self._progress)}: {what}\n")
        sys.stderr.flush()

    def record(self, record: AnyRecord) -> None:
        seen = self._progress
        before = seen.samples
        seen.see(record)
        if self._quiet:
            return
        if before == 0 and seen.samples == 1:
            self._say(f"measuring {seen.cases} cases; {seen.skipped} can't run here")
        elif time.monotonic() - self._said <= LINE_SECONDS:
            return
        elif seen.hashed:
            self._say(f"hashed {seen.hashed} of {seen.files_expected} files")
        else:
            left = seen.seconds_left(time.monotonic())
            share = f"{seen.samples} of {seen.expected} samples"
            self._say(share + (f", {_left(left)}" if left is not None else ""))

    def quiet(self) -> None:
        self._quiet = True
        self._say("measuring; nothing on the wire until it is done")

    def close(self) -> None:
        seen = self._progress
        files = f"; {seen.hashed} files hashed" if seen.hashed else ""
        skipped = f"; {seen.skipped} can't run here" if self._quiet else ""
        self._say(f"{seen.samples} samples of {seen.cases} cases{files}{skipped}")
