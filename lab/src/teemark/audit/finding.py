# SPDX-License-Identifier: BSD-2-Clause
"""What a rule finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from teemark.audit.figures import Figure, Paper
from teemark.reference.data import Reference

OTHER_TABLE = 0.05
"""What two runs may differ by: allowed when figures of different tables are put together."""

Severity = Literal["error", "warning"]
"""An error can't be right; a warning may be, but the figures don't bear it out."""


@dataclass(frozen=True, slots=True)
class Finding:
    rule: str
    severity: Severity
    evidence: str
    file: str
    line: int
    table: str


@dataclass(frozen=True, slots=True)
class Case:
    """All papers that are audited together, and what is known of the world."""

    papers: Sequence[Paper]
    reference: Reference


Said = tuple[str, Figure | int]
"""The evidence, and the figure or line that it is about."""
Shown = list[Said]


def together(what: str, shown: Shown) -> Iterator[Said]:
    """One finding for all that is shown, where the first of it stands."""
    if shown:
        yield what + "; ".join(text for text, _ in shown) + ".", shown[0][1]


@dataclass(frozen=True, slots=True)
class Rule:
    """A question put to the figures of a paper; it says nothing of figures that agree."""

    name: str
    severity: Severity
    look: Callable[[Paper, Case], Iterator[Said]]

    def findings(self, paper: Paper, case: Case) -> Iterator[Finding]:
        for evidence, place in self.look(paper, case):
            line, table = (
                (place.cell.line, place.cell.table) if isinstance(place, Figure) else (place, "")
            )
            yield Finding(self.name, self.severity, evidence, paper.file, line, table)
