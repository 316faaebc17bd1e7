# SPDX-License-Identifier: BSD-2-Clause
"""Judges a document: its conclusions, by what a run measured ([[answers]] of
reference/DOCUMENT.toml); and its contradictions that no general rule can find, by its own figures
([[mistakes]])."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from teemark.audit.numbers import amount
from teemark.base.errors import ConfigError
from teemark.base.finding import Finding, Place, Status
from teemark.findings.subject import Subject
from teemark.model.decide import Answer, within
from teemark.model.stats import WAITED, Unlike
from teemark.page.blocks import Cell, Mark, Quiet, Table, left
from teemark.reference.data import Reference, load
from teemark.run.reader import RunData
from teemark.studies import declared
from teemark.studies.declared import Check, Conclusion, Unit
from teemark.studies.formula import Formula
from teemark.studies.measured import Lookup, NotKnown, Value
from teemark.wording import fmt

Outcome = Answer | Literal["not measured"]

_OUTCOMES: Mapping[Outcome, tuple[Status, str]] = {
    "yes": ("found", "Holds here"),
    "no": ("ruled out", "Does not hold here"),
    "undecided": ("undecided", "Undecided here"),
    "not measured": ("not checked", "Not measured here"),
}

_MARKS = {
    "yes": Mark("✓ holds", "better"),
    "no": Mark("✗ doesn't hold", "worse"),
    "undecided": Mark("? undecided", "undecided"),
}

EMULATOR = (
    "An emulated board can't answer this: its times say nothing about hardware. A board that "
    "counts instructions answers some: --board qemu-rpi3-icount, or qemu-v8-icount."
)
COUNTED = "This board counts instructions, and the answer needs time: caches, disks and waiting."


@dataclass(frozen=True, slots=True)
class _Checked:
    """The outcome of one check: a sentence, the measured figure, and the document's own figure or
    the bounds within which the conclusion holds."""

    outcome: Outcome
    text: str
    here: str = ""
    document: str = ""


def answers(subject: Subject) -> tuple[Finding, ...]:
    """Returns findings on all conclusions of the document whose plan was run, in its order; none if
    the run's plan belongs to no document."""
    return tuple(_answer(conclusion, *judged) for conclusion, judged in _judged(subject))


def table(subject: Subject) -> Table:
    """Returns a row for each conclusion that the run judges, with the deciding figure: that of the
    first check with the conclusion's outcome, else of the first check."""
    rows: list[tuple[Cell, ...]] = []
    document = load().documents[subject.run.plan]
    for conclusion, (outcome, checked) in _judged(subject):
        if outcome == "not measured":
            continue
        measured = [check for check in checked if check.outcome != "not measured"]
        shown = min(measured, key=lambda check: check.outcome != outcome)
        value = shown.here.partition(" [")[0]  # its interval is in the sentence
        if outcome == "undecided" and measured != checked:
            value += f"; {fmt.plural(len(checked) - len(measured), 'figure')} not measured"
        figure, here = (cell.replace(_POINTS, " points") for cell in (shown.document, value))
        says = f" “{conclusion.quote}” ({conclusion.line})" if conclusion.quote else " (comparison)"
        rows.append(((conclusion.claim, Quiet(says)), figure, here, (_MARKS[outcome],)))
    columns = left("the document says (line)", "figure or limit", "here", "holds?")
    return Table(columns, rows, note=document.source, stacked=True)


def _judged(subject: Subject) -> list[tuple[Conclusion, tuple[Outcome, list[_Checked]]]]:
    """Returns each conclusion with its outcome and checks: "no" if one check contradicts it, "yes"
    if all agree."""
    plan = subject.run.plan
    if plan not in declared.SEED_PLANS:
        return []
    try:
        conclusions = declared.conclusions(plan)
    except ConfigError:
        return []  # no checkout: the tables' section says so
    judgements, lookup = [], Lookup(subject)
    for conclusion in conclusions:
        checked = [_checked(check, lookup) for check in conclusion.checks]
        outcomes = {each.outcome for each in checked}
        outcome: Outcome = "undecided" if outcomes - {"not measured"} else "not measured"
        if "no" in outcomes or outcomes == {"yes"}:
            outcome = "no" if "no" in outcomes else "yes"
        if conclusion.readings and len(outcomes) > 1:
            outcome = "undecided"
        judgements.append((conclusion, (outcome, checked)))
    return judgements


def mistaken(reference: Reference, document: str) -> Iterator[Finding]:
    """Yields each declared mistake that the document's printed figures confirm, with rounding
    allowed for. Raises ConfigError if a figure can't be computed."""
    for mistake in declared.mistakes(document):
        try:
            value = mistake.figure.printed(reference, document)
        except (AttributeError, ZeroDivisionError) as error:
            raise ConfigError(f"{document}.toml: mistake {mistake.key}: {error}") from None
        if value.high < mistake.low or value.low > mistake.high:
            claim = mistake.says.replace("{figure}", amount(value, mistake.unit, 3))
            yield Finding(key=mistake.key, topic="document", severity=mistake.severity, claim=claim,
                          place=Place(document, 0, mistake.table))  # fmt: skip


def _answer(conclusion: Conclusion, outcome: Outcome, checked: Sequence[_Checked]) -> Finding:
    status, head = _OUTCOMES[outcome]
    pairs = zip(conclusion.checks, checked, strict=True)
    sampled = any(judged.outcome == "undecided" and not check.equals for check, judged in pairs)
    more = "More samples would decide." if sampled else ""
    return Finding(
        key=conclusion.key,
        topic="conclusion",
        status=status,
        claim=f"{head}: {conclusion.claim}.",
        evidence=" ".join(dict.fromkeys(judged.text for judged in checked)) or f"{conclusion.why}.",
        why=conclusion.source if outcome != "not measured" else "",
        remedy=conclusion.advice if outcome in ("yes", "no") else more,
    )


def _checked(check: Check, lookup: Lookup) -> _Checked:
    run = lookup.subject.run
    nothing = COUNTED if run.icount else EMULATOR
    if run.emulated and check.hardware:
        return _Checked("not measured", nothing)
    try:
        value = check.figure(lookup)
    except NotKnown as why:
        reason = nothing if str(why) == WAITED else f"{why}."
        return _Checked("not measured", reason[:1].upper() + reason[1:])
    if not isinstance(value, str) and value.estimate.kind in ("emulated", "waited"):
        return _Checked("not measured", nothing)
    here = _figure(run, value, check.unit)
    document, beside = _beside(lookup, check, value)
    rate = "bytes an instruction" if run.icount else "rate"
    sentence = check.says.format(figure=here, time=fmt.quantity(run), rate=rate) + beside
    if isinstance(value, str) or check.equals:
        shown = value if isinstance(value, str) else str(value.median)
        word = shown.partition(" (")[0]  # A driver's name stands behind who did the work
        same: Outcome = "yes" if word == check.equals else "no"
        return _Checked(
            "undecided" if word in check.open else same, f"{sentence}.", here, check.equals
        )
    outcome, bounds = within(value.estimate, check.low, check.high), _bounds(run, check)
    return _Checked(outcome, f"{sentence} (it holds {bounds}).", here, document or bounds)


def _beside(lookup: Lookup, check: Check, value: Value | str) -> tuple[str, str]:
    """Returns the document's own figure, and a phrase that compares it with the measured one; two
    empty strings if the document has no such figure."""
    run = lookup.subject.run
    if not check.published or isinstance(value, str):
        return "", ""
    printed = Formula.parse(check.published, check.says)(lookup)
    if isinstance(printed, str):
        return "", ""
    document = _WRITTEN[check.unit](run, printed.median)
    words = f", where the document has {document}"
    if check.unit == "points" or printed.median <= 0:
        return document, words
    try:
        return document, f"{words}: {fmt.digits((value / printed).median)} times as much here"
    except (NotKnown, Unlike):
        return document, words


def _figure(run: RunData, value: Value | str, unit: Unit) -> str:
    if isinstance(value, str):
        return value
    text, interval = _WRITTEN[unit](run, value.median), value.interval
    if interval is None:
        return f"{text} [too few samples for an interval]"
    if interval.low == interval.high:
        return text
    # An interval of few samples may reach below zero, but a factor can't.
    least = max(interval.low, 0.0) if unit == "times" and value.median > 0 else interval.low
    ends = [_WRITTEN[unit](run, end) for end in (least, interval.high)]
    if ends == [text, text]:
        return text
    return f"{text} [{ends[0].removesuffix(_POINTS)}{fmt.TO}{ends[1].removesuffix(_POINTS)}]"


def _bounds(run: RunData, check: Check) -> str:
    low, high = (_WRITTEN[check.unit](run, end) for end in (check.low, check.high))
    if math.isinf(check.low):
        return f"up to {high}"
    if math.isinf(check.high):
        return f"from {low}"
    return f"from {low.removesuffix(_POINTS)} to {high}"


_POINTS = " percentage points"
_WRITTEN: Mapping[Unit, Callable[[RunData, float], str]] = {
    "times": lambda _, value: f"{fmt.digits(value)}{fmt.TIMES}",
    "%": lambda _, value: f"{fmt.digits(round(value * 100, 4) + 0.0)}{fmt.THIN}%",
    "points": lambda _, value: f"{fmt.digits(value * 100)}{_POINTS}",
    "time": lambda run, value: fmt.cost(run, value * 1e9),
}
