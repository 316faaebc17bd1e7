# SPDX-License-Identifier: BSD-2-Clause
"""What happens inside a call: by repetitions, and by the TA's own counter."""

from __future__ import annotations

from teemark.base import fmt
from teemark.base.work import Work
from teemark.findings.subject import Part, Subject
from teemark.model.counter import Counted
from teemark.page import figures
from teemark.page.blocks import Block, Cell, Code, Column, Fold, Strong, Table
from teemark.report.cells import backend_cell, misfit_cell, time_cells, timed

FEW = 12
"""Up to this number of cases the tables by the TA's clock are open."""


def _slopes(subject: Subject) -> list[Block]:
    """Returns the work of a call and the price of the call alone, with the work by either clock."""
    repeats, run = subject.models.repeats, subject.run
    by_counter = {one.case.case: one for one in subject.models.counted if one.judgement is not None}
    rows: list[tuple[Cell, ...]] = []
    for repeat in repeats:
        operation = repeat.operation
        counted = by_counter.get(repeat.key)
        rows.append(
            (
                backend_cell(subject, repeat.backend),
                run.title(repeat.algorithm),
                fmt.size(repeat.bytes) if repeat.bytes is not None else fmt.NONE,
                *time_cells(subject, operation),
                *(_clocks(subject, counted) if counted is not None else ("", "")),
                fmt.digits(operation.value / repeat.bytes) if repeat.bytes else fmt.NONE,
                *time_cells(subject, repeat.crossing),
                misfit_cell(repeat.fit, "repeat"),
            )
        )
    if not rows:
        return []
    unit = figures.unit(run)
    counts = sorted({int(point.x) for repeat in repeats for point in repeat.fit.points})
    columns = (
        Column("backend", "left"),
        Column("algorithm", "left"),
        Column("bytes"),
        *timed("operation", unit=unit),
        Column("by the TA's counter", unit=unit, optional=True),
        Column("apart", optional=True),
        Column("byte", unit=run.unit),
        *timed("call", unit=unit),
        Column("misfit"),
    )
    caption = f"Slope over n = {', '.join(map(str, counts))}"
    return [Table(columns, tuple(rows), caption=caption, note=subject.caveat)]


def _clocks(subject: Subject, counted: Counted) -> tuple[Cell, Cell]:
    """Returns the work by the TA's counter, and how far that is from the client's clock."""
    if counted.slopes is None:
        return fmt.NONE, counted.judgement or fmt.NONE
    apart = fmt.signed(counted.slopes.ratio.value - 1)
    marked: Cell = f"{apart}, undecided" if counted.judgement == "undecided" else apart
    if counted.judgement == "disagree":
        marked = (Strong(f"! {apart}"),)
    return figures.cell(subject.run, counted.slopes.second), marked


def _calls(subject: Subject) -> list[Block]:
    groups: dict[tuple[str, str], list[Counted]] = {}
    counted = [one for one in subject.models.counted if one.inside is not None]
    for one in counted:
        groups.setdefault((one.case.workload, one.case.algorithm), []).append(one)
    return [
        Fold(
            f"{workload} · {subject.run.title(algorithm)}",
            fmt.plural(len(group), "case"),
            (_call_table(subject, group),),
            open=len(counted) <= FEW,
        )
        for (workload, algorithm), group in groups.items()
    ]


def _call_table(subject: Subject, group: list[Counted]) -> Table:
    run, unit = subject.run, figures.unit(subject.run)
    rows: list[tuple[Cell, ...]] = []
    for one in sorted(group, key=lambda one: (run.place(one.case.backend), one.case.bytes or 0)):
        if one.inside is None or one.client is None or one.crossing is None:
            continue
        work = Work.of(one.case.case)
        whole = work.size is not None and work.curve == work.workload
        rows.append(
            (
                (Code(one.case.backend),),
                fmt.size(work.size or 0) if whole else work.parameters,
                figures.cell(run, one.client.estimate),
                figures.cell(run, one.inside.estimate),
                fmt.percent(one.share, 3) if one.share is not None else fmt.NONE,
                *time_cells(subject, one.crossing.estimate),
            )
        )
    columns = (
        Column("backend", "left"),
        Column("parameters", "left"),
        Column("a call", unit=unit),
        Column("in the TA", unit=unit),
        Column("share"),
        *timed("way in and out", unit=unit),
    )
    return Table(columns, tuple(rows))


inside = Part(
    "inside",
    "Inside the call",
    _slopes,
    "Here one call does its work n times over before it returns. The slope over n is what the work "
    "itself takes, with no clock needed where it runs; what is left at n = 0 is the price of the "
    "call alone. A TA that may read a counter gives the same slope with it.",
    "what the TA itself takes, by repetitions",
)
by_its_own_clock = Part(
    "own-clock",
    "Inside the TA, by its own clock",
    _calls,
    "A TA that may read a counter takes the time of what it does in a call. What the client waits "
    "for beyond that is the way in and out: two changes of world, libteec and the driver, and the "
    "mapping of the buffers. Figures are medians, the way is that of single calls.",
    "the TA's own clock beside the client's",
)
