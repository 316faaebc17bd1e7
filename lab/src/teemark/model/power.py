# SPDX-License-Identifier: BSD-2-Clause
"""The smallest change that a comparison of few starts can detect: the power of Student's t-test.
Pure numbers."""

import math
from functools import lru_cache
from statistics import NormalDist

ALPHA = 0.0005
"""Probability that a comparison of one build with itself calls any case better or worse."""

POWER = 0.8  # Probability that a change of the size printed as visible is called worse

FEWEST = 4
"""Fewest starts of a run for a verdict: one boot in ten may be far slower than the others, and two
slow ones in a row aren't rare."""


def visible(error: float, starts: tuple[int, int], tests: int) -> float:
    """Returns the relative change that is called worse with probability POWER. `error` is the
    standard error of the log ratio, `starts` each run's number, `tests` the number of cases."""
    return math.expm1(min(_shift_seen(*starts, tests) * error, 500.0))


@lru_cache(maxsize=4096)
def _shift_seen(first: int, second: int, tests: int) -> float:
    """Returns the change that is called worse with probability POWER, in true standard errors: the
    mean over the values that both runs' variances, and so Welch's degrees of freedom, may take. Chi
    squares are approximated as by E. Wilson and M. Hilferty (1931)."""
    normal = NormalDist()

    def shares(starts: int) -> list[float]:
        """Returns 24 equally likely estimates of the variance of a mean of `starts` values, each
        divided by the true variance of one value."""
        spread = 2 / (9 * (starts - 1))
        points = (normal.inv_cdf((place + 0.5) / 24) for place in range(24))
        return [max(1 - spread + z * math.sqrt(spread), 0.01) ** 3 / starts for z in points]

    bounds = []
    for a in shares(first):
        for b in shares(second):
            freedom = (a + b) ** 2 / (a**2 / (first - 1) + b**2 / (second - 1))
            quantile = student(ALPHA / tests, max(int(freedom), 1))
            bounds.append(quantile * math.sqrt((a + b) / (1 / first + 1 / second)))
    low, high = 0.0, max(bounds) + 10
    for _ in range(40):
        middle = (low + high) / 2
        seen = math.fsum(normal.cdf(middle - bound) for bound in bounds) / len(bounds)
        low, high = (middle, high) if seen < POWER else (low, middle)
    return high


def student_p(t: float, freedom: int) -> float:
    """Returns the two-sided p-value of Student's t, by the finite series of Abramowitz and Stegun,
    Handbook of Mathematical Functions (1964), 26.7.3 and 26.7.4; beyond 200 degrees of freedom by
    the normal distribution, with the argument of 26.7.8."""
    if freedom > 200:
        normal = t * (1 - 1 / (4 * freedom)) / math.sqrt(1 + t**2 / (2 * freedom))
        return math.erfc(normal / math.sqrt(2))
    angle = math.atan2(t, math.sqrt(freedom))
    cosine, sine = math.cos(angle), math.sin(angle)
    odd = freedom % 2
    term, total = (cosine, cosine if freedom > 1 else 0.0) if odd else (1.0, 1.0)
    for k in range(3 if odd else 2, freedom - 1, 2):
        term *= cosine**2 * (k - 1) / k
        total += term
    inside = (angle + sine * total) * 2 / math.pi if odd else sine * total
    return max(0.0, 1.0 - inside)


@lru_cache(maxsize=4096)
def student(p: float, freedom: int) -> float:
    """Returns the t whose two-sided p-value is `p`: the inverse of `student_p`."""
    low, high = 0.0, 1.0
    while student_p(high, freedom) > p:
        low, high = high, 2 * high
        if high > 1e8:
            return high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student_p(middle, freedom) > p else (low, middle)
    return high
