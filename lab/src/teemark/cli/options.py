# SPDX-License-Identifier: BSD-2-Clause
"""Options that several subcommands have, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from teemark.cli import complete

if TYPE_CHECKING:
    from rich.console import Console

output_option = click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to this file instead of stdout.",
)

exact_board_option = click.option(
    "--board",
    metavar="NAME",
    default="qemu-v8-icount",
    show_default=True,
    shell_complete=complete.boards,
    help="One that counts instructions.",
)


class WithProgram(click.Command):
    """A command whose words behind `--` are a program and its arguments: `program(context)`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = args.index("--") if "--" in args else len(args)
        ctx.meta["program"] = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])


optee_option = click.option(
    "--optee",
    metavar="WHICH",
    help="debian, source, OP-TEE's source tree, or the folder of a build. [default: the board's]",
)
patch_option = click.option(
    "--patch",
    "patches",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    multiple=True,
    help="Build OP-TEE's source with this patch. May be repeated.",
)


def program_options(command: Any) -> Any:
    """--push and --names."""
    command = click.option(
        "--names",
        "names",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        multiple=True,
        help="A TA's header, or a names.toml: names of TAs and commands. May be repeated.",
    )(command)
    return click.option(
        "--push",
        "push",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        multiple=True,
        help="A program, a library or a TA that is on the board meanwhile. May be repeated.",
    )(command)


def out_option(default: str) -> Callable[[Any], Any]:
    """-o and --out, of a command that makes a folder of its own."""
    return click.option(
        "-o",
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        help=f"Folder of the run. [default: {default}]",
    )


def form_options(*more: str) -> Callable[[Any], Any]:
    """-f, --json and -o: the parameters `form` and `output`."""

    def add(command: Any) -> Any:
        choice = click.Choice(("text", "json", *more))
        command = output_option(command)
        command = click.option("--json", "form", flag_value="json", help="As --format json.")(
            command
        )
        return click.option("-f", "--format", "form", type=choice, default="text")(command)

    return add


def put(text: str, output: Path | None) -> None:
    """Into the file, whole or not at all; to stdout without one."""
    from teemark.base.files import write_whole

    if output is not None:
        write_whole(output, text)
    else:
        click.echo(text, nl=False)


def shown(show: Callable[[Console], None], *, plain: bool) -> str:
    """What is printed to a terminal; `plain` for a file."""
    from teemark.base.console import terminal

    console = terminal(plain=plain)
    with console.capture() as said:
        show(console)
    return said.get()
