# SPDX-License-Identifier: BSD-2-Clause
"""`teemark explain`: where the time of a call goes."""

from collections.abc import Sequence
from pathlib import Path

import click
from rich.text import Text

from teemark.base.console import paragraph
from teemark.base.console import terminal as text_terminal
from teemark.base.errors import DataError
from teemark.cli import common
from teemark.cli.common import option, several, subcommand
from teemark.cli.runs import figure, warn
from teemark.findings import choices as advice
from teemark.findings.subject import Subject, subjects
from teemark.model.breakdown import Breakdown, shown
from teemark.page import bars, terminal
from teemark.page.blocks import Findings
from teemark.report import summary
from teemark.report.sections.breakdown import parts_of, untold
from teemark.report.sections.causes import causes_of
from teemark.run import reader
from teemark.trace import store
from teemark.wording import fmt


@subcommand("explain")
def command(
    run_path: Path = common.run_argument,
    *,
    cases: tuple[str, ...] = several("--case KEY", "Take this case apart."),
    everything: bool = option("--all", "Take every case apart."),
    traced: Path | None = option(
        "--trace RUN",
        "A run of `teemark trace` on the same board: some causes show only inside a call.",
    ),
    choices: bool = option(
        "--choices", "Say instead what to choose: memory, pieces of a stream, backend."
    ),
    as_json: bool = option("--json", "All cases, and findings, as JSON."),
) -> int:
    """Say where the time of a call into the TEE goes, part by part, and what to change.

    RUN is a run's folder, or its run.ndjson; `teemark run --plan explain --trace-events` measures
    all that is needed. Without --case or --all, one call of each kind is shown as a bar: an empty
    call, a buffer, a digest, a stream, a storage operation. Then come the causes of lost time that
    the run shows, those that it rules out, and those that it can't check, with what it lacks.

    With --choices: which kind of memory, which pieces of a stream and which backend cost least,
    from which size to which, and what that saves. Memory and backends are compared at sizes that
    RUN measured, pieces by its models. Only what is at least 1 % better is advised.

    Exit status: 0 fine; 1 if two sources disagree, or the run is incomplete.
    """
    run = reader.read(run_path)
    inside = store.read(traced) if traced else store.find(reader.locate(run_path).parent)
    subject = subjects([run], [inside])[0]
    warn(subject.run)
    if choices:
        _advise(subject, as_json=as_json)
        return 0
    calls = {call.key: call for call in subject.breakdowns}
    if not calls:
        raise DataError(
            f"{run_path}: no case of this run is a call into the TEE that can be taken apart",
            hint="`teemark run --plan explain --trace-events` measures such calls",
        )
    for key in cases:
        if key not in calls:
            raise click.UsageError(
                f"{key} can't be taken apart: it is no call into the TEE of this run "
                f"(there are: {', '.join(list(calls)[:8])}{', …' if len(calls) > 8 else ''})"
            )
    if as_json:
        data = {
            "run": subject.run.file,
            "unit": subject.run.unit,
            "breakdowns": [_breakdown(call) for call in subject.breakdowns],
            "findings": subject.findings,
        }
        common.put_json(data)
    else:
        chosen: Sequence[Breakdown] = tuple(calls[key] for key in cases)
        if not chosen:
            chosen = subject.breakdowns if everything else shown(subject.breakdowns)
        _show(subject, chosen, whole=everything or bool(cases))
    apart = any(check.answer == "no" for call in subject.breakdowns for check in call.checks)
    apart |= any(counted.answer == "no" for counted in subject.models.counted.values())
    return 1 if apart or not subject.run.as_asked else 0


def _advise(subject: Subject, *, as_json: bool) -> None:
    findings = tuple(advice.choices(subject, alone=True))
    if as_json:
        common.put_json({"findings": findings})
    elif findings:
        terminal.show(text_terminal(), [Findings(findings)])
    else:
        why = "the run compares no kinds of memory, pieces or backends, or none is better by 1 %"
        paragraph(text_terminal(), f"Nothing to advise: {why}.")


def _show(subject: Subject, chosen: Sequence[Breakdown], *, whole: bool) -> None:
    """Prints a bar and its parts for each call, then the causes. With `whole` it also prints the
    sources of the parts, and the evidence for the causes."""
    console = text_terminal(100)
    for call in chosen:
        head = f"{call.key}: {fmt.cost(subject.run, call.total)}"
        parts = [(part, share) for part, share in bars.widths(call) if share >= bars.LEAST]
        if len(parts) == 1 and not whole:
            ((part, share),) = parts
            paragraph(console, f"{head}: {part.title} {fmt.percent(share)}")
            continue
        paragraph(console, head)
        style = {part.name: _STYLES.get(part.colour, "") for part, _ in parts}
        drawn = [pair for pair in bars.line(call, console.width - 4) if pair[0].name in style]
        if len(parts) > 1:
            bar = ((cells, style[part.name]) for part, cells in drawn)
            console.print(Text.assemble("  ", *bar))
        if whole:
            terminal.show(console, parts_of(subject, call))
            console.print()
            continue
        signs = {part.name: cells[0] for part, cells in drawn}
        legend = [
            f"{signs.get(part.name, '')}\N{NO-BREAK SPACE}{part.title} {fmt.percent(share)}"
            for part, share in parts
        ]
        paragraph(console, f"  {', '.join(legend)}")
    if whole:
        terminal.show(console, untold(chosen))
        terminal.show(console, [*causes_of(subject), Findings(subject.doubts)])
        return
    summary.dearest(console, subject)
    blocks = causes_of(subject, summary.DEAREST)
    terminal.show(console, [block for block in blocks if not isinstance(block, Findings)])
    for doubt in subject.doubts:
        paragraph(console, f"! {doubt.claim}")
    paragraph(console, "`--case KEY` or `--all` shows how each part is known, and which can't be.")


_COLOURS = ("blue", "cyan", "magenta", "yellow", "green", "bright_green", "red")
_STYLES = {**dict(zip("0123456", _COLOURS, strict=True)), "other": "dim"}


def _breakdown(call: Breakdown) -> dict[str, object]:
    parts = ("name", "title", "source", "reason", "measure", "covers")
    return {
        "case": call.key,
        "kind": call.kind,
        "total": figure(call.total),
        "parts": [common.picked(part, *parts) | figure(part.value) for part in call.parts],
        "checks": [
            {
                "what": check.what,
                "one": {**figure(check.one), "source": check.one_source},
                "other": {**figure(check.other), "source": check.other_source},
                "agree": check.answer,
            }
            for check in call.checks
        ],
    }
