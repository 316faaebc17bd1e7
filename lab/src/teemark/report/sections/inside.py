# SPDX-License-Identifier: BSD-2-Clause
"""The work of a call and the price of the call alone, told apart by repetitions."""

from __future__ import annotations

from teemark.base import fmt
from teemark.findings.subject import Part, Subject
from teemark.page import figures
from teemark.page.blocks import Block, Table, left, right
from teemark.report.cells import backend_cell, misfit_cell, time_cells, timed


def _slopes(subject: Subject) -> list[Block]:
    repeats, run = subject.models.repeats, subject.run
    rows = [
        (
            backend_cell(subject, repeat.work.backend),
            run.title(repeat.work.algorithm),
            fmt.size(repeat.bytes) if repeat.bytes is not None else fmt.NONE,
            *time_cells(subject, repeat.operation),
            fmt.digits(repeat.operation.value / repeat.bytes) if repeat.bytes else fmt.NONE,
            *time_cells(subject, repeat.crossing),
            misfit_cell(repeat.fit, "repeat"),
        )
        for repeat in repeats
    ]
    if not rows:
        return []
    unit = figures.unit(run)
    counts = sorted({int(point.x) for repeat in repeats for point in repeat.fit.points})
    columns = (
        *left("backend", "algorithm"),
        *right("bytes"),
        *timed("operation", unit=unit),
        *right("byte", unit=run.unit),
        *timed("call", unit=unit),
        *right("misfit"),
    )
    caption = f"Slope over n = {', '.join(map(str, counts))}"
    return [Table(columns, rows, caption=caption, note=subject.caveat)]


inside = Part(
    "inside",
    "Inside the call",
    _slopes,
    "Here one call does its work n times over before it returns. The slope over n is what the work "
    "itself takes, with no clock needed where it runs; what is left at n = 0 is the price of the "
    "call alone.",
    "what the TA itself takes, by repetitions",
)
