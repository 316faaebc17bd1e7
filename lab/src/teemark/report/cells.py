# SPDX-License-Identifier: BSD-2-Clause
"""Cells and columns that tables of several sections have."""

from teemark.base import fmt
from teemark.findings.subject import Subject
from teemark.model.fit import Fit
from teemark.model.stats import Estimate
from teemark.page import figures
from teemark.page.blocks import Cell, Code, Column, Quiet, Strong, right


def timed(*titles: str, unit: str = "") -> tuple[Column, ...]:
    """Returns two columns for each title: the figure, and its interval where figures have one."""
    interval = Column(fmt.LEVEL, optional=True)
    return tuple(column for title in titles for column in (*right(title, unit=unit), interval))


def time_cells(subject: Subject, figure: Estimate) -> tuple[Cell, ...]:
    """Returns the cells of `timed`: a cost, and its interval."""
    spread = "" if subject.run.icount else (Quiet(fmt.duration_interval(figure.interval)),)
    return figures.cell(subject.run, figure), spread


def backend_cell(subject: Subject, backend: str) -> Cell:
    meaning = subject.run.backend(backend).title
    return (Code(backend), Quiet(f" {meaning}")) if meaning != backend else (Code(backend),)


def misfit_cell(fit: Fit) -> Cell:
    """Says how far off the model is beyond scatter, and where, when that is too far."""
    text = figures.misfit(fit)
    if fit.fits:
        return text
    return (Strong(f"! {text}"), Quiet(f" at {fmt.size(int(fit.worst.x))}"))
