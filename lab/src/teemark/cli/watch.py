# SPDX-License-Identifier: BSD-2-Clause
"""`teemark watch -- PROGRAM`: what a program calls in the TEE, on any board with clocks."""

from pathlib import Path

import click

from teemark.base.console import terminal, working
from teemark.base.errors import UsageMistake
from teemark.base.files import write_whole
from teemark.cli.common import WithProgram, board_option, out_option, program_options
from teemark.cli.reach import reached
from teemark.exact.program import known_names
from teemark.measure import watching
from teemark.page.terminal import show
from teemark.report import program_page
from teemark.run.writer import check_free, directory_for, point_latest


@click.command("watch", cls=WithProgram)
@board_option("qemu-v8", "Where the program is.")
@program_options
@out_option("runs/TIME-BOARD-watch")
@click.argument("cases", nargs=-1, metavar="-- PROGRAM [ARG]...")
def command(
    board: str,
    push: tuple[Path, ...],
    names: tuple[Path, ...],
    out: Path | None,
    cases: tuple[str, ...],
) -> int:
    """Run a program on a board, as it is, and show its calls into the TEE: which TAs and commands,
    what they take, what crosses, who calls, and what to change.

    The program must be linked dynamically against libteec; what is in its
    buffers is never recorded. Threads and processes that it starts are watched, too. Where the
    kernel's tracepoints can be used, the counts are held against theirs, and the time within the
    TEE is told from that before and behind it. Writes report.html, and timeline.json for Perfetto
    (ui.perfetto.dev) or chrome://tracing.

    Exit status: 0 fine; 1 if the program failed or can't be watched; 2 for a mistake on the command
    line.
    """
    argv = click.get_current_context().meta["program"]
    if not argv or cases:
        raise UsageMistake("there is no program", hint="teemark watch -- PROGRAM [ARG]…")
    if out is not None:
        check_free(out)
    with reached(board) as target:
        listed = known_names(target.kit, names)
        directory = directory_for(out, target.name, "watch")
        program = watching.Program(argv, tuple(path.absolute() for path in push))
        with working(f"running {argv[0]} on {target.name} …"):
            ran = watching.run(target, program, directory)
        exact = target.deterministic
    if out is None:
        point_latest(directory)
    title = f"{' '.join(argv)} on {target.name}"
    made = program_page.sections(ran, listed, exact=exact, title=title)
    write_whole(directory / program_page.TIMELINE, program_page.timeline(ran, listed))
    page = program_page.write(made, title, "", directory)
    console = terminal(120)
    for section in made:
        console.print(f"\n{section.title}", markup=False)
        show(console, section.blocks)
    click.echo(f"report: {page}")
    if ran.status:
        click.echo(f"{argv[0]} ended with status {ran.status}: {directory / 'output.txt'}")
    return 1 if ran.status else 0
