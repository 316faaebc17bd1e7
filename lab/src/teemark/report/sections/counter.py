# SPDX-License-Identifier: BSD-2-Clause
"""How much of a call is inside the TA, by the TA's own counter, and whether the clocks agree."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.base import fmt
from teemark.base.work import Work
from teemark.findings.subject import Subject, section
from teemark.model.counter import TOLERANCE, Counted
from teemark.page import figures
from teemark.page.blocks import Block, Cell, Code, Column, Fold, Quiet, Section, Strong, Table
from teemark.report.cells import interval_columns, time_cells

FEW = 12
"""So many cases are shown unfolded."""


def by_its_own_clock(subjects: Sequence[Subject]) -> Section | None:
    return section(
        "own-clock",
        "Inside the TA, by its own clock",
        "A TA that may read a counter takes the time of what it does in a call. What the client "
        "waits for beyond that is the way in and out: two changes of world, libteec and the "
        "driver, and the mapping of the buffers. Figures are medians, the way is that of single "
        "calls.",
        subjects,
        _of,
    )


def _of(subject: Subject) -> list[Block]:
    groups: dict[tuple[str, str], list[Counted]] = {}
    for counted in subject.models.counted:
        if counted.inside is not None:
            key = (counted.case.workload, counted.case.algorithm)
            groups.setdefault(key, []).append(counted)
    cases = sum(map(len, groups.values()))
    blocks: list[Block] = [
        Fold(
            f"{workload} · {subject.run.title(algorithm)}",
            fmt.plural(len(group), "case"),
            (_calls(subject, group),),
            open=cases <= FEW,
        )
        for (workload, algorithm), group in groups.items()
    ]
    judged = [counted for counted in subject.models.counted if counted.judgement is not None]
    if judged:
        blocks.append(_slopes(subject, judged))
    return blocks


def _calls(subject: Subject, group: Sequence[Counted]) -> Table:
    ordered = sorted(group, key=lambda c: (subject.run.place(c.case.backend), c.case.bytes or 0))
    rows: list[tuple[Cell, ...]] = []
    unit = figures.unit(subject.run)
    for counted in ordered:
        case, inside, client, crossing = (
            counted.case,
            counted.inside,
            counted.client,
            counted.crossing,
        )
        if inside is None or client is None or crossing is None:
            continue
        rows.append(
            (
                (Code(case.backend),),
                _parameters(counted),
                figures.cell(subject.run, client.estimate),
                figures.cell(subject.run, inside.estimate),
                fmt.percent(counted.share, 3) if counted.share is not None else fmt.NONE,
                *time_cells(subject, crossing.estimate),
            )
        )
    return Table(
        columns=(
            Column("backend", "left"),
            Column("parameters", "left"),
            Column("a call", unit=unit),
            Column("in the TA", unit=unit),
            Column("share"),
            *interval_columns(subject, Column("way in and out", unit=unit)),
        ),
        rows=tuple(rows),
    )


def _parameters(counted: Counted) -> str:
    """A bare size is read as one."""
    case = Work.of(counted.case.case)
    whole = case.size is not None and case.curve == case.workload
    return fmt.size(case.size or 0) if whole else case.parameters


def _slopes(subject: Subject, judged: Sequence[Counted]) -> Table:
    """The check: one operation by either clock."""
    rows: list[tuple[Cell, ...]] = []
    for counted in judged:
        slopes = counted.slopes
        run = subject.run
        rows.append(
            (
                (Code(counted.case.case),),
                figures.cell(run, slopes.first) if slopes else fmt.NONE,
                figures.cell(run, slopes.second) if slopes else fmt.NONE,
                fmt.signed(slopes.ratio.value - 1) if slopes else fmt.NONE,
                *(() if subject.icount else ((Quiet(_deviations(counted)),),)),
                _judgement(counted),
            )
        )
    unit = figures.unit(subject.run)
    return Table(
        columns=(
            Column("case", "left"),
            Column("operation, client", unit=unit),
            Column("operation, TA", unit=unit),
            *interval_columns(subject, Column("apart")),
            Column(f"within {fmt.percent(TOLERANCE, 1)}", "left"),
        ),
        rows=tuple(rows),
        caption="One operation, as the slope over repetitions in one call, by either clock",
        note=subject.caveat,
    )


def _deviations(counted: Counted) -> str:
    interval = counted.slopes.ratio.interval if counted.slopes else None
    if interval is None:
        return fmt.NONE
    low, high = fmt.signed(interval.low - 1), fmt.signed(interval.high - 1)
    return low if low == high else f"{low}{fmt.TO}{high}"


def _judgement(counted: Counted) -> Cell:
    match counted.judgement:
        case "agree":
            return "yes"
        case "disagree":
            return (Strong("! no"),)
        case _:
            return (Quiet("undecided"),)
