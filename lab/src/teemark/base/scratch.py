# SPDX-License-Identifier: BSD-2-Clause
"""Temporary folders; those of a killed process are removed by a later command. A folder is in use
as long as its lock is held, in whatever container its process runs."""

import contextlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from teemark.base.files import hold

_PREFIX = "teemark-scratch-"
_LOCK = "lock"
_YOUNG_S = 3600
"""Seconds for which a folder without a lock is left alone: it may have just been made."""

_held: dict[Path, IO[bytes] | None] = {}


def make(parent: str | None = None) -> Path:
    """Returns a new folder in `parent` (None: TMPDIR), which is this process's own until `remove`
    or the process's end."""
    parent = parent or tempfile.gettempdir()
    _sweep(parent)
    place = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    _held[place] = hold(place / ".lock")
    (place / ".lock").rename(place / _LOCK)  # nobody sees it before it is held
    return place


def remove(folder: Path) -> None:
    """Removes a folder that `make` made."""
    shutil.rmtree(folder, ignore_errors=True)
    if (stream := _held.pop(folder, None)) is not None:
        stream.close()


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """Yields a new folder as from `make`, and removes it after the block."""
    path = make()
    try:
        yield path
    finally:
        remove(path)


def _sweep(parent: str) -> None:
    for place in Path(parent).glob(f"{_PREFIX}????????"):
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            state = place.lstat()
            if state.st_uid != os.getuid() or not stat.S_ISDIR(state.st_mode):
                continue
            if (place / _LOCK).exists():
                if (stream := hold(place / _LOCK)) is None:
                    continue
                stack.callback(stream.close)
            elif time.time() - state.st_mtime < _YOUNG_S:
                continue
            shutil.rmtree(place, ignore_errors=True)
