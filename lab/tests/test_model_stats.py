# SPDX-License-Identifier: BSD-2-Clause
"""Statistics against their definitions, scipy's results and known truth."""

from __future__ import annotations

import random
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from synthetic import EMPTY_CALL, Synthetic
from teemark.model import stats
from teemark.run import reader

values = st.lists(st.floats(min_value=0.1, max_value=1e12), min_size=1, max_size=60)


@given(values)
def test_summary_is_within_its_bounds(sample: list[float]) -> None:
    s = stats.summarize(sample)
    assert s.count == len(sample)
    assert s.min <= s.median <= s.p95 * (1 + 1e-12) or len(sample) < 3
    assert s.min <= s.mean <= s.max
    assert s.p95 <= s.max
    assert s.median == pytest.approx(statistics.median(sample))
    assert s.p95 == pytest.approx(float(np.percentile(sample, 95)))
    if s.sd is not None:
        assert s.sd == pytest.approx(statistics.stdev(sample), abs=1e-6 * s.max)


@given(values)
def test_interval_holds_the_median(sample: list[float]) -> None:
    s = stats.summarize(sample)
    if len(sample) < 6:
        assert s.interval is None
    else:
        assert s.interval is not None
        assert s.median in s.interval
        assert s.interval.low in sample
        assert s.interval.high in sample
        assert s.interval.level >= 0.95


@given(values, st.floats(min_value=0.5, max_value=100))
def test_scaling_scales(sample: list[float], factor: float) -> None:
    one, other = stats.summarize(sample), stats.summarize([v * factor for v in sample])
    assert other.median == pytest.approx(one.median * factor)
    if one.interval is not None and other.interval is not None:
        assert other.interval.low == pytest.approx(one.interval.low * factor)


@given(values, st.randoms())
def test_order_does_not_matter(sample: list[float], rng: random.Random) -> None:
    shuffled = sample[:]
    rng.shuffle(shuffled)
    assert stats.summarize(shuffled) == stats.summarize(sample)


@pytest.mark.parametrize("n", range(1, 200))
def test_ranks_are_the_narrowest_that_hold(n: int) -> None:
    """k-th smallest to k-th largest miss with 2 P(B < k), B binomial of n throws."""
    found = stats.median_ranks(n)
    if found is None:
        assert n < 6
        return
    k, level = found
    assert level == pytest.approx(1 - 2 * binom.cdf(k - 1, n, 0.5))
    assert level >= 0.95
    assert 1 - 2 * binom.cdf(k, n, 0.5) < 0.95 or k == n // 2


def test_published_ranks() -> None:
    """Textbook values: n = 10 gives the 2nd and 9th (97.9 %), n = 30 the 10th and 21st."""
    for n, k, level in ((10, 2, 0.978515625), (30, 10, 0.957226)):
        ranks = stats.median_ranks(n)
        assert ranks is not None
        assert ranks[0] == k
        assert ranks[1] == pytest.approx(level, abs=1e-6)


def test_interval_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(7)
    trials = 2000
    truth = float(np.exp(1.0))  # the median of this log-normal
    hit = 0
    for _ in range(trials):
        interval = stats.median_interval(list(rng.lognormal(1.0, 0.8, size=15)))
        assert interval is not None
        hit += truth in interval
    ranks = stats.median_ranks(15)
    assert ranks is not None
    assert hit / trials == pytest.approx(ranks[1], abs=0.012)


def test_identical_samples() -> None:
    s = stats.summarize([75.5] * 9)
    assert s.identical
    assert s.median == s.mean == s.min == s.p95 == 75.5
    assert s.sd == 0
    assert s.interval is not None
    assert (s.interval.low, s.interval.high) == (75.5, 75.5)


def test_nothing_to_summarize() -> None:
    with pytest.raises(ValueError, match="no values"):
        stats.summarize([])


def test_case_stats_of_a_run() -> None:
    run = reader.parse(Synthetic(samples=15).lines(), file="x")
    call = stats.case_stats(run.cases["invoke/none/tee/none"])
    assert call is not None
    assert call.time.count == 15
    assert call.time.median == pytest.approx(EMPTY_CALL, rel=0.02)
    assert call.throughput is None
    assert call.first_ns == int(EMPTY_CALL * 1.7)

    big = stats.case_stats(run.cases["oneshot/sha256/c/1048576"])
    assert big is not None
    assert big.throughput == pytest.approx(1e9 / 14.9, rel=0.02)
    assert big.throughput is not None
    assert big.throughput_interval is not None
    assert big.throughput in big.throughput_interval
    assert big.cpu_share == pytest.approx(0.93, rel=0.02)


def test_samples_of_other_repeats_are_not_single_calls() -> None:
    run = reader.parse(Synthetic(samples=8).lines(), file="x")
    repeated = run.cases["oneshot/sha256/tee/4096"]
    assert {sample.repeat for sample in repeated.samples} == {1, 2, 4, 8}
    found = stats.case_stats(repeated)
    assert found is not None
    assert found.time.count == 8
