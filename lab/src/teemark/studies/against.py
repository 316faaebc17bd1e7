# SPDX-License-Identifier: BSD-2-Clause
"""A run of a document's plan, held against the figures that the document printed.

A printed figure stands for whatever rounds to it. A figure of the run differs if its whole 95 %
interval is outside of that, and is the same if the whole interval is within it or no more than
MARGIN away. Times and rates can be better or worse; of counts, sizes and shares no direction is
known, so they differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from teemark.base import fmt
from teemark.base.errors import DataError, UsageMistake
from teemark.base.interval import LEVEL, Interval
from teemark.findings.subject import Subject
from teemark.model.compare import MARGIN
from teemark.model.decide import more
from teemark.page.blocks import Block, Bullets, Cell, Column, Fold, Paragraph, Strong, Table
from teemark.reference.data import Document, Figure, Reference
from teemark.reference.span import Span
from teemark.reference.units import UNITS
from teemark.run.reader import RunData
from teemark.studies import declared
from teemark.studies.declared import SeedTable
from teemark.studies.measured import Lookup, NotKnown, Value
from teemark.studies.table import number, unit_for

Verdict = Literal["worse", "differs", "undecided", "better", "same", "not compared"]

ORDER: tuple[Verdict, ...] = ("worse", "differs", "undecided", "better", "same", "not compared")

_WORSE: Mapping[str, int] = {"time": 1, "time per byte": 1, "rate": -1}
"""By dimension: which direction is the worse one."""


MEAN = "the run's median says so, but its mean doesn't, and the document has the mean"

_NOTHING = 1e-9
"""What binary fractions lose, as a share."""


@dataclass(frozen=True, slots=True)
class Held:
    """One published figure, and what the run has to say to it."""

    figure: Figure
    verdict: Verdict
    value: Value | None = None
    mean: bool = False
    """The document has the mean here; the run's median is held against it."""
    more: int | None = None
    """About how many samples more would decide; None: no number would."""
    reason: str = ""
    """Why it isn't compared, or is undecided."""

    @property
    def name(self) -> str:
        figure = self.figure
        column = "" if figure.column.lower() == "value" else f" / {figure.column}"
        return f"{figure.table}: {figure.row}{column}"

    @property
    def ratio(self) -> float | None:
        """Of the run's figure to the printed one."""
        printed = self.figure.base.mid if self.value is not None else 0.0
        return self.value.median / printed if self.value is not None and printed > 0 else None

    @property
    def interval(self) -> Interval | None:
        """Of the ratio, by the spread of the run alone."""
        if self.ratio is None or self.value is None or self.value.interval is None:
            return None
        printed, of = self.figure.base.mid, self.value.interval
        return Interval(of.low / printed, of.high / printed, of.level)

    @property
    def distance(self) -> float:
        """How far from the printed figure, as a logarithm; infinite where there is no ratio."""
        return abs(math.log(self.ratio)) if self.ratio is not None and self.ratio > 0 else math.inf


@dataclass(frozen=True, slots=True)
class Against:
    run: RunData
    document: Document
    held: tuple[Held, ...]
    """The worst first."""

    def of(self, verdict: Verdict) -> tuple[Held, ...]:
        return tuple(one for one in self.held if one.verdict == verdict)

    @property
    def compared(self) -> tuple[Held, ...]:
        return tuple(one for one in self.held if one.verdict != "not compared")


def choose(name: str, run: RunData, reference: Reference) -> Document:
    """The document of that name. Where it is the beginning of several, the run's plan decides."""
    known = reference.documents
    if name in known:
        return known[name]
    fitting = [one for one in known if name and one.startswith(name)]
    plan = run.plan
    if len(fitting) == 1 or plan in fitting:
        return known[plan if plan in fitting else fitting[0]]
    if fitting:
        raise UsageMistake(
            f"--against {name}: that may be {' or '.join(fitting)}", hint="name one of them"
        )
    raise UsageMistake(
        f"--against {name}: no set of published figures has that name",
        hint=f"there are {', '.join(known)}",
    )


def obstacles(subject: Subject, document: Document) -> tuple[str, ...]:
    """Why the two should not be compared: a sentence each."""
    run, plan = subject.run, subject.run.plan
    found = []
    if plan != document.id:
        of = f"is of the plan {plan}" if plan else "doesn't say of which plan it is"
        found.append(
            f"{run.file} {of}: the figures of {document.id} are measured by the plan {document.id}"
        )
    if run.icount:
        found.append("the run counts instructions, and the published figures are times of a board")
    elif subject.emulated:
        found.append(
            "the run is of an emulated board: an emulator's times depend on the machine that it "
            "runs on, and say nothing about hardware"
        )
    if document.emulated and not subject.emulated:
        found.append(
            f"the figures of {document.id} are of an emulated board, and the run is of real "
            "hardware: an emulator's times say nothing about hardware"
        )
    if run.incomplete:
        found.append(f"{run.file} is truncated: {run.incomplete}")
    return tuple(found)


def remedy(subject: Subject, document: Document) -> str:
    """What to do where there are obstacles."""
    force = "--force compares them all the same"
    emulated = (subject.emulated or subject.icount) and not document.emulated
    if emulated or subject.run.plan != document.id or subject.run.incomplete:
        board = " on a real board" if emulated else ""
        return f"run `teemark run --board BOARD --plan {document.id}`{board}; {force}"
    return force


def hold(subject: Subject, document: Document, reference: Reference) -> Against:
    """Every published number that the document's tables give a formula for."""
    lookup = Lookup(subject)
    found: dict[object, Held] = {}
    for table in declared.load(document.id):
        for figure in reference.table(document.id, table.table):
            if figure.value is not None and figure.key not in found:
                one = _held(table, figure, lookup)
                if one is not None:
                    found[figure.key] = one
    held = sorted(found.values(), key=lambda one: (ORDER.index(one.verdict), -one.distance))
    if all(one.verdict == "not compared" for one in held):
        raise DataError(
            f"{subject.run.file} measured nothing that {document.id} has published",
            hint=f"run `teemark run --board BOARD --plan {document.id}`",
        )
    return Against(subject.run, document, tuple(held))


def _held(table: SeedTable, figure: Figure, lookup: Lookup) -> Held | None:
    """None where the tables have no formula for it."""
    measures = table.deviations.get(figure.column, figure.column)
    formula = table.cells.get((figure.row, measures))
    if formula is None:
        return None
    if figure.column in table.deviations:
        reason = "it is a standard deviation, which has no interval here"
        return Held(figure, "not compared", reason=reason)
    try:
        value = formula(lookup)
    except NotKnown as why:
        return Held(figure, "not compared", reason=str(why))
    if isinstance(value, str):
        return Held(figure, "not compared", reason=f"the run has no number for it but {value!r}")
    one = Held(figure, "undecided", value, mean=figure.column in table.deviations.values())
    return judge(one)


def judge(one: Held) -> Held:
    """With its verdict."""
    value, figure = one.value, one.figure
    assert value is not None
    interval = value.interval
    printed = _allowed(figure)
    ends = [end for end in printed if math.isfinite(end)]
    needed = more(value.known, ends, value.samples) if value.samples is not None else None
    undecided = replace(one, verdict="undecided", more=needed or None)
    if interval is None:
        return replace(undecided, reason="too few samples for an interval")
    low, high = (end + sign * MARGIN * abs(end) for end, sign in zip(printed, (-1, 1), strict=True))
    slack = _NOTHING * max(abs(interval.low), abs(interval.high))
    mean = value.mean if one.mean else None
    if low - slack <= interval.low and interval.high <= high + slack:
        if mean is not None and not low - slack <= mean <= high + slack:
            return replace(one, verdict="undecided", reason=MEAN)
        return replace(one, verdict="same")
    side = (interval.low > printed[1] + slack) - (interval.high < printed[0] - slack)
    if mean is not None and side:
        away = (mean > printed[1]) - (mean < printed[0])
        if away != side:
            return replace(one, verdict="undecided", reason=MEAN)
    if side:
        direction = _WORSE.get(UNITS[figure.corrected_unit][0], 0) * side
        verdict: Verdict = "differs"
        if direction:
            verdict = "worse" if direction > 0 else "better"
        return replace(one, verdict=verdict)
    return undecided


def _allowed(figure: Figure) -> tuple[float, float]:
    """What the printed figure may stand for; "more than" and "less than" have one end."""
    printed: Span = figure.base
    if figure.relation == ">":
        return printed.low, math.inf
    if figure.relation == "<":
        return -math.inf, printed.high
    return printed.low, printed.high


# -- in words ------------------------------------------------------------------------------------


def ratio(one: Held) -> str:
    """With half of its interval where there is one."""
    if one.ratio is None:
        return fmt.NONE
    text = f"{fmt.digits(one.ratio)}{fmt.TIMES}"
    if one.interval is None:
        return f"{text} ±?"
    share = one.interval.width / 2 / one.ratio if one.ratio else 0.0
    return f"{text} ±{fmt.percent(share)}" if share > _NOTHING else text


def measured(one: Held) -> str:
    """The run's median in the unit of the document, or a smaller one."""
    assert one.value is not None
    factor, unit = unit_for(one.figure.corrected_unit)
    return number(one.value.median * factor) + unit


def outcome(of: Against) -> str:
    counts = [
        f"{len(of.of(verdict))} {'different' if verdict == 'differs' else verdict}"
        for verdict in ORDER[:-1]
    ]
    text = f"{fmt.plural(len(of.compared), 'figure')} compared: {', '.join(counts)}."
    left = len(of.of("not compared"))
    return f"{text} {left} not compared." if left else text


def remarks(of: Against) -> list[str]:
    """What a reader must know of how it was judged."""
    said = [
        f"The ratio is of the run's median to the printed figure, ± half of its {fmt.LEVEL} "
        "interval as a share, by the spread of the run alone: the document's is not known. Worse, "
        "better, differs: the whole interval is outside of what rounds to the printed figure. "
        f"Same: all of it is within that, or at most {fmt.percent(MARGIN)} away. Each figure is "
        f"judged for itself: of those that equal the printed one, 5{fmt.THIN}% may be called "
        "otherwise."
    ]
    if any(one.mean for one in of.compared):
        said.append(
            "Where the document has means, a verdict needs the run's mean on the same side as its "
            "median."
        )
    if len(of.run.starts) == 1:
        said.append(
            "The run has one start: what differs from start to start is in no interval. "
            "`teemark run --rounds 5` measures it."
        )
    undecided = of.of("undecided")
    for which, would in (
        ([one for one in undecided if one.interval is not None], "would decide {}"),
        ([one for one in undecided if one.interval is None], "would give {} an interval"),
    ):
        needed = [one.more for one in which if one.more is not None]
        if needed:
            some = f"{len(needed)} of {len(undecided)}"
            samples = fmt.plural(max(needed), "sample")
            said.append(f"Undecided: about {samples} more of each {would.format(some)}.")
    return said


def blocks(of: Against) -> tuple[Block, ...]:
    """For a page or a merge request."""
    made: list[Block] = [Paragraph((Strong(outcome(of)),))]
    shown = [one for one in of.compared if one.verdict != "same"]
    same = of.of("same")
    if shown:
        made.append(_table(shown))
    if same:
        made.append(
            Fold(
                f"{fmt.plural(len(same), 'figure')} the same",
                "by rounding and interval",
                (_table(same),),
            )
        )
    left = of.of("not compared")
    if left:
        items = tuple((f"{one.name}: {one.reason}.",) for one in left)
        made.append(
            Fold(
                f"{fmt.plural(len(left), 'figure')} not compared", "with reasons", (Bullets(items),)
            )
        )
    made += [Paragraph((remark,)) for remark in remarks(of)]
    return tuple(made)


def _table(held: Sequence[Held]) -> Table:
    columns = (
        Column("", "left"),
        *(Column(title) for title in ("published", "measured", "ratio")),
        Column("verdict", "left"),
    )
    rows: list[tuple[Cell, ...]] = [
        (one.name, one.figure.put_right, measured(one), ratio(one), one.verdict) for one in held
    ]
    return Table(columns, tuple(rows))


def as_json(of: Against, forced: Sequence[str]) -> dict[str, object]:
    """In base units: seconds, bytes, bytes a second, shares."""
    return {
        "run": of.run.file,
        "against": of.document.id,
        "system": of.document.system,
        "level": LEVEL,
        "same_within": MARGIN,
        "forced": list(forced),
        "figures": [_figure_json(one) for one in of.held],
    }


def _figure_json(one: Held) -> dict[str, object]:
    figure, value = one.figure, one.value
    low, high = (end if math.isfinite(end) else None for end in _allowed(figure))
    interval = value.interval if value is not None else None
    return {
        "table": figure.table,
        "row": figure.row,
        "column": figure.column,
        "place": figure.place,
        "published": figure.published,
        "dimension": UNITS[figure.corrected_unit][0],
        "verdict": one.verdict,
        "printed": figure.base.mid,
        "printed_low": low,
        "printed_high": high,
        "measured": value.median if value is not None else None,
        "measured_low": interval.low if interval is not None else None,
        "measured_high": interval.high if interval is not None else None,
        "mean": value.mean if value is not None else None,
        "published_is_mean": one.mean,
        "ratio": one.ratio,
        "ratio_low": one.interval.low if one.interval is not None else None,
        "ratio_high": one.interval.high if one.interval is not None else None,
        "samples": value.samples if value is not None else None,
        "more_samples": one.more,
        "reason": one.reason or None,
    }
