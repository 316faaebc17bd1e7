# SPDX-License-Identifier: BSD-2-Clause
"""Blocks of a section. Their text is plain, and escaped by whoever renders it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from teemark.base import fmt
from teemark.base.finding import Finding


@dataclass(frozen=True, slots=True)
class Strong:
    text: str


@dataclass(frozen=True, slots=True)
class Code:
    text: str


@dataclass(frozen=True, slots=True)
class Quiet:
    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A verdict, in its colour; the sign in its text tells it without colours."""

    text: str
    verdict: Literal["worse", "better", "same", "undecided"]


Inline = str | Strong | Code | Quiet | Mark
Text = tuple[Inline, ...]


def plain(text: Text) -> str:
    return "".join(part if isinstance(part, str) else part.text for part in text)


@dataclass(frozen=True, slots=True)
class Paragraph:
    text: Text


@dataclass(frozen=True, slots=True)
class Bullets:
    items: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    items: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Banner:
    """Something that no reader may miss."""

    title: str
    text: Text

    @property
    def plain(self) -> str:
        """Returns the text for a terminal."""
        return f"{self.title}. {plain(self.text)}"


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with values."""

    rows: tuple[tuple[str, Text], ...]


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    align: Literal["left", "right"] = "right"
    unit: str = ""
    optional: bool = field(default=False, repr=False)
    """A table whose rows say nothing in this column is shown without it."""

    @property
    def on_a_card(self) -> str:
        """Returns the title with its unit; a page of counts says once what it counts."""
        return self.title if self.unit in ("", "instructions") else f"{self.title}, {self.unit}"


def left(*titles: str, optional: bool = False) -> tuple[Column, ...]:
    """Returns columns of words."""
    return tuple(Column(title, "left", optional=optional) for title in titles)


def right(*titles: str, unit: str = "", optional: bool = False) -> tuple[Column, ...]:
    """Returns columns of figures in one unit."""
    return tuple(Column(title, unit=unit, optional=optional) for title in titles)


@dataclass(frozen=True, slots=True)
class Bar:
    """A cell that also shows its value's share of the column's largest."""

    text: str
    share: float
    series: str = ""


Cell = str | Text | Bar


@dataclass(frozen=True, slots=True)
class Table:
    columns: Sequence[Column]
    rows: Sequence[tuple[Cell, ...]]
    caption: str = ""
    note: str = ""  # beside the caption, of lesser weight
    stacked: bool = field(default=False, repr=False)
    """On a phone each row becomes a card: the first cell as its title, the others under it."""

    def __post_init__(self) -> None:
        shown = [
            place
            for place, column in enumerate(self.columns)
            if not column.optional or any(row[place] not in ("", fmt.NONE) for row in self.rows)
        ]
        for name, lines in (("columns", (self.columns,)), ("rows", self.rows)):
            kept = tuple(tuple(line[place] for place in shown) for line in lines)
            object.__setattr__(self, name, kept[0] if name == "columns" else kept)


@dataclass(frozen=True, slots=True)
class Chart:
    """Inline SVG, drawn as wide as it is asked for, with the same figures as a table for whoever
    can't see it. None: a table of the section that follows the chart has them."""

    title: str
    caption: Text
    draw: Callable[[int], str] = field(repr=False)
    data: Table | None = None


@dataclass(frozen=True, slots=True)
class Fold:
    """Closed until somebody opens it."""

    title: str
    note: str
    blocks: "tuple[Block, ...]"
    open: bool = False


@dataclass(frozen=True, slots=True)
class Heading:
    text: str


Block = Paragraph | Bullets | Findings | Banner | Facts | Table | Chart | Fold | Heading


@dataclass(frozen=True, slots=True)
class Section:
    """`key` is its anchor. With a `lead`, one line that says what is inside, the section is closed
    until somebody opens it."""

    key: str
    title: str
    blocks: tuple[Block, ...]
    lead: str = ""
