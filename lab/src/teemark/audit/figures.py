# SPDX-License-Identifier: BSD-2-Clause
"""Figures: cells with a meaning. A heading says what a number is (a quantity) and of what (a
record); records of one name in several tables of a document are the same thing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

from teemark.audit.sheet import Cell, Measure, Sheet, label, measure
from teemark.reference.span import Span

# What a heading may say, the first that fits; with the dimension that its numbers have.
_QUANTITIES: tuple[tuple[str, str, str], ...] = tuple(
    (name, rf"(?:{pattern})", dimension)
    for name, pattern, dimension in (
        ("deviation", r"\bst(?:andar)?d?[ ._-]*dev\w*|\bsd\b", "time"),
        ("cv", r"\bcv\b", "share"),
        ("per operation", r"average time per [\w-]+ operation", "time"),
        ("latency", r"(?:average )?(?:ipc|call) latency", "time"),
        ("tiny overhead", r"overhead per byte,? tiny messages", "time per byte"),
        ("large overhead", r"overhead per byte,? large files", "time per byte"),
        (
            "per call",
            r"(?:average |tee )?(?:overhead )?per (?:ipc )?call|context switch overhead"
            r"|overhead per operation",
            "time",
        ),
        ("io ratio", r"i/o vs compute time ratio", "factor"),
        ("asked", r"\basked\b", "time"),
        (
            "total",
            r"total (?:execution )?time|elapsed(?: time)?|\bwall\b|^real(?= of line \d+$)|^real$",
            "time",
        ),
        ("reading", r"(?:file )?read i/o(?: time)?|i/o time|^i/o$", "time"),
        ("hashing", r"(?:pure )?hash(?:ing)? (?:compute )?time|compute time|^hashing$", "time"),
        ("TEE time", r"tee time(?: delta)?|time in tee", "time"),
        ("ree", r"ree time(?: delta)?", "time"),
        ("CPU time", r"cpu time", "time"),
        ("utilisation", r"cpu utili[sz]ation", "share"),
        ("efficiency", r"(?:hashing )?efficiency", "share"),
        ("overhead", r"(?:total )?overhead(?: in tee)?", "time"),
        ("commands", r"commands in the log", "count"),
        ("calls", r"(?:ipc )?calls", "count"),
        ("rpcs", r"rpc count|rpcs?(?: calls)?$", "count"),
        ("chunk", r"chunk (?:size|per operation)", "size"),
        ("chunks", r"^chunks$", "count"),
        ("bytes done", r"bytes done", "size"),
        ("largest", r"largest message", "size"),
        ("smallest", r"smallest message", "size"),
        ("size", r"(?:file|block|message)? ?size", "size"),
        ("involuntary", r"involuntary (?:context )?switches", "count"),
        ("voluntary", r"voluntary (?:context )?switches", "count"),
        ("switches", r"context switches", "count"),
        ("per second", r"\bper second$", "frequency"),
        ("operations", r"(?:hash )?operations$", "count"),
        ("frequency", r"(?:hardware )?frequency|clock", "frequency"),
        ("factor", r"scaling factor|speed-?up|improvement|scaling|margin|analysis", "factor"),
        ("floor", r"minimum execution time", "time"),
        ("per byte", r"time per byte|per byte", "time per byte"),
        ("min", r"\bmin(?:imum)?\b", "time"),
        ("max", r"\bmax(?:imum)?\b(?! throughput)", "time"),
        ("mean", r"\b(?:avg|mean|average)\b", "time"),
        ("runs", r"\bruns(?: of each implementation)?$", "count"),
        ("rate", r"(?:max )?(?:hash )?throughput|bandwidth|\bspeed\b|^rate$", "rate"),
        ("time", r"\btime$|^duration$", "time"),
    )
)
_UNKNOWN = ("count", "error")  # of numbers without a unit of measure
_WORDS = ("factor", "min", "max", "floor")  # that say nothing without the unit
SAME_THING = 0.25
"""What two measurements of one thing may differ by before they are two things."""
SUMMARY = re.compile(r"summary|conclu|overview", re.I)
"""Tables that repeat others: there a difference is no other thing."""
_SHARE = {"hashing", "overhead", "reading"}
_BY_DIMENSION = {"rate": "rate", "time": "time", "factor": "factor", "size": "size"}

ALGORITHM = re.compile(
    r"\b(sha)-?(1|224|256|384|512)\b|\b(aes)-?(128|192|256)(?:[ -]?(cbc|ecb|ctr|gcm|xts)\b)?", re.I
)
_IN_BRACKETS = re.compile(r"(?:\w+ blocks? )?\((\d+ ?(?:bytes|[KMk]i?B))\)")
_MODE = re.compile(r"\b(?:cbc|ecb|ctr|gcm|xts)\b", re.I)
_CLAIM = re.compile(r"hardware|hw accel|accelerat", re.I)
_SOFTWARE = re.compile(r"software|generic|typical", re.I)


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, what it is, and where it stands."""

    quantity: str
    measure: Measure
    cell: Cell

    @property
    def span(self) -> Span:
        return self.measure.span

    @property
    def text(self) -> str:
        return self.measure.text

    @property
    def name(self) -> str:
        """Row and column, as they stand there."""
        parts = [part for part in (self.cell.row, self.cell.column) if part]
        return ", ".join(dict.fromkeys(parts))


@dataclass(slots=True)
class Record:
    """All figures of one thing: a run, a column, an algorithm at a block size."""

    name: str
    size: int | None
    figures: dict[str, list[Figure]] = field(default_factory=dict)

    def get(self, quantity: str, near: Cell | None = None) -> Figure | None:
        """The first such figure; or that of the table that `near` is in, and the last before it,
        since a program may have run several times."""
        found = self.figures.get(quantity, [])
        if near is not None:
            found = [one for one in found if one.cell.table == near.table] or found
            before = [one for one in found if one.cell.line <= near.line]
            found = [max(before, key=lambda one: one.cell.line)] if before else found
        return found[0] if found else None

    def __iter__(self) -> Iterator[Figure]:
        return (one for figures in self.figures.values() for one in figures)


@dataclass(slots=True)
class Paper:
    """A document with its figures in order, and what it says of its machine. What it does not
    say and was concluded from something else is in `inferred`, with the reason."""

    sheet: Sheet
    records: dict[tuple[str, int | None], Record] = field(default_factory=dict)
    algorithm: str = ""
    core: str = ""
    clock_hz: float = 0.0
    inferred: dict[str, str] = field(default_factory=dict)

    @property
    def file(self) -> str:
        return self.sheet.file

    @property
    def figures(self) -> Iterator[Figure]:
        return (figure for record in self.records.values() for figure in record)

    def common(self, quantity: str) -> Figure | None:
        """What is said of the whole document, such as the number of runs."""
        record = self.records.get(("", None))
        return record.get(quantity) if record is not None else None

    def says(self, pattern: str) -> bool:
        return any(re.search(pattern, one.text, re.I) for one in self.sheet.said)

    def algorithm_of(self, record: Record, figure: Figure) -> str:
        for text in (record.name, figure.cell.row, figure.cell.column, figure.cell.table):
            if found := algorithm_in(text):
                return self._with_mode(found)
        return self.algorithm

    def _with_mode(self, name: str) -> str:
        """AES without a mode is CBC where the document speaks of no other."""
        if not re.fullmatch(r"aes-\d+", name):
            return name
        texts = [one.text for one in self.sheet.said] + [one.row for one in self.sheet.cells]
        modes = {mode.lower() for text in texts for mode in _MODE.findall(text)}
        return f"{name}-cbc" if modes == {"cbc"} else name

    def kind_of(self, record: Record, figure: Figure) -> str:
        """What the figure is said to be of: hardware, software, or neither."""
        if _SOFTWARE.search(f"{record.name} {figure.cell.column}"):
            return "software"
        where = f"{self.sheet.title} {figure.cell.table} {record.name} {figure.cell.column}"
        return "hardware" if _CLAIM.search(where) else ""


def algorithm_in(text: str) -> str:
    found = ALGORITHM.search(text)
    if found is None:
        return ""
    sha, digest, aes, bits, mode = found.groups()
    if sha:
        return f"sha{digest}"
    return f"{aes}-{bits}".lower() + (f"-{mode.lower()}" if mode else "")


def papers(sheet: Sheet) -> Paper:
    paper = Paper(sheet)
    tables: dict[str, dict[tuple[str, int | None], Record]] = {}
    for cell in sheet.cells:
        _place(tables.setdefault(cell.table, {}), cell)
    for table, records in tables.items():
        for (name, size), record in records.items():
            merged = paper.records.setdefault((name, size), Record(name, size))
            if not SUMMARY.search(table) and not _agree(merged, record):
                merged = paper.records.setdefault((f"{name} in {table}", size), Record(name, size))
            for quantity, figures in record.figures.items():
                merged.figures.setdefault(quantity, []).extend(figures)
    if not any(algorithm_in(record.name) for record in paper.records.values()):
        paper.algorithm = _main_algorithm(sheet)
    return paper


def _agree(one: Record, other: Record) -> bool:
    """Tables of one document often have the same headings for different things; what doesn't
    contradict itself is taken for the same."""
    for quantity in one.figures.keys() & other.figures.keys() - {"factor"}:
        for a, b in product(one.figures[quantity], other.figures[quantity]):
            room = SAME_THING * max(abs(a.span.mid), abs(b.span.mid))
            if not Span(a.span.low - room, 0, a.span.high + room).overlaps(b.span):
                return False
    return True


def _main_algorithm(sheet: Sheet) -> str:
    """The one that is named, or named twice as often as any other."""
    texts = [sheet.title, *(one.text for one in sheet.said)]
    named = Counter(algorithm_in(text) for text in texts if algorithm_in(text))
    ((first, count), (_, others)) = (*named.most_common(2), ("", 0), ("", 0))[:2]
    return first if count >= 2 * others else ""


def _place(records: dict[tuple[str, int | None], Record], cell: Cell) -> None:
    row, _ = label(cell.row)
    column, _ = label(cell.column)
    of_column, of_row = _quantity(column, cell.measure), _quantity(row, cell.measure)
    size: int | None = cell.size
    if of_column:
        quantity, name = of_column[0], f"{row} {of_column[1]}"
    elif of_row:
        quantity, name = of_row[0], f"{of_row[1]} {column}"
    elif (block := measure(column)) is not None and block.dimension == "size":
        quantity, name = _BY_DIMENSION.get(cell.measure.dimension, ""), row
        size = round(block.span.mid)
    else:
        quantity = _BY_DIMENSION.get(cell.measure.dimension, "")
        name = f"{row} {column}"
    if size is None and (found := _IN_BRACKETS.search(name)) and (block := measure(found[1])):
        scale = 1.024 if block.unit in ("kB", "KB") else 1.0  # of messages: 16 KB is 16384
        name, size = name.replace(found[0], ""), round(block.span.mid * scale)
    where = (_normal(name), size)
    record = records.setdefault(where, Record(*where))
    record.figures.setdefault(quantity, []).append(Figure(quantity, cell.measure, cell))


def _quantity(heading: str, measured: Measure) -> tuple[str, str] | None:
    """The quantity that a heading names, and what is left of the heading."""
    for name, pattern, dimension in _QUANTITIES:
        found = re.search(pattern, heading, re.I)
        if found is None:
            continue
        left = (heading[: found.start()] + heading[found.end() :]).strip(" :,-")
        if measured.dimension == "share" and name in _SHARE:
            return f"{name} share", left
        if measured.dimension == "factor" != dimension:
            return "factor", left
        if dimension != measured.dimension and (
            measured.dimension in _UNKNOWN
            or (name in _WORDS and (name, measured.dimension) != ("factor", "share"))
        ):
            continue
        return name, left
    return None


def _normal(name: str) -> str:
    name = re.sub(r"\b(?:file|value|the)\b", " ", name.lower())
    name = re.sub(r"(?<=\d) (?=[kmg]i?b\b)", "", name)
    return " ".join(name.split())


def dimension_of(quantity: str) -> str:
    for name, _, dimension in _QUANTITIES:
        if name == quantity:
            return dimension
    return ""
