# SPDX-License-Identifier: BSD-2-Clause
"""Boards: the connection to a machine, and everything that is done over it.

`open_board` takes a name or a board file's path and returns a `Board` for a `with` block. A virtual
board is booted at the beginning of the block and ended after it.
"""

from collections.abc import Sequence
from pathlib import Path

from teemark.boards import config
from teemark.boards.board import Board
from teemark.boards.config import BoardFile, SshConfig, VirtualConfig
from teemark.boards.endpoint import Endpoint
from teemark.boards.install import ensure_installed
from teemark.boards.labgrid import LabgridBoard, places
from teemark.boards.virtual import VirtualBoard

__all__ = [
    "Board",
    "BoardFile",
    "LabgridBoard",
    "SshConfig",
    "VirtualBoard",
    "VirtualConfig",
    "ensure_installed",
    "make_board",
    "named",
    "open_board",
]


def make_board(file: BoardFile) -> Board:
    """Returns the board that a board file describes, for a `with` block."""
    if isinstance(file.config, VirtualConfig):
        return VirtualBoard(file)
    ssh = file.config
    identity = Path(ssh.identity).expanduser() if ssh.identity else None
    endpoint = Endpoint(
        *(ssh.address, ssh.user, ssh.port, identity),
        connect_timeout=ssh.connect_timeout,
        options=ssh.options,
    )
    in_farm = ssh.address.startswith(config.LABGRID)
    return LabgridBoard(file, endpoint) if in_farm else Board(file, endpoint)


def named(words: Sequence[str]) -> list[str]:
    """Returns the boards' names; `labgrid:PATTERN` stands for all places that match the pattern."""
    names: list[str] = []
    for word in words:
        place = word.removeprefix(config.LABGRID)
        like = places(place) if place != word else ()
        names += [f"{config.LABGRID}{name}" for name in like] or [word]
    return names


def open_board(word: str) -> Board:
    """Returns the board that a word on the command line names, for a `with` block."""
    return make_board(config.find(word))
