# SPDX-License-Identifier: BSD-2-Clause
"""The profile of a traced case: its stored form, and the figures computed from it. Pure."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import msgspec
from msgspec.structs import replace

SCHEMA = 1

_Key = TypeVar("_Key", bound=Hashable)

LEVELS = ("EL0", "EL1", "EL3", "S-EL1", "S-EL0")  # From the program inwards
CLOCK_STEP_NS = 16  # The guest's counter runs at 62.5 MHz

INTERRUPT = re.compile(r"el[01][th]?_(64|32)_(irq|fiq)")
_SLEEP = frozenset({"cpu_do_idle", "default_idle_call", "arch_cpu_idle", "do_idle"})


class Function(msgspec.Struct, frozen=True, array_like=True):
    level: str
    component: str
    name: str
    named: bool = True


class Node(msgspec.Struct, frozen=True, array_like=True):
    """A node of the call tree: a function, called by its parent."""

    parent: int  # index of a node; -1: a root
    function: int
    self: int  # own instructions, without what it calls
    calls: int
    unsure: bool = False
    """A return was lost while this function ran: nodes below it may not be calls of its own."""
    held: int = 0  # own instructions with the normal world's interrupts held off


class TracedSample(msgspec.Struct, frozen=True):
    """The cost of one recorded call."""

    instructions: int
    clock_ns: int | None
    """Time by the guest's clock, less two readings of it; None if nothing timed the call."""


class Unnamed(msgspec.Struct, frozen=True):
    """A block of instructions that no symbol covers."""

    level: str
    module: str
    address: str
    instructions: int


class Link(msgspec.Struct, frozen=True):
    """The number of times that one kind of branch or exception led from `origin` to `target`."""

    origin: str
    target: str
    by: str
    count: int


class SourceLine(msgspec.Struct, frozen=True, array_like=True):
    """A line of the source of one of OP-TEE's functions."""

    function: int
    place: str  # as core/FILE.c:LINE
    instructions: int


class Stretch(msgspec.Struct, frozen=True, array_like=True):
    """A stretch of instructions in which the secure world held off the normal world's interrupts;
    the others are nodes of the call tree, -1 for none."""

    instructions: int
    above: int  # the innermost node that all of it is below
    begins: int
    ends: int


class Held(msgspec.Struct, frozen=True):
    """The stretches of a call in which the secure world held off the normal world's interrupts."""

    number: int
    instructions: int
    sizes: tuple[tuple[int, int, int], ...]
    """Stretches of 2**n to 2**(n + 1) - 1 instructions: n, their number, their instructions."""
    longest: tuple[Stretch, ...]  # the longest first


class CaseTrace(msgspec.Struct, frozen=True, dict=True):
    """The trace of a case: of its recorded calls, the one with the median of the instructions."""

    case: str
    instructions: int
    samples: tuple[TracedSample, ...]
    functions: tuple[Function, ...]
    nodes: tuple[Node, ...]
    unnamed: tuple[Unnamed, ...] = ()
    passes: tuple[Link, ...] = ()  # Passes between exception levels
    lost: tuple[Link, ...] = ()
    """Returns to places from which nothing in the window had called."""
    lines: tuple[SourceLine, ...] = ()  # Dearest lines of each function; none without DWARF
    held: Held | None = None  # None: the core has no symbols, so its mask isn't known

    @cached_property
    def totals(self) -> tuple[int, ...]:
        """Returns the instructions of each node, those of the nodes below included."""
        return self._with_below([node.self for node in self.nodes])

    @cached_property
    def held_totals(self) -> tuple[int, ...]:
        """Returns those of `totals` that ran with interrupts held off; zeros if it isn't known."""
        return self._with_below([node.held for node in self.nodes])

    @property
    def longest_held(self) -> int:
        """Returns the instructions of the longest stretch with interrupts held off; 0: unknown."""
        return self.held.longest[0].instructions if self.held and self.held.longest else 0

    def _with_below(self, totals: list[int]) -> tuple[int, ...]:
        for index in range(len(self.nodes) - 1, -1, -1):  # parents come before children
            if self.nodes[index].parent >= 0:
                totals[self.nodes[index].parent] += totals[index]
        return tuple(totals)

    def levels(self) -> dict[str, int]:
        by_level = self._by(lambda function: function.level)
        return {level: by_level[level] for level in LEVELS if by_level[level]}

    def components(self) -> list[tuple[str, str, int]]:
        """Returns level, component and instructions, the largest first."""
        by_component = self._by(lambda function: (function.level, function.component))
        return [(*key, count) for key, count in _sorted(by_component) if count]

    def _by(self, key: Callable[[Function], _Key]) -> Counter[_Key]:
        sums: Counter[_Key] = Counter()
        for function, cost in self.costs.items():
            sums[key(function)] += cost.self
        return sums

    @cached_property
    def costs(self) -> "dict[Function, FunctionCost]":
        """Returns the cost of each function, summed over its nodes in the tree."""
        costs: dict[Function, FunctionCost] = {}
        for stack, node, whole in zip(self.stacks, self.nodes, self.totals, strict=True):
            *above, function = stack
            cost = costs.setdefault(function, FunctionCost(function))
            cost.self += node.self
            cost.calls += node.calls
            cost.unsure |= node.unsure
            if function not in above:  # the outermost call's total includes recursion
                cost.total += whole
        return costs

    @cached_property
    def own_costs(self) -> dict[tuple[str, str], int]:
        """Returns each function's own instructions, by level and name, without what it calls."""
        return dict(self._by(lambda function: (function.level, function.name)))

    @cached_property
    def stacks(self) -> tuple[tuple[Function, ...], ...]:
        """Returns each node's stack of functions, from the root to the node itself."""
        stacks: list[tuple[Function, ...]] = []
        for node in self.nodes:
            above = stacks[node.parent] if node.parent >= 0 else ()
            stacks.append((*above, self.functions[node.function]))
        return tuple(stacks)

    @property
    def nameless(self) -> int:
        """Returns the instructions of code without a symbol."""
        return self._by(lambda function: function.named)[False]

    @property
    def core_nameless(self) -> int:
        """Returns the nameless instructions of OP-TEE's core."""
        return self._by(lambda function: (function.level, function.named))["S-EL1", False]

    def interrupts(self) -> tuple[int, int]:
        """Returns the number of interrupts, and the instructions that the kernel spent on them."""
        count = instructions = 0
        for index, node in enumerate(self.nodes):
            if INTERRUPT.fullmatch(self.functions[node.function].name):
                count += node.calls
                instructions += self.totals[index]
        return count, instructions

    def others(self) -> list[tuple[str, int]]:
        """Returns the other threads in the window, with the instructions of each."""
        by_thread: Counter[str] = Counter()
        for node, total in zip(self.nodes, self.totals, strict=True):
            if node.parent < 0 and not self.functions[node.function].level:
                by_thread[self.functions[node.function].name] += total
        return _sorted(by_thread)

    @property
    def slept(self) -> bool:
        return any(self.functions[node.function].name in _SLEEP for node in self.nodes)

    def clock_agrees(self) -> bool:
        """Returns true if the guest's clock shows one nanosecond per instruction of the shown
        window, within one clock step for each of its two readings."""
        return all(
            abs(sample.clock_ns - sample.instructions) <= 2 * CLOCK_STEP_NS
            for sample in self.samples
            if sample.clock_ns is not None and sample.instructions == self.instructions
        )


def together(cases: Sequence[CaseTrace]) -> CaseTrace:
    """Returns all traced calls as a single one, for one flame graph of all."""
    nodes: list[Node] = []
    functions = list(dict.fromkeys(function for case in cases for function in case.functions))
    number = {function: index for index, function in enumerate(functions)}
    for case in cases:
        first = len(nodes)
        for node in case.nodes:
            parent = node.parent + first if node.parent >= 0 else -1
            function = number[case.functions[node.function]]
            nodes.append(replace(node, parent=parent, function=function))
    total = sum(case.instructions for case in cases)
    sample = (TracedSample(total, None),)
    return CaseTrace("all traced calls", total, sample, tuple(functions), tuple(nodes))


class Trace(msgspec.Struct, frozen=True):
    """All traced cases of a run."""

    schema: int
    optee: str  # Version and origin of OP-TEE, in words
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
    """A return was lost inside: `total` may include calls of other functions, or lack some."""


def _sorted(counts: Counter[_Key]) -> list[tuple[_Key, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))
