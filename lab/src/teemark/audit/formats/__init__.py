# SPDX-License-Identifier: BSD-2-Clause
"""The texts that the audit reads. A parser takes the lines that it knows, puts their figures into
the reading and gives back the rest; `text` reads what is left.

To add a format: a file with `take`, a line in PARSERS, its name in KNOWN, an example in
lab/tests/test_audit_formats.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from teemark.audit import text as free_text
from teemark.audit.figure import Lines, Reading
from teemark.audit.formats import kernel, openssl_speed, programs, runs
from teemark.base.errors import DataError, UsageMistake
from teemark.run import reader

PARSERS: tuple[Callable[[Reading, Lines], Lines], ...] = (
    openssl_speed.take,
    kernel.take,
    programs.take,
)
KNOWN = (
    "openssl speed (-mr, -elapsed too), xtest's perf tests, kcapi-speed, time, cryptsetup "
    "benchmark, tcrypt, Markdown and aligned tables, name: value, sentences, and runs of teemark"
)
OF_A_PROGRAM = 400
"""Characters of the longest line that these programs print; their patterns are tried on no "
"other."""
LONGEST = 20_000
"""Characters of a line that are read; a longer one is no text."""


def read(text: str, file: str) -> Reading:
    """The figures of a text. A DataError names the line where there is nothing to audit."""
    reading = Reading(file)
    lines: Lines = [(number, line[:LONGEST]) for number, line in enumerate(text.splitlines(), 1)]
    filled = [one for one in lines if one[1].strip()]
    reading.lines = len(filled)
    short = [one for one in lines if len(one[1]) <= OF_A_PROGRAM]
    for take in PARSERS:
        short = take(reading, short)
    left = {number for number, _ in short}
    free_text.read(reading, [one for one in lines if one[0] in left or len(one[1]) > OF_A_PROGRAM])
    if not reading.figures:
        number, line = filled[0] if filled else (1, "")
        what = f"no figure from here on: {line.strip()[:60]!r}" if filled else "the file is empty"
        raise DataError(f"{file}:{number}: {what}", hint=f"the audit reads {KNOWN}")
    return reading


def read_file(path: Path) -> Reading:
    """A file that is to be audited: a text, or a run of teemark."""
    if path.is_dir() or path.name.startswith(reader.RUN_FILE):
        return runs.read(reader.read(path))
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageMistake(
            f"{path}: can't be read: {error.strerror}",
            hint="name a program's output, a text with tables, or a run's folder",
        ) from None
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}:{line}: not UTF-8 text", hint="convert it first") from None
    return read(text, str(path))
