# SPDX-License-Identifier: BSD-2-Clause
"""`teemark explain`: where the time of a call goes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from teemark.console import json_text, paragraph, terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from teemark.model.breakdown import Breakdown
    from teemark.model.stats import Estimate
    from teemark.report.subject import Subject


@click.command("explain")
@click.argument("run_path", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--case", "cases", metavar="KEY", multiple=True, help="Take this case apart.")
@click.option("--all", "everything", is_flag=True, help="Take every case apart.")
@click.option("--json", "as_json", is_flag=True, help="All cases, and verdicts, as JSON.")
def command(run_path: Path, cases: tuple[str, ...], *, everything: bool, as_json: bool) -> int:
    """Say where the time of a call into the TEE goes, part by part, and what to change.

    RUN is a run's folder, or its run.ndjson; `teemark run --plan explain --trace-events` measures
    all that is needed. Without --case or --all, one call of each kind is shown: an empty call, a
    buffer, a digest, a stream, a storage operation. Then come the causes of lost time that the run
    shows, those that it rules out, and those that it can't check, with what it lacks.

    Exit status: 0 fine; 1 if two sources tell the same differently, or the run is incomplete; 2
    for a wrong word on the command line.
    """
    from teemark.commands import warn
    from teemark.errors import DataError
    from teemark.model import breakdown
    from teemark.report.subject import subjects
    from teemark.run import reader

    subject = subjects([reader.read(run_path)])[0]
    warn(subject.run)
    found = {one.key: one for one in subject.breakdowns}
    if not found:
        raise DataError(
            f"{run_path}: no case of this run is a call into the TEE that can be taken apart",
            hint="`teemark run --plan explain --trace-events` measures such calls",
        )
    for key in cases:
        if key not in found:
            raise click.UsageError(
                f"{key} can't be taken apart: it is no call into the TEE of this run "
                f"(there are: {', '.join(list(found)[:8])}{', …' if len(found) > 8 else ''})"
            )
    if as_json:
        click.echo(json_text(_as_json(subject)), nl=False)
    else:
        chosen: Sequence[Breakdown] = tuple(found[key] for key in cases)
        if not chosen:
            chosen = subject.breakdowns if everything else breakdown.shown(subject.breakdowns)
        _show(subject, chosen)
    apart = any(check.answer == "no" for one in subject.breakdowns for check in one.checks)
    return 1 if apart or not subject.run.as_asked else 0


def _show(subject: Subject, chosen: Sequence[Breakdown]) -> None:
    console = terminal(100)
    for one in chosen:
        _show_one(console, subject, one)
    found = {cause.key for cause in subject.causes if cause.status == "found"}
    for verdict in subject.verdicts:
        if _RESTATED.get(verdict.key) in found:
            continue
        mark = "!" if verdict.kind == "caution" else "•"
        unsure = " (uncertain)" if verdict.confidence == "low" else ""
        paragraph(console, f"{mark} {verdict.key}{unsure}: {verdict.claim}")
        if verdict.advice:
            paragraph(console, f"  → {verdict.advice}")
    for cause in subject.causes:
        if cause.claim is not None:
            unsure = " (uncertain)" if cause.confidence == "low" else ""
            paragraph(console, f"• {cause.key}{unsure}: {cause.claim}")
            paragraph(console, f"  by: {cause.evidence}")
            paragraph(console, f"  → {cause.advice}")
    _show_checked(console, subject)


_RESTATED = {
    "shared-buffers": "tmpref-registration",
    "keep-the-session": "ta-load-first-call",
    "extensions": "no-crypto-extensions-in-tee",
}
"""Verdicts of the report that a cause says again."""


def _show_checked(console: Console, subject: Subject) -> None:
    """Which causes the run could show, and what it lacks for the others."""
    names = {
        status: [cause.key for cause in subject.causes if cause.status == status]
        for status in ("absent", "undecided")
    }
    if names["absent"]:
        paragraph(console, f"checked, not the case: {', '.join(names['absent'])}")
    if names["undecided"]:
        paragraph(console, f"undecided: {', '.join(names['undecided'])}")
    lacking: dict[str, list[str]] = {}
    for cause in subject.causes:
        if cause.lacks is not None:
            lacking.setdefault(cause.lacks, []).append(cause.key)
    for lacks, keys in lacking.items():
        paragraph(console, f"not checked: {', '.join(keys)}, for lack of {lacks}")


def _show_one(console: Console, subject: Subject, one: Breakdown) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from teemark.report import bars, figures
    from teemark.report.sections.breakdown import checked, missing, plain, row

    run = subject.run
    paragraph(console, f"{one.key}: {figures.time(run, one.total.value)}")
    bar = Text("  ")
    for part, blocks in bars.line(one, console.width - 4):
        bar.append(blocks, style=_STYLES.get(bars.COLOURS[part.name], ""))
    console.print(bar)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("part", no_wrap=True)
    table.add_column(figures.unit(run) or "takes", justify="right", no_wrap=True)
    table.add_column("95 %", justify="right", no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column("told by", overflow="fold")
    for part in one.known:
        cells = (cell if isinstance(cell, str) else plain(cell) for cell in row(run, one, part))  # type: ignore[arg-type]
        table.add_row(*(Text(cell) for cell in cells))
    console.print(table)
    for said in checked(run, one):
        paragraph(console, f"  {said}")
    for part in one.parts:
        if part.value is None:
            paragraph(console, f"  ? {plain(missing(part))}")
    console.print()


_STYLES = {
    "0": "blue",
    "1": "cyan",
    "2": "magenta",
    "3": "yellow",
    "4": "green",
    "5": "bright_green",
    "6": "red",
    "other": "dim",
}


def _as_json(subject: Subject) -> dict[str, object]:
    return {
        "run": subject.run.file,
        "unit": subject.run.unit,
        "breakdowns": [_breakdown(one) for one in subject.breakdowns],
        "verdicts": [
            {
                "key": verdict.key,
                "kind": verdict.kind,
                "claim": verdict.claim,
                "evidence": verdict.evidence,
                "advice": verdict.advice,
                "confidence": verdict.confidence,
                "status": "found",
                "lacks": None,
            }
            for verdict in subject.verdicts
        ]
        + [
            {
                "key": cause.key,
                "kind": "cause",
                "claim": cause.claim,
                "evidence": cause.evidence,
                "advice": cause.advice,
                "confidence": cause.confidence,
                "status": cause.status,
                "lacks": cause.lacks,
            }
            for cause in subject.causes
        ],
    }


def _breakdown(one: Breakdown) -> dict[str, object]:
    return {
        "case": one.key,
        "kind": one.kind,
        "total": _figure(one.total),
        "parts": [
            {
                "name": part.name,
                "title": part.title,
                **_figure(part.value),
                "source": part.source,
                "reason": part.reason,
                "measure": part.measure,
                "covers": list(part.covers),
            }
            for part in one.parts
        ],
        "checks": [
            {
                "what": check.what,
                "one": {**_figure(check.one), "source": check.one_source},
                "other": {**_figure(check.other), "source": check.other_source},
                "agree": check.answer,
            }
            for check in one.checks
        ],
    }


def _figure(value: Estimate | None) -> dict[str, float | None]:
    interval = value.interval if value is not None else None
    return {
        "value": value.value if value is not None else None,
        "low": interval.low if interval is not None else None,
        "high": interval.high if interval is not None else None,
    }
