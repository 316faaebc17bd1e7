# SPDX-License-Identifier: BSD-2-Clause
"""The declarations in reference/DOCUMENT.toml: which tables, rows and columns a report has, and
by which formula each cell is measured. docs/reference.md tells how to write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from msgspec import Struct, field

from teemark import paths
from teemark.checked import Wrong, once, parse_toml, read_text
from teemark.errors import ConfigError
from teemark.report.seed_tables.formula import Formula

Names = dict[str, str]


@dataclass(frozen=True, slots=True)
class SeedTable:
    """One table of a document.

    `cells` gives the formula of each measured cell by row and column. A column in `deviations`
    shows the standard deviation of the column that it names. `units`, by row or column, are for
    cells with no published number. A `tall` table has a column for each statistic.
    """

    document: str
    table: str
    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Mapping[tuple[str, str], Formula]
    deviations: Mapping[str, str]
    units: Mapping[str, str]
    note: str
    corner: str
    tall: bool


class _Row(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    measured: str | Names = ""
    unit: str = ""
    words: Names = field(name="with", default_factory=dict)


class _Column(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    measured: str = ""
    unit: str = ""
    words: Names = field(name="with", default_factory=dict)
    sd_of: str = ""


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    table: str
    title: str
    rows: tuple[str | _Row, ...]
    columns: tuple[str | _Column, ...]
    corner: str = "metric"
    tall: bool = False
    measured: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        rows, columns = (tuple(map(_name, lines)) for lines in (self.rows, self.columns))
        once("rows", rows)
        once("columns", columns)
        for column in self.columns:
            if isinstance(column, _Column) and column.sd_of not in (*columns, ""):
                raise Wrong(f"sd_of: there is no column {column.sd_of!r}", key="columns")


def _name(line: str | _Row | _Column) -> str:
    return line if isinstance(line, str) else line.name


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    tables: tuple[_Table, ...]
    let: Names = {}


def load(document: str) -> tuple[SeedTable, ...]:
    path = paths.reference() / f"{document}.toml"
    file: _File = parse_toml(read_text(path), _File, str(path))
    words: Names = {}
    for name, text in file.let.items():
        words[name] = _filled(text, words, f"{path}: let.{name}")
    return tuple(_table(one, document, words, str(path)) for one in file.tables)


def _table(declared: _Table, document: str, words: Names, file: str) -> SeedTable:
    rows = [_Row(row) if isinstance(row, str) else row for row in declared.rows]
    columns = [_Column(one) if isinstance(one, str) else one for one in declared.columns]
    cells = {}
    for row in rows:
        for column in columns:
            if isinstance(row.measured, dict):
                text = row.measured.get(column.name, "")
            else:
                text = row.measured or column.measured or declared.measured
            if text and not column.sd_of:
                where = f"{file}: {declared.table}: {row.name} / {column.name}"
                here = {**words, "row": row.name, "column": column.name}
                own = {**row.words, **column.words}.items()
                here |= {name: _filled(value, here, where) for name, value in own}
                cells[row.name, column.name] = Formula.parse(_filled(text, here, where), where)
    return SeedTable(
        document=document,
        table=declared.table,
        title=declared.title,
        rows=tuple(row.name for row in rows),
        columns=tuple(column.name for column in columns),
        cells=cells,
        deviations={column.name: column.sd_of for column in columns if column.sd_of},
        units={row.name: row.unit for row in rows if row.unit}
        | {column.name: column.unit for column in columns if column.unit},
        note=declared.note,
        corner=declared.corner,
        tall=declared.tall,
    )


def _filled(text: str, words: Mapping[str, str], where: str) -> str:
    try:
        return text.format_map(words)
    except (LookupError, ValueError, AttributeError) as error:
        raise ConfigError(f"{where}: {text}: nothing called {error}") from None
