# SPDX-License-Identifier: BSD-2-Clause
"""Estimates the change of all cases' common level over a run, as a throttling CPU causes it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import permutations
from statistics import median

import numpy as np

from teemark.model.decide import Answer, any_above
from teemark.model.stats import ENOUGH, Estimate, Sampling
from teemark.run.reader import MeasuredCase

PARTS = 4  # Parts of a run, of equally many samples, whose levels are compared
BOUND = 1.05  # Largest ratio of two parts' levels of a run that is steady


@dataclass(frozen=True, slots=True)
class Drift:
    """The levels of a run's parts, each divided by the whole run's level, in order of time."""

    levels: tuple[Estimate, ...]
    turn: float  # Share of the samples before the greatest change

    @property
    def last(self) -> Estimate:
        """Returns the last part's level divided by the first part's."""
        return self.levels[-1] / self.levels[0]

    @property
    def most(self) -> Estimate:
        """Returns the largest ratio of two parts' levels."""
        return max((a / b for a, b in permutations(self.levels, 2)), key=lambda ratio: ratio.value)

    @property
    def answer(self) -> Answer:
        """Returns "yes" if two parts surely differ by more than BOUND, "no" if surely none do."""
        return any_above([a / b for a, b in permutations(self.levels, 2)], BOUND)


def drift(cases: Iterable[MeasuredCase], sampling: Sampling) -> Drift | None:
    """Returns the levels of a run's parts; None for too few samples. Each sample counts relative to
    the median of its case."""
    ratios: list[tuple[int, float]] = []
    for measured in cases:
        for repeat in measured.repeats:
            mine = [sample for sample in measured.samples if sample.repeat == repeat]
            middle = median(sample.ns / sample.loops for sample in mine)
            if middle > 0 and len(mine) > 1:
                ratios += [(sample.seq, sample.ns / sample.loops / middle) for sample in mine]
    if len(ratios) < PARTS * ENOUGH:
        return None
    ordered = np.array([value for _, value in sorted(ratios)])
    levels = tuple(
        replace(sampling.estimate([part.tolist()], f"drift {number}"), cases=frozenset())
        for number, part in enumerate(np.array_split(ordered, PARTS))
    )
    turn = int(np.argmax(np.abs(np.cumsum(ordered - ordered.mean()))))
    return Drift(levels, (turn + 1) / ordered.size)
