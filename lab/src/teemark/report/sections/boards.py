# SPDX-License-Identifier: BSD-2-Clause
"""Boards beside each other, with a line each: the cost of a call and of a byte."""

from collections.abc import Iterator, Sequence
from functools import partial
from statistics import median
from typing import Any

from teemark.base.work import EMPTY_CALL, ONESHOT, TEE, Work
from teemark.findings.offload import ghz
from teemark.findings.subject import Subject
from teemark.model.stats import Estimate
from teemark.page.blocks import Bullets, Chart, Section, Strong, Table, left, right
from teemark.page.charts import colour
from teemark.page.dots import Dot, DotRow, render
from teemark.page.section import remark
from teemark.report.sections.throughput import ANSWERED
from teemark.wording import fmt

FIGURES = {
    "empty_call": "empty call",
    "tee_call": "{} call",
    "tee_byte": "a byte",
    "linux_byte": "a byte in Linux",
}
"""The figures of a board: their names in JSON and CSV, with their titles."""


MOST = 5  # Figures of boards whose plan measures no digest


def figures(subjects: Sequence[Subject], algorithm: str = ANSWERED[0]) -> dict[str, str]:
    """Returns the figures by which these runs are held beside each other, with their titles: those
    of FIGURES if a run has digests, else the empty call and up to MOST cases of the
    headline and of the plan, those that most runs have first."""
    if any(cost.workload == ONESHOT.name for subject in subjects for cost in subject.models.costs):
        title = subjects[0].run.title(algorithm)
        return {name: words.format(title) for name, words in FIGURES.items()}
    answers = [finding for subject in subjects for finding in subject.found("answer")]
    headline = [key for answer in answers for figure in answer.figures for key in figure.cases]
    headline.sort(key=lambda key: not Work.of(key).in_tee)
    have = [stats.key for subject in subjects for stats in subject.models.stats]
    keys = [key for key in dict.fromkeys((EMPTY_CALL, *headline, *have)) if key in have]
    keys.sort(key=lambda key: -have.count(key))
    return {key: subjects[0].run.words(key) for key in keys[:MOST]}


def data(
    subject: Subject, algorithm: str = ANSWERED[0], names: Sequence[str] = tuple(FIGURES)
) -> dict[str, Any]:
    """Returns a board's figures (`names`, of `figures`) in the run's unit, with the ends of their
    intervals; None for a figure that the run lacks. A byte in Linux is that of the cheapest
    backend."""
    models, run, tee = subject.models, subject.run, subject.run.machine.tee
    row: dict[str, Any] = {
        "board": subject.label,
        "cpu": ", ".join(run.machine.cpu.models or ()) or None,
        "tee": f"{tee.implementation} {tee.revision or ''}".strip() if tee.device else None,
        "run": str(run.file),
        "algorithm": algorithm,
        "unit": run.unit,
    }
    empty, inside = models.case(EMPTY_CALL), models.cost(algorithm, TEE)
    mine = [cost for cost in models.costs if cost.name.startswith(f"{ONESHOT.name}/{algorithm}/")]
    linux = [cost.byte for cost in mine if not run.backend(cost.backend).secure and cost.fit.fits]
    costs = (
        empty.estimate if empty else None,
        inside.call if inside else None,
        inside.byte if inside else None,
        min(linux, key=lambda byte: byte.value, default=None),
    )
    estimates = dict(zip(FIGURES, costs, strict=True))
    for name in names:
        case = models.case(name)
        estimate = estimates.get(name) or (case.estimate if case else None)
        figure = None if estimate is None or estimate.meaningless else estimate
        ends = figure and figure.interval
        values = (figure and figure.value, ends and ends.low, ends and ends.high)
        row |= zip((name, f"{name}_low", f"{name}_high"), values, strict=True)
    return row


def table(subjects: Sequence[Subject], algorithm: str = ANSWERED[0]) -> Table:
    """Returns a table with a line for each board, in the order of the runs. A question mark means
    that the interval is wider than the figure, or unknown."""
    named = figures(subjects, algorithm)
    kinds = [_kind(subject) for subject in subjects]
    alike = kinds[0] if len({*kinds}) == 1 else ""
    columns = (
        *left(f"board ({alike})" if alike else "board"),
        *right(*named.values()),
        *left("CPU", "OP-TEE", detail=True),
    )
    if "tee_byte" in named:
        columns += right("call, cycles", "a byte, cycles", optional=True, detail=True)
    rows = []
    for subject, kind in zip(subjects, kinds, strict=True):
        row, clock = data(subject, algorithm, tuple(named)), ghz(subject.run)
        tee = (row["tee"] or "none").removeprefix("OP-TEE").strip() or "unknown"
        cells = []
        for name in named:
            value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
            vague = value is not None and (low is None or high - low > value)
            cell = fmt.NONE if value is None else fmt.cost_cell(subject.run, value)
            cells.append(cell + " ?" * vague)
        cells += [row["cpu"] or fmt.NONE, tee]
        for name in ("empty_call", "tee_byte") * ("tee_byte" in named):
            value = row[name]
            cells.append(fmt.digits(value * clock) if clock and value else fmt.NONE)
        rows.append((subject.label + f" ({kind})" * (kind != alike and bool(kind)), *cells))
    vague = any(str(cell).endswith(" ?") for row in rows for cell in row)
    note = "?: the interval is wider than the figure, or unknown" if vague else ""
    return Table(columns, rows, note=note, stacked=True)


def _kind(subject: Subject) -> str:
    """Returns the unit or the doubt that a board's figures share; "" for times of a real board."""
    return "instructions" if subject.run.icount else "emulated" * subject.run.emulated


FAR = 2.0  # A board is named if its whole interval differs from the median by more than this factor


def _groups(subjects: Sequence[Subject]) -> Iterator[tuple[str, list[tuple[Subject, float]]]]:
    yield "instructions", [(subject, 1.0) for subject in subjects if subject.run.icount]
    yield "time", [(subject, 1.0) for subject in subjects if not subject.run.icount]
    yield "cycles", [(subject, clock) for subject in subjects if (clock := ghz(subject.run))]


def _costs(subject: Subject) -> dict[str, list[tuple[str, Estimate]]]:
    algorithm = ANSWERED[0]
    empty, family = subject.models.case(EMPTY_CALL), f"{ONESHOT.name}/{algorithm}/"
    mine = [cost for cost in subject.models.costs if cost.name.startswith(family)]
    byte = f"A byte of {subject.run.title(algorithm)}"
    return {
        "An empty call": [(TEE, empty.estimate)] if empty else [],
        byte: [(cost.backend, cost.byte) for cost in mine if cost.byte.value > 0 and cost.fit.fits],
    }


def beside(subjects: Sequence[Subject]) -> tuple[tuple[str, ...], tuple[Chart, ...]]:
    """Returns sentences on figures that are far from the median of three or more boards, and a
    chart for each figure and unit of at least two boards, with a row for each board and a dot for
    each backend."""
    far: dict[tuple[str, str], dict[str, str]] = {}
    drawn = []
    for unit, those in _groups(subjects):
        write = fmt.duration if unit == "time" else fmt.digits
        for title in _costs(subjects[0]):
            fills: dict[str, str] = {}
            rows: dict[str, list[Dot]] = {}
            shown = [
                (subject, backend, cost.scaled(factor))
                for subject, factor in those
                for backend, cost in _costs(subject).get(title, ())
            ]
            for subject, backend, cost in shown:
                fill, who = colour(subject.run.place(backend)), subject.run.backend(backend).title
                fills.setdefault(fill, who)
                dot = Dot(cost.value, fill, f"{who}: {write(cost.value)}")
                rows.setdefault(subject.label, []).append(dot)
                values = [estimate.value for _, by, estimate in shown if by == backend]
                middle, ends = median(values), cost.interval
                apart = ends and (ends.low > FAR * middle or ends.high * FAR < middle)
                if apart and len(values) > 2:
                    times = f"{fmt.factor(cost.value / middle)} by {who}"
                    far.setdefault((subject.label, title), {}).setdefault(who, times)
            if len(rows) > 1:
                entries = tuple(fills.items()) if len(fills) > 1 else ()
                lines = [
                    DotRow(name, tuple(dots), write(dots[0].value) if not dots[1:] else "")
                    for name, dots in rows.items()
                ]
                draw = partial(render, lines, write=write, fills=entries, title=unit)
                caption = ("The scale is logarithmic.", *remark(those[0][0]))
                drawn.append(Chart(f"{title}: {unit}", caption, draw))
    sentences = (
        f"{name}: {title[0].lower()}{title[1:]} takes, over the median of all boards, "
        f"{', '.join(times.values())}."
        for (name, title), times in far.items()
    )
    return tuple(sentences), tuple(drawn)


def boards(subjects: Sequence[Subject]) -> Section | None:
    """Returns the first section of a report of several boards; None for a single board."""
    if len({subject.run.name for subject in subjects}) < 2:
        return None
    far, charts = beside(subjects)
    named = (Bullets(tuple((Strong(sentence),) for sentence in far)),) if far else ()
    title = "The boards beside each other"
    return Section("boards", title, (*named, *charts, table(subjects)))
