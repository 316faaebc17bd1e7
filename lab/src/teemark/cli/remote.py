# SPDX-License-Identifier: BSD-2-Clause
"""Commands that reach a board by hand: up, down, exec, shell, push, pull."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from teemark import boards
from teemark.base.console import say, working
from teemark.base.errors import UsageMistake
from teemark.boards import own_ta
from teemark.boards.command_lines import BoardPath
from teemark.boards.virtual import take_down
from teemark.cli.common import PATH, argument, board_argument, subcommand


def reached(name: str) -> contextlib.AbstractContextManager[boards.Board]:
    """Connects to the board, and installs our programs if it is a virtual one."""
    target = boards.open_board(name)
    return own_ta.ready_board(target, install=isinstance(target.config, boards.VirtualConfig))


def _virtual(board: str, why_not: str, hint: str | None = None) -> boards.BoardFile:
    file = boards.config.find(board)
    if not isinstance(file.config, boards.VirtualConfig):
        raise UsageMistake(f"{file.name} is no virtual board: {why_not}", hint=hint)
    return file


@subcommand("up")
def up(board: str = board_argument) -> None:
    """Boot a virtual board and keep it up until `teemark down`.

    Every command that names the board then uses it, without a boot.
    """
    hint = f"try: teemark exec {board} -- true"
    file = _virtual(board, "it is up when it is switched on", hint)
    with boards.instances.lock(file.name):
        target = boards.VirtualBoard(file, keep=True)
        with working(f"booting {file.name} …") as tell, target:
            boards.ensure_installed(target, tell=tell)
    where = f"127.0.0.1:{target.endpoint.port}"
    if target.boot_seconds is None:
        say(f"{file.name} was up already, at {where}")
    else:
        say(f"{file.name} is up at {where} after {target.boot_seconds:.1f} s")
    say(f"consoles: {' and '.join(map(str, target.consoles()))}")


@subcommand("down")
def down(board: str = board_argument) -> None:
    """Stop a virtual board that `teemark up` keeps up; its data disk is gone then.

    It is no error if the board isn't up.
    """
    name = _virtual(board, "teemark can't switch it off").name
    say(f"{name} is down" if take_down(name) else f"{name} wasn't up")


@contextlib.contextmanager
def _own_blocking_mode() -> Iterator[None]:
    """Restores the streams' blocking mode: ssh changes it, and other programs may share them."""
    before: dict[int, bool] = {}
    for fd in (0, 1, 2):
        with contextlib.suppress(OSError):
            before[fd] = os.get_blocking(fd)
    try:
        yield
    finally:
        for fd, blocking in before.items():
            with contextlib.suppress(OSError):
                os.set_blocking(fd, blocking)


@subcommand("exec", context_settings={"allow_interspersed_args": False})
def execute(
    board: str = board_argument,
    cmd: tuple[str, ...] = argument(nargs=-1, required=True, type=click.UNPROCESSED),
) -> int:
    """Run a command on a board: teemark exec BOARD -- CMD…

    Stdin, stdout and stderr pass through. The exit status is the command's, or 128+n if signal n
    killed it. Ctrl-C reaches the command, which has some seconds to end; then, or at a second
    Ctrl-C, it is killed, and teemark ends whether the board answers or not.

    CMD is a program and its arguments, not a shell line; for that: teemark exec BOARD -- sh -c
    'LINE'.

    A virtual board that isn't up is booted, and ended afterwards. On a virtual board teebench,
    teehash and the Trusted Applications are installed first; on others, `teemark setup` does it.
    """
    argv = cmd[1:] if cmd[0] == "--" else cmd
    if not argv:
        raise click.UsageError("there is no command after --")
    with reached(board) as target, _own_blocking_mode():
        return target.exec(argv, stdin=None)


@subcommand("shell")
def shell(board: str = board_argument) -> int:
    """Open a shell on a board, with teebench and teehash in its PATH.

    A virtual board that isn't up is booted, and ended with the shell.
    """
    if not sys.stdin.isatty():
        raise UsageMistake(
            "a shell needs a terminal",
            hint=f"to feed commands from a file: teemark exec {board} -- sh <FILE",
        )
    with reached(board) as target:
        return target.exec(["sh", "-c", 'exec "${SHELL:-/bin/sh}" -i'], stdin=None, terminal=True)


@subcommand("push")
def push(
    board: str = board_argument,
    local: tuple[Path, ...] = argument(
        nargs=-1, required=True, type=click.Path(exists=True, path_type=Path)
    ),
    remote: str = argument(),
) -> None:
    """Copy files to a board: teemark push BOARD LOCAL… REMOTE

    REMOTE is a file's new name, or a folder that is there; ~/ is the home directory on the
    board. Each file is written beside its place, checked by digest, then renamed.

    What is pushed to a virtual board lasts while it is up: see `teemark up`.
    """
    target = boards.open_board(board)
    with working(f"copying to {target.name} …"), target:
        folder = len(local) > 1 or remote.endswith("/")
        if folder and target.script('[ -d "$1" ]', BoardPath(remote), check=False).status:
            raise UsageMistake(
                f"{target.name}: {remote} is no folder",
                hint=f"make it first: teemark exec {board} -- mkdir -p {remote}",
            )
        for path in local:
            target.push(path, remote)


@subcommand("pull")
def pull(
    board: str = board_argument,
    remote: str = argument(),
    local: Path = argument(default=".", type=PATH),
) -> None:
    """Copy a file from a board: teemark pull BOARD REMOTE [LOCAL]

    LOCAL is its new name, or a folder that is there (default: the current one). A folder comes as
    an archive: teemark exec BOARD -- tar -cC FOLDER . >FILE
    """
    target = boards.open_board(board)
    with working(f"copying from {target.name} …"), target:
        target.pull(remote, local)
