# SPDX-License-Identifier: BSD-2-Clause
"""Decisions on intervals: yes, no, or undecided with what would decide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from teemark.model.stats import ENOUGH, Estimate

Answer = Literal["yes", "no", "undecided"]

MOST = 1_000_000
"""More samples than that decide nothing: the figure is as good as at its threshold."""


def above(figure: Estimate, threshold: float) -> Answer:
    """Whether it is, with all of its interval."""
    interval = figure.interval
    if interval is None:
        return "undecided"
    if interval.low > threshold:
        return "yes"
    return "no" if interval.high < threshold else "undecided"


def within(figure: Estimate, low: float, high: float) -> Answer:
    """Whether it is in these bounds, or outside of one of them, with all of its interval."""
    interval = figure.interval
    if interval is None:
        return "undecided"
    if low <= interval.low and interval.high <= high:
        return "yes"
    return "no" if interval.high < low or interval.low > high else "undecided"


def more(figure: Estimate, thresholds: Sequence[float], have: int) -> int | None:
    """About how many samples beyond the `have` there are bring the interval to one side of the
    thresholds, as its width falls with their square root; None where no number would."""
    interval = figure.interval
    if interval is None:
        return max(ENOUGH - have, 1)
    needed = 1.0
    for threshold in thresholds:
        if threshold in interval:
            gap = abs(figure.value - threshold)
            reach = (
                threshold - interval.low if threshold < figure.value else interval.high - threshold
            )
            half = gap + reach
            needed = max(needed, math.inf if gap == 0 else (half / gap) ** 2)
    return math.ceil(have * (needed - 1)) if have * needed < MOST else None


@dataclass(frozen=True, slots=True)
class Crossing:
    """Between two measured sizes, where one thing becomes the faster one."""

    after: int
    before: int
    faster: bool  # from here on; else it becomes the slower one


@dataclass(frozen=True, slots=True)
class Sides:
    """At each size, whether one thing is faster than another."""

    answers: tuple[tuple[int, Answer], ...]

    @property
    def decided(self) -> tuple[tuple[int, bool], ...]:
        return tuple((size, said == "yes") for size, said in self.answers if said != "undecided")

    @property
    def crossings(self) -> tuple[Crossing, ...]:
        """Only between sizes where it is decided: nothing is extrapolated."""
        found = self.decided
        return tuple(
            Crossing(a, b, faster) for (a, was), (b, faster) in pairwise(found) if was != faster
        )


def sides(one: Sequence[tuple[int, Estimate]], other: Sequence[tuple[int, Estimate]]) -> Sides:
    """Whether `one` is faster than `other` at the sizes both have; where intervals overlap that is
    undecided."""
    others = dict(other)
    found: list[tuple[int, Answer]] = []
    for size, mine in sorted(one, key=lambda pair: pair[0]):
        if size not in others:
            continue
        a, b = mine.interval, others[size].interval
        if a is None or b is None or a.overlaps(b):
            found.append((size, "undecided"))
        else:
            found.append((size, "yes" if a.high < b.low else "no"))
    return Sides(tuple(found))
