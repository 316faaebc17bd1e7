# SPDX-License-Identifier: BSD-2-Clause
"""A published table with what was measured here beside it, and what the audit says of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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

_MEDIAN, _INTERVAL = "median", "95 %"
_MEAN = "mean\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}sd"


@dataclass(slots=True)
class _Reasons:
    """Why cells are empty, each said once below the table."""

    said: list[str] = field(default_factory=list)

    def mark(self, reason: str) -> Text:
        if reason not in self.said:
            self.said.append(reason)
        return (Quiet(f"{fmt.NONE} [{self.said.index(reason) + 1}]"),)

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
    table = _Cells(seed, lookup, reference, reasons)
    made: list[Block] = [
        Heading(seed.title),
        *(table.tall() if seed.tall else (table.wide(),)),
        *reasons.blocks(),
        Paragraph((Quiet(_source(seed, reference)),)),
    ]
    if findings:
        made.append(Bullets(tuple(said(finding) for finding in findings)))
    return made


@dataclass(slots=True)
class _Cells:
    """The cells of a table, and two ways to lay them out."""

    seed: SeedTable
    lookup: Lookup
    reference: Reference
    why: _Reasons

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
        kinds = {
            "measured": measured,
            "published": published,
            "ratio": {name for name in measured & published if self._is_compared(name)},
        }
        slots = [(name, kind) for name in seed.columns for kind in kinds if name in kinds[kind]]
        columns = [Column(seed.corner, "left")]
        for name, kind in slots:
            alone = kind == "published" and name not in measured
            title = f"{name}: published" if alone else name if kind == "measured" else kind
            columns.append(Column(title))
        rows: list[tuple[Cell, ...]] = []
        for row in seed.rows:
            cells: list[Cell] = [row]
            below: dict[str, list[Cell]] = {_MEDIAN: [], _INTERVAL: [], _MEAN: []}
            for name, kind in slots:
                more: Mapping[str, str] = {}
                if kind == "measured":
                    cell, more = self._measured(row, name)
                    cells.append(cell)
                elif kind == "published":
                    cells.append(_published(self._figure(row, name)))
                else:
                    cells.append(self._ratio(row, name))
                for title, line in below.items():
                    line.append((Quiet(more.get(title, "")),) if kind == "measured" else "")
            rows.append(tuple(cells))
            for title, line in below.items():
                if any(cell and cell != (Quiet(""),) for cell in line):
                    rows.append(((Quiet(f"\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}{title}"),), *line))
        return _units_to_head(columns, rows)

    def tall(self) -> list[Table]:
        """A table for each of the document's columns, with the statistics side by side."""
        seed, published = self.seed, self._published()
        tables = []
        for column in seed.columns:
            titles = ["median", "95 %", "mean", "sd"]
            if column in published:
                titles.append("published")
            if column in published and self._is_compared(column):
                titles.append("ratio")
            rows: list[tuple[Cell, ...]] = []
            for row in seed.rows:
                cells = [row, *self._statistics(row, column)]
                if column in published:
                    cells.append(_published(self._figure(row, column)))
                if "ratio" in titles:
                    cells.append(self._ratio(row, column))
                rows.append(tuple(cells))
            columns = (Column(seed.corner, "left"), *(Column(title) for title in titles))
            caption = column if len(seed.columns) > 1 else ""
            tables.append(Table(columns, tuple(rows), caption))
        return tables

    def _value(self, row: str, column: str) -> Value | Cell:
        """What was measured, or what to write in its place."""
        formula = self.seed.cells.get((row, self.seed.deviations.get(column, column)))
        if formula is None:
            figure = self._figure(row, column)
            if row in self.seed.reasons and figure is not None:
                return self.why.mark(self.seed.reasons[row])
            if figure is None or figure.value is None:
                return ""
            return self.why.mark("a statement of the document; nothing to measure")
        try:
            return formula(self.lookup)
        except NotKnown as why:
            return self.why.mark(str(why))

    def _quotient(self, row: str, column: str) -> float | None:
        """What was measured, as a multiple of what was published. None where there is no number,
        and for times of an emulated board, which say nothing beside those of hardware."""
        figure = self._figure(row, column)
        if figure is None or figure.value is None or figure.base.mid <= 0:
            return None
        if column in self.seed.deviations:
            return None  # how much two boards scatter isn't compared
        timed = UNITS[figure.corrected_unit][0] in ("time", "rate", "time per byte")
        if timed and self.lookup.subject.emulated and not figure.document.emulated:
            return None
        value = self._value(row, column)
        if not isinstance(value, Value):
            return None
        is_mean = column in self.seed.deviations.values() and value.mean is not None
        return (value.mean if is_mean else value.median) / figure.base.mid  # type: ignore[operator]

    def _is_compared(self, column: str) -> bool:
        return any(self._quotient(row, column) is not None for row in self.seed.rows)

    def _ratio(self, row: str, column: str) -> Cell:
        quotient = self._quotient(row, column)
        if quotient is None:
            return (Quiet(fmt.NONE),)
        return f"{fmt.digits(quotient)}{fmt.TIMES}"

    def _unit(self, row: str, column: str) -> str:
        figure = self._figure(row, column)
        if figure is not None and figure.value is not None:
            return figure.corrected_unit
        return self.seed.units.get(row, self.seed.units.get(column, ""))

    def _measured(self, row: str, column: str) -> tuple[Cell, Mapping[str, str]]:
        """Median, mean or deviation, and what stands below it. A column whose deviations have a
        column of their own is one of means."""
        value = self._value(row, column)
        if not isinstance(value, Value):
            return value, {}
        unit = self._unit(row, column)
        if column in self.seed.deviations:
            if value.sd is None:
                return self.why.mark("one sample has no standard deviation"), {}
            factor, name = unit_for(unit)
            return (fmt.digits(value.sd * factor) + name,), {}
        factor, name = unit_for(unit)
        shown = value * factor
        more = {_INTERVAL: fmt.span(shown.interval) if _is_wide(shown) else ""}
        if shown.mean is None or not shown.sd:
            return (number(shown.median) + name,), more
        if column in self.seed.deviations.values():
            return (number(shown.mean) + name,), more | {_MEDIAN: number(shown.median)}
        more[_MEAN] = f"{fmt.digits(shown.mean)} ± {fmt.digits(shown.sd)}"
        return (number(shown.median) + name,), more

    def _statistics(self, row: str, column: str) -> list[Cell]:
        value = self._value(row, column)
        if not isinstance(value, Value):
            return [value, "", "", ""]
        factor, name = unit_for(self._unit(row, column))
        shown = value * factor
        return [
            number(shown.median) + name,
            (Quiet(fmt.span(shown.interval) if _is_wide(shown) else ""),),
            number(shown.mean) if shown.mean is not None else "",
            fmt.digits(shown.sd) if shown.sd is not None else "",
        ]


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


def _is_wide(value: Value) -> bool:
    return value.interval is not None and value.interval.low != value.interval.high


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


def _published(figure: Figure | None) -> Cell:
    if figure is None:
        return (Quiet(fmt.NONE),)
    shown = _LONG.sub(lambda match: fmt.count(int(match.group())), figure.put_right)
    if figure.corrected != figure.value:
        return (shown, Quiet(f" (printed: {figure.published})"))
    return (shown,)


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
