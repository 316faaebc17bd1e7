# SPDX-License-Identifier: BSD-2-Clause
"""Numbers as people read them. Three significant digits, and a unit always."""

from __future__ import annotations

import math

from teemark.model.stats import Interval

NONE = "–"  # noqa: RUF001 - an en dash in an empty cell
MINUS = "−"  # noqa: RUF001
TIMES = "×"  # noqa: RUF001
TO = "\N{NO-BREAK SPACE}…\N{NO-BREAK SPACE}"
THIN = "\N{NARROW NO-BREAK SPACE}"
LEVEL = f"95{THIN}%"

_TIMES = ((1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s"))


def digits(value: float, significant: int = 3) -> str:
    """Fixed notation, rounded to that many significant digits; a dash for what is no number."""
    if not math.isfinite(value):
        return NONE
    if value == 0:
        return "0"
    sign = MINUS if value < 0 else ""
    value = abs(value)
    decimals = significant - 1 - math.floor(math.log10(value))
    value = round(value, decimals)
    decimals = significant - 1 - math.floor(math.log10(value))  # 9.996 has become 10.00
    return sign + _grouped(f"{value:.{max(0, decimals)}f}")


def _grouped(text: str) -> str:
    whole, point, rest = text.partition(".")
    if len(whole) > 4:
        whole = f"{int(whole):,}".replace(",", THIN)
    return whole + point + rest


def count(value: int) -> str:
    return _grouped(str(value))


def unit_of(ns: float) -> tuple[float, str]:
    """The unit in which a time is best read: its nanoseconds and its name."""
    best = _TIMES[0]
    for factor, name in _TIMES:
        if abs(ns) >= factor * 0.9995:
            best = (factor, name)
    return best


def duration(ns: float) -> str:
    factor, name = unit_of(ns)
    return f"{digits(ns / factor)}\N{NO-BREAK SPACE}{name}"


def duration_interval(interval: Interval | None) -> str:
    """Both ends in the unit of the larger."""
    if interval is None:
        return NONE
    factor, name = unit_of(max(abs(interval.low), abs(interval.high)))
    low, high = digits(interval.low / factor), digits(interval.high / factor)
    if low == high:
        return f"{low}\N{NO-BREAK SPACE}{name}"
    return f"{low}{TO}{high}\N{NO-BREAK SPACE}{name}"


def span(interval: Interval | None, factor: float = 1.0) -> str:
    """Both ends as bare numbers."""
    if interval is None:
        return NONE
    low, high = digits(interval.low * factor), digits(interval.high * factor)
    return low if low == high else f"{low}{TO}{high}"


def rate(bytes_per_second: float | None) -> str:
    """In MiB/s."""
    return NONE if bytes_per_second is None else digits(bytes_per_second / (1 << 20))


def size(number: int) -> str:
    for factor, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if number >= factor and number % factor == 0:
            return f"{number // factor}\N{NO-BREAK SPACE}{name}"
    return f"{_grouped(str(number))}\N{NO-BREAK SPACE}B"


def roughly_size(number: float) -> str:
    """A size that need not be whole."""
    for factor, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if number >= factor:
            return f"{digits(number / factor, 2)}\N{NO-BREAK SPACE}{name}"
    return f"{digits(number, 2)}\N{NO-BREAK SPACE}B"


def percent(share: float, significant: int = 2) -> str:
    return f"{digits(share * 100, significant)}{THIN}%"


def factor(value: float) -> str:
    return f"{digits(value, 2 if value < 9.95 else 3)}{TIMES}"


def roughly_minutes(seconds: float) -> str:
    """A guess, as one says it."""
    if seconds < 15:
        return "a few seconds"
    if seconds < 105:
        return f"about {max(2, round(seconds / 10)) * 10} seconds"
    if seconds < 5400:
        return f"about {plural(round(seconds / 60), 'minute')}"
    return f"about {plural(round(seconds / 3600), 'hour')}"


def plural(number: int, one: str, many: str | None = None) -> str:
    return f"{count(number)} {one if number == 1 else (many or one + 's')}"
