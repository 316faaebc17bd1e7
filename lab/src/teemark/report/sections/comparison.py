# SPDX-License-Identifier: BSD-2-Clause
"""Several runs side by side: which cases differ, and by how much."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.base import fmt
from teemark.findings.subject import Subject
from teemark.model.compare import Limit
from teemark.page.blocks import Block, Bullets, Fold, Heading, Section
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
