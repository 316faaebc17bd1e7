# SPDX-License-Identifier: BSD-2-Clause
"""Throughput against block size, a chart an algorithm."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.base import fmt
from teemark.base.work import COPY_LIMIT
from teemark.findings.subject import Subject, section
from teemark.model.stats import CaseStats
from teemark.page import charts
from teemark.page.blocks import Block, Chart, Column, Section, Strong, Table
from teemark.report.cells import cpu_cell
from teemark.run.records import Backend

LIMIT = COPY_LIMIT
"""The workload whose rates are drawn as a limit."""

MEMCPY = Backend(name="memcpy", title="memcpy")


def throughput(subjects: Sequence[Subject]) -> Section | None:
    return section(
        "throughput",
        "Throughput against block size",
        "Small blocks pay for the call, large ones for the bytes. Solid lines compute in the "
        "secure world, dashed ones in the normal world.",
        subjects,
        _of,
    )


def curves(subject: Subject) -> dict[tuple[str, str], dict[str, list[CaseStats]]]:
    """Cases with a throughput, by workload and algorithm, then by backend; sizes rise."""
    found: dict[tuple[str, str], dict[str, list[CaseStats]]] = {}
    for stats in subject.models.stats:
        if stats.throughput is not None and stats.work.curve == stats.workload:
            group = found.setdefault((stats.workload, stats.algorithm), {})
            group.setdefault(stats.backend, []).append(stats)
    return {
        key: {
            backend: sorted(group[backend], key=lambda stats: stats.bytes or 0)
            for backend in sorted(group, key=subject.run.place)
        }
        for key, group in found.items()
        if any(len(stats) > 1 for stats in group.values())
    }


def _of(subject: Subject) -> list[Block]:
    blocks: list[Block] = []
    for (workload, algorithm), group in curves(subject).items():
        key = f"throughput-{subject.label}-{workload}-{algorithm}"
        series = [_series(subject, backend, stats) for backend, stats in group.items()]
        limit = copy_limit(subject, series) if workload != LIMIT.name else []
        name = subject.run.title(algorithm)
        blocks.append(
            Chart(
                title=subject.curve(workload, algorithm),
                caption=(
                    f"{name}: MiB/s at the median"
                    + (
                        ". "
                        if subject.icount
                        else f"; a bar marks the {fmt.LEVEL} interval where it is wider than the "
                        "mark. "
                    ),
                    "Dotted: memcpy() of as many bytes. " if limit else "",
                    *((Strong(f"{subject.caveat}."),) if subject.caveat else ()),
                ),
                wide=charts.throughput(key, [*series, *limit], charts.WIDE),
                narrow=charts.throughput(key, [*series, *limit], charts.NARROW),
                data=_table(group),
            )
        )
    return blocks


def copy_limit(subject: Subject, series: Sequence[charts.Series]) -> list[charts.Series]:
    """As fast as data move, at the sizes that the series span; empty where it wasn't measured."""
    xs = [x for one in series for x, _ in one.points]
    points = tuple(
        sorted(
            (float(stats.bytes), stats.throughput / (1 << 20))
            for stats in subject.models.stats
            if stats.work.row is LIMIT
            and stats.bytes
            and stats.throughput is not None
            and min(xs) <= stats.bytes <= max(xs)
        )
    )
    return [charts.Series(MEMCPY, points, limit=True)] if len(points) > 1 else []


def _series(subject: Subject, backend: str, stats: Sequence[CaseStats]) -> charts.Series:
    points = []
    bounds = []
    for one in stats:
        if one.throughput is not None and one.bytes is not None:
            points.append((float(one.bytes), one.throughput / (1 << 20)))
            interval = one.throughput_interval
            bounds.append(
                (interval.low / (1 << 20), interval.high / (1 << 20)) if interval else None
            )
    who = subject.run.backend(backend)
    return charts.Series(who, tuple(points), tuple(bounds), place=subject.run.place(backend))


def _table(group: dict[str, list[CaseStats]]) -> Table:
    sizes = sorted({stats.bytes or 0 for all_stats in group.values() for stats in all_stats})
    by_size = {
        backend: {stats.bytes: stats.throughput for stats in all_stats}
        for backend, all_stats in group.items()
    }
    cpu = {
        backend: {stats.bytes: stats.cpu.a_byte(stats.bytes) for stats in all_stats if stats.cpu}
        for backend, all_stats in group.items()
        if any(stats.cpu for stats in all_stats)
    }
    return Table(
        columns=(
            Column("bytes"),
            *(Column(backend, unit="MiB/s") for backend in group),
            *(Column(f"{backend}: CPU", unit="ns/B") for backend in cpu),
        ),
        rows=tuple(
            (
                fmt.size(size),
                *(fmt.rate(by_size[backend].get(size)) for backend in group),
                *(cpu_cell(cpu[backend].get(size)) for backend in cpu),
            )
            for size in sizes
        ),
    )
