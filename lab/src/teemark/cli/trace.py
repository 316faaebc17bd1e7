# SPDX-License-Identifier: BSD-2-Clause
"""`teemark trace`: one call, instruction by instruction."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from teemark.base.console import say, terminal
from teemark.base.errors import TeemarkError, UsageMistake
from teemark.boards import BoardFile, config
from teemark.broker import trace as message
from teemark.cli import common
from teemark.cli.common import argument, option, several, subcommand
from teemark.exact import boot, record
from teemark.exact import program as programs
from teemark.findings import inside_core
from teemark.measure.watching import Program
from teemark.model.compare import other_machines
from teemark.page import trace_table
from teemark.page.blocks import Block, Paragraph, Section
from teemark.page.terminal import show
from teemark.report import program_page, run_page
from teemark.report.sections.trace import calls
from teemark.run import reader
from teemark.run.writer import directory_for, point_latest
from teemark.trace import store
from teemark.trace.difference import other_cases
from teemark.trace.profile import Trace
from teemark.wording import fmt

_RENDER = {"folded": store.folded, "json": store.render}


@dataclass(frozen=True, slots=True)
class _Arguments:
    """The arguments of the command line: what to record, and what of it to show."""

    cases: tuple[str, ...] = argument("[CASE]... [-- PROGRAM [ARG]...]", nargs=-1)
    plan: str | None = option(
        "--plan NAME",
        "The plan's cases, or those of them that are named. [default with --ta: DIR/bench.toml]",
    )
    ta_path: Path | None = common.ta_option
    board: str = common.exact_board_option
    out: Path | None = common.out_option("runs/TIME-BOARD-trace")
    optee: str | None = common.optee_option
    patches: tuple[Path, ...] = common.patch_option
    options: tuple[str, ...] = several(
        "--optee-option NAME=VALUE",
        "An option of OP-TEE's build from source: CFG_CRYPTO_WITH_CE=y.",
    )
    samples: int = option(
        "--samples N",
        "Calls of each case to record; the one in the middle is shown.",
        kind=click.IntRange(1, 100),
        default=3,
    )
    beginning: bool = option(
        "--beginning", "If a call is too long to record, show its first 192 Mi blocks."
    )
    push: tuple[Path, ...] = common.push_option
    names: tuple[Path, ...] = common.names_option
    every: int = option(
        "--every N",
        "Of each kind of a program's calls, trace the first two, the dearest, and each N-th.",
        kind=click.IntRange(0),
        default=0,
    )
    source: Path | None = option(
        "--read RUN", "Record nothing: show the trace of RUN again, or of its CASEs."
    )
    against: Path | None = option("--against RUN", "Compare with that run's trace.")
    output: str | None = option(
        "--format WHICH", "Print it for another tool.", kind=click.Choice(list(_RENDER))
    )
    function: str | None = option(
        "--function NAME",
        "Show who calls this function and what it calls, instead of all functions.",
    )
    booting: bool = option(
        "--boot", "Trace OP-TEE's boot instead, from power-on to the normal world."
    )

    def board_file(self) -> BoardFile:
        file = config.find(self.board)
        return record.with_optee(file, self.optee, self.options, self.patches)


@subcommand("trace", fields_of=_Arguments, cls=common.WithProgram)
def command(**words: Any) -> int:
    """Record every instruction of one call of each CASE, from the program through kernel, TF-A and
    OP-TEE into the TA and back, and say where they went.

    A CASE is a key such as invoke/none/tee/none or oneshot/sha256/tee/4096; broker/cpu-1/tee/64 is
    a message of MQTT-TZ, from publisher to subscriber. The board must be one that counts
    instructions. Writes a run like any other, with trace.json beside it and a flame graph in its
    report.

    With -- PROGRAM: run that program on the board, as it is, and do the same with its own calls
    into the TEE. It must be linked dynamically against libteec, and not be setuid.

    Exit status: 0 fine; 1 if a case failed or can't be traced.
    """
    args = _Arguments(**words)
    source, against = args.source, args.against
    program = click.get_current_context().meta["program"]
    if args.booting:
        if program or args.cases or args.plan or args.ta_path or source or against:
            raise UsageMistake("a boot is traced by itself: name the board and its OP-TEE alone")
        if args.output not in (None, "json"):
            raise UsageMistake(f"--format {args.output}: a boot has text and json")
        return _boot(args)
    if program:
        if args.cases or args.plan or args.ta_path or source or against:
            raise UsageMistake(
                "a program is traced by itself: not with a CASE, --plan, --ta, --read or --against"
            )
        return _program(args, program)
    before = store.read(against) if against is not None else None
    if source is not None:
        if args.plan is not None:
            raise UsageMistake("--read shows a trace that is there: leave --plan out")
        trace, status = _only(store.read(source), args.cases), 0
        folder = source if source.is_dir() else source.parent
        _report(folder, before)
    else:
        trace, folder, status = _record(args, before)
    if args.output is not None:
        click.echo(_RENDER[args.output](trace), nl=False)
        return status
    _show(trace, before, args.function)
    if before is not None and against is not None:
        _say_what_else_differs(against, before, folder, trace)
    elif (folder / reader.RUN_FILE).is_file():
        for sentence in inside_core.confirmed(reader.read(folder), trace):
            click.echo(sentence)
    click.echo(f"report: {folder / 'report.html'}")
    return status


TOP = 12  # Functions that a table on a terminal lists


def _show(trace: Trace, against: Trace | None, function: str | None) -> None:
    """Shows the calls; of more than three only the dearest. With `against` it shows the differences
    instead, with `function` the callers and callees of that function."""
    blocks: list[Block] = [trace_table.overview(trace)] if len(trace.cases) > 1 else []
    befores = {case.case: case for case in against.cases} if against is not None else {}
    if function is not None:
        blocks += [
            block for case in trace.cases for block in trace_table.neighbours(case, function, TOP)
        ]
    elif pairs := [(befores[case.case], case) for case in trace.cases if case.case in befores]:
        for before, case in pairs:
            blocks.append(Paragraph((f"{case.case}: {trace_table.moved(before, case)}",)))
            blocks.append(trace_table.differences(before, case, TOP))
    else:
        ranked = sorted(trace.cases, key=lambda case: -case.instructions)
        few = trace.cases if len(ranked) <= 3 else tuple(ranked[:1])
        blocks += calls(replace(trace, cases=few), None, TOP)
    show(terminal(120), blocks)


def _say_what_else_differs(against: Path, before: Trace, folder: Path, trace: Trace) -> None:
    """Says on stdout what else differs besides the code: cases, builds, flags or settings, so that
    nobody takes their effect for that of the code."""
    for sentence in other_cases(before, trace):
        click.echo(sentence)
    try:
        runs = [reader.read(path) for path in (against, folder)]
    except TeemarkError:  # a trace without its run
        return
    if machines := other_machines(*runs):
        click.echo(f"Not only the code may differ: {'; '.join(machines)}.")


def _boot(args: _Arguments) -> int:
    measured = boot.measure(args.board_file())
    if args.output == "json":
        common.put_json(boot.data(measured))
    else:
        show(terminal(120), boot.blocks(measured))
    return 0


def _program(args: _Arguments, argv: tuple[str, ...]) -> int:
    file = args.board_file()
    directory = directory_for(args.out, file.name, "program")
    program = Program(argv, tuple(path.absolute() for path in args.push))
    traced = programs.record(file, program, directory, args.names, args.every)
    if args.out is None:
        point_latest(directory)
    programs.say_unread(traced)
    sections = program_page.sections(traced.ran, traced.names, exact=True)
    sections += program_page.traced(traced.trace, tuple(programs.subtests(traced.ran)))
    page = program_page.write(sections, " ".join(argv), file.name, directory, traced.trace.optee)
    if args.output is not None:
        click.echo(_RENDER[args.output](traced.trace), nl=False)
    else:
        console = terminal(120)
        for section in sections:
            if section.key in ("answer", "calls", "advice", "subtests"):
                show(console, section.blocks)
        _show(traced.trace, None, args.function)
        click.echo(f"report: {page}")
    status = traced.ran.status
    if status:
        click.echo(f"{argv[0]} ended with status {fmt.count(status)}: {directory / 'output.txt'}")
    return 1 if status else 0


def _only(trace: Trace, keys: Sequence[str]) -> Trace:
    """Returns the trace with the named cases only, or with all cases if none is named. A step of
    teehash stands for its parts."""
    for key in keys:
        if not any(f"{case.case}/".startswith(f"{key}/") for case in trace.cases):
            raise UsageMistake(
                f"the trace has no {key}",
                hint="there are: " + ", ".join(case.case for case in trace.cases),
            )
    wanted = tuple(f"{key}/" for key in keys) or ("",)
    cases = tuple(case for case in trace.cases if f"{case.case}/".startswith(wanted))
    return replace(trace, cases=cases)


def _report(directory: Path, against: Trace | None) -> None:
    if (directory / reader.RUN_FILE).is_file():
        report = run_page.make([reader.read(directory)], [store.find(directory)], against)
        run_page.write(report, directory)


def _message(args: _Arguments, trace: Trace, directory: Path) -> None:
    sections = [Section("parts", "Who takes what", (message.parts(trace.cases[0]),))]
    if args.output is None:
        show(terminal(120), sections[0].blocks)
    sections += program_page.traced(trace, ())
    program_page.write(sections, trace.cases[0].case, args.board, directory, trace.optee)


def _record(args: _Arguments, against: Trace | None) -> tuple[Trace, Path, int]:
    keys = list(args.cases)
    ta_calls = record.TaCalls()
    if args.plan is not None or args.ta_path is not None:
        ta_calls = record.TaCalls(*common.load(args.ta_path, args.plan))
        if not keys or (args.plan is not None and ta_calls.plan.ta is None):
            keys += ta_calls.plan.keys
    if not keys:
        raise UsageMistake(
            "no case to trace", hint="name one, such as invoke/none/tee/none, or a --plan"
        )
    file = args.board_file()
    directory = directory_for(args.out, file.name, "trace")
    if keys[0].startswith("broker/"):
        if len(keys) > 1:
            raise UsageMistake("a message of the broker is traced by itself: name one case")
        trace = message.record(file, keys[0], directory)
        _message(args, trace, directory)
        return trace, directory, 0
    try:
        traced = record.record(
            file, keys, directory, args.samples, ta_calls, beginning=args.beginning
        )
    finally:
        if args.out is None and any(directory.iterdir()):
            point_latest(directory)
        _report(directory, against)
    for kind, troubles in (("can't run here", traced.run.skips), ("failed", traced.run.fails)):
        for trouble in troubles:
            say(f"teemark: {trouble.case} {kind}: {trouble.reason}")
    return traced.trace, directory, 1 if traced.run.fails or traced.run.skips else 0
