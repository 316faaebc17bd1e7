# SPDX-License-Identifier: BSD-2-Clause
"""Files of which nobody ever sees half, and locks on what one process at a time may write."""

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from teemark.base.errors import DataError


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes beside `path`, then renames; makes the folder. Into a device, a pipe or what a link
    leads to, such as /dev/stdout, it writes straight: those must stay. DataError says why it
    can't."""
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
    """Lets one process at a time into a block with this lock file; the others wait."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield
