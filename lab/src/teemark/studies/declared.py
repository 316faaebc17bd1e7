# SPDX-License-Identifier: BSD-2-Clause
"""The declarations in reference/DOCUMENT.toml: which tables, rows and columns a report has, by
which formula each cell is measured, and by which figures a conclusion is judged.
docs/reference.md tells how to write them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from msgspec import Struct, field

from teemark.base import paths
from teemark.base.checked import Wrong, once, parse_toml, read_text
from teemark.base.errors import ConfigError
from teemark.studies.formula import Formula

SEED_PLANS = frozenset(
    {
        "api-vs-custom",
        "beaglebone-hw-crypto",
        "mqtt-tz-blocks",
        "rpi3-secure-hash",
        "rpi3-small-messages",
    }
)
"""Plans with the name of a document. The figures themselves are in the checkout, and a report can
be made without one: then it says what it can't show."""

Names = dict[str, str]

Unit = Literal["times", "%", "points", "time"]
"""How a figure of a conclusion is written: a factor, a share, a difference of shares, seconds."""


@dataclass(frozen=True, slots=True)
class SeedTable:
    """One table of a document.

    `cells` gives the formula of each measured cell by row and column. A column in `deviations`
    shows the standard deviation of the column that it names. `units`, by row or column, are for
    cells with no published number. `reasons`, by row, say why nothing is measured there. A `tall`
    table has a column for each statistic.
    """

    document: str
    table: str
    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Mapping[tuple[str, str], Formula]
    deviations: Mapping[str, str]
    units: Mapping[str, str]
    reasons: Mapping[str, str]
    note: str
    corner: str
    tall: bool


@dataclass(frozen=True, slots=True)
class Check:
    """A conclusion needs this figure between `low` and `high`, or that it `equals` a word; a word
    of `open` leaves it undecided. `says` is a sentence with the figure in the place of {figure}."""

    figure: Formula
    says: str
    low: float
    high: float
    equals: str
    open: tuple[str, ...]
    unit: Unit
    published: Formula | None
    """The document's own figure for it."""
    hardware: bool
    """An emulated board can't give it, not even by counting instructions."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What a document concludes, in words that follow "Holds here: "; it holds if all checks do."""

    key: str
    claim: str
    checks: tuple[Check, ...]
    advice: str
    why: str
    """Why nothing here can answer it."""


class _Row(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    measured: str | Names = ""
    why: str = ""
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


class _Check(Struct, frozen=True, forbid_unknown_fields=True):
    measured: str
    says: str
    low: float = -math.inf
    high: float = math.inf
    equals: str = ""
    open: tuple[str, ...] = ()
    unit: Unit = "times"
    published: str = ""
    hardware: bool = False
    words: Names = field(name="with", default_factory=dict)

    def __post_init__(self) -> None:
        bounded = math.isfinite(self.low) or math.isfinite(self.high)
        if bounded == bool(self.equals):
            raise Wrong("a check has low or high, or else equals")
        if self.low > self.high:
            raise Wrong("low is above high", key="low")


class _Answer(Struct, frozen=True, forbid_unknown_fields=True):
    key: str
    claim: str
    checks: tuple[_Check, ...] = ()
    advice: str = ""
    why: str = ""

    def __post_init__(self) -> None:
        if bool(self.checks) == bool(self.why):
            raise Wrong("it needs checks, or else why there are none", key="checks")


class Mistake(Struct, frozen=True, forbid_unknown_fields=True):
    """What a document says against itself and only a reader of it knows: a figure made of its own
    figures (`printed`) that would have to be between `low` and `high`, and isn't."""

    key: str
    table: str
    says: str
    printed: str
    low: float = -math.inf
    high: float = math.inf
    unit: str = "factor"
    severity: Literal["error", "caution"] = "error"

    @property
    def figure(self) -> Formula:
        return Formula.parse(self.printed, f"mistake {self.key}")


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    tables: tuple[_Table, ...]
    answers: tuple[_Answer, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    let: Names = {}

    def __post_init__(self) -> None:
        once("answers", tuple(answer.key for answer in self.answers))


def load(document: str) -> tuple[SeedTable, ...]:
    """The tables of a document."""
    file, words, path = _read(document)
    return tuple(_table(one, document, words, path) for one in file.tables)


def conclusions(document: str) -> tuple[Conclusion, ...]:
    """What it concludes, and what each conclusion is judged by."""
    file, words, path = _read(document)
    return tuple(
        Conclusion(
            one.key,
            one.claim,
            tuple(_check(check, words, f"{path}: {one.key}") for check in one.checks),
            one.advice,
            one.why,
        )
        for one in file.answers
    )


def mistakes(document: str) -> tuple[Mistake, ...]:
    """What the document says against itself."""
    return _read(document)[0].mistakes


def _check(declared: _Check, words: Names, where: str) -> Check:
    here = dict(words)
    here |= {name: _filled(value, here, where) for name, value in declared.words.items()}
    return Check(
        Formula.parse(_filled(declared.measured, here, where), where),
        _filled(declared.says, here | {"figure": "{figure}"}, where),
        declared.low,
        declared.high,
        declared.equals,
        declared.open,
        declared.unit,
        Formula.parse(_filled(declared.published, here, where), where)
        if declared.published
        else None,
        declared.hardware,
    )


def _read(document: str) -> tuple[_File, Names, str]:
    """The file, its words, and its path for messages."""
    path = paths.reference() / f"{document}.toml"
    file: _File = parse_toml(read_text(path), _File, str(path))
    words: Names = {}
    for name, text in file.let.items():
        words[name] = _filled(text, words, f"{path}: let.{name}")
    return file, words, str(path)


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
            if text and not column.sd_of and not row.why:
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
        reasons={row.name: row.why for row in rows if row.why},
        note=declared.note,
        corner=declared.corner,
        tall=declared.tall,
    )


def _filled(text: str, words: Mapping[str, str], where: str) -> str:
    try:
        return text.format_map(words)
    except (LookupError, ValueError, AttributeError) as error:
        raise ConfigError(f"{where}: {text}: nothing called {error}") from None
