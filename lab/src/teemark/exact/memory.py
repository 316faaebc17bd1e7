# SPDX-License-Identifier: BSD-2-Clause
"""The memory that Trusted Applications take: by the TEE's own statistics on any board and, on one
that counts instructions, by each access to memory."""

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from teemark.base import paths
from teemark.base.console import working
from teemark.base.errors import DataError
from teemark.boards import Board, BoardFile, VirtualBoard, make_board, own_ta
from teemark.boards.config import VirtualConfig
from teemark.boards.own_ta import Built
from teemark.boards.ta_kit import Kit
from teemark.exact import program as programs
from teemark.exact.analyse import signed_ta, sources
from teemark.exact.record import Own, recording
from teemark.measure import memory as outside
from teemark.measure import watching
from teemark.measure.memory import Taken
from teemark.measure.watching import Program, Ran
from teemark.plan.file import CaseLine
from teemark.trace import memory as accesses
from teemark.trace.memory import TaMemory

PKCS11 = "fd02c9da-306c-48c7-a49c-bbd827ae86ee"


@dataclass(frozen=True, slots=True)
class Measured:
    board: str
    cases: tuple[Taken, ...]
    sessions: tuple[Taken, ...]
    tas: tuple[TaMemory, ...] | None  # None: not a board that counts instructions
    framework: int  # bytes that OP-TEE's framework adds to TA_STACK_SIZE

    @property
    def failed(self) -> bool:
        return any(taken.failure for taken in (*self.cases, *self.sessions))


def measure(file: BoardFile, cases: Sequence[CaseLine], uuids: Sequence[str], own: Own) -> Measured:
    """Runs the cases, and fills the TEE with sessions of each TA. `own` is the user's own TA."""
    with _opened(file) as (board, folder):
        built = own_ta.build_for(own.ta, own.plan.ta, board)
        with own_ta.ready_board(board, built):
            with working(f"looking at the TEE's memory on {board.name} …"):
                taken = outside.of_cases(board, cases) if cases else []
                seen = _inside(board, folder, built) if taken and folder else None
            with working(f"filling {board.name} with sessions …"):
                sessions = outside.of_sessions(board, uuids)
        return Measured(board.name, tuple(taken), tuple(sessions), seen, framework(board.kit))


def of_program(file: BoardFile, program: Program, directory: Path) -> tuple[Measured, Ran]:
    """Runs the user's program; returns the memory that it takes, and its calls."""
    with _opened(file) as (board, folder), own_ta.ready_board(board):
        with working(f"running {program.argv[0]} on {board.name} …"):
            ran = watching.run(board, program, directory)
        taken = Taken(program.argv[0], ran.memory)
        measured = Measured(board.name, (taken,), (), None, framework(board.kit))
        if folder is not None and isinstance(board, VirtualBoard) and taken.pools:
            kernel = board.capture(["cat", "/proc/kallsyms"]).text
            known = programs.sources_of(sources(board.optee, kernel), ran, program, folder)
            measured = replace(measured, tas=accesses.read(folder / "memory", known))
        return measured, ran


def _counts(file: BoardFile) -> bool:
    return isinstance(file.config, VirtualConfig) and file.config.icount


def _opened(file: BoardFile) -> AbstractContextManager[tuple[Board, Path | None]]:
    """Returns a board; one that counts records accesses to memory, into a folder."""
    return recording(file, "memory=on") if _counts(file) else nullcontext((make_board(file), None))


def _inside(board: Board, folder: Path, built: Built | None) -> tuple[TaMemory, ...]:
    if not isinstance(board, VirtualBoard):
        raise DataError(f"{board.name} isn't the virtual board")
    kernel = board.capture(["cat", "/proc/kallsyms"]).text
    file = folder / "memory"
    if not file.is_file():
        raise DataError("QEMU's plugin recorded nothing: did teebench end early?")
    names = sources(board.optee, kernel, built)
    known = {elf.file.stem for elf in names.tas}
    signed = [(PKCS11, "pkcs11", paths.vboard() / f"root/usr/lib/optee_armtz/{PKCS11}.ta")]
    if built is not None and built.elf is None:
        signed.append((built.file.stem, built.name, built.file))
    more = []
    for uuid, name, ta in signed:
        if ta.is_file() and uuid not in known:
            if (elf := signed_ta(ta, f"TA {name}", folder)) is None:
                raise DataError(f"{ta}: no ELF file is in it: is it encrypted?")
            more.append(elf)
    return accesses.read(file, replace(names, tas=(*names.tas, *more)))


def framework(kit: Kit) -> int:
    """Returns the bytes that the kit adds to each TA's TA_STACK_SIZE."""
    file = kit.folder / "src/user_ta_header.c"
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    found = re.search(r"^#define TA_FRAMEWORK_STACK_SIZE (\d+)", text, re.M)
    return int(found[1]) if found else 2048
