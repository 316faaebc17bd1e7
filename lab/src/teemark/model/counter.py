# SPDX-License-Identifier: BSD-2-Clause
"""Compares a TA's own count of its time with the client's time of the same calls. Both clocks must
give the same slope over repetitions: the client's slope assumes that all repetitions cost the same
and share one way in and out, the TA's slope that its counter is right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from teemark.model.decide import Answer, within
from teemark.model.fit import ROUNDING, line
from teemark.model.stats import Estimate, Sampling, exactly
from teemark.run.reader import MeasuredCase
from teemark.run.records import Sample

TOLERANCE = 0.05  # Relative difference up to which the two slopes agree
REPEATS = 3  # A slope needs three numbers of repetitions: two points always fit a line

Pairs = Sequence[Sequence[tuple[float, float]]]
"""Times of the same calls by both clocks, the client's first; one sequence per start."""


@dataclass(frozen=True, slots=True)
class Counted:
    """One case that the TA timed too; times of one call (repeat 1) in nanoseconds."""

    key: str
    inside: Estimate | None  # Time in the TA; None without calls of one operation
    crossing: Estimate | None  # The client's time less the TA's, call by call
    repeats: int  # Number of different counts of repetitions
    ratio: Estimate | None
    """The TA's slope over the client's; None if there are too few repetitions or the slope is 0."""
    tests: int = 1  # Number of cases of which any may show that the clocks differ

    @property
    def deviation(self) -> float | None:
        """Returns the relative difference of the TA's slope from the client's."""
        return self.ratio.value - 1 if self.ratio else None

    @property
    def answer(self) -> Answer | None:
        """Returns whether the clocks agree to within TOLERANCE; None for too few repetitions."""
        if self.repeats < REPEATS:
            return None
        bounds = 1 - TOLERANCE, 1 + TOLERANCE
        return within(self.ratio, *bounds, self.tests) if self.ratio else "undecided"


def _median(pairs: Pairs, label: str, sampling: Sampling, second: float, first: float) -> Estimate:
    starts = [[second * b + first * a for a, b in start] for start in pairs]
    whole = median(a for start in pairs for a, _ in start)
    return sampling.estimate(starts, label, total=whole)


def slope_ratio(pairs: Mapping[int, Pairs], label: str, sampling: Sampling) -> Estimate | None:
    """Returns the ratio of the second clock's slope over x to the first's. Disturbances affect both
    clocks, so draws are made of second - ratio * first, whose slope is 0 at the right ratio.
    Returns None for fewer than three x, or if the first slope may be zero."""
    xs = sorted(x for x in pairs if any(pairs[x]))
    if len(xs) < REPEATS:
        return None

    def median_of(x: int, second: float, first: float) -> Estimate:
        return _median(pairs[x], f"{label} x{x}", sampling, second, first)

    by_first = [median_of(x, 0, 1) for x in xs]
    first_line = line(xs, by_first, "slope", robust=False)
    second_line = line(xs, [median_of(x, 1, 0) for x in xs], "slope", robust=False)
    if first_line is None or second_line is None:
        return None
    first, second = first_line.terms["slope"], second_line.terms["slope"]
    interval = first.interval
    if first.value * (xs[-1] - xs[0]) <= ROUNDING * max(time.value for time in by_first) or (
        interval and interval.low <= 0
    ):
        return None
    # The first clock's medians are added back, since the fit weighs points by their size.
    ratio = second.value / first.value
    moved = ratio * first_line.terms["call"].value - second_line.terms["call"].value
    rests = [
        median_of(x, 1, -ratio) + exactly(time.value + moved)
        for x, time in zip(xs, by_first, strict=True)
    ]
    apart = line(xs, rests, "slope", robust=False)
    if apart is None:
        return None
    off = (apart.terms["slope"] - exactly(first.value)).scaled(1 / first.value)
    return exactly(ratio) + off


def _pairs(
    samples: Sequence[Sample], by_ta: Mapping[int, Sample], repeat: int
) -> list[tuple[float, float]]:
    pairs = [(sample, by_ta.get(sample.seq)) for sample in samples if sample.repeat == repeat]
    return [
        (sample.ns / sample.loops, twin.ns / twin.loops)
        for sample, twin in pairs
        if twin is not None and (twin.repeat, twin.loops) == (repeat, sample.loops)
    ]


def counted(measured: MeasuredCase, sampling: Sampling) -> Counted | None:
    """Returns the case's times by both clocks; None if no sample has both."""
    if not measured.ta_samples:
        return None
    by_ta = {sample.seq: sample for sample in measured.ta_samples}
    pairs: dict[int, Pairs] = {}
    for repeat in measured.repeats:
        starts = [_pairs(start, by_ta, repeat) for start in measured.starts]
        if any(starts):
            pairs[repeat] = starts
    if not pairs:
        return None
    inside = crossing = None
    if 1 in pairs:
        single = pairs[1], f"{measured.key} x1", sampling
        inside, crossing = _median(*single, 1, 0), _median(*single, -1, 1)
    ratio = slope_ratio(pairs, measured.key, sampling)
    return Counted(measured.key, inside, crossing, len(pairs), ratio)


def counted_cases(cases: Sequence[MeasuredCase], sampling: Sampling) -> dict[str, Counted]:
    counts = [count for case in cases if (count := counted(case, sampling)) is not None]
    tests = sum(count.answer is not None for count in counts)
    return {count.key: replace(count, tests=tests) for count in counts}
