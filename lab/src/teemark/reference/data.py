# SPDX-License-Identifier: BSD-2-Clause
"""The tables of reference/: read, checked, and looked up by document, table, row and column.

`load` reads the folder; everything else is pure. A malformed row raises DataError with its file and
line. Figures keep their printed digits (Decimal), since some findings rest on two figures having
the same digits."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Self

import msgspec
from msgspec import Struct, field

from teemark.base import paths
from teemark.base.checked import Wrong, convert, read_text
from teemark.base.errors import DataError
from teemark.reference.span import Span, printed
from teemark.reference.units import EXACT, NOT_FOR_CORRECTED, SPELLINGS, TEXT, UNITS

RELATIONS = {"=": "", "~": "~", ">": "> ", "<": "< "}

_HINT = "see docs/published-figures.md"


class PublishedNumber(Decimal):
    """A number in plain digits; it keeps all of them as they were printed."""

    @classmethod
    def read(cls, value: object) -> Self:
        text = str(value)
        try:
            number = cls(text)
        except ArithmeticError:
            raise Wrong(f"{text!r} is no number") from None
        if not number.is_finite() or "e" in text.lower():
            raise Wrong(f"{text!r} must be written in plain digits")
        return number


class Positive(PublishedNumber):
    @classmethod
    def read(cls, value: object) -> Self:
        number = super().read(value)
        if number <= 0:
            raise Wrong(f"must be positive, not {number}")
        return number


class Document(Struct, frozen=True):
    id: str = field(name="document")
    title: str
    date: str
    system: str
    note: str = ""
    emulated: Literal["", "yes"] = ""

    @property
    def source(self) -> str:
        return f"{self.title} ({self.date})"


Key = tuple[str, str, str, str]


class Published(Struct, frozen=True, kw_only=True):
    """One published figure or statement: as printed, and with its unit corrected."""

    document: Document
    place: str
    table: str
    row: str
    column: str
    relation: Literal["=", "~", ">", "<"]
    text: str = field(name="value")  # the digits, or the words
    upper: PublishedNumber | None = None
    unit: str
    corrected: PublishedNumber | None = None
    corrected_upper: PublishedNumber | None = None
    corrected_unit: str
    note: str = ""

    def __post_init__(self) -> None:
        if self.unit == TEXT:
            if self.corrected_unit != TEXT or self._ends[1:] != (None, None, None):
                raise Wrong("words have no upper end and no corrected value")
            return
        for key in ("unit", "corrected_unit"):
            if getattr(self, key) not in UNITS:
                raise Wrong(f"{getattr(self, key)!r} isn't known", key=key)
        if self.corrected_unit in NOT_FOR_CORRECTED:
            raise Wrong(f"{self.corrected_unit} is no corrected unit")
        if UNITS[self.unit][0] != UNITS[self.corrected_unit][0]:
            raise Wrong(f"{self.unit} and {self.corrected_unit} are no units of the same thing")
        PublishedNumber.read(self.text)
        if self.corrected is None:
            raise Wrong("missing", key="corrected")
        for low, high in (self._ends[:2], self._ends[2:]):
            if low is not None and high is not None and low >= high:
                raise Wrong(f"a range from {low} to {high}")
        if self.was_corrected and not self.note:
            raise Wrong("corrected, but the note doesn't say why")

    @property
    def _ends(self) -> tuple[Decimal | None, ...]:
        return (self.value, self.upper, self.corrected, self.corrected_upper)

    @property
    def value(self) -> Decimal | None:
        """Returns the printed number; None for words."""
        return None if self.unit == TEXT else Decimal(self.text)

    @property
    def key(self) -> Key:
        return (self.document.id, self.table, self.row, self.column)

    def _span(self, value: Decimal | None, upper: Decimal | None, unit: str) -> Span:
        """Returns the values a number may stand for; a count is exact, "about" doubles the
        range."""
        if value is None:
            raise DataError(f"{'/'.join(self.key)}: {self.text!r} is no number")
        counted = self.unit in EXACT and self.relation == "="
        digits = 0.0 if counted else 1.0 if self.relation == "~" else 0.5
        return printed(value, upper, digits) * UNITS[unit][1]

    @property
    def span(self) -> Span:
        """Returns the printed value in base units (seconds, bytes, bytes a second)."""
        return self._span(self.value, self.upper, self.unit)

    @property
    def base(self) -> Span:
        """Returns the corrected value in base units."""
        return self._span(self.corrected, self.corrected_upper, self.corrected_unit)

    @property
    def published(self) -> str:
        """Returns the figure as printed, as text for people."""
        return self._shown(self.text, self.upper, self.unit)

    @property
    def put_right(self) -> str:
        """Returns the figure with its unit corrected, as text for people."""
        if self.corrected is None:
            return self.text
        return self._shown(str(self.corrected), self.corrected_upper, self.corrected_unit)

    def _shown(self, low: str, upper: Decimal | None, unit: str) -> str:
        number = low if upper is None else f"{low} to {upper}"
        name = "" if unit in (TEXT, "count", "errno", "ratio") else f" {unit}"
        name = unit if unit in ("%", "x") else name
        inferred = " (inferred)" * self.note.startswith("inferred: ")
        return RELATIONS[self.relation] + number + name + inferred

    @property
    def was_corrected(self) -> bool:
        plain = SPELLINGS.get(self.unit, self.unit)
        return (*self._ends[2:], self.corrected_unit) != (*self._ends[:2], plain)


class Constant(Struct, frozen=True, kw_only=True):
    """A known fact of a machine, a standard or a program, with its source."""

    name: str
    text: str = field(name="value")
    unit: str
    source: str

    @property
    def value(self) -> Decimal | None:
        """Returns the printed number; None for words."""
        return None if self.unit == TEXT else PublishedNumber.read(self.text)

    def __post_init__(self) -> None:
        _ = self.value  # raises Wrong if it is no number


class CyclesPerByte(Struct, frozen=True, kw_only=True):
    core: str
    algorithm: str
    implementation: str
    cycles: Positive = field(name="cycles_per_byte")
    source: str
    note: str = ""


class DriverKind(Struct, frozen=True, kw_only=True):
    """The kind of a kernel driver. If several rows match a driver's name, the first counts."""

    driver: str
    kind: Literal["accelerator", "cpu-instructions", "software"]
    fallback_below: int | None = None
    source: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Reference:
    documents: Mapping[str, Document]
    figures: Mapping[Key, Published]
    constants: Mapping[str, Constant]
    cycles: tuple[CyclesPerByte, ...] = ()
    drivers: tuple[DriverKind, ...] = ()

    def get(self, *key: *Key) -> Published:
        if key not in self.figures:
            hint = f"it should be in reference/{key[0]}.csv"
            raise DataError(f"reference: no figure {'/'.join(key)}", hint=hint)
        return self.figures[key]

    def table(self, document: str, table: str) -> tuple[Published, ...]:
        return tuple(f for f in self.figures.values() if f.key[:2] == (document, table))

    def constant(self, name: str) -> float:
        constant = self.constants.get(name)
        if constant is None or constant.value is None:
            raise DataError(f"reference: no number {name} in constants.csv")
        return float(constant.value)

    def cycles_for(self, core: str, algorithm: str) -> tuple[CyclesPerByte, ...]:
        return tuple(row for row in self.cycles if (row.core, row.algorithm) == (core, algorithm))


_KEYS: Mapping[type[Struct], tuple[str, ...]] = {
    Published: ("document", "table", "row", "column"),
    CyclesPerByte: ("core", "algorithm", "implementation"),
}
"""The columns that identify a row; in tables that aren't listed here, the first column."""


def parse(text: str, type_: type[Struct], file: str, document: Document | None = None) -> Any:
    """Returns a CSV file's rows by their identifying columns; figures get their `document`."""
    header = tuple(column.encode_name for column in msgspec.structs.fields(type_))
    keys, rows = _KEYS.get(type_, header[:1]), dict[Any, Any]()
    lines = csv.reader(io.StringIO(text), strict=True)

    def wrong(why: str, hint: str | None = _HINT) -> DataError:
        return DataError(f"{file}:{max(lines.line_num, 1)}: {why}", hint=hint)

    try:
        if tuple(next(lines, ())) != header:
            raise wrong(f"the columns must be {','.join(header)}")
        for cells in lines:
            if len(cells) != len(header):
                raise wrong(f"{len(cells)} cells, not {len(header)}")
            row: dict[str, Any] = dict(zip(header, cells, strict=True))
            for name, cell in row.items():
                if cell != cell.strip():
                    raise wrong(f"{name}: blanks around {cell!r}")
            key = tuple(row[name] for name in keys)
            if (named := key if len(key) > 1 else key[0]) in rows:
                raise wrong(f"{' / '.join(key[-3:])} is there twice")
            if document is not None:
                if row["document"] != document.id:
                    raise wrong(f"document is {row['document']}, not {document.id}")
                row["document"] = document
            given = {name: cell for name, cell in row.items() if cell}
            where = f"{file}:{lines.line_num}"
            rows[named] = convert(given, type_, where, error=DataError, hint=_HINT, texts=True)
    except csv.Error as error:
        raise wrong(f"not CSV: {error}", None) from None
    return rows


def load(folder: Path | None = None) -> Reference:
    """Returns all tables of `folder`, by default reference/."""
    where = folder or paths.reference()
    return _load(where, *(file.stat().st_mtime_ns for file in sorted(where.glob("*.csv"))))


@lru_cache(maxsize=1)  # A report asks for some tens of its figures
def _load(where: Path, *_changed: int) -> Reference:
    def read(name: str, type_: type[Struct], document: Document | None = None) -> Any:
        file = where / f"{name}.csv"
        return parse(read_text(file, DataError), type_, str(file), document)

    documents: dict[str, Document] = read("documents", Document)
    figures: dict[Key, Published] = {}
    for document in documents.values():
        figures |= read(document.id, Published, document)
    return Reference(
        documents=documents,
        figures=figures,
        constants=read("constants", Constant),
        cycles=tuple(read("cycles-per-byte", CyclesPerByte).values()),
        drivers=tuple(read("kernel-drivers", DriverKind).values()),
    )
