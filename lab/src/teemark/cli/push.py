# SPDX-License-Identifier: BSD-2-Clause
"""teemark push BOARD LOCAL… REMOTE"""

from __future__ import annotations

from pathlib import Path

import click

from teemark.cli import complete


@click.command("push")
@click.argument("board", shell_complete=complete.boards)
@click.argument("local", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.argument("remote")
def command(board: str, local: tuple[Path, ...], remote: str) -> None:
    """Copy files or folders to a board: teemark push BOARD LOCAL… REMOTE

    REMOTE is a file's new name, or a folder that is there; ~/ is the home directory on the
    board. Each file is written beside its place, checked by digest, then renamed.

    What is pushed to a virtual board lasts while it is up: see `teemark up`.
    """
    from teemark.base.console import working
    from teemark.base.errors import UsageMistake
    from teemark.boards import open_board
    from teemark.boards.command_lines import EXISTS_FOLDER

    target = open_board(board)
    with working(f"copying to {target.name} …"), target:
        several = len(local) > 1 or remote.endswith("/")
        if several and target.script(EXISTS_FOLDER, remote, check=False).status != 0:
            raise UsageMistake(
                f"{target.name}: {remote} is no folder",
                hint=f"make it first: teemark exec {board} -- mkdir -p {remote}",
            )
        for path in local:
            target.push(path, remote)
