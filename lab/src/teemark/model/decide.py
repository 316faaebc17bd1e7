# SPDX-License-Identifier: BSD-2-Clause
"""Decisions on intervals: yes, no or undecided; and how many more samples would decide."""

import math
from collections.abc import Sequence
from typing import Literal

from teemark.model.stats import ENOUGH, Estimate

Answer = Literal["yes", "no", "undecided"]
Side = Literal["faster", "slower", "same", "undecided"]

MOST = 10_000
"""Largest number of samples of a case, or of starts, that is suggested to settle a question."""

ALIKE = 1.01
"""Two things are equally fast if the whole interval of their ratio lies between 1/ALIKE and ALIKE.
Exact counts need this margin too: a request to the kernel's crypto varies by 0.4 %, depending on
the free pages."""


def above(figure: Estimate, threshold: float) -> Answer:
    """Returns whether the whole interval of the value lies above the threshold."""
    interval = figure.interval
    if interval is None:
        return "undecided"
    if interval.low > threshold:
        return "yes"
    return "no" if interval.high < threshold else "undecided"


def within(figure: Estimate, low: float, high: float) -> Answer:
    """Returns "yes" if the whole interval lies between `low` and `high`, "no" if it lies outside,
    otherwise "undecided"."""
    interval = figure.interval
    if interval is None:
        return "undecided"
    if low <= interval.low and interval.high <= high:
        return "yes"
    return "no" if interval.high < low or interval.low > high else "undecided"


def samples_needed(figure: Estimate, thresholds: Sequence[float], have: int) -> int | None:
    """Returns about how many samples to add to the `have` present ones until the interval excludes
    each threshold. Its width falls with the square root of the number of samples. None if there
    would be more than MOST."""
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
