# SPDX-License-Identifier: BSD-2-Clause
"""What measures the kernel's crypto: tcrypt in dmesg, and libkcapi's kcapi-speed."""

from __future__ import annotations

import re

from teemark.audit.sheet import Cell, Lines, Measure, Sheet, given, known
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


def take(sheet: Sheet, lines: Lines) -> Lines:
    rest: Lines = []
    name = "tcrypt"
    for number, line in lines:
        text = line.strip()
        if found := _SPEED.fullmatch(text):
            _kcapi(sheet, number, found)
        elif found := _TESTING.search(text):
            name = found["name"]
            sheet.say(text, number)
        elif found := _TEST.search(text):
            bits = f" {found['bits']} bit" if found["bits"] else ""
            update = f" by {found['update']}" if found["update"] else ""
            _tcrypt(sheet, number, f"{name}{bits}{update}", int(found["size"]), found["result"])
        else:
            rest.append((number, line))
    return rest


def _whole(count: int, unit: str) -> Measure:
    """What integer division cut off is unknown."""
    return known(Span(float(count), count + 0.5, count + 1.0), unit, f"{count} {unit}")


def _tcrypt(sheet: Sheet, line: int, name: str, size: int, result: str) -> None:
    def add(column: str, measure: Measure) -> None:
        sheet.cells.append(Cell("tcrypt", name, column, measure, line, size))

    if found := _RATE.search(result):
        add("operations", _whole(int(found[1]), "count"))
        add("size", given(str(size), "bytes"))
        add("time", given("1.000000000", "s"))
        add("rate", _whole(int(found[2]), "B/s"))
    elif found := _JIFFIES.search(result):
        add("operations", given(found[1], "count"))
        add("size", given(str(size), "bytes"))
        add("bytes done", given(found[3], "bytes"))
    elif found := _CYCLES.search(result):
        add("cycles", given(found[1], "count"))
    else:
        sheet.say(result, line)


def _kcapi(sheet: Sheet, line: int, found: re.Match[str]) -> None:
    shift, step = _SHIFTS[found["unit"]]
    low = (int(found["whole"]) << shift) + int(found["part"] or 0) * step
    text = f"{found['whole']}.{found['part'] or 0} {found['unit']}/s"
    way = {"e": "encryption", "d": "decryption"}[found["way"]]
    size, ops = int(found["size"]), int(found["ops"])
    for column, measure in (
        ("operations", _whole(ops, "count")),
        ("size", given(str(size), "bytes")),
        ("time", given("1.000000000", "s")),
        ("rate", known(Span(float(low), low + step / 2, low + step + 1.0), "B/s", text)),
    ):
        name = f"{found['name'].strip()} {way}"
        sheet.cells.append(Cell("kcapi-speed", name, column, measure, line, size))
