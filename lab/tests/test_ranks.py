# SPDX-License-Identifier: BSD-2-Clause
"""The rank test and its correction are those that scipy has."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from teemark.model.ranks import false_discovery, least_p, mann_whitney

few = st.lists(st.integers(-50, 50), min_size=1, max_size=12, unique=True)


@given(few, few)
def test_few_values_without_ties_are_exact(one: list[int], other: list[int]) -> None:
    second = [value + 0.5 for value in other]
    found = mann_whitney(one, second)
    known = scipy_stats.mannwhitneyu(second, one, method="exact")
    assert found.p == pytest.approx(known.pvalue, rel=1e-9)
    assert found.larger == pytest.approx(known.statistic / len(one) / len(other))


def test_few_values_with_ties_are_exact() -> None:
    one, other = [1, 2, 2, 3, 3], [2, 3, 3, 4]

    def rank_sum(x: list[int], y: list[int]) -> float:
        return float(scipy_stats.rankdata([*x, *y])[len(x) :].sum())

    known = scipy_stats.permutation_test((one, other), rank_sum, n_resamples=10_000)
    assert mann_whitney(one, other).p == pytest.approx(known.pvalue, rel=1e-9)


def test_many_values_are_as_good_as_normal() -> None:
    rng = random.Random(3)
    one = [round(rng.gauss(0, 1), 1) for _ in range(40)]  # with ties
    other = [round(rng.gauss(0.4, 1), 1) for _ in range(50)]
    known = scipy_stats.mannwhitneyu(other, one, method="asymptotic")
    assert mann_whitney(one, other).p == pytest.approx(known.pvalue, rel=1e-9)


def test_equal_values_prove_nothing() -> None:
    assert mann_whitney([1.0] * 8, [1.0] * 8).p == 1.0
    assert mann_whitney([1.0] * 50, [1.0] * 50).p == 1.0
    assert mann_whitney([1.0] * 8, [1.0] * 8).larger == 0.5


def test_nothing_to_rank() -> None:
    with pytest.raises(ValueError, match="no values"):
        mann_whitney([], [1.0])


def test_the_least_p_of_so_many() -> None:
    assert least_p(5, 5) == mann_whitney([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]).p


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_correction_is_that_of_benjamini_and_hochberg(ps: list[float]) -> None:
    assert false_discovery(ps) == pytest.approx(list(scipy_stats.false_discovery_control(ps)))
