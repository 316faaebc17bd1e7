# SPDX-License-Identifier: BSD-2-Clause
"""A published table with what was measured here beside it, and what the audit says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from teemark import words
from teemark.reference.audit.base import Finding
from teemark.reference.data import Figure, Reference
from teemark.reference.units import UNITS
from teemark.report.blocks import (
    Block,
    Bullets,
    Cell,
    Column,
    Heading,
    Paragraph,
    Quiet,
    Strong,
    Table,
    Text,
)
from teemark.report.seed_tables.measured import Absent, Lookup, Measured, Value, Words

Source = Callable[[Lookup], Measured | Words]
"""Where the value of a cell comes from."""


@dataclass(frozen=True, slots=True)
class SeedTable:
    """One table of a document.

    `cells` gives the source of each measured cell by row and column. A column in `deviations`
    shows the standard deviation of the column that it names. `units`, by row or column, are for
    cells with no published number.
    """

    document: str
    table: str
    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Mapping[tuple[str, str], Source]
    deviations: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    first: str = "metric"


@dataclass(slots=True)
class _Reasons:
    """Why cells are empty, each said once below the table."""

    said: list[str] = field(default_factory=list)

    def mark(self, reason: str) -> Text:
        if reason not in self.said:
            self.said.append(reason)
        return (Quiet(f"{words.NONE} [{self.said.index(reason) + 1}]"),)

    def blocks(self) -> list[Block]:
        if not self.said:
            return []
        items = ((f"[{number}] {reason}.",) for number, reason in enumerate(self.said, 1))
        return [Bullets(tuple(items))]


def blocks(
    seed: SeedTable, lookup: Lookup, reference: Reference, findings: Sequence[Finding]
) -> list[Block]:
    """Heading, table, reasons, source and findings."""
    reasons = _Reasons()
    published = {figure.column for figure in reference.table(seed.document, seed.table)}
    measured = {*(column for _, column in seed.cells), *seed.deviations}
    rows: list[tuple[Cell, ...]] = []
    for row in seed.rows:
        cells: list[Cell] = [row]
        for column in seed.columns:
            figure = reference.find(seed.document, seed.table, row, column)
            if column in measured:
                cells.append(_measured(seed, (row, column), figure, lookup, reasons))
            if column in published:
                cells.append(_published(figure))
        rows.append(tuple(cells))
    columns = [Column(seed.first, "left")]
    for column in seed.columns:
        if column in measured:
            columns.append(Column(f"{column}: measured"))
        if column in published:
            columns.append(Column("published" if column in measured else f"{column}: published"))
    made: list[Block] = [
        Heading(seed.title),
        Table(tuple(columns), tuple(rows)),
        *reasons.blocks(),
        Paragraph((Quiet(_source(seed, reference)),)),
    ]
    if findings:
        made.append(Bullets(tuple(said(finding) for finding in findings)))
    return made


def said(finding: Finding) -> Text:
    return (Strong(f"{finding.kind.capitalize()}:"), f" {finding.sentence}")


def _source(seed: SeedTable, reference: Reference) -> str:
    """Where the published figures are from, which units were put right, and the table's note."""
    figures = [f for f in reference.table(seed.document, seed.table) if f.row in seed.rows]
    document = reference.documents[seed.document]
    parts = []
    if figures:
        places = "; ".join(dict.fromkeys(figure.place for figure in figures))
        parts.append(f"Published: {document.source}, {places}; measured on {document.system}.")
    parts += [
        f"Printed as {unit}: {note}."
        for unit, note in dict.fromkeys((f.unit, f.note) for f in figures if f.was_corrected)
    ]
    return " ".join([*parts, seed.note]).strip()


def _measured(
    seed: SeedTable, place: tuple[str, str], figure: Figure | None, lookup: Lookup, why: _Reasons
) -> Cell:
    row, column = place
    source = seed.cells.get((row, seed.deviations.get(column, column)))
    if source is None:
        nothing = figure is None or figure.value is None
        return "" if nothing else why.mark("a statement of the document; nothing to measure")
    value = source(lookup)
    if isinstance(value, Absent):
        return why.mark(value.reason)
    if isinstance(value, Words):
        return value.text
    unit = _unit(seed, row, column, figure)
    if column in seed.deviations:
        return _deviation(value, unit, why)
    return _text(value, unit)


def _unit(seed: SeedTable, row: str, column: str, figure: Figure | None) -> str:
    if figure is not None and figure.value is not None:
        return figure.corrected_unit
    return seed.units.get(row, seed.units.get(column, ""))


def _published(figure: Figure | None) -> Cell:
    if figure is None:
        return (Quiet(words.NONE),)
    if figure.corrected != figure.value:
        return (figure.put_right, Quiet(f" (printed: {figure.published})"))
    return (figure.put_right,)


def _in(unit: str) -> tuple[float, str]:
    """What to multiply base units with, and what to write after the number."""
    if unit in ("", "count", "errno", "ratio"):
        return 1.0, ""
    factor = 1.0 / UNITS[unit][1]
    return factor, unit if unit in ("%", "x") else f"\N{NO-BREAK SPACE}{unit}"


def _text(value: Value, unit: str) -> Cell:
    """Median and interval, then mean and standard deviation."""
    factor, name = _in(unit)
    shown = value.scaled(factor)
    parts = []
    if shown.interval is not None and shown.interval.low != shown.interval.high:
        parts.append(words.span(shown.interval))
    if shown.mean is not None and shown.sd:
        parts.append(f"mean {words.digits(shown.mean)}, sd {words.digits(shown.sd)}")
    quiet = (Quiet(" (" + "; ".join(parts) + ")"),) if parts else ()
    return (_number(shown.median) + name, *quiet)


def _number(value: float) -> str:
    """Whole numbers whole, everything else with four digits."""
    if value == int(value):
        return words.count(int(value))
    return words.digits(value, 4)


def _deviation(value: Value, unit: str, reasons: _Reasons) -> Cell:
    factor, name = _in(unit)
    if value.sd is None:
        return reasons.mark("one sample has no standard deviation")
    return (words.digits(value.sd * factor) + name,)
