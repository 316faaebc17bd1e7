# SPDX-License-Identifier: BSD-2-Clause
"""Several runs side by side: what a call and a byte cost in each, and which cases differ."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.base import fmt
from teemark.findings.subject import Subject
from teemark.model.compare import Difference
from teemark.page import figures
from teemark.page.blocks import (
    Block,
    Bullets,
    Cell,
    Code,
    Column,
    Fold,
    Heading,
    Paragraph,
    Quiet,
    Section,
    Strong,
    Table,
)
from teemark.report import comparing
from teemark.report.comparing import Compared, compared

SHOWN = 20
"""Cases that differ, before the others are folded away."""


def comparison(subjects: Sequence[Subject]) -> Section | None:
    """None for a single run. The first is what the others are compared with."""
    if len(subjects) < 2:
        return None
    base = subjects[0]
    blocks: list[Block] = []
    for other in subjects[1:]:
        blocks += [Heading(f"{other.label} against {base.label}"), *verdicts(compared(base, other))]
    costs = _costs(subjects)
    if costs.rows:
        note = f"factors of the cost of a byte are against {base.label}"
        blocks.append(Fold("What a call and a byte cost", note, (costs,)))
    return Section("comparison", "Side by side", tuple(blocks))


def verdicts(of: Compared) -> list[Block]:
    """What became better or worse and why; then every case."""
    blocks: list[Block] = [Paragraph((comparing.outcome(of.found),))]
    moved = [one for one in of.found.worst_first if one.verdict in ("worse", "better")]
    if moved:
        blocks.append(_table(of, moved[:SHOWN]))
    why = comparing.reasons(of)
    if why:
        blocks.append(Bullets(tuple((sentence,) for sentence in why)))
    blocks += [Paragraph((Quiet(remark),)) for remark in comparing.remarks(of.found)]
    note = fmt.plural(len(of.found.pairs), "case")
    if of.found.pairs:
        blocks.append(Fold("Every case", note, (_table(of, of.found.worst_first),)))
    return blocks


def _table(of: Compared, pairs: Sequence[Difference]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            (Code(one.name),),
            figures.cell(of.base.run, one.first),
            figures.cell(of.other.run, one.second),
            comparing.change(one),
            _verdict(one),
        )
        for one in pairs
    ]
    return Table(
        (
            Column("case", "left"),
            Column(of.base.label, unit=figures.unit(of.base.run)),
            Column(of.other.label, unit=figures.unit(of.other.run)),
            Column("change"),
            Column("verdict", "left"),
        ),
        tuple(rows),
    )


def _verdict(one: Difference) -> Cell:
    text = comparing.judgement(one)
    if one.verdict in ("worse", "better"):
        return (Strong(text),)
    return text if one.verdict == "same" else (Quiet(text),)


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
                ratio = cost.byte.drawn_apart() / found[0].byte
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
