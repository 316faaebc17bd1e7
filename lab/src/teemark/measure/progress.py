# SPDX-License-Identifier: BSD-2-Clause
"""How a run is shown while it goes on: a bar on a terminal, a few lines in a pipe."""

import contextlib
import math
import sys
import time
from collections.abc import Callable, Iterator

from teemark.measure.runner import Progress, Starts, Watcher
from teemark.plan.plan import Plan
from teemark.run.records import AnyRecord

STEP = 0.1
"""A run prints a line after each such share of it, if there is no terminal."""

Draw = Callable[[str, float | None, str, str], None]
"""Shows what is done, the share of it that is done (None: nobody knows), the time that is left, and
the case at hand."""


@contextlib.contextmanager
def watching(asked: Plan, title: str, starts: Starts | None = None) -> Iterator[Watcher]:
    progress = Progress.of(asked, starts)
    with _bar(title) if sys.stderr.isatty() else _lines(title) as draw:
        shown = Shown(progress, draw)
        yield shown
        shown.close()


@contextlib.contextmanager
def _bar(title: str) -> Iterator[Draw]:
    """Draws a live bar."""
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bars
    from rich.table import Column

    rest = Column(ratio=1, no_wrap=True, overflow="ellipsis")  # so that nothing else is cut
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=12),
        TextColumn("{task.fields[note]}", markup=False, table_column=rest),
    )
    console = Console(stderr=True, emoji=False)
    with Bars(*columns, console=console, transient=True, expand=True) as bars:
        task, drawn = bars.add_task(f"{title}: starting", total=None, note=""), 0.0

        def draw(what: str, share: float | None, left: str, case: str) -> None:
            nonlocal drawn
            if time.monotonic() - drawn >= 0.1:
                drawn = time.monotonic()
                done = {"total": None} if share is None else {"total": 1, "completed": share}
                said, left = f"{title}{what}".partition(";")[0], left.partition(",")[0]
                bars.update(task, description=said, note=f"{left}  {case}", **done)

        yield draw


@contextlib.contextmanager
def _lines(title: str) -> Iterator[Draw]:
    """Writes a line when something else begins, and one at each STEP of it."""
    last, steps = "", 0

    def draw(what: str, share: float | None, left: str, _case: str) -> None:
        nonlocal last, steps
        step = math.floor((share or 0.0) / STEP + 1e-9)
        if what == last and (step <= steps or share is None or share >= 1):
            return
        begun, last, steps = what != last, what, step
        sys.stderr.write(f"{title}{what}\n" if begun else f"{title}: {share:.0%}, {left}\n")
        sys.stderr.flush()

    yield draw


class Shown(Watcher):
    """Tells what a run is at, and how far that is."""

    def __init__(self, progress: Progress, draw: Draw) -> None:
        self._progress = progress
        self._draw = draw
        self._tell("starting")

    def _tell(self, what: str, share: float | None = None, left: str = "") -> None:
        seen = self._progress
        start = f", start {seen.start} of {seen.starts}" if seen.starts > 1 else ""
        self._draw(f"{start}: {what}", share, left, seen.current)

    def record(self, record: AnyRecord) -> None:
        seen = self._progress
        seen.see(record)
        if seen.hashed:
            self._tell("hashing files", seen.hashed / (seen.files_expected or 1))
        elif seen.samples or seen.quiet is not None:
            self.waiting()
        elif seen.current:
            self._tell("checking")

    def waiting(self) -> None:
        seen, known = self._progress, self._progress.ahead(time.monotonic())
        what, how = f"measuring {seen.cases} cases", ""
        if seen.quiet is not None:
            what, how = "measuring; nothing on the wire until it is done", ", at a guess"
        share, left = (known[0], _left(known[1]) + how) if known else (None, "")
        self._tell(what, share, left)

    def quiet(self) -> None:
        self._progress.quiet = time.monotonic()
        self.waiting()

    def close(self) -> None:
        seen = self._progress
        files = f"; {seen.hashed} files hashed" if seen.hashed else ""
        skipped = f"; {seen.skipped} can't run here" if seen.skipped else ""
        self._tell(f"{seen.samples} samples of {seen.cases} cases{files}{skipped}")


def _left(seconds: float) -> str:
    whole = round(seconds)
    return "nearly done" if not whole else f"{whole // 60}:{whole % 60:02d} left"
