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
from teemark.page.blocks import Table, left, right
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
        paragraph(console, f"• {finding.headline}")
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


def _keys(subject: "Subject") -> Table | None:
    """Returns the cost of operations with keys, through PKCS #11 or in both worlds, with the
    columns that fit a terminal; None if the run didn't measure them."""
    for part, most in ((pkcs11, 5), (keys, 6)):
        for table in (block for block in part.blocks(subject) if isinstance(block, Table)):
            columns = [replace(column, unit="") for column in table.columns[:most]]
            columns[0] = replace(columns[0], title=fmt.cost_unit(subject.run))
            rows = [row[:most] for row in table.rows]
            return Table(columns, [row for row in rows if fmt.NONE not in row] or rows)
    return None


def _table(subject: "Subject") -> Table | None:
    groups = curves(subject)
    if not groups:
        return None
    (_, algorithm), group = next(iter(groups.items()))
    sizes = _sizes([{case.bytes or 0 for case in stats} for stats in group.values()])
    run = subject.run
    rows = []
    for world, secure in (("TEE", True), ("Linux", False)):
        mine = (name for name in group if run.backend(name).secure is secure)
        for number, backend in enumerate(mine):
            taken = {case.bytes: case.estimate for case in group[backend]}
            cells = [fmt.cost_cell(run, taken[n]) if n in taken else fmt.NONE for n in sizes]
            rows.append(("" if number else world, run.backend(backend).title, *cells))
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
