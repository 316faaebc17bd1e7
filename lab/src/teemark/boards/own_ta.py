# SPDX-License-Identifier: BSD-2-Clause
"""A Trusted Application of the user's: built with a board's kit, and put on the board for as long
as it is measured.

It is a folder as in optee_examples, whose `ta/` has the Makefile; or that folder `ta` itself; or
the signed file, UUID.ta.
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
    """A TA of the user's that is built, as it is put on the board."""

    name: str
    file: Path
    elf: Path | None
    """With its symbols."""


@dataclass(frozen=True, slots=True)
class OwnTa:
    """A TA as the user named it."""

    path: Path

    @property
    def folder(self) -> Path:
        """Returns the TA's folder: its own, or the one that its file is in."""
        return self.path.absolute().parent if self.path.is_file() else self.path.absolute()

    @property
    def name(self) -> str:
        """Returns the name of the TA's folder."""
        return self.folder.parent.name if self.folder.name == "ta" else self.folder.name

    @property
    def makefile(self) -> Path | None:
        for folder in (self.folder / "ta", self.folder):
            if self.path.is_dir() and (folder / "Makefile").is_file():
                return folder / "Makefile"
        return None


def find(path: Path) -> OwnTa:
    """Returns the TA at that path; raises UsageMistake if there is none."""
    ta = OwnTa(path)
    if not path.exists():
        raise UsageMistake(f"{path} doesn't exist", hint=f"`teemark new-ta {path}` makes one")
    if path.is_file() and path.suffix != ".ta":
        raise UsageMistake(
            f"{path} is no Trusted Application", hint="name its folder, or the signed UUID.ta"
        )
    if path.is_dir() and ta.makefile is None:
        raise UsageMistake(
            f"{path} has no ta/Makefile",
            hint="name a folder in the form of optee_examples; `teemark new-ta NAME` makes one",
        )
    return ta


def build_for(ta: OwnTa | None, uuid: str | None, board: Board) -> Built | None:
    """Builds the TA with the board's kit, before the board is reached; returns None if there is no
    TA. `uuid` is the UUID by which a plan calls it."""
    if ta is None:
        return None
    found = [ta.path.absolute()] if ta.makefile is None else board.kit.build(ta.makefile.parent)
    mine = [file for file in found if file.stem.lower() == uuid]
    if not mine:
        what = " and ".join(file.stem for file in found)
        raise ConfigError(
            f"the plan's TA is {uuid}, but {ta.path} gives {what}",
            hint="the uuid in [ta] of bench.toml must be that of ta/Makefile's BINARY",
        )
    elf = mine[0].with_suffix(".elf")
    return Built(ta.name, mine[0], elf if elf.is_file() else None)


@contextmanager
def ready_board(
    board: Board, built: Built | None = None, *, install: bool = True
) -> Iterator[Board]:
    """Reaches a board for the block; with `install` it has our programs and TAs, and the TA that
    was built."""
    with ExitStack() as stack:
        with working(f"reaching {board.name} …"):
            stack.enter_context(board)
        if install:
            with working(f"looking at {board.name} …") as tell:
                ensure_installed(board, tell=tell)
                stack.enter_context(guest(board, built.file if built else None, tell=tell))
        yield board
