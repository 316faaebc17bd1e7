# SPDX-License-Identifier: BSD-2-Clause
"""A rule tests figures that belong together, and says what contradicts."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from teemark.audit.figure import Printed, Reading
from teemark.audit.numbers import numbers
from teemark.base.finding import Severity
from teemark.reference.data import Reference
from teemark.reference.span import Span, exact
from teemark.wording import fmt

SLACK = 0.005
"""Share by which a figure may miss the value that follows from others, beyond the rounding of all
of them: programs compute with digits that they don't print."""
BINARY = 2**20 / 10**6
"""Bytes of a mebibyte per byte of a megabyte: programs often print MB and mean MiB."""

NOMINAL = 0.05
"""Share by which a message's size may differ from the round size that names it."""

MANY = 80
"""Most figures of a group whose pairs are all tried."""

STATISTIC = re.compile(
    r"(?P<cv>\bcv\b|coefficient of variation|relative (?:standard )?deviation)|"
    r"(?P<interval>\b95 ?%|\b95th|interval)|(?P<min>\bmin(?:imum)?(?![a-z]))|(?P<p5>\bp0?[15]\b)|"
    r"(?P<median>\bmedian|\bp50)|(?P<p75>\bp75)|(?P<p90>\bp90)|(?P<p95>\bp95)|(?P<p999>\bp99\.?9)|"
    r"(?P<p99>\bp99)|(?P<max>\bmax(?:imum)?(?![a-z]))|(?P<mean>\b(?:mean|avg|average)\b)|"
    r"(?P<percentile>\bp\d\d)|(?P<sd>\bst(?:andar)?d?[. -]*dev\w*|\bsd\b|\bdeviation|σ)"  # noqa: RUF001
)
"""Matches a statistic's words, in lower case; the group that matches has the statistic's name."""
RANKED = ("min", "p5", "median", "p75", "p90", "p95", "p99", "p999", "max")
"""Statistics in rising order: none is smaller than those before it."""

Kind = Literal["row", "column", "table", "block", "list", "sentence", "document"]
"""A block has "name: value" lines; a list has all figures of neighbouring lines."""


@dataclass(frozen=True, slots=True)
class Tested:
    """The result of a rule for one figure; `wrong` is the sentence to report unless `good`."""

    figure: Printed
    good: bool
    wrong: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Figures of a text that belong together."""

    kind: Kind
    figures: Sequence[Printed]
    reading: Reading
    reference: Reference

    def label(self, figure: Printed) -> str:
        """Returns the words that tell a figure from the others of the group, in lower case."""
        if self.kind == "row":
            return figure.column.lower()
        alone = self.kind in ("column", "sentence")
        return (figure.row if alone else figure.row or figure.column).lower()

    def of(self, *dimensions: str) -> list[Printed]:
        return [figure for figure in self.figures if figure.dimension in dimensions]

    def above_zero(self, *dimensions: str) -> list[Printed]:
        return [figure for figure in self.of(*dimensions) if figure.span.low > 0]

    def having(self, pattern: str | re.Pattern[str], *dimensions: str) -> list[Printed]:
        """Returns the figures of these dimensions whose label matches the pattern."""
        return [figure for figure in self.of(*dimensions) if re.search(pattern, self.label(figure))]

    def rows(self, *dimensions: str) -> dict[int, list[Printed]]:
        """Returns the figures of these dimensions (of all if none is given), by row or sentence."""
        rows: dict[int, list[Printed]] = {}
        for figure in self.of(*dimensions) if dimensions else self.figures:
            rows.setdefault(figure.sentence, []).append(figure)
        return rows


def groups(reading: Reading, reference: Reference) -> Iterator[Group]:
    """Yields all groups of a text; the whole text is the last."""
    made: dict[tuple[Kind, object], list[Printed]] = {}
    for figure in reading.figures:
        keys: dict[Kind, object]
        if figure.form == "line":
            keys = {
                "sentence": figure.sentence,
                "list": figure.block,
                "block": figure.block * figure.named,
            }
        else:
            keys = {"table": figure.table, "row": (figure.table, figure.sentence)}
            keys["column"] = (figure.table, figure.column)
        for kind, name in keys.items():
            if name:
                made.setdefault((kind, name), []).append(figure)
    yield from (Group(kind, figures, reading, reference) for (kind, _), figures in made.items())
    yield Group("document", reading.figures, reading, reference)


@dataclass(frozen=True, slots=True)
class Rule:
    """A test, and the kinds of groups that it applies to."""

    name: str
    look: Callable[[Group], Iterator[Tested]]
    kinds: tuple[Kind, ...]
    severity: Severity = "error"
    linear: bool = False
    """The rule tries no pairs of figures, so a group may have more than MANY."""

    def takes(self, group: Group) -> bool:
        return group.kind in self.kinds and (self.linear or len(group.figures) <= MANY)


Values = list[tuple[Span, str]]
"""Possible values of a figure, each with the formula that gives it."""


def quotients(over: Sequence[Printed], under: Sequence[Printed]) -> Values:
    """Returns each figure of `over` ÷ each figure of `under` that is above zero."""
    return [
        (a.span / b.span, f"{a.text} ÷ {b.text}") for a in over for b in under if b.span.low > 0
    ]


def follows(figure: Printed, values: Values, slack: float = SLACK) -> Iterator[Tested]:
    """Checks that the figure is one of the values; without values nothing is tested."""
    if values:
        value, formula = min(values, key=lambda pair: abs(pair[0].mid - figure.span.mid))
        wrong = f"{figure.name}: {figure.text} is printed, but {formula} = "
        wrong += f"{amount(value, figure.dimension)}."
        yield Tested(figure, any(fits(span, loose(figure), slack) for span, _ in values), wrong)


def fits(value: Span, printed: Span, slack: float = SLACK) -> bool:
    room = slack * max(abs(value.mid), abs(printed.mid))
    return Span(value.low - room, value.mid, value.high + room).overlaps(printed)


def loose(figure: Printed) -> Span:
    """Returns the range of a size or a rate, with room for a binary megabyte. A message of "1 MB"
    isn't 1.4 MB, though that would round to it."""
    span, unit = figure.span, figure.unit.partition("/")[0]
    if unit in ("kB", "KB", "MB", "GB"):
        room = min(span.high - span.mid, NOMINAL * span.mid) if figure.unit == unit else math.inf
        low, high = max(span.low, span.mid - room), min(span.high, span.mid + room)
        return Span(low, span.mid, high * BINARY)
    whole = unit in ("KiB", "MiB", "GiB") and figure.unit == unit and "." not in figure.digits
    return exact(span.mid) if whole else span


@cache
def sizes_in(text: str) -> tuple[Printed, ...]:
    """Returns the sizes that are named in a heading."""
    sizes = [size for size in numbers(text) if size.unit == "bytes" or size.unit[-1:] == "B"]
    return tuple(size.figure() for size in sizes)


def statistic(label: str) -> str:
    """Returns the name of the statistic in a label; "" if there is none."""
    named = STATISTIC.search(label)
    return str(named.lastgroup) if named else ""


def is_spread(label: str) -> bool:
    """Returns true for a statistic other than the mean; sums and quotients don't preserve it."""
    return statistic(label) not in ("", "mean")


# -- numbers as the audit writes them --------------------------------------------------------------


def number(value: float, digits: int = 4) -> str:
    """Writes a number with `digits` significant digits and no zeros at the end; digits before the
    point are never dropped: 85 044 or 0.0759."""
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
    """Writes a value, in base units, in the unit that reads best: 5.556 ms, 12.5 MB/s, 99.86 %."""
    value = value.mid if isinstance(value, Span) else value
    names = _NAMES.get(dimension, ((1.0, ""),))
    size, name = next((unit for unit in names if abs(value) >= unit[0]), names[-1])
    return f"{number(value / size, digits)} {name}".rstrip()
