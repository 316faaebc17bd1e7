# SPDX-License-Identifier: BSD-2-Clause
"""Printed figures, and what stands together: a row or a column of a table, a list, a record."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from teemark.base.finding import Severity
from teemark.reference.span import Span
from teemark.reference.units import UNITS

Kind = Literal["row", "column", "list"]


@dataclass(frozen=True, slots=True)
class Printed:
    """One printed number. `span` is the range of values that it may stand for, in base units.
    `row` and `column` are its headings; a list's figure has its name as `row`."""

    text: str
    span: Span
    unit: str
    table: str = ""
    row: str = ""
    column: str = ""
    line: int = 0
    digits: str = ""
    note: str = ""
    """The text behind the figure in its cell or line, such as "(5.9 % of Total Time)"."""

    @property
    def dimension(self) -> str:
        return UNITS[self.unit][0]

    @property
    def signed(self) -> bool:
        return self.text.startswith(("+", "-"))

    @property
    def key(self) -> tuple[int, str, str]:
        """Returns what tells the figure from all others of its text."""
        return self.line, self.text, self.name

    @property
    def name(self) -> str:
        """Returns the figure's headings, which name it in a message."""
        return ", ".join(dict.fromkeys(filter(None, (self.row, self.column)))) or self.table


Named = list[tuple[str, Printed]]
"""Figures that the text puts together, each with the words that tell it from the others."""


@dataclass(frozen=True, slots=True)
class PrintedRow:
    """A row of a table: its name, its cells as text, and the figures by the number of the cell. An
    item of a list has its indentation in characters."""

    name: str
    line: int
    texts: tuple[str, ...]
    cells: dict[int, Printed]
    indent: int = 0


@dataclass(frozen=True, slots=True)
class PrintedTable:
    """A table, or a list of "name: value", which has a single column without a heading."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[PrintedRow]

    @property
    def kind(self) -> Kind:
        return "column" if any(self.head) else "list"

    def column(self, index: int) -> list[tuple[PrintedRow, Printed]]:
        return [(row, row.cells[index]) for row in self.rows if index in row.cells]

    def groups(self) -> Iterable[tuple[Kind, Named]]:
        """Yields the rows and the columns."""
        for row in self.rows:
            yield "row", [(self.head[index].lower(), cell) for index, cell in row.cells.items()]
        for index in range(len(self.head)):
            yield self.kind, [(row.name.lower(), cell) for row, cell in self.column(index)]


@dataclass(frozen=True, slots=True)
class Tested:
    """The result of a rule for one figure; `wrong` is the sentence to report unless `good`."""

    rule: str
    figure: Printed
    good: bool
    wrong: str = ""
    severity: Severity = "error"


@dataclass(slots=True)
class Reading:
    """A text that was read: figures, and what they stand in."""

    file: str
    figures: list[Printed] = field(default_factory=list)
    tables: list[PrintedTable] = field(default_factory=list)
    tested: list[Tested] = field(default_factory=list)
    """Results of the relations that a program's record has."""
    lines: list[tuple[int, str]] = field(default_factory=list)
    """All lines of the text with their numbers."""
    unread: list[tuple[str, int]] = field(default_factory=list)
    """Lines with numbers that no reader took, each with its line number."""
