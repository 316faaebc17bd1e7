# SPDX-License-Identifier: BSD-2-Clause
"""The tables of reference/: read, checked, and looked up by document, table, row and column.

`load` reads the folder; everything else is pure. A row that doesn't say exactly one thing is a
DataError with its file and line. Figures keep the digits that were printed (Decimal): some
findings rest on two figures having the same digits.
"""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
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

_HINT = "see docs/reference.md"


class Number(Decimal):
    """A number in plain digits; it keeps those that were printed."""

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


class Positive(Number):
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
    def key(self) -> str:
        return self.id

    @property
    def source(self) -> str:
        return f"{self.title} ({self.date})"


Key = tuple[str, str, str, str]


class Published(Struct, frozen=True, kw_only=True):
    """One published figure or statement: as printed, and with its unit put right."""

    document: Document
    place: str
    table: str
    row: str
    column: str
    relation: Literal["=", "~", ">", "<"]
    text: str = field(name="value")  # the digits, or the words
    upper: Number | None = None
    unit: str
    corrected: Number | None = None
    corrected_upper: Number | None = None
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
        Number.read(self.text)
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

    def _span(self, value: Decimal | None, upper: Decimal | None) -> Span:
        """Counts are exact, and "about" allows a whole unit of the last digit."""
        if value is None:
            raise DataError(f"{'/'.join(self.key)}: {self.text!r} is no number")
        counted = self.unit in EXACT and self.relation == "="
        return printed(value, upper, 0.0 if counted else 1.0 if self.relation == "~" else 0.5)

    @property
    def span(self) -> Span:
        """Returns the printed value in its printed unit, with its rounding."""
        return self._span(self.value, self.upper)

    @property
    def base(self) -> Span:
        """Returns the corrected figure in base units (seconds, bytes, bytes per second)."""
        span = self._span(self.corrected, self.corrected_upper)
        return span * UNITS[self.corrected_unit][1]

    @property
    def published(self) -> str:
        """Returns the figure as it was printed, for people."""
        return self._shown(self.text, self.upper, self.unit)

    @property
    def put_right(self) -> str:
        """Writes the figure with the unit corrected, for people."""
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
    """Something known of a machine, a standard or a program, with its source."""

    name: str
    text: str = field(name="value")
    unit: str
    source: str

    @property
    def key(self) -> str:
        return self.name

    @property
    def value(self) -> Decimal | None:
        """Returns the printed number; None for words."""
        return None if self.unit == TEXT else Number.read(self.text)

    def __post_init__(self) -> None:
        _ = self.value  # Wrong if it is no number


class CyclesPerByte(Struct, frozen=True, kw_only=True):
    core: str
    algorithm: str
    implementation: str
    cycles: Positive = field(name="cycles_per_byte")
    source: str
    note: str = ""

    @property
    def key(self) -> str:
        return f"{self.core} {self.algorithm} {self.implementation}"


class KernelDriver(Struct, frozen=True, kw_only=True):
    """The kind of a kernel driver, by its source; the first row that fits a name holds."""

    driver: str
    kind: Literal["accelerator", "cpu-instructions", "software"]
    fallback_below: int | None = None
    source: str
    note: str = ""

    @property
    def key(self) -> str:
        return self.driver


@dataclass(frozen=True, slots=True)
class Reference:
    documents: Mapping[str, Document]
    figures: Mapping[Key, Published]
    constants: Mapping[str, Constant]
    cycles: tuple[CyclesPerByte, ...] = ()
    drivers: tuple[KernelDriver, ...] = ()

    def get(self, document: str, table: str, row: str, column: str) -> Published:
        figure = self.find(document, table, row, column)
        if figure is None:
            raise DataError(
                f"reference: no figure {document}/{table}/{row}/{column}",
                hint=f"it should be in reference/{document}.csv",
            )
        return figure

    def find(self, document: str, table: str, row: str, column: str) -> Published | None:
        return self.figures.get((document, table, row, column))

    def table(self, document: str, table: str) -> tuple[Published, ...]:
        return tuple(one for one in self.figures.values() if one.key[:2] == (document, table))

    def constant(self, name: str) -> float:
        constant = self.constants.get(name)
        if constant is None or constant.value is None:
            raise DataError(f"reference: no number {name} in constants.csv")
        return float(constant.value)

    def cycles_for(self, core: str, algorithm: str) -> tuple[CyclesPerByte, ...]:
        return tuple(row for row in self.cycles if (row.core, row.algorithm) == (core, algorithm))


def columns(type_: type[Struct]) -> tuple[str, ...]:
    """Returns the columns of the file whose rows are of that type, in their order."""
    return tuple(one.encode_name for one in msgspec.structs.fields(type_))


def parse(text: str, type_: type[Struct], file: str, document: Document | None = None) -> Any:
    """Returns the rows of a file by their keys; figures of a document know it."""
    header, rows = columns(type_), {}
    lines = csv.reader(io.StringIO(text), strict=True)
    try:
        if tuple(next(lines, ())) != header:
            raise DataError(f"{file}:1: the columns must be {','.join(header)}", hint=_HINT)
        for cells in lines:
            where = f"{file}:{lines.line_num}"
            if len(cells) != len(header):
                raise DataError(f"{where}: {len(cells)} cells, not {len(header)}", hint=_HINT)
            found: dict[str, object] = {
                name: cell for name, cell in zip(header, cells, strict=True) if cell
            }
            for name, cell in found.items():
                if str(cell) != str(cell).strip():
                    raise DataError(f"{where}: {name}: blanks around {cell!r}", hint=_HINT)
            if document is not None:
                if found.get("document") != document.id:
                    why = f"document is {found.get('document')}, not {document.id}"
                    raise DataError(f"{where}: {why}", hint=_HINT)
                found["document"] = document
            row = convert(found, type_, where, error=DataError, hint=_HINT, texts=True)
            if row.key in rows:
                named = row.key if isinstance(row.key, str) else " / ".join(row.key[1:])
                raise DataError(f"{where}: {named} is there twice", hint=_HINT)
            rows[row.key] = row
    except csv.Error as error:
        raise DataError(f"{file}:{lines.line_num}: not CSV: {error}") from None
    return rows


def load(folder: Path | None = None) -> Reference:
    """Returns all of reference/."""
    where = folder or paths.reference()

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
        drivers=tuple(read("kernel-drivers", KernelDriver).values()),
    )
