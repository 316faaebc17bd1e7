# SPDX-License-Identifier: BSD-2-Clause
"""A finding is a named conclusion with its evidence. Runs, boards, documents and traces yield this
one type; a page, a terminal and JSON show the same fields."""

from dataclasses import dataclass
from typing import Literal

from teemark.wording import fmt
from teemark.wording.interval import Interval

Status = Literal["found", "ruled out", "undecided", "not checked"]
"""The outcome of a finding. A document's conclusion holds if it is `found`, and doesn't if it is
`ruled out`."""

Severity = Literal["error", "caution", "note"]
"""error: nothing can be concluded, or a figure can't be right. caution: the figures mean less than
they seem to. note: anything else."""

SEVERITIES: tuple[Severity, ...] = ("error", "caution", "note")  # The worst first

Topic = Literal["answer", "cause", "choice", "trust", "conclusion", "board", "document", "call"]
"""The part of a report that shows the finding: the first sentences, the causes, what to choose, the
trust in figures, a document's conclusions, the doctor, the audit, a call."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number that supports a finding, in its own unit: `instructions`, `ns`, `times` (a ratio),
    `share` (0.5 is half), or an empty unit (a count)."""

    what: str
    value: float
    unit: str = ""
    interval: Interval | None = None
    cases: tuple[str, ...] = ()  # The measured cases that it is computed from
    doubt: str = ""  # Why nothing follows from it


@dataclass(frozen=True, slots=True)
class Share:
    """A share of the cost of a call or a byte, such as 0.97 of `a byte of SHA-256`."""

    value: float
    of: str
    at_most: bool = False  # `value` is only an upper bound

    @property
    def words(self) -> str:
        return f"{'up to ' if self.at_most else ''}{fmt.percent(self.value)} of {self.of}"


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a document; lines count from 1."""

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
    """A sentence; empty for a cause that is ruled out or not checked, whose name says enough."""
    why: str = ""  # The explanation, if it is known apart from the claim
    evidence: str = ""
    remedy: str = ""  # What to change; if undecided, what would decide
    lacks: str = ""  # If not checked: what to measure for it, and by which command
    figures: tuple[Figure, ...] = ()
    costs: Share | None = None  # Its cost, as a share of the measured call that it slows most
    saves: Share | None = None
    """The saving of the remedy, if it is known from a model, a trace or a build."""
    sure: bool = True  # False if a figure is uncertain, or nothing is decided
    place: Place | None = None

    @property
    def headline(self) -> str:
        """Returns the claim, marked where it isn't sure."""
        return self.claim + " (uncertain)" * (not self.sure)

    @property
    def advice(self) -> str:
        """Returns the remedy, and what it saves."""
        saves = f"It saves {self.saves.words}." if self.saves is not None else ""
        return " ".join(part for part in (self.remedy, saves) if part)

    @property
    def rank(self) -> float:
        """Returns the share of a call that the finding costs, else saves; lists are sorted by
        it."""
        share = self.costs or self.saves
        return share.value if share is not None else 0.0


def ranked(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Returns the findings whose status is `found`, the one that costs most first."""
    present = [finding for finding in findings if finding.status == "found"]
    return tuple(sorted(present, key=lambda finding: -finding.rank))
