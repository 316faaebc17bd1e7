# SPDX-License-Identifier: BSD-2-Clause
"""What the first use of anything costs."""

from __future__ import annotations

from collections.abc import Sequence

from teemark import fmt
from teemark.report.blocks import Block, Code, Column, Fold, Paragraph, Quiet, Section, Table
from teemark.report.subject import Subject, each

FIRST = {
    "context": "first contact with the TEE (context)",
    "session": "opening a session; the first of all loads the TA",
    "invoke": "first empty call",
    "call": "first call",
}

RACING = (
    "A clock that counts instructions races while the board waits for its disk, so what loads a "
    "file takes any time here."
)


def first_use(subjects: Sequence[Subject]) -> Section | None:
    blocks = each(subjects, _first_of)
    if not blocks:
        return None
    intro = Paragraph(
        (
            "What happens once is kept apart from everything that is repeated: no sample above "
            "contains it.",
        )
    )
    if any(subject.icount for subject in subjects):
        blocks.append(Paragraph((RACING,)))
    return Section("first-use", "The first time", (intro, *blocks))


def _first_of(subject: Subject) -> list[Block]:
    blocks: list[Block] = []
    if subject.run.first:
        blocks.append(
            Table(
                (Column("what", "left"), Column("time")),
                tuple(
                    (
                        (
                            FIRST.get(first.what, first.what),
                            Quiet(f" {first.backend}" if first.backend else ""),
                        ),
                        fmt.duration(first.ns),
                    )
                    for first in subject.run.first
                ),
            )
        )
    rows = []
    for stats in subject.models.stats:
        if stats.first_ns is not None and stats.time.median > 0:
            ratio = stats.first_ns / stats.time.median
            rows.append(
                (
                    (Code(stats.key),),
                    fmt.duration(stats.first_ns),
                    fmt.duration(stats.time.median),
                    fmt.factor(ratio),
                )
            )
    if rows:
        table = Table(
            (
                Column("case", "left"),
                Column("first call"),
                Column("median of the rest"),
                Column("ratio"),
            ),
            tuple(rows),
        )
        blocks.append(Fold("First call of every case", fmt.plural(len(rows), "case"), (table,)))
    return blocks
