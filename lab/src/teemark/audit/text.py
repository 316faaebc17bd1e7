# SPDX-License-Identifier: BSD-2-Clause
"""Reads a text: what programs print, tables (Markdown, CSV, reStructuredText, set with blanks or
tabs), and lists of "name: value". Sentences aren't read."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from teemark.audit import programs
from teemark.audit.figure import PrintedRow, PrintedTable, Reading
from teemark.audit.numbers import NUMBER, figure, plain, unit_named
from teemark.base.errors import DataError, UsageMistake

KNOWN = (
    f"outputs of {programs.titles()}; tables in Markdown, CSV, reStructuredText or with aligned "
    "columns; lists of name: value"
)
LONGEST = 20_000  # Characters of a line that are read; the rest is cut off

_QUOTED = re.compile(r"^(?:> ?){1,9}")
_STAMP = re.compile(
    r"^(?:\w{3} +\d+ [\d:]{8} \S+ kernel: )?(?:\[ *\d+\.\d+\] ?)?(?:[DIFEW]/(?:TA|TC|LD|LT):\s*)?"
)
_RULE = re.compile(r"(?=.*[-=])[|:\- +=]+")
_HEADING = re.compile(r"#{1,6} (.+)|=+ (\S.*?) ?=*")
_NAMED = re.compile(r"(\s*)(?:[-*•+] )?([A-Za-z/][^:=|]{0,60}?) ?(?::|(?<![-+*/<>!&^%])=) *(\S.*)?")
_GAP = re.compile(r"\t+| {2,}")
_DIRECTIVE = re.compile(r"\s*\.\. csv-table:: ?(.*)")
_OPTION = re.compile(r"\s*:([\w-]+): ?(.*)")


_Line = tuple[int, list[str]]  # The number of a line with its cells


@dataclass(slots=True)
class _Text:
    """A text being read, whose lines of programs are empty; `at` is the line that is next."""

    reading: Reading
    lines: list[tuple[int, str]]
    at: int = 0
    heading: str = ""
    items: list[PrintedRow] = field(default_factory=list)

    def text(self, at: int) -> str:
        return self.lines[at][1].strip() if at < len(self.lines) else ""

    def run(self) -> None:
        while self.at < len(self.lines):
            if used := self._bars() or self._columns():
                self.end_list()
                self.at = used
            else:
                self._line(*self.lines[self.at])
                self.at += 1
        self.end_list()

    def end_list(self) -> None:
        if any(item.cells for item in self.items):
            self.reading.tables.append(PrintedTable("", ("",), tuple(self.items)))
        self.items = []

    def _line(self, number: int, text: str) -> None:
        heading, named = _HEADING.fullmatch(text.strip()), _NAMED.fullmatch(text)
        if heading:
            self.end_list()
            self.heading = next(filter(None, heading.groups()))
            return
        cell = named and figure(named[3] or "", row=named[2], table=self.heading, line=number)
        if cell and len(cell.note.split()) > 6 and cell.note[0] != "(":
            named = cell = None  # a sentence
        if not cell and NUMBER.search((named[3] or "") if named else text):
            self.reading.unread.append((text.strip(), number))
        name, cells = named[2] if named else "", {0: cell} if cell else {}
        before = [item.cells[0].text for item in self.items if item.name == name and item.cells]
        if cell and any(other != cell.text for other in before):
            self.end_list()
        # a line without a name is kept to end what is above it
        if named or (text and self.items and self.items[-1].name):
            indent = len(text[: len(text) - len(text.lstrip())].expandtabs())
            indent += 2 * bool(re.match(r"\s*[-*•+] ", text))
            self.items.append(PrintedRow(name, number, (text,), cells, indent))
            self.reading.figures += cells.values()

    def _bars(self) -> int:
        """Reads a table whose cells are parted by bars: with a ruled line below its heading, or a
        grid, whose rows may take several lines. Returns the line behind it, else 0."""
        text, below = self.text(self.at), self.text(self.at + 1)
        grid = _RULE.fullmatch(text) is not None
        if "|" not in below if grid else "|" not in text or not _RULE.fullmatch(below):
            return 0
        blocks, at = [list[_Line]()], self.at
        while (text := self.text(at)) and ("|" in text or _RULE.fullmatch(text)):
            if _RULE.fullmatch(text):
                blocks.append([])
            else:
                blocks[-1].append((self.lines[at][0], _cells(text)))
            at += 1
        head, *rows = [block for block in blocks if block] or [[]]
        if not rows:
            return 0
        if grid and len(rows) > 1:
            rows = [[_joined(block)] for block in rows]
        return self._table([_joined(head), *(line for block in rows for line in block)], at)

    def _columns(self) -> int:
        """Reads CSV, or a table whose columns are parted by tabs or by two blanks and more. The
        only figures in its heading are sizes; a third of its first row's cells are figures."""
        for split in (_csv, _GAP.split):
            head, at = split(self.text(self.at)), self.at + 1
            if len(head) < 2 or not all(head[1:]) or any(map(_no_heading, head)):
                continue
            at += bool(_RULE.fullmatch(self.text(at)))
            rows = [(self.lines[self.at][0], head)]
            while len(cells := split(self.text(at))) == len(head):
                rows.append((self.lines[at][0], cells))
                at += 1
            figures = [figure(cell) for _, cells in rows[1:2] for cell in cells]
            if 3 * sum(one is not None and not one.note for one in figures) >= len(head):
                return self._table(rows, at)
        return 0

    def _table(self, rows: list[_Line], after: int) -> int:
        """Takes the figures of a table, whose first row is its heading. A row with the same first
        cell is the heading of another table; a row with a name only, that of the rows below.
        Numbers in the first column are the rows' names unless its heading has a unit."""
        names, body = list[str](), list[PrintedRow]()
        for number, cells in rows:
            if not names or (cells[0] and cells[0] == names[0]):
                names, units, body, section = cells, [*map(unit_named, cells)], [], ""
                title = f"{self.heading or 'table'} (line {number})"
                self.reading.tables.append(PrintedTable(title, tuple(names), body))
                continue
            if len(cells) > 1 and not any(cells[1:]):
                section = cells[0]
                continue
            first = f"{section} {cells[0]}".strip()
            row = PrintedRow(first, number, tuple(cells), {})
            for index, text in enumerate(cells[: len(names)]):
                place = {"table": title, "row": first, "column": names[index], "line": number}
                cell = figure(text, units[index], **place)
                if index == 0 and (cell is None or cell.dimension == "count" or cell.note):
                    continue
                if cell is not None and cell.note[:1] in ("", "("):
                    row.cells[index] = cell
                elif NUMBER.search(text):
                    self.reading.unread.append((text, number))
            self.reading.figures += row.cells.values()
            body.append(row)
        return after


def _without_directives(lines: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yields lines with csv-tables of reStructuredText as a heading and CSV."""
    inside = False
    for number, text in lines:
        option = _OPTION.fullmatch(text)
        if directive := _DIRECTIVE.fullmatch(text):
            inside = True
            yield number, f"# {directive[1]}"
        elif inside and option and option[1] == "header":
            yield number, option[2]
        elif not inside or (text and not option):
            inside = inside and text[0] == " "
            yield number, text


def _joined(block: list[_Line]) -> _Line:
    columns = zip(*(cells for _, cells in block), strict=False)
    return block[0][0], [" ".join(filter(None, cells)) for cells in columns]


def _no_heading(text: str) -> bool:
    cell = figure(text)
    return len(text) > 40 or ":" in text or (cell is not None and cell.dimension != "size")


def _cells(line: str) -> list[str]:
    line = line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]


def _csv(line: str) -> list[str]:
    try:
        cells = next(csv.reader([line.strip()], skipinitialspace=True), [])
    except csv.Error:
        return []
    return [cell.strip() for cell in cells]


def read(text: str, file: str) -> Reading:
    """Returns a text's figures. Raises DataError, with the first line's number, if it has none."""
    lines = [
        (number, plain(_STAMP.sub("", _QUOTED.sub("", line[:LONGEST]), count=1)).rstrip())
        for number, line in enumerate(text.splitlines(), 1)
    ]
    number, first = next((line for line in lines if line[1].strip()), (1, ""))
    reading = Reading(file, lines=lines)
    numbers = programs.read(reading)
    left = [(number, text * (number not in numbers)) for number, text in lines]
    _Text(reading, list(_without_directives(left))).run()
    reading.unread.sort(key=lambda one: one[1])
    if not reading.figures:
        what = f"no figure from here on: {first.strip()[:60]!r}" if first else "the file is empty"
        raise DataError(f"{file}:{number}: {what}", hint=f"the audit reads {KNOWN}")
    return reading


def read_file(path: Path) -> Reading:
    """Returns the figures of a file. Raises UsageMistake or DataError if it can't be read."""
    try:
        return read(path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}:{line}: not UTF-8 text", hint="convert it first") from None
    except OSError as error:
        hint = "name a program's output, or a text with figures, such as a run's report.md"
        raise UsageMistake(f"{path}: can't be read: {error.strerror}", hint=hint) from None
