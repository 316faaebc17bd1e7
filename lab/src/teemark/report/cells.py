# SPDX-License-Identifier: BSD-2-Clause
"""Cells and columns that tables of several sections have."""

from __future__ import annotations

import math
from collections.abc import Sequence

from teemark.base import fmt
from teemark.findings.subject import Subject
from teemark.model.fit import Fit
from teemark.model.models import Cost
from teemark.model.stats import Estimate
from teemark.page import figures
from teemark.page.blocks import Cell, Code, Column, Quiet, Strong


def interval_columns(subject: Subject, *columns: Column) -> tuple[Column, ...]:
    """Every column, with one for its interval where figures have one."""
    if subject.icount:
        return columns
    return tuple(one for column in columns for one in (column, Column(fmt.LEVEL)))


def time_cells(subject: Subject, figure: Estimate) -> tuple[Cell, ...]:
    """A time, and its interval where figures have one."""
    cell = figures.cell(subject.run, figure)
    if subject.icount:
        return (cell,)
    return cell, (Quiet(figures.spread(subject.run, figure.interval)),)


def backend_cell(subject: Subject, backend: str) -> Cell:
    meaning = subject.run.backend(backend).title
    return (Code(backend), Quiet(f" {meaning}")) if meaning != backend else (Code(backend),)


def shown_sizes(group: Sequence[Cost]) -> tuple[int, ...]:
    """Up to three sizes that all of a group were measured at: the smallest, the largest, and the
    one nearest to their geometric mean."""
    common = set[int].intersection(*({int(point.x) for point in one.fit.points} for one in group))
    if not common:
        return ()
    least, most = min(common), max(common)
    middle = math.sqrt(max(least, 1) * max(most, 1))
    near = min(common, key=lambda size: abs(math.log(max(size, 1) / middle)))
    return tuple(sorted({least, near, most}))


def misfit_cell(fit: Fit, unit: str) -> Cell:
    """How far off the model is beyond scatter, and where, when that is too far."""
    text = figures.misfit(fit)
    if fit.fits:
        return text
    place = fmt.size(int(fit.worst.x)) if unit == "size" else f"n = {fit.worst.x:g}"
    return (Strong(f"! {text}"), Quiet(f" at {place}"))


def cpu_cell(figure: Estimate | None) -> Cell:
    """CPU time a byte."""
    return fmt.digits(figure.value) if figure is not None else fmt.NONE
