# SPDX-License-Identifier: BSD-2-Clause
"""What the first use of anything costs."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.base import fmt
from teemark.findings.subject import Subject, section
from teemark.page import figures
from teemark.page.blocks import Block, Code, Column, Fold, Quiet, Section, Table

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
    intro = (
        "What happens once is kept apart from all that is repeated: no sample above contains it."
    )
    if any(subject.icount for subject in subjects):
        intro += f" {RACING}"
    return section("first-use", "The first time", intro, subjects, _first_of)


ALIKE = 0.05
"""Share by which a first call may differ from the next ones and still be the same."""


def more(first: float, others: float, step: float) -> str:
    """Writes how much more the first call takes. What lies within a step of the clock is the same
    only if the step is small beside the call."""
    if abs(first - others) > step:
        return fmt.signed(first / others - 1)
    return "the same" if step <= ALIKE * others else "within the clock's step"


def _first_of(subject: Subject) -> list[Block]:
    blocks: list[Block] = []
    if subject.run.first:
        blocks.append(
            Table(
                (Column("what", "left"), Column("time", unit=figures.unit(subject.run))),
                tuple(
                    (
                        (
                            FIRST.get(first.what, first.what),
                            Quiet(f" {first.backend}" if first.backend else ""),
                        ),
                        figures.cell(subject.run, first.ns),
                    )
                    for first in subject.run.first
                ),
            )
        )
    # One call by one reading of the clock: what is apart by less is its step.
    clock = subject.run.machine.clock
    step = 2 * (clock.resolution_ns or 0) + (clock.reading_ns or 0)
    rows = []
    for stats in subject.models.stats:
        if stats.first_cost is None or not stats.next_cost or stats.first_cost <= 10 * step:
            continue
        rows.append(
            (
                (Code(stats.key),),
                figures.cell(subject.run, stats.first_cost),
                figures.cell(subject.run, stats.next_cost),
                more(stats.first_cost, stats.next_cost, step),
            )
        )
    if rows:
        unit = figures.unit(subject.run)
        table = Table(
            (
                Column("case", "left"),
                Column("first call", unit=unit),
                Column("calls right after it", unit=unit),
                Column("more"),
            ),
            tuple(rows),
            note="Both before any sample was taken, so in the same state of machine and TA.",
        )
        blocks.append(Fold("First call of every case", fmt.plural(len(rows), "case"), (table,)))
    return blocks
