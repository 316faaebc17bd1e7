# SPDX-License-Identifier: BSD-2-Clause
"""`teemark run`: a plan on a board, and the reports of it."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from teemark.cli import complete
from teemark.cli.options import out_option
from teemark.cli.ta_option import ta_option

if TYPE_CHECKING:
    from teemark.boards import Board
    from teemark.boards.own_ta import OwnTa
    from teemark.findings.subject import Subject
    from teemark.measure.origin import Origin
    from teemark.measure.runner import Outcome, Starts
    from teemark.plan.plan import Plan
    from teemark.run.reader import RunData


@click.command("run")
@click.option(
    "--board",
    "board_word",
    shell_complete=complete.boards,
    metavar="NAME",
    default="qemu-v8-icount",
    show_default=True,
    help="Where to measure: see `teemark board list`.",
)
@click.option(
    "--plan",
    "plan_word",
    shell_complete=complete.plans,
    metavar="NAME",
    help="What to measure: see `teemark plan list`. [default: quick; with --ta, DIR/bench.toml]",
)
@ta_option
@click.option(
    "--only",
    multiple=True,
    metavar="PATTERN",
    help="Only cases of the plan like this: 'oneshot/*/tee/*'. May be repeated.",
)
@out_option("runs/TIME-BOARD-PLAN")
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
@click.option(
    "--limit",
    "limit_minutes",
    type=click.FloatRange(0, min_open=True),
    metavar="MINUTES",
    help="End a start that takes longer. [default: ten times the estimate, at least 10]",
)
@click.option(
    "--trace-events",
    is_flag=True,
    help="After the samples, trace some calls into the TEE by the kernel's tracepoints, for "
    "`teemark explain`; needs root on the board.",
)
@click.option(
    "--commit",
    "commit_word",
    metavar="auto|REF|none",
    default="auto",
    show_default=True,
    help="The source that is measured: a commit, or a folder in a git repository. auto: the "
    "repository around the current folder, unless it is teemark's own.",
)
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="KEY=VALUE",
    help="Kept in the run and shown by compare, history and exports. May be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a summary for scripts on stdout.")
def command(
    *,
    board_word: str,
    plan_word: str | None,
    ta_path: Path | None,
    only: tuple[str, ...],
    out: Path | None,
    boots: int | None,
    rounds: int | None,
    limit_minutes: float | None,
    trace_events: bool,
    commit_word: str,
    labels: tuple[str, ...],
    as_json: bool,
) -> int:
    """Run a plan on a board, keep the raw records, and report.

    Writes run.ndjson, report.html and report.md into a new folder, and prints a summary. First it
    installs the programs and Trusted Applications that the board lacks. Ctrl-C ends the run within
    5 seconds, a second one at once: what was measured until then is kept, and `teemark report`
    reports it as incomplete. No run is ever overwritten.

    If the TEE stops answering, the run says so and goes on with the cases that need none.

    With --ta it builds a Trusted Application of your own with the board's kit, and leaves it on the
    board only while it is measured.

    Exit status: 0 fine; 1 if a case failed, the run is incomplete, or the board has a TEE that
    couldn't be used; 2 for a mistake on the command line; 128+n if signal n ended it.
    """
    from teemark.base import leaving
    from teemark.base.console import say
    from teemark.boards import open_board
    from teemark.cli import ta_option
    from teemark.measure import origin, runner
    from teemark.plan import check as plan_check
    from teemark.plan import plan
    from teemark.run import reader
    from teemark.run.writer import check_free

    own, asked = ta_option.load(ta_path, plan_word or (None if ta_path else "quick"))
    if only:
        asked = plan.select(asked, only)
    plan_check.check(asked)
    source = origin.find(commit_word, labels)
    board = open_board(board_word)
    _check_starts(board, boots, rounds)
    if out is not None:
        check_free(out)
    starts = runner.Starts(boots or rounds or 1, "boot" if boots is not None else "round")
    say(f"{_title(asked, board)}: {_ahead(board, asked, starts)}")
    options = ("--trace-events",) if trace_events else ()
    limit_s = limit_minutes * 60 if limit_minutes else None
    outcome = _measure(
        board, asked, out, starts, own, options=options, source=source, limit_s=limit_s
    )
    if leaving.signalled():
        _kept(outcome.file)
        return 128 + leaving.signalled()
    run = reader.read(outcome.file)
    try:
        _show(outcome, run, as_json=as_json)
    finally:
        _tell(outcome, run, asked)
    return 0 if run.as_asked else 1


def _title(asked: Plan, board: Board) -> str:
    return f"{asked.name} on {board.name}"


def _measure(
    board: Board,
    asked: Plan,
    out: Path | None,
    starts: Starts,
    own: OwnTa | None,
    *,
    options: tuple[str, ...],
    source: Origin,
    limit_s: float | None,
) -> Outcome:
    from teemark.base import paths
    from teemark.base.console import working
    from teemark.boards import ensure_installed, own_ta
    from teemark.measure import runner
    from teemark.measure.progress import watching
    from teemark.run.reader import RUN_FILE
    from teemark.run.writer import new_directory, point_latest

    built = own_ta.ready(own, asked.ta, board)
    with contextlib.ExitStack() as stack:

        def boot() -> None:
            stack.close()  # ends the board of the boot before
            with working(f"reaching {board.name} …"):
                stack.enter_context(board)
            with working(f"looking at {board.name} …") as tell:
                ensure_installed(board, tell=tell)
                stack.enter_context(own_ta.on_board(built, board, tell))

        boot()
        if starts.kind == "boot":
            starts = replace(starts, again=boot)
        now = datetime.now(UTC)
        default = runner.default_directory(paths.runs(), board.name, asked.name, now)
        directory = out or new_directory(default)
        with watching(asked, _title(asked, board), starts.count) as watcher:
            try:
                outcome = runner.measure(
                    board,
                    asked,
                    directory,
                    watcher,
                    starts,
                    options=options,
                    origin=source,
                    limit_s=limit_s,
                )
            except SystemExit:
                _kept(directory / RUN_FILE)
                raise
    if out is None:
        point_latest(directory)
    return outcome


def _kept(file: Path) -> None:
    """The last words of a run that a signal ended."""
    from teemark.base.console import say

    if file.is_file():
        folder = _short(file.parent)
        say(
            f"teemark: the run was ended early: what was measured is kept in {folder}; "
            f"`teemark report {folder}` reports it"
        )


def _show(outcome: Outcome, run: RunData, *, as_json: bool) -> None:
    """The report, and its summary on stdout."""
    from teemark.base.console import json_text, working
    from teemark.report import run_page
    from teemark.report.summary import show

    with working("making the report …"):
        made = run_page.make([run])
        html = run_page.write(made, outcome.file.parent)
    subject = made.subjects[0]
    if as_json:
        click.echo(json_text(_summary(outcome, subject, html)), nl=False)
        return
    show(subject)
    click.echo(f"report: {_short(html)}")
    click.echo(f"raw:    {_short(outcome.file)}")


def _tell(outcome: Outcome, run: RunData, asked: Plan) -> None:
    """What wasn't measured, and why: the last that is said."""
    from teemark.base.console import say
    from teemark.findings.notices import notices

    places = {case.key: case.place for case in asked.cases if case.place}
    for fail in run.fails:
        if fail.case in places:
            say(f"teemark: {places[fail.case]}: {fail.case}: {fail.reason}")
            if fail.hint:
                say(f"hint: {fail.hint}")
    for notice in notices(run):
        say(f"teemark: {notice.plain}")
    if run.incomplete:
        say(f"teemark: what was measured is kept in {_short(outcome.file.parent)}")
    if outcome.error is not None and outcome.error.hint:
        say(f"hint: {outcome.error.hint}")


def _ahead(board: Board, asked: Plan, starts: Starts) -> str:
    """How much there is to do, before anything is booted or copied."""
    from teemark.base import fmt, paths
    from teemark.measure import runner

    cases = fmt.plural(len(asked.cases), "case")
    steps = f" and {fmt.plural(len(asked.teehash), 'way')} to hash a file" if asked.teehash else ""
    often = f", {starts.count} times" if starts.count > 1 else ""
    took = runner.took_before(paths.runs(), board.name, asked, starts.count)
    if took is not None:
        return f"{cases}{steps}{often}: {fmt.roughly_minutes(took)}, as it took the last time"
    guess = starts.count * runner.seconds(asked, deterministic=board.deterministic)
    return f"{cases}{steps}{often}: {fmt.roughly_minutes(guess)} of measuring, at a guess"


def _check_starts(board: Board, boots: int | None, rounds: int | None) -> None:
    from teemark.base.errors import UsageMistake
    from teemark.boards import VirtualConfig, instances

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
    import msgspec

    from teemark.studies.answers import answers

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
        "measured": len(run.measured),
        "skipped": len(run.skips),
        "tee_refused": sorted({skip.reason for skip in run.tee_refused}),
        "not_measured": [{"case": one.case, "reason": one.why} for one in run.unmeasured],
        "failed": [{"case": fail.case, "reason": fail.reason} for fail in run.fails],
        "cases": [
            {
                "case": stats.key,
                "bytes": stats.bytes,
                "median": stats.time.median,
                "low": stats.time.interval.low if stats.time.interval else None,
                "high": stats.time.interval.high if stats.time.interval else None,
                "unit": run.unit if stats.estimate.counted else "ns",
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
                "call": cost.call.value,
                "byte": cost.slope.value,
                "least_byte": cost.least_byte,
                "unit": run.unit,
                "misfit": cost.fit.misfit,
                "fits": cost.fit.fits,
            }
            for cost in subject.models.costs
        ],
        "answers": [msgspec.to_builtins(answer) for answer in answers(subject)],
        "findings": subject.findings,
    }
