# SPDX-License-Identifier: BSD-2-Clause
"""teemark down BOARD"""

from __future__ import annotations

import click

from teemark.cli import complete


@click.command("down")
@click.argument("board", shell_complete=complete.boards)
def command(board: str) -> None:
    """Stop a virtual board that `teemark up` keeps up; its data disk is gone then.

    It is no error if the board isn't up.
    """
    from teemark.base.console import say
    from teemark.base.errors import UsageMistake
    from teemark.boards import config
    from teemark.boards.virtual import take_down

    file = config.find(board)
    if not isinstance(file.config, config.VirtualConfig):
        raise UsageMistake(f"{file.name} is no virtual board: teemark can't switch it off")
    say(f"{file.name} is down" if take_down(file.name) else f"{file.name} wasn't up")
