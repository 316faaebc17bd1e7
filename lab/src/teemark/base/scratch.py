# SPDX-License-Identifier: BSD-2-Clause
"""Temporary folders; those of a killed process are removed by a later command."""

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

_NAME = re.compile(r"teemark-(\d+)\.(\d+)-\w+")


def start_time(pid: int) -> int | None:
    """Returns when a process started (clock ticks since boot); None if there is no such process. A
    pid alone may be reused by another process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] == "Z" else int(fields[19])


def make(parent: str | None = None) -> Path:
    """Returns a new folder in `parent` (None: TMPDIR) whose name tells its process."""
    me = os.getpid()
    parent = parent or tempfile.gettempdir()
    _sweep(parent)
    return Path(tempfile.mkdtemp(prefix=f"teemark-{me}.{start_time(me)}-", dir=parent))


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """Yields a new folder as from `make`, and removes it after the block."""
    made = make()
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _sweep(parent: str) -> None:
    """Removes the folders of this user's processes that have ended."""
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            name = _NAME.fullmatch(entry.name)
            if name is None or start_time(int(name[1])) == int(name[2]):
                continue
            with contextlib.suppress(OSError):
                if entry.stat(follow_symlinks=False).st_uid == os.getuid():
                    shutil.rmtree(entry.path, ignore_errors=True)
