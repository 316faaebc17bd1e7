# SPDX-License-Identifier: BSD-2-Clause
"""Writes run.ndjson: each line unchanged, under a partial name until the end record is written."""

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

from teemark.base import paths, shutdown
from teemark.base.errors import DataError, UsageMistake
from teemark.run.reader import PARTIAL_FILE, RUN_FILE
from teemark.run.records import Record

SYNC_SECONDS = 2.0


ROOM = 4096
"""Bytes reserved on the disk, so that an end record fits on a full disk."""


class RunWriter:
    """Appends raw lines to DIR/run.ndjson.partial; `finish` renames the file.

    Lines reach the disk after SYNC_SECONDS at the latest, and on close. Measurements are never
    overwritten: neither a run nor the partial file of a killed run."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.partial = directory / PARTIAL_FILE
        self.final = directory / RUN_FILE
        self._held = directory / f".{RUN_FILE}.room"
        self._whole = 0  # bytes up to the end of the last whole line
        self.lines = 0
        try:
            directory.mkdir(parents=True, exist_ok=True)
            # Opened exclusively: one of two processes gets the partial file, and only its owner
            # makes the final file, so a final file that is missing now won't appear.
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
        # A lone header has no measurement.
        if ending[0] is not None and self.lines < 2:
            self.discard()
        else:
            self.close()

    def record(self, record: Record) -> None:
        self.line(msgspec.json.encode(record) + b"\n")

    def line(self, raw: bytes) -> None:
        """Writes a line. Raises DataError if that fails, for example on a full disk; earlier lines
        stay whole."""
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
        """Writes a record as `record` does, in the room that was reserved."""
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
            with contextlib.suppress(OSError):  # a full disk was reported by `line`
                self._sync()
            self._stream.close()

    def discard(self) -> None:
        """Removes the folder, since nothing was measured."""
        self.close()
        self.partial.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.directory.rmdir()

    def finish(self) -> Path:
        """Closes the file and gives it its final name; a signal can't interrupt this."""
        with shutdown.undisturbed():
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
    """Raises UsageMistake if the folder has a run or a partial one."""
    for name in (RUN_FILE, PARTIAL_FILE):
        if (directory / name).exists():
            raise _taken(directory / name)


def directory_for(out: Path | None, board: str, name: str) -> Path:
    """Returns the folder for a run: `out`, which must have no run, or a new runs/UTC-BOARD-NAME."""
    if out is not None:
        check_free(out)
        return out
    return new_directory(paths.runs() / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{board}-{name}")


def new_directory(wanted: Path) -> Path:
    """Makes the folder, or `WANTED-2` and so on if it exists; no other process gets the same."""
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
    with contextlib.suppress(OSError):
        if os.getpid() == maker:
            directory.rmdir()


def point_latest(directory: Path) -> None:
    """Makes the link `latest` beside DIRECTORY point to it; at no time does the link dangle."""
    link = directory.parent / "latest"
    if link.exists() and not link.is_symlink():
        return
    fresh = directory.parent / f".latest-{os.getpid()}"
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(directory.name)
    fresh.replace(link)
