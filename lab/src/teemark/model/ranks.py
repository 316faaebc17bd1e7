# SPDX-License-Identifier: BSD-2-Clause
"""Could two sets of values be of one distribution? By their ranks, whatever the distribution is.

The p-value is exact for few values, ties included, and normal beyond; many p-values together are
corrected so that the share of false alarms among all alarms stays below the level.
Sources: H. B. Mann and D. R. Whitney (1947); Y. Benjamini and Y. Hochberg, Controlling the False
Discovery Rate (1995); A. Vargha and H. Delaney, A Critique and Improvement of the CL Common
Language Effect Size Statistics (2000).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXACT_UP_TO = 40
"""So many values together have their exact distribution computed."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """`p` is two-sided. `larger` is the probability that a value of the second set is larger than
    one of the first, ties counted half: 0.5 where neither tends to be."""

    p: float
    larger: float


def mann_whitney(first: Sequence[float], second: Sequence[float]) -> Ranked:
    """ValueError without values."""
    n, m = len(first), len(second)
    if not n or not m:
        raise ValueError("no values to rank")
    ranks = _doubled_ranks((*first, *second))
    total = sum(ranks[n:])  # twice the sum of the second set's ranks
    larger = (total / 2 - m * (m + 1) / 2) / (n * m)
    if n + m <= EXACT_UP_TO:
        return Ranked(_exact(tuple(sorted(ranks)), m, total), larger)
    ties: dict[int, int] = {}
    for rank in ranks:
        ties[rank] = ties.get(rank, 0) + 1
    tied = sum(count**3 - count for count in ties.values()) / ((n + m) * (n + m - 1))
    variance = n * m / 12 * (n + m + 1 - tied)
    off = abs(larger - 0.5) * n * m - 0.5  # continuity
    if variance <= 0 or off <= 0:
        return Ranked(1.0, larger)
    return Ranked(math.erfc(off / math.sqrt(2 * variance)), larger)


def least_p(n: int, m: int) -> float:
    """The smallest p-value that so many values can have."""
    return min(1.0, 2 / math.comb(n + m, n))


def false_discovery(ps: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg: each p-value as large as the level at which it is an alarm."""
    order = sorted(range(len(ps)), key=lambda index: ps[index], reverse=True)
    found = [1.0] * len(ps)
    least = 1.0
    for place, index in enumerate(order):
        least = min(least, ps[index] * len(ps) / (len(ps) - place))
        found[index] = least
    return found


def _doubled_ranks(values: Sequence[float]) -> list[int]:
    """Twice the rank of each, from 1; equal values share the mean of theirs."""
    order = sorted(range(len(values)), key=lambda index: values[index])
    ranks = [0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for index in order[start:end]:
            ranks[index] = start + 1 + end
        start = end
    return ranks


def _exact(ranks: tuple[int, ...], taken: int, total: int) -> float:
    """Twice the smaller tail, of all ways to take so many of the ranks."""
    ways = _ways(ranks, taken)
    below, above = ways[: total + 1].sum(), ways[total:].sum()
    return float(min(1.0, 2 * min(below, above) / ways.sum()))


@lru_cache(maxsize=64)
def _ways(ranks: tuple[int, ...], taken: int) -> NDArray[np.float64]:
    """By sum: in how many ways so many of the ranks add up to it."""
    import numpy as np

    found: NDArray[np.float64] = np.zeros((taken + 1, sum(ranks) + 1))
    found[0, 0] = 1.0
    for rank in ranks:
        found[1:, rank:] += found[:-1, : found.shape[1] - rank].copy()
    whole: NDArray[np.float64] = found[taken]
    return whole
