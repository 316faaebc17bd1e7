# SPDX-License-Identifier: BSD-2-Clause
"""The one fit: measured = sum over terms of (how often a call pays the term) * (the term's cost).

It minimises relative errors, since times range over orders of magnitude. Huber's loss (linear
beyond 1.345 standard errors) keeps one disturbed point from bending the fit. Once the weights are
found the fit is linear in the medians, so it turns draws of the medians into draws of the terms.
Source: P. J. Huber, Robust Estimation of a Location Parameter (1964)."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from teemark.model.stats import Array, Estimate, added, freedom_of

MISFIT = 0.10  # Largest relative residual, beyond scatter, of a fit that counts as a description
ROUNDING = 1e-9  # Relative values below this are rounding errors
BETTER = 0.98  # An added term must bring the prediction error down to this share of its old value

CLEAR = 1.5  # A candidate must exceed this many half-widths of its 95 % interval

MAY_SAVE = frozenset({"feed", "again", "tail", "table"})
"""Terms that may be negative: each is a different path through the code, maybe a shorter one."""

SCATTER = 2.0
"""Residuals below this many of the point's own standard errors don't reduce its weight."""

_HUBER = 1.345
_ROUNDS = 50
_SEEN = 1e-6  # Without a point whose 1 - leverage is smaller, the fit has no answer


@dataclass(frozen=True, slots=True)
class FitPoint:
    """A point that was fitted; `x` is its size or count."""

    x: float
    measured: Estimate
    fitted: float
    left_out: float | None  # Prediction by the fit without this point; None if there is no such fit

    @property
    def residual(self) -> float:
        """Returns the residual as a share of the measured value; positive if the fit is higher."""
        return (self.fitted - self.measured.value) / self.measured.value

    @property
    def error(self) -> float:
        """Returns the relative error of predicting this point from all others, else the
        residual."""
        predicted = self.fitted if self.left_out is None else self.left_out
        return abs(predicted / self.measured.value - 1)

    @property
    def missed(self) -> bool:
        """Returns true if the fit lies outside the median's interval: scatter can't explain it."""
        interval = self.measured.interval
        return bool(interval and abs(self.residual) >= ROUNDING and self.fitted not in interval)


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted sum of terms; `terms` are by name, in the order in which they were added."""

    terms: Mapping[str, Estimate]
    points: tuple[FitPoint, ...]

    def at(self, row: Mapping[str, float]) -> Estimate:
        """Returns the fitted cost of a call; `row` says how often the call pays each term."""
        return added(term.scaled(row[name]) for name, term in self.terms.items())

    @property
    def worst(self) -> FitPoint:
        """Returns the point with the largest residual; if any point is `missed`, only among
        those."""
        missed = [point for point in self.points if point.missed]
        return max(missed or self.points, key=lambda point: abs(point.residual))

    @property
    def misfit(self) -> float | None:
        """Returns the largest relative residual that scatter can't explain: 0 if scatter explains
        all residuals, None if too few samples leave that open."""
        if self.worst.missed:
            return abs(self.worst.residual)
        return None if any(point.measured.interval is None for point in self.points) else 0.0

    @property
    def fits(self) -> bool:
        """Returns true if no relative residual beyond scatter exceeds MISFIT."""
        return (self.misfit or 0.0) <= MISFIT

    def off(self, part: Callable[[float], float]) -> float | None:
        """Returns the relative error that the model adds to a part of its sum, `part(x)` in the
        points' unit: the largest error at a left-out point, times the part's share of that point.
        None if no point can be left out."""
        left = (point for point in self.points if point.left_out is not None and point.fitted > 0)
        errors = (point.error * min(1.0, abs(part(point.x)) / point.fitted) for point in left)
        return max(errors, default=None)

    @property
    def prediction_error(self) -> float | None:
        """Returns the largest relative error at a point that the fit left out; None without any."""
        errors = [point.error for point in self.points if point.left_out is not None]
        return max(errors, default=None)


Columns = Mapping[str, Sequence[float]]  # By term: how often each point pays it

Known = Mapping[str, tuple[Estimate, Sequence[float]]]
"""Terms that were measured separately, each with how often each point pays it."""


def fit(
    xs: Sequence[float],
    measured: Sequence[Estimate],
    base: Columns,
    candidates: Columns | None = None,
    fixed: Known | None = None,
    *,
    robust: bool = True,
) -> Fit | None:
    """Fits the terms of `base`, and of `candidates` the set that best predicts left-out points; a
    larger set must do clearly better. A set is out if a candidate's interval includes zero, or if a
    term that isn't in MAY_SAVE is negative. Returns None if the points can't separate the terms of
    the base, or a median isn't positive."""
    if any(cost.value <= 0 for cost in measured):
        return None
    candidates, fixed = candidates or {}, fixed or {}
    best = _solve(xs, measured, base, fixed, robust)
    if best is None:
        return None
    for count in range(1, len(candidates) + 1):
        for names in combinations(candidates, count):
            columns = {**base, **{name: candidates[name] for name in names}}
            tried = _solve(xs, measured, columns, fixed, robust)
            if (
                tried is not None
                and all(_is_clear(name, tried.terms[name]) for name in names)
                and all(tried.terms[name].value > 0 for name in base)
                and _prediction(tried, best) < BETTER
            ):
                best = tried
    if best.fits:
        return best
    terms = {name: replace(term, holds=False) for name, term in best.terms.items()}
    return replace(best, terms=terms)


def line(
    xs: Sequence[float], measured: Sequence[Estimate], slope: str, *, robust: bool = True
) -> Fit | None:
    """Fits `call` + x * `slope`, where `slope` is the name of the second term; None as in `fit`."""
    columns = {"call": [1.0] * len(xs), slope: [float(x) for x in xs]}
    return fit(xs, measured, columns, robust=robust)


def _is_clear(name: str, term: Estimate) -> bool:
    """Returns true if a term exceeds CLEAR half-widths of its interval, and is positive unless it
    is in MAY_SAVE."""
    interval = term.interval
    if interval is None or (term.value < 0 and name not in MAY_SAVE):
        return False
    end = interval.low if term.value > 0 else interval.high
    return abs(term.value) > CLEAR * abs(term.value - end)


def _prediction(tried: Fit, best: Fit) -> float:
    """Returns the prediction error of `tried` divided by that of `best`. A point that can't be left
    out contributes its residual."""
    mine, theirs = (sum(point.error**2 for point in model.points) for model in (tried, best))
    if theirs <= ROUNDING**2:
        return 1.0
    return float((mine / theirs) ** 0.5)


def _solve(
    xs: Sequence[float], measured: Sequence[Estimate], columns: Columns, fixed: Known, robust: bool
) -> Fit | None:
    y = np.array([cost.value for cost in measured])
    design = np.array(list(columns.values()), dtype=np.float64).T
    if len(y) <= design.shape[1]:
        return None
    relative = design / y[:, np.newaxis]
    norms = np.linalg.norm(relative, axis=0)
    if np.any(norms == 0) or np.linalg.matrix_rank(relative / norms) < design.shape[1]:
        return None
    apart = sum((term.value * np.asarray(paid) for term, paid in fixed.values()), np.zeros_like(y))
    # A residual within SCATTER standard errors is no disturbance.
    errors = np.maximum(SCATTER * np.array([cost.variance**0.5 for cost in measured]) / y, ROUNDING)
    weights = np.ones_like(y)
    for _ in range(_ROUNDS if robust else 1):
        root = np.sqrt(weights)[:, np.newaxis]
        # Turns relative times into terms: a row per term, a column per point.
        inverse = np.linalg.pinv(root * relative / norms) / norms[:, np.newaxis] * root.T
        off = np.abs(relative @ inverse @ (1 - apart / y) + apart / y - 1)
        # 1.4826 makes the median absolute deviation a standard deviation for normal errors.
        middle = np.sort(off)[[(len(off) - 1) // 2, len(off) // 2]].mean()
        scale = np.maximum(1.4826 * middle, errors)
        before, weights = weights, np.minimum(1.0, _HUBER * scale / np.maximum(off, ROUNDING))
        if np.all(np.abs(before - weights) <= 1e-4 * weights):
            break
    solution = inverse / y
    values = solution @ (y - apart)
    left = list(measured)
    for term, paid in fixed.values():
        left = [cost - term.scaled(times) for cost, times in zip(left, paid, strict=True)]
    common = replace(added(left), draws=None)  # The kind and the cases of all points together
    leverage = np.einsum("ij,ji->i", relative, inverse)
    fitted = design @ values + apart
    left_out = [
        float(y[i] + (fitted[i] - y[i]) / (1 - leverage[i])) if 1 - leverage[i] > _SEEN else None
        for i in range(len(y))
    ]
    terms = {
        name: replace(common, value=float(values[i]), draws=draws, freedom=freedom, shared=shared)
        for i, name in enumerate(columns)
        for draws, freedom, shared in [_spread(solution[i], left)]
    }
    terms |= {name: term for name, (term, _) in fixed.items()}
    rows = zip(xs, measured, map(float, fitted), left_out, strict=True)
    return Fit(terms, tuple(FitPoint(*row) for row in rows))


def _spread(row: Array, points: Sequence[Estimate]) -> tuple[Array | None, float, bool]:
    draws = [point.draws for point in points if point.draws is not None]
    if len(draws) < len(points):
        return None, math.inf, False
    total = row @ np.array(np.broadcast_arrays(*draws))
    return total, *freedom_of(*zip(row.tolist(), points, strict=True))
