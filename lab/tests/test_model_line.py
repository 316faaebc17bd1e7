# SPDX-License-Identifier: BSD-2-Clause
"""Fitted lines against known truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthetic import SIZES, TRUTH, Synthetic
from teemark.model import models
from teemark.model.line import fit_line
from teemark.run import reader


def exact(intercept: float, slope: float, xs: tuple[int, ...] = SIZES) -> dict[float, list[float]]:
    return {float(x): [intercept + slope * x] * 8 for x in xs}


@given(
    st.floats(min_value=10, max_value=1e7),
    st.floats(min_value=0.01, max_value=200),
)
def test_exact_data_gives_the_exact_line(intercept: float, slope: float) -> None:
    line = fit_line(exact(intercept, slope))
    assert line is not None
    assert line.intercept == pytest.approx(intercept, rel=1e-6)
    assert line.slope == pytest.approx(slope, rel=1e-6)
    assert line.fits
    assert abs(line.worst.residual) < 1e-6
    assert line.slope_interval.low == pytest.approx(line.slope_interval.high, rel=1e-6)


@settings(max_examples=settings().max_examples // 4)
@given(st.integers(0, 2**31), st.floats(min_value=0.1, max_value=1000))
def test_the_line_scales_with_its_unit(seed: int, factor: float) -> None:
    rng = np.random.default_rng(seed)
    data = {x: list((4e5 + 20 * x) * rng.normal(1, 0.03, 12)) for x in (0.0, 64.0, 4096.0, 65536.0)}
    one = fit_line(data)
    other = fit_line({x: [v * factor for v in values] for x, values in data.items()})
    assert one is not None
    assert other is not None
    assert other.slope == pytest.approx(one.slope * factor, rel=1e-6)
    assert other.intercept == pytest.approx(one.intercept * factor, rel=1e-6)
    assert other.slope_interval.low == pytest.approx(one.slope_interval.low * factor, rel=1e-6)


def test_the_same_data_gives_the_same_intervals() -> None:
    rng = np.random.default_rng(3)
    data = {x: list((500 + 15 * x) * rng.normal(1, 0.05, 10)) for x in (0.0, 64.0, 1024.0, 65536.0)}
    assert fit_line(data) == fit_line(data)


def test_intervals_cover_the_truth() -> None:
    """The bootstrap's 95 % hold the truth in at least nine of ten noisy runs."""
    rng = np.random.default_rng(11)
    trials, slopes, intercepts = 60, 0, 0
    for _ in range(trials):
        data = {
            float(x): list((4e5 + 20.6 * x) * rng.lognormal(0, 0.04, 15))
            for x in (0, 64, 1024, 16384, 262144, 1048576)
        }
        line = fit_line(data)
        assert line is not None
        slopes += 20.6 in line.slope_interval
        intercepts += 4e5 in line.intercept_interval
    assert slopes >= 0.88 * trials
    assert intercepts >= 0.88 * trials


def test_one_disturbed_size_does_not_bend_the_line() -> None:
    data = exact(4e5, 20.0)
    data[65536.0] = [v * 3 for v in data[65536.0]]
    line = fit_line(data)
    assert line is not None
    assert line.slope == pytest.approx(20.0, rel=0.02)
    assert line.intercept == pytest.approx(4e5, rel=0.02)
    assert not line.fits
    assert line.worst.x == 65536.0


def test_what_is_no_line_is_flagged() -> None:
    """A rate that halves beyond the cache."""
    data = {float(x): [1000 + (5.0 * x if x <= 65536 else 12.0 * x)] * 9 for x in SIZES}
    line = fit_line(data)
    assert line is not None
    assert not line.fits


@pytest.mark.parametrize(
    "data",
    [
        {},
        {0.0: [1.0] * 9, 64.0: [2.0] * 9},
        {0.0: [1.0], 64.0: [2.0], 128.0: []},
        {0.0: [0.0] * 9, 64.0: [2.0] * 9, 128.0: [4.0] * 9},
    ],
)
def test_too_little_for_a_line(data: dict[float, list[float]]) -> None:
    assert fit_line(data) is None


def test_models_of_a_run_find_the_truth() -> None:
    run = reader.parse(Synthetic(seed=5, samples=20).lines(), file="x")
    made = models.build(run)
    assert {(cost.algorithm, cost.backend) for cost in made.costs} == set(TRUTH)
    for cost in made.costs:
        call, rate = TRUTH[cost.algorithm, cost.backend]
        assert cost.ns_per_byte == pytest.approx(rate, rel=0.03)
        assert cost.call_ns == pytest.approx(call, rel=0.03)
        assert cost.line.fits
    assert len(made.repeats) == 8  # tee, ta-c and ta-ce at 4096, where they exist
    for repeat in made.repeats:
        call, rate = TRUTH[repeat.algorithm, repeat.backend]
        assert repeat.crossing_ns == pytest.approx(call, rel=0.03)
        assert repeat.operation_ns == pytest.approx(rate * 4096, rel=0.25)
        assert rate * 4096 in repeat.line.slope_interval.scaled(1) or repeat.operation_ns > 0


def test_deterministic_run_has_intervals_of_no_width() -> None:
    run = reader.parse(Synthetic(identical=True).lines(), file="x")
    for cost in models.build(run).costs:
        call, rate = TRUTH[cost.algorithm, cost.backend]
        assert cost.ns_per_byte == pytest.approx(rate, rel=1e-3)
        assert cost.call_ns == pytest.approx(call, rel=1e-3)
        width = cost.line.slope_interval.high - cost.line.slope_interval.low
        assert width < 1e-9 * rate
