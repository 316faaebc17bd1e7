# SPDX-License-Identifier: BSD-2-Clause
"""What a call costs and what a byte costs: the fitted lines."""

from __future__ import annotations

from collections.abc import Sequence

from teemark import fmt
from teemark.model.line import MISFIT, Line
from teemark.model.models import CostLine
from teemark.report import charts
from teemark.report.blocks import (
    Bar,
    Block,
    Cell,
    Code,
    Column,
    Paragraph,
    Quiet,
    Section,
    Strong,
    Table,
)
from teemark.report.sections.throughput import caveat
from teemark.report.subject import Subject, each


def costs(subjects: Sequence[Subject]) -> Section | None:
    blocks = each(subjects, _costs_of)
    if not blocks:
        return None
    intro = Paragraph(
        (
            "A line through the medians, ",
            Code("time = call + bytes · rate"),
            f", with relative errors weighed alike at all sizes. Intervals are {fmt.LEVEL}, from "
            "1,000 draws of the raw samples. The misfit is the largest distance of a median from "
            f"its line; beyond {fmt.percent(MISFIT)} it is marked, and the line no description.",
        )
    )
    return Section("costs", "What a call costs, and what a byte", (intro, *blocks))


def _costs_of(subject: Subject) -> list[Block]:
    groups: dict[tuple[str, str], list[CostLine]] = {}
    for cost in subject.models.costs:
        groups.setdefault((cost.workload, cost.algorithm), []).append(cost)
    return [_cost_table(subject, key, group) for key, group in groups.items()]


def _cost_table(subject: Subject, key: tuple[str, str], group: Sequence[CostLine]) -> Table:
    workload, algorithm = key
    ordered = sorted(group, key=lambda cost: subject.run.place(cost.backend))
    largest = max(cost.ns_per_byte for cost in ordered)
    rows = []
    for cost in ordered:
        line = cost.line
        share = max(0.0, cost.ns_per_byte / largest) if largest > 0 else 0.0
        rows.append(
            (
                backend_cell(subject, cost.backend),
                fmt.duration(cost.call_ns),
                (Quiet(fmt.duration_interval(line.intercept_interval)),),
                Bar(
                    fmt.digits(cost.ns_per_byte),
                    share,
                    charts.colour(subject.run.place(cost.backend)),
                ),
                (Quiet(fmt.span(line.slope_interval)),),
                fmt.digits(1e9 / cost.ns_per_byte / (1 << 20)) if cost.ns_per_byte > 0 else "",
                misfit_cell(line, "size"),
            )
        )
    name = subject.run.title(algorithm)
    caption = name if workload == "oneshot" else f"{name}, {workload}"
    return Table(
        columns=(
            Column("backend", "left"),
            Column("call"),
            Column(fmt.LEVEL),
            Column("byte", unit=subject.run.unit),
            Column(fmt.LEVEL),
            Column("limit", unit="MiB/s"),
            Column("misfit"),
        ),
        rows=tuple(rows),
        caption=caption,
        note=caveat(subject),
    )


def backend_cell(subject: Subject, backend: str) -> Cell:
    meaning = subject.run.backend(backend).title
    return (Code(backend), Quiet(f" {meaning}")) if meaning != backend else (Code(backend),)


def misfit_cell(line: Line, unit: str) -> Cell:
    worst = line.worst
    residual = abs(worst.residual)
    share = fmt.percent(residual) if residual >= 1e-4 else f"< {fmt.percent(1e-4, 1)}"
    if line.fits:
        return share
    place = fmt.size(int(worst.x)) if unit == "size" else f"n = {worst.x:g}"
    return (Strong(f"! {share}"), Quiet(f" at {place}"))


def inside(subjects: Sequence[Subject]) -> Section | None:
    """In-TA cost as a slope over repetitions in one call."""
    blocks = each(subjects, _inside_of)
    if not blocks:
        return None
    intro = Paragraph(
        (
            "Here one call does its work n times over before it returns. The slope over n is what "
            "the work itself takes, with no clock needed where it runs; the crossing at n = 0 is "
            "the price of the call alone.",
        )
    )
    return Section("inside", "Inside the call", (intro, *blocks))


def _inside_of(subject: Subject) -> list[Block]:
    if not subject.models.repeats:
        return []
    rows = []
    for repeat in subject.models.repeats:
        line = repeat.line
        per_byte = fmt.digits(repeat.operation_ns / repeat.bytes) if repeat.bytes else fmt.NONE
        rows.append(
            (
                backend_cell(subject, repeat.backend),
                subject.run.title(repeat.algorithm),
                fmt.size(repeat.bytes) if repeat.bytes is not None else fmt.NONE,
                fmt.duration(repeat.operation_ns),
                (Quiet(fmt.duration_interval(line.slope_interval)),),
                per_byte,
                fmt.duration(repeat.crossing_ns),
                (Quiet(fmt.duration_interval(line.intercept_interval)),),
                misfit_cell(line, "repeat"),
            )
        )
    return [
        Table(
            columns=(
                Column("backend", "left"),
                Column("algorithm", "left"),
                Column("bytes"),
                Column("operation"),
                Column(fmt.LEVEL),
                Column("byte", unit=subject.run.unit),
                Column("call"),
                Column(fmt.LEVEL),
                Column("misfit"),
            ),
            rows=tuple(rows),
            caption=f"Slope over n = {_counts(subject)}",
            note=caveat(subject),
        )
    ]


def _counts(subject: Subject) -> str:
    counts = sorted({int(p.x) for repeat in subject.models.repeats for p in repeat.line.points})
    return ", ".join(map(str, counts))
