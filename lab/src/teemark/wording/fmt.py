# SPDX-License-Identifier: BSD-2-Clause
"""Formats numbers for people: three significant digits, and always a unit.

A cost of a run is a time, or a number of instructions where these are counted. Counted costs are
exact: they have all their digits, and no interval. A call that waits for anything but the processor
isn't counted, even on a board that counts: its cost is a time.
"""

import math
from collections.abc import Sequence
from typing import Protocol

from teemark.wording.interval import Interval

NONE = "–"  # noqa: RUF001 - an en dash in an empty cell
MINUS = "−"  # noqa: RUF001
TIMES = "×"  # noqa: RUF001
TO = "\N{NO-BREAK SPACE}…\N{NO-BREAK SPACE}"
THIN = "\N{NARROW NO-BREAK SPACE}"
LEVEL = f"95{THIN}%"
NOTHING = "not distinguishable from 0"
EXACT = "exact"
TIMED = "Emulated, and timed: half the samples lie over 1 % apart, as where calls wait for a disk."

ROUNDING = 1e-6  # Nanoseconds or instructions below which a difference is a rounding error
_SMALL = 1e-3
_LEAST_SHARE = 1e-4
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

_TIMES = ((1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s"))


def digits(value: float, significant: int = 3) -> str:
    """Returns a number rounded to `significant` digits; a dash if it isn't finite. Below 0.001 it
    has a power of ten, so that nobody counts zeros."""
    if not math.isfinite(value):
        return NONE
    if value == 0:
        return "0"
    sign = MINUS if value < 0 else ""
    value = abs(value)
    if value < _SMALL:
        mantissa, _, power = f"{value:.{significant - 1}e}".partition("e")
        return f"{sign}{mantissa}{THIN}{TIMES}{THIN}10{str(int(power)).translate(_SUPERSCRIPT)}"
    decimals = significant - 1 - math.floor(math.log10(value))
    value = round(value, decimals)
    decimals = significant - 1 - math.floor(math.log10(value))  # 9.996 has become 10.00
    return sign + grouped(f"{value:.{max(0, decimals)}f}")


def grouped(text: str) -> str:
    """Returns a number's text; from five digits on, the digits are in groups of three."""
    whole, point, rest = text.partition(".")
    if len(whole) > 4:
        whole = f"{int(whole):,}".replace(",", THIN)
    return whole + point + rest


def count(value: int) -> str:
    return (MINUS if value < 0 else "") + grouped(str(abs(value)))


def change(value: int) -> str:
    """Returns a change of a count, with its sign."""
    return f"+{count(value)}" if value > 0 else count(value)


def unit_of(ns: float) -> tuple[float, str]:
    """Returns the unit in which a time reads best: its length in nanoseconds, and its name."""
    return next((unit for unit in reversed(_TIMES) if abs(ns) >= unit[0] * 0.9995), _TIMES[0])


def duration(ns: float, significant: int = 3) -> str:
    """Returns a time in the unit in which it reads best; 0 ns for what is but a rounding error."""
    ns *= abs(ns) >= ROUNDING
    factor, name = unit_of(ns)
    return f"{digits(ns / factor, significant)}\N{NO-BREAK SPACE}{name}"


def duration_interval(interval: Interval | None) -> str:
    """Writes both ends of an interval, in the unit that suits the larger end."""
    if interval is None:
        return NONE
    factor, name = unit_of(max(abs(interval.low), abs(interval.high)))
    return f"{span(interval, 1 / factor)}\N{NO-BREAK SPACE}{name}"


def span(interval: Interval | None, factor: float = 1.0) -> str:
    """Writes both ends of an interval, multiplied by `factor`, as bare numbers."""
    if interval is None:
        return NONE
    low, high = digits(interval.low * factor), digits(interval.high * factor)
    return low if low == high else f"{low}{TO}{high}"


def rate(bytes_per_second: float | None) -> str:
    """Writes bytes per second as MiB/s, without the unit."""
    return NONE if bytes_per_second is None else digits(bytes_per_second / (1 << 20))


_SIZES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))


def size(number: int) -> str:
    factor, name = next(
        (unit for unit in _SIZES if number >= unit[0] and not number % unit[0]), _SIZES[-1]
    )
    return f"{grouped(str(number // factor))}\N{NO-BREAK SPACE}{name}"


def roughly_size(number: float) -> str:
    """Returns a size of bytes that need not be whole, with two significant digits."""
    factor, name = next((unit for unit in _SIZES if number >= unit[0]), _SIZES[-1])
    return f"{digits(number / factor, 2)}\N{NO-BREAK SPACE}{name}"


def percent(share: float, significant: int = 2) -> str:
    """Writes a share in percent; whole percents are never rounded away: 1.146 is 115 %."""
    if math.isfinite(share):
        significant = max(significant, len(str(int(abs(share) * 100))))
    return f"{digits(share * 100, significant)}{THIN}%"


def share(value: float, significant: int = 2) -> str:
    """Returns a percentage; a share below 0.01 % is only said to be below that."""
    if 0 < value < _LEAST_SHARE:
        return f"< {percent(_LEAST_SHARE, 1)}"
    return percent(value, significant)


def shares(interval: Interval) -> str:
    """Writes both ends of a share's interval in percent, with one sign behind both."""
    return f"{span(interval, 100.0)}{THIN}%"


def signed(value: float, significant: int = 2) -> str:
    """Returns a relative difference as a percentage with its sign."""
    text = share(abs(value), significant)
    return text if text.startswith("<") or not value else ("+" if value > 0 else MINUS) + text


def factor(value: float) -> str:
    return f"{digits(value, 2 if value < 9.95 else 3)}{TIMES}"


def roughly_minutes(seconds: float) -> str:
    """Returns an approximate time in words, such as "about 2 minutes"."""
    if seconds < 15:
        return "a few seconds"
    if seconds < 105:
        return f"about {max(2, round(seconds / 10)) * 10} seconds"
    if seconds < 5400:
        return f"about {plural(round(seconds / 60), 'minute')}"
    return f"about {plural(round(seconds / 3600), 'hour')}"


def plural(number: int, singular: str, many: str | None = None) -> str:
    return f"{count(number)} {singular if number == 1 else (many or singular + 's')}"


def listed(items: Sequence[str]) -> str:
    """Returns "a, b and c"; an empty string for no items."""
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))


# -- costs of a run: times or instructions ---------------------------------------------------


class Counting(Protocol):
    """A run, as far as its figures' unit is concerned."""

    @property
    def icount(self) -> bool:
        """Says whether the board counts instructions."""
        ...


class Uncertain(Protocol):
    """A value with its interval, such as an estimate of a cost."""

    @property
    def value(self) -> float: ...
    @property
    def interval(self) -> Interval | None: ...
    @property
    def counted(self) -> bool: ...
    @property
    def vague(self) -> str: ...
    @property
    def meaningless(self) -> str: ...


def instructions(number: float) -> str:
    """Writes a number of instructions: a whole number from 100 on, below it three digits; 0 for
    what is but a rounding error."""
    number *= abs(number) >= ROUNDING
    return count(round(number)) if abs(number) >= 100 else digits(number)


def cost(run: Counting, figure: Uncertain | float) -> str:
    """Writes a cost with its unit."""
    return cost_cell(run, figure) + " instructions" * _counted(run, figure)


def _counted(run: Counting, figure: Uncertain | float) -> bool:
    return run.icount and (isinstance(figure, float | int) or figure.counted)


def cost_cell(run: Counting, figure: Uncertain | float) -> str:
    """Writes a cost for a column whose unit is `cost_unit(run)`."""
    value = figure if isinstance(figure, float | int) else figure.value
    if _counted(run, figure):
        return instructions(value)
    interval = None if isinstance(figure, float | int) else figure.interval
    nothing = value <= 0 and (interval is None or interval.high >= 0)
    return NOTHING if nothing else duration(value)


def part_cell(run: Counting, figure: Uncertain) -> str:
    """Writes the cost of a part of a call, which may be negative, for a column of costs."""
    return instructions(figure.value) if run.icount else duration(figure.value)


def cost_interval(run: Counting, figure: Uncertain) -> str:
    """Writes a cost's interval; for a counted cost `exact`, unless the interval has a width."""
    interval = figure.interval
    if interval is None:
        return NONE
    return EXACT if run.icount and interval.width < 1 else cost_ends(run, interval)


def cost_ends(run: Counting, interval: Interval) -> str:
    """Writes both ends of a cost's interval."""
    if not run.icount:
        return duration_interval(interval)
    return TO.join(map(instructions, (interval.low, interval.high)))


def cost_unit(run: Counting) -> str:
    """Returns the unit of a column of costs; "" for times, since each has its own unit."""
    return "instructions" if run.icount else ""


def interval_in_brackets(run: Counting, figure: Uncertain, text: str) -> str:
    """Writes, in brackets for a sentence, a figure's interval `text`, or why it has none; nothing
    if the figure is exact, or if both ends of the interval are written alike."""
    interval = figure.interval
    if interval is not None and ((run.icount and not interval.width) or TO not in text):
        return ""
    return f" ({LEVEL} interval {text})" if interval else f" ({figure.vague})"


def ratio(run: Counting, figure: Uncertain) -> str:
    """Writes a factor, with its interval in brackets unless it is exact."""
    text = span(figure.interval)
    return factor(figure.value) + interval_in_brackets(run, figure, text)


def quantity(run: Counting) -> str:
    """Returns the name of the quantity that is compared."""
    return "instructions" if run.icount else "time"


def more_samples(figure: Uncertain, number: int | None, starts: int) -> str:
    """Returns a sentence on how many more samples or starts would decide a question, or why their
    number doesn't."""
    why = figure.meaningless or (figure.vague if figure.interval is None else "")
    if number is None and why:
        return f"More samples alone don't decide it: {why}."
    if number is None:
        return "It is so near its threshold that no practical number of samples would decide."
    what = "start" if starts > 1 else "sample"
    return f"About {plural(number, f'more {what}')} a case would decide."
