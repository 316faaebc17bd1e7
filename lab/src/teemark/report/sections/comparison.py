# SPDX-License-Identifier: BSD-2-Clause
"""Several runs side by side: what a call and a byte cost in each, and which cases differ."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.base import fmt
from teemark.findings.subject import Subject
from teemark.model.compare import Limit
from teemark.page import figures
from teemark.page.blocks import (
    Block,
    Bullets,
    Cell,
    Code,
    Column,
    Fold,
    Heading,
    Quiet,
    Section,
    Table,
)
from teemark.report import comparing
from teemark.report.comparing import Compared, compared


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


def verdicts(of: Compared, limit: Limit | None = None) -> list[Block]:
    """Returns the answer and what changed; folded, every case and how it was judged."""
    blocks = comparing.blocks(of, limit, "see “Every case”")
    if of.found.pairs:
        cases = fmt.plural(len(of.found.verdicts()), "case")
        table = comparing.case_table(of, of.found.worst_first)
        blocks.append(Fold("Every case", f"{cases}, the worst first", (table,)))
    method = Bullets(tuple((sentence,) for sentence in comparing.method(of)))
    if method.items:
        blocks.append(Fold("How this was judged", "", (method,)))
    return blocks


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
            byte: list[Quiet | str] = [fmt.digits(cost.slope.value)]
            if cost is not found[0] and found[0] is not None and found[0].slope.value > 0:
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
