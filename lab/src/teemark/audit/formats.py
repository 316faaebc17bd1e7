# SPDX-License-Identifier: BSD-2-Clause
"""The texts that the audit reads: the output of programs, anybody's text, and runs of teemark."""

from __future__ import annotations

import re
from pathlib import Path

from teemark.audit import programs
from teemark.audit import text as free_text
from teemark.audit.figure import Figure, Lines, Reading
from teemark.base.errors import DataError, UsageMistake
from teemark.base.work import CIPHER, FILE, ONESHOT, STREAM
from teemark.model.models import stats_of
from teemark.reference.span import Span, exact
from teemark.run import reader
from teemark.run.reader import RunData

KNOWN = (
    "openssl speed (-mr, -elapsed too), xtest's perf tests, kcapi-speed, time, cryptsetup "
    "benchmark, tcrypt, Markdown and aligned tables, name: value, sentences, and runs of teemark"
)
OF_A_PROGRAM = 400
"""Characters of the longest line that these programs print; their patterns are tried on no "
"other."""
LONGEST = 20_000
"""Characters of a line that are read; a longer one is no text."""

_CORES = {
    "0xd03": "cortex-a53", "0xd07": "cortex-a57", "0xd08": "cortex-a72", "0xc08": "cortex-a8",
}  # fmt: skip
"""Cores by the part number of their main id register."""
_HEX = re.compile(r"0x[0-9a-fA-F]+")


def read(text: str, file: str) -> Reading:
    """The figures of a text. A DataError names the line where there is nothing to audit."""
    reading = Reading(file)
    lines: Lines = [(number, line[:LONGEST]) for number, line in enumerate(text.splitlines(), 1)]
    short = [one for one in lines if len(one[1]) <= OF_A_PROGRAM]
    taken = {number for number, _ in short}
    taken -= {number for number, _ in programs.take(reading, short)}
    free_text.read(reading, [one for one in lines if one[0] not in taken])
    if not reading.figures:
        number, line = next((one for one in lines if one[1].strip()), (1, ""))
        what = f"no figure from here on: {line.strip()[:60]!r}" if line else "the file is empty"
        raise DataError(f"{file}:{number}: {what}", hint=f"the audit reads {KNOWN}")
    return reading


def read_file(path: Path) -> Reading:
    """A file that is to be audited: a text, or a run of teemark."""
    if path.is_dir() or path.name.startswith(reader.RUN_FILE):
        return read_run(reader.read(path))
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


def read_run(run: RunData) -> Reading:
    """The median of every case of a run, with its interval."""
    machine = run.machine
    made = Reading(run.file, title=f"{run.plan or 'cases'} on {run.name}")
    made.emulated = run.emulated
    made.said.append((machine.board.model or "", 1))
    midr = filter(_HEX.fullmatch, machine.cpu.midr or ())
    parts = {f"0x{(int(text, 16) >> 4) & 0xFFF:03x}" for text in midr}
    made.core = _CORES.get(parts.pop(), "") if len(parts) == 1 else ""
    clocks = {float(text) for text in machine.cpu.khz_max or () if text.isdigit()}
    made.clock_hz = clocks.pop() * 1e3 if len(clocks) == 1 else 0.0
    for stats in stats_of(run):
        median, interval = stats.time.median, stats.time.interval
        low, high = (interval.low, interval.high) if interval else (stats.time.min, stats.time.max)
        time = Span(low * 1e-9, median * 1e-9, high * 1e-9)
        figures = [("time", time, "s", f"{median * 1e-3:.6g} µs")]
        if stats.bytes and stats.work.row in (ONESHOT, STREAM, CIPHER, FILE) and low > 0:
            rate = exact(stats.bytes) / time
            figures.append(("rate", rate, "B/s", f"{rate.mid * 1e-6:.6g} MB/s"))
        made.figures += [
            Figure(text, span, unit, "cases", stats.key.replace("/", " "), column, 1,
                   size=stats.bytes)
            for column, span, unit, text in figures
        ]  # fmt: skip
    return made
