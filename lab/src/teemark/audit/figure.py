# SPDX-License-Identifier: BSD-2-Clause
"""A printed number with its unit, its place, and the words that say what it is of."""

from dataclasses import dataclass, field
from typing import Literal

from teemark.reference.span import Span
from teemark.reference.units import UNITS

Form = Literal["cell", "line"]
"""A figure stands in a cell of a table, or in a line: a sentence, or "name: value"."""


@dataclass(frozen=True, slots=True)
class Printed:
    """One printed number. `span` is what it can stand for, in base units.

    A cell's `row` and `column` are its headings. A line's `row` is its name ("Total time") or the
    words before the number, its `column` the words behind it.
    """

    text: str
    span: Span
    unit: str
    table: str = ""
    row: str = ""
    column: str = ""
    line: int = 0
    form: Form = "cell"
    sentence: int = 0
    """Number of the sentence that it stands in; for cells, of the row."""
    block: int = 0
    """Number of the list that it belongs to; 0: of none."""
    named: bool = False
    """It stands alone behind a name: "Total time: 5 ms"."""
    head: int = 0
    """Line of the column's heading."""
    start: int = 0
    """Where in its sentence it begins."""
    digits: str = ""

    @property
    def dimension(self) -> str:
        return UNITS[self.unit][0]

    @property
    def name(self) -> str:
        """Returns the headings or words of a figure, for a message."""
        if self.form == "line":
            return self.row or self.column or self.table
        return ", ".join(dict.fromkeys(filter(None, (self.row, self.column))))

    @property
    def words(self) -> str:
        """Returns all that says what it is, in small letters."""
        return f"{self.row} {self.column}".lower()


@dataclass(slots=True)
class Reading:
    """A text, read: its figures, its sentences, and the numbers whose meaning stays unknown."""

    file: str
    title: str = ""
    figures: list[Printed] = field(default_factory=list)
    said: list[tuple[str, int]] = field(default_factory=list)
    """Everything that the text says, with the number of its line."""
    unknown: list[tuple[str, int]] = field(default_factory=list)
    """Numbers without a unit or a name, with their lines."""
    emulated: bool = False
    core: str = ""
    clock_hz: float = 0.0
    inferred: dict[str, str] = field(default_factory=dict)
    """Facts of the machine that the text doesn't say and that were concluded, with the reason."""


Lines = list[tuple[int, str]]
"""The lines of a text with their numbers."""
