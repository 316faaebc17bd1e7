# SPDX-License-Identifier: BSD-2-Clause
"""Names of addresses: from the functions of ELF files, and from the running kernel's own list."""

import bisect
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from numpy.typing import NDArray

from teemark.base.errors import DataError
from teemark.base.sanitize import harmless, harmless_line

DAMAGED = (
    *(ELFError, ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError),
    *(RecursionError, TypeError, ValueError),
)
"""The exceptions of elftools for files whose headers and tables don't fit together."""


@dataclass(frozen=True, slots=True)
class Symbol:
    address: int
    size: int  # bytes; 0: up to the next symbol
    name: str


class SymbolTable:
    """Functions, found by address."""

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        best: dict[int, Symbol] = {}
        for symbol in symbols:
            previous = best.get(symbol.address)
            if previous is None or (symbol.size and not previous.size):
                best[symbol.address] = symbol
        self._at = sorted(best)
        self._symbols = [best[address] for address in self._at]

    def find(self, address: int) -> Symbol | None:
        index = bisect.bisect_right(self._at, address) - 1
        if index < 0:
            return None
        symbol = self._symbols[index]
        return None if symbol.size and address >= symbol.address + symbol.size else symbol

    def named(self, *names: str) -> list[Symbol]:
        return [symbol for symbol in self._symbols if symbol.name in names]

    def end(self, symbol: Symbol) -> int:
        """Returns the end address of a symbol: by its size, or where the next symbol begins."""
        if symbol.size:
            return symbol.address + symbol.size
        index = bisect.bisect_right(self._at, symbol.address)
        return self._at[index] if index < len(self._at) else symbol.address + 4


@dataclass(frozen=True, slots=True)
class CodeSegment:
    """An executable segment of an ELF file; `words` are its instructions."""

    address: int
    words: NDArray[np.uint32]

    @property
    def end(self) -> int:
        return self.address + 4 * len(self.words)


@dataclass(frozen=True, slots=True)
class Elf:
    file: Path
    name: str
    codes: tuple[CodeSegment, ...]
    table: SymbolTable = field(compare=False)

    def holds(self, address: int, words: NDArray[np.uint32]) -> bool:
        """Returns true if the file has these instructions at that address."""
        for code in self.codes:
            if code.address <= address and address + 4 * len(words) <= code.end:
                first = (address - code.address) // 4
                return bool(np.array_equal(code.words[first : first + len(words)], words))
        return False


@lru_cache(maxsize=64)
def _read(file: Path, name: str, _changed: int) -> Elf:
    with file.open("rb") as stream:
        elf = ELFFile(stream)
        codes, left = [], file.stat().st_size
        for segment in elf.iter_segments("PT_LOAD"):
            if segment["p_flags"] & 1:
                left -= segment["p_filesz"]
                if left < 0:
                    raise DataError(f"{file}: no ELF file: its segments are larger than the file")
                data, begin = segment.data(), int(segment["p_vaddr"])
                codes.append(CodeSegment(begin, np.frombuffer(data[: len(data) & ~3], dtype="<u4")))
        return Elf(file, name, tuple(codes), SymbolTable(_functions(elf)))


def read_elf(file: Path, name: str | None = None) -> Elf:
    """Reads an ELF file. `name` is the name to show, by default the file's own. Raises DataError if
    the file can't be read."""
    try:
        return _read(file, name or file.name, file.stat().st_mtime_ns)
    except OSError as error:
        raise DataError(f"{file}: can't be read: {error.strerror}") from None
    except DAMAGED as error:
        raise DataError(f"{file}: no ELF file: {error or type(error).__name__}") from None


@dataclass(frozen=True, slots=True)
class TaLayout:
    """The memory of a TA, by its file; all but the entry point are bytes."""

    stack: int  # TA_STACK_SIZE and what OP-TEE's framework adds to it
    entry_point: int
    span: int  # of its loadable segments, in whole pages
    heap: Symbol | None  # None: it has no such variable


def ta_layout(file: Path) -> TaLayout | None:
    """Reads a TA's ELF file; None for a file that has no TA's header."""
    with file.open("rb") as stream:
        elf = ELFFile(stream)
        head, table = map(elf.get_section_by_name, (".ta_head", ".symtab"))
        if head is None:
            return None
        (stack,) = struct.unpack_from("<I", head.data(), 16)  # behind the UUID
        segments = [s for s in elf.iter_segments("PT_LOAD") if s["p_memsz"]]
        end = max(int(s["p_vaddr"]) + int(s["p_memsz"]) for s in segments)
        span = (end + 0xFFF & ~0xFFF) - (min(int(s["p_vaddr"]) for s in segments) & ~0xFFF)
        symbols = table.iter_symbols() if isinstance(table, SymbolTableSection) else ()
        heaps = (
            Symbol(int(symbol["st_value"]), int(symbol["st_size"]), symbol.name)
            for symbol in symbols
            if symbol.name == "ta_heap" and symbol["st_size"]
        )
        return TaLayout(stack, int(elf["e_entry"]), span, next(heaps, None))


def _functions(elf: ELFFile) -> list[Symbol]:
    """Returns the typed functions and, outside of those, the labels of assembly code. A label
    behind a function of unknown size is taken for a part of that function."""
    code = {index for index, section in enumerate(elf.iter_sections()) if section["sh_flags"] & 4}
    functions: list[Symbol] = []
    labels: list[Symbol] = []
    table = elf.get_section_by_name(".symtab") or elf.get_section_by_name(".dynsym")
    if not isinstance(table, SymbolTableSection):
        return []
    for symbol in table.iter_symbols():
        if symbol["st_shndx"] not in code or not symbol.name or symbol.name.startswith("$"):
            continue
        name = harmless_line(symbol.name)
        entry = Symbol(int(symbol["st_value"]), int(symbol["st_size"]), name)
        kind = symbol["st_info"]["type"]
        if kind == "STT_FUNC":
            functions.append(entry)
        elif kind == "STT_NOTYPE" and not symbol.name.startswith((".L", "__")):
            labels.append(Symbol(entry.address, 0, entry.name))
    inside = SymbolTable(functions)

    return functions + [label for label in labels if inside.find(label.address) is None]


def kallsyms(text: str) -> SymbolTable:
    """Returns the functions in /proc/kallsyms (read as root), of the kernel and its modules."""
    symbols = []
    for line in harmless(text).splitlines():
        words = line.split()
        if len(words) < 3 or words[1] not in "tTwW" or words[2].startswith(("$", ".L")):
            continue
        name = words[2] + (f" {words[3]}" if len(words) > 3 else "")
        symbols.append(Symbol(int(words[0], 16), 0, name))
    if not any(symbol.address for symbol in symbols):
        raise DataError("the board's /proc/kallsyms shows no addresses: it must be read as root")
    return SymbolTable(symbols)
