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
from teemark.base.interval import LEVEL
from teemark.findings.subject import Subject
from teemark.model.compare import MARGIN
from teemark.model.decide import more
from teemark.model.stats import Estimate
from teemark.page.blocks import Block, Bullets, Column, Fold, Paragraph, Strong, Table
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
    def ratio(self) -> Estimate | None:
        """Of the run's figure to the printed one, with an interval by the spread of the run."""
        printed = self.figure.base.mid if self.value is not None else 0.0
        return self.value.known.scaled(1 / printed) if self.value and printed > 0 else None

    @property
    def distance(self) -> float:
        """How far from the printed figure, as a logarithm; infinite where there is no ratio."""
        ratio = self.ratio.value if self.ratio is not None else 0.0
        return abs(math.log(ratio)) if ratio > 0 else math.inf


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
    fitting = [one for one in known if name and one.startswith(name)]
    for chosen in (name, run.plan, *fitting[: len(fitting) == 1]):
        if chosen in fitting:
            return known[chosen]
    why, hint = "no set of published figures has that name", f"there are {', '.join(known)}"
    if fitting:
        why, hint = f"that may be {' or '.join(fitting)}", "name one of them"
    raise UsageMistake(f"--against {name}: {why}", hint=hint)


def obstacles(subject: Subject, document: Document) -> tuple[str, ...]:
    """Why the two should not be compared: a sentence each."""
    run, plan, name = subject.run, subject.run.plan, document.id
    of = f"is of the plan {plan}" if plan else "doesn't say of which plan it is"
    nothing = "an emulator's times say nothing about hardware"
    found = {
        f"{run.file} {of}: the figures of {name} are measured by the plan {name}": plan != name,
        "the run counts instructions, and the published figures are times of a board": run.icount,
        f"the run is of an emulated board, and its times depend on the machine that it runs on: "
        f"{nothing}": subject.emulated and not run.icount,
        f"the figures of {name} are of an emulated board, and the run is of real hardware: "
        f"{nothing}": document.emulated and not subject.emulated,
        f"{run.file} is truncated: {run.incomplete}": run.incomplete,
    }
    return tuple(why for why, there in found.items() if there)


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
    deviations = table.deviations
    formula = table.cells.get((figure.row, deviations.get(figure.column, figure.column)))
    if formula is None:
        return None
    try:
        value = formula(lookup)
    except NotKnown as why:
        return Held(figure, "not compared", reason=str(why))
    if figure.column in deviations:
        reason = "it is a standard deviation, which has no interval here"
        return Held(figure, "not compared", reason=reason)
    if isinstance(value, str):
        return Held(figure, "not compared", reason=f"the run has no number for it but {value!r}")
    return judge(Held(figure, "undecided", value, mean=figure.column in deviations.values()))


def judge(one: Held) -> Held:
    """With its verdict."""
    value, figure = one.value, one.figure
    assert value is not None
    interval, printed = value.interval, _allowed(figure)
    ends = [end for end in printed if math.isfinite(end)]
    needed = more(value.known, ends, value.samples) if value.samples is not None else None
    undecided = replace(one, verdict="undecided", more=needed or None)
    if interval is None:
        return replace(undecided, reason="too few samples for an interval")
    slack = _NOTHING * max(abs(interval.low), abs(interval.high))
    low, high = printed[0] - slack, printed[1] + slack
    side = (interval.low > high) - (interval.high < low)
    # the same: at most MARGIN outside of what rounds to the printed figure
    least, most = low - MARGIN * abs(printed[0]), high + MARGIN * abs(printed[1])
    same = least <= interval.low and interval.high <= most
    if one.mean and value.mean is not None and (same or side):
        mean = value.mean
        away = (mean > printed[1]) - (mean < printed[0])
        if not least <= mean <= most if same else away != side:
            return replace(one, verdict="undecided", reason=MEAN)
    if same:
        return replace(one, verdict="same")
    if not side:
        return undecided
    direction = _WORSE.get(UNITS[figure.corrected_unit][0], 0) * side
    verdicts: Mapping[int, Verdict] = {-1: "better", 0: "differs", 1: "worse"}
    return replace(one, verdict=verdicts[direction])


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
    text, interval = f"{fmt.digits(one.ratio.value)}{fmt.TIMES}", one.ratio.interval
    if interval is None:
        return f"{text} ±?"
    share = interval.width / 2 / one.ratio.value if one.ratio.value else 0.0
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
    for spread, would in ((True, "would decide"), (False, "would give an interval to")):
        undecided = of.of("undecided")
        some = [
            one.more
            for one in undecided
            if one.more and one.value and (one.value.interval is not None) == spread
        ]
        if some:
            samples, count = fmt.plural(max(some), "sample"), f"{len(some)} of {len(undecided)}"
            said.append(f"Undecided: about {samples} more of each {would} {count}.")
    return said


def blocks(of: Against) -> tuple[Block, ...]:
    """For a page or a merge request."""
    made: list[Block] = [Paragraph((Strong(outcome(of)),))]
    same, left = of.of("same"), of.of("not compared")
    shown = [one for one in of.compared if one.verdict != "same"]
    if shown:
        made.append(_table(shown))
    if same:
        title = f"{fmt.plural(len(same), 'figure')} the same"
        made.append(Fold(title, "by rounding and interval", (_table(same),)))
    if left:
        items = tuple((f"{one.name}: {one.reason}.",) for one in left)
        title = f"{fmt.plural(len(left), 'figure')} not compared"
        made.append(Fold(title, "with reasons", (Bullets(items),)))
    return (*made, *(Paragraph((remark,)) for remark in remarks(of)))


def _table(held: Sequence[Held]) -> Table:
    titles = (Column(title) for title in ("published", "measured", "ratio"))
    columns = (Column("", "left"), *titles, Column("verdict", "left"))
    return Table(columns, tuple(
        (one.name, one.figure.put_right, measured(one), ratio(one), one.verdict) for one in held
    ))  # fmt: skip


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
    names = ("table", "row", "column", "place", "published")
    return {
        **{name: getattr(figure, name) for name in names},
        "dimension": UNITS[figure.corrected_unit][0],
        "verdict": one.verdict,
        "printed": figure.base.mid,
        "printed_low": low,
        "printed_high": high,
        **_ends("measured", value.known if value else None),
        **_ends("ratio", one.ratio),
        "mean": value.mean if value else None,
        "published_is_mean": one.mean,
        "samples": value.samples if value else None,
        "more_samples": one.more,
        "reason": one.reason or None,
    }


def _ends(name: str, known: Estimate | None) -> dict[str, float | None]:
    of = known.interval if known is not None else None
    low, high = (of.low, of.high) if of is not None else (None, None)
    return {name: known.value if known else None, f"{name}_low": low, f"{name}_high": high}
