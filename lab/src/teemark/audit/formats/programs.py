# SPDX-License-Identifier: BSD-2-Clause
"""Programs that print a line or two: xtest's perf tests, cryptsetup benchmark, time."""

from __future__ import annotations

import re

from teemark.audit.figure import Lines, Reading, cell
from teemark.base.errors import DataError

_N = r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
_STARTING = re.compile(r"Starting test: ([\w -]+), .*?size=(\d+) bytes.* inner loops=(\d+)")
_XTEST = re.compile(rf"min={_N}us max={_N}us mean={_N}us stddev={_N}us \(cv {_N}%\) \({_N}MiB/s\)")
_HEAD = re.compile(r"#\s*Algorithm \|\s*Key \|\s*Encryption \|\s*Decryption\s*")
_CIPHER = re.compile(
    r"([a-z]\w*-\w+)\s+(\d+)b\s+(N/A|\d+(?:\.\d+)? MiB/s)\s+(N/A|\d+(?:\.\d+)? MiB/s)"
)
_TIME = re.compile(r"(real|user|sys)\s+(?:(\d+)m)?\s*(\d+\.\d+)s?$")


def take(reading: Reading, lines: Lines) -> Lines:
    rest: Lines = []
    test: tuple[str, int, str] | None = None
    ciphers = False
    count = 1
    for number, line in lines:
        text = line.strip()
        if found := _STARTING.search(text):
            test = (found[1].strip(), int(found[2]), found[3])
        elif found := _XTEST.search(text):
            _xtest(reading, number, test, found)
            test = None
        elif _HEAD.fullmatch(text):
            ciphers = True
        elif ciphers and text and not text.startswith("#"):
            if not (found := _CIPHER.fullmatch(text)):
                raise DataError(
                    f"{reading.file}:{number}: not a line of cryptsetup benchmark: {text[:60]!r}",
                    hint="give its output whole and untouched",
                )
            _cipher(reading, number, found)
        elif found := _TIME.search(text):
            seconds = 60 * int(found[2] or 0) + float(found[3])
            value = f"{seconds:.{len(found[3].partition('.')[2])}f}"
            reading.figures.append(cell(f"time {count}", "", found[1], value, "s", number))
            count += found[1] == "sys"
        else:
            rest.append((number, line))
        ciphers = ciphers and bool(text)
    return rest


def _xtest(
    reading: Reading, line: int, test: tuple[str, int, str] | None, found: re.Match[str]
) -> None:
    name, size, loops = test or (f"test of line {line}", 0, "1")
    columns = [("min", "us"), ("max", "us"), ("mean", "us"), ("stdev", "us"), ("cv", "%")]
    if test is not None:
        columns.append(("rate", "MiB/s"))
        for column, value, unit in (("size", str(size), "bytes"), ("operations", loops, "count")):
            reading.figures.append(cell("xtest", name, column, value, unit, line, size))
    for (column, unit), text in zip(columns, found.groups(), strict=False):
        plain = format(float(text), "f") if "e" in text else text
        reading.figures.append(cell("xtest", name, column, plain, unit, line, size or None))


def _cipher(reading: Reading, line: int, found: re.Match[str]) -> None:
    cipher, _, mode = found[1].partition("-")
    bits = int(found[2]) // (2 if mode == "xts" else 1)  # XTS takes two keys
    for column, text in (("Encryption", found[3]), ("Decryption", found[4])):
        if text != "N/A":
            made = cell(
                "cryptsetup benchmark",
                f"{cipher}-{bits}-{mode}",
                column,
                text.split()[0],
                "MiB/s",
                line,
            )
            reading.figures.append(made)
