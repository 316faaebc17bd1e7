# SPDX-License-Identifier: BSD-2-Clause
"""What a parser makes of a text: cells with their numbers as printed, and what is said in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from teemark.reference.span import Span, printed
from teemark.reference.units import EXACT, UNITS

_NUMBER = r"[-−]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?"  # noqa: RUF001
_SPELLINGS = {
    "k": "kB/s",
    ":1": "ratio",
    "Bytes": "bytes",
    "byte": "bytes",
    "sec": "s",
    "seconds": "s",
    "µ s": "µs",
    "µs/Byte": "µs/B",
}
_UNIT = "|".join(sorted((re.escape(unit) for unit in (*UNITS, *_SPELLINGS)), key=len, reverse=True))
_MEASURE = re.compile(
    rf"(?P<about>[~≈<>≤≥]|about |approximately )?\s*(?P<low>{_NUMBER})"
    rf"(?:\s?(?P<own>{_UNIT}))??(?:\s*(?:-|–|to|…)\s*~?(?P<high>{_NUMBER}))?"  # noqa: RUF001
    rf"\s?(?P<unit>{_UNIT})?(?![\w/^])"
)
_EMPHASIS = re.compile(r"[*`]+")
_IN_BRACKETS = re.compile(r"\s*[(\[]([^)\]]*)[)\]]")
_TRAIL = re.compile(r"\s*(?:\(.*\)|total|per IPC call|per call|faster|[.,;])*\s*$", re.I)


Lines = list[tuple[int, str]]
"""What is left of a text for the next parser: numbers of lines, and the lines."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A printed number: the digits, what they can stand for in base units, and the unit."""

    text: str
    span: Span
    unit: str
    step: float  # what one more of the last digit would add
    digits: str = ""
    is_range: bool = False

    @property
    def dimension(self) -> str:
        return UNITS[self.unit][0] if self.unit in UNITS else ""


@dataclass(frozen=True, slots=True)
class Cell:
    table: str
    row: str
    column: str
    measure: Measure
    line: int
    size: int | None = None  # of a message, where that isn't in the headings
    inferred: str = ""  # why, of what the document doesn't say


@dataclass(frozen=True, slots=True)
class Statement:
    text: str
    line: int


@dataclass(slots=True)
class Sheet:
    """A text, read. `said` is all of it that isn't a figure of a known form."""

    file: str
    title: str = ""
    cells: list[Cell] = field(default_factory=list)
    said: list[Statement] = field(default_factory=list)
    emulated: bool = False
    core: str = ""
    clock_hz: float = 0.0

    def say(self, text: str, line: int) -> None:
        self.said.append(Statement(text, line))


def plain(text: str) -> str:
    """Without the signs of emphasis, and with one letter for micro."""
    return _EMPHASIS.sub("", text).replace("\N{GREEK SMALL LETTER MU}", "µ").strip()


def label(text: str) -> tuple[str, str]:
    """A heading and the unit that it names in brackets: ("avg", "ms") of "avg(ms)"."""
    name = plain(text)
    for found in _IN_BRACKETS.finditer(name):
        if found[1].strip() in UNITS:
            return (name[: found.start()] + name[found.end() :]).strip(), found[1].strip()
    return name, ""


def measure(text: str, unit: str = "") -> Measure | None:
    """The number that a cell holds, and nothing else but a unit or a remark in brackets."""
    text = plain(text)
    found = _MEASURE.match(text)
    if found is None or not _TRAIL.fullmatch(text[found.end() :]):
        return None
    return _made(found, unit)


def measures(text: str) -> Iterator[Measure]:
    """Every number with a unit in a sentence."""
    for found in _MEASURE.finditer(plain(text)):
        if found["unit"] or found["own"]:
            yield _made(found, "")


def given(value: str, unit: str) -> Measure:
    """A number that a program printed in a place where only that can stand."""
    number = Decimal(value)
    size = UNITS[unit][1]
    text = value if unit == "count" else f"{value} {unit}"
    digits = 0.0 if unit in EXACT else 0.5
    step = 10.0 ** _exponent(number) * size
    return Measure(text, printed(number, None, digits) * size, unit, step, value)


def known(span: Span, unit: str, text: str) -> Measure:
    """A number that isn't printed but known, such as a median with its interval."""
    return Measure(text, span, unit, 0.0)


def _made(found: re.Match[str], unit: str) -> Measure:
    unit = found["unit"] or found["own"] or unit or "count"
    unit = _SPELLINGS.get(unit, unit)
    low = _decimal(found["low"])
    high = _decimal(found["high"]) if found["high"] else None
    if high is not None and high <= low:
        high = None
    about = (found["about"] or "").strip()
    size = UNITS[unit][1]
    digits = 1.0 if about else 0.0 if unit in EXACT else 0.5
    span = printed(low, high, digits) * size
    if about in ("<", "≤"):
        span = Span(min(0.0, span.low), span.mid, span.high)
    elif about in (">", "≥"):
        span = Span(span.low, span.mid, max(span.high, span.mid) * 1e9)
    text = found[0].strip()
    if not found["unit"] and not found["own"] and unit not in ("count", "ratio", "errno"):
        text += f" {unit}"
    shown = found["low"].replace(",", "")
    step = 10.0 ** _exponent(low) * size
    return Measure(text, span, unit, step, shown, is_range=high is not None)


def _decimal(text: str) -> Decimal:
    return Decimal(text.replace(",", "").replace("−", "-"))  # noqa: RUF001


def _exponent(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return min(exponent, 0)
