# SPDX-License-Identifier: BSD-2-Clause
"""Many runs as a page: each case's values as a line, its levels and where they changed."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.model.history import Line
from teemark.page import charts, figures, html
from teemark.page.blocks import Block, Chart, Code, Column, Fold, Paragraph, Section, Table
from teemark.report import comparing
from teemark.run.reader import RunData
from teemark.version import __version__

CHARTS = 12
"""Lines that are drawn: those that changed most."""


def render(title: str, runs: Sequence[RunData], found: Sequence[Line], remark: str) -> str:
    changed = sorted(
        (line for line in found if line.changes), key=lambda line: -abs(line.last_change)
    )
    blocks: list[Block] = [Paragraph((remark,))]
    blocks += [_chart(line, number, runs) for number, line in enumerate(changed[:CHARTS])]
    blocks.append(Fold("Every case", f"{len(found)} cases", (_table(found, runs),)))
    sections = [Section("history", f"{len(runs)} runs", tuple(blocks))]
    return html.render(title, "", sections, f"Made by teemark {__version__}.")


def when(run: RunData) -> str:
    return run.run.started if run.run is not None else run.file


def _chart(line: Line, number: int, runs: Sequence[RunData]) -> Chart:
    key = f"history-{number}"
    unit = "instructions a call" if runs[0].icount else "ns a call"
    points = list(zip(line.runs, line.values, strict=True))
    places = [line.runs[change] for change in line.changes]
    return Chart(
        title=line.case,
        caption=tuple(f"New level from {when(runs[place])} on. " for place in places),
        wide=charts.history(key, points, line.levels(), unit, charts.WIDE),
        narrow=charts.history(key, points, line.levels(), unit, charts.NARROW),
        data=Table(
            (Column("run", "left"), Column(unit)),
            tuple(
                (when(runs[place]), figures.cell(runs[place], value))
                for place, value in zip(line.runs, line.values, strict=True)
            ),
        ),
    )


def _table(found: Sequence[Line], runs: Sequence[RunData]) -> Table:
    return Table(
        (
            Column("case", "left"),
            Column("runs"),
            Column("first"),
            Column("last"),
            Column("last change"),
            Column("since", "left"),
        ),
        tuple(
            (
                (Code(line.case),),
                str(len(line.values)),
                figures.cell(runs[line.runs[0]], line.values[0]),
                figures.cell(runs[line.runs[-1]], line.values[-1]),
                comparing.signed(line.last_change) if line.changes else "",
                when(runs[line.runs[line.changes[-1]]]) if line.changes else "",
            )
            for line in found
        ),
    )
