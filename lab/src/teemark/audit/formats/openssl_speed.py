# SPDX-License-Identifier: BSD-2-Clause
"""`openssl speed`, of OpenSSL 1.1 to 3.5: for people, and with -mr for machines."""

from __future__ import annotations

import re

from teemark.audit.figure import Lines, Reading, cell
from teemark.base.errors import DataError

TABLE = "openssl speed"
_DOING = re.compile(
    r"Doing (?P<name>.+?)(?: ops)? for (?P<asked>\d+)s on (?P<size>\d+) size blocks: "
    r"(?P<count>\d+) .* in (?P<time>\d+\.\d+)s"
)
_TYPE = re.compile(r"type((?:\s+\d+ bytes)+)\s*")
_RATES = re.compile(r"(?P<name>\S.*?)((?:\s+\d+\.\d+k)+)\s*")
_KEYS = re.compile(r"(?P<name>\S.*?)(?P<times>(?:\s+\d+\.\d+s)+)(?P<rates>(?:\s+\d+\.\d+)+)\s*")
_MACHINE = re.compile(r"\+(DT|R|H|F|DTP|R\d|F\d):(.*)")


def take(reading: Reading, lines: Lines) -> Lines:
    rest: Lines = []
    sizes: list[int] = []
    asked = ("", 0)
    for number, line in lines:
        text = line.strip()
        if found := _DOING.fullmatch(text):
            where = (number, found["name"], int(found["size"]))
            _add(reading, where, asked=f"{found['asked']} s")
            _done(reading, where, found["count"], found["time"])
        elif found := _TYPE.fullmatch(text):
            sizes = [int(size) for size in re.findall(r"\d+", found[1])]
        elif sizes and (found := _RATES.fullmatch(text)):
            rates = re.findall(r"(\S+)k(?!\S)", found[2])
            _row(reading, (number, found["name"]), sizes, [f"{rate} kB/s" for rate in rates])
        elif found := _KEYS.fullmatch(text):
            times, rates = found["times"].replace("s", "").split(), found["rates"].split()
            for index, (time, rate) in enumerate(zip(times, rates, strict=False), 1):
                key = (number, f"{found['name']}, line {number}, {index}", None)
                _add(reading, key, time=f"{time} s", per_second=f"{rate} /s")
        elif found := _MACHINE.fullmatch(text):
            try:
                sizes, asked = _machine(reading, (number, found[1], found[2]), sizes, asked)
            except (ValueError, ArithmeticError, IndexError):
                raise _wrong(reading, number, text) from None
        else:
            rest.append((number, line))
    return rest


def _machine(
    reading: Reading, said: tuple[int, str, str], sizes: list[int], asked: tuple[str, int]
) -> tuple[list[int], tuple[str, int]]:
    """A line of -mr; the sizes of the head and what was announced last, from then on."""
    line, kind, cells = said[0], said[1], said[2].split(":")
    if kind == "DT":
        asked = (cells[0], int(cells[2]))
        _add(reading, (line, *asked), asked=f"{cells[1]} s")
    elif kind == "R" and cells[1] == asked[0]:
        _done(reading, (line, *asked), cells[0], cells[2])
    elif kind == "H":
        sizes = [int(size) for size in cells]
    elif kind == "F":
        _row(reading, (line, cells[1]), sizes, [f"{rate} B/s" for rate in cells[2:]])
    return sizes, asked


def _wrong(reading: Reading, line: int, text: str) -> DataError:
    return DataError(
        f"{reading.file}:{line}: not a line of openssl speed: {text[:60]!r}",
        hint="give its output whole and untouched",
    )


def _row(reading: Reading, where: tuple[int, str], sizes: list[int], rates: list[str]) -> None:
    line, name = where
    if len(rates) != len(sizes):
        raise _wrong(reading, line, f"{len(rates)} rates of {name} for {len(sizes)} sizes")
    for size, rate in zip(sizes, rates, strict=True):
        _add(reading, (line, name, size), rate=rate)


def _done(reading: Reading, where: tuple[int, str, int], count: str, time: str) -> None:
    _add(reading, where, operations=f"{count} count", size=f"{where[2]} bytes", time=f"{time} s")


def _add(reading: Reading, where: tuple[int, str, int | None], **columns: str) -> None:
    line, name, size = where
    for column, text in columns.items():
        value, unit = text.split(" ")
        shown = column.replace("_", " ")
        reading.figures.append(cell(TABLE, name, shown, value, unit, line, size))
