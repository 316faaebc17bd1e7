# SPDX-License-Identifier: BSD-2-Clause
"""`teemark explain`: where the time of a call goes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from teemark.base.console import json_text, paragraph
from teemark.base.console import terminal as text_terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teemark.findings.subject import Subject
    from teemark.model.breakdown import Breakdown
    from teemark.model.stats import Estimate


@click.command("explain")
@click.argument("run_path", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--case", "cases", metavar="KEY", multiple=True, help="Take this case apart.")
@click.option("--all", "everything", is_flag=True, help="Take every case apart.")
@click.option(
    "--trace",
    "traced",
    metavar="RUN",
    type=click.Path(path_type=Path),
    help="A run of `teemark trace` on the same board: some causes show only inside a call.",
)
@click.option("--json", "as_json", is_flag=True, help="All cases, and findings, as JSON.")
def command(
    run_path: Path, cases: tuple[str, ...], *, everything: bool, traced: Path | None, as_json: bool
) -> int:
    """Say where the time of a call into the TEE goes, part by part, and what to change.

    RUN is a run's folder, or its run.ndjson; `teemark run --plan explain --trace-events` measures
    all that is needed. Without --case or --all, one call of each kind is shown: an empty call, a
    buffer, a digest, a stream, a storage operation. Then come the causes of lost time that the run
    shows, those that it rules out, and those that it can't check, with what it lacks.

    Exit status: 0 fine; 1 if two sources disagree, or the run is incomplete; 2 for a mistake on
    the command line.
    """
    from teemark.base.errors import DataError
    from teemark.cli.common import warn
    from teemark.findings.subject import subjects
    from teemark.model import breakdown
    from teemark.run import reader
    from teemark.trace import store

    run = reader.read(run_path)
    inside = store.read(traced) if traced else store.find(reader.locate(run_path).parent)
    subject = subjects([run], [inside])[0]
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
    from rich.text import Text

    from teemark.page import bars, figures, terminal
    from teemark.page.blocks import Findings
    from teemark.report.sections import breakdown, causes

    console = text_terminal(100)
    for one in chosen:
        paragraph(console, f"{one.key}: {figures.time(subject.run, one.total)}")
        bar = Text("  ")
        for part, blocks in bars.line(one, console.width - 4):
            bar.append(blocks, style=_STYLES.get(bars.COLOURS[part.name], ""))
        console.print(bar)
        terminal.show(console, breakdown.told(subject, one))
        console.print()
    doubts = tuple(one for one in subject.found("board", "trust") if one.severity != "note")
    terminal.show(console, [*causes.told(subject), Findings(doubts)])


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
        "findings": subject.findings,
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
