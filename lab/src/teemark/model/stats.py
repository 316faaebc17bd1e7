# SPDX-License-Identifier: BSD-2-Clause
"""Medians and their uncertainty. Each median has draws: values that it could as well have. Whatever
is computed from medians is computed from their draws; its interval is their middle 95 %.

The number of n independent samples below the median is Binomial(n, 1/2), so a draw is an order
statistic at a random rank. `Dependence` widens the ranks where samples depend on their neighbours.
The draws of a run of several starts are Student's t over the starts' medians, with the same random
numbers in all cases, so that a start's effect on all cases cancels in differences and ratios.
Sources: W. J. Conover, Practical Nonparametric Statistics, 3rd ed., section 3.2; T. Hettmansperger
and S. Sheather, Confidence intervals based on interpolated order statistics (1986); C. Geyer,
Practical Markov Chain Monte Carlo (1992), section 3.3."""

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, reduce
from statistics import NormalDist, median, quantiles
from typing import Literal
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from teemark.base.work import Work
from teemark.run.reader import MeasuredCase
from teemark.wording.interval import LEVEL, Interval

Array = NDArray[np.float64]

Kind = Literal["number", "counted", "waited", "timed", "emulated"]
"""number: no clock was read, as for a size or a constant. counted: executed instructions. waited:
by a clock that counts instructions, and goes on while a call waits. timed: by the clock of
hardware. emulated: by the clock of an emulator, which shows how busy its host is."""

WAITED = (
    "the clock of this board goes on while a call waits, as a rule for a disk: nothing follows "
    "from such times"
)
MISFIT = "no sum of a call and its bytes describes these calls: don't calculate with it"


class Unlike(ArithmeticError):
    """Two quantities have no common unit, so they can't be compared."""


def joined(*kinds: Kind) -> Kind:
    """Returns the kind of what is computed from quantities of these kinds; a number changes
    nothing. Raises Unlike for any two of instructions, hardware's time and an emulator's time."""
    left = set(kinds) - {"number"}
    if left == {"counted", "waited"}:
        return "waited"
    if len(left) > 1:
        raise Unlike(f"{' and '.join(sorted(left))} have no common measure")
    return next(iter(left), "number")


DRAWS = 2000
SEED = 20260101

ENOUGH = 6  # Fewest samples of one start for an interval: fewer can't reach 95 % in a sign test

STEADY = 0.01
"""Counts are steady if their interquartile range is at most this share of the median. The kernel's
crypto reaches 0.8 %, depending on the free pages; waiting for a disk scatters far more."""

COARSE = 0.8
"""If the interquartile range is less than this share of a clock step, the median may be anywhere in
that step. This is a bound, so these intervals hold the truth in 98 to 100 % of cases."""

SMOOTH = 10
"""With fewer samples than this, ranks aren't interpolated, since so few can't show that times have
two modes. The interval then ends at a sample, and is valid for any distribution."""

EXACT_BINOMIAL = 400
"""Most samples for which the binomial distribution is summed; above it the normal one is used."""

FREEDOM = 1.25
"""Degrees of freedom of the distances between order statistics, per square root of the number of
samples. Found by simulation (lab/tests/tools/intervals.py)."""

MAX_LAG = 1000

WANDER = 0.8
"""Correlation of neighbouring samples above which intervals hold the truth less often than they
say: in 56 to 97 of 100 runs (lab/tests/tools/intervals.py)."""

VISIBLE = 1.3
"""Samples count as dependent if their autocorrelation exceeds this many standard errors."""

TOO_FEW = "too few samples for an interval"
DEPENDENT = "no interval: each sample depends so much on the one before that few count"
ZERO = "no interval: what it is divided by may be 0"
NO_ERROR = "no interval: too few sizes tell how far the model is off"
"""Reasons for an estimate without an interval."""

NEXT_TO_NOTHING = 1e-6  # Relative model error below which nothing is widened

Z = 1.959963984540054


@dataclass(frozen=True, eq=False)
class Estimate:
    """A value and its uncertainty. `draws`: values it could as well have; None if that isn't known,
    a single one if exact. `freedom`: the draws' degrees of freedom for Student's t. A sum has those
    by Welch and Satterthwaite, but the fewest of its parts if these come from the same starts
    (`shared`). `kind` says by which clock the value is known, `holds` whether the models behind it
    fit, `cases` from which cases it comes. A result of estimates inherits these three."""

    value: float
    draws: Array | None = None
    freedom: float = math.inf
    shared: bool = False
    kind: Kind = "number"
    holds: bool = True
    cases: frozenset[str] = frozenset()
    vague: str = ""  # Why there is no interval

    @cached_property
    def interval(self) -> Interval | None:
        """Returns the middle 95 % of the draws, widened by Student's t for their `freedom`."""
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

    @property
    def counted(self) -> bool:
        return self.kind in ("counted", "number")

    @property
    def meaningless(self) -> str:
        """Returns why nothing follows from the value, so that it decides, ranks and advises
        nothing; "" if something may follow."""
        return WAITED if self.kind == "waited" else "" if self.holds else MISFIT

    @cached_property
    def variance(self) -> float:
        return 0.0 if self.draws is None else float(self.draws.var())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Estimate):
            return False
        return (self.value, self.interval) == (other.value, other.interval)

    def __hash__(self) -> int:
        return hash(self.value)

    def _with(self, value: float, other: "Estimate") -> "Estimate":
        """Returns a value that is computed from both; raises Unlike if they can't be combined."""
        return Estimate(
            value,
            kind=joined(self.kind, other.kind),
            holds=self.holds and other.holds,
            cases=self.cases | other.cases,
            vague=self.vague or other.vague,
        )

    def __add__(self, other: "Estimate") -> "Estimate":
        both = self._with(self.value + other.value, other)
        if self.draws is None or other.draws is None:
            return both
        freedom, shared = freedom_of((1, self), (1, other))
        return replace(both, draws=self.draws + other.draws, freedom=freedom, shared=shared)

    def __sub__(self, other: "Estimate") -> "Estimate":
        return self + other.scaled(-1.0)

    def __truediv__(self, other: "Estimate") -> "Estimate":
        """Returns the quotient. It has no interval if the divisor may be zero, since the ratio
        could be anything. If the dividend is exact, the interval comes from the divisor alone."""
        both = self._with(self.value / other.value if other.value else math.inf, other)
        divisor = other.interval
        if self.draws is None or other.draws is None or divisor is None:
            return both
        if 0 in divisor:
            return replace(both, vague=ZERO)
        if self.exact:
            wide = other.value + (other.draws - other.value) * student(other.freedom)
            turned = self.draws / np.clip(wide, divisor.low, divisor.high)
            return replace(both, draws=turned, shared=other.shared)
        freedom, shared = freedom_of((1, self), (both.value, other))
        return replace(both, draws=self.draws / other.draws, freedom=freedom, shared=shared)

    def scaled(self, factor: float) -> "Estimate":
        draws = None if self.draws is None else self.draws * factor
        return replace(self, value=self.value * factor, draws=draws)

    def widened(self, share: float | None, label: str) -> "Estimate":
        """Returns the estimate with an added error, such as a model's: 95 of 100 draws move by less
        than `share` of the value. None means that the error is unknown: no interval."""
        if share is None:
            return replace(self, draws=None, vague=self.vague or NO_ERROR)
        if self.draws is None or share < NEXT_TO_NOTHING:
            return self
        rng = np.random.default_rng([SEED, crc32(label.encode())])
        draws = self.draws + self.value * rng.uniform(-share / LEVEL, share / LEVEL, DRAWS)
        return replace(self, draws=draws)


def freedom_of(*parts: tuple[float, Estimate]) -> tuple[float, bool]:
    """Returns the degrees of freedom of the sum of `factor * estimate` over the parts, and whether
    the parts share their starts."""
    weighted = [(share**2 * part.variance, part) for share, part in parts]
    total = sum(variance for variance, _ in weighted)
    if any(part.shared for _, part in weighted):
        return min(part.freedom for variance, part in weighted), True
    uncertain = sum(variance**2 / part.freedom for variance, part in weighted)
    return total**2 / uncertain if uncertain > 0 else math.inf, False


def student(freedom: float) -> float:
    """Returns the 97.5 % point of Student's t divided by the normal distribution's: exact for 1 to
    3 degrees of freedom, above by the expansion of Cornish and Fisher."""
    if freedom in _STUDENT:
        return _STUDENT[freedom] / Z
    z2 = Z**2
    first = (z2 + 1) / 4
    second = (5 * z2**2 + 16 * z2 + 3) / 96
    third = (3 * z2**3 + 19 * z2**2 + 17 * z2 - 15) / 384
    return 1 + (first + (second + third / freedom) / freedom) / freedom


_STUDENT: dict[float, float] = {1: 12.7062, 2: 4.3027, 3: 3.1824}


def exactly(value: float) -> Estimate:
    """Returns a value without uncertainty as an estimate: a count, or a known constant."""
    return Estimate(value, np.array([value]))


def added(parts: Iterable[Estimate]) -> Estimate:
    """Returns the sum of the parts; there must be at least one."""
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
    total: float = 0.0,
) -> Estimate:
    """Returns the median of `starts`, one sequence of values per start. Raises ValueError if all
    are empty. `label` names the case and seeds the draws. `dependence` samples carry the
    information of one; `common` is the share of the variance that neighbouring cases have in
    common. `grain` is the clock's step in the unit of the values. `exact`: the clock counts
    instructions; `total` is the whole count if the values are differences."""
    sampled = [values for values in starts if values]
    if not sampled:
        raise ValueError("no values to estimate from")
    value = centre(sampled)
    if exact and steady([sample for values in sampled for sample in values], total):
        return exactly(value)
    if len(sampled) > 1:
        shifts = np.array([median(values) for values in sampled]) - value
        drawn = value + _start_weights(len(sampled)) @ shifts
        return Estimate(value, drawn, len(sampled) - 1, shared=True)
    places = _places(len(sampled[0]), round(dependence, 3))
    if places is None:
        return Estimate(value, vague=TOO_FEW if len(sampled[0]) < ENOUGH else DEPENDENT)
    rng = np.random.default_rng([SEED, crc32(label.encode())])
    places = rng.permutation(places)
    if common > 0:
        count = len(sampled[0])
        middle, shared = (count - 1) / 2, math.sqrt(common * dependence * count) / 2
        apart = (places - middle) * math.sqrt(1 - common) + _common_shifts() * shared
        places = np.clip(middle + apart, 0, count - 1)
    ordered = np.sort(np.asarray(sampled[0], dtype=np.float64))
    if grain > 0:
        ordered = _apart(ordered, grain)
        value = median(ordered.tolist())
    drawn = np.interp(places, np.arange(ordered.size), ordered)
    half = ordered.size // 4
    if ordered[-1 - half] - ordered[half] < COARSE * grain:
        # The clock is coarser than the spread: the median may be anywhere in one step.
        drawn = drawn + rng.uniform(-grain / 2, grain / 2, drawn.size)
    # The draws are wider than the median varies, since distances between order statistics are
    # uncertain. They are divided by Student's factor here; `interval` multiplies by it again.
    freedom = FREEDOM * math.sqrt(ordered.size / dependence)
    return Estimate(value, value + (drawn - value) / student(freedom), freedom)


def rarest(starts: int) -> float:
    """Returns the share of all starts that must behave in some way so that at least one of `starts`
    starts does with probability LEVEL. No interval covers rarer behaviour."""
    return 1.0 - math.pow(1.0 - LEVEL, 1.0 / starts)


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Returns the lower quartile, the median and the upper quartile. np.quantile takes a tenth of a
    millisecond for few values: a history asks for a million of them."""
    low, middle, high = quantiles([*values, *values[: len(values) < 2]], method="inclusive")
    return low, middle, high


def steady(values: Sequence[float], total: float = 0.0) -> bool:
    """Returns true if the interquartile range is within STEADY of the median (or of `total`, the
    whole count if the values are differences). A counting board's clock runs on while the processor
    waits, mostly for a disk: such times are sampled, not counted."""
    low, middle, high = quartiles(values)
    return bool(high - low <= STEADY * max(abs(middle), total))


def _apart(ordered: Array, grain: float) -> Array:
    """Spreads equal values evenly over the step of the clock that they share (a grouped median)."""
    _, first, counts = np.unique(ordered, return_index=True, return_counts=True)
    place = np.arange(ordered.size) - np.repeat(first, counts)
    return np.sort(ordered + ((place + 0.5) / np.repeat(counts, counts) - 0.5) * grain)


@cache
def _start_weights(starts: int) -> Array:
    """Returns weights that turn the starts' deviations into draws of their mean's error."""
    rng = np.random.default_rng([SEED, starts])
    half = rng.standard_normal((DRAWS // 2, starts))
    weights = np.concatenate([half, -half])
    # Their covariance is made the identity, so that no direction is favoured by chance.
    weights = weights @ np.linalg.inv(np.linalg.cholesky(weights.T @ weights / DRAWS)).T
    return weights / math.sqrt(starts * (starts - 1))


def _normal(probabilities: Array) -> Array:
    return np.array([NormalDist().inv_cdf(p) for p in probabilities])


@cache
def _common_shifts() -> Array:
    shifts = _normal((np.arange(DRAWS) + 0.5) / DRAWS)
    return np.random.default_rng([SEED]).permutation(shifts)


@cache
def _places(n: int, dependence: float) -> Array | None:
    """Returns the ranks (from 0) of the draws of a median of n samples; None if the interval would
    reach beyond the samples."""
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
    """The autocorrelation of a run's samples in time: a first-order autoregression of their normal
    scores within each case, 0 if not significant. A trend over the run doesn't count, as the cases
    take turns in random order and are all affected alike."""

    def __init__(self, cases: Iterable[tuple[Sequence[int], Sequence[float]]]) -> None:
        """Takes each case's positions in the run's order, and the values at these positions."""
        self._per_sample = 0.0
        self.neighbours = 0.0  # Correlation of a sample with the next
        series = [(order, values) for order, values in cases if len(values) > 1]
        total = sum(len(values) for _, values in series)
        if total < 2 * ENOUGH:
            return
        places = np.concatenate([np.asarray(order) for order, _ in series])
        score = np.concatenate([_normal_scores(values) for _, values in series])
        score = score[np.argsort(places, kind="stable")]
        time = np.linspace(-1, 1, total)
        score = score - score.mean() - time * (score @ time) / (time @ time)
        power = float(score @ score)
        if power <= 0:
            return
        neighbours = float(score[:-1] @ score[1:]) / power * total / (total - 1)
        if neighbours < VISIBLE / math.sqrt(total):
            return
        # Subtracting each case's median and a trend biases the correlation downwards.
        opposed = (2 * (1 + 3 * neighbours) + len(series)) / total
        neighbours = min(neighbours + opposed, 0.97)
        self.neighbours = neighbours
        lags = np.arange(1, min(total, MAX_LAG))
        signs = 2 / math.pi * np.arcsin(neighbours**lags)
        self._per_sample = 2 * float(signs @ (1 - lags / total)) / total

    def of(self, samples: int) -> float:
        """Returns how many of `samples` correlated samples carry as much information as one
        independent sample (≥ 1). Where few are independent, the wider Student's t is included in
        that number."""
        worth = 1 + self._per_sample * samples
        if worth == 1 or samples <= worth + 2:
            return worth
        return worth * (student(samples / worth - 1) / student(samples - 1)) ** 2

    def common(self, samples: int) -> float:
        """Returns the share of the variance of a median of `samples` samples that is common to all
        cases, since a disturbance affects all cases that are measured around it."""
        return self._per_sample * samples / (1 + self._per_sample * samples)


def _normal_scores(values: Sequence[float]) -> Array:
    """Returns the normal quantiles of the values' ranks; ties share their mean rank."""
    samples = np.asarray(values, dtype=np.float64)
    ordered = np.sort(samples)
    rank = (np.searchsorted(ordered, samples) + np.searchsorted(ordered, samples, side="right")) / 2
    return np.interp(rank / len(samples), *_normal_quantiles())


@cache
def _normal_quantiles() -> tuple[Array, Array]:
    """Returns 1000 probabilities, denser towards 0 and 1, and their normal quantiles."""
    places = (1 - np.cos(np.linspace(0, math.pi, 1002)[1:-1])) / 2
    return places, _normal(places)


INDEPENDENT = Dependence(())


@dataclass(frozen=True, slots=True)
class Summary:
    """Summary of samples, in their unit; `estimate` is their median."""

    count: int
    mean: float
    sd: float | None  # Standard deviation; None for one sample
    min: float
    p95: float
    max: float
    estimate: Estimate

    @property
    def median(self) -> float:
        return self.estimate.value

    @property
    def interval(self) -> Interval | None:
        """Returns the interval of the median; None for too few samples."""
        return self.estimate.interval


def summarize(values: Sequence[float], middle: Estimate | None = None) -> Summary:
    """Returns the summary of `values`; `middle` is their median if already computed. Raises
    ValueError if there is no value."""
    middle = middle or estimate((values,), "")
    n = len(values)
    low, high = min(values), max(values)
    # fsum rounds once, but its quotient may still leave the range by one bit
    mean = min(max(math.fsum(values) / n, low), high)
    sd = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1)) if n > 1 else None
    p95 = float(np.quantile(values, 0.95))  # Linear between neighbours (Hyndman and Fan's type 7)
    return Summary(n, mean, sd, low, p95, high, middle)


@dataclass(frozen=True, slots=True)
class CaseStats:
    """Statistics of a case's calls with one operation each, in the run's unit."""

    work: Work
    bytes: int | None
    time: Summary
    first_cost: int | None  # Cost of the first call, which is no sample
    cpu: Estimate | None = None  # CPU time of the process, ns, if a device may do the work
    single: bool = False  # Each sample is one call, so its quantiles are those of calls

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
    def unit(self) -> str:
        """Returns the unit of the case's costs: "instructions" if they were counted, else "ns"."""
        return "instructions" if self.estimate.counted else "ns"

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


USAGE_NS = 1000  # Resolution of the CPU time in a sample, ns


def cpu_time(measured: MeasuredCase, sampling: "Sampling") -> Estimate | None:
    """Returns the process's CPU time per call in ns; None if a sample lacks it, or if teebench
    didn't watch the calls because only the CPU can do the work."""
    if measured.record.watched is None and measured.record.watched_reason is None:
        return None
    starts: list[list[float]] = []
    for samples in measured.starts:
        starts.append([])
        for sample in (single for single in samples if single.repeat == 1):
            if sample.user_us is None or sample.sys_us is None:
                return None
            starts[-1].append((sample.user_us + sample.sys_us) * USAGE_NS / sample.loops)
    depends = sampling.dependence.of(max(map(len, starts)))
    grain = USAGE_NS / measured.loops()
    middle = estimate(starts, f"{measured.key} cpu", depends, grain=grain)
    return replace(middle, kind=sampling.kind, cases=frozenset((measured.key,)))


@dataclass(frozen=True, slots=True)
class Sampling:
    """The sampling settings of a run; every interval of the run depends on them."""

    kind: Kind = "timed"
    resolution_ns: float = 0.0
    dependence: Dependence = INDEPENDENT
    by_chance: bool = False  # Samples differ by chance, even if they are counts

    @property
    def exact(self) -> bool:
        """Returns true if all samples of a call that doesn't wait are the same count."""
        return self.kind == "counted" and not self.by_chance

    def estimate(
        self, starts: Sequence[Sequence[float]], label: str, loops: int = 1, total: float = 0.0
    ) -> Estimate:
        """Returns the median of the starts' values; each sample has `loops` calls."""
        longest = max(map(len, starts))
        depends, common = self.dependence.of(longest), self.dependence.common(longest)
        middle = estimate(
            *(starts, label, depends, common, self.resolution_ns / loops),
            exact=self.exact,
            total=total,
        )
        waited = self.exact and not middle.exact
        case = frozenset((label.partition(" ")[0],))
        return replace(middle, kind="waited" if waited else self.kind, cases=case)


def case_stats(measured: MeasuredCase, sampling: Sampling) -> CaseStats | None:
    """Returns the statistics of a case; None if it has no sample with one operation per call."""
    starts, loops = measured.times(), measured.loops()
    if not any(starts):
        return None
    # Samples of a distribution are equal by chance only; a PKCS #11 token waits: it isn't counted.
    if measured.work.distribution or measured.work.cpu_time:
        waits = sampling.exact and measured.work.backend == "pkcs11"
        sampling = replace(sampling, kind="waited" if waits else sampling.kind, by_chance=True)
    middle = sampling.estimate(starts, f"{measured.key} x1", loops)
    values = [value for start in starts for value in start]
    return CaseStats(
        work=measured.work,
        bytes=measured.record.bytes,
        time=summarize(values, middle),
        first_cost=next((first.ns for first in measured.first if first.what == "call"), None),
        cpu=cpu_time(measured, sampling),
        single=loops == 1,
    )
