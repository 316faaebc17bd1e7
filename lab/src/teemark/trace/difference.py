# SPDX-License-Identifier: BSD-2-Clause
"""Compares two traces of a case by functions. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from teemark.trace.profile import CaseTrace, Function, Trace
from teemark.wording import fmt

HELD_SLACK = 0.01
"""The longest stretch with interrupts held off has grown if it is longer by more than this share.
Two boots of one build gave the same in five calls, two builds of one source differed by 0.3 %."""


def held_grew(before: int, after: int, limit: float = 0.0) -> bool:
    """Returns true if the longest stretch is known (not 0) and grew by more than `limit`, a share
    of it, and more than builds differ by."""
    return after > before * (1 + max(limit, HELD_SLACK)) > 0


@dataclass(frozen=True, slots=True)
class FunctionChange:
    """A function whose own instructions changed; the functions that it calls aren't included."""

    function: Function
    before: int
    after: int

    @property
    def growth(self) -> int:
        return self.after - self.before


def other_cases(before: Trace, after: Trace) -> list[str]:
    """Returns sentences on what only one of two traces has: another OP-TEE, other options, further
    cases."""
    lines = []
    if before.optee != after.optee:
        lines.append(f"The other run had another OP-TEE: {before.optee}; this one: {after.optee}.")
    keys = [[case.case for case in trace.cases] for trace in (before, after)]
    for which, cases, others in (("the other run", *keys), ("this run", *reversed(keys))):
        alone = [key for key in cases if key not in others]
        if alone:
            lines.append(f"Only {which} has {', '.join(alone)}.")
    return lines


def changes(before: CaseTrace, after: CaseTrace) -> list[FunctionChange]:
    """Returns every function that changed, the largest difference first. The sum is the total
    change."""
    functions = {(f.level, f.name): f for case in (after, before) for f in case.functions}
    changed = [
        FunctionChange(function, before.own_costs.get(key, 0), after.own_costs.get(key, 0))
        for key, function in functions.items()
        if before.own_costs.get(key, 0) != after.own_costs.get(key, 0)
    ]
    return sorted(changed, key=lambda c: (-abs(c.growth), c.function.level, c.function.name))


def in_words(changed: Sequence[FunctionChange], most: int) -> str:
    """Names the functions that changed most, and the sum of the other changes."""
    words = [
        f"{c.function.name} ({c.function.level}) {fmt.change(c.growth)}" for c in changed[:most]
    ]
    if rest := changed[most:]:
        total = fmt.change(sum(change.growth for change in rest))
        words.append(f"{fmt.plural(len(rest), 'function')} more {total}")
    return ", ".join(words)
