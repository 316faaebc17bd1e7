# SPDX-License-Identifier: BSD-2-Clause
"""What a document concluded, judged by the figures of this run: it holds here, it doesn't, or it
is undecided. Which conclusions, and by which figures, stands in reference/DOCUMENT.toml."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Literal

from teemark.base import fmt
from teemark.base.errors import ConfigError
from teemark.base.finding import Finding, Status
from teemark.findings.subject import Subject
from teemark.model.decide import Answer, more, within
from teemark.page import figures
from teemark.run.reader import RunData
from teemark.studies import declared
from teemark.studies.declared import Check, Conclusion, Unit
from teemark.studies.measured import Lookup, NotKnown, Value

Outcome = Answer | Literal["not measured"]

_HEADS: Mapping[Outcome, str] = {
    "yes": "Holds here",
    "no": "Does not hold here",
    "undecided": "Undecided here",
    "not measured": "Not measured here",
}
_STATUS: Mapping[Outcome, Status] = {
    "yes": "found",
    "no": "ruled out",
    "undecided": "undecided",
    "not measured": "not checked",
}

EMULATOR = "an emulated board can't give it: its times say nothing about hardware"
COUNTED = "this board counts instructions, and the answer needs time: caches, disks and waiting"


def answers(subject: Subject) -> tuple[Finding, ...]:
    """All conclusions of the document whose plan was run, in its order; none for other plans."""
    plan = subject.run.plan
    if plan not in declared.SEED_PLANS:
        return ()
    try:
        conclusions = declared.conclusions(plan)
    except ConfigError:
        return ()  # without a checkout; the section of the tables says so
    lookup = Lookup(subject)
    return tuple(_answer(one, lookup) for one in conclusions)


def _answer(conclusion: Conclusion, lookup: Lookup) -> Finding:
    """One figure that contradicts is enough for "no"; "yes" needs them all."""
    checked = [_checked(check, lookup) for check in conclusion.checks]
    found = {outcome for outcome, _, _ in checked}
    outcome: Outcome
    if "no" in found:
        outcome = "no"
    elif found == {"yes"}:
        outcome = "yes"
    else:
        outcome = "undecided" if found - {"not measured"} else "not measured"
    said = " ".join(dict.fromkeys(words for _, words, _ in checked)) or f"{conclusion.why}."
    return Finding(
        key=conclusion.key,
        topic="conclusion",
        status=_STATUS[outcome],
        claim=f"{_HEADS[outcome]}: {conclusion.claim}.",
        evidence=said,
        remedy=conclusion.advice if outcome in ("yes", "no") else _needs(checked),
    )


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
    subject = lookup.subject
    timed = check.figure.timed or check.hardware
    if subject.emulated and timed and (check.hardware or not subject.icount):
        reason = COUNTED if subject.icount else EMULATOR
        return "not measured", f"{reason[:1].upper()}{reason[1:]}.", ""
    try:
        value = check.figure(lookup)
    except NotKnown as why:
        reason = f"{why}."
        return "not measured", reason[:1].upper() + reason[1:], ""
    run = lookup.subject.run
    said = check.says.replace("{figure}", _figure(run, value, check.unit))
    said += _beside(lookup, check, value)
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


def _beside(lookup: Lookup, check: Check, value: Value | str) -> str:
    """The document's own figure, and ours as a multiple of it."""
    run = lookup.subject.run
    if check.published is None or isinstance(value, str):
        return ""
    printed = check.published(lookup)
    if isinstance(printed, str) or (run.icount and check.unit == "time"):
        return ""
    text = f", where {run.plan} has {_WRITTEN[check.unit](run, printed.median)}"
    if check.unit == "points" or printed.median <= 0:
        return text
    return f"{text}: {fmt.digits(value.median / printed.median)} times as much here"


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
