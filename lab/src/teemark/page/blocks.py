# SPDX-License-Identifier: BSD-2-Clause
"""The blocks of a section. Their text is plain; each renderer escapes it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from teemark.base.finding import Finding
from teemark.wording import fmt


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
    """A verdict in its colour; the text has a sign that shows it without colours."""

    text: str
    verdict: Literal["worse", "better", "same", "undecided"]


@dataclass(frozen=True, slots=True)
class Term:
    """A thing in words, with the slug that JSON and commands have for it. On a page it leads to the
    slug's entry among the page's words; with `entry` it is that entry."""

    text: str
    slug: str
    entry: bool = False


Inline = str | Strong | Code | Quiet | Mark | Term
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
    brief: bool = False
    """True folds the evidence: what to know and to do stands on the first screen."""


@dataclass(frozen=True, slots=True)
class Banner:
    """A message that no reader may miss."""

    title: str
    text: Text


@dataclass(frozen=True, slots=True)
class Facts:
    """Pairs of a name and its value."""

    rows: tuple[tuple[str, Text], ...]


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    align: Literal["left", "right"] = "right"
    unit: str = ""
    optional: bool = field(default=False, repr=False)
    """True leaves the column out of a table in which it has no values."""
    detail: bool = field(default=False, repr=False)
    """True leaves the column out of a narrow terminal, and of a phone until a reader taps."""

    @property
    def on_a_card(self) -> str:
        """Returns the title with its unit; `instructions` is left out, as the page says it once."""
        return self.title if self.unit in ("", "instructions") else f"{self.title}, {self.unit}"


def left(*titles: str, optional: bool = False, detail: bool = False) -> tuple[Column, ...]:
    """Returns columns of words."""
    return tuple(Column(title, "left", optional=optional, detail=detail) for title in titles)


def right(
    *titles: str, unit: str = "", optional: bool = False, detail: bool = False
) -> tuple[Column, ...]:
    """Returns columns of figures in one unit."""
    return tuple(Column(title, unit=unit, optional=optional, detail=detail) for title in titles)


@dataclass(frozen=True, slots=True)
class Bar:
    """A cell with a bar: its value's share of the column's largest value."""

    text: str
    share: float
    series: str = ""


Cell = str | Text | Bar


def cell_text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else cell.text if isinstance(cell, Bar) else plain(cell)


MATTER = 3  # Columns that a phone shows of a table, unless the table says which


@dataclass(frozen=True, slots=True)
class Table:
    columns: Sequence[Column]
    rows: Sequence[tuple[Cell, ...]]
    caption: str = ""
    note: str = ""  # smaller, beside the caption
    stacked: bool = field(default=False, repr=False)
    """True makes each row a card on a phone, with the first cell as its title."""

    def __post_init__(self) -> None:
        shown = [
            place
            for place, column in enumerate(self.columns)
            if not column.optional or any(row[place] not in ("", fmt.NONE) for row in self.rows)
        ]
        for name, lines in (("columns", (self.columns,)), ("rows", self.rows)):
            kept = tuple(tuple(line[place] for place in shown) for line in lines)
            object.__setattr__(self, name, kept[0] if name == "columns" else kept)

    @property
    def details(self) -> frozenset[int]:
        """Returns the places of the columns that a phone shows only to a reader who taps: those
        that are details, else all behind the third. A stacked table has room for all."""
        if self.stacked:
            return frozenset()
        named = frozenset(at for at, column in enumerate(self.columns) if column.detail)
        return named or frozenset(range(MATTER, len(self.columns)))


@dataclass(frozen=True, slots=True)
class Chart:
    """Inline SVG, drawn at the width that `draw` gets, with the same figures as a table for readers
    who can't see it. `data` None: a table that follows the chart in its section has the figures."""

    title: str
    caption: Text
    draw: Callable[[int], str] = field(repr=False)
    data: Table | None = None


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks that are hidden until a reader opens them."""

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
    """A section of a page; `key` is its anchor. A section with a `lead`, one line about its
    content, is closed until a reader opens it."""

    key: str
    title: str
    blocks: tuple[Block, ...]
    lead: str = ""
