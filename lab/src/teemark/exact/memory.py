# SPDX-License-Identifier: BSD-2-Clause
"""The memory that Trusted Applications take: by the TEE's own statistics on any board and, on one
that counts instructions, by each access to memory. The least sizes of a TA are tried by building
it with them."""

import re
import shutil
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from teemark.base import paths
from teemark.base.console import working
from teemark.base.errors import DataError, UsageMistake
from teemark.base.files import alone
from teemark.boards import Board, BoardFile, VirtualBoard, make_board, own_ta
from teemark.boards.config import VirtualConfig
from teemark.boards.install import guest
from teemark.boards.own_ta import Built, OwnTa
from teemark.boards.ta_kit import Kit
from teemark.exact import program as programs
from teemark.exact.analyse import signed_ta, sources
from teemark.exact.record import TaCalls, recording
from teemark.measure import memory as outside
from teemark.measure import watching
from teemark.measure.memory import MemoryUse
from teemark.measure.watching import Program, Ran
from teemark.plan.file import CaseLine
from teemark.run import records
from teemark.trace import memory as accesses
from teemark.trace.memory import GRANULE, TaMemory

PKCS11 = "fd02c9da-306c-48c7-a49c-bbd827ae86ee"
_HEADER = "user_ta_header_defines.h"
_HEAP_MIN = 1024
"""MALLOC_INITIAL_POOL_MIN_SIZE of OP-TEE: a smaller TA_DATA_SIZE doesn't build."""
_TRIES = 12
"""Steps of 16 bytes, up or down from the estimate, in which the least size is looked for."""


@dataclass(frozen=True, slots=True)
class Least:
    """The least size with which all calls of the plan pass, found by building the TA with it."""

    name: str  # TA_STACK_SIZE or TA_DATA_SIZE
    size: int  # bytes
    less: str  # what the calls answer with 16 bytes less; "" if no less can be tried


@dataclass(frozen=True, slots=True)
class Measured:
    board: str
    cases: tuple[MemoryUse, ...]
    sessions: tuple[MemoryUse, ...]
    tas: tuple[TaMemory, ...] | None  # None: not a board that counts instructions
    framework: int  # bytes that OP-TEE's framework adds to TA_STACK_SIZE
    least: tuple[Least, ...] = ()

    @property
    def failed(self) -> bool:
        return any(use.failure for use in (*self.cases, *self.sessions))


def measure(
    file: BoardFile, cases: Sequence[CaseLine], uuids: Sequence[str], calls: TaCalls, *, least: bool
) -> Measured:
    """Runs the cases, and fills the TEE with sessions of each TA. `calls` has the user's own TA;
    `least` looks for its least sizes, which needs a board that counts instructions."""
    ta, uuid = calls.ta, calls.plan.ta
    if least and (not _counts(file) or ta is None or not ta.source.is_dir()):
        raise UsageMistake(
            "--least builds a TA anew, and runs it on a board that counts instructions",
            hint="name the TA's folder by --ta, and --board qemu-v8-icount",
        )
    with _opened(file) as (board, folder):
        built = own_ta.build_for(ta, uuid, board)
        with own_ta.ready_board(board):
            with guest(board, built.file if built else None, tell=lambda _: None):
                with working(f"looking at the TEE's memory on {board.name} …"):
                    uses = outside.of_cases(board, cases) if cases else []
                    seen = _inside(board, folder, built) if uses and folder else None
                with working(f"filling {board.name} with sessions …"):
                    sessions = outside.of_sessions(board, uuids)
            adds = framework(board.kit)
            measured = Measured(board.name, tuple(uses), tuple(sessions), seen, adds)
            if least and ta is not None and uuid is not None:
                measured = replace(measured, least=_least(board, measured, cases, ta, uuid))
    return measured


def of_ta(file: BoardFile, calls: TaCalls) -> records.StackAndHeap | None:
    """Returns what the user's TA takes in a call of each case of the plan; None on a board that
    doesn't count instructions, and if QEMU's plugin saw none of its code."""
    if calls.ta is None or not _counts(file):
        return None
    measured = measure(file, calls.plan.cases, (), calls, least=False)
    if measured.failed:
        raise DataError(
            f"{calls.ta.name}: not every case could be called, so its memory isn't known"
        )
    for memory in (memory for memory in measured.tas or () if memory.name == calls.ta.name):
        heap = {"heap": memory.heap, "heap_size": memory.heap_size}
        return records.StackAndHeap(stack=memory.stack, stack_size=memory.stack_size, **heap)
    return None


def of_program(file: BoardFile, program: Program, directory: Path) -> tuple[Measured, Ran]:
    """Runs the user's program; returns the memory that it takes, and its calls."""
    with _opened(file) as (board, folder), own_ta.ready_board(board):
        with working(f"running {program.argv[0]} on {board.name} …"):
            ran = watching.run(board, program, directory)
        use = MemoryUse(program.argv[0], ran.memory)
        measured = Measured(board.name, (use,), (), None, framework(board.kit))
        if folder is not None and isinstance(board, VirtualBoard) and use.pools:
            kernel = board.capture(["cat", "/proc/kallsyms"]).text
            names = programs.sources_of(sources(board.optee, kernel), ran, program, folder)
            measured = replace(measured, tas=accesses.read(folder / "memory", names))
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
    uuids = {elf.file.stem for elf in names.tas}
    signed = [(PKCS11, "pkcs11", paths.vboard() / f"root/usr/lib/optee_armtz/{PKCS11}.ta")]
    if built is not None and built.elf is None:
        signed.append((built.file.stem, built.name, built.file))
    more = []
    for uuid, name, ta in signed:
        if ta.is_file() and uuid not in uuids:
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


def _least(
    board: Board, measured: Measured, cases: Sequence[CaseLine], ta: OwnTa, uuid: str
) -> tuple[Least, ...]:
    mine = next((memory for memory in measured.tas or () if memory.name == ta.name), None)
    failure = next((use.failure for use in measured.cases if use.failure), "")
    if mine is None or failure:
        why = failure or "QEMU's plugin saw none of its code"
        raise DataError(f"{ta.name}: no less memory can be tried: {why}")
    trial = _Trial(board, cases, ta, uuid)
    found = [trial.search("TA_STACK_SIZE", mine.stack - measured.framework, 0)]
    if mine.heap is not None:
        found.append(trial.search("TA_DATA_SIZE", mine.heap, _HEAP_MIN))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Trial:
    """Builds a TA with another size of its stack or heap, and runs its calls."""

    board: Board
    cases: Sequence[CaseLine]
    ta: OwnTa
    uuid: str

    def search(self, name: str, guess: int, lowest: int) -> Least:
        """Looks for the least size from `guess` on, up and then down; all figures are bytes."""
        size = max(-(-guess // GRANULE) * GRANULE, lowest)
        answer = ""
        for _ in range(_TRIES):
            if not (answer := self.failure(name, size)):
                break
            size += GRANULE
        else:
            raise DataError(f"{self.ta.name} fails with {name} {size}, too: {answer}")
        for _ in range(_TRIES):
            less = size - GRANULE
            if less < lowest or (answer := self.failure(name, less)):
                break
            size = less
        return Least(name, size, answer)

    def failure(self, name: str, size: int) -> str:
        """Returns why a call fails if the TA defines `name` as `size` bytes; "" if none does."""
        copy = paths.build() / "least" / self.ta.name
        with alone(copy.with_suffix(".lock")), working(f"trying {copy.name}, {name} {size} …"):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(self.ta.source, copy)
            with (copy / _HEADER).open("a", encoding="utf-8") as header:
                header.write(f"\n#undef {name}\n#define {name} {size}\n")
            built = own_ta.build_for(OwnTa(self.ta.name, copy), self.uuid, self.board)
            with guest(self.board, built.file if built else None, tell=lambda _: None):
                uses = outside.of_cases(self.board, self.cases)
        return next((found.failure for found in uses if found.failure is not None), "")
