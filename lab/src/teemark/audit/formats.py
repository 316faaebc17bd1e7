# SPDX-License-Identifier: BSD-2-Clause
"""The texts that the audit reads: the output of programs, and anybody's."""

from pathlib import Path

from teemark.audit import text as free_text
from teemark.audit.figure import Lines, Reading
from teemark.audit.programs import rewritten
from teemark.base.errors import DataError, UsageMistake

KNOWN = (
    "openssl speed (-mr, -elapsed too), xtest's perf tests, kcapi-speed, time, cryptsetup "
    "benchmark, tcrypt, Markdown and aligned tables, name: value, and sentences"
)
OF_A_PROGRAM = 400
"""Characters of the longest line that these programs print; no other is tried."""
LONGEST = 20_000
"""Characters of a line that are read; a longer one is no text."""


def read(text: str, file: str) -> Reading:
    """Returns the figures of a text. A DataError names the line where there is nothing to audit."""
    reading = Reading(file)
    lines: Lines = [
        (number, rewritten(line.strip()) if len(line) <= OF_A_PROGRAM else line[:LONGEST])
        for number, line in enumerate(text.splitlines(), 1)
    ]
    free_text.read(reading, lines)
    if not reading.figures:
        number, line = next((one for one in lines if one[1].strip()), (1, ""))
        what = f"no figure from here on: {line.strip()[:60]!r}" if line else "the file is empty"
        raise DataError(f"{file}:{number}: {what}", hint=f"the audit reads {KNOWN}")
    return reading


def read_file(path: Path) -> Reading:
    """Reads a file that is to be audited."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageMistake(
            f"{path}: can't be read: {error.strerror}",
            hint="name a program's output, or a text with figures, such as a run's report.md",
        ) from None
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}:{line}: not UTF-8 text", hint="convert it first") from None
    return read(text, str(path))
