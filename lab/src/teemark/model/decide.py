# SPDX-License-Identifier: BSD-2-Clause
"""Decisions on intervals: yes, no or undecided; and how many more samples would decide."""

import math
from collections.abc import Sequence
from typing import Literal

from teemark.model.power import student
from teemark.model.stats import ENOUGH, TOO_FEW, Estimate
from teemark.wording.interval import LEVEL, Interval

Answer = Literal["yes", "no", "undecided"]
Side = Literal["faster", "slower", "same", "undecided"]

MOST = 10_000
"""Largest number of samples of a case, or of starts, that is suggested to settle a question."""

ALIKE = 1.01
"""Two things are equally fast if the whole interval of their ratio lies between 1/ALIKE and ALIKE.
Exact counts need this margin too: a request to the kernel's crypto varies by 0.4 %, depending on
the free pages."""


def _for_all(figure: Estimate, tests: int) -> Interval | None:
    """Returns the interval of one of `tests` figures that hold the truth together with probability
    LEVEL (Bonferroni); None if it is unknown, or if nothing follows from the value."""
    interval = None if figure.meaningless else figure.interval
    if interval is None or tests < 2 or not interval.width:
        return interval
    freedom = max(1, int(min(figure.freedom, 1e6)))
    wider = student((1 - LEVEL) / tests, freedom) / student(1 - LEVEL, freedom)
    low, high = (
        figure.value + (end - figure.value) * wider for end in (interval.low, interval.high)
    )
    return Interval(low, high)


def above(figure: Estimate, threshold: float, tests: int = 1) -> Answer:
    """Returns whether the whole interval of the value lies above the threshold; undecided if
    nothing follows from the value. `tests`: number of figures of which any may give the answer."""
    interval = _for_all(figure, tests)
    if interval is None:
        return "undecided"
    if interval.low > threshold:
        return "yes"
    return "no" if interval.high < threshold else "undecided"


def any_above(figures: Sequence[Estimate], threshold: float) -> Answer:
    """Returns "yes" if one of the figures surely lies above the threshold, "no" if surely none
    does. Where none does, "yes" comes out in at most 1 - LEVEL of the runs."""
    answers = {above(figure, threshold, len(figures)) for figure in figures}
    return "yes" if "yes" in answers else "no" if answers == {"no"} else "undecided"


def within(figure: Estimate, low: float, high: float, tests: int = 1) -> Answer:
    """Returns "yes" if the whole interval lies between `low` and `high`, "no" if it lies outside,
    otherwise "undecided", as for a value from which nothing follows; `tests` as in `above`."""
    interval = _for_all(figure, tests)
    if interval is None:
        return "undecided"
    if low <= interval.low and interval.high <= high:
        return "yes"
    return "no" if interval.high < low or interval.low > high else "undecided"


def samples_needed(figure: Estimate, thresholds: Sequence[float], have: int) -> int | None:
    """Returns about how many samples to add to the `have` present ones until the interval excludes
    each threshold. Its width falls with the square root of the number of samples. None if there
    would be more than MOST, or if samples aren't what is lacking."""
    interval = figure.interval
    if figure.meaningless or (interval is None and (figure.vague != TOO_FEW or have >= ENOUGH)):
        return None
    if interval is None:
        return ENOUGH - have
    needed = 1.0
    for threshold in thresholds:
        if threshold in interval:
            end = interval.low if threshold < figure.value else interval.high
            gap = abs(figure.value - threshold)
            needed = max(needed, (1 + abs(threshold - end) / gap) ** 2 if gap else math.inf)
    return math.ceil(have * (needed - 1)) if have * needed < MOST else None
