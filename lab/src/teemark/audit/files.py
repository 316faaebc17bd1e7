# SPDX-License-Identifier: BSD-2-Clause
"""A file that is to be audited: a text, or a run of teemark."""

from __future__ import annotations

from pathlib import Path

from teemark.audit import formats
from teemark.audit.formats import runs
from teemark.audit.sheet import Sheet
from teemark.base.errors import DataError, UsageMistake
from teemark.run import reader


def read(path: Path) -> Sheet:
    if path.is_dir() or path.name.startswith(reader.RUN_FILE):
        return runs.sheet(reader.read(path))
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
    return formats.read(text, str(path))
