# SPDX-License-Identifier: BSD-2-Clause
"""The user's own Trusted Application: built with a board's kit, and installed on the board only
while it is measured.

The user names a folder as in optee_examples, whose `ta/` has the Makefile; or that folder `ta`
itself; or the signed file, UUID.ta.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from teemark.base.console import working
from teemark.base.errors import ConfigError, UsageMistake
from teemark.boards.board import Board
from teemark.boards.install import ensure_installed, guest


@dataclass(frozen=True, slots=True)
class Built:
    """A built TA of the user's, as it is installed on the board."""

    name: str
    file: Path
    elf: Path | None
    """The TA's file with symbols, if the build left it."""


@dataclass(frozen=True, slots=True)
class OwnTa:
    """A TA as the user named it: by its signed file, or by the folder that has its Makefile."""

    name: str
    """The name of the TA's folder."""
    source: Path


def find(path: Path) -> OwnTa:
    """Returns the TA at a path; raises UsageMistake if there is none."""
    if not path.exists():
        raise UsageMistake(f"{path} doesn't exist", hint=f"`teemark new-ta {path}` makes one")
    place = path.absolute()
    folder = place if path.is_dir() else place.parent
    name = folder.parent.name if folder.name == "ta" else folder.name
    if path.is_dir():
        for source in (folder / "ta", folder):
            if (source / "Makefile").is_file():
                return OwnTa(name, source)
        raise UsageMistake(
            f"{path} has no ta/Makefile",
            hint="name a folder in the form of optee_examples; `teemark new-ta NAME` makes one",
        )
    if path.suffix != ".ta":
        raise UsageMistake(
            f"{path} is no Trusted Application", hint="name its folder, or the signed UUID.ta"
        )
    return OwnTa(name, place)


def build_for(ta: OwnTa | None, uuid: str | None, board: Board) -> Built | None:
    """Builds the TA with the board's kit, without reaching the board; returns None if `ta` is None.
    Raises ConfigError unless a built TA has the plan's `uuid`."""
    if ta is None:
        return None
    files = board.kit.build(ta.source) if ta.source.is_dir() else [ta.source]
    file = next((file for file in files if file.stem.lower() == uuid), None)
    if file is None:
        what = " and ".join(file.stem for file in files)
        raise ConfigError(
            f"the plan's TA is {uuid}, but {ta.source} gives {what}",
            hint="the uuid in [ta] of bench.toml must be that of ta/Makefile's BINARY",
        )
    elf = file.with_suffix(".elf")
    return Built(ta.name, file, elf if elf.is_file() else None)


@contextmanager
def ready_board(
    board: Board, built: Built | None = None, *, install: bool = True
) -> Iterator[Board]:
    """Connects to a board for the block. `install` puts our programs, our TAs and `built` on it."""
    with ExitStack() as stack:
        with working(f"reaching {board.name} …"):
            stack.enter_context(board)
        if install:
            with working(f"looking at {board.name} …") as tell:
                ensure_installed(board, tell=tell)
                stack.enter_context(guest(board, built.file if built else None, tell=tell))
        yield board
