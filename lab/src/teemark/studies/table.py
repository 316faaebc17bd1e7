# SPDX-License-Identifier: BSD-2-Clause
"""A published table with what was measured here beside it, and what the audit says of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from teemark.base import fmt
from teemark.base.finding import Finding
from teemark.page.blocks import (
    Bar,
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
from teemark.reference.data import Figure, Reference
from teemark.reference.units import UNITS
from teemark.studies.declared import SeedTable
from teemark.studies.measured import Lookup, NotKnown, Value

_LONG = re.compile(r"(?<![.\w])\d{5,}(?=\.\d|(?!\.?\w))")
"""Numbers whose thousands are set apart; decimals stay as they were printed, and so do names such
as 48310000.rng."""

_LAST = re.compile(r"\s(?=\S+$)")
"""The space before the last word."""

_MEAN = "mean\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}sd"


def blocks(
    seed: SeedTable, lookup: Lookup, reference: Reference, findings: Sequence[Finding]
) -> list[Block]:
    """Heading, table, reasons, source and findings."""
    cells = _Cells(seed, lookup, reference)
    tables = cells.tall() if seed.tall else [cells.wide()]
    reasons = tuple((f"[{number}] {why}.",) for number, why in enumerate(cells.reasons, 1))
    said_ = tuple(said(finding) for finding in findings)
    source = Paragraph((Quiet(_source(seed, reference)),))
    bullets = [[Bullets(items)] if items else [] for items in (reasons, said_)]
    return [Heading(seed.title), *tables, *bullets[0], source, *bullets[1]]


@dataclass(slots=True)
class _Cells:
    """The cells of a table, and two ways to lay them out."""

    seed: SeedTable
    lookup: Lookup
    reference: Reference
    reasons: list[str] = field(default_factory=list)
    """Why cells are empty, each said once below the table."""

    def _why(self, reason: str) -> Text:
        if reason not in self.reasons:
            self.reasons.append(reason)
        return (Quiet(f"{fmt.NONE} [{self.reasons.index(reason) + 1}]"),)

    def _published(self) -> set[str]:
        figures = self.reference.table(self.seed.document, self.seed.table)
        return {figure.column for figure in figures}

    def _figure(self, row: str, column: str) -> Figure | None:
        return self.reference.find(self.seed.document, self.seed.table, row, column)

    def wide(self) -> Table:
        """The document's columns, each measured and published."""
        seed, published = self.seed, self._published()
        measured = {*(column for _, column in seed.cells), *seed.deviations}
        if not measured and seed.reasons:
            measured = set(seed.columns)  # each cell says why it is empty
        slots: list[tuple[str, Callable[[str, str], list[Cell]]]] = []
        columns = [Column(seed.corner, "left")]
        for name in seed.columns:
            alone = f"{name}: published" if name not in measured else "published"
            for title, there, cell in (
                (name, name in measured, self._measured),
                (alone, name in published, self._as_published),
                ("ratio", name in measured & published and self._is_compared(name), self._ratio),
            ):
                if there:
                    slots.append((name, cell))
                    columns.append(Column(title))
        rows: list[tuple[Cell, ...]] = []
        for row in seed.rows:
            cells = [cell(row, name) for name, cell in slots]
            rows.append((row, *(cell[0] for cell in cells)))
            for place, title in enumerate(("median", "95 %", _MEAN), 1):
                line: list[Cell] = [
                    "" if len(cell) == 1 else (Quiet(str(cell[place])),) for cell in cells
                ]
                if any(cell not in ("", (Quiet(""),)) for cell in line):
                    rows.append(((Quiet(f"\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}{title}"),), *line))
        return _units_to_head(columns, rows)

    def tall(self) -> list[Table]:
        """A table for each of the document's columns, with the statistics side by side."""
        seed, published = self.seed, self._published()
        tables = []
        for column in seed.columns:
            titles = ["median", "95 %", "mean", "sd"]
            more: list[Callable[[str, str], list[Cell]]] = [self._statistics]
            if column in published:
                titles.append("published")
                more.append(self._as_published)
            if column in published and self._is_compared(column):
                titles.append("ratio")
                more.append(self._ratio)
            rows = [(row, *(cell for of in more for cell in of(row, column))) for row in seed.rows]
            columns = (Column(seed.corner, "left"), *map(Column, titles))
            tables.append(Table(columns, tuple(rows), column if len(seed.columns) > 1 else ""))
        return tables

    def _value(self, row: str, column: str) -> Value | Cell:
        """What was measured, or what to write in its place."""
        formula = self.seed.cells.get((row, self.seed.deviations.get(column, column)))
        figure = self._figure(row, column)
        try:
            if formula is not None:
                return formula(self.lookup)
        except NotKnown as why:
            return self._why(str(why))
        if figure is not None and row in self.seed.reasons:
            return self._why(self.seed.reasons[row])
        if figure is None or figure.value is None:
            return ""
        return self._why("a statement of the document; nothing to measure")

    def _quotient(self, row: str, column: str) -> float | None:
        """What was measured, as a multiple of what was published. None where there is no number,
        of deviations, and for times of an emulated board, which say nothing beside those of
        hardware."""
        figure, deviations = self._figure(row, column), self.seed.deviations
        if figure is None or figure.value is None or figure.base.mid <= 0 or column in deviations:
            return None
        timed = UNITS[figure.corrected_unit][0] in ("time", "rate", "time per byte")
        if timed and self.lookup.subject.emulated and not figure.document.emulated:
            return None
        value = self._value(row, column)
        if not isinstance(value, Value):
            return None
        mean = value.mean if column in deviations.values() else None
        return (value.median if mean is None else mean) / figure.base.mid

    def _is_compared(self, column: str) -> bool:
        return any(self._quotient(row, column) is not None for row in self.seed.rows)

    def _ratio(self, row: str, column: str) -> list[Cell]:
        quotient = self._quotient(row, column)
        return [(Quiet(fmt.NONE),) if quotient is None else f"{fmt.digits(quotient)}{fmt.TIMES}"]

    def _as_published(self, row: str, column: str) -> list[Cell]:
        figure = self._figure(row, column)
        if figure is None:
            return [(Quiet(fmt.NONE),)]
        shown = _LONG.sub(lambda match: fmt.count(int(match.group())), figure.put_right)
        if figure.corrected != figure.value:
            return [(shown, Quiet(f" (printed: {figure.published})"))]
        return [(shown,)]

    def _shown(self, row: str, column: str) -> tuple[Value, str] | Cell:
        """The value in the document's unit and that unit, or what to write in its place."""
        value, figure = self._value(row, column), self._figure(row, column)
        if not isinstance(value, Value):
            return value
        unit = self.seed.units.get(row, self.seed.units.get(column, ""))
        if figure is not None and figure.value is not None:
            unit = figure.corrected_unit
        factor, name = unit_for(unit)
        return value * factor, name

    def _measured(self, row: str, column: str) -> list[Cell]:
        """Median, mean or deviation, and what stands below it: median, interval, mean with
        deviation. A column whose deviations have a column of their own is one of means."""
        shown = self._shown(row, column)
        if not isinstance(shown, tuple) or not isinstance(shown[0], Value):
            return [shown, "", "", ""]
        value, unit = shown
        if column in self.seed.deviations:
            if value.sd is None:
                return [self._why("one sample has no standard deviation"), "", "", ""]
            return [(fmt.digits(value.sd) + unit,), "", "", ""]
        if value.mean is None or not value.sd:
            return [(number(value.median) + unit,), "", _interval(value), ""]
        if column in self.seed.deviations.values():
            return [(number(value.mean) + unit,), number(value.median), _interval(value), ""]
        mean = f"{fmt.digits(value.mean)} ± {fmt.digits(value.sd)}"
        return [(number(value.median) + unit,), "", _interval(value), mean]

    def _statistics(self, row: str, column: str) -> list[Cell]:
        shown = self._shown(row, column)
        if not isinstance(shown, tuple) or not isinstance(shown[0], Value):
            return [shown, "", "", ""]
        value, unit = shown
        mean = number(value.mean) if value.mean is not None else ""
        sd = fmt.digits(value.sd) if value.sd is not None else ""
        return [number(value.median) + unit, (Quiet(_interval(value)),), mean, sd]


def _interval(value: Value) -> str:
    wide = value.interval is not None and value.interval.low != value.interval.high
    return fmt.span(value.interval) if wide else ""


def _units_to_head(columns: Sequence[Column], rows: Sequence[tuple[Cell, ...]]) -> Table:
    """A unit that all cells of a column have stands once, in its head: that makes tables narrow
    enough to be seen whole."""
    heads, cells = list(columns), [list(row) for row in rows]
    for index in range(1, len(heads)):
        texts = [_only_text(row[index]) for row in cells]
        units = {_LAST.split(text)[-1] for text in texts if text}
        if None in texts or len(units) != 1 or not units <= UNITS.keys():
            continue
        (unit,) = units
        if f"({unit})".lower() not in heads[index].title.lower():
            heads[index] = replace(heads[index], unit=unit)
        for row, text in zip(cells, texts, strict=True):
            if text:
                row[index] = _LAST.split(text)[0]
    return Table(tuple(heads), tuple(tuple(row) for row in cells))


def _only_text(cell: Cell) -> str | None:
    """What a cell says when it is plain text; empty for what stands in the place of a value, or
    below one; None for anything else."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Bar):
        return None
    pieces = [piece for piece in cell if not isinstance(piece, Quiet)]
    if not pieces:
        return ""
    (piece, *more) = pieces
    return piece if isinstance(piece, str) and not more and len(cell) == 1 else None


def said(finding: Finding) -> Text:
    rule = finding.key.replace("-", " ").capitalize().replace("Openssl", "OpenSSL")
    return (Strong(f"{rule}:"), f" {finding.claim}")


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


def unit_for(unit: str) -> tuple[float, str]:
    """What to multiply base units with, and what to write after the number: the document's unit in
    all cells of a row or column, so that they can be compared."""
    if unit in ("", "count", "errno", "ratio"):
        return 1.0, ""
    return 1.0 / UNITS[unit][1], unit if unit in ("%", "x") else f"\N{NO-BREAK SPACE}{unit}"


def number(value: float) -> str:
    """Whole numbers whole, everything else with four digits."""
    if value == int(value):
        return fmt.count(int(value))
    return fmt.digits(value, 4)
