# SPDX-License-Identifier: BSD-2-Clause
"""Reads a text: what programs print, tables (Markdown, CSV, reStructuredText, set with blanks or
tabs), and lists of "name: value". Sentences aren't read."""

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from teemark.audit import programs
from teemark.audit.figure import ListedItem, PrintedRow, PrintedTable, Reading
from teemark.audit.numbers import NUMBER, figure, plain, unit_named
from teemark.base.errors import DataError, UsageMistake

KNOWN = (
    f"outputs of {programs.known()}; tables in Markdown, CSV, reStructuredText or with aligned "
    "columns; lists of name: value"
)
LONGEST = 20_000
"""Characters of a line that are read; the rest is cut off."""

_QUOTED = re.compile(r"^(?:> ?){1,9}")
_STAMP = re.compile(
    r"^(?:\w{3} +\d+ [\d:]{8} \S+ kernel: )?(?:\[ *\d+\.\d+\] ?)?(?:[DIFEW]/(?:TA|TC|LD|LT):\s*)?"
)
_RULE = re.compile(r"(?=.*[-=])[|:\- +=]+")
_HEADING = re.compile(r"#{1,6} (.+)|=+ (\S.*?) ?=*")
_NAMED = re.compile(r"(\s*)(?:[-*•+] )?([A-Za-z/][^:=|]{0,60}?) ?[:=] *(\S.*)?")
_GAP = re.compile(r"\t+| {2,}")
_DIRECTIVE = re.compile(r"(\s*)\.\. csv-table:: ?(.*)")


_Line = tuple[int, list[str]]
"""The number of a line with its cells."""


@dataclass(slots=True)
class _Text:
    """A text being read; `at` is the line that is next, `free` the lines that no program took."""

    reading: Reading
    lines: list[tuple[int, str]]
    taken: set[int]
    at: int = 0
    heading: str = ""
    items: list[ListedItem] = field(default_factory=list)

    def free(self, at: int) -> str | None:
        """Returns a line as text; None behind the end and for a program's line."""
        if at >= len(self.lines) or self.lines[at][0] in self.taken:
            return None
        return self.lines[at][1]

    def run(self) -> None:
        while self.at < len(self.lines):
            number, text = self.lines[self.at]
            if number in self.taken:
                self.at += 1
                continue
            used = (
                self._csv_table()
                or self._grid()
                or self._bars()
                or self._commas()
                or self._aligned()
            )
            if used:
                self.end_list()
                self.at = used
                continue
            self.at += 1
            self._line(number, text)
        self.end_list()

    def end_list(self) -> None:
        if any(item.figure for item in self.items):
            self.reading.lists.append(self.items)
        self.items = []

    def _line(self, number: int, text: str) -> None:
        heading, named = _HEADING.fullmatch(text.strip()), _NAMED.fullmatch(text)
        if heading:
            self.end_list()
            self.heading = next(filter(None, heading.groups()))
        elif named:
            made = figure(named[3] or "", row=named[2], table=self.heading, line=number)
            long = made is not None and len(made.note.split()) > 6 and made.note[0] != "("
            if (made is None or long) and NUMBER.search(named[3] or ""):
                self.reading.unread.append((text.strip(), number))
            if not long:
                before = [item.figure for item in self.items if item.name == named[2]]
                if made and any(one and one.text != made.text for one in before):
                    self.end_list()
                indent = len(named[1]) + 2 * bool(re.match(r"\s*[-*•+] ", text))
                self.items.append(ListedItem(named[2], indent, made))
                self.reading.figures += [made] if made else []
        elif NUMBER.search(text):
            self.reading.unread.append((text.strip(), number))

    # -- tables ------------------------------------------------------------------------------------

    def _csv_table(self) -> int:
        """Reads the reStructuredText directive csv-table; returns the line behind it, else 0."""
        start = _DIRECTIVE.fullmatch(self.free(self.at) or "")
        if start is None:
            return 0
        self.heading, rows, at = start[2] or self.heading, list[_Line](), self.at + 1
        head: _Line = (0, [])
        while (text := self.free(at)) is not None and (
            not text.strip() or len(text) - len(text.lstrip()) > len(start[1])
        ):
            option = re.match(r"\s*:([\w-]+): ?(.*)", text)
            cells = _csv(option[2] if option else text)
            if option and option[1] == "header":
                head = (self.lines[at][0], cells)
            elif not option and text.strip():
                rows.append((self.lines[at][0], cells))
            at += 1
        if not head[1] and rows:
            head = rows.pop(0)
        return self._table(head, rows, at)

    def _grid(self) -> int:
        """Reads a table with borders of plus signs, as reStructuredText and databases draw them."""
        if not re.fullmatch(r"\s*\+(?:[-=]+\+)+\s*", self.free(self.at) or ""):
            return 0
        blocks: list[list[tuple[int, list[str]]]] = [[]]
        at = self.at
        while (text := self.free(at)) is not None and text.strip()[:1] in ("+", "|"):
            if text.strip()[0] == "+":
                blocks += [[]] if blocks[-1] else []
            else:
                blocks[-1].append((self.lines[at][0], _cells(text)))
            at += 1
        blocks = [block for block in blocks if block]
        if len(blocks) < 2:
            return 0
        whole = [_joined(block) for block in blocks]
        rows = whole[1:] if len(blocks) > 2 else blocks[1]
        return self._table(whole[0], rows, at)

    def _block(self, at: int, cells_of: Callable[[str], list[str]], cells: int = 0) -> list[_Line]:
        """Returns the rows from a line on: with as many cells, or with a bar if `cells` is 0."""
        rows: list[_Line] = []
        while (line := self.free(at)) is not None:
            row = cells_of(line)
            if len(row) != cells if cells else "|" not in line:
                break
            rows.append((self.lines[at][0], row))
            at += 1
        return rows

    def _bars(self) -> int:
        """Reads a table whose cells are parted by bars, with a ruled line below its heading."""
        text, rule = self.free(self.at) or "", (self.free(self.at + 1) or "").strip()
        if "|" not in text or not re.search(r"[|+]", rule) or not _RULE.fullmatch(rule):
            return 0
        rows = self._block(self.at + 2, _cells)
        return self._table((self.lines[self.at][0], _cells(text)), rows, self.at + 2 + len(rows))

    def _commas(self) -> int:
        """Reads CSV: a heading without figures, and rows of which a third are figures."""
        text = self.free(self.at) or ""
        head = _csv(text) if "," in text else []
        if len(head) < 2 or not all(head[1:]) or any(figure(one) or len(one) > 40 for one in head):
            return 0
        rows = self._block(self.at + 1, _csv, len(head))
        made = [figure(cell) for cell in (rows[0][1] if rows else ())]
        if 3 * sum(one is not None and not one.note for one in made) < len(head):
            return 0
        return self._table((self.lines[self.at][0], head), rows, self.at + 1 + len(rows))

    def _aligned(self) -> int:
        """Reads a table whose columns are parted by tabs or by two blanks and more."""
        text = (self.free(self.at) or "").strip()
        head = _GAP.split(text)
        if len(head) < 2 or any(map(_is_value, head[1:])) or _NAMED.fullmatch(text):
            return 0
        first = self.at + 1 + bool(_RULE.fullmatch((self.free(self.at + 1) or "").strip()))
        rows = self._block(first, lambda line: _GAP.split(line.strip()), len(head))
        if not any(figure(cell) for _, cells in rows for cell in cells[1:]):
            return 0
        return self._table((self.lines[self.at][0], head), rows, first + len(rows))

    def _table(
        self, head: tuple[int, list[str]], rows: list[tuple[int, list[str]]], after: int
    ) -> int:
        """Takes the figures of a table. A row with a name only is the heading of the rows below;
        numbers in the first column are the rows' names unless its heading has a unit."""
        line, names = head
        title, section, made = f"{self.heading or 'table'} (line {line})", "", list[PrintedRow]()
        units = [unit_named(name) for name in names]
        for number, cells in rows:
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
            made.append(row)
        self.reading.tables.append(PrintedTable(title, tuple(names), line, tuple(made)))
        return after


def _joined(block: list[tuple[int, list[str]]]) -> tuple[int, list[str]]:
    """Returns the lines of one row of a grid as one; they have as many cells."""
    columns = zip(*(cells for _, cells in block), strict=False)
    return block[0][0], [" ".join(filter(None, cells)) for cells in columns]


def _is_value(text: str) -> bool:
    """Returns true if a cell is a number, but not a message's size, which may be a heading."""
    made = figure(text)
    return made is not None and made.dimension != "size"


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


def _csv(line: str) -> list[str]:
    try:
        return [
            cell.strip() for cell in next(csv.reader([line.strip()], skipinitialspace=True), [])
        ]
    except csv.Error:
        return []


def read(text: str, file: str) -> Reading:
    """Returns a text's figures. Raises DataError, with the first line's number, if it has none."""
    lines = [
        (number, plain(_STAMP.sub("", _QUOTED.sub("", line[:LONGEST]), count=1)).rstrip())
        for number, line in enumerate(text.splitlines(), 1)
    ]
    number, first = next((line for line in lines if line[1].strip()), (1, ""))
    reading = Reading(file, first.lstrip("#= ")[:200], lines=lines)
    taken = programs.read(reading)
    _Text(reading, lines, taken).run()
    reading.unread.sort(key=lambda one: one[1])
    if not reading.figures:
        what = f"no figure from here on: {first.strip()[:60]!r}" if first else "the file is empty"
        raise DataError(f"{file}:{number}: {what}", hint=f"the audit reads {KNOWN}")
    return reading


def read_file(path: Path) -> Reading:
    """Returns the figures of a file. Raises UsageMistake or DataError if it can't be read."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageMistake(
            f"{path}: can't be read: {error.strerror}",
            hint="name a program's output, or a text with figures, such as a run's report.md",
        ) from None
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}:{line}: not UTF-8 text", hint="convert it first") from None
    return read(text, str(path))
