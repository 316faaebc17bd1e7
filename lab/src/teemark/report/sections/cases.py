# SPDX-License-Identifier: BSD-2-Clause
"""Every case that ran: the table, folded by workload and algorithm."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.base import fmt
from teemark.findings.subject import Subject, section
from teemark.model.stats import CaseStats
from teemark.page import figures
from teemark.page.blocks import Block, Cell, Code, Column, Fold, Section, Table
from teemark.report.cells import interval_columns, time_cells


def cases(subjects: Sequence[Subject]) -> Section | None:
    how = (
        "Counted figures are exact; what differs within the run stands under “from” and “to”. A "
        "figure with a unit of its own is of a case that waited for something: it is a time."
        if all(subject.icount for subject in subjects)
        else f"The interval holds the median with {fmt.LEVEL}; below six samples there is none. Of "
        "one start it assumes nothing of the distribution; of several it takes their medians for a "
        "sample of all starts (Student's t), and can't know of slow starts that it never met."
    )
    intro = f"What one call takes, in every case that was measured. {how}"
    return section("cases", "All cases", intro, subjects, _of)


def _of(subject: Subject) -> list[Block]:
    groups: dict[tuple[str, str], list[CaseStats]] = {}
    for stats in subject.models.stats:
        groups.setdefault((stats.workload, stats.algorithm), []).append(stats)
    blocks: list[Block] = []
    for (workload, algorithm), group in groups.items():
        named = subject.run.title(algorithm) if algorithm != "none" else ""
        title = f"{workload} · {named}" if named else workload
        samples = sum(stats.time.count for stats in group)
        many = f"{fmt.plural(len(group), 'case')}, {fmt.plural(samples, 'sample')}"
        note = f"{group[0].work.row.title}: {many}"
        blocks.append(Fold(title, note, (_table(subject, group),), open=len(group) == 1))
    return blocks


def _table(subject: Subject, group: Sequence[CaseStats]) -> Table:
    unit = figures.unit(subject.run)
    with_rate = any(stats.throughput is not None for stats in group)
    ordered = sorted(group, key=lambda s: (subject.run.place(s.backend), s.bytes or 0))
    # a size tells cases of a backend apart, or all that follows the backend's name does
    sized = any(stats.bytes is not None for stats in group) and len(
        {(stats.backend, stats.bytes) for stats in group}
    ) == len(group)
    columns = [
        Column("backend", "left"),
        Column("bytes") if sized else Column("parameters", "left"),
        *interval_columns(subject, Column("median", unit=unit)),
    ]
    if with_rate:
        columns.append(Column("rate", unit="MiB/s"))
    with_cpu = any(stats.cpu is not None and stats.bytes for stats in group)
    if with_cpu:
        each = f"{subject.run.unit}/B"
        columns += [Column("CPU, user", unit=each), Column("system", unit=each)]
    columns += (
        [Column("from", unit=unit), Column("to", unit=unit)]
        if subject.icount
        else [Column("p95"), Column("sd")]
    )
    columns.append(Column("samples"))
    rows = []
    for stats in ordered:
        time = stats.time
        row: list[Cell] = [
            (Code(stats.backend),),
            fmt.size(stats.bytes) if sized and stats.bytes is not None else stats.parameters,
            *time_cells(subject, time.estimate),
        ]
        if with_rate:
            row.append(fmt.rate(stats.throughput))
        if with_cpu:
            row += cpu_cells(stats)
        if subject.icount:
            shown = figures.instructions if time.estimate.exact else fmt.duration
            row += [shown(time.min), shown(time.max)]
        else:
            relative = time.sd / time.mean if time.sd is not None and time.mean > 0 else None
            row += [
                figures.cell(subject.run, time.p95),
                fmt.percent(relative) if relative is not None else fmt.NONE,
            ]
        row.append(fmt.count(time.count))
        rows.append(tuple(row))
    return Table(tuple(columns), tuple(rows))


def cpu_cells(stats: CaseStats) -> list[Cell]:
    """CPU time a byte, user and system."""
    if stats.cpu is None or not stats.bytes:
        return [fmt.NONE, fmt.NONE]
    return [fmt.digits(part / stats.bytes) for part in (stats.cpu.user, stats.cpu.system)]
