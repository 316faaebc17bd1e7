# SPDX-License-Identifier: BSD-2-Clause
"""Numbers that are known to their last printed digit only.

"11.6" stands for anything from 11.55 to 11.65. A derived figure contradicts its sources only when
no numbers inside those ranges would give it: so a check can't fire on mere rounding.
"""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, slots=True)
class Span:
    """From `low` to `high`, with `mid` as the figure that was printed."""

    low: float
    mid: float
    high: float

    def __add__(self, other: "Span | float") -> "Span":
        o = span(other)
        return Span(self.low + o.low, self.mid + o.mid, self.high + o.high)

    def __sub__(self, other: "Span | float") -> "Span":
        o = span(other)
        return Span(self.low - o.high, self.mid - o.mid, self.high - o.low)

    def __mul__(self, other: "Span | float") -> "Span":
        o = span(other)
        ends = [a * b for a in (self.low, self.high) for b in (o.low, o.high)]
        return Span(min(ends), self.mid * o.mid, max(ends))

    def __truediv__(self, other: "Span | float") -> "Span":
        o = span(other)
        if o.low <= 0 <= o.high:
            raise ZeroDivisionError("divided by a range that holds zero")
        ends = [a / b for a in (self.low, self.high) for b in (o.low, o.high)]
        return Span(min(ends), self.mid / o.mid, max(ends))

    def overlaps(self, other: "Span") -> bool:
        # a relative allowance of 1e-9 for what binary fractions lose
        slack = 1e-9 * max(abs(self.high), abs(other.high), abs(self.low), abs(other.low))
        return self.low <= other.high + slack and other.low <= self.high + slack


def exact(value: float) -> Span:
    return Span(value, value, value)


def span(value: Span | float) -> Span:
    return value if isinstance(value, Span) else exact(float(value))


def printed(value: Decimal, upper: Decimal | None = None, digits: float = 0.5) -> Span:
    """Returns a printed number with `digits` units of its last place on either side."""
    low = float(value) - digits * _last_place(value)
    if upper is None:
        return Span(low, float(value), float(value) + digits * _last_place(value))
    high = float(upper) + digits * _last_place(upper)
    return Span(low, (float(value) + float(upper)) / 2, high)


def _last_place(value: Decimal) -> float:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return math.pow(10, min(exponent, 0))


SIGNS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def evaluated(node: ast.expr, leaf: Callable[[ast.expr], Any]) -> Any:
    """Returns a sum, difference, product or quotient of what `leaf` makes of all other
    expressions."""
    if isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
        return SIGNS[type(node.op)](evaluated(node.left, leaf), evaluated(node.right, leaf))
    return leaf(node)
