# SPDX-License-Identifier: BSD-2-Clause
"""How much of a call is inside the TA, by the TA's own counter, and whether the clocks agree."""

from __future__ import annotations

from collections.abc import Sequence

from teemark import fmt
from teemark.model.counter import TOLERANCE, Counted
from teemark.report.blocks import (
    Block,
    Cell,
    Code,
    Column,
    Fold,
    Paragraph,
    Quiet,
    Section,
    Strong,
    Table,
)
from teemark.report.sections.throughput import caveat
from teemark.report.subject import Subject, each

FEW = 12
"""So many cases are shown unfolded."""


def by_its_own_clock(subjects: Sequence[Subject]) -> Section | None:
    blocks = each(subjects, _of)
    if not blocks:
        return None
    intro = Paragraph(
        (
            "A TA that may read a counter takes the time of what it does in a call. What the "
            "client waits for beyond that is the way in and out: two changes of world, libteec "
            "and the driver, and the mapping of the buffers. Medians; the way is taken call by "
            f"call, with its {fmt.LEVEL} interval.",
        )
    )
    return Section("own-clock", "Inside the TA, by its own clock", (intro, *blocks))


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
    rows = []
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
                fmt.duration(client.median),
                fmt.duration(inside.median),
                fmt.percent(counted.share, 3) if counted.share is not None else fmt.NONE,
                fmt.duration(crossing.median),
                (Quiet(fmt.duration_interval(crossing.interval)),),
            )
        )
    return Table(
        columns=(
            Column("backend", "left"),
            Column("parameters", "left"),
            Column("a call"),
            Column("in the TA"),
            Column("share"),
            Column("way in and out"),
            Column(fmt.LEVEL),
        ),
        rows=tuple(rows),
    )


def _parameters(counted: Counted) -> str:
    """A bare size is read as one."""
    case = counted.case
    if case.bytes is not None and case.parameters == str(case.bytes):
        return fmt.size(case.bytes)
    return case.parameters


def _slopes(subject: Subject, judged: Sequence[Counted]) -> Table:
    """The check: one operation by either clock."""
    rows = []
    for counted in judged:
        slopes = counted.slopes
        rows.append(
            (
                (Code(counted.case.case),),
                fmt.duration(slopes.first) if slopes else fmt.NONE,
                fmt.duration(slopes.second) if slopes else fmt.NONE,
                fmt.percent(slopes.ratio - 1) if slopes else fmt.NONE,
                (Quiet(_deviations(counted)),),
                _judgement(counted),
            )
        )
    return Table(
        columns=(
            Column("case", "left"),
            Column("operation, client"),
            Column("operation, TA"),
            Column("apart"),
            Column(fmt.LEVEL),
            Column(f"within {fmt.percent(TOLERANCE)}", "left"),
        ),
        rows=tuple(rows),
        caption="One operation, as the slope over repetitions in one call, by either clock",
        note=caveat(subject),
    )


def _deviations(counted: Counted) -> str:
    if counted.slopes is None:
        return fmt.NONE
    interval = counted.slopes.interval
    low, high = fmt.percent(interval.low - 1), fmt.percent(interval.high - 1)
    return low if low == high else f"{low}{fmt.TO}{high}"


def _judgement(counted: Counted) -> Cell:
    match counted.judgement:
        case "agree":
            return "yes"
        case "disagree":
            return (Strong("! no"),)
        case _:
            return (Quiet("undecided"),)
