# SPDX-License-Identifier: BSD-2-Clause
"""Writing run.ndjson: every line as it came, under a partial name until the end record came."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from teemark.errors import DataError
from teemark.run.reader import PARTIAL_FILE, RUN_FILE
from teemark.run.records import Run

SYNC_SECONDS = 2.0


class RunWriter:
    """Appends raw lines to DIR/run.ndjson.partial; `finish` gives it its name.

    What was written reaches the disk every SYNC_SECONDS at the latest, and on close.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.partial = directory / PARTIAL_FILE
        self.final = directory / RUN_FILE
        try:
            directory.mkdir(parents=True, exist_ok=True)
            if self.final.exists():
                raise DataError(
                    f"{self.final} is there already",
                    hint="runs are never overwritten: name another folder with --out",
                )
            self._stream = self.partial.open("wb")
        except OSError as error:
            raise DataError(f"{directory}: can't be written: {error.strerror}") from None
        self._synced = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def header(self, run: Run) -> None:
        self.line(msgspec.json.encode(run) + b"\n")

    def line(self, raw: bytes) -> None:
        self._stream.write(raw)
        self._stream.flush()
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self._sync()

    def _sync(self) -> None:
        os.fsync(self._stream.fileno())
        self._synced = time.monotonic()

    def close(self) -> None:
        if not self._stream.closed:
            self._sync()
            self._stream.close()

    def finish(self) -> Path:
        """The end record came: close, and give the file its name."""
        self.close()
        self.partial.rename(self.final)
        return self.final


def point_latest(directory: Path) -> None:
    """Make `latest` beside DIRECTORY point to it, at no time to nothing."""
    link = directory.parent / "latest"
    if link.exists() and not link.is_symlink():
        return
    fresh = directory.parent / f".latest-{os.getpid()}"
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(directory.name)
    fresh.replace(link)
