# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: RUF001, SIM905 (signs of arithmetic; lists of words)
"""Finds the numbers in a text, with their units.

Every pattern reads a text once: no repeated part contains a repetition, so that the time can't grow
faster than the text's length."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from teemark.audit.figure import Printed
from teemark.reference.span import Span, printed
from teemark.reference.units import EXACT, UNITS

SPELLINGS = {
    "Bytes": "bytes", "byte": "bytes", "sec": "s", "secs": "s", "seconds": "s", "second": "s",
    "µ s": "µs", "microseconds": "µs", "milliseconds": "ms", "nanoseconds": "ns", "percent": "%",
    "µs/Byte": "µs/B", "µs/byte": "µs/B", "µs per byte": "µs/B", "µs per Byte": "µs/B",
    "ns/byte": "ns/B", "ns per byte": "ns/B", "cycles per byte": "cycles/byte",
    "cycles a byte": "cycles/byte", "cpb": "cycles/byte", "c/B": "cycles/byte",
    "cycles/B": "cycles/byte", "times": "x", "×": "x", "-fold": "x", "fold": "x", ":1": "ratio",
    "Mb/s": "Mbit/s", "Mbps": "Mbit/s", "Gbps": "Gbit/s", "Hz": "/s", "hz": "/s", "k": "kB/s",
}  # fmt: skip
_ONLY_IN_HEADS = ("k", "errno", "ratio", "count", "μ s", "μ s/Byte")
_SPELLED = sorted({*UNITS, *SPELLINGS} - {*_ONLY_IN_HEADS}, key=len, reverse=True)
_UNIT = re.compile("|".join(map(re.escape, _SPELLED)))
_PER_SECOND = re.compile(r"([A-Za-z]{1,20})(?:/s| per second| a second)(?![\w/])")
_SPACES = "\xa0\u202f\u2009"
"""Non-breaking spaces: between thousands, or before a unit."""
_POWER = rf"[ {_SPACES}]?×[ {_SPACES}]?10"
_SUPER = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_FACTORS = {
    "twice": 2, "double": 2, "doubled": 2, "doubles": 2, "twofold": 2, "threefold": 3,
    "fourfold": 4, "fivefold": 5, "tenfold": 10, "hundredfold": 100, "halved": 0.5, "halves": 0.5,
}  # fmt: skip
_TIMES = re.compile(
    r" times(?= (?:as|the|more|less|(?:fast|slow|high|low|larg|small|long|short|bett)e?r))|-fold"
)
"""The words that make a number a factor; "five times" alone is a repetition."""
NUMERALS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8, "ten": 10,
            "hundred": 100}  # fmt: skip
_WORD = re.compile(r"[A-Za-z_.-]+")
_NUMBER = re.compile(
    rf"\d{{1,3}}(?:[,{_SPACES}]\d{{3}})+(?!\d)(?:\.\d+)?|"
    rf"\d+(?:\.\d+)?(?:e[+-]?\d\d?|{_POWER}[⁻⁰¹²³⁴-⁹]{{1,3}})?|"
    rf"\b(?:{'|'.join(_FACTORS)})\b|\b(?:{'|'.join(NUMERALS)})(?={_TIMES.pattern})"
)
LONGEST = 40
"""Most characters of a number; longer ones are ignored."""
_MONTHS = frozenset(
    "january february march april may june july august september october november december".split()
)
_NAMES = _MONTHS | frozenset(
    "version release linux kernel op-tee optee openssl gcc clang cmake python table figure fig "
    "section chapter slide page line issue ticket pr revision step appendix ryzen core ghz of-line "
    "tls yocto styhead raspberry pi model".split()
)
"""Words that make the number behind them, if it has no unit, part of a name."""
_ABOUT = {
    "~": ("~", "≈", "about", "approximately", "roughly", "around", "nearly"),
    "<": ("<", "≤", "below", "under", "less than", "up to", "at most"),
    ">": (">", "≥", "above", "over", "more than", "exceeds", "at least"),
}


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text, from `start` to `end`; `noun` is what it counts. `unit` is empty if the
    text names none."""

    start: int
    end: int
    value: str
    unit: str
    noun: str = ""
    about: str = ""
    upper: str = ""
    sign: str = ""

    def figure(self, unit: str = "count", **place: Any) -> Printed:
        """Returns the number as a figure; `unit` applies if the text names none."""
        unit = self.unit or unit
        number, high = Decimal(self.value), Decimal(self.upper) if self.upper else None
        counted = unit in EXACT and "." not in self.value
        span = printed(number, high, 1.0 if self.about == "~" else 0.0 if counted else 0.5)
        span *= UNITS[unit][1]
        if self.about == "<":
            span = Span(min(0.0, span.low), span.mid, span.high)
        elif self.about == ">":
            span = Span(span.low, span.mid, max(span.high, span.mid) * 1e9)
        text = self.about + (f"{self.value} to {self.upper}" if self.upper else self.value)
        text += "" if unit in ("count", "errno", "ratio") else f" {unit}"
        if self.sign == "-":
            text, span = f"-{text}", span * -1
        own: dict[str, Any] = {"start": self.start, "digits": self.value}
        return Printed(text, span, unit, **own | place)


def plain(text: str) -> str:
    """Returns the text without signs of emphasis, and with one spelling of the letter micro."""
    return _NO_BREAK.sub(" ", text.translate(_PLAIN)).strip()


_PLAIN = str.maketrans({"*": None, "`": None, "μ": "µ", "−": "-", "–": "-"})
_NO_BREAK = re.compile(r"(?<!\d)\xa0|\xa0(?!\d{3}(?!\d))")
"""A non-breaking space that can't separate thousands."""


def unit_named(text: str) -> str:
    """Returns the unit that a heading is, or has in brackets; "" if there is none."""
    for part in (text, *(part.partition(")")[0] for part in text.split("(")[1:])):
        name = SPELLINGS.get(part.strip(), part.strip())
        if name in UNITS and name != "count":
            return name
    return ""


def numbers(text: str) -> list[Number]:
    """Returns all numbers of a plain text that aren't part of a name, a date or a version."""
    return _inherited(text, _ranges(text, _each(text)))


def _each(text: str) -> Iterator[Number]:
    past = 0
    for match in _NUMBER.finditer(_masked(text)):
        start, end = match.span()
        if start < past or end - start > LONGEST:
            continue
        before, after = text[max(0, start - 24) : start], text[end : end + 1]
        unit, past_unit, noun = ("x", end, "") if match[0] in _FACTORS else _unit_at(text, end)
        if _in_name(text, before, start, end) or (not unit and (after.isalpha() or after == "_")):
            continue
        words = _WORD.findall(before) if before.rstrip()[-1:].isalpha() else []
        following = _WORD.match(text, end + 1)
        month = following is not None and following[0].lower() in _MONTHS
        named = bool(words) and words[-1].strip(".").lower() in _NAMES
        if not unit and (named or month):
            continue
        value = re.sub(_POWER, "e", match[0]).translate(_SUPER)
        value = re.sub(rf"[,{_SPACES}]", "", value)
        if match[0].isalpha():
            value = str((_FACTORS | NUMERALS)[match[0]])
        elif "e" in value:
            value = format(Decimal(value), "f")
        past = past_unit
        about = next((sign for sign, end in _ABOUT.items() if before.rstrip().endswith(end)), "")
        alone = before.endswith("-") and (len(before) == 1 or before[-2] in " (|")
        sign = "+" if before.endswith("+") else "-" * alone
        yield Number(start, past, value, unit, noun, about, sign=sign)


def _masked(text: str) -> str:
    """Returns the text with blanks in place of names that have digits: files, hashes, dates, times,
    versions."""
    return re.sub(r"\S+", lambda word: " " * len(word[0]) if _is_name(word[0]) else word[0], text)


def _is_name(shown: str) -> bool:
    word = shown.strip("()[]<>.,;:\"'")
    tail = word.rpartition(".")[2]
    named = (
        (tail.isalpha() and 2 <= len(tail) <= 4 and "." in word and "/" not in word)
        or word.startswith(("0x", "/", "+"))
        or ("-" in word and len(word) > 20)
        or (len(word) >= 16 and word.isalnum())
    )
    mixed = any(map(str.isdigit, word)) and any(map(str.isalpha, word))
    return (mixed and named) or bool(_DATED.match(word))


_DATED = re.compile(r"v*\d+\.\d+\.\d+(?:\.|$)|(?:\d+-\d+-\d+|\d+:\d+(?::\d+)?)$|#|v[1-4]")


def _in_name(text: str, before: str, start: int, end: int) -> bool:
    """Returns true if a number is no figure: part of a word such as SHA-256, the number of a list
    item, or a reference such as [1]."""
    previous = before[-1:]
    glued = previous.isalpha() or (bool(previous) and previous in "_.#")
    glued |= bool(previous) and previous in "-/" and before[-2:-1].isalpha()
    listed = start < 8 and not text[:start].strip() and text[end : end + 2] in (". ", ") ")
    return glued or listed or (previous == "[" and text[end : end + 1] in ("]", "."))


def _unit_at(text: str, end: int) -> tuple[str, int, str]:
    """Returns the unit after a number, where it ends, and the noun counted per second."""
    fold = text.startswith("-fold", end)
    at = end + (text[end : end + 1] in (" ", *_SPACES) or fold)
    match = _PER_SECOND.match(text, at)
    if match and match[1] not in UNITS and match[1] not in SPELLINGS:
        return "/s", match.end(), match[1]
    match = _UNIT.match(text, at) or _UNIT.match(text, end)
    if match is None:
        return "", end, ""
    after = text[match.end() : match.end() + 2]
    unit = SPELLINGS.get(match[0], match[0])
    repeated = match[0] == "times" and not _TIMES.match(text, at - 1)
    repeated &= not text[max(0, end - 24) : end].rstrip("0123456789. ").endswith(" by")
    product = unit == "x" and after.strip()[:1].isdigit()
    if after[:1].isalnum() or after[:1] in tuple("_/^") or repeated or product:
        return "", end, ""
    return unit, match.end(), ""


def _ranges(text: str, singles: Iterable[Number]) -> list[Number]:
    """Merges neighbouring numbers that are the ends of a range."""
    made: list[Number] = []
    for number in singles:
        last = made[-1] if made and "=" not in text else None
        if last is not None and not last.upper:
            between = text[last.end : number.start].strip(" ~")
            same = last.unit in ("", number.unit) and number.unit
            source = "from" in text[max(0, last.start - 30) : last.start].split()
            rises = float(last.value) < float(number.value)
            if same and rises and between in ("-", "to", "…", "...") and not source:
                made.pop()
                number = replace(  # noqa: PLW2901
                    number,
                    start=last.start,
                    value=last.value,
                    upper=number.value,
                    about=last.about or number.about,
                    sign=number.sign.strip("-"),
                )
        made.append(number)
    return made


def _inherited(text: str, all_numbers: list[Number]) -> list[Number]:
    """Gives every number of a list such as "12.1, 12.3 and 12.0 ms" the unit of the last."""
    for index in range(len(all_numbers) - 2, -1, -1):
        number, after = all_numbers[index], all_numbers[index + 1]
        between = text[number.end : after.start].strip()
        joined = between in (",", "and", "or", "to", ", and", "/", "against", "vs", "vs.")
        year = len(number.value) == 4 and number.value.startswith(("19", "20"))
        if not number.unit and after.unit and joined and not year and after.unit != "/s":
            all_numbers[index] = replace(number, unit=after.unit)
    return all_numbers
