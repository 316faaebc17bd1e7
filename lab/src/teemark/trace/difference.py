# SPDX-License-Identifier: BSD-2-Clause
"""Two traces of the same case: which functions make the difference. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from teemark.trace.profile import CaseTrace, Function


@dataclass(frozen=True, slots=True)
class Change:
    """A function's own instructions, without what it calls."""

    function: Function
    before: int
    after: int

    @property
    def more(self) -> int:
        return self.after - self.before


def changes(before: CaseTrace, after: CaseTrace) -> list[Change]:
    """Every function that differs, the largest difference first. They add up to the whole."""
    own: dict[tuple[str, str], list[int]] = {}
    known: dict[tuple[str, str], Function] = {}
    for index, case in enumerate((before, after)):
        for function, cost in case.costs.items():
            key = function.level, function.name
            own.setdefault(key, [0, 0])[index] += cost.self
            known.setdefault(key, function)
    found = [Change(known[key], *counts) for key, counts in own.items() if counts[0] != counts[1]]
    return sorted(found, key=lambda c: (-abs(c.more), c.function.level, c.function.name))
