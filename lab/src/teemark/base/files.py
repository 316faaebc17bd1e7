# SPDX-License-Identifier: BSD-2-Clause
"""Writes files that nobody sees half-written, and locks what one process at a time may write."""

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from teemark.base.errors import DataError


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes a file beside `path` and renames it; makes the folder. Devices, pipes and links such
    as /dev/stdout are written to directly, since renaming would replace them. Raises DataError if
    that fails."""
    data = content.encode() if isinstance(content, str) else content
    fresh = path.with_name(f".{path.name}.new")
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            path.write_bytes(data)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_bytes(data)
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise DataError(
            f"{path}: can't be written: {error.strerror}",
            hint="is there space, and may you write there? name another place with -o",
        ) from None


@contextlib.contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Runs a block under a lock file: one process at a time, while the others wait."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def hold(lock: Path) -> IO[bytes] | None:
    """Takes a lock file and returns it, or None if another process holds it. The kernel releases
    the lock when the file is closed, thus also when the process ends, however it does."""
    stream = lock.open("wb")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        stream.close()
        return None
    return stream
