# SPDX-License-Identifier: BSD-2-Clause
"""The end of `teemark run`: one table, and the findings that are worth a sentence."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from teemark.base.console import paragraph
from teemark.base.console import terminal as text_terminal
from teemark.base.finding import ranked
from teemark.page import terminal
from teemark.page.blocks import Cell, Table, left, right
from teemark.report.sections.cases import call_tables
from teemark.report.sections.keys import keys, pkcs11
from teemark.report.sections.throughput import curves
from teemark.studies.answers import answers
from teemark.wording import fmt

if TYPE_CHECKING:
    from rich.console import Console

    from teemark.findings.subject import Subject

_MARKS = {"found": "=", "ruled out": "≠", "undecided": "?", "not checked": "?"}
"""The signs before the conclusions of a seed document."""


DEAREST = 3  # Most causes that are shown; the report has all of them


def show(subject: "Subject") -> None:
    """Prints the summary to stdout, in plain text if that is no terminal."""
    console = text_terminal()
    for finding in subject.found("answer"):
        paragraph(console, f"{'•' if finding.severity == 'note' else '!'} {finding.headline}")
    table = _keys(subject) or _table(subject)
    terminal.show(
        console, [*([table] if table is not None else ()), *call_tables(subject, brief=True)]
    )
    for answer in answers(subject):
        paragraph(console, f"{_MARKS[answer.status]} {answer.claim}")
    dearest(console, subject)
    for finding in subject.doubts:
        if finding.key != "emulated":
            paragraph(console, f"! {finding.headline}")
    run = subject.run
    counts = f"{fmt.plural(len(run.measured), 'case')} measured, each result verified"
    if run.unverified:
        counts += f" but those of {run.unverified}"
    if run.incomplete:
        counts = f"INCOMPLETE ({run.incomplete}): {counts}"
    if run.skips:
        counts += f"; {len(run.skips)} can't run here"
    if run.fails:
        counts += f"; {len(run.fails)} failed"
    paragraph(console, counts + (f" ({subject.caveat.lower()})" if subject.caveat else ""))
    for fail in run.fails:
        paragraph(console, f"failed: {fail.case}: {fail.reason}")


def dearest(console: "Console", subject: "Subject") -> None:
    """Prints the dearest causes, each with its remedy."""
    causes = [finding for finding in ranked(subject.findings) if finding.topic == "cause"]
    for number, finding in enumerate(causes[:DEAREST], 1):
        paragraph(console, f"{number} {finding.headline}")
        if finding.advice:
            paragraph(console, f"  → {finding.advice}")


MOST = 12  # Rows of operations with keys on a terminal
_ELSEWHERE = ("a second", "memory's share", "TEE calls")  # Columns that only the report has


def _keys(subject: "Subject") -> Table | None:
    """Returns the cost of operations with keys: those through PKCS #11, or those of both worlds,
    that of the answer first; None if the run didn't measure them."""
    for part in (pkcs11, keys):
        for table in (block for block in part.blocks(subject) if isinstance(block, Table)):
            return _brief(subject, table)
    return None


def _brief(subject: "Subject", table: Table) -> Table:
    """Returns the table with the columns that most rows have and the rows that have these, up to
    MOST; without operations a second and intervals, which the report has."""
    shown = [
        place
        for place, column in enumerate(table.columns)
        if column.title not in _ELSEWHERE
        and 2 * sum(row[place] != fmt.NONE for row in table.rows) >= len(table.rows)
    ]
    rows = [tuple(row[place] for place in shown) for row in table.rows]
    claims = " ".join(finding.claim for finding in subject.found("answer"))
    whole = [row for row in rows if fmt.NONE not in row] or rows
    whole.sort(key=lambda row: str(row[0]).rpartition(": ")[2] not in claims)
    columns = [replace(table.columns[place], unit="") for place in shown]
    columns[0] = replace(columns[0], title=fmt.cost_unit(subject.run))
    left_out = len(rows) - len(whole[:MOST])
    more = f"{len(rows) - left_out} of {len(rows)} operations; the report has all"
    short = [tuple(_without_interval(cell) for cell in row) for row in whole[:MOST]]
    return Table(columns, short, caption=more * bool(left_out))


def _without_interval(cell: Cell) -> Cell:
    return cell.partition(" (")[0] if isinstance(cell, str) else cell


def _table(subject: "Subject") -> Table | None:
    groups = curves(subject)
    if not groups:
        return None
    (_, algorithm), group = next(iter(groups.items()))
    run = subject.run
    who = {name: run.who(stats[0].work) for name, stats in group.items()}
    sizes = _sizes([{case.bytes or 0 for case in stats} for stats in group.values()])
    rows = []
    for world, secure in (("TEE", True), ("Linux", False)):
        mine = (name for name in group if who[name].secure is secure)
        for number, backend in enumerate(mine):
            costs = {case.bytes: case.estimate for case in group[backend]}
            cells = [fmt.cost_cell(run, costs[n]) if n in costs else fmt.NONE for n in sizes]
            rows.append(("" if number else world, who[backend].title, *cells))
    unit = ", instructions" if run.icount else ""
    columns = (*left(f"{run.title(algorithm)}{unit}", ""), *right(*map(fmt.size, sizes)))
    return Table(columns, rows)


_SHOWN = (64, 4096, 65536, 1 << 20)  # Sizes that users ask for, bytes


def _sizes(measured: Sequence[set[int]]) -> list[int]:
    """Returns up to four sizes that more than half of the backends were measured at, the nearest to
    those in _SHOWN."""
    often = {size for size in set[int].union(*measured) if size}
    often = {size for size in often if 2 * sum(size in sizes for sizes in measured) > len(measured)}
    near = {min(often, key=lambda size: abs(math.log(size / wanted))) for wanted in _SHOWN if often}
    return sorted(near)
