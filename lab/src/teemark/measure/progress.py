# SPDX-License-Identifier: BSD-2-Clause
"""How a run is shown while it goes on: a bar on a terminal, a few lines in a pipe."""

import contextlib
import math
import sys
import time
from collections.abc import Callable, Iterator

from teemark.measure.runner import RunListener, Starts, samples_of
from teemark.plan.file import Plan
from teemark.run.reader import stands_for
from teemark.run.records import AnyRecord, Case, Fail, Sample, Skip, Start, Teehash

STEP = 0.1
"""Share of a run after which it prints a line, if there is no terminal."""

Draw = Callable[[str, float | None, str, str], None]
"""Shows the step at hand, the share of the run that is done (None: unknown), the time that is left,
and the case at hand."""


@contextlib.contextmanager
def watching(plan: Plan, title: str, starts: Starts | None = None) -> Iterator["Progress"]:
    with _bar(title) if sys.stderr.isatty() else _lines(title) as draw:
        progress = Progress(plan, starts, draw)
        yield progress
        progress.close()


@contextlib.contextmanager
def _bar(title: str) -> Iterator[Draw]:
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bars
    from rich.table import Column

    rest = Column(ratio=1, no_wrap=True, overflow="ellipsis")  # only this column is cut
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
                text, left = f"{title}{what}".partition(";")[0], left.partition(",")[0]
                bars.update(task, description=text, note=f"{left}  {case}", **done)

        yield draw


@contextlib.contextmanager
def _lines(title: str) -> Iterator[Draw]:
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


class Progress(RunListener):
    """Counts records, and shows a run's step and progress. Samples are interleaved over all cases,
    so the share of samples is the share of the time. If no sample arrives before a start's end, the
    progress is estimated from the last start's time, in the first start from `guess_s`."""

    def __init__(
        self, plan: Plan, starts: Starts | None = None, draw: Draw = lambda *_: None
    ) -> None:
        starts = starts or Starts()
        self.asked = {case.key: samples_of(case) for case in plan.cases}
        """Samples expected of each case in each start."""
        self.files = {step.key: step.runs for step in plan.teehash}
        """Runs of teehash expected of each step in each start."""
        self.start, self.starts, self.guess_s = 1, starts.count, starts.guess_s
        self.cases = self.skipped = 0  # counts of this start
        self.samples = self.hashed = 0  # runs of teehash come after all samples of a start
        self.current = ""
        self.began: float | None = None  # time of the first sample
        self.quiet_since: float | None = None
        self._any: set[str] = set()  # keys that stand for several cases
        self._draw = draw
        self._tell("starting")

    def _tell(self, what: str, share: float | None = None, left: str = "") -> None:
        start = f", start {self.start} of {self.starts}" if self.starts > 1 else ""
        self._draw(f"{start}: {what}", share, left, self.current)

    def record(self, record: AnyRecord) -> None:
        key = getattr(record, "case", None) or ""
        self.current = key or self.current
        match record:
            case Start():
                if self.quiet_since is not None:
                    self.guess_s = time.monotonic() - self.quiet_since
                    self.quiet_since = None
                self.start = record.number
                self.cases = self.skipped = 0
            case Sample():
                # the TA's counter gives a second figure for the same sample
                self.samples += record.source != "ta-counter"
                self.began = self.began or time.monotonic()
            case Teehash():
                self.hashed += 1
            case Case():
                self.cases += 1
                self._count(record)
            case Skip() | Fail():
                self.skipped += isinstance(record, Skip)
                self.asked.pop(key, None)
                self.files.pop(key, None)
        if self.hashed:
            self._tell("hashing files", self.hashed / (self.files_expected or 1))
        elif self.samples or self.quiet_since is not None:
            self.waiting()
        elif self.current:
            self._tell("checking")

    def _count(self, case: Case) -> None:
        """Adds the samples of a driver's case, if the plan asks for any driver."""
        if case.case in self.asked:
            return
        self._any |= {key for key in self.asked if stands_for(key, case.case)}
        if any(stands_for(key, case.case) for key in self._any):
            self.asked[case.case] = case.samples * len(case.repeat)
        for key in self._any:
            self.asked.pop(key, None)

    @property
    def files_expected(self) -> int:
        return max(self.hashed, sum(self.files.values()) * self.starts)

    @property
    def expected(self) -> int:
        return sum(self.asked.values()) * self.starts

    def ahead(self, now: float) -> tuple[float, float] | None:
        """Returns the share that is done, and the seconds left; None if it is too early to tell."""
        if self.quiet_since is not None and self.guess_s:
            done = self.start - 1 + min((now - self.quiet_since) / self.guess_s, 1)
            return done / self.starts, self.guess_s * (self.starts - done)
        if self.began is None or self.samples < 20 or now - self.began < 1:
            return None
        left = max(0, self.expected - self.samples)
        return self.samples / (self.samples + left), (now - self.began) / self.samples * left

    def waiting(self) -> None:
        ahead, what, how = self.ahead(time.monotonic()), f"measuring {self.cases} cases", ""
        if self.quiet_since is not None:
            what, how = "measuring; nothing on the wire until it is done", ", at a guess"
        share, left = (ahead[0], _left(ahead[1]) + how) if ahead else (None, "")
        self._tell(what, share, left)

    def quiet(self) -> None:
        self.quiet_since = time.monotonic()
        self.waiting()

    def close(self) -> None:
        files = f"; {self.hashed} files hashed" if self.hashed else ""
        skipped = f"; {self.skipped} can't run here" if self.skipped else ""
        self._tell(f"{self.samples} samples of {self.cases} cases{files}{skipped}")


def _left(seconds: float) -> str:
    whole = round(seconds)
    return "nearly done" if not whole else f"{whole // 60}:{whole % 60:02d} left"
