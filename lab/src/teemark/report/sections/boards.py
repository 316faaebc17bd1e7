# SPDX-License-Identifier: BSD-2-Clause
"""Boards beside each other, a line each: what a call and a byte cost there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from teemark.base import fmt
from teemark.base.work import EMPTY_CALL, ONESHOT, TEE
from teemark.findings.subject import Subject
from teemark.model.stats import Estimate
from teemark.page import figures
from teemark.page.blocks import Column, Section, Table
from teemark.report.sections.throughput import ANSWERED

FIGURES = {
    "empty_call": "empty call",
    "tee_call": "{} call",
    "tee_byte": "a byte",
    "linux_byte": "a byte in Linux",
}
"""The figures of a board: their names in JSON and CSV, and their titles."""


def costs(subject: Subject, algorithm: str) -> dict[str, Estimate | None]:
    """Returns FIGURES of a run, in its unit; None for what it can't tell. A byte in Linux is that
    of the cheapest backend."""
    models, run = subject.models, subject.run
    empty, tee = models.case(EMPTY_CALL), models.cost(algorithm, TEE)
    mine = [one for one in models.costs if one.name.startswith(f"{ONESHOT.name}/{algorithm}/")]
    linux = [one.byte for one in mine if not run.backend(one.backend).secure]
    known = (
        empty.estimate if empty is not None else None,
        *((tee.call, tee.byte) if tee is not None else (None, None)),
        min(linux, key=lambda byte: byte.value, default=None),
    )
    return dict(zip(FIGURES, known, strict=True))


def data(subject: Subject, algorithm: str) -> dict[str, Any]:
    """Returns a board's line for other programs: figures with the ends of their intervals."""
    run, tee = subject.run, subject.run.machine.tee
    row: dict[str, Any] = {
        "board": subject.label,
        "cpu": ", ".join(run.machine.cpu.models or ()) or None,
        "tee": f"{tee.implementation} {tee.revision or ''}".strip() if tee.device else None,
        "plan": run.plan,
        "run": str(run.file),
        "emulated": subject.emulated,
        "algorithm": algorithm,
        "unit": run.unit,
    }
    for name, figure in costs(subject, algorithm).items():
        interval = figure.interval if figure is not None else None
        row[name] = figure.value if figure is not None else None
        row[f"{name}_low"] = interval.low if interval is not None else None
        row[f"{name}_high"] = interval.high if interval is not None else None
    return row


def table(subjects: Sequence[Subject], algorithm: str = ANSWERED) -> Table:
    """A line a board, in the order of the runs."""
    titles = [what.format(subjects[0].run.title(algorithm)) for what in FIGURES.values()]
    columns = [Column(name, "left") for name in ("board", "CPU", "OP-TEE")]
    rows = []
    for subject in subjects:
        row = data(subject, algorithm)
        unit = " (instructions)" if subject.icount else " (emulated)" * subject.emulated
        tee = (row["tee"] or "none").removeprefix("OP-TEE ")
        cells = [_cell(subject, figure) for figure in costs(subject, algorithm).values()]
        rows.append((f"{subject.label}{unit}", row["cpu"] or "?", tee, *cells))
    return Table((*columns, *map(Column, titles)), tuple(rows), stacked=True)


def _cell(subject: Subject, figure: Estimate | None) -> str:
    """Has a question mark where the interval is wider than the figure."""
    if figure is None:
        return fmt.NONE
    known = figure.interval is not None and figure.interval.width <= figure.value
    return figures.cell(subject.run, figure) + ("" if known else " ?")


def boards(subjects: Sequence[Subject]) -> Section | None:
    """Opens a report of several boards."""
    if len({subject.run.name for subject in subjects}) < 2:
        return None
    return Section("boards", "The boards beside each other", (table(subjects),))
