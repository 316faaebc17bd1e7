# SPDX-License-Identifier: BSD-2-Clause
"""A published table with what was measured here beside it, and what the audit says of it."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from teemark.base import fmt
from teemark.base.finding import Finding
from teemark.page.blocks import (
    Block,
    Bullets,
    Cell,
    Column,
    Fold,
    Paragraph,
    Quiet,
    Strong,
    Table,
    Text,
)
from teemark.reference.data import Published, Reference
from teemark.reference.units import UNITS
from teemark.studies.declared import SeedTable
from teemark.studies.measured import Lookup, NotKnown, Value

_LONG = re.compile(r"(?<![.\w])\d{5,}(?=\.\d|(?!\.?\w))")
"""Numbers whose thousands are set apart; decimals stay as they were printed, and so do names such
as 48310000.rng."""

_MEAN = "mean\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}sd"

_GLUED = ("%", "x")
"""Units that are written without a space, and stay beside their number."""


def blocks(
    seed: SeedTable, lookup: Lookup, reference: Reference, findings: Sequence[Finding]
) -> list[Block]:
    """Returns what the document has under a title, closed: tables, reasons, source and findings."""
    cells = _Cells(seed, lookup, reference)
    tables = [cells.tall(name) for name in seed.columns] if seed.tall else [cells.wide()]
    reasons = tuple((f"[{number}] {why}.",) for number, why in enumerate(cells.reasons, 1))
    said_ = tuple(said(finding) for finding in findings)
    source = Paragraph((Quiet(_source(seed, reference)),))
    bullets = [[Bullets(items)] if items else [] for items in (reasons, said_)]
    note = f"{fmt.plural(len(said_), 'contradiction')} of its own" if said_ else "beside this run"
    return [Fold(seed.title, note, (*tables, *bullets[0], source, *bullets[1]))]


@dataclass(slots=True)
class _Cells:
    """The cells of a table, and two ways to lay them out."""

    seed: SeedTable
    lookup: Lookup
    reference: Reference
    reasons: list[str] = field(default_factory=list)
    """Why cells are empty, each said once below the table."""
    apart: bool = False
    """Units don't stand in the cells but in the heads, or in a column of their own."""

    def _why(self, reason: str) -> Text:
        if reason not in self.reasons:
            self.reasons.append(reason)
        return (Quiet(f"{fmt.NONE} [{self.reasons.index(reason) + 1}]"),)

    def _figure(self, row: str, column: str) -> Published | None:
        return self.reference.find(self.seed.document, self.seed.table, row, column)

    def _unit(self, row: str, column: str) -> str:
        """Returns the document's unit of a cell; of one that it hasn't printed, or has words in,
        what its row or column is declared to be. "text" where there is no number."""
        figure, units = self._figure(row, column), self.seed.units
        if figure is not None and (figure.corrected_unit != "text" or row not in units):
            return figure.corrected_unit
        there = self.seed.cells.get((row, self.seed.deviations.get(column, column)))
        return units.get(row, units.get(column, "count" if there is not None else "text"))

    def _laid_out(self, names: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
        """Takes units out of the cells: returns the unit of each column, or of each row, if each of
        them has one."""
        rows, units, words = self.seed.rows, {}, set()
        for row in rows:
            for name in names:
                if (unit := self._unit(row, name)) not in ("text", *_GLUED):
                    units[row, name] = unit_for(unit)[1].strip()
                elif unit == "text" and self._figure(row, name) is not None:
                    words.add(name)  # a head's unit would be that of words, too
        by_column = {name: {u for (_, of), u in units.items() if of == name} for name in names}
        by_column |= {name: {*by_column[name], ""} for name in words if by_column[name]}
        by_row = {row: {u for (of, _), u in units.items() if of == row} for row in rows}
        for found in (by_column, by_row):
            if all(len(one) < 2 for one in found.values()):
                self.apart = True
                made = {name: "".join(one) for name, one in found.items()}
                return (made, {}) if found is by_column else ({}, made)
        self.apart = False
        return {}, {}

    def _table(
        self,
        names: Sequence[str],
        columns: Sequence[tuple[Column, str]],
        rows: Callable[[str], list[list[Cell]]],
        caption: str = "",
    ) -> Table:
        """Returns a table whose units stand in the heads of its columns, or in a column. Each of
        `columns` has the name of the document's column that it is of; "" for one of ratios."""
        heads, units = self._laid_out(names)
        with_unit = any(units.values())
        titles = [Column(self.seed.corner, "left"), *[Column("unit", "left")][:with_unit]]
        for column, name in columns:
            unit = heads.get(name, "")
            there = f"({unit})".lower() in column.title.lower()
            titles.append(Column(column.title, unit="" if there else unit))
        lines: list[tuple[Cell, ...]] = []
        for row in self.seed.rows:
            for line in rows(row):
                unit = units.get(row, "") if line[0] == row else ""
                lines.append((line[0], *[unit][:with_unit], *line[1:]))
        return Table(tuple(titles), tuple(lines), caption, stacked=True)

    def _columns(self, name: str, measured: bool) -> dict[str, Callable[[str, str], list[Cell]]]:
        """Returns the columns beside a measured one: the published figures, and the ratio."""
        document = {one.column for one in self.reference.table(self.seed.document, self.seed.table)}
        ratios = [self._quotient(row, name) for row in self.seed.rows] if measured else []
        made: dict[str, Callable[[str, str], list[Cell]]] = {}
        if name in document:
            made["published" if measured else f"{name}: published"] = self._as_published
        if any(ratio is not None for ratio in ratios):
            made["ratio"] = self._ratio
        return made

    def wide(self) -> Table:
        """Returns a table of the document's columns, each measured and published."""
        seed = self.seed
        measured = {*(column for _, column in seed.cells), *seed.deviations}
        if not measured and seed.reasons:
            measured = set(seed.columns)  # each cell says why it is empty
        slots = [
            (name, title, cell)
            for name in seed.columns
            for title, cell in (({name: self._measured} if name in measured else {})
                                | self._columns(name, name in measured)).items()
        ]  # fmt: skip

        def rows(row: str) -> list[list[Cell]]:
            cells = [cell(row, name) for name, _, cell in slots]
            lines: list[list[Cell]] = [[row, *(cell[0] for cell in cells)]]
            for place, title in enumerate(("median", "95 %", _MEAN), 1):
                texts = [str(cell[place]) if len(cell) > 1 else "" for cell in cells]
                if any(texts):
                    name = (Quiet(f"\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}{title}"),)
                    lines.append([name, *((Quiet(text),) if text else "" for text in texts)])
            return lines

        columns = [(Column(title), "" if title == "ratio" else name) for name, title, _ in slots]
        return self._table(seed.columns, columns, rows)

    def tall(self, name: str) -> Table:
        """Returns a table for one of the document's columns, with the statistics side by side."""
        more = self._columns(name, measured=True)
        titles = [*("median", "95 %", "mean", "sd"), *more]
        columns = [(Column(title), "" if title == "ratio" else name) for title in titles]

        def rows(row: str) -> list[list[Cell]]:
            return [
                [row, *self._statistics(row, name), *(of(row, name)[0] for of in more.values())]
            ]

        return self._table([name], columns, rows, name if len(self.seed.columns) > 1 else "")

    def _value(self, row: str, column: str) -> Value | Cell:
        """Returns what was measured, or what to write in its place."""
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
        """Returns the measured figure as a multiple of the published one: None where there is no
        number, where one is a loss and the other a gain, of deviations, and for times of an
        emulated board beside those of hardware."""
        figure, deviations = self._figure(row, column), self.seed.deviations
        if figure is None or figure.value is None or figure.base.mid <= 0 or column in deviations:
            return None
        timed = UNITS[figure.corrected_unit][0] in ("time", "rate", "time per byte")
        if timed and self.lookup.subject.run.emulated and not figure.document.emulated:
            return None
        value = self._value(row, column)
        if not isinstance(value, Value):
            return None
        mean = value.mean if column in deviations.values() else None
        measured = value.median if mean is None else mean
        return measured / figure.base.mid if measured >= 0 else None

    def _ratio(self, row: str, column: str) -> list[Cell]:
        quotient = self._quotient(row, column)
        return [(Quiet(fmt.NONE),) if quotient is None else f"{fmt.digits(quotient)}{fmt.TIMES}"]

    def _as_published(self, row: str, column: str) -> list[Cell]:
        figure = self._figure(row, column)
        if figure is None:
            return [(Quiet(fmt.NONE),)]
        text = figure.put_right
        if self.apart and figure.corrected_unit not in _GLUED:
            text = text.replace(f" {figure.corrected_unit}", "")
        shown = _LONG.sub(lambda match: fmt.count(int(match.group())), text)
        printed = f" (printed: {figure.published})" if figure.corrected != figure.value else ""
        return [(shown, Quiet(printed)) if printed else (shown,)]

    def _shown(self, row: str, column: str) -> tuple[Value, str] | Cell:
        """Returns the value in the document's unit with what to write behind it, or what to write
        in its place."""
        value = self._value(row, column)
        if not isinstance(value, Value):
            return value
        factor, name = unit_for(self._unit(row, column))
        return value * factor, name if not self.apart or name in _GLUED else ""

    def _measured(self, row: str, column: str) -> list[Cell]:
        """Returns median, mean or deviation, and what stands below it: median, interval, mean with
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
    shown = fmt.span(value.interval) if value.interval is not None else ""
    return shown if fmt.TO in shown else ""  # narrower than what is printed


def said(finding: Finding) -> Text:
    rule = finding.key.replace("-", " ").capitalize().replace("Openssl", "OpenSSL")
    return (Strong(f"{rule}:"), f" {finding.claim}")


def _source(seed: SeedTable, reference: Reference) -> str:
    """Returns where the published figures are from, which units were put right, and the table's
    note."""
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
    """Returns the factor of base units, and what to write after the number: the document's unit in
    all cells of a row or column, so that they can be compared."""
    if unit in ("", "text", "count", "errno", "ratio"):
        return 1.0, ""
    return 1.0 / UNITS[unit][1], unit if unit in ("%", "x") else f"\N{NO-BREAK SPACE}{unit}"


def number(value: float) -> str:
    """Writes whole numbers whole, and everything else with four digits."""
    if value == int(value):
        return fmt.count(int(value))
    return fmt.digits(value, 4)
