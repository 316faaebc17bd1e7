# SPDX-License-Identifier: BSD-2-Clause
"""How deep the stacks go and which pages are touched, by the accesses to memory that QEMU's plugin
recorded (its option memory=on) from the first session on.

The stack of a TA ends at an address that, modulo a page, is the stack's size, because ldelf maps
its pages from a page's beginning on. Accesses relative to the stack pointer show which pages."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from teemark.trace import window as windows
from teemark.trace.places import Domain, Places, SymbolSources, locate
from teemark.trace.symbols import Elf, ta_layout
from teemark.trace.window import Window

GRANULE = 16
"""Bytes of a place: accesses are known to 16 bytes, and OP-TEE's stacks grow by as many."""
_PAGE = 4096
_BY_STACK, _BLOCK, _ADDRESS = np.uint64(36), np.uint64(37), np.uint64((1 << 36) - 1)

_FREE = 2 * GRANULE
"""Bytes of the header of a heap's first free piece, which bget writes in an unused heap, too."""

_PAINTERS = ("stack_paint", "stack_high_water")
"""Functions of our digest TA that fill its stack with a pattern and look how much of it is left."""


@dataclass(frozen=True, slots=True)
class TaMemory:
    """The most bytes that one instance of a TA took, from its first session on."""

    name: str
    stack: int  # the deepest place of its stack that was touched, from the stack's end
    stack_size: int  # TA_STACK_SIZE and what OP-TEE's framework adds to it
    heap: int | None  # the part of the heap that allocations reached; None: no such variable
    heap_size: int | None  # TA_DATA_SIZE
    image: int  # code and data in memory
    executed: int  # pages of code
    touched: int  # pages of data, heap and stack

    @property
    def stack_left(self) -> int:
        return self.stack_size - self.stack


def read(file: Path, sources: SymbolSources) -> tuple[TaMemory, ...]:
    """Reads the plugin's file `memory`."""
    window = windows.read(file, touched=True)
    places = locate(window, sources)
    most: dict[str, TaMemory] = {}
    for ta in (ta for elf in sources.tas for ta in _instances(window, places, elf)):
        before = most.get(ta.name, ta)  # each session may have had an instance of its own
        most[ta.name] = replace(
            ta,
            stack=max(ta.stack, before.stack),
            heap=None if ta.heap is None else max(ta.heap, before.heap or 0),
            executed=max(ta.executed, before.executed),
            touched=max(ta.touched, before.touched),
        )
    return tuple(most.values())


def _accesses(window: Window, blocks: NDArray[np.bool_]) -> tuple[NDArray[np.int64], ...]:
    """Returns the addresses that the marked blocks accessed, to a granule, and those of them that
    were relative to the stack pointer; both sorted."""
    touched = window.touched
    mine = touched[blocks[(touched >> _BLOCK).astype(np.int64)]]
    by_stack = (mine >> _BY_STACK & np.uint64(1)).astype(bool)
    at = ((mine & _ADDRESS) * np.uint64(GRANULE)).astype(np.int64)
    return np.unique(at), np.unique(at[by_stack])


def _instances(window: Window, places: Places, elf: Elf) -> Iterator[TaMemory]:
    layout = ta_layout(elf.file)
    used = window.used()
    in_tas = used[places.blocks["domain"][used] == Domain.TA].tolist()
    placed = ((block, places.functions[places.blocks["function"][block]]) for block in in_tas)
    mine = [block for block, fn in placed if fn.module == elf.name and fn.name not in _PAINTERS]
    if not mine or layout is None:
        return
    offsets = places.blocks["address"][mine] & np.uint64((1 << 48) - 1)
    bases = window.blocks["vaddr"][mine] - offsets
    # Code of OP-TEE's libraries is in many TAs; only the TA that runs has its entry point among it.
    for base in np.unique(bases[offsets == layout.entry_point]).tolist():
        blocks = np.zeros(len(window.blocks), bool)
        blocks[np.array(mine)[bases == base]] = True
        at, on_stack = _accesses(window, blocks)
        if not len(on_stack):
            continue
        depth, pages = _stack(at, on_stack, layout.stack)
        data = at[(at >= base) & (at < base + layout.span)]
        heap = layout.heap
        yield TaMemory(
            name=elf.name.removeprefix("TA "),
            stack=depth,
            stack_size=layout.stack,
            heap=_reached(at, base + heap.address, heap.size) if heap else None,
            heap_size=heap.size if heap else None,
            image=layout.span,
            executed=len(np.unique(window.blocks["vaddr"][blocks] // _PAGE)),
            touched=len(np.unique(data // _PAGE)) + pages,
        )


def _stack(at: NDArray[np.int64], on_stack: NDArray[np.int64], stack_size: int) -> tuple[int, int]:
    depth, pages = 0, 0
    while len(on_stack):  # Two instances may have been at one address one after the other
        highest = int(on_stack[-1]) + GRANULE
        end = highest + (stack_size - highest) % _PAGE
        inside = at[(at >= end - stack_size) & (at < end)]
        depth = max(depth, end - int(inside[0]))
        pages += len(np.unique(inside // _PAGE))
        on_stack = on_stack[on_stack < end - stack_size]
    return depth, pages


def _reached(at: NDArray[np.int64], begin: int, size: int) -> int:
    """Returns how much of a heap its allocations reached: bget gives away the highest bytes of the
    free piece, so allocations grow down from the heap's end."""
    inside = at[(at >= begin + _FREE) & (at < begin + size)]
    return begin + size - int(inside[0]) if len(inside) else 0
