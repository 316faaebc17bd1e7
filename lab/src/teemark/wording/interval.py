# SPDX-License-Identifier: BSD-2-Clause
"""An interval that holds the truth with a known probability."""

from dataclasses import dataclass

LEVEL = 0.95  # Probability with which an interval of a report holds the truth


@dataclass(frozen=True, slots=True)
class Interval:
    """The range from `low` to `high`; it holds the true value with the probability `level`."""

    low: float
    high: float
    level: float = LEVEL

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def of_shares(self, value: float) -> "Interval":
        """Returns the interval of a positive share or factor, which can't be negative, even if one
        of few samples reaches below zero."""
        return Interval(max(self.low, 0.0), self.high) if value > 0 else self

    @property
    def width(self) -> float:
        return self.high - self.low
