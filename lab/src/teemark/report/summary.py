# SPDX-License-Identifier: BSD-2-Clause
"""What `teemark run` prints at the end: one table, and what is worth a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teemark.base import fmt
from teemark.base.console import paragraph
from teemark.base.console import terminal as text_terminal
from teemark.base.finding import ranked
from teemark.base.work import CALL
from teemark.page import figures, terminal
from teemark.page.blocks import Column, Table
from teemark.report.cells import shown_sizes
from teemark.studies.answers import answers

if TYPE_CHECKING:
    from teemark.findings.subject import Subject
    from teemark.model.models import Cost

_MARKS = {"found": "=", "ruled out": "≠", "undecided": "?", "not checked": "?"}
"""Before what a seed document concludes."""


DEAREST = 3
"""Causes that are shown; the report has all of them."""


def show(subject: Subject) -> None:
    """To stdout, plain where that is no terminal."""
    console = text_terminal()
    for finding in subject.found("answer"):
        paragraph(console, f"• {finding.claim}{'' if finding.sure else ' (uncertain)'}")
    tables = (_table(subject), _calls(subject))
    terminal.show(console, [table for table in tables if table is not None])
    for answer in answers(subject):
        paragraph(console, f"{_MARKS[answer.status]} {answer.claim}")
    causes = [one for one in ranked(subject.findings) if one.topic == "cause"]
    for number, finding in enumerate(causes[:DEAREST], 1):
        paragraph(console, f"{number} {finding.claim}")
        if finding.advice:
            paragraph(console, f"  → {finding.advice}")
    for finding in subject.found("board", "trust"):
        if finding.severity != "note" and finding.key != "emulated":
            paragraph(console, f"! {finding.claim}")
    run = subject.run
    counts = f"{fmt.plural(len(run.measured), 'case')} measured"
    if run.skips:
        counts += f", {len(run.skips)} can't run here"
    if run.fails:
        counts += f", {len(run.fails)} failed"
    paragraph(console, counts + (" (emulated timings)" if subject.emulated else ""))
    for fail in run.fails:
        paragraph(console, f"failed: {fail.case}: {fail.reason}")


def _calls(subject: Subject) -> Table | None:
    """Commands of the user's own TA that no line over sizes describes."""
    run = subject.run
    fitted = {cost.algorithm for cost in subject.models.costs if cost.workload == CALL.name}
    stats = [one for one in subject.models.stats if one.work.row is CALL]
    alone = [one for one in stats if one.algorithm not in fitted]
    if not alone:
        return None
    titles = ["median, instructions"] if run.icount else ["median", fmt.LEVEL]
    rows = []
    for one in alone:
        cells = [figures.cell(run, one.estimate)]
        if not run.icount:
            cells.append(figures.plus_minus(one.estimate))
        size = f"/{one.bytes}" if one.bytes is not None else ""
        rows.append((f"{one.workload}/{one.algorithm}{size}", *cells))
    return Table((Column("", "left"), *map(Column, titles)), tuple(rows))


def _of(cost: Cost) -> str:
    return f"{cost.workload}/{cost.algorithm}"


def _table(subject: Subject) -> Table | None:
    """Backends under the workload and algorithm that they share."""
    costs = subject.models.costs
    if not costs:
        return None
    run = subject.run
    unit = "instructions" if run.icount else "ns"
    titles = ["smallest" + (f", {unit}" if run.icount else ""), f"{unit} a further byte"]
    titles += ["limit, MiB/s", "misfit"]
    groups: dict[str, list[Cost]] = {}
    for cost in costs:
        carried = cost.form.form == "buffer"
        groups.setdefault(cost.workload if carried else _of(cost), []).append(cost)
    rows: list[tuple[str, ...]] = []
    for name, group in groups.items():
        least = shown_sizes(group)[:1]
        head = f"{name} ({fmt.size(least[0])})" if least else name
        alone = ("",) * len(titles)
        rows += [("", *alone), (head, *alone)] if rows else [(head, *alone)]
        for cost in group:
            measured = {int(point.x): point.measured for point in cost.fit.points}
            byte = limit = fmt.NONE
            if cost.fit.fits and cost.slope.value > 0:
                byte = fmt.digits(cost.slope.value)
                limit = fmt.rate(1e9 / cost.least_byte) if cost.least_byte else fmt.NONE
            cells = figures.cell(run, measured[least[0]]) if least else fmt.NONE
            misfit = figures.misfit(cost.fit) + ("" if cost.fit.fits else " !")
            label = cost.algorithm if cost.form.form == "buffer" else cost.backend
            rows.append((f"  {label}", cells, byte, limit, misfit))
    return Table((Column("", "left"), *map(Column, titles)), tuple(rows))
