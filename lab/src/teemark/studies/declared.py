# SPDX-License-Identifier: BSD-2-Clause
"""The declarations in reference/DOCUMENT.toml: the tables, rows and columns of a report, the
formula of each measured cell, and the figures that judge a conclusion. docs/published-figures.md
explains how to write them."""

import math
from collections.abc import Mapping
from itertools import product
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from teemark.base import paths
from teemark.base.checked import Wrong, once, parse_toml, read_text
from teemark.base.errors import ConfigError
from teemark.studies.formula import Formula

SEED_PLANS = (
    *("api-vs-custom", "beaglebone-hw-crypto", "broker", "mqtt-tz-blocks"),
    *("rpi3-secure-hash", "rpi3-small-messages"),
)
"""Plans that are named after a document. The documents' figures are in a checkout only; a report
without a checkout says what it can't show."""

COMPARISON = "A comparison: the document doesn't claim it."

Names = dict[str, str]

Unit = Literal["times", "%", "points", "time"]
"""Form of a conclusion's figure: a factor, a share, a difference of shares, seconds."""


class TableLine(Struct, frozen=True, forbid_unknown_fields=True):
    """A row or a column, with the formula of its cells; a row may have one formula per column."""

    name: str
    measured: str | Names = ""
    why: str = ""  # Why nothing is measured in this row or column
    unit: str = ""  # The unit of cells that have no published number
    words: Names = field(name="with", default_factory=dict)
    sd_of: str = ""  # The column whose standard deviations this column shows


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    table: str
    title: str
    row_lines: tuple[str | TableLine, ...] = field(name="rows")
    column_lines: tuple[str | TableLine, ...] = field(name="columns")
    corner: str = "metric"
    tall: bool = False  # Each statistic of a measured value has a column of its own
    measured: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        for key, lines in (("rows", self.row_lines), ("columns", self.column_lines)):
            once(key, tuple(line if isinstance(line, str) else line.name for line in lines))
        for column in self.columns.values():
            if column.sd_of and column.sd_of not in self.columns:
                raise Wrong(f"sd_of: there is no column {column.sd_of!r}", key="columns")

    @property
    def rows(self) -> dict[str, TableLine]:
        return _by_name(self.row_lines)

    @property
    def columns(self) -> dict[str, TableLine]:
        return _by_name(self.column_lines)


def _by_name(lines: tuple[str | TableLine, ...]) -> dict[str, TableLine]:
    """Returns rows or columns by name; a string stands for a line that has only a name."""
    named = (TableLine(line) if isinstance(line, str) else line for line in lines)
    return {line.name: line for line in named}


class SeedTable(_Table, frozen=True, kw_only=True):
    """One table of a document, with the formula of each measured cell by row and column."""

    document: str
    cells: Mapping[tuple[str, str], Formula]


class Check(Struct, frozen=True, forbid_unknown_fields=True):
    """A condition of a conclusion: `measured` is between `low` and `high`, or it `equals` a word; a
    word in `open` leaves the conclusion undecided. `says` is a sentence with {figure} in it, and
    with {time} and {rate} for what is instructions on a board that counts."""

    measured: str
    says: str
    low: float = -math.inf
    high: float = math.inf
    equals: str = ""
    open: tuple[str, ...] = ()
    unit: Unit = "times"
    published: str = ""  # Formula of the document's own figure
    hardware: bool = False
    """Only hardware can tell: an emulated board can't, not even by counting instructions."""
    words: Names = field(name="with", default_factory=dict)

    def __post_init__(self) -> None:
        bounded = math.isfinite(self.low) or math.isfinite(self.high)
        if bounded == bool(self.equals):
            raise Wrong("a check has low or high, or else equals")
        if self.low > self.high:
            raise Wrong("low is above high", key="low")

    @property
    def figure(self) -> Formula:
        return Formula.parse(self.measured, self.says)


class Conclusion(Struct, frozen=True, forbid_unknown_fields=True):
    """A conclusion of a document, which holds if all checks do. `claim` follows "Holds here: ". One
    without a `quote` is a comparison of ours: the document never claimed it."""

    key: str
    claim: str
    checks: tuple[Check, ...] = ()
    advice: str = ""
    why: str = ""  # Why no run can answer it
    quote: str = ""  # The words of the document, as they stand in its line `line` (counted from 1)
    line: int = 0
    defined: str = ""
    """The definitions of the document's figure and of ours, where they differ."""
    readings: bool = False
    """The checks are readings of one sentence: where they disagree, it stays open."""

    @property
    def source(self) -> str:
        """Returns the quotation with its line, and the definitions, as a sentence."""
        words = f"The document, line {self.line}: “{self.quote}”." if self.quote else COMPARISON
        return " ".join(filter(None, (words, self.defined)))

    def __post_init__(self) -> None:
        if bool(self.quote) != bool(self.line):
            raise Wrong("a quote has its line, and a line its quote", key="quote")
        if bool(self.checks) == bool(self.why):
            raise Wrong("it needs checks, or else why there are none", key="checks")


class Mistake(Struct, frozen=True, forbid_unknown_fields=True):
    """A contradiction in a document that no general rule finds: `printed`, a formula over the
    document's own figures, ought to be between `low` and `high`, and isn't."""

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
    answers: tuple[Conclusion, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    let: Names = {}

    def __post_init__(self) -> None:
        once("answers", tuple(answer.key for answer in self.answers))


def load(document: str) -> tuple[SeedTable, ...]:
    """Returns the tables of a document."""
    file, words, path = _read(document)
    return tuple(
        SeedTable(**asdict(table), document=document, cells=_cells(table, words, path))
        for table in file.tables
    )


def conclusions(document: str) -> tuple[Conclusion, ...]:
    """Returns a document's conclusions, each with the figures that judge it."""
    file, words, path = _read(document)
    filled = []
    for answer in file.answers:
        where = f"{path}: {answer.key}"
        checks = tuple(_filled_check(check, words, where) for check in answer.checks)
        filled.append(replace(answer, checks=checks))
    return tuple(filled)


def mistakes(document: str) -> tuple[Mistake, ...]:
    """Returns the document's declared mistakes, which no general rule finds."""
    return _read(document)[0].mistakes


def _read(document: str) -> tuple[_File, Names, str]:
    """Returns the parsed file, its replacements by name, and its path for messages."""
    path = paths.reference() / f"{document}.toml"
    file: _File = parse_toml(read_text(path), _File, str(path))
    return file, _with({}, file.let, f"{path}: let"), str(path)


def _filled_check(check: Check, words: Names, where: str) -> Check:
    words = _with(words, check.words, where)
    measured, published = (_filled(raw, words, where) for raw in (check.measured, check.published))
    for formula in filter(None, (measured, published)):
        Formula.parse(formula, where)
    by_run = {name: f"{{{name}}}" for name in ("figure", "time", "rate")}
    says = _filled(check.says, words | by_run, where)
    return replace(check, measured=measured, published=published, says=says)


def _cells(table: _Table, words: Names, file: str) -> dict[tuple[str, str], Formula]:
    """Returns the formulas of all measured cells. A row's formula goes before a column's, and a
    column's before the table's."""
    cells = {}
    for row, column in product(table.rows.values(), table.columns.values()):
        text = row.measured or column.measured or table.measured
        if not isinstance(text, str):
            text = text.get(column.name, "")
        if text and not column.sd_of and not row.why:
            where = f"{file}: {table.table}: {row.name} / {column.name}"
            here = words | {"row": row.name, "column": column.name}
            here = _with(here, row.words | column.words, where)
            cells[row.name, column.name] = Formula.parse(_filled(text, here, where), where)
    return cells


def _with(words: Names, more: Names, where: str) -> Names:
    words = dict(words)
    for name, text in more.items():
        words[name] = _filled(text, words, where)
    return words


def _filled(text: str, words: Names, where: str) -> str:
    try:
        return text.format_map(words)
    except (LookupError, ValueError, AttributeError) as error:
        raise ConfigError(f"{where}: {text}: nothing called {error}") from None
