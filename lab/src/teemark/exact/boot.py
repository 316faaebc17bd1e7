# SPDX-License-Identifier: BSD-2-Clause
"""OP-TEE's boot on the exact board, instruction by instruction: from power-on to the first
instruction of the normal world."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from teemark.base.console import say, working
from teemark.base.errors import DataError, UsageMistake
from teemark.boards.config import BoardFile
from teemark.boards.optee import Optee
from teemark.exact.record import BUILDING, recording
from teemark.page.blocks import Block, Bullets, Paragraph, Table, left, right
from teemark.trace import window as windows
from teemark.trace.places import Domain, Flag, SymbolSources, locate
from teemark.trace.symbols import SymbolTable, read_elf
from teemark.trace.window import Window
from teemark.wording import fmt

NORMAL_WORLD = 0x60000000
"""Address to which TF-A loads U-Boot on QEMU's machine `virt` (NS_IMAGE_OFFSET)."""

ENTRY = "_start"
"""The core's first function calls one after the other what initialises it."""
INITCALLS = ("do_init_calls", "call_")
"""Functions of core/kernel/initcall.c, which call the initcalls."""

LOGGING = "trace_printf"
"""The function that logs each initcall before it is called, at the level of debugging."""

Costs = tuple[tuple[str, int], ...]
"""Functions, each with its instructions and those of what it calls."""


@dataclass(frozen=True, slots=True)
class Boot:
    """A boot, in instructions."""

    optee: str
    before: int  # TF-A, until the core's first instruction
    core: int
    after: int  # TF-A, until the normal world's first instruction
    phases: Costs  # in their order
    initcalls: Costs


def measure(file: BoardFile) -> Boot:
    """Boots the board once. Raises UsageMistake if its core has no symbols."""
    with recording(file, f"boot={NORMAL_WORLD:#x}") as (board, folder):
        with working(BUILDING):
            optee = board.optee
        if optee.elf is None:
            raise UsageMistake(
                f"{optee.what} has no file with the core's symbols", hint="--optee source has one"
            )
        say(f"teemark: {optee.what}")
        with working(f"booting {board.name} …"), board:
            pass
        with working("reading the trace …"):
            return of_window(windows.read(_recorded(folder)), optee)


def _recorded(folder: Path) -> Path:
    file = folder / "window-0"
    if not file.is_file():
        raise DataError(f"the normal world never came to {NORMAL_WORLD:#x}")
    return file


def of_window(window: Window, optee: Optee) -> Boot:
    """Returns the costs in a window from power-on to the normal world."""
    assert optee.elf is not None
    core_alone = SymbolSources(
        kernel=SymbolTable([]), tfa=read_elf(optee.tfa), core=read_elf(optee.elf),
        core_code=optee.core_code(), programs=(), tas=(),
    )  # fmt: skip
    places = locate(window, core_alone)
    # Functions of the core's blocks, "" for others, and whether a block is its function's first.
    of_core = places.blocks["domain"] == Domain.CORE
    names = [
        places.functions[row["function"]].name if core else ""
        for row, core in zip(places.blocks, of_core, strict=True)
    ]
    entries = places.blocks["flags"] & Flag.ENTRY != 0
    blocks, counts = window.steps["block"], window.steps["instructions"].astype(np.int64)
    inside = np.flatnonzero(of_core[blocks])
    if not len(inside):
        raise DataError("no instruction of OP-TEE's core was recorded")
    first, last = int(inside[0]), int(inside[-1]) + 1
    core = blocks[first:last], counts[first:last]
    return Boot(
        optee=optee.what,
        before=int(counts[:first].sum()),
        core=int(core[1].sum()),
        after=int(counts[last:].sum()),
        phases=_calls(*core, names, entries, (ENTRY,), itself=True),
        initcalls=tuple(
            one for one in _calls(*core, names, entries, INITCALLS) if one[0] != LOGGING
        ),
    )


def _calls(
    blocks: NDArray[np.uint32],
    counts: NDArray[np.int64],
    names: Sequence[str],
    entries: NDArray[np.bool_],
    callers: tuple[str, ...],
    *,
    itself: bool = False,
) -> Costs:
    """Returns what those callers call, in the order of the first calls, each with all that it calls
    itself: what runs from a function's first block until a caller goes on."""
    calling = np.array([name.startswith(callers) for name in names])[blocks]
    costs = Counter[str]()
    if itself:
        costs[f"{callers[0]} itself"] = int(counts[calling].sum())
    for begin, end in _stretches(~calling):
        if begin and entries[blocks[begin]]:
            costs[names[blocks[begin]]] += int(counts[begin:end].sum())
    return tuple(costs.items())


def _stretches(chosen: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Yields where each run of true values begins and ends."""
    ends = np.flatnonzero(np.diff(np.concatenate(([False], chosen, [False])).astype(np.int8)))
    yield from zip(ends[::2].tolist(), ends[1::2].tolist(), strict=True)


def blocks(boot: Boot) -> list[Block]:
    """Returns a boot's sentences and tables: its parts, and the core's dearest initcalls."""
    whole = boot.before + boot.core + boot.after
    dearest = max(boot.initcalls, key=lambda one: one[1], default=("", 0))
    answer = f"OP-TEE's core boots in {fmt.count(boot.core)} instructions, "
    answer += f"{fmt.share(boot.core / whole)} of those from power-on to the normal world"
    if dearest[1]:
        answer += f"; its dearest initcall is {dearest[0]} ({fmt.count(dearest[1])})"
    parts = (
        ("TF-A, before OP-TEE", boot.before),
        ("OP-TEE's core", boot.core),
        *((f"    {name}", cost) for name, cost in boot.phases),
        ("TF-A, after OP-TEE", boot.after),
    )
    tables = (("part", parts), ("initcall", sorted(boot.initcalls, key=lambda one: -one[1])))
    body: list[Block] = [Paragraph((f"{answer}.",))]
    for heading, rows in tables:
        shown = [(name, fmt.count(cost), fmt.share(cost / whole)) for name, cost in rows]
        body.append(Table((*left(heading), *right("instructions", "share")), shown))
    waiting = "These are instructions: what devices let a real board wait for is no part of them."
    return [*body, Bullets(((waiting,),))]


def data(boot: Boot) -> dict[str, object]:
    """Returns it for JSON."""
    return asdict(boot) | {"phases": dict(boot.phases), "initcalls": dict(boot.initcalls)}
