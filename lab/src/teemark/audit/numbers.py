# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: RUF001 (signs as documents print them)
"""Reads printed numbers with their units, and writes numbers as the audit shows them.

No pattern has a repetition within a repetition, so that its time grows no faster than the text."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import Any

from teemark.audit.figure import Printed, Tested
from teemark.reference.span import Span, evaluated, exact, printed
from teemark.reference.units import EXACT, UNITS
from teemark.wording import fmt

SLACK = 0.005
"""Share by which a figure may miss the value that follows from others, beyond the rounding of all
of them: programs compute with digits that they don't print."""

SPELLINGS = {
    "Bytes": "bytes", "byte": "bytes", "sec": "s", "secs": "s", "seconds": "s", "second": "s",
    "usec": "µs", "msec": "ms", "nsec": "ns", "us": "µs", "microseconds": "µs",
    "milliseconds": "ms", "nanoseconds": "ns", "percent": "%", "µs/byte": "µs/B", "us/B": "µs/B",
    "µs per byte": "µs/B", "ns/byte": "ns/B", "ns per byte": "ns/B", "cpb": "cycles/byte",
    "cycles per byte": "cycles/byte", "c/B": "cycles/byte", "cycles/B": "cycles/byte", "×": "x",
    "times": "x", ":1": "ratio", "Mb/s": "Mbit/s", "Mbps": "Mbit/s", "Gbps": "Gbit/s",
    "Mbits/sec": "Mbit/s", "Gbits/sec": "Gbit/s", "Hz": "/s", "ops/s": "/s", "ops/sec": "/s",
    "op/s": "/s", "IOPS": "/s", "sign/s": "/s", "verify/s": "/s", "msg/s": "/s", "req/s": "/s",
    "calls/s": "/s", "KiB/sec": "KiB/s", "MB/sec": "MB/s", "MiB/sec": "MiB/s", "KB/sec": "KB/s",
    "bytes/s": "B/s", "bytes/sec": "B/s", "cycle": "cycles",
}  # fmt: skip
_UNITS = sorted({*UNITS, *SPELLINGS} - {"errno", "ratio", "count", "ms^2", "/s"}, key=len)
_UNIT = "|".join(re.escape(unit) for unit in reversed(_UNITS))
_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?(?:e[+-]?\d+)?"
_VALUE = re.compile(
    rf"(?P<about>[~≈<>≤≥]|about |ca\. )? ?(?P<sign>[+-]?) ?(?P<value>{_DIGITS})"
    rf"(?: ?(?:-|…|\.\.\.?|to) ?(?P<upper>{_DIGITS}))?(?: ?(?:±|\+/-) ?[\d.,]+(?: ?%)?)?"
    rf" ?(?P<unit>(?:{_UNIT})(?![\w/^]))?(?P<note>[ ,(→].*)?"
)
NUMBER = re.compile(r"(?<![\w.:/#-])\d+(?:\.\d+)?(?![\w:/#]|[.-]\d)")
"""A number that is no part of a name, a date or a version."""
_CLEAN = str.maketrans("μ−–“”⁻⁰¹²³⁴⁵⁶⁷⁸⁹", 'µ--""-0123456789')
_GROUPS = re.compile("(?<=\\d)[\xa0\u202f\u2009'](?=\\d{3}(?!\\d))")
_POWER = re.compile("[\xa0\u202f\u2009 ]?×[\xa0\u202f\u2009 ]?10([⁻⁰¹²³⁴-⁹]{1,3})")
LONGEST = 40  # Most characters of a figure's number that are read


def plain(text: str) -> str:
    """Returns the text with one spelling of signs, digits without groups by spaces, and without
    Markdown's emphasis; an asterisk beside a digit multiplies."""
    text = _POWER.sub(r"e\1", _GROUPS.sub("", text))
    text = re.sub("[\xa0\u202f\u2009]", " ", text.translate(_CLEAN))
    return re.sub(r"\*\*|`|(?<![\w)*])\*(?=[^\s*])|(?<=[^\s\d)*])\*(?!\S)", "", text)


def unit_named(text: str) -> str:
    """Returns the unit that a heading is or ends with, bare or in brackets; "" if there is none."""
    inside: list[str] = re.findall(r"[\[(]([^\[\]()]*)[\])]", text)
    for part in (*inside, *(one.split(",")[0] for one in inside), text, text.rpartition(" ")[2]):
        name = SPELLINGS.get(part.strip(), part.strip())
        if name in UNITS and name != "count":
            return name
    return ""


def figure(text: str, unit: str = "", **place: Any) -> Printed | None:
    """Returns the figure that a text is, with what stands behind it as its note; None if the text
    doesn't begin with a number, or goes on without a blank. `unit` applies if the text has none."""
    match = _VALUE.fullmatch(text.strip())
    if match is None or len(match["value"]) > LONGEST:
        return None
    unit = match["unit"] or unit or "count"
    unit, note = SPELLINGS.get(unit, unit), match["note"] or ""
    if not match["unit"] and re.match(r" [A-Za-z]", note):
        unit = "count"
    value, upper = _decimal(match["value"]), _decimal(match["upper"]) if match["upper"] else None
    if upper is not None and (upper <= value or match["sign"]):
        return None
    about = match["about"] or ""
    counted = unit in EXACT and "." not in match["value"]
    span = printed(value, upper, 1.0 if about not in ("", "<", ">", "≤", "≥") else 0.5)
    span = exact(float(value)) if counted and not about and upper is None else span
    span *= UNITS[unit][1]
    if about in ("<", "≤"):
        span = Span(min(0.0, span.low), span.mid, span.high)
    elif about in (">", "≥"):
        span = Span(span.low, span.mid, span.high * 1e9)
    shown = about + (f"{match['value']} to {match['upper']}" if upper else match["value"])
    shown += "" if unit in ("count", "errno", "ratio") else f" {unit}"
    if match["sign"]:
        shown = match["sign"] + shown
        span *= -1 if match["sign"] == "-" else 1
    return Printed(shown, span, unit, digits=match["value"], note=note.strip(), **place)


def _decimal(text: str) -> Decimal:
    """Returns the value; a comma that isn't between thousands is a decimal one."""
    grouped = re.fullmatch(r"[1-9]\d{0,2},\d{3}|.*,.*[,.].*", text)
    return Decimal(format(Decimal(text.replace(",", "" if grouped else ".")), "f"))


def rounded(one: Printed) -> Printed:
    """Returns a figure as one that was rounded, though its number without a unit looks counted."""
    return replace(one, unit="x", span=printed(_decimal(one.digits)))


def whole(one: Printed) -> Printed:
    """Takes 1 MiB, 64 KiB or another power of two for exact, since benchmarks use such sizes and
    nobody rounds to them. Any other figure keeps its range."""
    power = one.unit in ("KiB", "MiB", "GiB") and re.fullmatch(r"[1-9]\d*", one.digits)
    exactly = power and int(one.digits).bit_count() == 1
    return replace(one, span=exact(one.span.mid)) if exactly else one


# -- comparing -------------------------------------------------------------------------------------


def fits(value: Span, shown: Span, slack: float = SLACK) -> bool:
    room = slack * max(abs(value.mid), abs(shown.mid))
    return Span(value.low - room, value.mid, value.high + room).overlaps(shown)


def loose(one: Printed) -> Span:
    """Returns the range of a size or rate whose MB may be MiB: many programs mix them up."""
    if one.unit.partition("/")[0] in ("kB", "KB", "MB", "GB"):
        binary = UNITS[f"{one.unit[0].upper()}i{one.unit[1:]}"][1] / UNITS[one.unit][1]
        return Span(one.span.low, one.span.mid, one.span.high * binary)
    return one.span


def follows(
    rule: str,
    shown: Printed,
    value: Span,
    formula: str,
    slack: float = SLACK,
    *,
    wide: bool = False,
) -> Tested:
    """Checks that a figure is what its formula gives; `wide` lets its megabytes be binary."""
    wrong = f"{shown.name}: {shown.text} is printed, but {formula} = "
    size = shown.dimension in ("size", "rate")
    own = f"{number(value.mid / UNITS[shown.unit][1])} {shown.unit}"
    wrong += f"{own if size else amount(value, shown.dimension)}."
    return Tested(rule, shown, fits(value, loose(shown) if wide else shown.span, slack), wrong)


def in_order(rule: str, low: Printed, high: Printed) -> Tested:
    """Checks that `low` isn't above `high`. Rounding both to as many decimals keeps their order."""
    decimals = {len(one.digits.partition(".")[2]) for one in (low, high)}
    alike = low.unit == high.unit and len(decimals) == 1
    good = low.span.mid <= high.span.mid if alike else low.span.low <= high.span.high
    last = max(low, high, key=lambda one: one.line)
    return Tested(rule, last, good, f"{low.text} ({low.name}) is above {high.text} ({high.name}).")


def related(
    relations: Sequence[str],
    figures: Mapping[str, Printed],
    slack: float = SLACK,
    *,
    wide: bool = False,
) -> Iterator[Tested]:
    """Tests those relations whose fields are all there; `wide` lets megabytes be binary."""
    for relation in relations:
        rule, _, formula = relation.partition(": ")
        if set(re.findall(r"[a-z]\w*", formula)) - set(figures):
            continue
        spans = {key: loose(one) if wide else one.span for key, one in figures.items()}
        ends, (target, _, value) = formula.split(" <= "), formula.partition(" = ")
        if rule == "spread" and not re.search(r" [-=] ", formula):
            yield from (in_order(rule, figures[a], figures[b]) for a, b in pairwise(ends))
        elif len(ends) > 1:
            low, high = (_value(end, spans) for end in ends)
            names = re.findall(r"[a-z]\w*", ends[0])
            one = max((figures[name] for name in names), key=lambda figure: figure.line)
            sums = f" = {amount(low, one.dimension)}" * (len(names) > 1)
            wrong = f"{_words(ends[0], figures, names=True)}{sums} is more than "
            good = low.low <= high.high * (1 + slack)
            yield Tested(rule, one, good, f"{wrong}{_words(ends[1], figures, names=True)}.")
        else:
            with suppress(ZeroDivisionError):
                follow = _value(value, spans), _words(value, figures), slack or 1e-9
                yield follows(rule, figures[target], *follow, wide=wide)


def _value(formula: str, spans: Mapping[str, Span]) -> Span:
    def leaf(node: ast.expr) -> Span:
        return spans[node.id] if isinstance(node, ast.Name) else exact(float(ast.unparse(node)))

    value: Span = evaluated(ast.parse(formula, mode="eval").body, leaf)
    return value


def _words(formula: str, figures: Mapping[str, Printed], *, names: bool = False) -> str:
    shown = {
        name: f"{one.text} ({one.name})" if names else one.text for name, one in figures.items()
    }
    text = re.sub(r"[a-z]\w*", lambda name: shown[name[0]], formula)
    return text.replace(" * ", " × ").replace(" / ", " ÷ ")


# -- numbers as the audit writes them --------------------------------------------------------------


def number(value: float, digits: int = 4) -> str:
    """Writes a number with `digits` significant digits and no zeros at the end; digits before the
    point are never dropped: 85 044 or 0.0759."""
    if abs(value) >= 10 ** (digits - 1):
        return fmt.count(round(value))
    text, power, rest = fmt.digits(value, digits).partition(f"{fmt.THIN}{fmt.TIMES}")
    return (text.rstrip("0").rstrip(".") if "." in text else text) + power + rest


_NAMES = {
    "time": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "rate": ((1e6, "MB/s"), (1e3, "kB/s"), (1.0, "bytes/s")),
    "size": ((1e6, "MB"), (1e3, "kB"), (1.0, "bytes")),
    "time per byte": ((1e-6, "µs/B"), (1e-9, "ns/B")),
    "share": ((0.01, "%"),),
    "factor": ((1.0, "x"),),
}


def amount(value: float | Span, dimension: str, digits: int = 4) -> str:
    """Writes a value, in base units, in the unit that reads best: 5.556 ms, 12.5 MB/s, 99.86 %."""
    value = value.mid if isinstance(value, Span) else value
    names = _NAMES.get(dimension, ((1.0, ""),))
    size, name = next((unit for unit in names if abs(value) >= unit[0]), names[-1])
    return f"{number(value / size, digits)} {name}".rstrip()
