# SPDX-License-Identifier: BSD-2-Clause
"""Locates a block of instructions: exception level, file, function.

QEMU's plugin gives a block's virtual address and its place in QEMU's own memory. Secure RAM is one
piece of that memory, and TF-A's virtual addresses equal its physical ones: any block of TF-A thus
gives the physical address of all blocks in secure RAM. Virtual addresses alone aren't enough:
OP-TEE's vectors run inside a TA's range of addresses. Each located block is checked: its
instructions must be those in the file."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teemark.base.errors import DataError
from teemark.trace.symbols import Elf, SymbolTable
from teemark.trace.window import Window

SECURE_RAM = range(0x0E000000, 0x0F000000)  # physical addresses, QEMU's machine `virt`


class Domain(IntEnum):
    """Who executes a block; the numbers are those of trace/walk.c."""

    PROGRAM = 0
    KERNEL = 1
    TFA = 2
    CORE = 3
    TA = 4


LEVELS = {
    Domain.PROGRAM: "EL0",
    Domain.KERNEL: "EL1",
    Domain.TFA: "EL3",
    Domain.CORE: "S-EL1",
    Domain.TA: "S-EL0",
}


class Flag(IntEnum):
    ENTRY = 1
    VECTOR = 2
    SWITCH = 4
    OPAQUE = 8
    TABLE = 16
    SETS_MASK = 32
    ASKS_SPINLOCK = 64
    RPC = 128
    ENTERS = 256


class BranchKind(IntEnum):
    OTHER = 0
    CALL = 1
    RETURN = 2
    ERET = 3
    SVC = 4
    SMC = 5


_MASKING = {
    "thread_set_exceptions": Flag.SETS_MASK,
    "have_spinlock": Flag.ASKS_SPINLOCK,
    "thread_rpc_spsr": Flag.RPC,
    "thread_std_smc_entry": Flag.ENTERS,
}
"""Functions of OP-TEE's core by which trace/held.c knows whether interrupts are masked."""

_KINDS = (  # mask, value
    (0xFC000000, 0x94000000, BranchKind.CALL),  # BL
    (0xFFFFFC1F, 0xD63F0000, BranchKind.CALL),  # BLR
    (0xFEFFF800, 0xD63F0800, BranchKind.CALL),  # BLRAA, BLRAB and those without a modifier
    (0xFFFFFC1F, 0xD65F0000, BranchKind.RETURN),  # RET
    (0xFFFFFBFF, 0xD65F0BFF, BranchKind.RETURN),  # RETAA, RETAB
    (0xFFFFF3FF, 0xD69F03E0, BranchKind.ERET),  # ERET, ERETAA, ERETAB
    (0xFFE0001F, 0xD4000001, BranchKind.SVC),
    (0xFFE0001F, 0xD4000003, BranchKind.SMC),
)


def kind_of(word: int) -> BranchKind:
    """Returns the kind of an instruction at a block's end, such as a call or a return."""
    for mask, value, kind in _KINDS:
        if word & mask == value:
            return kind
    return BranchKind.OTHER


@dataclass(frozen=True, slots=True)
class SymbolSources:
    """The files and tables from which the names of functions are read."""

    kernel: SymbolTable
    tfa: Elf
    core: Elf | None  # OP-TEE's tee.elf; None: the core is one block
    core_code: range  # Physical addresses of the core's code, which equal its link addresses
    programs: tuple[Elf, ...]  # Programs and libraries of the normal world
    tas: tuple[Elf, ...]  # Trusted Applications, and ldelf if its file is there


@dataclass(frozen=True, slots=True)
class PlacedFunction:
    domain: Domain
    module: str  # a file's name, "kernel", or a kernel module
    name: str
    address: int  # address in its file; 0 if it has no name
    named: bool = True


PLACE = np.dtype(
    [("address", "<u8"), ("function", "<u4"), ("domain", "u1"), ("kind", "u1"), ("flags", "<u2")]
)
"""A row of the table that trace/walk.c reads. A program's or TA's address is relative to its file,
since newer versions of QEMU execute one block at every address where its page is mapped."""


@dataclass(frozen=True, slots=True)
class Places:
    """The place and the function of every block; zeros for blocks that weren't executed."""

    functions: tuple[PlacedFunction, ...]
    blocks: NDArray[Any]


OPAQUE_CORE = "[OP-TEE core]"


def locate(window: Window, sources: SymbolSources) -> Places:
    return _Locator(window, sources).locate()


def anchor(window: Window, tfa: Elf) -> int | None:
    """Returns haddr - physical address in secure RAM; None if no block of TF-A was translated.
    Raises DataError if blocks at TF-A's addresses have other instructions."""
    (code,) = tfa.codes[:1]
    vaddr = window.blocks["vaddr"]
    blocks = np.flatnonzero((vaddr >= code.address) & (vaddr < code.end))
    offsets: Counter[int] = Counter()
    for block in blocks.tolist():
        address = int(vaddr[block])
        if tfa.holds(address, window.code(block)):
            offsets[int(window.blocks["haddr"][block]) - address] += 1
    if len(blocks) and not offsets:
        raise DataError(
            f"{tfa.file}: not the TF-A that the board ran: its instructions differ",
            hint="name the folder of the build that the board's flash image was made from",
        )
    return offsets.most_common(1)[0][0] if offsets else None


class _Locator:
    def __init__(self, window: Window, sources: SymbolSources) -> None:
        self.window = window
        self.sources = sources
        self.anchor = anchor(window, sources.tfa)
        self.numbers: dict[PlacedFunction, int] = {}
        self.files: dict[Path, int] = {}
        kernel = sources.kernel
        self.kernel_vectors = [range(s.address, s.address + 0x800) for s in kernel.named("vectors")]
        hardened = kernel.named("__bp_harden_el1_vectors")
        self.kernel_vectors += [range(symbol.address, kernel.end(symbol)) for symbol in hardened]
        # Tables of exception vectors (2 KiB each), the copies against Spectre included.
        tables = sources.core.table.named("thread_excp_vect") if sources.core is not None else []
        self.core_vectors = [
            range(symbol.address, symbol.address + max(symbol.size & ~0x7FF, 0x800))
            for symbol in tables
        ]

    def locate(self) -> Places:
        window = self.window
        rows = np.zeros(len(window.blocks), PLACE)
        used = window.used().tolist()
        physical = {block: self._physical(block) for block in used}
        domains = {block: self._domain(block, physical[block]) for block in used}
        self._check_core(used, domains, physical)
        files: dict[int, tuple[Elf, int]] = {}
        elfs = {Domain.PROGRAM: self.sources.programs, Domain.TA: self.sources.tas}
        for domain, candidates in elfs.items():
            blocks = [block for block in used if domains[block] is domain]
            files |= _bases(window, blocks, candidates)
        for block in used:
            at = int(window.blocks["vaddr"][block])
            if domains[block] in (Domain.TFA, Domain.CORE):
                at = physical[block] or 0
            file = files.get(block)
            function, flags = self._function(domains[block], at, file)
            if file is not None:  # a table address is unique over all files
                at = self.files.setdefault(file[0].file, len(self.files) + 1) << 48 | at - file[1]
            number = self.numbers.setdefault(function, len(self.numbers))
            rows[block] = at, number, domains[block], kind_of(int(window.code(block)[-1])), flags
        return Places(tuple(self.numbers), rows)

    def _physical(self, block: int) -> int | None:
        if self.anchor is None:
            return None
        address = int(self.window.blocks["haddr"][block]) - self.anchor
        return address if address in SECURE_RAM else None

    def _domain(self, block: int, physical: int | None) -> Domain:
        if physical is None:
            outside = int(self.window.blocks["vaddr"][block]) >> 48
            return Domain.KERNEL if outside else Domain.PROGRAM
        if physical < self.sources.core_code.start:
            return Domain.TFA
        return Domain.CORE if physical in self.sources.core_code else Domain.TA

    def _check_core(
        self, used: list[int], domains: dict[int, Domain], physical: dict[int, int | None]
    ) -> None:
        core = self.sources.core
        if core is None:
            return
        blocks = [block for block in used if domains[block] is Domain.CORE]
        fitting = sum(core.holds(physical[block] or 0, self.window.code(block)) for block in blocks)
        if blocks and fitting < 0.9 * len(blocks):
            raise DataError(
                f"{core.file}: not the OP-TEE that the board ran: of {len(blocks)} blocks of "
                f"instructions only {fitting} are in it",
                hint="name the folder of the very build that the board boots",
            )

    def _function(
        self, domain: Domain, address: int, file: tuple[Elf, int] | None
    ) -> tuple[PlacedFunction, int]:
        if domain is Domain.KERNEL:
            return self._kernel(address)
        if domain is Domain.TFA:
            return _named(domain, self.sources.tfa, "TF-A", address)
        if domain is Domain.CORE:
            if self.sources.core is None:
                return _unnamed(domain, "core", OPAQUE_CORE)
            function, flags = _named(domain, self.sources.core, "core", address)
            flags |= _MASKING.get(function.name, 0)
            inside = any(address in table for table in self.core_vectors)
            return function, flags | (Flag.VECTOR if inside and not address & 0x7F else 0)
        if file is None:
            name = "[no file]" if domain is Domain.PROGRAM else "[ldelf or a TA without its file]"
            return _unnamed(domain, name, name)
        elf, base = file
        return _named(domain, elf, elf.name, address - base)

    def _kernel(self, address: int) -> tuple[PlacedFunction, int]:
        symbol = self.sources.kernel.find(address)
        if symbol is None:
            return _unnamed(Domain.KERNEL, "kernel", "[kernel]")
        name, _, module = symbol.name.partition(" ")
        flags = Flag.ENTRY if address == symbol.address else 0
        if any(address in table for table in self.kernel_vectors):
            flags |= Flag.TABLE | (0 if address & 0x7F else Flag.VECTOR)
        if name == "cpu_switch_to":
            flags |= Flag.SWITCH
        module = module.strip("[]") or "kernel"
        return PlacedFunction(Domain.KERNEL, module, name, symbol.address), flags


def _unnamed(domain: Domain, module: str, name: str) -> tuple[PlacedFunction, int]:
    return PlacedFunction(domain, module, name, 0, named=False), Flag.OPAQUE


def _named(domain: Domain, elf: Elf, module: str, address: int) -> tuple[PlacedFunction, int]:
    symbol = elf.table.find(address)
    if symbol is None:
        return _unnamed(domain, module, f"[{module}]")
    flags = Flag.ENTRY if address == symbol.address else 0
    return PlacedFunction(domain, module, symbol.name, symbol.address), flags


def _bases(
    window: Window, blocks: Sequence[int], elfs: Sequence[Elf]
) -> dict[int, tuple[Elf, int]]:
    """Returns the file and load address of each block. A candidate is a file with the same
    instructions at the same offset in a page; the candidate that fits most instructions wins."""
    votes: Counter[tuple[int, int]] = Counter()
    holders: dict[tuple[int, int], list[int]] = {}
    for block in blocks:
        vaddr = int(window.blocks["vaddr"][block])
        words = window.code(block)
        for index, elf in enumerate(elfs):
            for address in _matches(elf, vaddr & 0xFFF, words):
                place = (index, vaddr - address)
                votes[place] += len(words)
                holders.setdefault(place, []).append(block)
    bases: dict[int, tuple[Elf, int]] = {}
    for index, base in sorted(votes, key=lambda place: (-votes[place], place)):
        fresh = [block for block in holders[index, base] if block not in bases]
        # A single short block occurs in many files by chance.
        if sum(len(window.code(block)) for block in fresh) < 4 and len(bases) < len(blocks) // 2:
            continue
        for block in fresh:
            bases[block] = (elfs[index], base)
    return bases


def _matches(elf: Elf, offset: int, words: NDArray[np.uint32]) -> list[int]:
    addresses = []
    for code in elf.codes:
        first = ((offset - code.address) & 0xFFF) // 4
        candidates = np.flatnonzero(code.words[first::1024] == words[0])
        for page in candidates.tolist():
            at = first + 1024 * page
            if np.array_equal(code.words[at : at + len(words)], words):
                addresses.append(code.address + 4 * at)
    return addresses
