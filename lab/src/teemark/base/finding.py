# SPDX-License-Identifier: BSD-2-Clause
"""A finding: a named conclusion with what it stands on. Runs, boards, documents and traces yield
this one type; a page, a terminal and JSON show the same fields."""

from dataclasses import dataclass
from typing import Literal

from teemark.base import fmt
from teemark.base.interval import Interval

Status = Literal["found", "ruled out", "undecided", "not checked"]
"""A conclusion of a document is `found` if it holds, and `ruled out` if it doesn't."""

Severity = Literal["error", "caution", "note"]
"""error: nothing can be concluded, or a figure can't be right. caution: the figures mean less than
they seem to. note: all others."""

SEVERITIES: tuple[Severity, ...] = ("error", "caution", "note")  # The worst first

Topic = Literal["answer", "cause", "choice", "trust", "conclusion", "board", "document", "call"]
"""The one place of a report that says it: the first sentences, the causes, what to choose, how
well figures are known, a document's conclusions, the doctor, the audit, a call."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number that a finding stands on, in its own unit: `instructions`, `ns`, `times` of a
    ratio, `share` (0.5 is half), or nothing of a count."""

    what: str
    value: float
    unit: str = ""
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """A part of what a call or a byte costs: 0.97 of `a byte of SHA-256`."""

    value: float
    of: str
    at_most: bool = False  # Only an upper bound is known

    @property
    def words(self) -> str:
        return f"{'up to ' if self.at_most else ''}{fmt.percent(self.value)} of {self.of}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a document the finding is; lines count from 1."""

    file: str
    line: int
    table: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    key: str
    topic: Topic
    status: Status = "found"
    severity: Severity = "note"
    claim: str = ""
    """A sentence. Empty where the name says enough: a cause that is ruled out or wasn't checked."""
    why: str = ""  # Why it is so, where that is known apart from the claim
    evidence: str = ""
    remedy: str = ""  # What to change; of an undecided finding, what would decide it
    lacks: str = ""  # What would have to be measured to check it, and the command that measures it
    figures: tuple[Figure, ...] = ()
    costs: Share | None = None  # What it costs, of the call at hand that it costs most
    saves: Share | None = None
    """The saving of the remedy, where a model, a trace or a build tells it."""
    sure: bool = True  # False if a figure is known badly, or nothing is decided
    place: Place | None = None

    @property
    def advice(self) -> str:
        """Returns what to change, and what that saves."""
        saves = f"It saves {self.saves.words}." if self.saves is not None else ""
        return " ".join(part for part in (self.remedy, saves) if part)

    @property
    def rank(self) -> float:
        """Returns the place in a list: findings that cost more of a call come first."""
        known = self.costs or self.saves
        return known.value if known is not None else 0.0


def ranked(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Returns the findings that there are, the dearest first."""
    found = [one for one in findings if one.status == "found"]
    return tuple(sorted(found, key=lambda one: -one.rank))
