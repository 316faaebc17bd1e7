# SPDX-License-Identifier: BSD-2-Clause
"""Decisions on intervals: both sides of a threshold, and undecided in the middle."""

from __future__ import annotations

import pytest

from synthetic import scattered
from teemark.model.decide import MOST, Crossing, above, more, sides, within
from teemark.model.stats import Estimate, estimate, exactly
from teemark.page import figures


def known(value: float, spread: float = 0.05, count: int = 20) -> Estimate:
    return estimate([scattered(value, spread, count)], f"{value}")


@pytest.mark.parametrize(
    ("value", "answer"), [(1.2, "yes"), (1.02, "undecided"), (0.98, "undecided"), (0.8, "no")]
)
def test_above(value: float, answer: str) -> None:
    assert above(known(value), 1.0) == answer


@pytest.mark.parametrize(
    ("value", "answer"),
    [(1.0, "yes"), (1.1, "undecided"), (0.9, "undecided"), (1.3, "no"), (0.7, "no")],
)
def test_within(value: float, answer: str) -> None:
    assert within(known(value), 0.9, 1.1) == answer


def test_exact_figures_at_a_threshold() -> None:
    assert above(exactly(1.0), 1.0) == "undecided"
    assert above(exactly(1.0000001), 1.0) == "yes"
    assert within(exactly(1.1), 0.9, 1.1) == "yes"
    assert within(exactly(0.9), 0.9, 1.1) == "yes"


def test_too_few_samples_decide_nothing() -> None:
    few = estimate([[2.0] * 5], "few")
    assert above(few, 1.0) == "undecided"
    assert within(few, 0.9, 1.1) == "undecided"
    assert more(few, (1.0,), 5) == 1
    assert more(estimate([[2.0]], "one"), (1.0,), 1) == 5


def test_how_many_more_would_decide() -> None:
    """With so many the interval, which narrows with the square root, ends at the threshold."""
    figure = known(1.02)
    interval = figure.interval
    assert interval is not None
    needed = more(figure, (1.0,), 20)
    assert needed is not None
    half = figure.value - interval.low
    assert (20 + needed) / 20 == pytest.approx((half / (figure.value - 1.0)) ** 2, rel=0.05)
    above_it = 2 * figure.value - 1.0  # the same to the other side
    again = more(figure, (above_it,), 20)
    assert again == pytest.approx(needed, rel=0.2)
    # Of two thresholds the nearer one asks for more.
    assert more(figure, (0.9, 1.0), 20) == needed
    assert more(figure, (1.0, 0.9), 20) == needed


def test_what_is_decided_needs_no_more() -> None:
    assert more(known(2.0), (1.0,), 20) == 0


def test_at_the_threshold_nothing_decides() -> None:
    figure = known(1.0)
    assert more(figure, (figure.value,), 20) is None
    assert more(figure, (figure.value * (1 + 1e-6),), 20) is None
    assert MOST == 10_000


def test_a_number_that_nobody_can_follow_is_no_advice() -> None:
    """Of 20 samples, with a figure 0.02 % off its threshold: 400,000 more."""
    figure = known(1.0)
    interval = figure.interval
    assert interval is not None
    reach = interval.high - figure.value
    assert more(figure, (figure.value + reach / 141,), 20) is None
    assert (
        figures.more(None, 1)
        == "It is so near its threshold that no practical number of samples would decide."
    )
    assert more(figure, (figure.value + reach / 20,), 20) == pytest.approx(20 * 399, rel=0.1)


def series(*values: float, spread: float = 0.01) -> list[tuple[int, Estimate]]:
    return [(64 << i, known(value, spread)) for i, value in enumerate(values)]


def test_sides_cross_between_measured_sizes() -> None:
    found = sides(series(200, 201, 99, 98), series(100, 150, 100.1, 150))
    assert found.answers == ((64, "slower"), (128, "slower"), (256, "undecided"), (512, "faster"))
    # 256 is undecided: so it is somewhere between its neighbours.
    assert found.crossings == (Crossing(128, 512, faster=True),)
    back = sides(series(100, 150, 150), series(200, 201, 101))
    assert back.crossings == (Crossing(128, 256, faster=False),)


def test_no_crossing_is_made_up() -> None:
    """Approaching each other isn't crossing."""
    closer = sides(series(200, 300, 500, 900), series(100, 220, 450, 890))
    assert [said for _, said in closer.answers][:3] == ["slower"] * 3
    assert closer.crossings == ()
    level = sides(series(100, 200), series(100, 200))
    assert level.sizes("undecided") == (64, 128)
    assert level.crossings == ()


@pytest.mark.parametrize("factor", [1.0, 0.991, 1.009])
def test_what_is_within_a_hundredth_is_as_fast(factor: float) -> None:
    """Exact counts differ by less for no reason of theirs, and that is no crossing."""
    found = sides(series(300, 100, 100 * factor, spread=0), series(200, 100, 100, spread=0))
    assert found.answers == ((64, "slower"), (128, "same"), (256, "same"))
    assert found.crossings == ()
    assert sides(series(100 * factor), series(100)).sizes("undecided") == (64,)  # known to 1 %


@pytest.mark.parametrize(("factor", "side"), [(0.989, "faster"), (1.011, "slower")])
def test_a_hundredth_and_more_is_not(factor: float, side: str) -> None:
    found = sides(series(100 * factor, spread=0), series(100, spread=0))
    assert found.answers == ((64, side),)


def test_sizes_that_only_one_has_are_left_out() -> None:
    one = series(100, 200, 300)
    assert sides(one, one[1:]).answers == ((128, "undecided"), (256, "undecided"))
    few = [(64, estimate([[1.0] * 3], "few"))]
    assert sides(few, series(100)).answers == ((64, "undecided"),)
    assert sides(list(reversed(series(200, 300))), series(100, 100)).answers == (
        (64, "slower"),
        (128, "slower"),
    )
