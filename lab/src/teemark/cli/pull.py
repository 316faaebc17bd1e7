# SPDX-License-Identifier: BSD-2-Clause
"""teemark pull BOARD REMOTE LOCAL"""

from __future__ import annotations

from pathlib import Path

import click

from teemark.cli import complete


@click.command("pull")
@click.argument("board", shell_complete=complete.boards)
@click.argument("remote")
@click.argument("local", default=".", type=click.Path(path_type=Path))
def command(board: str, remote: str, local: Path) -> None:
    """Copy a file or folder from a board: teemark pull BOARD REMOTE [LOCAL]

    LOCAL is its new name, or a folder that is there (default: the current one). Of a folder
    come files, folders, and links that stay in it; what is left out is named.
    """
    from teemark.base.console import say, working
    from teemark.boards import open_board

    target = open_board(board)
    with working(f"copying from {target.name} …"), target:
        left_out = target.pull(remote, local)
    for item in left_out:
        say(f"left out {item}")
