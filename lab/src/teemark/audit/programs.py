# SPDX-License-Identifier: BSD-2-Clause
"""What programs print of their speed: openssl speed of 1.1 to 3.5 (with -mr, too), tcrypt in dmesg,
kcapi-speed, xtest's perf tests, cryptsetup benchmark, and time.

To add a program: a row in _LINES, its name in KNOWN (formats.py), an example in
lab/tests/test_audit_formats.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from teemark.audit.figure import Figure, Lines, Reading, given
from teemark.base.errors import DataError
from teemark.reference.span import Span

_N = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_TCRYPT = (
    r"test\s+\d+ \(\s*(?:(?P<bits>\d+ bit) key,\s*)?(?P<of>\d+) byte blocks"
    r"(?:,\s*(?P<update>\d+ bytes) per update,\s*\d+ updates)?\):\s*"
)
_CUT = "cut off"
"""The unit of counts and rates whose fraction an integer division cut off."""
_DONE = {"asked": "s", "operations": "count", "of": "bytes", "time": "s"}
_SECOND = {"operations": _CUT, "of": "bytes", "rate": _CUT, "second": "s"}
_KCAPI_UNITS = {"B": (0, 0), "kB": (10, 10), "MB": (20, 10_000), "GB": (30, 10_000_000)}
"""kcapi-speed's units: a power of two, and what a step of the digits after the point is."""


_NAMES = {"of": "size", "per_second": "per second", "bytes_done": "bytes done"}


class _Line(NamedTuple):
    """A line of a program. Groups named in `units` are figures, `of` is the bytes of the message;
    `row` is made of all others, also of those of lines before, which have no `units`."""

    table: str
    pattern: str
    row: str = ""
    units: Mapping[str, str] = {}


_LINES = [
    (line, re.compile(line.pattern))
    for line in (
        _Line("openssl speed", r"^Doing (?P<name>.+?)(?: ops)? for (?P<asked>\d+)s on (?P<of>\d+) "
              r"size blocks: (?P<operations>\d+) .* in (?P<time>\d+\.\d+)s$", "name", _DONE),
        _Line("openssl speed", r"^\+DT:(?P<name>[^:]+):(?P<asked>\d+):(?P<of>\d+)$"),
        _Line("openssl speed", r"^\+R:(?P<operations>\d+):[^:]+:(?P<time>\d+\.\d+)$", "name",
              _DONE),
        _Line("openssl speed", r"^(?:type|\+H:)(?P<sizes>(?:\s*\d+(?: bytes|:|$))+)$"),
        _Line("openssl speed", r"^(?P<name>\S.*?)(?P<rates>(?:\s+\d+\.\d+k)+)$"),
        _Line("openssl speed", r"^\+F:\d+:(?P<name>[^:]+)(?P<rates>(?::\d+\.\d+)+)$"),
        _Line("openssl speed", r"^(?P<name>\S.*?)(?P<times>(?:\s+\d+\.\d+s)+)"
              r"(?P<per_second>(?:\s+\d+\.\d+)+)$"),
        _Line("openssl speed", r"^\+(?P<unknown>(?:DT|R|H|F):.*)$"),
        _Line("kcapi-speed", r"^(?P<name>\S.{0,40}?)\s*\|(?P<way>[ed])\|\s*(?P<of>\d+) bytes\|"
              r"\s*(?P<rate>\d+(?:\.\d+)? [kMG]?B)/s\|(?P<operations>\d+) ops/s$",
              "name way", _SECOND),
        _Line("tcrypt", r"testing speed of (?:async |multibuffer )*(?P<driver>.+?)\s*$"),
        _Line("tcrypt", rf"{_TCRYPT}(?P<operations>\d+) opers/sec,\s*(?P<rate>\d+) bytes/sec",
              "driver bits update", _SECOND),
        _Line("tcrypt", rf"{_TCRYPT}(?P<operations>\d+) operations in \d+ seconds "
              r"\((?P<bytes_done>\d+) bytes\)", "driver bits update",
              {"operations": "count", "of": "bytes", "bytes_done": "bytes"}),
        _Line("tcrypt", rf"{_TCRYPT}1 operation in (?P<cycles>\d+) cycles",
              "driver bits update", {"cycles": "cycles"}),
        _Line("xtest", r"Starting test: (?P<test>[\w -]+), .*?size=(?P<of>\d+) bytes.* "
              r"inner loops=(?P<operations>\d+)"),
        _Line("xtest", rf"min=(?P<min>{_N})us max=(?P<max>{_N})us mean=(?P<mean>{_N})us "
              rf"stddev=(?P<stdev>{_N})us \(cv (?P<cv>{_N})%\) \((?P<rate>{_N})MiB/s\)", "test",
              {"of": "bytes", "operations": "count", "min": "us", "max": "us", "mean": "us",
               "stdev": "us", "cv": "%", "rate": "MiB/s"}),
        _Line("cryptsetup benchmark", r"^#\s*Algorithm \|\s*Key \|\s*Encryption \|\s*Decryption$"),
        _Line("cryptsetup benchmark", r"^(?P<cipher>[a-z]\w*)-(?P<mode>\w+)\s+(?P<bits>\d+)b\s+"
              r"(?:N/A|(?P<Encryption>\d+(?:\.\d+)?) MiB/s)\s+"
              r"(?:N/A|(?P<Decryption>\d+(?:\.\d+)?) MiB/s)$",
              "cipher bits mode", {"Encryption": "MiB/s", "Decryption": "MiB/s"}),
        _Line("time", r"(?P<what>real|user|sys)\s+(?:(?P<minutes>\d+)m)?\s*(?P<time>\d+\.\d+)s?$"),
    )
]  # fmt: skip


class _Output:
    """The output of programs, line by line, and what the lines before say."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.line, self.text = 0, ""
        self.known = {"driver": "tcrypt", "second": "1.000000000"}
        self.sizes: list[str] = []  # in the head of openssl's table
        self.ciphers = False  # below the head of cryptsetup
        self.times = 1

    def take(self, line: int, text: str) -> bool:
        """Reads a line; False for one that is of no program."""
        self.line, self.text = line, text
        self.ciphers = self.ciphers and bool(text)
        for of, pattern in _LINES:
            found = pattern.search(text)
            if found and self._taken(of, {k: v for k, v in found.groupdict().items() if v}):
                return True
        if self.ciphers and not text.startswith("#"):
            raise self._wrong("not a line of cryptsetup benchmark")
        return False

    def _wrong(self, why: str) -> DataError:
        where = f"{self.reading.file}:{self.line}: {why}: {self.text[:60]!r}"
        return DataError(where, hint="give its output whole and untouched")

    def _taken(self, of: _Line, groups: dict[str, str]) -> bool:
        """Puts the figures of a line into the reading; False if it isn't what it looks like."""
        match groups:
            case {"unknown": _}:
                raise self._wrong("not a line of openssl speed")
            case {"sizes": sizes}:
                self.sizes = re.findall(r"\d+", sizes)
            case {"rates": rates, "name": name}:
                return self._rates(of, name, rates)
            case {"times": times, "per_second": rates, "name": name}:
                pairs = zip(times.replace("s", "").split(), rates.split(), strict=False)
                for index, (time, rate) in enumerate(pairs, 1):
                    row = f"{name}, line {self.line}, {index}"
                    self._add(of.table, row, "", time=f"{time} s", per_second=f"{rate} /s")
            case {"what": what, "time": time}:
                seconds = 60 * int(groups.get("minutes", 0)) + float(time)
                value = f"{seconds:.{len(time.partition('.')[2])}f} s"
                self._add(f"time {self.times}", "", "", **{what: value})
                self.times += what == "sys"
            case {"cipher": _} if not self.ciphers:
                return False
            case _ if of.units:
                self._figures(of, groups)
            case _:
                self.ciphers = not groups
                self.known |= groups
                if "driver" in groups:
                    self.reading.said.append((self.text, self.line))
        return True

    def _rates(self, of: _Line, name: str, rates: str) -> bool:
        """A row of openssl's table, which has a rate for each size of its head."""
        if not self.sizes and rates[0] != ":":
            return False
        found, unit = re.findall(r"[\d.]+", rates), "kB/s" if rates[-1] == "k" else "B/s"
        if len(found) != len(self.sizes):
            counted = f"{len(found)} rates of {name} for {len(self.sizes)} sizes"
            raise self._wrong(f"{counted}: not a line of openssl speed")
        for size, rate in zip(self.sizes, found, strict=True):
            self._add(of.table, name, size, rate=f"{rate} {unit}")
        return True

    def _figures(self, of: _Line, groups: dict[str, str]) -> None:
        """The line's own groups go before those of the lines that came before."""
        if "way" in groups:
            groups["way"] = {"e": "encryption", "d": "decryption"}[groups["way"]]
        if groups.get("mode") == "xts":
            groups["bits"] = str(int(groups["bits"]) // 2)  # XTS takes two keys
        parts = [groups.get(name) or self.known.get(name, "") for name in of.row.split()]
        row = ("-" if "cipher" in groups else " ").join(parts)
        known = self.known | groups
        columns = {n: f"{known[n]} {unit}" for n, unit in of.units.items() if n in known}
        size = known.get("of", "") if "of" in columns or "of" in groups else ""
        self._add(of.table, row.strip(), size, **columns)
        if of.table == "xtest":
            self.known = {
                n: said for n, said in self.known.items() if n not in columns | {"test": ""}
            }

    def _add(self, table: str, row: str, of: str, /, **columns: str) -> None:
        """Adds a figure a column, such as "5 ms", of a message of so many bytes."""
        for column, value in columns.items():
            digits, _, unit = value.partition(" ")
            if unit.endswith(_CUT):
                text, span, unit = self._cut(digits, unit.removesuffix(_CUT).strip(), column)
            else:
                plain = format(float(digits), "f") if "e" in digits else digits
                text, span = given(plain, unit)
            self.reading.figures.append(
                Figure(text, span, unit, table, row, _NAMES.get(column, column), self.line,
                       sentence=self.line, digits=digits, size=int(of) if of else None)
            )  # fmt: skip

    def _cut(self, digits: str, unit: str, column: str) -> tuple[str, Span, str]:
        """Returns what a number whose rest was cut off can stand for; kcapi-speed names a unit."""
        whole, _, part = digits.partition(".")
        shift, step = _KCAPI_UNITS[unit] if unit else (0, 0)
        low = (int(whole) << shift) + int(part or 0) * step
        span = Span(float(low), low + step / 2 + (0 if step else 0.5), low + step + 1.0)
        if column == "rate":
            return f"{digits} {unit or 'B'}/s", span, "B/s"
        return digits, span, "count"


def take(reading: Reading, lines: Lines) -> Lines:
    """Puts what programs printed into the reading, and returns the other lines."""
    output = _Output(reading)
    return [(number, line) for number, line in lines if not output.take(number, line.strip())]
