# SPDX-License-Identifier: BSD-2-Clause
"""The tables of reference/: read, checked, and looked up by document, table, row and column.

`load` reads the folder; everything else is pure. A row that doesn't say exactly one thing is a
DataError with its file and line. Figures keep the digits that were printed (Decimal): some
findings rest on two figures having the same digits.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from functools import partial
from pathlib import Path
from typing import TypeVar

from teemark import paths
from teemark.errors import DataError
from teemark.reference.span import Span, printed
from teemark.reference.units import EXACT, NOT_FOR_CORRECTED, SPELLINGS, TEXT, UNITS

RELATIONS = {"=": "", "~": "~", ">": "> ", "<": "< "}

FIGURE_HEADER = (
    "document",
    "place",
    "table",
    "row",
    "column",
    "relation",
    "value",
    "upper",
    "unit",
    "corrected",
    "corrected_upper",
    "corrected_unit",
    "note",
)


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    title: str
    date: str
    system: str
    note: str

    @property
    def source(self) -> str:
        return f"{self.title} ({self.date})"


Key = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Figure:
    """One published figure or statement: as printed, and with its unit put right."""

    document: Document
    place: str
    table: str
    row: str
    column: str
    relation: str
    text: str  # as in the file: the digits, or the words
    value: Decimal | None  # None: words
    upper: Decimal | None
    unit: str
    corrected: Decimal | None
    corrected_upper: Decimal | None
    corrected_unit: str
    note: str

    @property
    def key(self) -> Key:
        return (self.document.id, self.table, self.row, self.column)

    @property
    def number(self) -> Decimal:
        if self.value is None:
            raise DataError(f"{'/'.join(self.key)}: {self.text!r} is no number")
        return self.value

    @property
    def _digits(self) -> float:
        """How far the last digit may be off: counts are exact, "about" allows a whole one."""
        if self.unit in EXACT and self.relation == "=":
            return 0.0
        return 1.0 if self.relation == "~" else 0.5

    @property
    def span(self) -> Span:
        """As printed, in its printed unit."""
        return printed(self.number, self.upper, self._digits)

    @property
    def base(self) -> Span:
        """Corrected, in base units (seconds, bytes, bytes per second)."""
        if self.corrected is None:
            raise DataError(f"{'/'.join(self.key)}: {self.text!r} is no number")
        return printed(self.corrected, self.corrected_upper, self._digits) * self.factor

    @property
    def factor(self) -> float:
        """Of the corrected unit, to base units."""
        return UNITS[self.corrected_unit][1]

    @property
    def inferred(self) -> str:
        """Why, of what the document doesn't say."""
        found = self.note.startswith("inferred: ")
        return self.note.removeprefix("inferred: ") if found else ""

    @property
    def published(self) -> str:
        """As printed, for people."""
        shown = RELATIONS[self.relation] + _range(self.text, self.upper) + _unit(self.unit)
        return shown + " (inferred)" * bool(self.inferred)

    @property
    def put_right(self) -> str:
        """With the unit corrected, for people."""
        if self.corrected is None:
            return self.text
        return (
            RELATIONS[self.relation]
            + _range(str(self.corrected), self.corrected_upper)
            + _unit(self.corrected_unit)
            + " (inferred)" * bool(self.inferred)
        )

    @property
    def was_corrected(self) -> bool:
        plain = SPELLINGS.get(self.unit, self.unit)
        return (self.corrected, self.corrected_upper, self.corrected_unit) != (
            self.value,
            self.upper,
            plain,
        )


def _range(low: str, upper: Decimal | None) -> str:
    return low if upper is None else f"{low} to {upper}"


def _unit(unit: str) -> str:
    if unit in (TEXT, "count", "errno", "ratio"):
        return ""
    return unit if unit in ("%", "x") else f" {unit}"


@dataclass(frozen=True, slots=True)
class Constant:
    """Something known of a machine, a standard or a program, with its source."""

    name: str
    value: Decimal | None
    text: str
    unit: str
    source: str


@dataclass(frozen=True, slots=True)
class CyclesPerByte:
    core: str
    algorithm: str
    implementation: str
    cycles: Decimal
    source: str
    note: str


@dataclass(frozen=True, slots=True)
class Rate:
    """A published throughput, bytes per second."""

    core: str
    clock_hz: float
    algorithm: str
    implementation: str
    block: int
    bytes_per_second: float
    source: str
    note: str


@dataclass(frozen=True, slots=True)
class Reference:
    documents: Mapping[str, Document]
    figures: Mapping[Key, Figure]
    constants: Mapping[str, Constant]
    cycles: tuple[CyclesPerByte, ...] = ()
    rates: tuple[Rate, ...] = ()

    def get(self, document: str, table: str, row: str, column: str) -> Figure:
        try:
            return self.figures[document, table, row, column]
        except KeyError:
            raise DataError(
                f"reference: no figure {document}/{table}/{row}/{column}",
                hint=f"it should be in reference/{document}.csv",
            ) from None

    def find(self, document: str, table: str, row: str, column: str) -> Figure | None:
        return self.figures.get((document, table, row, column))

    def table(self, document: str, table: str) -> tuple[Figure, ...]:
        return tuple(
            figure for figure in self.figures.values() if figure.key[:2] == (document, table)
        )

    def tables(self, document: str) -> tuple[str, ...]:
        """Names, in the order of the document."""
        return tuple(dict.fromkeys(key[1] for key in self.figures if key[0] == document))

    def constant(self, name: str) -> float:
        constant = self.constants.get(name)
        if constant is None or constant.value is None:
            raise DataError(f"reference: no number {name} in constants.csv")
        return float(constant.value)

    def words(self, name: str) -> str:
        constant = self.constants.get(name)
        if constant is None:
            raise DataError(f"reference: nothing called {name} in constants.csv")
        return constant.text

    def cycles_for(self, core: str, algorithm: str) -> tuple[CyclesPerByte, ...]:
        return tuple(row for row in self.cycles if (row.core, row.algorithm) == (core, algorithm))

    def changed(self, key: Key, text: str) -> Reference:
        """The same with one figure altered, published and corrected (for tests and what-ifs)."""
        figure = self.get(*key)
        value = None if figure.value is None else Decimal(text)
        altered = replace(
            figure, text=text, value=value, upper=None, corrected=value, corrected_upper=None
        )
        return replace(self, figures={**self.figures, key: altered})


@dataclass(slots=True)
class _Row:
    """One line of a CSV file, and how to complain about it."""

    file: str
    line: int
    cells: dict[str, str]
    documents: Mapping[str, Document] = field(default_factory=dict)

    def wrong(self, why: str) -> DataError:
        return DataError(f"{self.file}:{self.line}: {why}", hint="see docs/reference.md")

    def word(self, column: str) -> str:
        value = self.cells[column]
        if not value:
            raise self.wrong(f"{column} is empty")
        return value

    def decimal(self, column: str) -> Decimal:
        text = self.word(column)
        try:
            value = Decimal(text)
        except InvalidOperation:
            raise self.wrong(f"{column}: {text!r} is no number") from None
        if not value.is_finite() or "e" in text.lower():
            raise self.wrong(f"{column}: {text!r} must be written in plain digits")
        return value

    def optional(self, column: str) -> Decimal | None:
        return self.decimal(column) if self.cells[column] else None


def _rows(text: str, file: str, header: tuple[str, ...]) -> Iterator[_Row]:
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        first = next(reader, None)
        if first is None or tuple(first) != header:
            raise DataError(
                f"{file}:1: the columns must be {','.join(header)}", hint="see docs/reference.md"
            )
        for cells in reader:
            row = _Row(file, reader.line_num, dict(zip(header, cells, strict=False)))
            if len(cells) != len(header):
                raise row.wrong(f"{len(cells)} cells, not {len(header)}")
            for column, cell in row.cells.items():
                if cell != cell.strip():
                    raise row.wrong(f"{column}: blanks around {cell!r}")
            yield row
    except csv.Error as error:
        raise DataError(f"{file}:{reader.line_num}: not CSV: {error}") from None


def parse_documents(text: str, file: str) -> dict[str, Document]:
    documents: dict[str, Document] = {}
    for row in _rows(text, file, ("document", "title", "date", "system", "note")):
        document = Document(
            id=row.word("document"),
            title=row.word("title"),
            date=row.word("date"),
            system=row.word("system"),
            note=row.cells["note"],
        )
        if document.id in documents:
            raise row.wrong(f"{document.id} is there twice")
        documents[document.id] = document
    return documents


def parse_figures(text: str, file: str, document: Document) -> dict[Key, Figure]:
    figures: dict[Key, Figure] = {}
    for row in _rows(text, file, FIGURE_HEADER):
        figure = _figure(row, document)
        if figure.key in figures:
            raise row.wrong("a second figure for " + " / ".join(figure.key[1:]))
        figures[figure.key] = figure
    return figures


def _figure(row: _Row, document: Document) -> Figure:
    if row.word("document") != document.id:
        raise row.wrong(f"document is {row.cells['document']}, not {document.id}")
    relation = row.word("relation")
    if relation not in RELATIONS:
        raise row.wrong(f"relation {relation!r} is none of {' '.join(RELATIONS)}")
    unit, corrected_unit = row.word("unit"), row.word("corrected_unit")
    words = unit == TEXT
    if words:
        if corrected_unit != TEXT or any(
            row.cells[c] for c in ("upper", "corrected", "corrected_upper")
        ):
            raise row.wrong("words have no upper end and no corrected value")
    else:
        _check_units(row, unit, corrected_unit)
    figure = Figure(
        document=document,
        place=row.word("place"),
        table=row.word("table"),
        row=row.word("row"),
        column=row.word("column"),
        relation=relation,
        text=row.word("value"),
        value=None if words else row.decimal("value"),
        upper=row.optional("upper"),
        unit=unit,
        corrected=None if words else row.decimal("corrected"),
        corrected_upper=row.optional("corrected_upper"),
        corrected_unit=corrected_unit,
        note=row.cells["note"],
    )
    for low, high in (
        (figure.value, figure.upper),
        (figure.corrected, figure.corrected_upper),
    ):
        if low is not None and high is not None and low >= high:
            raise row.wrong(f"a range from {low} to {high}")
    if not words and figure.was_corrected and not figure.note:
        raise row.wrong("corrected, but the note doesn't say why")
    return figure


def _check_units(row: _Row, unit: str, corrected_unit: str) -> None:
    for name in (unit, corrected_unit):
        if name not in UNITS:
            raise row.wrong(f"unit {name!r} isn't known")
    if corrected_unit in NOT_FOR_CORRECTED:
        raise row.wrong(f"{corrected_unit} is no corrected unit")
    if UNITS[unit][0] != UNITS[corrected_unit][0]:
        raise row.wrong(f"{unit} and {corrected_unit} are no units of the same thing")


def parse_constants(text: str, file: str) -> dict[str, Constant]:
    constants: dict[str, Constant] = {}
    for row in _rows(text, file, ("name", "value", "unit", "source")):
        unit = row.word("unit")
        constant = Constant(
            name=row.word("name"),
            value=None if unit == TEXT else row.decimal("value"),
            text=row.word("value"),
            unit=unit,
            source=row.word("source"),
        )
        if constant.name in constants:
            raise row.wrong(f"{constant.name} is there twice")
        constants[constant.name] = constant
    return constants


def _positive(row: _Row, column: str) -> Decimal:
    value = row.decimal(column)
    if value <= 0:
        raise row.wrong(f"{column} must be positive, not {value}")
    return value


def parse_cycles(text: str, file: str) -> tuple[CyclesPerByte, ...]:
    header = ("core", "algorithm", "implementation", "cycles_per_byte", "source", "note")
    rows: dict[tuple[str, str, str], CyclesPerByte] = {}
    for row in _rows(text, file, header):
        entry = CyclesPerByte(
            core=row.word("core"),
            algorithm=row.word("algorithm"),
            implementation=row.word("implementation"),
            cycles=_positive(row, "cycles_per_byte"),
            source=row.word("source"),
            note=row.cells["note"],
        )
        key = (entry.core, entry.algorithm, entry.implementation)
        if key in rows:
            raise row.wrong(" ".join(key) + " is there twice")
        rows[key] = entry
    return tuple(rows.values())


def parse_rates(text: str, file: str) -> tuple[Rate, ...]:
    header = (
        "core",
        "clock_ghz",
        "algorithm",
        "implementation",
        "block",
        "rate",
        "unit",
        "source",
        "note",
    )
    rates = []
    for row in _rows(text, file, header):
        unit = row.word("unit")
        if UNITS.get(unit, ("",))[0] != "rate" or unit in NOT_FOR_CORRECTED:
            raise row.wrong(f"{unit!r} is no unit of a rate")
        rates.append(
            Rate(
                core=row.word("core"),
                clock_hz=float(_positive(row, "clock_ghz")) * 1e9,
                algorithm=row.word("algorithm"),
                implementation=row.word("implementation"),
                block=int(_positive(row, "block")),
                bytes_per_second=float(_positive(row, "rate")) * UNITS[unit][1],
                source=row.word("source"),
                note=row.cells["note"],
            )
        )
    return tuple(rates)


_T = TypeVar("_T")


def _read(file: Path, parse: Callable[[str, str], _T]) -> _T:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"{file}: can't be read: {error}", hint="is the checkout complete?"
        ) from None
    return parse(text, str(file))


def load(folder: Path | None = None) -> Reference:
    """All of reference/."""
    where = folder or paths.reference()
    documents = _read(where / "documents.csv", parse_documents)
    figures: dict[Key, Figure] = {}
    for document in documents.values():
        parse = partial(parse_figures, document=document)
        figures |= _read(where / f"{document.id}.csv", parse)
    return Reference(
        documents=documents,
        figures=figures,
        constants=_read(where / "constants.csv", parse_constants),
        cycles=_read(where / "cycles-per-byte.csv", parse_cycles),
        rates=_read(where / "published-rates.csv", parse_rates),
    )
