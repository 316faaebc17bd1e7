# SPDX-License-Identifier: BSD-2-Clause
"""Windows as QEMU's plugin would write them, of programs made up here."""

import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from teemark.trace.places import PLACE, Domain, Flag, PlacedFunction, Places, kind_of
from teemark.trace.symbols import CodeSegment, Elf, Symbol, SymbolTable
from teemark.trace.window import BLOCK, SAMPLE, STEP, Window, read

NOP = 0xD503201F
BL = 0x94000001
RET = 0xD65F03C0
ERET = 0xD69F03E0
SVC = 0xD4000001
SMC = 0xD4000003
B = 0x14000001


@dataclass
class Recorder:
    """Collects blocks and steps."""

    blocks: list[tuple[int, int, tuple[int, ...]]] = field(default_factory=list)
    steps: list[tuple[int, int]] = field(default_factory=list)
    known: dict[tuple[int, int, tuple[int, ...]], int] = field(default_factory=dict)

    def step(
        self, vaddr: int, words: tuple[int, ...], *, haddr: int | None = None, begun: int = 0
    ) -> int:
        """Executes a block, or only its first `begun` instructions; its number."""
        block = (vaddr, vaddr + 0x7F0000000000 if haddr is None else haddr, words)
        if block not in self.known:
            self.known[block] = len(self.blocks)
            self.blocks.append(block)
        self.steps.append((self.known[block], begun or len(words)))
        return self.known[block]

    def write(self, file: Path, flags: int = 0, marker: int = SAMPLE) -> Path:
        words: list[int] = []
        blocks = np.zeros(len(self.blocks), BLOCK)
        for index, (vaddr, haddr, code) in enumerate(self.blocks):
            blocks[index] = (vaddr, haddr, len(code), len(words))
            words += code
        steps = np.array(self.steps, STEP)
        total = sum(count for _, count in self.steps)
        sizes = (len(blocks), len(words), len(steps))
        head = struct.pack("<8s6Q", b"TTRACE4\0", *sizes, total, flags, marker)
        file.write_bytes(
            head + steps.tobytes() + blocks.tobytes() + np.array(words, "<u4").tobytes()
        )
        return file

    def window(self, folder: Path) -> Window:
        return read(self.write(folder / "window"))


@dataclass
class Machine:
    """A recorder that also says where each block belongs: for trees without symbols."""

    recorder: Recorder = field(default_factory=Recorder)
    functions: list[PlacedFunction] = field(default_factory=list)
    places: dict[int, tuple[int, Domain, int, int]] = field(default_factory=dict)

    def run(
        self,
        name: str,
        address: int,
        last: int,
        *,
        size: int = 4,
        domain: Domain = Domain.PROGRAM,
        flags: int = 0,
        begun: int = 0,
    ) -> None:
        """`size` instructions of a function, the last of them `last`."""
        function = PlacedFunction(domain, "m", name, 0)
        if function not in self.functions:
            self.functions.append(function)
        words = (NOP,) * (size - 1) + (last,)
        haddr = address + (int(domain) << 44)
        block = self.recorder.step(address, words, haddr=haddr, begun=begun)
        self.places[block] = (self.functions.index(function), domain, last, flags)

    def located(self) -> Places:
        count = len(self.recorder.blocks)
        rows = [self.places[block] for block in range(count)]
        made = [
            (block[0], function, domain, kind_of(last), flags)
            for block, (function, domain, last, flags) in zip(
                self.recorder.blocks, rows, strict=True
            )
        ]
        return Places(tuple(self.functions), np.array(made, PLACE))


def elf(
    name: str, address: int, words: tuple[int, ...], symbols: tuple[tuple[int, int, str], ...] = ()
) -> Elf:
    """A file with one piece of code, without the file."""
    code = CodeSegment(address, np.array(words, np.uint32))
    table = SymbolTable(Symbol(*symbol) for symbol in symbols)
    return Elf(Path(f"/nowhere/{name}"), name, (code,), table)


__all__ = ["BL", "ERET", "NOP", "RET", "SMC", "SVC", "B", "Flag", "Machine", "Recorder", "elf"]
