# SPDX-License-Identifier: BSD-2-Clause
"""What programs print of their speed: openssl speed of 1.1 to 3.5 (with -mr, too), tcrypt in dmesg,
kcapi-speed, xtest's perf tests, cryptsetup benchmark, and time.

To add a program: patterns in _PATTERNS with what they mean, its name in KNOWN (formats.py), an
example in lab/tests/test_audit_formats.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from teemark.audit.figure import Figure, Lines, Reading, given
from teemark.base.errors import DataError
from teemark.reference.span import Span

_N = r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
_KCAPI_UNITS = {"B": (0, 0), "kB": (10, 10), "MB": (20, 10_000), "GB": (30, 10_000_000)}
"""kcapi-speed's units: a power of two, and what a step of the digits after the point is."""

Found = re.Match[str]


class _Output:
    """The output of programs, line by line, and what of the lines before still holds."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.line, self.text = 0, ""
        self.sizes: list[int] = []  # in the head of openssl's table
        self.asked = ("", 0)  # openssl -mr: what it does next, and with how many bytes
        self.driver = "tcrypt"
        self.test: tuple[str, int, str] | None = None  # xtest: name, bytes, loops
        self.ciphers = False  # below the head of cryptsetup
        self.times = 1

    def take(self, line: int, text: str) -> bool:
        """Reads a line; False for one that is of no program."""
        self.line, self.text = line, text
        self.ciphers = self.ciphers and bool(text)
        for pattern, meaning in _PATTERNS:
            if (found := pattern.search(text)) and meaning(self, found) is None:
                return True
        if self.ciphers and not text.startswith("#"):
            raise self.wrong("not a line of cryptsetup benchmark")
        return False

    def wrong(self, why: str) -> DataError:
        where = f"{self.reading.file}:{self.line}: {why}: {self.text[:60]!r}"
        return DataError(where, hint="give its output whole and untouched")

    def add(
        self, table: str, row: str, of: int | None = None, /, **columns: str | tuple[str, Span]
    ) -> None:
        """A figure a column, of a message of so many bytes: "5 ms"; or, where the program cut off
        digits, "12.5 MB/s" with what it can stand for in base units."""
        for column, value in columns.items():
            if isinstance(value, str):
                digits, unit = value.split(" ")
                text, span = given(digits, unit)
            else:
                digits, unit = "", "B/s" if column == "rate" else "count"
                text, span = value
            self.reading.figures.append(
                Figure(text, span, unit, table, row, column.replace("_", " "), self.line,
                       sentence=self.line, digits=digits, size=of)
            )  # fmt: skip

    # -- openssl speed

    def doing(self, found: Found) -> None:
        size = int(found["size"])
        self.openssl(found["name"], size, asked=f"{found['asked']} s")
        self.done(found["name"], size, found["count"], found["time"])

    def openssl(self, name: str, size: int | None, /, **columns: str) -> None:
        self.add("openssl speed", name, size, **columns)

    def done(self, name: str, size: int, count: str, time: str) -> None:
        self.openssl(
            name, size, operations=f"{count} count", size=f"{size} bytes", time=f"{time} s"
        )

    def head(self, found: Found) -> None:
        self.sizes = [int(size) for size in re.findall(r"\d+", found[1])]

    def row(self, found: Found) -> bool | None:
        if not self.sizes:
            return False
        rates = re.findall(r"(\S+)k(?!\S)", found[2])
        self.rates(found["name"], [f"{rate} kB/s" for rate in rates])
        return None

    def rates(self, name: str, rates: list[str]) -> None:
        if len(rates) != len(self.sizes):
            raise self.wrong(f"{len(rates)} rates of {name} for {len(self.sizes)} sizes: "
                             "not a line of openssl speed")  # fmt: skip
        for size, rate in zip(self.sizes, rates, strict=True):
            self.openssl(name, size, rate=rate)

    def keys(self, found: Found) -> None:
        times, rates = found["times"].replace("s", "").split(), found["rates"].split()
        for index, (time, rate) in enumerate(zip(times, rates, strict=False), 1):
            name = f"{found['name']}, line {self.line}, {index}"
            self.openssl(name, None, time=f"{time} s", per_second=f"{rate} /s")

    def machine(self, found: Found) -> None:
        """A line of -mr."""
        kind, cells = found[1], found[2].split(":")
        try:
            if kind == "DT":
                self.asked = (cells[0], int(cells[2]))
                self.openssl(*self.asked, asked=f"{cells[1]} s")
            elif kind == "R" and cells[1] == self.asked[0]:
                self.done(*self.asked, cells[0], cells[2])
            elif kind == "H":
                self.sizes = [int(size) for size in cells]
            elif kind == "F":
                self.rates(cells[1], [f"{rate} B/s" for rate in cells[2:]])
        except (ValueError, ArithmeticError, IndexError):
            raise self.wrong("not a line of openssl speed") from None

    # -- the kernel

    def second(self, where: tuple[str, str, int], operations: str, rate: tuple[str, Span]) -> None:
        """What one second did: so many operations of a size."""
        done = (operations, _cut_off(operations))
        size, time = f"{where[2]} bytes", "1.000000000 s"
        self.add(*where, operations=done, size=size, time=time, rate=rate)

    def kcapi(self, found: Found) -> None:
        shift, step = _KCAPI_UNITS[found["unit"]]
        low = (int(found["whole"]) << shift) + int(found["part"] or 0) * step
        way = {"e": "encryption", "d": "decryption"}[found["way"]]
        text = f"{found['whole']}.{found['part'] or 0} {found['unit']}/s"
        rate = (text, Span(float(low), low + step / 2, low + step + 1.0))
        row = f"{found['name'].strip()} {way}"
        self.second(("kcapi-speed", row, int(found["size"])), found["ops"], rate)

    def testing(self, found: Found) -> None:
        self.driver = found["name"]
        self.reading.said.append((self.text, self.line))

    def tcrypt(self, found: Found) -> None:
        bits = f" {found['bits']} bit" if found["bits"] else ""
        update = f" by {found['update']}" if found["update"] else ""
        row, size, result = f"{self.driver}{bits}{update}", int(found["size"]), found["result"]
        if of := re.search(r"(\d+) opers/sec,\s*(\d+) bytes/sec", result):
            self.second(("tcrypt", row, size), of[1], (f"{of[2]} B/s", _cut_off(of[2])))
        elif of := re.search(r"(\d+) operations in (\d+) seconds \((\d+) bytes\)", result):
            self.add("tcrypt", row, size, operations=f"{of[1]} count", size=f"{size} bytes",
                     bytes_done=f"{of[3]} bytes")  # fmt: skip
        elif of := re.search(r"1 operation in (\d+) cycles \((\d+) bytes\)", result):
            self.add("tcrypt", row, size, cycles=f"{of[1]} cycles")
        else:
            self.reading.said.append((result, self.line))

    # -- others

    def starting(self, found: Found) -> None:
        self.test = (found[1].strip(), int(found[2]), found[3])

    def xtest(self, found: Found) -> None:
        name, size, loops = self.test or (f"test of line {self.line}", None, "1")
        units = {"min": "us", "max": "us", "mean": "us", "stdev": "us", "cv": "%"}
        if size is not None:
            self.add("xtest", name, size, size=f"{size} bytes", operations=f"{loops} count")
            units["rate"] = "MiB/s"
        for (column, unit), text in zip(units.items(), found.groups(), strict=False):
            plain = format(float(text), "f") if "e" in text else text
            self.add("xtest", name, size or None, **{column: f"{plain} {unit}"})
        self.test = None

    def below(self, _: Found) -> None:
        self.ciphers = True

    def cipher(self, found: Found) -> bool | None:
        if not self.ciphers:
            return False
        name, _, mode = found[1].partition("-")
        bits = int(found[2]) // (2 if mode == "xts" else 1)  # XTS takes two keys
        for column, text in (("Encryption", found[3]), ("Decryption", found[4])):
            if text != "N/A":
                self.add("cryptsetup benchmark", f"{name}-{bits}-{mode}", **{column: text})
        return None

    def time(self, found: Found) -> None:
        seconds = 60 * int(found[2] or 0) + float(found[3])
        value = f"{seconds:.{len(found[3].partition('.')[2])}f} s"
        self.add(f"time {self.times}", "", **{found[1]: value})
        self.times += found[1] == "sys"


def _cut_off(count: str) -> Span:
    """What integer division cut off is unknown."""
    return Span(float(count), int(count) + 0.5, int(count) + 1.0)


_PATTERNS: tuple[tuple[re.Pattern[str], Callable[[_Output, Found], bool | None]], ...] = (
    (re.compile(
        r"^Doing (?P<name>.+?)(?: ops)? for (?P<asked>\d+)s on (?P<size>\d+) size blocks: "
        r"(?P<count>\d+) .* in (?P<time>\d+\.\d+)s$"
    ), _Output.doing),
    (re.compile(r"^type((?:\s+\d+ bytes)+)$"), _Output.head),
    (re.compile(r"^(?P<name>\S.*?)((?:\s+\d+\.\d+k)+)$"), _Output.row),
    (re.compile(r"^(?P<name>\S.*?)(?P<times>(?:\s+\d+\.\d+s)+)(?P<rates>(?:\s+\d+\.\d+)+)$"),
     _Output.keys),
    (re.compile(r"^\+(DT|R|H|F|DTP|R\d|F\d):(.*)$"), _Output.machine),
    (re.compile(
        r"^(?P<name>\S.{0,40}?)\s*\|(?P<way>[ed])\|\s*(?P<size>\d+) bytes\|"
        r"\s*(?P<whole>\d+)(?:\.(?P<part>\d+))? (?P<unit>B|kB|MB|GB)/s\|(?P<ops>\d+) ops/s$"
    ), _Output.kcapi),
    (re.compile(r"testing speed of (?:async |multibuffer )*(?P<name>.+?)\s*$"), _Output.testing),
    (re.compile(
        r"test\s+\d+ \(\s*(?:(?P<bits>\d+) bit key,\s*)?(?P<size>\d+) byte blocks"
        r"(?:,\s*(?P<update>\d+) bytes per update,\s*\d+ updates)?\):\s*(?P<result>.*)"
    ), _Output.tcrypt),
    (re.compile(r"Starting test: ([\w -]+), .*?size=(\d+) bytes.* inner loops=(\d+)"),
     _Output.starting),
    (re.compile(rf"min={_N}us max={_N}us mean={_N}us stddev={_N}us \(cv {_N}%\) \({_N}MiB/s\)"),
     _Output.xtest),
    (re.compile(r"^#\s*Algorithm \|\s*Key \|\s*Encryption \|\s*Decryption$"), _Output.below),
    (re.compile(
        r"^([a-z]\w*-\w+)\s+(\d+)b\s+(N/A|\d+(?:\.\d+)? MiB/s)\s+(N/A|\d+(?:\.\d+)? MiB/s)$"
    ), _Output.cipher),
    (re.compile(r"(real|user|sys)\s+(?:(\d+)m)?\s*(\d+\.\d+)s?$"), _Output.time),
)  # fmt: skip
"""What a line is known by, and what it means. A meaning that is False leaves it to the others."""


def take(reading: Reading, lines: Lines) -> Lines:
    """Puts what programs printed into the reading, and returns the other lines."""
    output = _Output(reading)
    return [(number, line) for number, line in lines if not output.take(number, line.strip())]
