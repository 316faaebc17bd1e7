# SPDX-License-Identifier: BSD-2-Clause
"""Writes figures of a run for people: times, or instructions where these are counted.

Counted figures are exact: they have all their digits, and no interval. A call that waits for
anything but the processor isn't counted, even on a board that counts: its figure is a time.
"""

from teemark.base import fmt
from teemark.base.interval import Interval
from teemark.model.stats import Estimate
from teemark.run.reader import RunData

NOTHING = "not distinguishable from 0"
EXACT = "exact"
TIMED = "Emulated, and timed: half the samples lie over 1 % apart, as where calls wait for a disk."


def instructions(number: float) -> str:
    """Writes a number of instructions: a whole number from 100 on, below it three digits."""
    return fmt.count(round(number)) if abs(number) >= 100 else fmt.digits(number)


def time(run: RunData, figure: Estimate | float) -> str:
    """Writes a cost with its unit."""
    return cell(run, figure) + " instructions" * _counted(run, figure)


def _counted(run: RunData, figure: Estimate | float) -> bool:
    return run.icount and (not isinstance(figure, Estimate) or figure.counted)


def cell(run: RunData, figure: Estimate | float) -> str:
    """Writes a cost for a column whose unit is `unit(run)`."""
    value = figure.value if isinstance(figure, Estimate) else figure
    if _counted(run, figure):
        return instructions(value)
    interval = figure.interval if isinstance(figure, Estimate) else None
    nothing = value <= 0 and (interval is None or interval.high >= 0)
    return NOTHING if nothing else fmt.duration(value)


def amount_cell(run: RunData, figure: Estimate) -> str:
    """Writes a part of a call, which may be negative, for a column of costs."""
    return instructions(figure.value) if run.icount else fmt.duration(figure.value)


def between(run: RunData, figure: Estimate) -> str:
    """Writes a figure's interval; for a counted figure `exact`, unless the interval has a width."""
    interval = figure.interval
    if interval is None:
        return fmt.NONE
    return EXACT if run.icount and interval.width < 1 else ends(run, interval)


def ends(run: RunData, interval: Interval) -> str:
    if not run.icount:
        return fmt.duration_interval(interval)
    return fmt.TO.join(map(instructions, (interval.low, interval.high)))


def unit(run: RunData) -> str:
    """Returns the unit of a column of costs; "" for times, since each has its own unit."""
    return "instructions" if run.icount else ""


def known(run: RunData, interval: Interval | None, text: str) -> str:
    """Writes, in brackets for a sentence, a figure's interval `text`; nothing if the figure is
    exact, or if both ends of the interval are written alike."""
    if interval is not None and ((run.icount and not interval.width) or fmt.TO not in text):
        return ""
    return f" ({fmt.LEVEL} interval {text})" if interval else " (too few samples for an interval)"


def times(run: RunData, ratio: Estimate) -> str:
    """Writes a factor, with its interval in brackets unless it is exact."""
    interval = ratio.interval
    return fmt.factor(ratio.value) + known(run, interval, fmt.span(interval))


def amount(run: RunData) -> str:
    """Returns the name of the quantity that is compared."""
    return "instructions" if run.icount else "time"


def more(number: int | None, starts: int) -> str:
    """Returns a sentence on how many more samples or starts would decide a question."""
    if number is None:
        return "It is so near its threshold that no practical number of samples would decide."
    what = "start" if starts > 1 else "sample"
    return f"About {fmt.plural(number, f'more {what}')} a case would decide."
