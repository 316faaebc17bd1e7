# SPDX-License-Identifier: BSD-2-Clause
"""teemark shell BOARD"""

from __future__ import annotations

import sys

import click

from teemark.cli import complete
from teemark.cli.common import reached


@click.command("shell")
@click.argument("board", shell_complete=complete.boards)
def command(board: str) -> int:
    """Open a shell on a board, with teebench and teehash in its PATH.

    A virtual board that isn't up is booted, and ended with the shell.
    """
    from teemark.base.errors import UsageMistake

    if not sys.stdin.isatty():
        raise UsageMistake(
            "a shell needs a terminal",
            hint=f"to feed commands from a file: teemark exec {board} -- sh <FILE",
        )
    with reached(board) as target:
        return target.exec(["sh", "-c", 'exec "${SHELL:-/bin/sh}" -i'], stdin=None, terminal=True)
