# SPDX-License-Identifier: BSD-2-Clause
"""Decisions on intervals: yes, no, or undecided with what would decide."""

import math
from collections.abc import Sequence
from typing import Literal

from teemark.model.stats import ENOUGH, Estimate

Answer = Literal["yes", "no", "undecided"]
Side = Literal["faster", "slower", "same", "undecided"]

MOST = 10_000
"""Samples of a case, or starts, beyond which nobody goes: what needs more stays undecided."""

ALIKE = 1.01
"""Two things are as fast as each other when their ratio is within this either way, with all of its
interval. Exact counts need it, too: a request to the kernel's crypto takes up to 0.4 % more or less
by the pages that the kernel has at hand."""


def above(figure: Estimate, threshold: float) -> Answer:
    """Says whether a value is above the bound, with all of its interval."""
    interval = figure.interval
    if interval is None:
        return "undecided"
    if interval.low > threshold:
        return "yes"
    return "no" if interval.high < threshold else "undecided"


def within(figure: Estimate, low: float, high: float) -> Answer:
    """Says whether a value is in these bounds, or outside of one of them, with all of its
    interval."""
    interval = figure.interval
    if interval is None:
        return "undecided"
    if low <= interval.low and interval.high <= high:
        return "yes"
    return "no" if interval.high < low or interval.low > high else "undecided"


def more(figure: Estimate, thresholds: Sequence[float], have: int) -> int | None:
    """Returns about how many more samples bring the interval to one side of each threshold; `have`
    is how many there are. An interval narrows with the square root of their number. None where no
    sensible number would do."""
    interval = figure.interval
    if interval is None:
        return max(ENOUGH - have, 1)
    needed = 1.0
    for threshold in thresholds:
        if threshold in interval:
            end = interval.low if threshold < figure.value else interval.high
            gap = abs(figure.value - threshold)
            needed = max(needed, (1 + abs(threshold - end) / gap) ** 2 if gap else math.inf)
    return math.ceil(have * (needed - 1)) if have * needed < MOST else None
