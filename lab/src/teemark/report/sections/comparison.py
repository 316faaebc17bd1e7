# SPDX-License-Identifier: BSD-2-Clause
"""Several runs side by side: the fitted call and byte of each."""

from __future__ import annotations

from collections.abc import Sequence

from teemark import fmt
from teemark.report.blocks import Block, Code, Column, Paragraph, Quiet, Section, Table
from teemark.report.subject import Subject


def comparison(subjects: Sequence[Subject]) -> Section | None:
    """None for a single run. The first is what the others are compared with."""
    if len(subjects) < 2:
        return None
    rows = []
    base = subjects[0]
    keys = list(
        dict.fromkeys(
            (c.workload, c.algorithm, c.backend) for s in subjects for c in s.models.costs
        )
    )
    for workload, algorithm, backend in keys:
        name = f"{workload}/{algorithm}/{backend}"
        found = [s.models.cost(algorithm, backend, workload) for s in subjects]
        reference = found[0]
        row: list[str | tuple[Code | Quiet | str, ...]] = [(Code(name),)]
        for index, cost in enumerate(found):
            if cost is None:
                row += [fmt.NONE, fmt.NONE]
                continue
            call: list[Code | Quiet | str] = [fmt.duration(cost.call_ns)]
            byte: list[Code | Quiet | str] = [fmt.digits(cost.ns_per_byte)]
            if index and reference is not None and reference.ns_per_byte > 0:
                byte.append(Quiet(f" {fmt.factor(cost.ns_per_byte / reference.ns_per_byte)}"))
            row += [tuple(call), tuple(byte)]
        rows.append(tuple(row))
    columns = [Column("case", "left")]
    for subject in subjects:
        columns += [Column(f"{subject.label}: call"), Column(f"{subject.label}: byte", unit="ns")]
    blocks: list[Block] = [
        Paragraph((f"Factors are of the cost of a byte, against {base.label}.",)),
        Table(tuple(columns), tuple(rows)),
    ]
    return Section("comparison", "Side by side", tuple(blocks))
