# SPDX-License-Identifier: BSD-2-Clause
"""Rate against block size, a chart an algorithm: MiB/s, or instructions a byte on a board that
counts them, whose clock is an emulator's."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.base import fmt
from teemark.base.work import COPY_LIMIT
from teemark.findings.subject import Part, Subject
from teemark.model.stats import CaseStats
from teemark.page import charts
from teemark.page.blocks import Block, Chart, Column, Fold, Strong, Table
from teemark.report.cells import cpu_cell
from teemark.run.records import Backend

ANSWERED = "sha256"
"""The algorithm whose chart is open, where the run has it."""

NEAR = 1.2

LIMIT = COPY_LIMIT
"""The workload whose rates are drawn as a limit."""

MEMCPY = Backend(name="memcpy", title="memcpy")


def curves(subject: Subject) -> dict[tuple[str, str], dict[str, list[CaseStats]]]:
    """Cases with a throughput, by workload and algorithm, then by backend; sizes rise."""
    found: dict[tuple[str, str], dict[str, list[CaseStats]]] = {}
    for stats in subject.models.stats:
        if stats.throughput is not None and stats.work.curve == stats.work.workload:
            group = found.setdefault((stats.work.workload, stats.algorithm), {})
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
    """The chart of the algorithm that the report answers with, and the others closed."""
    drawn = {
        (workload, algorithm): _chart(subject, workload, algorithm, group)
        for (workload, algorithm), group in curves(subject).items()
    }
    if not drawn:
        return []
    first = next((key for key in drawn if key[1] == ANSWERED), next(iter(drawn)))
    others = [key for key in drawn if key != first]
    if not others:
        return [drawn[first]]
    names = ", ".join(subject.curve(*key) for key in others)
    return [drawn[first], Fold("Others", names, tuple(drawn[key] for key in others))]


def _chart(
    subject: Subject, workload: str, algorithm: str, group: dict[str, list[CaseStats]]
) -> Chart:
    key = f"throughput-{subject.label}-{workload}-{algorithm}"
    series = [_series(subject, backend, stats) for backend, stats in group.items()]
    rates = workload != LIMIT.name and not subject.icount
    limit = copy_limit(subject, series) if rates else []
    unit = unit_of(subject)
    interval = f"; a bar marks the {fmt.LEVEL} interval where it is wider than the mark. "
    return Chart(
        title=subject.curve(workload, algorithm),
        caption=(
            f"{subject.run.title(algorithm)}: {unit} at the median",
            ". " if subject.icount else interval,
            "Dotted: memcpy() of as many bytes. " if limit else "",
            *((Strong(f"{subject.caveat}."),) if subject.caveat else ()),
        ),
        wide=charts.throughput(key, [*series, *limit], charts.WIDE, unit),
        narrow=charts.throughput(key, [*series, *limit], charts.NARROW, unit),
        data=_table(subject, group),
    )


def unit_of(subject: Subject) -> str:
    return "instructions a byte" if subject.icount else "MiB/s"


def rate(subject: Subject, mib_a_second: float) -> float:
    """Returns a rate in the unit of `unit_of`: one instruction is one nanosecond on a board that
    counts."""
    return 1e9 / (mib_a_second * (1 << 20)) if subject.icount else mib_a_second


def apart(sizes: Sequence[int]) -> set[int]:
    """Returns the sizes that a chart shows: of those that lie closer than a factor of `NEAR`, the
    largest. 55, 56 and 64 bytes, at the edges of a block, would make a zigzag."""
    kept: list[int] = []
    for size in sorted(sizes, reverse=True):
        if not kept or size * NEAR <= kept[-1]:
            kept.append(size)
    return set(kept)


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
    shown = apart([one.bytes for one in stats if one.bytes])
    for one in stats:
        if one.throughput is not None and one.bytes in shown:
            points.append((float(one.bytes), rate(subject, one.throughput / (1 << 20))))
            interval = None if subject.icount else one.throughput_interval
            bounds.append(
                (interval.low / (1 << 20), interval.high / (1 << 20)) if interval else None
            )
    who = subject.run.backend(backend)
    return charts.Series(who, tuple(points), tuple(bounds), place=subject.run.place(backend))


def _table(subject: Subject, group: dict[str, list[CaseStats]]) -> Table:
    sizes = sorted({stats.bytes or 0 for all_stats in group.values() for stats in all_stats})
    by_size = {
        backend: {stats.bytes: _shown(subject, stats) for stats in all_stats}
        for backend, all_stats in group.items()
    }
    cpu = {
        backend: {stats.bytes: stats.cpu.a_byte(stats.bytes) for stats in all_stats if stats.cpu}
        for backend, all_stats in group.items()
        if any(stats.cpu for stats in all_stats) and not subject.icount
    }
    return Table(
        columns=(
            Column("bytes"),
            *(Column(backend, unit=unit_of(subject)) for backend in group),
            *(Column(f"{backend}: CPU", unit="ns/B") for backend in cpu),
        ),
        rows=tuple(
            (
                fmt.size(size),
                *(by_size[backend].get(size, fmt.NONE) for backend in group),
                *(cpu_cell(cpu[backend].get(size)) for backend in cpu),
            )
            for size in sizes
        ),
    )


def _shown(subject: Subject, stats: CaseStats) -> str:
    if not subject.icount or stats.throughput is None:
        return fmt.rate(stats.throughput)
    return fmt.digits(rate(subject, stats.throughput / (1 << 20)))


throughput = Part(
    "throughput",
    "From small blocks to large ones",
    _of,
    "Small blocks pay for the call, large ones for the bytes. Solid lines compute in the secure "
    "world, dashed ones in the normal world.",
    "every algorithm and size, as charts and tables",
)
