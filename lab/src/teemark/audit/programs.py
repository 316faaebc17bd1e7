# SPDX-License-Identifier: BSD-2-Clause
"""Reads what named programs print: `relations.toml` has each kind of line with its fields, their
units and their relations. Here is what a pattern can't say: tables whose heading comes first, and
records that go over several lines."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from itertools import pairwise
from pathlib import Path

from msgspec import Struct, convert

from teemark.audit.figure import Kind, Printed, Reading, Tested
from teemark.audit.numbers import SLACK, SPELLINGS, related
from teemark.reference.span import Span, printed
from teemark.reference.units import UNITS

LONGEST = 400  # Characters of the longest line that a program prints; longer lines aren't matched
FOLDED = 30  # Characters from which a line may have been folded by mail
WAITED = 0.5  # Share of the time asked for below which openssl speed's CPU time is called waiting

_SCALED = {"ps": ("ns", 1e-3), "min": ("s", 60.0), "m": ("s", 60.0)} | {
    f"{prefix}{unit}": ("/s" if unit else "count", factor)
    for prefix, factor in (("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9))
    for unit in ("", "IOPS", "elem/s")
}
"""Units with a prefix that no table of units has."""

Fields = dict[str, str]
Figures = dict[str, Printed]

_PARTS = {"N": r"-?\d+(?:\.\d+)?(?:e[+-]?\d\d?)?", "U": "ps|ns|µs|us|ms|s|min|m"}
_PART = re.compile(r"(?<=>)[NU](?=\))|(?<=\()N|(?<=\.)N(?=M)")


class Relations(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Figures that belong together, and their relations; relations.toml describes the fields."""

    relations: tuple[str, ...] = ()
    slack: float = SLACK
    wide: bool = False

    def tested(self, figures: Figures) -> Iterator[Tested]:
        return related(self.relations, figures, self.slack, wide=self.wide)


class ProgramLine(Relations, frozen=True):
    """A line that a program prints."""

    program: str
    pattern: str
    figures: dict[str, str] = {}
    keep: bool = False
    begins: bool = False
    cut: bool = False
    reader: str = ""

    @property
    def title(self) -> str:
        """Returns the program's name without the version."""
        return re.sub(r" \(.*| \d$", "", self.program)

    def compiled(self) -> re.Pattern[str]:
        return re.compile(_PART.sub(lambda name: _PARTS[name[0]], self.pattern))


class BoundRecord(Relations, frozen=True):
    """Figures of a row, a column or a list, found by dimension and label."""

    kinds: tuple[Kind, ...]
    fields: dict[str, str]
    serial: bool = False  # It is void where operations may have run at once


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    line: tuple[ProgramLine, ...]
    record: tuple[BoundRecord, ...]


@cache
def relations() -> _File:
    path = Path(__file__).with_name("relations.toml")
    return convert(tomllib.loads(path.read_text(encoding="utf-8")), _File)


@cache
def _lines() -> tuple[tuple[ProgramLine, re.Pattern[str]], ...]:
    return tuple((line, line.compiled()) for line in relations().line)


def titles() -> str:
    """Returns the names of the programs whose output is read."""
    return ", ".join(dict.fromkeys(line.title for line, _ in _lines()))


def read(reading: Reading) -> set[int]:
    """Takes all lines of known programs; returns their numbers. A line that mail has folded is read
    with the next one."""
    log, numbers = _Log(reading), set[int]()
    for (number, text), (after, rest) in pairwise([*reading.lines, (0, "")]):
        if number in numbers:
            continue
        line, found = _matches(text)
        if not found and len(text) > FOLDED and rest and not _matches(rest)[1]:
            line, both = _matches(f"{text} {rest.lstrip()}")
            half, end = len(text) // 2, len(text) + 1
            found = [one for one in both if one.start() < half and one.end() > end]
            numbers |= {after} if found else set()
        log.line = number
        numbers |= {number} if found else set()
        for match in found:
            fields = {key: text for key, text in match.groupdict().items() if text is not None}
            log.record(line, fields)
    return numbers


def _matches(text: str) -> tuple[ProgramLine, list[re.Match[str]]]:
    kinds = _lines() if len(text) <= LONGEST else ()
    tries = ((line, list(pattern.finditer(text))) for line, pattern in kinds)
    return next((one for one in tries if one[1]), (_lines()[0][0], []))


def _key(name: str) -> str:
    return name.strip().removesuffix("'s").replace(" ", "-").lower()


@dataclass(slots=True)
class _Log:
    """A text being read line by line, and what its earlier lines said. The methods behind `record`
    are the readers that lines of relations.toml name."""

    reading: Reading
    line: int = 0
    kept: Figures = field(default_factory=dict)
    name: str = ""
    title: str = ""  # The program whose line was the last
    request: Fields = field(default_factory=dict)
    counts: dict[tuple[str, str], Figures | None] = field(default_factory=dict)
    """The figures of openssl's algorithm and block; None if they come twice."""
    sizes: list[str] = field(default_factory=list)
    forked: bool = False
    shown: bool = False  # The table that belongs to `counts` was read
    means: Figures = field(default_factory=dict)
    ranks: list[Printed] = field(default_factory=list)
    """The last percentile of a distribution, while its lines go on."""

    def take(self, text: str, unit: str, column: str = "", *, cut: bool = False) -> Printed:
        """Returns a figure that a program printed, and counts it as read. The value may be one
        unit of the last digit away from it; with `cut`, only above it, as digits were cut off."""
        shown, text = f"{text} {unit}".strip(), text.replace(",", ".")
        unit, factor = _SCALED.get(unit, (SPELLINGS.get(unit, unit).replace("mB", "MB"), 1.0))
        unit = unit if unit in UNITS else "count"
        counted = unit in ("bytes", "count") and "." not in text and factor == 1.0
        span = printed(Decimal(text), digits=0.0 if counted else 1.0) * (factor * UNITS[unit][1])
        span = Span(span.mid, span.mid, span.high) if cut else span
        cell = Printed(shown, span, unit, row=self.name, column=column, line=self.line, digits=text)
        self.reading.figures.append(cell)
        return cell

    def test(self, *results: Tested) -> None:
        self.reading.tested += results

    def record(self, line: ProgramLine, fields: Fields) -> None:
        if line.begins:
            self.kept, self.ranks = {}, []
        if "name" in fields or line.begins or line.title != self.title:
            self.name, self.title = fields.get("name", line.title).strip(), line.title
        units = {key: unit.format(**fields) for key, unit in line.figures.items() if key in fields}
        figures = {
            key: self.take(fields[key], unit, key, cut=line.cut) for key, unit in units.items()
        }
        self.test(*line.tested({**self.kept, **figures}))
        if line.keep or line.begins:
            self.kept |= figures
        if line.reader:
            getattr(self, line.reader)(fields, figures)

    def mean(self, _: Fields, figures: Figures) -> None:
        self.means[self.name] = figures["mean"]

    def ratio(self, fields: Fields, figures: Figures) -> None:
        """Tests how many times the fastest command, which is this one's name, is faster."""
        fast, slow = self.means.get(self.name), self.means.get(fields["other"])
        if fast and slow:
            formula = "slow / fast" if fields["way"] == "faster" else "fast / slow"
            named = {"factor": figures["factor"], "fast": fast, "slow": slow}
            self.test(*related((f"factor: factor = {formula}",), named))

    def percentiles(self, fields: Fields, _: Figures) -> None:
        found = re.findall(r"([\d.]+th)=\[\s*(\d+)", fields["ranks"])
        ranks = [*self.ranks, *(self.take(text, "", name) for name, text in found)]
        named = {f"p{place}": rank for place, rank in enumerate(ranks)}
        self.test(*related((f"spread: {' <= '.join(named)}",), named))
        self.ranks = ranks[-1:]

    # -- openssl speed -----------------------------------------------------------------------------

    def counted(self, fields: Fields, figures: Figures) -> None:
        """Takes what was counted for one algorithm and block, for people or for machines."""
        if "asked" not in fields and self.request.get("name") == fields["name"]:
            fields = {**self.request, **fields}
        if self.shown:
            self.counts, self.shown = {}, False
        limit, time = float(fields.get("asked", 0)), figures["time"]
        wrong = f"{fields['name']}: {limit:g} s were asked for and {time.text} counted: CPU time, "
        wrong += "not elapsed time. The process waited meanwhile, for a device or for others; by "
        wrong += "the clock the rate is lower. Use -elapsed."
        waited = 0 < time.span.mid < WAITED * limit
        self.test(Tested("cpu-time", time, not waited, wrong, "caution"))
        if "size" in fields:
            key = (_key(fields["name"]), fields["size"])
            self.counts[key] = None if key in self.counts else figures

    def asks(self, fields: Fields, _: Figures) -> None:
        self.request = fields

    def blocks(self, fields: Fields, _: Figures) -> None:
        self.sizes = re.findall(r"\d+", fields.get("sizes", "") + fields.get("more", ""))

    def rates(self, fields: Fields, _: Figures) -> None:
        self.shown = True
        rates = fields["rates"].replace(":", " ").split()
        sizes = self.sizes if len(self.sizes) == len(rates) else ["0"] * len(rates)
        for shown, size in zip(rates, sizes, strict=True):
            unit = "kB/s" if shown[-1] == "k" else "B/s"
            rate = self.take(shown.removesuffix("k"), unit, f"{size} bytes" if size != "0" else "")
            counted = self.counts.get((_key(self.name), size))
            if counted and not self.forked:  # else the table adds up what several processes did
                formula = f"rate: rate = count * {size} / time"
                self.test(*related((formula,), {**counted, "rate": rate}))

    def keys(self, fields: Fields, _: Figures) -> None:
        """Takes times and rates of keys, KEMs and signatures; 0.0000s is less than it shows."""
        times, rates = fields["times"].split(), fields["rates"].split()
        for shown, often in zip(times, rates, strict=True) if len(times) == len(rates) else ():
            figures = {"time": self.take(shown[:-1], "s"), "rate": self.take(often, "/s")}
            self.test(*related(("per-second: time = 1 / rate",), figures))

    def about_openssl(self, fields: Fields, _: Figures) -> None:
        self.forked |= "forked" in fields
