# SPDX-License-Identifier: BSD-2-Clause
"""What a rule is: it puts figures that belong together to a test, and says what doesn't fit."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from teemark.audit.figure import Figure, Reading
from teemark.audit.numbers import numbers
from teemark.base.finding import Severity
from teemark.reference.data import Reference
from teemark.reference.span import Span

SLACK = 0.005
"""Share by which a figure may miss what follows from others, beyond the rounding of all of them:
programs compute with digits that they don't print."""
BINARY = 2**20 / 10**6
"""A megabyte is printed for a mebibyte everywhere."""

NOMINAL = 0.05
"""Share by which a message may be larger or smaller than the round size that names it."""

MANY = 80
"""Figures of a group beyond which none is tried against each other."""

Kind = Literal["row", "column", "block", "list", "sentence"]
"""A block is what "name: value" lines give; a list has all figures of neighbouring lines."""


@dataclass(frozen=True, slots=True)
class Tested:
    """A figure that a rule could test. `wrong` is a sentence where it doesn't fit; else empty."""

    figure: Figure | None
    wrong: str = ""
    line: int = 0
    table: str = ""


def tested(figure: Figure, fits_: bool, wrong: str) -> Tested:
    """The figure, and the sentence about it unless it fits."""
    return Tested(figure, "" if fits_ else wrong)


@dataclass(frozen=True, slots=True)
class Group:
    """Figures that belong together."""

    kind: Kind
    figures: Sequence[Figure]

    def label(self, figure: Figure) -> str:
        """The words that tell a figure from the others of the group, in small letters."""
        if self.kind == "row":
            return figure.column.lower()
        if self.kind == "column":
            return figure.row.lower()
        if self.kind == "sentence":
            return figure.row.lower()
        return (figure.row or figure.column).lower()

    def of(self, *dimensions: str) -> list[Figure]:
        return [one for one in self.figures if one.dimension in dimensions]

    def having(self, pattern: re.Pattern[str], *dimensions: str) -> list[Figure]:
        """Figures whose label has the pattern."""
        chosen = self.of(*dimensions) if dimensions else self.figures
        return [one for one in chosen if pattern.search(self.label(one))]


@dataclass(slots=True)
class Case:
    """A reading with its groups, all readings that are audited together, and what is known."""

    reading: Reading
    readings: Sequence[Reading]
    reference: Reference
    groups: list[Group] = field(default_factory=list)
    long: list[Group] = field(default_factory=list)
    """Columns with more figures than pairs can be tried of."""

    def __post_init__(self) -> None:
        every = list(_groups(self.reading))
        self.groups = [group for group in every if len(group.figures) <= MANY]
        self.long = [
            group for group in every if len(group.figures) > MANY and group.kind == "column"
        ]

    def of_kind(self, *kinds: Kind) -> Iterator[Group]:
        return (group for group in self.groups if group.kind in kinds)

    def clock(self, group: Group) -> list[Span]:
        """Clocks of the group; else the one that the document names."""
        own = [one.span for one in group.of("frequency") if one.unit != "/s"]
        document = self.reading.clock_hz
        return own or ([Span(document, document, document)] if document else [])


def _groups(reading: Reading) -> Iterator[Group]:
    made: dict[tuple[object, ...], list[Figure]] = {}
    for one in reading.figures:
        if one.form == "line":
            made.setdefault(("sentence", one.sentence), []).append(one)
            if one.block:
                made.setdefault(("list", one.block), []).append(one)
            if one.named:
                made.setdefault(("block", one.block), []).append(one)
        elif one.size is not None:
            made.setdefault(("row", one.table, one.row, one.size), []).append(one)
        else:
            made.setdefault(("row", one.table, one.sentence), []).append(one)
            made.setdefault(("column", one.table, one.column), []).append(one)
    for (kind, *_), figures in made.items():
        yield Group(kind, figures)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    severity: Severity
    look: Callable[[Case], Iterator[Tested]]


def fits(value: Span, printed: Span, slack: float = SLACK) -> bool:
    room = slack * max(abs(value.mid), abs(printed.mid))
    return Span(value.low - room, value.mid, value.high + room).overlaps(printed)


def loose(figure: Figure) -> Span:
    """What a size or a rate may be, with room for a binary megabyte. "1 MB" of a message is no
    1.4 MB, though that would round to it."""
    span, unit = figure.span, figure.unit.partition("/")[0]
    if unit in ("kB", "KB", "MB", "GB"):
        room = min(span.high - span.mid, NOMINAL * span.mid) if figure.unit == unit else math.inf
        low, high = max(span.low, span.mid - room), min(span.high, span.mid + room)
        return Span(low, span.mid, high * BINARY)
    if unit in ("KiB", "MiB", "GiB") and figure.unit == unit and "." not in figure.digits:
        return Span(span.mid, span.mid, span.mid)
    return span


def quotient(one: Span, other: Span) -> Span | None:
    """None where the divisor may be nothing."""
    return one / other if other.low > 0 else None


@cache
def sizes_in(text: str) -> tuple[tuple[str, Span, str], ...]:
    """Sizes that a heading names: as printed, in bytes, and their unit."""
    found = [one for one in numbers(text) if one.unit]
    return tuple(
        (*one.printed, one.unit)
        for one in found
        if one.unit in ("bytes", "B") or one.unit[-1] == "B"
    )


def stem(noun: str) -> str:
    """The last word of a noun without its plural: "hash operations" is an operation."""
    words = noun.lower().split()
    return words[-1].strip(".,;:()").removesuffix("s") if words else ""
