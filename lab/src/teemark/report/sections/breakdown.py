# SPDX-License-Identifier: BSD-2-Clause
"""Where the time of one call goes: a bar and a table of its parts, and what can't be told."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.base import fmt
from teemark.findings.subject import Subject, section
from teemark.model.breakdown import TOLERANCE, Breakdown, Check, Part, shown
from teemark.model.stats import Estimate
from teemark.page import bars, figures
from teemark.page.blocks import (
    Block,
    Bullets,
    Cell,
    Chart,
    Column,
    Fold,
    Quiet,
    Section,
    Strong,
    Table,
    Text,
)
from teemark.run.reader import RunData


def taken_apart(subjects: Sequence[Subject]) -> Section | None:
    return section(
        "explain",
        "Where the time of a call goes",
        "Each part is measured by itself: as the difference between two calls that differ in it "
        "alone, as a slope over repetitions, or by the kernel's tracepoints. What all parts leave "
        "of the call is unexplained, and isn't spread over them. A counted call is exact; what two "
        "counted calls differ by is called a difference, since they may differ in more than that.",
        subjects,
        _of,
    )


def _of(subject: Subject) -> list[Block]:
    blocks: list[Block] = []
    for one in shown(subject.breakdowns):
        chart = Chart(
            title=one.key,
            caption=("The parts by their share; the table has the figures.", *subject.remark),
            wide=bars.render(one, bars.WIDE),
            narrow=bars.render(one, bars.NARROW),
            data=None,
        )
        blocks += [chart, *told(subject, one)]
    return blocks


def told(subject: Subject, one: Breakdown) -> list[Block]:
    """Its parts, what two sources say of the same, and what can't be told."""
    blocks: list[Block] = [_table(subject, one)]
    unknown = [part for part in one.parts if part.value is None]
    if one.checks:
        unit = _unit(subject, one)
        blocks.append(Bullets(tuple(_said(check, subject.run, unit) for check in one.checks)))
    if unknown:
        blocks.append(
            Fold(
                f"What can't be told of {one.key}",
                fmt.plural(len(unknown), "part"),
                (Bullets(tuple(_missing(part) for part in unknown)),),
            )
        )
    return blocks


def _missing(part: Part) -> Text:
    return (Strong(part.title), f": {part.reason}. To know it: {part.measure}.")


def _table(subject: Subject, one: Breakdown) -> Table:
    rows: list[tuple[Cell, ...]] = [_row(subject.run, one, part) for part in one.known]
    total: tuple[Cell, ...] = (
        (Strong("the call"),),
        (Strong(figures.amount_cell(subject.run, one.total)),),
        (Quiet(figures.between(subject.run, one.total)),),
        fmt.percent(1.0, 3),
        "client clock: median",
    )
    return Table(
        columns=(
            Column("part", "left"),
            Column("takes", unit=_unit(subject, one)),
            Column(fmt.LEVEL),
            Column("share"),
            Column("told by", "left"),
        ),
        rows=(*rows, total),
        caption=f"The parts of {one.key}",
        note=subject.caveat,
    )


def _unit(subject: Subject, one: Breakdown) -> str:
    """A call that waits isn't counted even where a nanosecond is an instruction."""
    return "ns" if subject.icount and not one.total.exact else figures.unit(subject.run)


def _row(run: RunData, one: Breakdown, part: Part) -> tuple[Cell, ...]:
    value = part.value
    assert value is not None
    share = value.value / one.total.value if one.total.value else 0.0
    return (
        part.title,
        figures.amount_cell(run, value),
        (Quiet(_known_to(run, part, value)),),
        fmt.signed(share).lstrip("+"),
        part.source or "",
    )


def _known_to(run: RunData, part: Part, value: Estimate) -> str:
    """How well a part is known. A difference of exact counts isn't exact itself: the two calls may
    differ in more than the part."""
    told = figures.between(run, value)
    itself = not value.value or part.name in COUNTED
    return told if told != figures.EXACT or itself else "difference"


COUNTED = ("run-queue",)
"""Parts that are counted in the call itself."""


def _said(check: Check, run: RunData, unit: str) -> Text:
    one, other = (figures.amount_cell(run, value) for value in (check.one, check.other))
    words = {
        "yes": f"agree to within {fmt.percent(TOLERANCE, 1)}",
        "no": f"differ by more than {fmt.percent(TOLERANCE, 1)}",
        "undecided": f"agree or not to within {fmt.percent(TOLERANCE, 1)}: undecided",
    }
    mark = Strong("! ") if check.answer == "no" else ""
    return (
        mark,
        Strong(f"{check.what}, {unit}" if unit else check.what),
        f": {one} ({check.one_source}) and {other} ({check.other_source}) {words[check.answer]}.",
    )
