# SPDX-License-Identifier: BSD-2-Clause
"""`teemark plot`: one of a report's charts as a file."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

import click

from teemark.base.errors import DataError, UsageMistake
from teemark.base.files import write_whole
from teemark.cli.common import OUTPUT, option, runs_argument, subcommand
from teemark.cli.runs import read
from teemark.findings.subject import Subject, subjects
from teemark.model import breakdown
from teemark.model.breakdown import Breakdown
from teemark.page import figure_file
from teemark.page.blocks import Chart
from teemark.report import comparing
from teemark.report.sections.breakdown import chart as call_chart
from teemark.report.sections.breakdown import chart_table
from teemark.report.sections.throughput import chart as curve_chart
from teemark.report.sections.throughput import curves
from teemark.report.sections.trace import chart as flame_chart
from teemark.run.reader import locate
from teemark.trace import store

_MEASURED_BY = {
    "throughput": "`teemark run --plan quick` measures it",
    "breakdown": "`teemark run --plan explain --trace-events` measures it",
    "flame": "`teemark trace CASE…` records it",
    "compare": "no case is better or worse",
}
"""Each chart that can be drawn, with the message for a run that lacks it."""


@subcommand("plot")
def command(
    *,
    run_paths: tuple[Path, ...] = runs_argument,
    what: str = option(
        "--what KIND",
        "throughput, breakdown (a call's parts), flame (of a trace), or compare (BASE NEW…).",
        kind=click.Choice(tuple(_MEASURED_BY)),
        default="throughput",
    ),
    name: str | None = option(
        "--of NAME", "The algorithm (throughput) or case. [default: the one a report begins with]"
    ),
    output: Path | None = option(
        "-o --output FILE", "FILE.svg, FILE.png or FILE.pdf. [default: KIND.svg]", kind=OUTPUT
    ),
    width: float | None = option(
        "--width MM",
        "Width of the figure: 85 is a column of a paper, 170 a page. [default: as in a report]",
        kind=click.FloatRange(30, 1000),
    ),
    title: str | None = option("--title TEXT", "Its title; '' for none. [default: the boards]"),
    font: str = option(
        "--font NAME", "Its font, such as 'Latin Modern Roman'.", default="sans-serif"
    ),
    with_csv: bool = option("--csv", "Write the figures that it shows beside it, as FILE.csv."),
) -> int:
    """Write a chart of a report as a file: light colours, sizes of a page.

    A RUN is a run's folder, or its run.ndjson. Charts of several runs stand under each other. PNG
    and PDF take the package cairosvg, the extra plot.
    """
    output = output or Path(f"{what}.svg")
    kind = output.suffix[1:].lower()
    if kind not in ("svg", "png", "pdf"):
        raise UsageMistake(f"{output} is no name of a chart", hint="end it with .svg, .png or .pdf")
    if what == "compare" and (len(run_paths) < 2 or name is not None):
        raise UsageMistake("compare takes two runs or more, and no --of", hint="name BASE and NEW")
    about = subjects(
        [read(path) for path in run_paths], [store.find(locate(path).parent) for path in run_paths]
    )
    if what == "compare":
        pairs = [comparing.compared(about[0], subject) for subject in about[1:]]
        charts = [
            replace(chart, data=comparing.case_table(pair, comparing.rows_of(pair.comparison)))
            for pair in pairs
            if (chart := comparing.chart(pair)) is not None
        ]
    else:
        charts = [_one(what, subject, name) for subject in about]
    if not charts:
        raise DataError(f"there is nothing to draw: {_MEASURED_BY[what]}")
    named = ", ".join(dict.fromkeys(subject.run.name for subject in about))
    look = figure_file.Look(named if title is None else title, width, font)
    write_whole(output, figure_file.render(charts, look, cast(figure_file.Kind, kind)))
    click.echo(f"{what}: {output}")
    if with_csv:
        write_whole(output.with_suffix(".csv"), figure_file.table(charts))
        click.echo(f"data: {output.with_suffix('.csv')}")
    return 0


def _one(what: str, subject: Subject, key: str | None) -> Chart:
    charts: dict[str, Callable[[], Chart]] = {}
    if what == "throughput":
        drawn = curves(subject).items()
        charts = {key[1]: partial(curve_chart, subject, *key, group) for key, group in drawn}
    elif what == "breakdown":
        shown = breakdown.shown(subject.breakdowns)
        if shown and key is None:
            return _parts(subject, shown)
        charts = {call.key: partial(_parts, subject, (call,)) for call in subject.breakdowns}
    elif subject.trace is not None:
        charts = {case.case: partial(flame_chart, case) for case in subject.trace.cases}
    if not charts:
        raise DataError(f"{subject.run.file} has no {what}", hint=_MEASURED_BY[what])
    if key is not None and key not in charts:
        names = ", ".join(list(charts)[:8])
        raise UsageMistake(f"{subject.run.file} has no {what} of {key}", hint=f"there are: {names}")
    return charts[key or next(iter(charts))]()


def _parts(subject: Subject, calls: Sequence[Breakdown]) -> Chart:
    """Returns the chart of calls' parts with its figures, which a report has in tables below."""
    return replace(call_chart(subject, calls), data=chart_table(subject, calls))
