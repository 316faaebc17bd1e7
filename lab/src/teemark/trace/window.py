# SPDX-License-Identifier: BSD-2-Clause
"""Reads the file that QEMU's plugin writes for each window (format: trace/window.h)."""

import struct
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teemark.base.errors import DataError
from teemark.wording import fmt

MAGIC = b"TTRACE4\0"
CUT = 1

SAMPLE = 0x71  # Marker of teebench's samples; all markers are in host/include/marker.h

TEEHASH_PARTS = {0x74: "open", 0x75: "first", 0x76: "step", 0x77: "last", 0x78: "close"}
"""Markers of teehash's parts, in the order of its work."""
HASHING = ("first", "step", "last")  # The parts that hash the file

_HEAD = struct.Struct("<8s6Q")
BLOCK = np.dtype([("vaddr", "<u8"), ("haddr", "<u8"), ("instructions", "<u4"), ("word", "<u4")])
PIECE = 1 << 22  # Steps that are counted at a time, 32 MiB of the file
STEP = np.dtype([("block", "<u4"), ("instructions", "<u4")])


@dataclass(frozen=True)
class Window:
    """The instructions that the guest executed between two markers."""

    file: Path
    blocks: NDArray[Any]  # all blocks that QEMU translated since the recording was armed
    words: NDArray[np.uint32]  # the instructions of all blocks
    steps: NDArray[Any]  # executed blocks, in order
    instructions: int  # instructions recorded
    whole: int  # instructions executed: more, if the window was cut
    marker: int  # the marker at its beginning
    touched: NDArray[np.uint64]
    """Places in memory that were accessed, and the blocks that did it (trace/window.h); empty for
    the windows of calls."""

    def used(self) -> NDArray[np.intp]:
        """Returns the blocks that were executed."""
        return np.flatnonzero(self._counts[0])

    def code(self, block: int) -> NDArray[np.uint32]:
        """Returns the instructions of a block."""
        first = int(self.blocks["word"][block])
        return self.words[first : first + int(self.blocks["instructions"][block])]

    def executed(self) -> NDArray[np.int64]:
        """Returns how many instructions were begun in each block."""
        return self._counts[1]

    @cached_property
    def _counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns each block's number of executions, and its executed instructions. The steps are
        read from the file in pieces, since all at once they would take gigabytes."""
        times, instructions = np.zeros((2, len(self.blocks)), np.int64)
        for first in range(0, len(self.steps), PIECE):
            size, place = min(PIECE, len(self.steps) - first), first * STEP.itemsize
            piece = np.fromfile(self.file, STEP, size, offset=_HEAD.size + place)
            block, count = piece["block"], piece["instructions"]
            times += np.bincount(block, minlength=len(times))
            instructions += np.bincount(block, count, len(times)).astype(np.int64)
        return times, instructions


def read(file: Path, beginning: bool = False, *, touched: bool = False) -> Window:
    """Reads a window. Raises DataError for a window that was cut, unless `beginning` is true.
    `touched` says that places in memory stand behind it."""
    data = np.asarray(np.memmap(file, np.uint8, "r")) if file.stat().st_size else np.empty(0, "u1")
    if len(data) < _HEAD.size:
        raise DataError(f"{file}: not a whole window")
    head = _HEAD.unpack(data[: _HEAD.size].tobytes())
    magic, blocks, words, steps, whole, flags, marker = head
    size = _HEAD.size + blocks * BLOCK.itemsize + words * 4 + steps * STEP.itemsize
    more = len(data) - size
    if magic != MAGIC or more < 0 or more % 8 or (more and not touched):
        raise DataError(f"{file}: not a whole window")
    if flags & CUT and not (beginning and steps):
        raise DataError(
            f"{file.name}: the call took more than {fmt.count(steps)} blocks, and the rest wasn't "
            "recorded",
            hint="trace a smaller size of the same case, or --beginning",
        )
    first = _HEAD.size
    second = first + steps * STEP.itemsize
    third = second + blocks * BLOCK.itemsize
    recorded = data[first:second].view(STEP)
    in_steps = int(recorded["instructions"].sum(dtype=np.int64)) if flags & CUT else whole
    return Window(
        file,
        blocks=data[second:third].view(BLOCK),
        words=data[third:size].view(np.dtype("<u4")),
        touched=np.frombuffer(data[size:].tobytes(), "<u8"),
        steps=recorded,
        instructions=in_steps,
        whole=whole,
        marker=marker,
    )
