# SPDX-License-Identifier: BSD-2-Clause
"""What is said about one case: median with its interval, spread, throughput.

The interval of the median is the order-statistic (sign-test) interval: the k-th smallest and k-th
largest values enclose the median with the probability that a fair coin, thrown n times, falls on
either side k … n-k times. It assumes nothing of the distribution but that the samples are
independent, and is never narrower than it says. Below six samples no such interval reaches 95 %.
Source: W. J. Conover, Practical Nonparametric Statistics, 3rd ed., section 3.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from teemark.run.reader import MeasuredCase
from teemark.run.records import Sample

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """From `low` to `high`; `level` is the probability that it really has, at least 95 %."""

    low: float
    high: float
    level: float = LEVEL

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def overlaps(self, other: Interval) -> bool:
        return self.low <= other.high and other.low <= self.high

    def scaled(self, factor: float) -> Interval:
        """In another unit."""
        low, high = sorted((self.low * factor, self.high * factor))
        return Interval(low, high, self.level)


@dataclass(frozen=True, slots=True)
class Summary:
    """Of values in nanoseconds, or whatever unit they came in."""

    count: int
    median: float
    interval: Interval | None  # None: too few samples for 95 %
    mean: float
    sd: float | None  # None: one sample
    min: float
    p95: float
    max: float

    @property
    def identical(self) -> bool:
        return self.min == self.max


@cache
def median_ranks(n: int, level: float = LEVEL) -> tuple[int, float] | None:
    """The largest k (from 1) so that the k-th smallest to the k-th largest of n values enclose
    the median with at least `level`, and the probability it has; None when there is none."""
    # P(the interval misses) = 2 * P(Binomial(n, 1/2) < k)
    total = 2**n
    miss = 0
    best: tuple[int, float] | None = None
    for k in range(1, n // 2 + 1):
        miss += 2 * math.comb(n, k - 1)
        covered = (total - miss) / total
        if covered < level:
            break
        best = (k, covered)
    return best


def median_interval(values: Sequence[float], level: float = LEVEL) -> Interval | None:
    """The order-statistic interval of the median; None below six values (at 95 %)."""
    ranks = median_ranks(len(values), level)
    if ranks is None:
        return None
    k, covered = ranks
    ordered = sorted(values)
    return Interval(ordered[k - 1], ordered[-k], covered)


def median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    n = len(ordered)
    return ordered[n // 2] if n % 2 else (ordered[n // 2 - 1] + ordered[n // 2]) / 2


def quantile(values: Sequence[float], q: float) -> float:
    """Linear between the neighbouring order statistics (Hyndman and Fan's type 7)."""
    ordered = sorted(values)
    place = q * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def summarize(values: Sequence[float]) -> Summary:
    """ValueError when there is no value."""
    if not values:
        raise ValueError("no values to summarize")
    n = len(values)
    low, high = min(values), max(values)
    # fsum rounds once, but its quotient may still leave the range by one bit
    mean = min(max(math.fsum(values) / n, low), high)
    sd = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1)) if n > 1 else None
    return Summary(
        count=n,
        median=median(values),
        interval=median_interval(values),
        mean=mean,
        sd=sd,
        min=low,
        p95=quantile(values, 0.95),
        max=high,
    )


def call_times(samples: Sequence[Sample], repeat: int = 1) -> list[float]:
    """Nanoseconds a call took, of every sample with that many operations in a call."""
    return [sample.ns / sample.loops for sample in samples if sample.repeat == repeat]


@dataclass(frozen=True, slots=True)
class CaseStats:
    """One call (repeat 1) of a case; times in nanoseconds."""

    key: str
    workload: str
    algorithm: str
    backend: str
    parameters: str
    bytes: int | None
    time: Summary
    cpu_share: float | None  # CPU time (user and system) per elapsed time; None: unknown
    first_ns: int | None  # the first call, kept apart

    @property
    def throughput(self) -> float | None:
        """Bytes per second at the median; None without bytes, or when nothing was elapsed."""
        return self.bytes * 1e9 / self.time.median if self.bytes and self.time.median else None

    @property
    def throughput_interval(self) -> Interval | None:
        interval = self.time.interval
        if not self.bytes or interval is None or not interval.low:
            return None
        whole = self.bytes * 1e9
        return Interval(whole / interval.high, whole / interval.low, interval.level)


def cpu_share(samples: Sequence[Sample]) -> float | None:
    """CPU time of the process over elapsed time, of all samples together."""
    cpu_us = 0
    elapsed_ns = 0
    for sample in samples:
        if sample.user_us is None or sample.sys_us is None:
            return None
        cpu_us += sample.user_us + sample.sys_us
        elapsed_ns += sample.ns
    return cpu_us * 1000 / elapsed_ns if elapsed_ns else None


def case_stats(measured: MeasuredCase) -> CaseStats | None:
    """None for a case without a sample of single operations."""
    case = measured.case
    times = call_times(measured.samples)
    if not times:
        return None
    return CaseStats(
        key=case.case,
        workload=case.workload,
        algorithm=case.algorithm,
        backend=case.backend,
        parameters=case.parameters,
        bytes=case.bytes,
        time=summarize(times),
        cpu_share=cpu_share(measured.samples),
        first_ns=next((first.ns for first in measured.first if first.what == "call"), None),
    )
