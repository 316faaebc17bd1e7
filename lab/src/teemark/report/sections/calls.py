# SPDX-License-Identifier: BSD-2-Clause
"""Commands of the user's own Trusted Application: what each call takes."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.base import fmt
from teemark.base.work import CALL, EMPTY_CALL
from teemark.findings.subject import Subject, section
from teemark.model.stats import CaseStats
from teemark.page import figures
from teemark.page.blocks import Block, Cell, Code, Column, Section, Table
from teemark.report.cells import interval_columns, time_cells
from teemark.run.records import Case


def calls(subjects: Sequence[Subject]) -> Section | None:
    return section(
        "calls",
        "Calls of your Trusted Application",
        "The median of each command. Its return code was compared in every call, and what it gives "
        "back before the first sample and after each. “Beyond an empty call” is what is left of "
        "the median without that of an empty call to teemark's own TA.",
        subjects,
        _of,
    )


def _of(subject: Subject) -> list[Block]:
    run = subject.run
    by_ta: dict[str, list[tuple[Case, CaseStats]]] = {}
    for stats in subject.models.stats:
        case = run.cases[stats.key].case
        if stats.work.row is CALL:
            by_ta.setdefault(case.ta or "?", []).append((case, stats))
    empty = subject.models.case(EMPTY_CALL)
    blocks: list[Block] = []
    unit = figures.unit(run)
    for ta, group in by_ta.items():
        sized = any(stats.bytes is not None for _, stats in group)
        rows: list[tuple[Cell, ...]] = []
        for case, stats in group:
            row: list[Cell] = [(Code(case.algorithm),), fmt.count(case.command or 0)]
            if sized:
                row.append(fmt.size(stats.bytes) if stats.bytes is not None else fmt.NONE)
            row += time_cells(subject, stats.estimate)
            if empty is not None:
                row += time_cells(subject, stats.estimate + empty.estimate.scaled(-1))
            row += [fmt.count(stats.time.count), ", ".join(case.unchecked) or fmt.NONE]
            rows.append(tuple(row))
        columns = [Column("call", "left"), Column("command")]
        if sized:
            columns.append(Column("bytes"))
        columns += interval_columns(subject, Column("median", unit=unit))
        if empty is not None:
            columns += interval_columns(subject, Column("beyond an empty call", unit=unit))
        columns += [Column("samples"), Column("not compared", "left")]
        blocks.append(Table(tuple(columns), tuple(rows), caption=f"TA {ta}"))
    return blocks
