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
_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?(?:e[+-]?\d\d?)?"
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
_FIELD = re.compile(r"[a-z]\w*")
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
    # benchmarks use powers of two as sizes, and nobody rounds to them
    counted |= unit in ("KiB", "MiB", "GiB") and value % 1 == 0 and int(value).bit_count() == 1
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


def fits(value: Span, shown: Span, slack: float = SLACK) -> bool:
    room = slack * max(abs(value.mid), abs(shown.mid))
    return Span(value.low - room, value.mid, value.high + room).overlaps(shown)


def loose(one: Printed) -> Printed:
    """Returns a size or rate whose MB may be MiB: many programs mix them up."""
    if one.unit.partition("/")[0] not in ("kB", "KB", "MB", "GB"):
        return one
    binary = UNITS[f"{one.unit[0].upper()}i{one.unit[1:]}"][1] / UNITS[one.unit][1]
    return replace(one, span=Span(one.span.low, one.span.mid, one.span.high * binary))


def related(
    relations: Sequence[str],
    figures: Mapping[str, Printed],
    slack: float = SLACK,
    *,
    wide: bool = False,
) -> Iterator[Tested]:
    """Tests those relations whose fields are all there; `wide` lets megabytes be binary."""
    figures = {key: loose(one) for key, one in figures.items()} if wide else figures
    for relation in relations:
        rule, _, formula = relation.partition(": ")
        if set(_FIELD.findall(formula)) - set(figures):
            continue
        target, _, value = formula.partition(" = ")
        if value:
            with suppress(ZeroDivisionError):
                shown, its = figures[target], _value(value, figures)
                due = f"{number(its.mid / UNITS[shown.unit][1])} {shown.unit}"
                due = due if shown.dimension in ("size", "rate") else amount(its, shown.dimension)
                wrong = f"{shown.name}: {shown.text} is printed, but {_words(value, figures)} = "
                yield Tested(rule, shown, fits(its, shown.span, slack or 1e-9), f"{wrong}{due}.")
        for low, high in pairwise(formula.split(" <= ")):
            yield _in_order(rule, low, high, figures, slack)


def _in_order(
    rule: str, low: str, high: str, figures: Mapping[str, Printed], slack: float
) -> Tested:
    """Checks that `low` isn't above `high`. Rounding both to as many decimals keeps their order."""
    least, most = _value(low, figures), _value(high, figures)
    ends = [figures[name] for name in _FIELD.findall(f"{low} {high}")]
    alike = len({(one.unit, len(one.digits.partition(".")[2])) for one in ends}) == 1
    good = least.low <= most.high + slack * abs(most.high)
    if alike and len(ends) == 2:  # sums of floating point aren't exact
        good = least.mid - most.mid <= 1e-9 * abs(most.mid)
    sums = f" = {amount(least, ends[0].dimension)}" * (len(ends) > 2)
    above, below = (_words(end, figures, names=True) for end in (low, high))
    last = max(ends, key=lambda one: one.line)
    return Tested(rule, last, good, f"{above}{sums} is more than {below}.")


def _value(formula: str, figures: Mapping[str, Printed]) -> Span:
    def leaf(node: ast.expr) -> Span:
        text = ast.unparse(node)
        return figures[text].span if text in figures else exact(float(text))

    value: Span = evaluated(ast.parse(formula, mode="eval").body, leaf)
    return value


def _words(formula: str, figures: Mapping[str, Printed], *, names: bool = False) -> str:
    shown = {
        name: f"{one.text} ({one.name})" if names else one.text for name, one in figures.items()
    }
    return _FIELD.sub(lambda at: shown[at[0]], formula.replace(" * ", " × ").replace(" / ", " ÷ "))


def number(value: float, digits: int = 4) -> str:
    """Writes a number with `digits` significant digits and no zeros at the end; digits before the
    point are never dropped: 85 044 or 0.0759."""
    whole = abs(value) >= 10 ** (digits - 1)
    return fmt.count(round(value)) if whole else f"{value:.{digits}g}".replace("-", fmt.MINUS, 1)


_NAMES = {"rate": (1e6, "MB/s"), "size": (1e6, "MB"), "time per byte": (1e-9, "ns/B"),
          "share": (0.01, "%"), "factor": (1.0, "x")}  # fmt: skip


def amount(value: float | Span, dimension: str, digits: int = 4) -> str:
    """Writes a value, which is in base units, with a unit: 5.556 ms, 12.5 MB/s, 99.86 %."""
    value = value.mid if isinstance(value, Span) else value
    factor, unit = _NAMES.get(dimension, (1.0, ""))
    if dimension == "time":
        factor, unit = fmt.unit_of(value * 1e9)
        factor /= 1e9
    return f"{number(value / factor, digits)} {unit}".rstrip()
