# SPDX-License-Identifier: BSD-2-Clause
"""Statistics against their definitions, scipy's results and known truth."""

import math
import random
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthetic import EMPTY_CALL, Synthetic, scattered, work
from teemark.model import stats
from teemark.wording.interval import Interval

SAMPLING = stats.Sampling()

values = st.lists(st.floats(min_value=0.1, max_value=1e12), min_size=1, max_size=60)


@given(values)
def test_summary_is_within_its_bounds(sample: list[float]) -> None:
    s = stats.summarize(sample)
    assert s.count == len(sample)
    assert s.min <= s.median <= s.p95 * (1 + 1e-12)
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
        assert s.estimate.draws is None
    else:
        assert s.interval is not None
        assert s.median in s.interval
        off = 1e-12 * s.max  # of sums of numbers so large
        assert s.min - off <= s.interval.low
        assert s.interval.high <= s.max + off


@given(values, st.floats(min_value=0.5, max_value=100))
def test_scaling_scales(sample: list[float], factor: float) -> None:
    one, other = stats.summarize(sample), stats.summarize([v * factor for v in sample])
    assert other.median == pytest.approx(one.median * factor)
    if one.interval is not None and other.interval is not None:
        off = 1e-5 * one.max * factor
        assert other.interval.low == pytest.approx(one.interval.low * factor, abs=off)


@given(values, st.randoms())
def test_order_does_not_matter(sample: list[float], rng: random.Random) -> None:
    shuffled = sample[:]
    rng.shuffle(shuffled)
    one, other = stats.summarize(shuffled), stats.summarize(sample)
    assert (one.estimate, one.median, one.p95) == (other.estimate, other.median, other.p95)
    assert (one.sd or 0) == pytest.approx(other.sd or 0)


def _end(n: int) -> tuple[int, float]:
    """Where the lower end of the interval lies: the rank (from 1) below it, and how far beyond."""
    interval = stats.summarize(np.arange(1.0, n + 1).tolist()).interval
    assert interval is not None
    assert interval.low + interval.high == pytest.approx(n + 1, abs=0.02 * n**0.5)
    return math.floor(interval.low), interval.low % 1


@pytest.mark.parametrize("n", [*range(6, 100), 399, 400])
def test_ends_lie_between_the_ranks_that_hold_more_and_less(n: int) -> None:
    """k-th smallest to k-th largest miss with 2 P(B < k), B binomial of n throws."""
    k, _ = _end(n)
    below = [sum(math.comb(n, i) for i in range(end)) / 2**n for end in (k, k + 1)]
    assert 1 - 2 * below[0] >= 0.949
    assert 1 - 2 * below[1] <= 0.951


@pytest.mark.parametrize(("n", "k", "level", "next_level"), [(10, 2, 0.9785, 0.8906)])
def test_published_interpolation(n: int, k: int, level: float, next_level: float) -> None:
    """Hettmansperger and Sheather: of 10 the 2nd to 9th hold 97.9 %, the 3rd to 8th 89.1 %; in
    between, the share (n - k) I / (k + (n - 2k) I)."""
    i = (level - 0.95) / (level - next_level)
    share = (n - k) * i / (k + (n - 2 * k) * i)
    rank, beyond = _end(n)
    assert (rank, round(beyond, 2)) == (k, round(share, 2))


def test_many_samples_are_as_good_as_normal() -> None:
    from scipy.stats import binom  # takes a second, also of whoever only looks for tests

    for n in (401, 10_000, 1_000_001):
        low = stats._places(n, 1.0)
        assert low is not None
        ends = np.quantile(low, (0.025, 0.975))
        exact = binom.ppf((0.025, 0.975), n, 0.5)
        assert ends == pytest.approx(exact, abs=1.1 + 0.005 * n**0.5)


def test_identical_samples_of_a_coarse_clock() -> None:
    """All in one step of the clock: it is known no better than the step."""
    known = stats.estimate([[100.0] * 12], "x", grain=10.0).interval
    assert known is not None
    assert 94 < known.low < 97
    assert 103 < known.high < 106
    fine = stats.estimate([[100.0] * 12], "x").interval
    assert fine == Interval(100.0, 100.0)


def test_several_starts_are_worth_as_many() -> None:
    """Student's t over the starts' medians, whatever the samples in them."""
    starts = [[99.0, 100, 101] * 9, [109.0, 110, 111] * 9, [89.0, 90, 91] * 9]
    known = stats.estimate(starts, "x")
    assert known.value == 100
    assert known.interval is not None
    half = 4.303 * 10 / 3**0.5  # two degrees of freedom
    assert known.interval.low == pytest.approx(100 - half, abs=0.06 * half)
    assert known.interval.high == pytest.approx(100 + half, abs=0.06 * half)
    one = stats.estimate([[v for start in starts for v in start]], "x").interval
    assert one is not None
    assert one.width < half


def test_what_starts_do_to_all_cases_cancels() -> None:
    starts = [[[s * v for v in (99.0, 100, 101)] for s in (1.0, 1.2, 0.8, 1.1)]] * 2
    one, other = (stats.estimate(of_case, f"{i}") for i, of_case in enumerate(starts))
    ratio = (one / other).interval
    assert ratio is not None
    assert ratio.width < 1e-9
    assert one.interval is not None
    assert one.interval.width > 40


def test_exact_figures_have_no_width() -> None:
    known = stats.estimate([[100.0, 100.8, 101, 101.2, 200]], "x", exact=True)
    assert (known.value, known.interval) == (101, Interval(101, 101))
    assert known.exact


def test_arithmetic_of_estimates() -> None:
    one = stats.estimate([scattered(100, 0.05, 40)], "one")
    other = stats.estimate([scattered(50, 0.05, 40)], "other")
    wide, narrow = one.interval, other.interval
    assert wide is not None
    assert narrow is not None
    both = {"+": one + other, "-": one - other, "/": one / other}
    assert {name: found.value for name, found in both.items()} == {
        "+": pytest.approx(150, rel=0.01),
        "-": pytest.approx(50, rel=0.02),
        "/": pytest.approx(2, rel=0.02),
    }
    root = math.hypot(wide.width, narrow.width)
    for name in "+-":
        interval = both[name].interval
        assert interval is not None
        assert interval.width == pytest.approx(root, rel=0.12)
        assert both[name].freedom > max(one.freedom, other.freedom)
    ratio = both["/"].interval
    assert ratio is not None
    assert ratio.width == pytest.approx(2 * 2**0.5 * wide.width / 100, rel=0.12)
    scaled = one.scaled(-2.0).interval
    assert scaled is not None
    assert (scaled.low, scaled.high) == pytest.approx((-2 * wide.high, -2 * wide.low))


def test_nothing_is_known_of_a_quotient_by_what_may_be_zero() -> None:
    nothing = stats.estimate([[-2.0, -1, 0, 1, 2, 3, -3, 4, 0.1]], "x")
    assert (stats.exactly(1.0) / nothing).interval is None
    assert (stats.exactly(1.0) / stats.exactly(0.0)).interval is None
    few = stats.estimate([[1.0, 2.0]], "x")
    assert few.interval is None
    assert (few + stats.exactly(1.0)).interval is None
    assert (few + stats.exactly(1.0)).value == 2.5


@pytest.mark.parametrize(
    ("freedom", "t"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (8, 2.306), (30, 2.042), (math.inf, 1.96)],
)
def test_student(freedom: float, t: float) -> None:
    assert stats.student(freedom) * stats.Z == pytest.approx(t, rel=0.005)


def test_freedom_of_a_sum() -> None:
    def known(sd: float, freedom: float, *, shared: bool = False) -> stats.Estimate:
        return stats.Estimate(0.0, np.array([-sd, sd]), freedom, shared)

    assert stats.freedom_of((1, known(1, 5)), (1, known(1, 5))) == (10, False)
    assert stats.freedom_of((1, known(1, 5)), (1, known(0, 1)))[0] == pytest.approx(5)
    two = stats.freedom_of((-2, known(1, 5)), (1, known(1, math.inf)))
    assert two[0] == pytest.approx(25 / 16 * 5)
    assert stats.freedom_of((1, known(0, 5))) == (math.inf, False)
    shared = known(1, 3, shared=True)
    assert stats.freedom_of((1, shared), (1, shared)) == (3, True)
    assert stats.freedom_of((1, shared), (1, stats.exactly(1.0))) == (3, True)


def _neighbours(rho: float, cases: int, samples: int, seed: int) -> stats.Dependence:
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal(cases * samples)
    for i in range(1, noise.size):
        noise[i] = rho * noise[i - 1] + (1 - rho**2) ** 0.5 * noise[i]
    order = rng.permutation(np.repeat(np.arange(cases), samples))
    places = [np.flatnonzero(order == case) for case in range(cases)]
    return stats.Dependence([(at.tolist(), (100 + noise[at]).tolist()) for at in places])


def test_dependence_is_found_where_it_is() -> None:
    assert np.mean([_neighbours(0.0, 4, 50, i).of(50) for i in range(40)]) < 1.1
    # All alone: 1 + 2 * sum of 2/pi asin(0.6^lag), a little more for what isn't known.
    truth = 1 + 2 * sum(2 / math.pi * math.asin(0.6**lag) for lag in range(1, 200))
    alone = float(np.median([_neighbours(0.6, 1, 400, i).of(400) for i in range(20)]))
    assert truth * 0.9 < alone < truth * 1.25
    # Among four cases in random order only a quarter of the neighbours is of the same case.
    shared = float(np.median([_neighbours(0.6, 4, 100, i).of(100) for i in range(20)]))
    assert 1 + (truth - 1) / 4 * 0.8 < shared < 1 + (truth - 1) / 4 * 1.4


def test_what_disturbs_one_case_disturbs_its_neighbours() -> None:
    """The share that cases have in common is drawn alike for all of them: it cancels in a ratio,
    and adds up in a sum."""
    values = scattered(100, 0.02, 60)
    alone, common = (
        [stats.estimate([values], name, dependence=2.0, common=share) for name in ("a", "b")]
        for share in (0.0, 0.5)
    )

    def alike(two: list[stats.Estimate]) -> float:
        assert two[0].draws is not None
        assert two[1].draws is not None
        return float(np.corrcoef(two[0].draws, two[1].draws)[0, 1])

    assert abs(alike(alone)) < 0.08
    assert 0.42 < alike(common) < 0.58
    one, other = alone[0].interval, common[0].interval
    assert one is not None
    assert other is not None
    assert other.width == pytest.approx(one.width, rel=0.1)
    found = _neighbours(0.7, 4, 100, 3)
    assert found.common(100) == pytest.approx(
        1 - 1 / (1 + found.common(1) / (1 - found.common(1)) * 100)
    )
    assert _neighbours(0.0, 4, 50, 1).common(50) < 0.2
    assert stats.INDEPENDENT.common(50) == 0


def test_a_drift_is_no_dependence() -> None:
    rng = np.random.default_rng(1)
    noise = np.linspace(-2, 2, 400) + rng.standard_normal(400)
    order = rng.permutation(np.repeat(np.arange(8), 50))
    places = [np.flatnonzero(order == case) for case in range(8)]
    found = stats.Dependence([(at.tolist(), noise[at].tolist()) for at in places])
    assert found.of(50) < 1.15


def test_dependent_samples_are_worth_less() -> None:
    values = scattered(100, 0.02, 40)
    one, other = (stats.estimate([values], "x", dependence=d).interval for d in (1.0, 4.0))
    assert one is not None
    assert other is not None
    assert 1.7 < other.width / one.width < 2.7
    assert stats.estimate([values], "x", dependence=40.0).interval is None


@pytest.mark.parametrize(("cases", "samples"), [(1, 5), (0, 0)])
def test_too_little_to_depend(cases: int, samples: int) -> None:
    values = [(range(samples), [float(i) for i in range(samples)])] * cases
    assert stats.Dependence(values).of(samples) == 1.0
    assert stats.Dependence([(range(20), [7.0] * 20)]).of(20) == 1.0


def test_identical_samples() -> None:
    s = stats.summarize([75.5] * 9)
    assert s.min == s.max
    assert s.median == s.mean == s.min == s.p95 == 75.5
    assert s.sd == 0
    assert s.interval is not None
    assert (s.interval.low, s.interval.high) == (75.5, 75.5)


def test_nothing_to_summarize() -> None:
    with pytest.raises(ValueError, match="no values"):
        stats.summarize([])


def test_case_stats_of_a_run() -> None:
    run = Synthetic(samples=15).run()
    call = stats.case_stats(run.cases["invoke/none/tee/none"], SAMPLING)
    assert call is not None
    assert call.time.count == 15
    assert call.time.median == pytest.approx(EMPTY_CALL, rel=0.02)
    assert call.throughput is None
    assert call.first_cost == int(EMPTY_CALL * 1.7)
    assert not call.single

    big = stats.case_stats(run.cases["oneshot/sha256/c/1048576"], SAMPLING)
    assert big is not None
    took = 420 + work("sha256", "c", 1048576)
    assert big.throughput == pytest.approx(1048576 * 1e9 / took, rel=0.02)
    assert big.throughput is not None
    assert big.throughput_interval is not None
    assert big.throughput in big.throughput_interval


def test_samples_of_other_repeats_are_not_single_calls() -> None:
    run = Synthetic(samples=8).run()
    repeated = run.cases["oneshot/sha256/tee/4096"]
    assert {sample.repeat for sample in repeated.samples} == {1, 2, 4, 8}
    found = stats.case_stats(repeated, SAMPLING)
    assert found is not None
    assert found.time.count == 8


def test_a_difference_of_counts_is_as_steady_as_what_was_counted() -> None:
    """Two clocks of 62 million instructions that differ by 75,000 and some timer ticks: a count.
    The same scatter of a call that takes no more than that: it waited for something."""
    ways = [75_000.0, 75_800.0, 76_800.0, 77_600.0] * 3
    assert stats.estimate([ways], "way", exact=True, total=62e6).exact
    assert not stats.estimate([ways], "way", exact=True).exact


def test_a_rate_has_the_interval_of_its_time() -> None:
    """Few samples that scatter: 10 MB in 0.0729 s are 137 MB/s, in one table with both."""
    times = [0.073, 0.079, 0.088, 0.094, 0.099, 0.102, 0.108, 0.112, 0.118, 0.131]
    time = stats.estimate([times], "x")
    known, rate = time.interval, (stats.exactly(10.0) / time).interval
    assert known is not None
    assert rate is not None
    assert (rate.low, rate.high) == pytest.approx((10 / known.high, 10 / known.low), rel=1e-4)
    starts = stats.estimate([[one] for one in times[:5]], "x")
    known, rate = starts.interval, (stats.exactly(10.0) / starts).interval
    assert known is not None
    assert rate is not None
    assert (rate.low, rate.high) == pytest.approx((10 / known.high, 10 / known.low), rel=1e-4)
