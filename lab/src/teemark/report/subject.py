# SPDX-License-Identifier: BSD-2-Clause
"""What a section is made from: a run with its models and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from teemark.model.models import Models, build
from teemark.model.verdicts import Verdict, judge
from teemark.report.blocks import Block, Heading, Section
from teemark.run.reader import RunData
from teemark.trace.profile import Trace


@dataclass(frozen=True, slots=True)
class Subject:
    run: RunData
    models: Models
    verdicts: tuple[Verdict, ...]
    label: str
    """The run's name in a report of several."""
    trace: Trace | None = None
    against: Trace | None = None
    """The trace that this one is compared with."""

    @property
    def emulated(self) -> bool:
        """By the board file, or because the machine can tell itself."""
        told = self.run.machine.board.emulated
        return (self.run.run is not None and self.run.run.emulated) or told is True

    @property
    def icount(self) -> bool:
        return self.run.run is not None and self.run.run.icount


SectionFunction = Callable[[Sequence[Subject]], Section | None]


def subjects(
    runs: Sequence[RunData], traces: Sequence[Trace | None] = (), against: Trace | None = None
) -> tuple[Subject, ...]:
    """Fit and judge every run; labels tell runs of the same board apart."""
    made = []
    names = [run.name for run in runs]
    for number, run in enumerate(runs, 1):
        models = build(run)
        label = run.name if names.count(run.name) == 1 else f"{run.name} ({number})"
        trace = traces[number - 1] if traces else None
        made.append(Subject(run, models, judge(run, models), label, trace, against))
    return tuple(made)


def each(subjects: Sequence[Subject], blocks: Callable[[Subject], Sequence[Block]]) -> list[Block]:
    """The blocks of every subject, under its name when there are several."""
    made: list[Block] = []
    for subject in subjects:
        its = blocks(subject)
        if its and len(subjects) > 1:
            made.append(Heading(subject.label))
        made += its
    return made
