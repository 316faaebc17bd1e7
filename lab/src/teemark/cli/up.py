# SPDX-License-Identifier: BSD-2-Clause
"""teemark up BOARD"""

from __future__ import annotations

import click

from teemark.cli import complete


@click.command("up")
@click.argument("board", shell_complete=complete.boards)
def command(board: str) -> None:
    """Boot a virtual board and keep it up until `teemark down`.

    Every command that names the board then uses it, without a boot.
    """
    from teemark.base.console import say, working
    from teemark.base.errors import UsageMistake
    from teemark.boards import VirtualBoard, VirtualConfig, config, ensure_installed, instances

    file = config.find(board)
    if not isinstance(file.config, VirtualConfig):
        raise UsageMistake(
            f"{file.name} is no virtual board: it is up when it is switched on",
            hint=f"try: teemark exec {board} -- true",
        )
    with instances.lock(file.name):
        target = VirtualBoard(file, keep=True)
        with working(f"booting {file.name} …") as tell, target:
            ensure_installed(target, tell=tell)
        where = f"127.0.0.1:{target.endpoint.port}"
        if target.boot_seconds is None:
            say(f"{file.name} was up already, at {where}")
        else:
            say(f"{file.name} is up at {where} after {target.boot_seconds:.1f} s")
        say(f"consoles: {' and '.join(map(str, target.consoles()))}")
