# SPDX-License-Identifier: BSD-2-Clause
"""The one fit, against known truth: which terms enter, what scatters, what misses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthetic import SIZES, TRUTH, Synthetic, scattered, work
from teemark.base.work import Work
from teemark.model import models
from teemark.model.fit import MISFIT, Fit, fit
from teemark.model.stats import Estimate, estimate, exactly

XS = [float(size) for size in SIZES]
ONES = [1.0] * len(XS)
LINE = {"call": ONES, "byte": XS}


def exact(values: list[float]) -> list[Estimate]:
    return [exactly(value) for value in values]


def noisy(values: list[float], spread: float, count: int = 15, seed: int = 1) -> list[Estimate]:
    rng = np.random.default_rng(seed)
    return [
        estimate([list(value * rng.normal(1, spread, count))], f"{i}")
        for i, value in enumerate(values)
    ]


def terms(found: Fit | None) -> dict[str, float]:
    assert found is not None
    return {name: term.value for name, term in found.terms.items()}


@given(st.floats(min_value=10, max_value=1e7), st.floats(min_value=0.01, max_value=200))
def test_exact_data_give_the_exact_terms(call: float, byte: float) -> None:
    found = fit(XS, exact([call + byte * x for x in XS]), LINE)
    assert found is not None
    assert terms(found) == {
        "call": pytest.approx(call, rel=1e-6),
        "byte": pytest.approx(byte, rel=1e-6),
    }
    assert found.fits
    assert found.at({"call": 1, "byte": 100}).value == pytest.approx(call + 100 * byte, rel=1e-6)
    for term in found.terms.values():
        assert term.interval is not None
        assert term.interval.width == 0


@settings(max_examples=settings().max_examples // 4)
@given(st.integers(0, 2**31), st.floats(min_value=0.1, max_value=1000))
def test_terms_scale_with_the_unit(seed: int, factor: float) -> None:
    points = noisy([4e5 + 20 * x for x in XS], 0.03, seed=seed)
    one = fit(XS, points, LINE)
    other = fit(XS, [point.scaled(factor) for point in points], LINE)
    assert one is not None
    assert other is not None
    for name, term in one.terms.items():
        assert other.terms[name].value == pytest.approx(term.value * factor, rel=1e-6)
        mine, its = term.interval, other.terms[name].interval
        assert mine is not None
        assert its is not None
        assert (its.low, its.high) == pytest.approx((mine.low * factor, mine.high * factor))


def test_one_disturbed_size_does_not_bend_the_fit() -> None:
    values = [4e5 + 20 * x for x in XS]
    values[4] *= 3
    found = fit(XS, exact(values), LINE)
    assert found is not None
    assert terms(found) == {
        "call": pytest.approx(4e5, rel=0.02),
        "byte": pytest.approx(20, rel=0.02),
    }
    assert not found.fits
    assert found.worst.x == XS[4]
    bent = fit(XS, exact(values), LINE, robust=False)
    assert bent is not None
    assert bent.terms["byte"].value > 22


def test_relative_errors_weigh_alike() -> None:
    """A tenth more at the largest size moves the call no more than a tenth at the smallest."""
    found = fit([0, 1, 1000], exact([100, 101, 1210]), {"call": [1.0] * 3, "byte": [0.0, 1, 1000]})
    assert terms(found)["call"] == pytest.approx(100, rel=0.01)


@pytest.mark.parametrize(
    ("values", "columns"),
    [
        ([1.0, 2.0], {"call": [1.0] * 2, "byte": [0.0, 1.0]}),  # no more points than terms
        ([1.0, 2.0, 3.0], {"call": [1.0] * 3, "byte": [5.0] * 3}),  # one is the other
        ([1.0, 2.0, 3.0], {"call": [1.0] * 3, "byte": [0.0] * 3}),  # never paid
        ([0.0, 2.0, 3.0], {"call": [1.0] * 3, "byte": [0.0, 1.0, 2.0]}),  # nothing measured
        ([-1.0, 2.0, 3.0], {"call": [1.0] * 3, "byte": [0.0, 1.0, 2.0]}),
    ],
)
def test_too_little_for_a_fit(values: list[float], columns: dict[str, list[float]]) -> None:
    assert fit(range(len(values)), exact(values), columns) is None


PAGES = [float(-(-size // 4096)) for size in SIZES]


@pytest.mark.parametrize(
    ("page", "spread", "enters"),
    [(900.0, 0.0, True), (900.0, 0.001, True), (100.0, 0.2, False), (0.0, 0.0, False)],
)
def test_a_term_enters_if_it_explains_more_than_scatter(
    page: float, spread: float, enters: bool
) -> None:
    truth = [5e3 + 0.5 * x + page * pages for x, pages in zip(XS, PAGES, strict=True)]
    points = noisy(truth, spread) if spread else exact(truth)
    found = fit(XS, points, LINE, {"page": PAGES})
    assert (("page" in terms(found)), found is not None) == (enters, True)
    if enters:
        assert terms(found)["page"] == pytest.approx(page, rel=0.2)


def test_a_cost_is_never_negative_but_a_shorter_path_may_save() -> None:
    saved = [5e3 + 2 * x - 900 * (x > 0) for x in XS]
    paid = [float(x > 0) for x in XS]
    assert "page" not in terms(fit(XS, exact(saved), LINE, {"page": paid}))
    found = terms(fit(XS, exact(saved), LINE, {"feed": paid}))
    assert found["feed"] == pytest.approx(-900, rel=1e-6)
    # Nor may a candidate push what is always paid below zero.
    cheap = [1 + 2 * x + 900 * (x > 0) for x in XS]
    assert terms(fit(XS, exact(cheap), LINE, {"page": paid}))["call"] > 0


def test_terms_that_only_show_together_are_found() -> None:
    two = [float(x > 64) for x in XS], [float(0 < x < 4096) for x in XS]
    truth = [300 + 1.5 * x + 90 * a + 40 * b for x, a, b in zip(XS, *two, strict=True)]
    found = terms(fit(XS, exact(truth), LINE, {"again": two[0], "tail": two[1]}))
    assert found["again"] == pytest.approx(90, rel=1e-6)
    assert found["tail"] == pytest.approx(40, rel=1e-6)


def test_a_known_term_is_taken_off() -> None:
    truth = [5e3 + 2 * x + 300 * pages for x, pages in zip(XS, PAGES, strict=True)]
    page = estimate([scattered(300.0, 0.01)], "page")
    found = fit(XS, exact(truth), LINE, None, {"page": (page, PAGES)})
    assert found is not None
    assert terms(found) == {
        "call": pytest.approx(5e3, rel=1e-3),
        "byte": pytest.approx(2, rel=1e-3),
        "page": pytest.approx(300, rel=1e-3),
    }
    assert found.misfit == pytest.approx(0, abs=1e-3)
    byte = found.terms["byte"].interval
    assert byte is not None
    # A byte takes over 1/4096 of what isn't known of a page.
    known = page.interval
    assert known is not None
    assert byte.width == pytest.approx(known.width / 4096, rel=0.3)


def test_scatter_is_no_misfit() -> None:
    """The same distances from the line: inside of the points' own intervals, and far outside."""
    bumps = [1.15, 0.85, 1.15, 0.85, 1.15, 0.85]
    truth = [4e5 * bump for bump in bumps]
    wide = fit(XS, [estimate([scattered(v, 0.4)], str(v)) for v in truth], {"call": ONES})
    tight = fit(XS, [estimate([scattered(v, 0.01)], str(v)) for v in truth], {"call": ONES})
    assert wide is not None
    assert tight is not None
    assert wide.misfit == 0
    assert wide.fits
    assert tight.misfit == pytest.approx(0.15, rel=0.3)
    assert not tight.fits
    few = fit(XS, [estimate([[v] * 3], str(v)) for v in truth], {"call": ONES})
    assert few is not None
    assert few.misfit is None
    assert few.terms["call"].interval is None


@pytest.mark.parametrize(("share", "fits"), [(MISFIT * 0.9, True), (MISFIT * 1.1, False)])
def test_the_limit_of_a_misfit(share: float, fits: bool) -> None:
    values = [1000.0] * 8 + [1000.0 / (1 + share)]
    found = fit(range(9), exact(values), {"call": [1.0] * 9})
    assert found is not None
    assert found.misfit == pytest.approx(share, rel=1e-3)
    assert found.fits is fits
    assert found.worst.residual > 0


def test_prediction_of_what_is_left_out() -> None:
    """The formula is held against fits that really leave a point out."""
    values = [1000 * (1 + 0.01 * bump) for bump in (1, -2, 3, -1, 2, -3)]
    found = fit(XS, exact(values), LINE, robust=False)
    assert found is not None
    for i, point in enumerate(found.points):
        keep = [j for j in range(len(XS)) if j != i]
        without = np.linalg.lstsq(
            np.array([[1 / values[j], XS[j] / values[j]] for j in keep]), np.ones(5), rcond=None
        )[0]
        assert point.left_out == pytest.approx(without[0] + without[1] * XS[i])
    assert found.prediction_error == pytest.approx(
        max(abs((p.left_out or 0) / p.measured.value - 1) for p in found.points)
    )
    # A point that alone tells a term can't be predicted.
    alone = fit(XS, exact(values), {"call": ONES, "feed": [1.0, 0, 0, 0, 0, 0]})
    assert alone is not None
    assert alone.points[0].left_out is None
    assert all(point.left_out is not None for point in alone.points[1:])


def test_models_of_a_run_find_the_truth() -> None:
    run = Synthetic(seed=5, samples=20).run()
    made = models.build(run)
    assert {(cost.algorithm, cost.backend) for cost in made.costs} == set(TRUTH)
    for cost in made.costs:
        call, rate = TRUTH[cost.algorithm, cost.backend]
        assert cost.slope.value == pytest.approx(rate, rel=0.03)
        assert cost.call.value == pytest.approx(call, rel=0.05, abs=60)
        assert cost.fit.fits
        assert cost.samples == 20
        for size in SIZES:
            truth = call + work(cost.algorithm, cost.backend, size)
            assert cost.at(size).value == pytest.approx(truth, rel=0.05)
    assert len(made.repeats) == 8  # tee, ta-c and ta-ce at 4096, where they exist
    for key, repeat in made.repeats.items():
        names = Work.of(key).algorithm, Work.of(key).backend
        assert repeat.terms["call"].value == pytest.approx(TRUTH[names][0], rel=0.05)
        found = models.operation(made.repeats, key)
        assert found is not None
        assert found.interval is not None
        # Twice the interval: it misses once in twenty, and there are eight.
        assert abs(found.value - work(*names, 4096)) < found.interval.width


def test_counted_instructions_are_exact() -> None:
    run = Synthetic(identical=True).run()
    for cost in models.build(run).costs:
        call, rate = TRUTH[cost.algorithm, cost.backend]
        assert cost.slope.value == pytest.approx(rate, rel=1e-3)
        assert cost.call.value == pytest.approx(call, rel=0.01)
        assert cost.byte.interval is not None
        assert cost.byte.interval.width == 0
