# SPDX-License-Identifier: BSD-2-Clause
"""What a document concluded, judged by the figures of this run: it holds here, it doesn't, or it
is undecided. Which conclusions, and by which figures, stands in reference/DOCUMENT.toml."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from teemark.base import fmt
from teemark.base.errors import ConfigError
from teemark.findings.subject import Subject
from teemark.model.decide import Answer, more, within
from teemark.page import figures
from teemark.run.reader import RunData
from teemark.studies import declared
from teemark.studies.declared import Check, Conclusion, Unit
from teemark.studies.measured import Lookup, NotKnown, Value

Outcome = Answer | Literal["not measured"]

HEADS: Mapping[Outcome, str] = {
    "yes": "Holds here",
    "no": "Does not hold here",
    "undecided": "Undecided here",
    "not measured": "Not measured here",
}


@dataclass(frozen=True, slots=True)
class Answered:
    """A conclusion of a document, and what the figures of a run say to it."""

    key: str
    outcome: Outcome
    claim: str
    evidence: str
    advice: str

    @property
    def sentence(self) -> str:
        return f"{HEADS[self.outcome]}: {self.claim}."


def answers(subject: Subject) -> tuple[Answered, ...]:
    """Of a run of a seed plan, all conclusions of its document, in its order; else none."""
    plan = subject.run.plan
    if plan not in declared.SEED_PLANS:
        return ()
    try:
        conclusions = declared.conclusions(plan)
    except ConfigError:
        return ()  # without a checkout; the section of the tables says so
    lookup = Lookup(subject)
    return tuple(_answer(one, lookup) for one in conclusions)


def _answer(conclusion: Conclusion, lookup: Lookup) -> Answered:
    """One figure that contradicts is enough for "no"; "yes" needs them all."""
    checked = [_checked(check, lookup) for check in conclusion.checks]
    found = {outcome for outcome, _, _ in checked}
    outcome: Outcome
    if "no" in found:
        outcome = "no"
    elif found == {"yes"}:
        outcome = "yes"
    else:
        outcome = "not measured" if found == {"not measured"} else "undecided"
    advice = conclusion.advice if outcome in ("yes", "no") else _needs(checked)
    said = " ".join(dict.fromkeys(words for _, words, _ in checked))
    return Answered(conclusion.key, outcome, conclusion.claim, said, advice)


Needs = int | None | Literal["", "some"]
"""How many samples would decide a figure; None: no number. "": it is decided, or isn't measured."""


def _needs(checked: list[tuple[Outcome, str, Needs]]) -> str:
    """What would decide all figures: as much as the one that needs most."""
    needs = [one for _, _, one in checked if one != ""]
    if None in needs:
        return figures.more(None, 1)
    numbers = [one for one in needs if isinstance(one, int)]
    if numbers:
        return figures.more(max(numbers), 1)
    return "More samples would decide." if needs else ""


def _checked(check: Check, lookup: Lookup) -> tuple[Outcome, str, Needs]:
    """What a figure says, in words, and what would decide it."""
    try:
        value = check.figure(lookup)
    except NotKnown as why:
        reason = f"{why}."
        return "not measured", reason[:1].upper() + reason[1:], ""
    run = lookup.subject.run
    said = check.says.replace("{figure}", _figure(run, value, check.unit))
    if isinstance(value, str) or check.equals:
        shown = value if isinstance(value, str) else str(value.median)
        if shown in check.open:
            return "undecided", f"{said}.", ""
        return ("yes" if shown == check.equals else "no"), f"{said}.", ""
    outcome = within(value.known, check.low, check.high)
    bounds = _bounds(run, check)
    if outcome != "undecided":
        return outcome, f"{said} ({bounds}).", ""
    thresholds = [one for one in (check.low, check.high) if math.isfinite(one)]
    needs: Needs = "some"
    if value.samples is not None:
        needs = more(value.known, thresholds, value.samples)
    return outcome, f"{said} ({bounds}).", needs


def _figure(run: RunData, value: Value | str, unit: Unit) -> str:
    if isinstance(value, str):
        return value
    written = _WRITTEN[unit]
    interval = value.interval
    text = written(run, value.median)
    if interval is None:
        return f"{text} [too few samples for an interval]"
    if interval.low == interval.high:
        return text
    # an interval of few samples may reach below zero, and no factor does
    least = max(interval.low, 0.0) if unit == "times" and value.median > 0 else interval.low
    low, high = (written(run, end) for end in (least, interval.high))
    return f"{text} [{low}{fmt.TO}{high}]"


def _bounds(run: RunData, check: Check) -> str:
    low, high = (_WRITTEN[check.unit](run, end) for end in (check.low, check.high))
    if math.isinf(check.low):
        return f"it holds up to {high}"
    return f"it holds from {low}" + ("" if math.isinf(check.high) else f" to {high}")


_WRITTEN: Mapping[Unit, Callable[[RunData, float], str]] = {
    "times": lambda _, value: f"{fmt.digits(value)}{fmt.TIMES}",
    "%": lambda _, value: f"{fmt.digits(value * 100)}{fmt.THIN}%",
    "points": lambda _, value: f"{fmt.digits(value * 100)} percentage points",
    "time": lambda run, value: figures.time(run, value * 1e9),
}
