# SPDX-License-Identifier: BSD-2-Clause
"""The texts that the audit reads. A parser takes the lines that it knows, puts their figures on
the sheet and gives back the rest; tables and "name: value" come last.

To add a format: a file with `take`, a line in PARSERS, its name in KNOWN, an example in
lab/tests/test_audit_formats.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from teemark.audit.formats import kernel, openssl_speed, programs, tables
from teemark.audit.sheet import Lines, Sheet
from teemark.base.errors import DataError

PARSERS: tuple[Callable[[Sheet, Lines], Lines], ...] = (
    openssl_speed.take,
    kernel.take,
    programs.take,
    tables.take,
)
KNOWN = (
    "openssl speed (-mr, -elapsed too), xtest's perf tests, kcapi-speed, time, cryptsetup "
    "benchmark, tcrypt, Markdown and aligned tables, name: value, and runs of teemark"
)


def read(text: str, file: str) -> Sheet:
    """A DataError that names the line where there is nothing to audit."""
    sheet = Sheet(file)
    lines: Lines = [(number, line) for number, line in enumerate(text.splitlines(), 1)]
    filled: Sequence[tuple[int, str]] = [one for one in lines if one[1].strip()]
    for take in PARSERS:
        lines = take(sheet, lines)
    if not sheet.cells:
        number, line = filled[0] if filled else (1, "")
        what = f"no figure from here on: {line.strip()[:60]!r}" if filled else "the file is empty"
        raise DataError(f"{file}:{number}: {what}", hint=f"the audit reads {KNOWN}")
    return sheet
