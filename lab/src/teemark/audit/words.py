# SPDX-License-Identifier: BSD-2-Clause
"""Numbers as the audit writes them."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.base import fmt
from teemark.reference.span import Span


def number(value: float, digits: int = 4) -> str:
    """With so many significant digits, those before the point all the same, and no zeros at the
    end: 85 044 or 0.0759."""
    if abs(value) >= 10 ** (digits - 1):
        return fmt.count(round(value))
    text, power, rest = fmt.digits(value, digits).partition(f"{fmt.THIN}{fmt.TIMES}")
    return (text.rstrip("0").rstrip(".") if "." in text else text) + power + rest


_NAMES = {
    "time": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "rate": ((1e6, "MB/s"), (1e3, "kB/s"), (1.0, "bytes/s")),
    "size": ((1e6, "MB"), (1e3, "kB"), (1.0, "bytes")),
    "time per byte": ((1e-6, "µs/B"), (1e-9, "ns/B")),
    "share": ((0.01, "%"),),
    "factor": ((1.0, "x"),),
}


def amount(value: float | Span, dimension: str, digits: int = 4) -> str:
    """In the unit that reads best: 5.556 ms, 12.5 MB/s, 99.86 %."""
    value = value.mid if isinstance(value, Span) else value
    names = _NAMES.get(dimension)
    if names is None:
        return number(value, digits)
    size, name = next((one for one in names if abs(value) >= one[0]), names[-1])
    return f"{number(value / size, digits)} {name}"


def listed(items: Sequence[str]) -> str:
    """a, b and c"""
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]
