# SPDX-License-Identifier: BSD-2-Clause
"""`teemark run`: a plan on a board, and the reports of it."""

from __future__ import annotations

import contextlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from teemark.boards import Board
    from teemark.report.subject import Subject
    from teemark.runner import Outcome


@click.command("run")
@click.option("--board", "board_word", metavar="NAME", default="qemu-v8", show_default=True)
@click.option("--plan", "plan_word", metavar="NAME", default="quick", show_default=True)
@click.option(
    "-o",
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the run. [default: runs/TIME-BOARD-PLAN]",
)
@click.option(
    "--boots",
    type=click.IntRange(1),
    metavar="N",
    help="Boot a virtual board N times, and measure the plan in each boot.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1),
    metavar="N",
    help="Start the programs N times, with new TA sessions, and measure the plan in each.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a summary for scripts on stdout.")
def command(
    *,
    board_word: str,
    plan_word: str,
    out: Path | None,
    boots: int | None,
    rounds: int | None,
    as_json: bool,
) -> int:
    """Run a plan on a board, keep the raw records, and report.

    Writes run.ndjson, report.html and report.md, and prints a summary. The board's programs and
    Trusted Applications are installed first where they differ. Ctrl-C ends the run early; what
    was measured until then is kept and reported as incomplete.

    Exit status: 0 fine, 1 if a case failed or the run is incomplete, 2 for a wrong word on the
    command line.
    """
    from teemark import paths, plan, runner
    from teemark.boards import ensure_installed, open_board
    from teemark.console import say, working
    from teemark.report import report
    from teemark.run import reader
    from teemark.run.writer import check_free, new_directory, point_latest
    from teemark.run_progress import watching

    asked = plan.load(plan_word)
    board = open_board(board_word)
    _check_starts(board, boots, rounds)
    if out is not None:
        check_free(out)
    with contextlib.ExitStack() as stack:

        def boot() -> None:
            stack.close()  # ends the board of the boot before
            with working(f"reaching {board.name} …"):
                stack.enter_context(board)
            with working(f"installing programs on {board.name} …"):
                ensure_installed(board)

        boot()
        starts = runner.Starts(rounds or 1)
        if boots is not None:
            starts = runner.Starts(boots, "boot", again=boot)
        now = datetime.now(UTC)
        default = runner.default_directory(paths.runs(), board.name, asked.name, now)
        directory = out or new_directory(default)
        title = f"{asked.name} on {board.name}"
        with watching(asked, title, starts.count) as watcher:
            outcome = runner.measure(board, asked, directory, watcher, starts)
    if out is None:
        point_latest(directory)

    data = reader.read(outcome.file)
    with working("making the report …"):
        made = report.make([data])
        html = report.write(made, directory)
    subject = made.subjects[0]
    if as_json:
        click.echo(json.dumps(_summary(outcome, subject, html), indent=2))
    else:
        from teemark.summary import show

        show(subject)
        click.echo(f"report: {_short(html)}")
        click.echo(f"raw:    {_short(outcome.file)}")
    if data.incomplete:
        say(f"teemark: the run is incomplete: {data.incomplete}; it is kept in {_short(directory)}")
    if outcome.error is not None:
        raise outcome.error
    return 1 if data.incomplete or data.fails else 0


def _check_starts(board: Board, boots: int | None, rounds: int | None) -> None:
    from teemark.boards import VirtualConfig, instances
    from teemark.errors import UsageMistake

    if boots is None:
        return
    if rounds is not None:
        raise UsageMistake("--boots and --rounds exclude each other", hint="name one of them")
    if not isinstance(board.config, VirtualConfig):
        raise UsageMistake(
            f"{board.name} is no virtual board: teemark can't boot it", hint="use --rounds"
        )
    if instances.running_kept(board.name) is not None:
        raise UsageMistake(
            f"{board.name} is kept up, and --boots would end it",
            hint=f"`teemark down {board.name}` first, or use --rounds",
        )


def _short(path: Path) -> str:
    """From the current directory where it lies below."""
    absolute = path.absolute()
    cwd = Path.cwd()
    return str(absolute.relative_to(cwd)) if absolute.is_relative_to(cwd) else str(absolute)


def _summary(outcome: Outcome, subject: Subject, html: Path) -> dict[str, object]:
    run = subject.run
    return {
        "run": str(outcome.file),
        "html": str(html),
        "markdown": str(html.with_suffix(".md")),
        "board": run.run.board if run.run else None,
        "plan": run.run.plan if run.run else None,
        "emulated": subject.emulated,
        "icount": subject.icount,
        "complete": run.incomplete is None,
        "incomplete": run.incomplete,
        "error": outcome.error.message if outcome.error else None,
        "measured": len(run.sound),
        "skipped": len(run.skips),
        "failed": [{"case": fail.case, "reason": fail.reason} for fail in run.fails],
        "cases": [
            {
                "case": stats.key,
                "bytes": stats.bytes,
                "median_ns": stats.time.median,
                "low_ns": stats.time.interval.low if stats.time.interval else None,
                "high_ns": stats.time.interval.high if stats.time.interval else None,
                "samples": stats.time.count,
                "bytes_per_second": stats.throughput,
            }
            for stats in subject.models.stats
        ],
        "lines": [
            {
                "workload": cost.workload,
                "algorithm": cost.algorithm,
                "backend": cost.backend,
                "call_ns": cost.call_ns,
                "ns_per_byte": cost.ns_per_byte,
                "misfit": abs(cost.line.worst.residual),
                "fits": cost.line.fits,
            }
            for cost in subject.models.costs
        ],
        "verdicts": [
            {
                "key": verdict.key,
                "kind": verdict.kind,
                "claim": verdict.claim,
                "evidence": verdict.evidence,
                "advice": verdict.advice,
                "confidence": verdict.confidence,
            }
            for verdict in subject.verdicts
        ],
    }
