# SPDX-License-Identifier: BSD-2-Clause
"""teemark exec BOARD -- CMD…"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import click

from teemark.cli import complete
from teemark.cli.common import reached


@contextlib.contextmanager
def _own_blocking_mode() -> Iterator[None]:
    """ssh makes the streams it is given non-blocking; they may be shared with others."""
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


@click.command(
    "exec",
    context_settings={"allow_interspersed_args": False},
)
@click.argument("board", shell_complete=complete.boards)
@click.argument("cmd", nargs=-1, required=True, type=click.UNPROCESSED)
def command(board: str, cmd: tuple[str, ...]) -> int:
    """Run a command on a board: teemark exec BOARD -- CMD…

    Stdin, stdout and stderr pass through. The exit status is the command's, or 128+n if signal n
    killed it. Ctrl-C reaches the command, which has some seconds to end; pressed again, or after
    that, it is killed, and teemark ends whether the board answers or not.

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
