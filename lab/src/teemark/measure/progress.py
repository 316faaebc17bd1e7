# SPDX-License-Identifier: BSD-2-Clause
"""How a run is shown while it goes on: a bar on a terminal, a few lines in a pipe."""

import contextlib
import math
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from teemark.measure.runner import Progress, Starts, Watcher
from teemark.plan.plan import Plan
from teemark.run.records import AnyRecord

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

STEP = 0.1
"""A run prints a line after each such share of it, if there is no terminal."""


@contextlib.contextmanager
def watching(asked: Plan, title: str, starts: Starts | None = None) -> Iterator[Watcher]:
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

    def __init__(self, progress: Progress, title: str, bars: "Bars") -> None:
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
            checked = seen.cases + seen.skipped + seen.failed
            self._draw("checking", checked, checked + max(0, len(seen.asked) - seen.cases))
        else:
            known = seen.ahead(now)
            note = f"{_left(known[1])}  {seen.current}" if known else seen.current
            self._draw(f"measuring {seen.cases} cases", seen.samples, seen.expected, note)

    def _draw(self, what: str, done: float, total: float | None, note: str | None = None) -> None:
        self._bars.update(
            self._task,
            description=f"{self._title}{which_start(self._progress)}: {what}",
            total=total,
            completed=done,
            note=self._progress.current if note is None else note,
        )

    def quiet(self) -> None:
        self._progress.quiet = time.monotonic()
        self._draw("measuring", 0, None, "nothing on the wire until it is done")

    def waiting(self) -> None:
        if self._progress.quiet is not None and (known := self._progress.ahead(time.monotonic())):
            self._draw("measuring", known[0], 1, f"{_left(known[1])}, at a guess")


def which_start(seen: Progress) -> str:
    return f", start {seen.start} of {seen.starts}" if seen.starts > 1 else ""


def _left(seconds: float) -> str:
    whole = round(seconds)
    return "nearly done" if not whole else f"{whole // 60}:{whole % 60:02d} left"


class Lines(Watcher):
    """A line at the beginning, one at each STEP, and one at the end."""

    def __init__(self, progress: Progress, title: str) -> None:
        self._progress = progress
        self._title = title
        self._quiet = False
        self._steps = 0
        self._say("starting")

    def _say(self, what: str) -> None:
        sys.stderr.write(f"{self._title}{which_start(self._progress)}: {what}\n")
        sys.stderr.flush()

    def record(self, record: AnyRecord) -> None:
        seen = self._progress
        before = seen.samples
        seen.see(record)
        if before == 0 and seen.samples == 1 and not self._quiet:
            self._say(f"measuring {seen.cases} cases; {seen.skipped} can't run here")
        elif seen.hashed:
            if self._stepped(1 + seen.hashed / (seen.files_expected or 1)):
                self._say(f"hashed {seen.hashed} of {seen.files_expected} files")
        else:
            self.waiting()

    def waiting(self) -> None:
        known = self._progress.ahead(time.monotonic())
        if known is not None and self._stepped(known[0]) and known[0] < 1:
            how = ", at a guess" if self._progress.quiet is not None else ""
            self._say(f"{known[0]:.0%}, {_left(known[1])}{how}")

    def _stepped(self, share: float) -> bool:
        """Tells whether a line is due; `share` goes on beyond 1 while files are hashed."""
        before, self._steps = self._steps, max(self._steps, math.floor(share / STEP + 1e-9))
        return self._steps > before

    def quiet(self) -> None:
        self._quiet = True
        self._progress.quiet = time.monotonic()
        self._say("measuring; nothing on the wire until it is done")

    def close(self) -> None:
        seen = self._progress
        files = f"; {seen.hashed} files hashed" if seen.hashed else ""
        skipped = f"; {seen.skipped} can't run here" if self._quiet else ""
        self._say(f"{seen.samples} samples of {seen.cases} cases{files}{skipped}")
