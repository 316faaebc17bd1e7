# SPDX-License-Identifier: BSD-2-Clause
"""A published table with this run's values beside it, and the audit's findings on it."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from teemark.base.finding import Finding
from teemark.model.stats import Unlike
from teemark.page import blocks as page
from teemark.reference.data import Published, Reference
from teemark.reference.units import UNITS
from teemark.studies.declared import SeedTable
from teemark.studies.formula import Formula
from teemark.studies.measured import Lookup, NotKnown, Value, published
from teemark.wording import fmt

_LONG = re.compile(r"(?<![.\w])\d{5,}(?=\.\d|(?!\.?\w))")
"""Numbers whose thousands are set apart: five digits or more before the point. Names such as
48310000.rng stay as printed."""

_MEAN = "mean\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}sd"

_GLUED = ("%", "x")  # Units that are written without a space and always stay with their number

_COUNTED = {"time": "instructions", "time per byte": "instructions/B", "rate": "instructions/B"}
"""Units that replace those of a document's dimension on a board that counts instructions."""


def blocks(
    seed: SeedTable, lookup: Lookup, reference: Reference, findings: Sequence[Finding]
) -> list[page.Block]:
    """Returns a folded block of the report for one table: cells, reasons, source and findings."""
    cells = _Cells(seed, lookup, reference)
    if not seed.tall:
        tables = [cells.table(tuple(seed.columns))]
    else:
        tables = [cells.table([name], name * (len(seed.columns) > 1)) for name in seed.columns]
    reasons = tuple((f"[{number}] {why}.",) for number, why in enumerate(cells.reasons, 1))
    claims = tuple(bullet(finding) for finding in findings)
    source = page.Paragraph((page.Quiet(_source(seed, reference)),))
    bullets = [[page.Bullets(items)] if items else [] for items in (reasons, claims)]
    note = f"{fmt.plural(len(claims), 'contradiction')} of its own" if claims else "beside this run"
    return [page.Fold(seed.title, note, (*tables, *bullets[0], source, *bullets[1]))]


@dataclass(slots=True)
class _Cells:
    """Makes the cells of a table; collects the reasons for empty ones."""

    seed: SeedTable
    lookup: Lookup
    reference: Reference
    reasons: list[str] = field(default_factory=list)
    """Why cells are empty; each reason is listed once below the table."""
    apart: bool = False  # Units stand in the headings or in a column of their own, not in the cells
    counted: set[tuple[str, str]] = field(default_factory=set)
    """Cells of instructions whose heading or row says so."""

    def _why(self, reason: str) -> page.Text:
        if reason not in self.reasons:
            self.reasons.append(reason)
        return (page.Quiet(f"{fmt.NONE} [{self.reasons.index(reason) + 1}]"),)

    def _figure(self, row: str, column: str) -> Published | None:
        return self.reference.figures.get((self.seed.document, self.seed.table, row, column))

    def _unit(self, row: str, column: str) -> str:
        """Returns the unit of a cell: the document's, or, if it printed none or words, the unit
        declared for the row or column; "text" if there is no number."""
        figure, declared = self._figure(row, column), self.seed.rows[row].unit
        if figure is not None and (figure.corrected_unit != "text" or not declared):
            return figure.corrected_unit
        column_unit = self.seed.columns[column].unit
        return declared or column_unit or ("count" if self._formula(row, column) else "text")

    def _instructions(self, row: str, column: str) -> str:
        """Returns the unit of a cell that was counted where the document has a time or a rate; ""
        for any other cell."""
        value, unit = self._value(row, column), self._unit(row, column)
        if not isinstance(value, Value) or value.estimate.kind != "counted":
            return ""
        return _COUNTED.get(UNITS[unit][0], "") if unit in UNITS else ""

    def _counted_by(self, cells: Iterable[tuple[str, str]]) -> str:
        """Returns the unit of a row or column if all its measured cells are instructions."""
        measured = [cell for cell in cells if isinstance(self._value(*cell), Value)]
        units = {self._instructions(*cell) for cell in measured}
        if len(units) != 1 or units == {""}:
            return ""
        self.counted.update(measured)
        return units.pop()

    def _formula(self, row: str, column: str) -> Formula | None:
        """Returns the formula of a cell; for a deviation, that of the column that it belongs to."""
        return self.seed.cells.get((row, self.seed.columns[column].sd_of or column))

    def _laid_out(self, names: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
        """Moves units out of the cells if each column, or else each row, has a single unit; returns
        the units of the columns and of the rows."""
        rows, units, words = self.seed.rows, {}, set()
        for row in rows:
            for name in names:
                if (unit := self._unit(row, name)) not in ("text", *_GLUED):
                    units[row, name] = unit_for(unit)[1].strip()
                elif unit == "text" and self._figure(row, name) is not None:
                    words.add(name)  # the heading's unit would also apply to the words
        by_column = {name: {u for (_, line), u in units.items() if line == name} for name in names}
        by_column |= {name: {*by_column[name], ""} for name in words if by_column[name]}
        by_row = {row: {u for (line, _), u in units.items() if line == row} for row in rows}
        for by_line in (by_column, by_row):
            if all(len(line_units) < 2 for line_units in by_line.values()):
                self.apart = True
                heads = {name: "".join(line_units) for name, line_units in by_line.items()}
                return (heads, {}) if by_line is by_column else ({}, heads)
        self.apart = False
        return {}, {}

    def table(self, names: Sequence[str], caption: str = "") -> page.Table:
        """Returns a table of these columns of the document, each as measured and as published. The
        units stand in the headings, or in a column of their own."""
        slots = [slot for name in names for slot in self._slots(name)]
        heads, units = self._laid_out(names)
        with_unit = any(units.values())
        titles = [page.Column(self.seed.corner, "left"), *[page.Column("unit", "left")][:with_unit]]
        self.counted.clear()
        for row, unit in units.items():
            if unit and (counted := self._counted_by((row, name) for name in names)):
                units[row] = f"{counted}; published: {unit}"
        for name, title, _ in slots:
            unit = heads.get(name, "") if title != "ratio" else ""
            in_title = f"({unit})".lower() in title.lower()
            ours = bool(unit) and "published" not in title
            if ours and (counted := self._counted_by((row, name) for row in self.seed.rows)):
                plain = title.rpartition(" (")[0] if in_title else title
                titles.append(page.Column(f"{plain} ({counted})"))
                continue
            titles.append(page.Column(title, unit="" if in_title else unit))
        lines: list[tuple[page.Cell, ...]] = []
        for row in self.seed.rows:
            cells = [cell(row, name) for name, _, cell in slots]
            lines.append((row, *[units.get(row, "")][:with_unit], *(cell[0] for cell in cells)))
            for place, statistic in enumerate(("median", "95 %", _MEAN), 1):
                texts = [str(cell[place]) if len(cell) > 1 else "" for cell in cells]
                if any(texts):
                    head = (page.Quiet(f"\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}{statistic}"),)
                    below = ((page.Quiet(text),) if text else "" for text in texts)
                    lines.append((head, *[""][:with_unit], *below))
        return page.Table(tuple(titles), tuple(lines), caption, stacked=True)

    def _slots(self, name: str) -> list[tuple[str, str, Callable[[str, str], list[page.Cell]]]]:
        """Returns the table's columns for one column of the document, each with title and cells:
        the measured (one per statistic in a tall table), the published, and the ratio."""
        seed, slots = self.seed, list[tuple[str, str, Callable[[str, str], list[page.Cell]]]]()
        empty = not seed.cells and any(row.why for row in seed.rows.values())  # each cell says why
        measured = seed.tall or empty or any(self._formula(row, name) for row in seed.rows)
        if seed.tall:
            for place, title in enumerate(("median", "95 %", "mean", "sd")):
                slots.append((name, title, partial(self._statistic, place)))
        elif measured:
            slots.append((name, name, self._measured))
        if name in {figure.column for figure in self.reference.table(seed.document, seed.table)}:
            title = "published" if measured else f"{name}: published"
            slots.append((name, title, self._as_published))
        ratios = [self._quotient(row, name) for row in seed.rows] if measured else []
        if any(ratio is not None for ratio in ratios):
            slots.append((name, "ratio", self._ratio))
        return slots

    def _statistic(self, place: int, row: str, column: str) -> list[page.Cell]:
        return [self._measured(row, column)[place]]

    def _of_means(self, name: str) -> bool:
        return any(column.sd_of == name for column in self.seed.columns.values())

    def _value(self, row: str, column: str) -> Value | page.Cell:
        formula, figure = self._formula(row, column), self._figure(row, column)
        try:
            if formula is not None:
                return formula(self.lookup)
        except NotKnown as why:
            return self._why(str(why))
        if figure is not None and self.seed.rows[row].why:
            return self._why(self.seed.rows[row].why)
        if figure is None or figure.value is None:
            return ""
        return self._why("a statement of the document; nothing to measure")

    def _quotient(self, row: str, column: str) -> float | None:
        """Returns measured ÷ published. Returns None for standard deviations, if either isn't a
        number, if only one is negative, and if the two have no common measure."""
        figure, deviation = self._figure(row, column), self.seed.columns[column].sd_of
        if figure is None or figure.value is None or figure.base.mid <= 0 or deviation:
            return None
        value = self._value(row, column)
        if not isinstance(value, Value):
            return None
        mean = value.mean if self._of_means(column) else None
        shown = value.median if mean is None else mean
        try:
            ratio = Value(replace(value.estimate, value=shown)) / published(figure)
        except (NotKnown, Unlike):
            return None
        return ratio.median if shown >= 0 else None

    def _ratio(self, row: str, column: str) -> list[page.Cell]:
        if (quotient := self._quotient(row, column)) is None:
            return [(page.Quiet(fmt.NONE),)]
        return [f"{fmt.digits(quotient)}{fmt.TIMES}"]

    def _as_published(self, row: str, column: str) -> list[page.Cell]:
        figure = self._figure(row, column)
        if figure is None:
            return [(page.Quiet(fmt.NONE),)]
        text = figure.put_right
        if self.apart and figure.corrected_unit not in _GLUED:
            text = text.replace(f" {figure.corrected_unit}", "")
        shown = _LONG.sub(lambda match: fmt.count(int(match.group())), text)
        printed = f" (printed: {figure.published})" if figure.corrected != figure.value else ""
        return [(shown, page.Quiet(printed)) if printed else (shown,)]

    def _measured(self, row: str, column: str) -> list[page.Cell]:
        """Returns four cells, in the document's unit. In a tall table: median, interval, mean and
        deviation; otherwise the median, mean or deviation, and the three lines below it."""
        value = self._value(row, column)
        if not isinstance(value, Value):
            return [value, "", "", ""]
        factor, name = unit_for(self._unit(row, column))
        unit = name if not self.apart or name in _GLUED else ""
        write: Callable[[float], str] = number
        if counted := self._instructions(row, column):
            rate = UNITS[self._unit(row, column)][0] == "rate"
            value, write = 1e9 / value if rate else value * 1e9, fmt.instructions
            unit = "" if (row, column) in self.counted else f"\N{NO-BREAK SPACE}{counted}"
        else:
            value *= factor
            unit += ", waits" if value.estimate.kind == "waited" else ""
        median, interval = write(value.median), _interval(value)
        mean = write(value.mean) if value.mean is not None else ""
        sd = fmt.digits(value.sd) if value.sd is not None else ""
        if self.seed.tall:
            return [median + unit, (page.Quiet(interval),), mean, sd]
        if self.seed.columns[column].sd_of:
            why = self._why("one sample has no standard deviation") if not sd else ""
            return [why or (sd + unit,), "", "", ""]
        if value.mean is None or not value.sd:
            return [(median + unit,), "", interval, ""]
        if self._of_means(column):
            return [(mean + unit,), median, interval, ""]
        return [(median + unit,), "", interval, f"{fmt.digits(value.mean)} ± {sd}"]


def _interval(value: Value) -> str:
    shown = fmt.span(value.interval) if value.interval is not None else ""
    return shown if fmt.TO in shown else ""  # narrower than the printed digits


def bullet(finding: Finding) -> page.Text:
    rule = finding.key.replace("-", " ").capitalize().replace("Openssl", "OpenSSL")
    return (page.Strong(f"{rule}:"), f" {finding.claim}")


def _source(seed: SeedTable, reference: Reference) -> str:
    """Returns where the published figures are from, which units were corrected, and the table's
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
    """Returns the factor from base units to the document's unit, and the text behind the number.
    All cells of a row or column use this unit, so that they can be compared."""
    if unit in ("", "text", "count", "errno", "ratio"):
        return 1.0, ""
    return 1.0 / UNITS[unit][1], unit if unit in ("%", "x") else f"\N{NO-BREAK SPACE}{unit}"


def number(value: float) -> str:
    """Writes whole numbers in full, and all others with four significant digits."""
    if value == int(value):
        return fmt.count(int(value))
    return fmt.digits(value, 4)
