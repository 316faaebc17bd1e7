# SPDX-License-Identifier: BSD-2-Clause
"""`teemark watch -- PROGRAM`: a program's calls into the TEE, on any board that has clocks."""

from collections.abc import Sequence
from pathlib import Path

import click

from teemark.base import paths
from teemark.base.console import terminal, working
from teemark.base.errors import UsageMistake
from teemark.cli import common
from teemark.cli.common import argument, option, subcommand
from teemark.cli.remote import reached
from teemark.exact.program import known_names
from teemark.measure import watching
from teemark.measure.watching import Ran
from teemark.page.terminal import show
from teemark.report import program_page
from teemark.run.writer import check_free, directory_for, point_latest
from teemark.trace.symbols import Elf, read_elf


@subcommand("watch", cls=common.WithProgram)
def command(
    *,
    board: str = common.board_option("qemu-v8", "Where the program is."),
    push: tuple[Path, ...] = common.push_option,
    names: tuple[Path, ...] = common.names_option,
    out: Path | None = common.out_option("runs/TIME-BOARD-watch"),
    pid: int | None = option(
        "--pid PID", "A process that runs already; less is known of it.", kind=click.IntRange(1)
    ),
    seconds: int = option(
        "--seconds N", "Watch it so long at most.", kind=click.IntRange(1), default=10**9
    ),
    cases: tuple[str, ...] = argument(nargs=-1, metavar="-- PROGRAM [ARG]..."),
) -> int:
    """Run a program on a board, as it is, and show its calls into the TEE: which TAs and commands,
    their time, the buffers they pass, who calls, and what to change.

    The program must be linked dynamically against libteec; the contents of its buffers are never
    recorded. Threads and processes that it starts are watched, too. Where the kernel's tracepoints
    can be used, the counts are compared with theirs, and the time within the TEE is separated from
    the time before and after it. Writes report.html.

    With --pid: watch a process by the kernel's tracepoints alone, until it ends, N seconds are
    over, or Ctrl-C: how many calls, their time in the secure world, their RPCs.

    Exit status: 0 fine; 1 if the program failed or can't be watched.
    """
    argv = click.get_current_context().meta["program"]
    if bool(argv) == bool(pid) or cases:
        what = f"{cases[0]} stands before --" if cases else "name a program or a process"
        raise UsageMistake(what, hint="teemark watch -- PROGRAM [ARG]…, or --pid PID")
    what = " ".join(argv) or f"process {pid}"
    if out is not None:
        check_free(out)
    with reached(board) as target:
        listed = known_names(target.kit, names)
        directory = directory_for(out, target.name, "watch")
        with working(f"watching {what} on {target.name} …"):
            if pid is not None:
                ran = watching.attach(target, pid, seconds, directory)
            else:
                pushed = tuple(path.absolute() for path in push)
                ran = watching.run(target, watching.Program(argv, pushed), directory)
    if out is None:
        point_latest(directory)
    title = f"{what} on {target.name}"
    places = [*(path.absolute().parent for path in push), paths.built_tas()]
    sections = program_page.sections(
        ran, listed, exact=target.deterministic, elfs=_ta_files(ran, places)
    )
    page = program_page.write(sections, what, target.name, directory)
    console = terminal(120)
    for section in sections:
        console.print(f"\n{title if section is sections[0] else section.title}", markup=False)
        show(console, section.blocks)
    click.echo(f"report: {page}")
    if ran.status:
        click.echo(f"{what} ended with status {ran.status}: {directory / 'output.txt'}")
    return 1 if ran.status else 0


def _ta_files(ran: Ran, places: Sequence[Path]) -> dict[str, Elf]:
    uuids = {uuid for death in ran.deaths for uuid, _ in death.stack if uuid}
    found = (
        (uuid, file) for uuid in uuids for place in places for file in place.rglob(f"{uuid}.elf")
    )
    return {uuid: read_elf(file) for uuid, file in found}
