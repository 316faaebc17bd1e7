# SPDX-License-Identifier: BSD-2-Clause
"""What measures the kernel's crypto: tcrypt in dmesg, and libkcapi's kcapi-speed."""

from __future__ import annotations

import re

from teemark.audit.figure import Figure, Lines, Reading, cell
from teemark.reference.span import Span

_TESTING = re.compile(r"testing speed of (?:async |multibuffer )*(?P<name>.+?)\s*$")
_TEST = re.compile(
    r"test\s+\d+ \(\s*(?:(?P<bits>\d+) bit key,\s*)?(?P<size>\d+) byte blocks"
    r"(?:,\s*(?P<update>\d+) bytes per update,\s*\d+ updates)?\):\s*(?P<result>.*)"
)
_RATE = re.compile(r"(\d+) opers/sec,\s*(\d+) bytes/sec")
_JIFFIES = re.compile(r"(\d+) operations in (\d+) seconds \((\d+) bytes\)")
_CYCLES = re.compile(r"1 operation in (\d+) cycles \((\d+) bytes\)")
_SPEED = re.compile(
    r"(?P<name>\S.{0,40}?)\s*\|(?P<way>[ed])\|\s*(?P<size>\d+) bytes\|"
    r"\s*(?P<whole>\d+)(?:\.(?P<part>\d+))? (?P<unit>B|kB|MB|GB)/s\|(?P<ops>\d+) ops/s"
)
_SHIFTS = {"B": (0, 0), "kB": (10, 10), "MB": (20, 10_000), "GB": (30, 10_000_000)}
"""kcapi-speed's units: a power of two, and what a step of the digits after the point is."""


def take(reading: Reading, lines: Lines) -> Lines:
    rest: Lines = []
    name = "tcrypt"
    for number, line in lines:
        text = line.strip()
        if found := _SPEED.fullmatch(text):
            _kcapi(reading, number, found)
        elif found := _TESTING.search(text):
            name = found["name"]
            reading.said.append((text, number))
        elif found := _TEST.search(text):
            bits = f" {found['bits']} bit" if found["bits"] else ""
            update = f" by {found['update']}" if found["update"] else ""
            _tcrypt(reading, number, f"{name}{bits}{update}", int(found["size"]), found["result"])
        else:
            rest.append((number, line))
    return rest


def _add(  # noqa: PLR0917 - as above
    reading: Reading,
    where: tuple[str, str, int, int],
    column: str,
    span: Span,
    text: str,
    unit: str,
) -> None:
    """A figure whose last digits a program cut off."""
    table, name, line, size = where
    reading.figures.append(
        Figure(text, span, unit, table, name, column, line, sentence=line, size=size)
    )


def _cut_off(count: int) -> Span:
    """What integer division cut off is unknown."""
    return Span(float(count), count + 0.5, count + 1.0)


def _second(reading: Reading, where: tuple[str, str, int, int], operations: str) -> None:
    """What one second did: so many operations of a size."""
    table, name, line, size = where
    _add(reading, where, "operations", _cut_off(int(operations)), operations, "count")
    reading.figures.append(cell(table, name, "size", str(size), "bytes", line, size))
    reading.figures.append(cell(table, name, "time", "1.000000000", "s", line, size))


def _tcrypt(reading: Reading, line: int, name: str, size: int, result: str) -> None:
    where = ("tcrypt", name, line, size)
    if found := _RATE.search(result):
        _second(reading, where, found[1])
        _add(reading, where, "rate", _cut_off(int(found[2])), f"{found[2]} B/s", "B/s")
    elif found := _JIFFIES.search(result):
        for column, value, unit in (
            ("operations", found[1], "count"),
            ("size", str(size), "bytes"),
            ("bytes done", found[3], "bytes"),
        ):
            reading.figures.append(cell("tcrypt", name, column, value, unit, line, size))
    elif found := _CYCLES.search(result):
        reading.figures.append(cell("tcrypt", name, "cycles", found[1], "cycles", line, size))
    else:
        reading.said.append((result, line))


def _kcapi(reading: Reading, line: int, found: re.Match[str]) -> None:
    shift, step = _SHIFTS[found["unit"]]
    low = (int(found["whole"]) << shift) + int(found["part"] or 0) * step
    text = f"{found['whole']}.{found['part'] or 0} {found['unit']}/s"
    way = {"e": "encryption", "d": "decryption"}[found["way"]]
    where = ("kcapi-speed", f"{found['name'].strip()} {way}", line, int(found["size"]))
    _second(reading, where, found["ops"])
    _add(reading, where, "rate", Span(float(low), low + step / 2, low + step + 1.0), text, "B/s")
