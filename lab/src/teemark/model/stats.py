# SPDX-License-Identifier: BSD-2-Clause
"""Medians, and how well they are known: each has draws, values that it could as well have. Whatever
is computed from medians is computed from their draws, and its interval is their middle 95 %.

The number of n independent samples below the median is Binomial(n, 1/2), so a draw is an order
statistic at a random rank. `Dependence` widens the ranks where samples depend on their neighbours.
The draws of a run of several starts are Student's t over the starts' medians, with the same random
numbers in all cases: what a start does to all of them cancels.
Sources: W. J. Conover, Practical Nonparametric Statistics, 3rd ed., section 3.2;
T. Hettmansperger and S. Sheather, Confidence intervals based on interpolated order statistics
(1986); C. Geyer, Practical Markov Chain Monte Carlo (1992), section 3.3."""

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, reduce
from statistics import NormalDist, median
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from teemark.base.interval import LEVEL, Interval
from teemark.base.work import Work
from teemark.run.reader import MeasuredCase

Array = NDArray[np.float64]

DRAWS = 2000
SEED = 20260101

ENOUGH = 6  # Fewer samples of one start have no interval: the sign test can't reach 95 %

STEADY = 0.01
"""The middle half of the samples of what is counted lies this near together, as a share. The
kernel's crypto spreads by up to 0.8 % by the pages at hand; what waits for a disk by far more."""

COARSE = 0.8
"""Where the middle half of the samples spans less of a clock's step, the median may be anywhere in
it. That is a bound, not chance: such intervals hold the truth in 98 to 100 %."""

SMOOTH = 10
"""Fewer samples are not interpolated between, as two ways of taking a time would need more to be
seen: the interval then ends at a sample, and holds the truth whatever the distribution."""

EXACT_BINOMIAL = 400
"""Up to so many samples the binomial distribution is summed; beyond it is as good as normal."""

FREEDOM = 1.25
"""Times the square root of the number of samples: the degrees of freedom of the distances between
order statistics. Found by simulation (lab/tests/intervals.py)."""

MAX_LAG = 1000

VISIBLE = 1.3
"""Neighbours must be that many standard errors alike, for samples to count as dependent."""

NEXT_TO_NOTHING = 1e-6  # Relative error of a model below which it isn't worth a word

Z = 1.959963984540054


@dataclass(frozen=True, eq=False)
class Estimate:
    """A figure, with values that it could as well have: `draws`, None for too few samples, one
    value for an exact figure. `freedom` says how well their spread is known, as degrees of freedom
    of Student's t (Welch and Satterthwaite for many medians, unless these `share` their starts)."""

    value: float
    draws: Array | None = None
    freedom: float = math.inf
    shared: bool = False
    counted: bool = False  # A number of instructions, made of counts alone; it may not be exact

    @cached_property
    def interval(self) -> Interval | None:
        """Returns the middle 95 % of the draws, as much wider as the spread is uncertain."""
        if self.draws is None:
            return None
        if self.draws.size == 1:
            return Interval(float(self.draws[0]), float(self.draws[0]))
        tail = (1 - LEVEL) / 2
        low, high = np.quantile(self.draws, (tail, 1 - tail)) - self.value
        below, above = np.array((min(low, 0.0), max(high, 0.0))) * student(self.freedom)
        return Interval(self.value + float(below), self.value + float(above))

    @property
    def exact(self) -> bool:
        return self.draws is not None and self.draws.size == 1

    @cached_property
    def variance(self) -> float:
        return 0.0 if self.draws is None else float(self.draws.var())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Estimate):
            return False
        return (self.value, self.interval) == (other.value, other.interval)

    def __hash__(self) -> int:
        return hash(self.value)

    def __add__(self, other: "Estimate") -> "Estimate":
        value = self.value + other.value
        counted = self.counted and other.counted
        if self.draws is None or other.draws is None:
            return Estimate(value, counted=counted)
        freedom = freedom_of((1, self), (1, other))
        return Estimate(value, self.draws + other.draws, *freedom, counted)

    def __sub__(self, other: "Estimate") -> "Estimate":
        return self + other.scaled(-1.0)

    def __truediv__(self, other: "Estimate") -> "Estimate":
        """Returns the quotient. It has no interval where the divisor may be zero, since the ratio
        could be anything. An exact figure over a time gets the interval from the time's alone."""
        value = self.value / other.value if other.value else math.inf
        divisor = other.interval
        if self.draws is None or other.draws is None or divisor is None or 0 in divisor:
            return Estimate(value)
        if self.exact:
            wide = other.value + (other.draws - other.value) * student(other.freedom)
            turned = self.draws / np.clip(wide, divisor.low, divisor.high)
            return Estimate(value, turned, shared=other.shared)
        return Estimate(value, self.draws / other.draws, *freedom_of((1, self), (value, other)))

    def scaled(self, factor: float) -> "Estimate":
        draws = None if self.draws is None else self.draws * factor
        return Estimate(self.value * factor, draws, self.freedom, self.shared, self.counted)

    def widened(self, share: float | None, label: str) -> "Estimate":
        """Returns the estimate with a further error, such as a model's: 95 of 100 draws move by
        less than `share` of the value. With None, an unknown error, it has no interval."""
        if share is None:
            return Estimate(self.value, counted=self.counted)
        if self.draws is None or share < NEXT_TO_NOTHING:
            return self
        rng = np.random.default_rng([SEED, crc32(label.encode())])
        draws = self.draws + self.value * rng.uniform(-share / LEVEL, share / LEVEL, DRAWS)
        return Estimate(self.value, draws, self.freedom, self.shared, self.counted)


def freedom_of(*parts: tuple[float, Estimate]) -> tuple[float, bool]:
    """Returns the degrees of freedom of a sum of so much of each part, and whether they are
    shared."""
    known = [(share**2 * part.variance, part) for share, part in parts]
    total = sum(variance for variance, _ in known)
    if any(part.shared for _, part in known):
        return min(part.freedom for variance, part in known), True
    uncertain = sum(variance**2 / part.freedom for variance, part in known)
    return total**2 / uncertain if uncertain > 0 else math.inf, False


def student(freedom: float) -> float:
    """Returns the 97.5 % point of Student's t over that of the normal distribution: for few degrees
    of freedom exactly, for more by the expansion of Cornish and Fisher."""
    if freedom in _STUDENT:
        return _STUDENT[freedom] / Z
    z2 = Z**2
    first = (z2 + 1) / 4
    second = (5 * z2**2 + 16 * z2 + 3) / 96
    third = (3 * z2**3 + 19 * z2**2 + 17 * z2 - 15) / 384
    return 1 + (first + (second + third / freedom) / freedom) / freedom


_STUDENT: dict[float, float] = {1: 12.7062, 2: 4.3027, 3: 3.1824}


def exactly(value: float) -> Estimate:
    """Returns the estimate of a figure that is counted, not sampled, or known."""
    return Estimate(value, np.array([value]), counted=True)


def added(parts: Iterable[Estimate]) -> Estimate:
    """Returns the sum of one part or more."""
    return reduce(operator.add, parts)


def centre(starts: Sequence[Sequence[float]]) -> float:
    """Returns the mean of the starts' medians."""
    medians = [median(values) for values in starts if values]
    return math.fsum(medians) / len(medians)


def estimate(
    starts: Sequence[Sequence[float]],
    label: str,
    dependence: float = 1.0,
    common: float = 0.0,
    grain: float = 0.0,
    *,
    exact: bool = False,
    of: float = 0.0,
) -> Estimate:
    """Returns the median of these samples, one sequence a start of the machine; ValueError without
    a sample. Draws depend on `label`, which names the case. `dependence` samples are worth one
    independent one; `common` is the share of the variance that cases measured around it have too.
    `grain` is the step of the clock in the unit of the values. `exact`: the clock counts
    instructions; `of` is what it counted where the values are differences."""
    found = [values for values in starts if values]
    if not found:
        raise ValueError("no values to estimate from")
    value = centre(found)
    if exact and steady([one for values in found for one in values], of):
        return exactly(value)
    if len(found) > 1:
        shifts = np.array([median(values) for values in found]) - value
        drawn = value + _start_weights(len(found)) @ shifts
        return Estimate(value, drawn, len(found) - 1, shared=True)
    places = _places(len(found[0]), round(dependence, 3))
    if places is None:
        return Estimate(value)
    rng = np.random.default_rng([SEED, crc32(label.encode())])
    places = rng.permutation(places)
    if common > 0:
        count = len(found[0])
        middle, shared = (count - 1) / 2, math.sqrt(common * dependence * count) / 2
        apart = (places - middle) * math.sqrt(1 - common) + _common_shifts() * shared
        places = np.clip(middle + apart, 0, count - 1)
    ordered = np.sort(np.asarray(found[0], dtype=np.float64))
    if grain > 0:
        ordered = _apart(ordered, grain)
        value = median(ordered.tolist())
    drawn = np.interp(places, np.arange(ordered.size), ordered)
    half = ordered.size // 4
    if ordered[-1 - half] - ordered[half] < COARSE * grain:
        # The clock is coarser than what it measures: the median may be anywhere in a step.
        drawn = drawn + rng.uniform(-grain / 2, grain / 2, drawn.size)
    # The ranks hold for one median. Their draws are wider than it varies, since the distances of
    # order statistics are as uncertain as a spread from so many samples is.
    freedom = FREEDOM * math.sqrt(ordered.size / dependence)
    return Estimate(value, value + (drawn - value) / student(freedom), freedom)


def rarest(starts: int) -> float:
    """Returns the share of all starts that must go some way for so many to meet that way with a
    confidence of LEVEL. No interval knows of rarer ones."""
    return 1.0 - math.pow(1.0 - LEVEL, 1.0 / starts)


def quartiles(values: Sequence[float]) -> Array:
    """Returns the lower quartile, the median and the upper quartile."""
    return np.quantile(np.asarray(values, dtype=np.float64), (0.25, 0.5, 0.75))


def steady(values: Sequence[float], of: float = 0.0) -> bool:
    """Tells whether all but a few are one count (`of`: what was counted, where the values are
    differences). The clock of a board that counts instructions goes on while the processor waits,
    for a disk as a rule: such times are sampled, not counted."""
    low, middle, high = quartiles(values)
    return bool(high - low <= STEADY * max(abs(middle), of))


def _apart(ordered: Array, grain: float) -> Array:
    """Spreads equal values evenly over the step of the clock that they share (a grouped median)."""
    _, first, counts = np.unique(ordered, return_index=True, return_counts=True)
    place = np.arange(ordered.size) - np.repeat(first, counts)
    return np.sort(ordered + ((place + 0.5) / np.repeat(counts, counts) - 0.5) * grain)


@cache
def _start_weights(starts: int) -> Array:
    """Returns weights of the starts' distances from their mean that make draws of its error."""
    rng = np.random.default_rng([SEED, starts])
    half = rng.standard_normal((DRAWS // 2, starts))
    weights = np.concatenate([half, -half])
    # Their covariance is made the identity, so that no direction is favoured by chance.
    weights = weights @ np.linalg.inv(np.linalg.cholesky(weights.T @ weights / DRAWS)).T
    return weights / math.sqrt(starts * (starts - 1))


def _normal(probabilities: Array) -> Array:
    """Returns quantiles of the normal distribution."""
    return np.array([NormalDist().inv_cdf(p) for p in probabilities])


@cache
def _common_shifts() -> Array:
    """Returns what a disturbance does to all cases of a run: standard normal, a value a draw."""
    shifts = _normal((np.arange(DRAWS) + 0.5) / DRAWS)
    return np.random.default_rng([SEED]).permutation(shifts)


@cache
def _places(n: int, dependence: float) -> Array | None:
    """Returns the ranks (from 0) of the draws of a median of n samples; None where the interval
    would have to reach beyond the samples."""
    if n < ENOUGH:
        return None
    tail = (np.arange(DRAWS // 2) + 0.5) / DRAWS
    if n > EXACT_BINOMIAL:
        lower = (n - 1) / 2 + _normal(tail) * math.sqrt(n) / 2
    else:
        ranks = np.arange(1, n // 2 + 1)
        log = [math.lgamma(n + 1) - math.lgamma(k) - math.lgamma(n - k + 2) for k in ranks]
        below = np.cumsum(np.exp(np.array(log) - n * math.log(2)))  # P(B < k), k from 1
        at = np.clip(np.searchsorted(below, tail, side="right") - 1, 0, len(below) - 2)
        share = np.clip((tail - below[at]) / (below[at + 1] - below[at]), 0.0, 1.0)
        share *= n >= SMOOTH
        k = ranks[at]
        lower = k - 1 + (n - k) * share / (k + (n - 2 * k) * share)
    middle = (n - 1) / 2
    lower = middle - (middle - lower) * math.sqrt(dependence)
    if lower[int(DRAWS * (1 - LEVEL) / 2)] < 0:
        return None
    lower = np.maximum(lower, 0.0)
    return np.concatenate([lower, (n - 1) - lower[::-1]])


class Dependence:
    """How much the samples of a run depend on their neighbours in time: a first-order
    autoregression of their normal scores within their cases, where it is visible at all. A trend
    over the run is none: cases take turns in random order, so each sees all of it."""

    def __init__(self, cases: Iterable[tuple[Sequence[int], Sequence[float]]]) -> None:
        """Takes the places of each case's samples in the run, and their values."""
        self._per_sample = 0.0
        found = [(order, values) for order, values in cases if len(values) > 1]
        total = sum(len(values) for _, values in found)
        if total < 2 * ENOUGH:
            return
        places = np.concatenate([np.asarray(order) for order, _ in found])
        score = np.concatenate([_normal_scores(values) for _, values in found])
        score = score[np.argsort(places, kind="stable")]
        time = np.linspace(-1, 1, total)
        score = score - score.mean() - time * (score @ time) / (time @ time)
        power = float(score @ score)
        if power <= 0:
            return
        neighbours = float(score[:-1] @ score[1:]) / power * total / (total - 1)
        if neighbours < VISIBLE / math.sqrt(total):
            return
        # Subtracting a median a case, and a trend, makes neighbours look opposed.
        opposed = (2 * (1 + 3 * neighbours) + len(found)) / total
        neighbours = min(neighbours + opposed, 0.97)
        lags = np.arange(1, min(total, MAX_LAG))
        signs = 2 / math.pi * np.arcsin(neighbours**lags)
        self._per_sample = 2 * float(signs @ (1 - lags / total)) / total

    def of(self, samples: int) -> float:
        """Returns how many correlated samples of a case with so many carry as much information as
        one independent sample (≥ 1), and that a spread of so few is uncertain itself."""
        worth = 1 + self._per_sample * samples
        if worth == 1 or samples <= worth + 2:
            return worth
        return worth * (student(samples / worth - 1) / student(samples - 1)) ** 2

    def common(self, samples: int) -> float:
        """Returns the share of the variance of a median of so many samples that any other case has
        too: what disturbs one disturbs those measured around it."""
        return self._per_sample * samples / (1 + self._per_sample * samples)


def _normal_scores(values: Sequence[float]) -> Array:
    """Returns the normal quantiles of the values' ranks; ties share their mean rank."""
    found = np.asarray(values, dtype=np.float64)
    ordered = np.sort(found)
    rank = (np.searchsorted(ordered, found) + np.searchsorted(ordered, found, side="right")) / 2
    return np.interp(rank / len(found), *_normal_quantiles())


@cache
def _normal_quantiles() -> tuple[Array, Array]:
    """Returns a thousand places between 0 and 1, closer towards the ends, and their quantiles."""
    places = (1 - np.cos(np.linspace(0, math.pi, 1002)[1:-1])) / 2
    return places, _normal(places)


INDEPENDENT = Dependence(())


@dataclass(frozen=True, slots=True)
class Summary:
    """Samples in short, in their unit; `estimate` is their median."""

    count: int
    mean: float
    sd: float | None  # None for one sample
    min: float
    p95: float
    max: float
    estimate: Estimate
    starts: int = 1

    @property
    def median(self) -> float:
        return self.estimate.value

    @property
    def interval(self) -> Interval | None:
        """Returns the median's; None for too few samples."""
        return self.estimate.interval


def summarize(values: Sequence[float], known: Estimate | None = None, starts: int = 1) -> Summary:
    """Returns the summary of the values of all starts. `known` is their median, if the caller has
    it already. Raises ValueError if there is no value."""
    known = known or estimate((values,), "")
    n = len(values)
    low, high = min(values), max(values)
    # fsum rounds once, but its quotient may still leave the range by one bit
    mean = min(max(math.fsum(values) / n, low), high)
    sd = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1)) if n > 1 else None
    p95 = float(np.quantile(values, 0.95))  # Linear between neighbours (Hyndman and Fan's type 7)
    return Summary(n, mean, sd, low, p95, high, known, starts)


@dataclass(frozen=True, slots=True)
class CaseStats:
    """One call (repeat 1) of a case, in the run's unit."""

    work: Work
    bytes: int | None
    time: Summary
    first_cost: int | None  # The first call, kept apart
    cpu: Estimate | None = None  # CPU time of the process, ns, where a device may do the work
    single: bool = False  # Quantiles of samples are those of calls: each sample is one

    @property
    def key(self) -> str:
        return self.work.key

    @property
    def algorithm(self) -> str:
        return self.work.algorithm

    @property
    def backend(self) -> str:
        return self.work.backend

    @property
    def estimate(self) -> Estimate:
        return self.time.estimate

    @property
    def throughput(self) -> float | None:
        """Returns bytes a second at the median; None without bytes, or if no time passed."""
        return self.bytes * 1e9 / self.time.median if self.bytes and self.time.median > 0 else None

    @property
    def throughput_interval(self) -> Interval | None:
        interval = self.time.interval
        if not self.bytes or interval is None or interval.low <= 0:
            return None
        whole = self.bytes * 1e9
        return Interval(whole / interval.high, whole / interval.low, interval.level)


USAGE_NS = 1000  # Step of the CPU time of a sample


def cpu_time(measured: MeasuredCase, sampling: "Sampling") -> Estimate | None:
    """Returns the process's CPU time of a call, ns; None where a sample doesn't say it, or where
    nobody but the CPU can do the work."""
    if measured.case.watched is None and measured.case.watched_reason is None:
        return None
    starts: list[list[float]] = []
    for samples in measured.starts:
        starts.append([])
        for sample in (one for one in samples if one.repeat == 1):
            if sample.user_us is None or sample.sys_us is None:
                return None
            starts[-1].append((sample.user_us + sample.sys_us) * USAGE_NS / sample.loops)
    depends = sampling.dependence.of(max(map(len, starts)))
    grain = USAGE_NS / measured.loops()
    return estimate(starts, f"{measured.case.case} cpu", depends, grain=grain)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a run was sampled: what every interval of it depends on."""

    exact: bool = False  # The clock counts instructions
    resolution_ns: float = 0.0
    dependence: Dependence = INDEPENDENT
    counts: bool = False  # Each sample is a count, but they differ by chance

    def estimate(
        self, starts: Sequence[Sequence[float]], label: str, loops: int = 1, of: float = 0.0
    ) -> Estimate:
        """Returns the median of the values of each start, of samples of so many calls."""
        longest = max(map(len, starts))
        depends, common = self.dependence.of(longest), self.dependence.common(longest)
        found = estimate(
            *(starts, label, depends, common, self.resolution_ns / loops), exact=self.exact, of=of
        )
        return replace(found, counted=found.counted or self.counts)


def case_stats(measured: MeasuredCase, sampling: Sampling) -> CaseStats | None:
    """Returns None for a case without a sample of single operations."""
    starts, loops = measured.times(), measured.loops()
    if not any(starts):
        return None
    if measured.work.distribution:  # Alike by chance, its samples aren't one count; a token waits
        counts = sampling.exact and measured.work.backend != "pkcs11"
        sampling = replace(sampling, exact=False, counts=counts)
    middle = sampling.estimate(starts, f"{measured.key} x1", loops)
    values = [value for start in starts for value in start]
    return CaseStats(
        work=measured.work,
        bytes=measured.case.bytes,
        time=summarize(values, middle, sum(map(bool, starts))),
        first_cost=next((first.ns for first in measured.first if first.what == "call"), None),
        cpu=cpu_time(measured, sampling),
        single=loops == 1,
    )
