# SPDX-License-Identifier: BSD-2-Clause
"""A printed number with its unit, its place, and the words that tell its meaning."""

from dataclasses import dataclass, field
from typing import Literal

from teemark.reference.span import Span
from teemark.reference.units import UNITS

Form = Literal["cell", "line"]
"""Where a figure stands: in a cell of a table, or in a line (a sentence, or "name: value")."""


@dataclass(frozen=True, slots=True)
class Printed:
    """One printed number. `span` is the range of values that it may stand for, in base units.

    In a cell, `row` and `column` are the headings. In a line, `row` is the name ("Total time") or
    the words before the number, `column` the words after it."""

    text: str
    span: Span
    unit: str
    table: str = ""
    row: str = ""
    column: str = ""
    line: int = 0
    form: Form = "cell"
    sentence: int = 0
    """Number of its sentence; for a cell, of its row."""
    block: int = 0
    """Number of its list; 0 if it is in none."""
    named: bool = False
    """The figure is all that follows a name, as in "Total time: 5 ms"."""
    head: int = 0
    """Line number of the column's heading."""
    start: int = 0
    """Where the figure begins: characters in the sentence, or cells in the row."""
    digits: str = ""

    @property
    def dimension(self) -> str:
        return UNITS[self.unit][0]

    @property
    def name(self) -> str:
        """Returns the figure's headings or words, which name it in a message."""
        if self.form == "line":
            return self.row or self.column or self.table
        return ", ".join(dict.fromkeys(filter(None, (self.row, self.column))))

    @property
    def words(self) -> str:
        """Returns the figure's headings or words for comparisons, in lower case."""
        return f"{self.row} {self.column}".lower()


@dataclass(slots=True)
class Reading:
    """A text that was read: its figures, its sentences, and the numbers that weren't understood."""

    file: str
    title: str = ""
    figures: list[Printed] = field(default_factory=list)
    said: list[tuple[str, int]] = field(default_factory=list)
    """All sentences, lines and rows of the text, each with its line number."""
    unknown: list[tuple[str, int]] = field(default_factory=list)
    """Numbers without a unit or a name, each with its line number."""
    emulated: bool = False
    core: str = ""
    clock_hz: float = 0.0
    inferred: dict[str, str] = field(default_factory=dict)
    """Facts of the machine that the text doesn't state but that follow from it, with the reason."""


Lines = list[tuple[int, str]]
"""The lines of a text with their numbers."""
