# SPDX-License-Identifier: BSD-2-Clause
"""Writing run.ndjson: every line as it came, under a partial name until the end record came."""

import atexit
import contextlib
import errno
import itertools
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

import msgspec

from teemark.base import leaving, paths
from teemark.base.errors import DataError, UsageMistake
from teemark.run.reader import PARTIAL_FILE, RUN_FILE
from teemark.run.records import Record

SYNC_SECONDS = 2.0


ROOM = 4096
"""Bytes held back on the disk, so that an end record fits when it is full."""


class RunWriter:
    """Appends raw lines to DIR/run.ndjson.partial; `finish` gives it its name.

    What was written reaches the disk every SYNC_SECONDS at the latest, and on close. Nothing that
    was measured is overwritten: neither a run nor what a killed run left.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.partial = directory / PARTIAL_FILE
        self.final = directory / RUN_FILE
        self._held = directory / f".{RUN_FILE}.room"
        self._whole = 0  # bytes up to the end of the last whole line
        self.lines = 0
        try:
            directory.mkdir(parents=True, exist_ok=True)
            # Exclusively: of two at once, one gets it. Only who has the partial file makes the
            # final one, so that one which isn't there now won't come.
            self._stream = self.partial.open("xb", buffering=0)
        except FileExistsError:
            if not directory.is_dir():
                raise DataError(f"{directory}: can't be written: it is no folder") from None
            raise _taken(self.partial) from None
        except OSError as error:
            raise DataError(f"{directory}: can't be written: {error.strerror}") from None
        if self.final.exists():
            self.discard()
            raise _taken(self.final)
        with contextlib.suppress(OSError):
            self._held.write_bytes(bytes(ROOM))
        self._synced = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ending: object) -> None:
        # A header alone says of nothing that was measured.
        if ending[0] is not None and self.lines < 2:
            self.discard()
        else:
            self.close()

    def record(self, record: Record) -> None:
        self.line(msgspec.json.encode(record) + b"\n")

    def line(self, raw: bytes) -> None:
        """Writes a line; raises DataError when the disk is full, say: what stood before is whole
        then."""
        try:
            self._write(raw)
            if time.monotonic() - self._synced > SYNC_SECONDS:
                self._sync()
        except OSError as error:
            with contextlib.suppress(OSError):
                self._stream.truncate(self._whole)
                self._stream.seek(self._whole)
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise DataError(
                f"{self.partial}: can't be written: {error.strerror}",
                hint="make room there" if full else None,
            ) from None

    def last_record(self, record: Record) -> None:
        """Writes a record as `record` does, with the room that was held back."""
        self._held.unlink(missing_ok=True)
        self.record(record)

    def _write(self, raw: bytes) -> None:
        left = memoryview(raw)
        while left:
            left = left[self._stream.write(left) or 0 :]
        self._whole += len(raw)
        self.lines += 1

    def _sync(self) -> None:
        os.fsync(self._stream.fileno())
        self._synced = time.monotonic()

    def close(self) -> None:
        self._held.unlink(missing_ok=True)
        if not self._stream.closed:
            with contextlib.suppress(OSError):  # a full disk was told of when it was written to
                self._sync()
            self._stream.close()

    def discard(self) -> None:
        """Removes the folder again, since nothing was measured."""
        self.close()
        self.partial.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.directory.rmdir()

    def finish(self) -> Path:
        """Closes the file and gives it its name; no signal leaves that half done."""
        with leaving.undisturbed():
            self.close()
            self.partial.rename(self.final)
        return self.final


def _taken(path: Path) -> UsageMistake:
    what = "a run"
    if path.name == PARTIAL_FILE:
        what = "what a killed run left, or a run that goes on"
    return UsageMistake(
        f"there is {what} already: {path}",
        hint="what was measured is never overwritten: name another folder with --out",
    )


def check_free(directory: Path) -> None:
    """Raises UsageMistake where there is a run, or the beginning of one."""
    for name in (RUN_FILE, PARTIAL_FILE):
        if (directory / name).exists():
            raise _taken(directory / name)


def directory_for(out: Path | None, board: str, name: str) -> Path:
    """Returns `out`, which must have no run, or else a new folder runs/UTC-BOARD-NAME."""
    if out is not None:
        check_free(out)
        return out
    return new_directory(paths.runs() / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{board}-{name}")


def new_directory(wanted: Path) -> Path:
    """Makes the folder, or `WANTED-2`, … where another run was as quick; nobody else gets it."""
    for number in itertools.count(1):
        directory = wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}")
        try:
            directory.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise DataError(f"{directory}: can't be made: {error.strerror}") from None
        atexit.register(_unless_used, directory, os.getpid())
        return directory
    raise AssertionError


def _unless_used(directory: Path, maker: int) -> None:
    """Removes a new folder into which nothing came, if this is the process that made it."""
    with contextlib.suppress(OSError):
        if os.getpid() == maker:
            directory.rmdir()


def point_latest(directory: Path) -> None:
    """Makes `latest` beside DIRECTORY point to it, at no time to nothing."""
    link = directory.parent / "latest"
    if link.exists() and not link.is_symlink():
        return
    fresh = directory.parent / f".latest-{os.getpid()}"
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(directory.name)
    fresh.replace(link)
