# SPDX-License-Identifier: BSD-2-Clause
"""Boards beside each other, a line each: what a call and a byte cost there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from teemark.base import fmt
from teemark.base.work import EMPTY_CALL, ONESHOT, TEE
from teemark.findings.subject import Subject
from teemark.page import figures
from teemark.page.blocks import Section, Table, left, right
from teemark.report.sections.throughput import ANSWERED

FIGURES = {
    "empty_call": "empty call",
    "tee_call": "{} call",
    "tee_byte": "a byte",
    "linux_byte": "a byte in Linux",
}
"""The figures of a board: their names in JSON and CSV, and their titles."""


def data(subject: Subject, algorithm: str = ANSWERED) -> dict[str, Any]:
    """Returns a board's line: FIGURES in the run's unit and the ends of their intervals, None for
    what the run can't tell. A byte in Linux is that of the cheapest backend."""
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
    mine = [one for one in models.costs if one.name.startswith(f"{ONESHOT.name}/{algorithm}/")]
    linux = [one.byte for one in mine if not run.backend(one.backend).secure]
    known = (
        empty.estimate if empty else None,
        inside.call if inside else None,
        inside.byte if inside else None,
        min(linux, key=lambda byte: byte.value, default=None),
    )
    for name, figure in zip(FIGURES, known, strict=True):
        ends = figure and figure.interval
        values = (figure and figure.value, ends and ends.low, ends and ends.high)
        row |= zip((name, f"{name}_low", f"{name}_high"), values, strict=True)
    return row


def table(subjects: Sequence[Subject], algorithm: str = ANSWERED) -> Table:
    """Returns a line a board, in the order of the runs. A figure has a question mark where its
    interval is wider than the figure, or unknown."""
    titles = [what.format(subjects[0].run.title(algorithm)) for what in FIGURES.values()]
    columns = (*left("board", "CPU", "OP-TEE"), *right(*titles))
    rows = []
    for subject in subjects:
        row = data(subject, algorithm)
        unit = " (instructions)" if subject.icount else " (emulated)" * subject.emulated
        tee = (row["tee"] or "none").removeprefix("OP-TEE ")
        cells = []
        for name in FIGURES:
            value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
            vague = value is not None and (low is None or high - low > value)
            cell = fmt.NONE if value is None else figures.cell(subject.run, value)
            cells.append(cell + " ?" * vague)
        rows.append((f"{subject.label}{unit}", row["cpu"] or fmt.NONE, tee, *cells))
    return Table(columns, rows, stacked=True)


def boards(subjects: Sequence[Subject]) -> Section | None:
    """Opens a report of several boards."""
    if len({subject.run.name for subject in subjects}) < 2:
        return None
    return Section("boards", "The boards beside each other", (table(subjects),))
