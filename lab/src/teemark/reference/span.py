# SPDX-License-Identifier: BSD-2-Clause
"""Ranges of numbers that are known to their last printed digit.

"11.6" stands for any value from 11.55 to 11.65. A derived figure contradicts its sources only if no
values in their ranges give it, so that rounding alone is never a contradiction."""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any


def _by_ends(
    operation: Callable[[float, float], float],
) -> Callable[["Span", "Span | float"], "Span"]:
    """Returns an operation on spans; its result spans all results at the operands' ends."""

    def result(left: "Span", right: "Span | float") -> "Span":
        by = right if isinstance(right, Span) else exact(float(right))
        if operation is operator.truediv and by.low <= 0 <= by.high:
            raise ZeroDivisionError("divided by a range that holds zero")
        ends = [operation(a, b) for a in (left.low, left.high) for b in (by.low, by.high)]
        return Span(min(ends), operation(left.mid, by.mid), max(ends))

    return result


@dataclass(frozen=True, slots=True)
class Span:
    """The range from `low` to `high` around a printed figure `mid`."""

    low: float
    mid: float
    high: float

    __add__ = _by_ends(operator.add)
    __sub__ = _by_ends(operator.sub)
    __mul__ = _by_ends(operator.mul)
    __truediv__ = _by_ends(operator.truediv)

    def overlaps(self, span: "Span") -> bool:
        # a relative tolerance of 1e-9 for rounding in binary fractions
        slack = 1e-9 * max(abs(self.high), abs(span.high), abs(self.low), abs(span.low))
        return self.low <= span.high + slack and span.low <= self.high + slack


def exact(value: float) -> Span:
    return Span(value, value, value)


def printed(value: Decimal, upper: Decimal | None = None, digits: float = 0.5) -> Span:
    """Returns a printed number as a range, `digits` units of the last place to either side."""
    top = value if upper is None else upper
    low, high = float(value), float(top)
    below, above = digits * _last_place(value), digits * _last_place(top)
    return Span(low - below, (low + high) / 2, high + above)


def _last_place(value: Decimal) -> float:
    return math.pow(10, min(int(value.as_tuple().exponent), 0))


SIGNS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def evaluated(node: ast.expr, leaf: Callable[[ast.expr], Any]) -> Any:
    """Returns the value of an expression with + - * /; `leaf` gives the values of its operands."""
    if isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
        return SIGNS[type(node.op)](evaluated(node.left, leaf), evaluated(node.right, leaf))
    return leaf(node)
