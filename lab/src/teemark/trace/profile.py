# SPDX-License-Identifier: BSD-2-Clause
"""A traced case: what is kept of it, and what is computed from that. Pure."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import msgspec

SCHEMA = 1

_Key = TypeVar("_Key", bound=Hashable)

LEVELS = ("EL0", "EL1", "EL3", "S-EL1", "S-EL0")  # From the program inwards, in the order of a call
CLOCK_STEP_NS = 16  # The guest's counter runs at 62.5 MHz

INTERRUPT = re.compile(r"el[01][th]?_(64|32)_(irq|fiq)")
_SLEEP = frozenset({"cpu_do_idle", "default_idle_call", "arch_cpu_idle", "do_idle"})


class Function(msgspec.Struct, frozen=True, array_like=True):
    level: str
    component: str
    name: str
    named: bool = True


class Node(msgspec.Struct, frozen=True, array_like=True):
    """A place in the call tree."""

    parent: int  # -1: a root
    function: int
    self: int  # instructions in it, without what it calls
    calls: int
    unsure: bool = False
    """A return was lost while it was on the stack: what is below it may not all be its own."""


class Sample(msgspec.Struct, frozen=True):
    """One recorded call."""

    instructions: int
    clock_ns: int | None
    """The time by the guest's clock, without what its two readings take; None: nothing timed it."""


class Unnamed(msgspec.Struct, frozen=True):
    """A block of code that no symbol covers."""

    level: str
    module: str
    address: str
    instructions: int


class Link(msgspec.Struct, frozen=True):
    """Counts how often one place went to another."""

    origin: str
    target: str
    by: str
    count: int


class Line(msgspec.Struct, frozen=True, array_like=True):
    """A line of the source of one of OP-TEE's functions."""

    function: int
    place: str  # core/FILE.c:LINE
    instructions: int


class CaseTrace(msgspec.Struct, frozen=True, dict=True):
    """One call, as its median window shows it."""

    case: str
    instructions: int
    samples: tuple[Sample, ...]
    functions: tuple[Function, ...]
    nodes: tuple[Node, ...]
    unnamed: tuple[Unnamed, ...] = ()
    passes: tuple[Link, ...] = ()  # From level to level
    lost: tuple[Link, ...] = ()
    """Returns to a place that nothing in the window had called from."""
    lines: tuple[Line, ...] = ()  # The dearest of each function whose build has DWARF

    @cached_property
    def totals(self) -> tuple[int, ...]:
        """Returns the instructions in each node and below it."""
        totals = [node.self for node in self.nodes]
        for index in range(len(self.nodes) - 1, -1, -1):  # parents come before children
            if self.nodes[index].parent >= 0:
                totals[self.nodes[index].parent] += totals[index]
        return tuple(totals)

    def levels(self) -> dict[str, int]:
        found = self._by(lambda function: function.level)
        return {level: found[level] for level in LEVELS if found[level]}

    def components(self) -> list[tuple[str, str, int]]:
        """Returns level, component and instructions, the largest first."""
        found = self._by(lambda function: (function.level, function.component))
        return [(*key, count) for key, count in _sorted(found) if count]

    def _by(self, key: Callable[[Function], _Key]) -> Counter[_Key]:
        """Groups all functions by `key`, and adds up each group's own instructions, without those
        of what its functions call."""
        found: Counter[_Key] = Counter()
        for function, cost in self.costs.items():
            found[key(function)] += cost.self
        return found

    @cached_property
    def costs(self) -> "dict[Function, FunctionCost]":
        """Returns the cost of each function, added up over all its places in the tree."""
        found: dict[Function, FunctionCost] = {}
        for stack, node, whole in zip(self.stacks, self.nodes, self.totals, strict=True):
            *above, function = stack
            cost = found.setdefault(function, FunctionCost(function))
            cost.self += node.self
            cost.calls += node.calls
            cost.unsure |= node.unsure
            if function not in above:  # a recursion is in its first call's total already
                cost.total += whole
        return found

    @cached_property
    def own(self) -> dict[tuple[str, str], int]:
        """Returns the instructions of each function, by level and name, without what it calls."""
        return dict(self._by(lambda function: (function.level, function.name)))

    @cached_property
    def stacks(self) -> tuple[tuple[Function, ...], ...]:
        """Returns the functions on the stack at each node, from its root to its own."""
        found: list[tuple[Function, ...]] = []
        for node in self.nodes:
            above = found[node.parent] if node.parent >= 0 else ()
            found.append((*above, self.functions[node.function]))
        return tuple(found)

    @property
    def nameless(self) -> int:
        """Returns the instructions of code without a symbol."""
        return self._by(lambda function: function.named)[False]

    @property
    def core_nameless(self) -> int:
        """Returns the nameless instructions of OP-TEE's core."""
        return self._by(lambda function: (function.level, function.named))["S-EL1", False]

    def interrupts(self) -> tuple[int, int]:
        """Returns how many there were, and what the kernel did for them."""
        count = instructions = 0
        for index, node in enumerate(self.nodes):
            if INTERRUPT.fullmatch(self.functions[node.function].name):
                count += node.calls
                instructions += self.totals[index]
        return count, instructions

    def others(self) -> list[tuple[str, int]]:
        """Returns the other threads in the window, with their instructions."""
        found: Counter[str] = Counter()
        for node, total in zip(self.nodes, self.totals, strict=True):
            if node.parent < 0 and not self.functions[node.function].level:
                found[self.functions[node.function].name] += total
        return _sorted(found)

    @property
    def slept(self) -> bool:
        return any(self.functions[node.function].name in _SLEEP for node in self.nodes)

    def clock_agrees(self) -> bool:
        """Tells whether the guest's clock says as many nanoseconds as the shown window has
        instructions, to a step for each of its readings."""
        return all(
            abs(sample.clock_ns - sample.instructions) <= 2 * CLOCK_STEP_NS
            for sample in self.samples
            if sample.clock_ns is not None and sample.instructions == self.instructions
        )


def together(cases: Sequence[CaseTrace]) -> CaseTrace:
    """Returns the traced calls as if they were a single one, for one flame graph of all."""
    nodes: list[Node] = []
    functions = list(dict.fromkeys(function for case in cases for function in case.functions))
    number = {function: index for index, function in enumerate(functions)}
    for case in cases:
        first = len(nodes)
        for node in case.nodes:
            parent = node.parent + first if node.parent >= 0 else -1
            function = number[case.functions[node.function]]
            nodes.append(Node(parent, function, node.self, node.calls, node.unsure))
    total = sum(case.instructions for case in cases)
    sample = (Sample(total, None),)
    return CaseTrace("all traced calls", total, sample, tuple(functions), tuple(nodes))


class Trace(msgspec.Struct, frozen=True):
    """All traced cases of a run."""

    schema: int
    optee: str  # Which OP-TEE it was, in words
    cases: tuple[CaseTrace, ...]

    def case(self, key: str) -> CaseTrace | None:
        return next((case for case in self.cases if case.case == key), None)


@dataclass(slots=True)
class FunctionCost:
    function: Function
    self: int = 0
    total: int = 0
    calls: int = 0
    unsure: bool = False
    """`total` may hold calls that aren't its own, or lack some: a return was lost inside."""


def _sorted(found: Counter[_Key]) -> list[tuple[_Key, int]]:
    return sorted(found.items(), key=lambda item: (-item[1], str(item[0])))
