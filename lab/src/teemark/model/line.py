# SPDX-License-Identifier: BSD-2-Clause
"""A straight line through medians, with what is known of its uncertainty and of its misfit.

The line minimises relative errors: a 1 % miss weighs the same at 64 bytes and at 1 MiB, as times
that range over orders of magnitude ask for. Huber's loss (linear beyond 1.345 standard errors)
keeps one disturbed point from bending it. Intervals come from a bootstrap that draws the raw
samples of each point anew: what is uncertain is the points, not the choice of sizes.
Sources: P. J. Huber, Robust Estimation of a Location Parameter (1964);
B. Efron and R. Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from teemark.model.stats import LEVEL, Interval, median

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

MISFIT = 0.10
"""A line that misses a median by more than this share of it doesn't fit."""

DRAWS = 1000
SEED = 20260101

ROUNDING = 1e-9
"""A line that rises by less than this share of its values over all its points is level."""

_HUBER = 1.345
_ROUNDS = 12


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    measured: float  # the median
    fitted: float

    @property
    def residual(self) -> float:
        """Relative to what was measured; positive where the line lies above."""
        return (self.fitted - self.measured) / self.measured


@dataclass(frozen=True, slots=True)
class Line:
    """y = intercept + slope * x."""

    intercept: float
    slope: float
    intercept_interval: Interval
    slope_interval: Interval
    points: tuple[Point, ...]

    def at(self, x: float) -> float:
        return self.intercept + self.slope * x

    @property
    def worst(self) -> Point:
        return max(self.points, key=lambda point: abs(point.residual))

    @property
    def fits(self) -> bool:
        return abs(self.worst.residual) <= MISFIT


def fit_line(samples: Mapping[float, Sequence[float]]) -> Line | None:
    """A line through the medians of the samples at each x.

    None when there are fewer than three x (two always fit) or a median that isn't positive.
    The same samples always give the same line and the same intervals.
    """
    import numpy as np

    xs = sorted(x for x, values in samples.items() if values)
    if len(xs) < 3:
        return None
    medians = [median(samples[x]) for x in xs]
    if min(medians) <= 0:
        return None
    x = np.asarray(xs, dtype=np.float64)
    y = np.asarray(medians, dtype=np.float64)
    intercepts, slopes = _huber(x, y[np.newaxis, :])
    intercept, slope = float(intercepts[0]), float(slopes[0])

    rng = np.random.default_rng(SEED)
    drawn = np.empty((DRAWS, len(xs)))
    for column, place in enumerate(xs):
        values = np.asarray(samples[place], dtype=np.float64)
        if np.min(values) == np.max(values):
            drawn[:, column] = values[0]
            continue
        chosen = rng.integers(0, len(values), size=(DRAWS, len(values)))
        drawn[:, column] = _medians(values[chosen])
    drawn_intercepts, drawn_slopes = _huber(x, drawn)
    return Line(
        intercept=intercept,
        slope=slope,
        intercept_interval=_percentiles(drawn_intercepts, intercept),
        slope_interval=_percentiles(drawn_slopes, slope),
        points=tuple(
            Point(place, measured, intercept + slope * place)
            for place, measured in zip(xs, medians, strict=True)
        ),
    )


@dataclass(frozen=True, slots=True)
class SlopeRatio:
    """How the slope of one line relates to that of another through the same x."""

    first: float
    second: float
    ratio: float  # second / first
    interval: Interval  # of the ratio


def slope_ratio(pairs: Mapping[float, Sequence[tuple[float, float]]]) -> SlopeRatio | None:
    """Of two lines, each through the medians of its half of the pairs at each x.

    A pair is the same event seen by two clocks, and is drawn as a pair: what disturbed it disturbs
    both, and not the ratio. None when there are fewer than three x, or a median that isn't
    positive, or where it can't be told that the first slope is.
    """
    import numpy as np

    xs = sorted(x for x, values in pairs.items() if values)
    if len(xs) < 3:
        return None
    x = np.asarray(xs, dtype=np.float64)
    rng = np.random.default_rng(SEED)
    # row 0 is the estimate, the others are draws
    y = np.empty((2, 1 + DRAWS, len(xs)))
    for column, place in enumerate(xs):
        values = np.asarray(pairs[place], dtype=np.float64)
        chosen = rng.integers(0, len(values), size=(DRAWS, len(values)))
        for half in (0, 1):
            y[half, 0, column] = np.median(values[:, half])
            y[half, 1:, column] = _medians(values[chosen, half])
    if np.min(y) <= 0:
        return None
    first, second = (_huber(x, half)[1] for half in y)
    if np.any(first * (xs[-1] - xs[0]) <= ROUNDING * y[0].max(axis=1)):
        return None
    ratios = second / first
    ratio = float(ratios[0])
    return SlopeRatio(float(first[0]), float(second[0]), ratio, _percentiles(ratios[1:], ratio))


def _percentiles(drawn: Array, estimate: float) -> Interval:
    """The middle 95 % of the draws, widened where it would leave the estimate out."""
    import numpy as np

    tail = (1 - LEVEL) / 2
    low, high = np.quantile(drawn, (tail, 1 - tail))
    return Interval(min(float(low), estimate), max(float(high), estimate))


def _huber(x: Array, y: Array) -> tuple[Array, Array]:
    """Intercepts and slopes of lines through (x, y[i]), by iteratively reweighted least squares
    on relative errors. `y` holds one line's values a row, all positive."""
    import numpy as np

    weights = 1.0 / y**2
    robust = np.ones_like(y)
    intercept, slope = _least_squares(x, y, weights)
    for _ in range(_ROUNDS):
        residuals = np.abs(intercept[:, None] + slope[:, None] * x - y) / y
        # 1.4826 makes the median absolute deviation a standard deviation for normal errors;
        # the floor keeps a line that fits perfectly from dividing by nothing.
        scale = np.maximum(1.4826 * _medians(residuals)[:, None], 1e-6)
        robust = np.minimum(1.0, _HUBER * scale / np.maximum(residuals, 1e-300))
        before = slope
        intercept, slope = _least_squares(x, y, weights * robust)
        if np.all(np.abs(slope - before) <= 1e-7 * np.abs(before)):
            break
    return intercept, slope


def _medians(rows: Array) -> Array:
    """Of each row. They are short and many, so that sorting takes a fraction of np.median."""
    import numpy as np

    ordered = np.sort(rows, axis=1)
    upper = rows.shape[1] // 2
    if rows.shape[1] % 2:
        return ordered[:, upper]
    return (ordered[:, upper - 1] + ordered[:, upper]) / 2


def _least_squares(x: Array, y: Array, weights: Array) -> tuple[Array, Array]:
    """Weighted least squares, closed form, one line a row."""
    total = weights.sum(axis=1)
    x_mean = (weights * x).sum(axis=1) / total
    y_mean = (weights * y).sum(axis=1) / total
    dx = x - x_mean[:, None]
    slope = (weights * dx * (y - y_mean[:, None])).sum(axis=1) / (weights * dx**2).sum(axis=1)
    return y_mean - slope * x_mean, slope
