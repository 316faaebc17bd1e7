# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: RUF001 (the signs of arithmetic)
"""Reads what named programs print: `relations.toml` has each kind of line with its fields, their
units and their relations. Here is what a pattern can't say: tables whose heading comes first, and
records that go over several lines."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

from teemark.audit.figure import Printed, Reading, Tested
from teemark.audit.formulas import ProgramLine, related, relations
from teemark.audit.numbers import SPELLINGS, follows, in_order
from teemark.reference.span import Span, exact
from teemark.reference.units import UNITS

LONGEST = 400
"""Characters of the longest line that a program prints; longer lines aren't matched."""
FOLDED = 30
"""Characters from which a line may have been folded by mail."""
WAITED = 0.5
"""Share of the time asked for below which openssl speed's CPU time is called waiting."""

_ROUNDING = {"half": (0.5, 0.5), "last": (1.0, 1.0), "cut": (0.0, 1.0)}
"""Units of the last digit by which a value may be less, and more, than what is printed."""
_SCALED = {"ps": ("ns", 1e-3), "min": ("s", 60.0), "m": ("s", 60.0)} | {
    f"{prefix}{unit}": ("/s" if unit else "count", factor)
    for prefix, factor in (("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9))
    for unit in ("", "IOPS", "elem/s")
}
"""Units with a prefix that no table of units has."""


@cache
def _lines() -> tuple[tuple[ProgramLine, re.Pattern[str]], ...]:
    return tuple((line, line.compiled()) for line in relations().line)


def known() -> str:
    """Returns the names of the programs whose output is read."""
    return ", ".join(dict.fromkeys(line.title for line, _ in _lines()))


Fields = dict[str, str]
Figures = dict[str, Printed]


@dataclass(slots=True)
class Log:
    """A text being read line by line, and what its earlier lines said."""

    reading: Reading
    line: int = 0
    kept: Figures = field(default_factory=dict)
    name: str = ""
    title: str = ""
    """The program whose line was the last."""
    asked: Fields = field(default_factory=dict)
    counts: dict[tuple[str, str], Figures | None] = field(default_factory=dict)
    """The figures of openssl's algorithm and block; None if they come twice."""
    sizes: list[str] = field(default_factory=list)
    forked: bool = False
    shown: bool = False
    """The table that belongs to `counts` was read."""
    means: Figures = field(default_factory=dict)
    fastest: str = ""
    ranks: list[Printed] = field(default_factory=list)
    """The last percentile of a distribution, while its lines go on."""

    def take(
        self, text: str, unit: str, column: str = "", line: ProgramLine | None = None
    ) -> Printed:
        """Returns a figure that a program printed, and counts it as read."""
        shown = f"{text} {unit}".strip()
        text, unit = text.replace(",", "."), unit.replace("mB", "MB")
        unit, factor = _SCALED.get(unit, (SPELLINGS.get(unit, unit), 1.0))
        if line and line.binary and unit[:1] in ("k", "K", "M", "G") and unit[1:2] == "B":
            unit = f"{unit[0].upper()}i{unit[1:]}"
        value, last = float(text), 10.0 ** -len(text.partition("e")[0].partition(".")[2])
        last *= 10.0 ** int(text.partition("e")[2] or 0)
        unit = unit if unit in UNITS else "count"
        below, above = _ROUNDING[line.rounding if line else "half"]
        if unit in ("bytes", "count") and "." not in text and factor == 1.0:
            below = above = 0.0
        span = Span(value - below * last, value, value + above * last) * (factor * UNITS[unit][1])
        made = Printed(shown, span, unit, row=self.name, column=column, line=self.line, digits=text)
        self.reading.figures.append(made)
        return made

    def test(self, *results: Tested) -> None:
        self.reading.tested += results


def read(reading: Reading) -> set[int]:
    """Takes all lines of known programs; returns their numbers. A line that mail has folded is read
    with the next one."""
    log, taken = Log(reading), set[int]()
    for (number, text), (after, rest) in pairwise([*reading.lines, (0, "")]):
        if number in taken:
            continue
        line, found = _matches(text)
        if not found and len(text) > FOLDED and rest and not _matches(rest)[1]:
            line, found = _matches(f"{text} {rest.lstrip()}")
            found = [
                one for one in found if one.start() < len(text) // 2 and one.end() > len(text) + 1
            ]
            taken |= {after} if found else set()
        log.line = number
        taken |= {number} if found else set()
        for match in found:
            fields = {key: text for key, text in match.groupdict().items() if text is not None}
            _record(log, line, fields)
    return taken


def _matches(text: str) -> tuple[ProgramLine, list[re.Match[str]]]:
    kinds = _lines() if len(text) <= LONGEST else ()
    made = ((line, list(pattern.finditer(text))) for line, pattern in kinds)
    return next((one for one in made if one[1]), (_lines()[0][0], []))


def _record(log: Log, line: ProgramLine, fields: Fields) -> None:
    if line.begins:
        log.kept, log.ranks = {}, []
    if "name" in fields or line.begins or line.title != log.title:
        log.name, log.title = fields.get("name", line.title).strip(), line.title
    figures = {
        key: log.take(fields[key], unit.format(**fields), key, line)
        for key, unit in line.figures.items() if key in fields
    }  # fmt: skip
    log.test(*related(line, {**log.kept, **figures}))
    if line.keep or line.begins:
        log.kept |= figures
    if line.reader:
        READERS[line.reader](log, fields, figures)


# -- openssl speed ---------------------------------------------------------------------------------


def _key(name: str) -> str:
    return name.strip().removesuffix("'s").replace(" ", "-").lower()


def _counted(log: Log, fields: Fields, figures: Figures) -> None:
    """Takes what was counted for one algorithm and block, for people or for machines."""
    if "asked" not in fields and log.asked.get("name") == fields["name"]:
        fields = {**log.asked, **fields}
    log.reading.openssl = True
    if log.shown:
        log.counts, log.shown = {}, False
    asked, time = float(fields.get("asked", 0)), figures["time"]
    wrong = f"{fields['name']}: {asked:g} s were asked for and {time.text} counted: CPU time, not "
    wrong += "elapsed time. The process waited meanwhile, for a device or for others; by the clock "
    wrong += "the rate is lower. Use -elapsed."
    waited = 0 < time.span.mid < WAITED * asked
    log.test(Tested("cpu-time", time, not waited, wrong, "caution"))
    if "size" in fields:
        key = (_key(fields["name"]), fields["size"])
        log.counts[key] = None if key in log.counts else figures


def _begins(log: Log, fields: Fields, _: Figures) -> None:
    log.asked = fields


def _blocks(log: Log, fields: Fields, _: Figures) -> None:
    log.sizes = re.findall(r"\d+", fields.get("sizes", "") + fields.get("more", ""))


def _rates(log: Log, fields: Fields, _: Figures) -> None:
    log.reading.openssl, log.shown = True, True
    rates = fields["rates"].replace(":", " ").split()
    sizes = log.sizes if len(log.sizes) == len(rates) else ["0"] * len(rates)
    for shown, size in zip(rates, sizes, strict=True):
        unit = "kB/s" if shown[-1] == "k" else "B/s"
        rate = log.take(shown.removesuffix("k"), unit, f"{size} bytes" if size != "0" else "")
        counted = log.counts.get((_key(log.name), size))
        if log.forked:  # the table adds up what several processes did
            continue
        log.reading.speeds.append((log.name, int(size), rate))
        if counted and counted["time"].span.low > 0:
            count, time = counted["count"], counted["time"]
            formula = f"{count.text} × {size} bytes ÷ {time.text}"
            log.test(follows("rate", rate, count.span * int(size) / time.span, formula))


def _keys(log: Log, fields: Fields, _: Figures) -> None:
    """Takes the times and the rates of keys, KEMs and signatures; 0.0000s is less than it shows."""
    times, rates = fields["times"].split(), fields["rates"].split()
    for shown, often in zip(times, rates, strict=True) if len(times) == len(rates) else ():
        time, rate = log.take(shown[:-1], "s"), log.take(often, "/s")
        if rate.span.low > 0:
            log.test(follows("per-second", time, exact(1) / rate.span, f"1 ÷ {often}"))


def _about_openssl(log: Log, fields: Fields, _: Figures) -> None:
    log.forked |= "forked" in fields
    log.reading.openssl = True


# -- others ----------------------------------------------------------------------------------------


def _cipher(log: Log, fields: Fields, figures: Figures) -> None:
    name, _, mode = log.name.partition("-")
    bits = int(fields["bits"]) // (2 if mode == "xts" else 1)  # XTS splits the key in two
    log.reading.speeds += [(f"{name}-{bits}-{mode}", 0, rate) for rate in figures.values()]


def _benchmark(log: Log, fields: Fields, _: Figures) -> None:
    log.means = {} if fields["number"] == "1" else log.means


def _mean(log: Log, _: Fields, figures: Figures) -> None:
    log.means[log.name.strip("'")] = figures["mean"]


def _ran(log: Log, fields: Fields, _: Figures) -> None:
    log.fastest = fields["fastest"].strip("'")


def _ratio(log: Log, fields: Fields, figures: Figures) -> None:
    own, other = log.means.get(log.fastest), log.means.get(fields["other"].strip("'"))
    if own and other:
        over, under = (other, own) if fields["way"] == "faster" else (own, other)
        if under.span.low > 0:
            formula = f"{over.text} ÷ {under.text}"
            log.test(follows("factor", figures["factor"], over.span / under.span, formula))


def _percentiles(log: Log, fields: Fields, _: Figures) -> None:
    found = re.findall(r"([\d.]+th)=\[\s*(\d+)", fields["ranks"])
    ranks = [*log.ranks, *(log.take(text, "", name) for name, text in found)]
    log.test(*(in_order("spread", low, high) for low, high in pairwise(ranks)))
    log.ranks = ranks[-1:]


def _machine(log: Log, fields: Fields, _: Figures) -> None:
    key, text = fields["name"], fields["text"]
    if key == "CPU max MHz" and re.fullmatch(r"\d+(?:[.,]\d+)?", text.strip()):
        hertz = log.take(text.strip(), "MHz").span.mid
        log.reading.clock_hz = hertz if log.reading.clock_hz in (0.0, hertz) else -1.0  # two kinds
    elif key == "Flags" and re.search(r"\basimd\b|\bneon\b", text):
        log.reading.lacks_instructions = not re.search(r"\baes\b", text)


READERS: dict[str, Callable[[Log, Fields, Figures], None]] = {
    "counted": _counted, "begins": _begins, "blocks": _blocks, "rates": _rates, "keys": _keys,
    "about_openssl": _about_openssl, "cipher": _cipher, "benchmark": _benchmark, "mean": _mean,
    "ran": _ran, "ratio": _ratio, "percentiles": _percentiles, "machine": _machine,
}  # fmt: skip
