# SPDX-License-Identifier: BSD-2-Clause
"""What `teemark run` prints at the end: one table, and what is worth a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teemark import fmt

if TYPE_CHECKING:
    from rich.table import Table

    from teemark.report.subject import Subject


def show(subject: Subject) -> None:
    """To stdout, plain where that is no terminal."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=120)
    table = _table(subject)
    if table is not None:
        console.print(table)
    for verdict in subject.verdicts:
        unsure = verdict.confidence == "low"
        mark = "!" if verdict.kind == "caution" else "? uncertain:" if unsure else "•"
        console.print(f"{mark} {verdict.claim}", markup=False)
    run = subject.run
    counts = f"{fmt.plural(len(run.sound), 'case')} measured"
    if run.skips:
        counts += f", {len(run.skips)} can't run here"
    if run.fails:
        counts += f", {len(run.fails)} failed"
    console.print(counts + (" (emulated timings)" if subject.emulated else ""), markup=False)
    for fail in run.fails:
        console.print(f"failed: {fail.case}: {fail.reason}", markup=False)


def _table(subject: Subject) -> Table | None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    costs = subject.models.costs
    if not costs:
        return None
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("case", no_wrap=True)
    for title in ("a call", "95 %", f"{subject.run.unit} a byte", "95 %", "limit, MiB/s", "misfit"):
        table.add_column(title, justify="right")
    last = ""
    for cost in costs:
        if last and cost.algorithm != last:
            table.add_section()
        last = cost.algorithm
        line = cost.line
        table.add_row(
            Text(f"{cost.workload}/{cost.algorithm}/{cost.backend}"),
            fmt.duration(cost.call_ns),
            fmt.duration_interval(line.intercept_interval),
            fmt.digits(cost.ns_per_byte),
            fmt.span(line.slope_interval),
            fmt.rate(1e9 / cost.ns_per_byte) if cost.ns_per_byte > 0 else fmt.NONE,
            fmt.percent(abs(line.worst.residual)) + ("" if line.fits else " !"),
        )
    return table
