# SPDX-License-Identifier: BSD-2-Clause
"""Several runs side by side: what a call and a byte cost in each, and which medians differ."""

from __future__ import annotations

from collections.abc import Sequence

from teemark import fmt
from teemark.model.compare import Difference, differences
from teemark.report import figures
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
from teemark.report.subject import Subject


def comparison(subjects: Sequence[Subject]) -> Section | None:
    """None for a single run. The first is what the others are compared with."""
    if len(subjects) < 2:
        return None
    base = subjects[0]
    blocks: list[Block] = [
        Paragraph(
            (
                f"Factors are of the cost of a byte, against {base.label}. Where the interval of a "
                "factor has 1 in it, the difference may be chance.",
            )
        ),
        _costs(subjects),
    ]
    blocks += [_medians(base, other) for other in subjects[1:]]
    return Section("comparison", "Side by side", tuple(blocks))


def _costs(subjects: Sequence[Subject]) -> Table:
    keys = list(
        dict.fromkeys(
            (c.workload, c.algorithm, c.backend) for s in subjects for c in s.models.costs
        )
    )
    rows: list[tuple[Cell, ...]] = []
    for workload, algorithm, backend in keys:
        found = [s.models.cost(algorithm, backend, workload) for s in subjects]
        row: list[Cell] = [(Code(f"{workload}/{algorithm}/{backend}"),)]
        for subject, cost in zip(subjects, found, strict=True):
            if cost is None:
                row += [fmt.NONE, fmt.NONE]
                continue
            byte: list[Quiet | str] = [fmt.digits(cost.ns_per_byte)]
            if cost is not found[0] and found[0] is not None and found[0].ns_per_byte > 0:
                ratio = cost.byte / found[0].byte
                byte.append(Quiet(f" {figures.times(subject.run, ratio)}"))
            row += [figures.cell(subject.run, cost.call), tuple(byte)]
        rows.append(tuple(row))
    columns = [Column("case", "left")]
    for subject in subjects:
        columns += [
            Column(f"{subject.label}: call", unit=figures.unit(subject.run)),
            Column(f"{subject.label}: byte", unit=subject.run.unit),
        ]
    return Table(tuple(columns), tuple(rows))


def _medians(base: Subject, other: Subject) -> Fold:
    """Every case that both runs have."""
    found = [one for one in differences(base.run, other.run) if one.first.value > 0]
    apart = [one for one in found if one.slower != "undecided" and not one.same]
    rows: list[tuple[Cell, ...]] = [
        (
            (Code(one.case + (f" ×{one.repeat}" if one.repeat > 1 else "")),),  # noqa: RUF001
            figures.cell(base.run, one.first),
            figures.cell(other.run, one.second),
            figures.times(other.run, one.ratio),
            _judgement(one),
        )
        for one in found
    ]
    table = Table(
        (
            Column("case", "left"),
            Column(base.label, unit=figures.unit(base.run)),
            Column(other.label, unit=figures.unit(other.run)),
            Column("ratio"),
            Column("verdict", "left"),
        ),
        tuple(rows),
    )
    note = f"{fmt.plural(len(apart), 'case')} of {fmt.count(len(found))} differ beyond chance"
    return Fold(f"Medians of {other.label} against {base.label}", note, (table,))


def _judgement(one: Difference) -> Cell:
    if one.same:
        return "identical"
    words = {"yes": "slower", "no": "faster", "undecided": "undecided"}
    text = words[one.slower]
    return (Quiet(text),) if text == "undecided" else (Strong(text),)
