# SPDX-License-Identifier: BSD-2-Clause
"""Decisions on intervals: both sides of a threshold, and undecided in the middle."""

import pytest

from synthetic import scattered
from teemark.model.decide import MOST, above, any_above, samples_needed, within
from teemark.model.stats import Estimate, estimate, exactly
from teemark.wording import fmt


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
    assert samples_needed(few, (1.0,), 5) == 1
    assert samples_needed(estimate([[2.0]], "one"), (1.0,), 1) == 5


def test_how_many_more_would_decide() -> None:
    """With so many the interval, which narrows with the square root, ends at the threshold."""
    figure = known(1.02)
    interval = figure.interval
    assert interval is not None
    needed = samples_needed(figure, (1.0,), 20)
    assert needed is not None
    half = figure.value - interval.low
    assert (20 + needed) / 20 == pytest.approx((half / (figure.value - 1.0)) ** 2, rel=0.05)
    above_it = 2 * figure.value - 1.0  # the same to the other side
    again = samples_needed(figure, (above_it,), 20)
    assert again == pytest.approx(needed, rel=0.2)
    # The nearer one of two thresholds asks for more.
    assert samples_needed(figure, (0.9, 1.0), 20) == needed
    assert samples_needed(figure, (1.0, 0.9), 20) == needed


def test_what_is_decided_needs_no_more() -> None:
    assert samples_needed(known(2.0), (1.0,), 20) == 0


def test_at_the_threshold_nothing_decides() -> None:
    figure = known(1.0)
    assert samples_needed(figure, (figure.value,), 20) is None
    assert samples_needed(figure, (figure.value * (1 + 1e-6),), 20) is None
    assert MOST == 10_000


def test_a_number_that_nobody_can_follow_is_no_advice() -> None:
    """20 samples have a figure 0.02 % off its threshold: 400,000 more."""
    figure = known(1.0)
    interval = figure.interval
    assert interval is not None
    reach = interval.high - figure.value
    assert samples_needed(figure, (figure.value + reach / 141,), 20) is None
    assert (
        fmt.more_samples(figure, None, 1)
        == "It is so near its threshold that no practical number of samples would decide."
    )
    assert samples_needed(figure, (figure.value + reach / 20,), 20) == pytest.approx(
        20 * 399, rel=0.1
    )


def test_any_of_many_is_decided_by_all_together() -> None:
    """Of 20 figures that lie just above, none is surely above; with 20 far below it is no."""
    near = [known(1.04)] * 20
    assert above(near[0], 1.0) == "yes"
    assert any_above(near, 1.0) != "yes"
    assert any_above([*near, known(2.0)], 1.0) == "yes"
    assert any_above(near, 2.0) == "no"
    assert any_above([*near, exactly(1.5)], 1.0) == "yes"
