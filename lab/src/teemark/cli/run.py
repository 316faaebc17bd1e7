# SPDX-License-Identifier: BSD-2-Clause
"""`teemark run`: a plan on a board, and the reports of it."""

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from teemark.base import paths, shutdown
from teemark.base.console import say, working
from teemark.base.console import terminal as text_terminal
from teemark.base.errors import BoardError, TeemarkError, UsageMistake
from teemark.boards import (
    Board,
    LabgridBoard,
    VirtualConfig,
    config,
    install,
    instances,
    named,
    open_board,
    own_ta,
)
from teemark.boards.own_ta import Built, OwnTa
from teemark.cli import common
from teemark.cli.common import option, several, subcommand
from teemark.cli.runs import low_high
from teemark.findings.notices import notices
from teemark.findings.subject import Subject, subjects
from teemark.measure import origin, runner, side_by_side
from teemark.measure.progress import watching
from teemark.measure.runner import Outcome, Starts
from teemark.measure.side_by_side import Child
from teemark.page import terminal
from teemark.plan import check as plan_check
from teemark.plan.file import Plan, select_cases
from teemark.run import reader, records
from teemark.run.reader import RUN_FILE, RunData, stands_for
from teemark.run.writer import check_free, directory_for, point_latest
from teemark.studies.answers import answers
from teemark.wording import fmt


@subcommand("run")
def command(
    *,
    boards: tuple[str, ...] = several(
        "--board NAME",
        "Where to measure; labgrid:PLACE is in a labgrid farm, labgrid:'stm32*' may be several. "
        "[default: config.toml's, else the plan's own if it is built, else qemu-v8-icount]",
    ),
    plan_word: str | None = option(
        "--plan NAME",
        "What to measure: see `teemark plan list`. [default: quick; with --ta, DIR/bench.toml]",
    ),
    ta_path: Path | None = common.ta_option,
    only: tuple[str, ...] = common.only_option,
    out: Path | None = common.out_option("runs/TIME-BOARD-PLAN"),
    boots: int | None = option(
        "--boots N", "Boot a virtual board N times, and measure the plan in each boot."
    ),
    rounds: int | None = option(
        "--rounds N",
        "Start the programs N times, with new TA sessions, and measure the plan in each.",
    ),
    limit_minutes: float | None = option(
        "--limit MINUTES",
        "End a boot or round that takes longer. [default: ten times the estimate, at least 10]",
        kind=click.FloatRange(0, min_open=True),
    ),
    trace_events: bool = option(
        "--trace-events",
        "After measuring, trace some calls by the kernel's tracepoints, for `explain`; needs root.",
    ),
    module: str | None = option(
        "--pkcs11-module FILE",
        "Measure this PKCS #11 module on the board. [default: OP-TEE's libckteec]",
    ),
    pkcs11_keep: bool = option(
        "--pkcs11-keep", "Leave the token, with keypair-token's last key pair, for other programs."
    ),
    power_cycle: bool = option(
        "--power-cycle", "If a board of a labgrid farm hangs, cut its power, once, and begin again."
    ),
    commit_word: str = option(
        "--commit auto|REF|none",
        "The source that is measured: a commit, or a folder in a git repository. auto: the "
        "repository around the current folder, unless it is teemark's own.",
        default="auto",
    ),
    labels: tuple[str, ...] = several(
        "--label KEY=VALUE", "Kept in the run and shown by compare, history and exports."
    ),
    resume: Path | None = option(
        "--resume RUN",
        "Measure the cases that this run lacks, on its board; the new run has its records, too.",
    ),
    dry_run: bool = option(
        "--dry-run", "Say what would be measured, how long, and what is written on the board."
    ),
    as_json: bool = option("--json", "Print a summary for scripts on stdout."),
) -> int:
    """Run a plan on a board, keep the raw records, and report.

    Writes run.ndjson, report.html and report.md into a new folder, and prints a summary. First it
    installs the programs and Trusted Applications that the board lacks. Ctrl-C ends the run within
    5 seconds, a second one at once: what was measured until then is kept, and `teemark report`
    reports it as incomplete. No run is ever overwritten.

    If the TEE stops answering, the run says so and goes on with the cases that need none.

    With --ta it builds a Trusted Application of your own with the board's kit, and leaves it on the
    board only while it is measured.

    Several boards are measured side by side, each into a run of its own (with --out, DIR/BOARD);
    if one fails the others go on. A table of them all comes at the end.

    Exit status: 0 fine; 1 if a case failed, the run is incomplete, or the board has a TEE that
    couldn't be used; 128+n if signal n ended it.
    """
    if plan_word == "broker":
        raise UsageMistake("mosquitto measures that plan", hint="teemark broker measure")
    old = reader.read(resume) if resume is not None else None
    if old is not None and old.header is not None:
        plan_word = plan_word or (None if ta_path else old.header.plan)
        boards = boards or (old.header.board,)
    ta, plan = common.load(ta_path, plan_word or (None if ta_path else "quick"))
    whole = plan = select_cases(plan, only) if only else plan
    plan = _lacking(plan, old, (boots or 1) * (rounds or 1)) if old is not None else plan
    plan_check.check(plan)
    source = {"commit": origin.commit(commit_word, Path.cwd()), "labels": origin.labels(labels)}
    names = named(boards) or [config.default_board(plan.board)]
    if len(names) > 1:
        words = {config.find(name).name: name for name in names}
        if len(words) < len(names):
            raise UsageMistake("a board is named twice", hint="--rounds measures it several times")
        outs = [directory_for(out and out / name, name, plan.name) for name in words]
        child = side_by_side.part({board: _needs(name) for board, name in words.items()})
        if not isinstance(child, int):
            return _together(child, outs, as_json=as_json)
        names, out = [list(words.values())[child]], outs[child]
    target = open_board(names[0])
    if isinstance(target, LabgridBoard):
        target.power_cycle = "once" if power_cycle else "never"
    elif power_cycle:
        raise UsageMistake(f"{target.name} is in no labgrid farm", hint="leave --power-cycle out")
    _check_starts(target, boots, rounds, old)
    if out is not None:
        check_free(out)
    starts = Starts(boots or rounds or 1, "boot" if boots is not None else "round")
    what, starts = _ahead(target, plan, starts, events=trace_events)
    if dry_run:
        click.echo("\n".join((f"{plan.name} on {target.name}: {what}", *_written(target, plan))))
        return 0
    say(f"{plan.name} on {target.name}: {what}")
    options = ["--trace-events"] * trace_events + ["--pkcs11-keep"] * pkcs11_keep
    options += ["--pkcs11-module", module] if module else []
    built = own_ta.build_for(ta, plan.ta, target)
    how: dict[str, Any] = {
        **source,
        "options": options,
        "limit_s": limit_minutes * 60 if limit_minutes else None,
        "before": resume,
        "ta_memory": _ta_memory(names[0], ta, whole),
    }
    outcome = _measure(target, plan, out, starts, built, **how)
    if isinstance(target, LabgridBoard) and _hung(outcome, target):
        outcome = _measure(target, plan, out, starts, built, **how)
    if shutdown.signalled():
        _kept(outcome.file)
        return 128 + shutdown.signalled()
    run = reader.read(outcome.file)
    try:
        _show(outcome, run, as_json=as_json)
    finally:
        _tell(outcome, run, plan, target)
    return 0 if run.as_asked else 1


def _ta_memory(board: str, ta: OwnTa | None, plan: Plan) -> records.StackAndHeap | None:
    """Returns the stack and heap that the user's TA takes, if a boot of its own can tell; a failure
    is said, and the run goes on."""
    if ta is None:
        return None
    from teemark.exact import memory, record  # takes half a second

    try:
        return memory.of_ta(config.find(board), record.TaCalls(ta, plan))
    except TeemarkError as error:
        say(f"teemark: the TA's stack and heap aren't known: {error.message}")
        return None


def _hung(outcome: Outcome, board: LabgridBoard) -> bool:
    """Says whether a board hung whose power may be cut now; if so, keeps its run under another
    name."""
    error = outcome.error
    if not isinstance(error, BoardError) or shutdown.signalled() or board.power_cycle != "once":
        return False
    folder = outcome.file.parent
    _kept(folder.rename(folder.with_name(f"{folder.name}-hung")) / RUN_FILE)
    say(f"teemark: {error.message}", error.hint)
    board.power_cycle = "now"
    return True


def _lacking(plan: Plan, old: RunData, starts: int) -> Plan:
    """Returns what a run lacks of its plan: cases that weren't reached, have too few samples,
    failed, or found no TEE that they could use."""
    if starts > 1 or (old.header is not None and old.header.starts > 1):
        raise UsageMistake(
            "a run of several starts can't be resumed", hint="what it has stands: measure anew"
        )
    wanted = {lost.case for lost in old.missing}
    wanted |= {trouble.case for trouble in (*old.fails, *old.tee_refused)}
    keys = [key for key in plan.keys if any(stands_for(key, case) for case in wanted)]
    if not keys:
        raise UsageMistake(f"{old.file} lacks no case of {plan.name}", hint="nothing is to be done")
    cases = tuple(case for case in plan.cases if case.key in keys)
    return replace(
        plan, cases=cases, teehash=tuple(step for step in plan.teehash if step.key in keys)
    )


def _written(board: Board, plan: Plan) -> list[str]:
    """Returns a line for each thing that a run leaves or needs on the board."""
    tas = fmt.plural(len(install.built_tas(board)), "Trusted Application")
    lines = [
        f"writes, unless they are there: {', '.join(install.PROGRAMS)} into "
        f"{board.config.directory}, {tas} where tee-supplicant looks for them; "
        f"`teemark setup {board.name} --remove` takes them away"
    ]
    stored = sorted({case.work.workload for case in plan.cases} & {"storage", "file", "pkcs11"})
    if stored:
        lines.append(f"meanwhile: objects, files or tokens for {fmt.listed(stored)}")
    if plan.teehash:
        most = fmt.size(max(step.bytes for step in plan.teehash))
        lines.append(f"meanwhile: files to hash, the largest of {most}")
    lines.append("writes here: a new folder with run.ndjson, report.html and report.md")
    return lines


def _needs(name: str) -> int:
    virtual = isinstance(config.find(name).config, VirtualConfig)
    return side_by_side.PROCESS + side_by_side.GUEST * virtual


def _together(children: Sequence[Child], outs: Sequence[Path], *, as_json: bool) -> int:
    """Shows the runs of boards that were measured side by side; returns the exit status."""
    from teemark.report.sections.boards import data, figures, table

    about = subjects([reader.read(out) for out in outs if (out / RUN_FILE).exists()])
    if as_json:
        names = tuple(figures(about)) if about else ()
        common.put_json([data(subject, names=names) for subject in about])
    elif about:
        terminal.show(text_terminal(), [table(about)])
        click.echo("\n".join(_short(Path(subject.run.file)) for subject in about))
    failed = int(any(child.status for child in children))
    return 128 + shutdown.signalled() if shutdown.signalled() else failed


def _measure(
    board: Board, plan: Plan, out: Path | None, starts: Starts, built: Built | None, **how: Any
) -> Outcome:
    with contextlib.ExitStack() as stack:

        def boot() -> None:
            stack.close()  # ends the board of the boot before
            stack.enter_context(own_ta.ready_board(board, built))

        boot()
        if starts.kind == "boot":
            starts = replace(starts, again=boot)
        directory = directory_for(out, board.name, plan.name)
        with watching(plan, f"{plan.name} on {board.name}", starts) as watcher:
            try:
                outcome = runner.measure(board, plan, directory, watcher, starts, **how)
            except SystemExit:
                _kept(directory / RUN_FILE)
                raise
    if out is None and not shutdown.signalled():  # `latest` stays at the last run that was to end
        point_latest(directory)
    return outcome


def _kept(file: Path) -> None:
    if file.is_file():
        folder = _short(file.parent)
        rest = f", the same command with `--resume {folder}` and a new --out measures the rest"
        rest *= reader.ends(file)[0].starts == 1  # of several starts, each has to be whole
        say(
            f"teemark: the run was ended early: what was measured is kept in {folder}; `teemark "
            f"report {folder}` reports it{rest}"
        )


def _show(outcome: Outcome, run: RunData, *, as_json: bool) -> None:
    from teemark.report import run_page  # takes half a second
    from teemark.report.summary import show

    with working("making the report …"):
        report = run_page.make([run])
        html = run_page.write(report, outcome.file.parent)
    subject = report.subjects[0]
    if as_json:
        common.put_json(_summary(outcome, subject, html))
        return
    show(subject)
    click.echo(f"report: {_short(html)}\nraw:    {_short(outcome.file)}")


def _tell(outcome: Outcome, run: RunData, plan: Plan, board: Board) -> None:
    places = {case.key: case.place for case in plan.cases if case.place}
    for fail in run.fails:
        if fail.case in places:
            say(f"teemark: {places[fail.case]}: {fail.case}: {fail.reason}", fail.hint)
    for notice in notices(run):
        say(f"teemark: {notice.plain}")
    unsigned = sorted(board.tas.glob("**/*.stripped.elf"))
    if unsigned and any(skip.code == "ta-rejected" for skip in run.tee_refused):
        names = ", ".join(str(file.relative_to(board.tas)) for file in unsigned)
        say(f"for the vendor to sign, in {_short(board.tas)}: {names}")
    if run.incomplete:
        say(f"teemark: what was measured is kept in {_short(outcome.file.parent)}")
    if outcome.error is not None and outcome.error.hint:
        say(f"hint: {outcome.error.hint}")


def _ahead(board: Board, plan: Plan, starts: Starts, *, events: bool) -> tuple[str, Starts]:
    """Returns a sentence on the work ahead, to be said before anything is booted, and the starts
    with an estimate of the seconds that each start takes."""
    what = fmt.plural(len(plan.cases), "case")
    if plan.teehash:
        what += f" and {fmt.plural(len(plan.teehash), 'way')} to hash a file"
    if starts.count > 1:
        what += f", {starts.count} times"
    took = runner.took_before(paths.runs(), board.name, plan, starts.count, events=events)
    once = runner.seconds(plan, deterministic=board.deterministic, events=events)
    guess = took or starts.count * once
    how = ", as it took the last time" if took is not None else " of measuring, at a guess"
    text = f"{what}: {fmt.roughly_minutes(guess)}{how}"
    return text, replace(starts, guess_s=guess / starts.count)


def _check_starts(board: Board, boots: int | None, rounds: int | None, old: RunData | None) -> None:
    if old is not None and old.header is not None and board.name != old.header.board:
        why = f"{old.file} is of {old.header.board}, not of {board.name}"
        raise UsageMistake(why, hint="a run has one board: leave --board out")
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
    absolute, cwd = path.absolute(), Path.cwd()
    return str(absolute.relative_to(cwd) if absolute.is_relative_to(cwd) else absolute)


def _summary(outcome: Outcome, subject: Subject, html: Path) -> dict[str, object]:
    run = subject.run
    return {
        "run": str(outcome.file),
        "html": str(html),
        "markdown": str(html.with_suffix(".md")),
        "board": run.header.board if run.header else None,
        "plan": run.header.plan if run.header else None,
        "emulated": subject.run.emulated,
        "icount": subject.run.icount,
        "complete": run.incomplete is None,
        "incomplete": run.incomplete,
        "error": outcome.error.message if outcome.error else None,
        "measured": len(run.measured),
        "skipped": len(run.skips),
        "tee_refused": sorted({skip.reason for skip in run.tee_refused}),
        "not_measured": [
            {"case": case, "reason": reason} for case, reason in run.unmeasured.items()
        ],
        "failed": [common.picked(fail, "case", "reason") for fail in run.fails],
        "cases": [
            {
                "case": stats.key,
                "bytes": stats.bytes,
                "median": stats.time.median,
                **low_high(stats.time.interval),
                "unit": run.unit if stats.estimate.counted else "ns",
                "samples": stats.time.count,
                "bytes_per_second": stats.throughput,
            }
            for stats in subject.models.stats
        ],
        "lines": [
            common.picked(cost, "workload", "algorithm", "backend", "least_byte")
            | common.picked(cost.fit, "misfit", "fits")
            | {"call": cost.call.value, "byte": cost.slope.value, "unit": run.unit}
            for cost in subject.models.costs
        ],
        "answers": answers(subject),
        "findings": subject.findings,
    }
