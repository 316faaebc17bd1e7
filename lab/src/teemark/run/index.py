# SPDX-License-Identifier: BSD-2-Clause
"""The runs of a folder at a glance. What their first and last records say is kept in a file beside
them, which is made again where it is missing or a run is another: 10,000 runs are listed in 2 s."""

import contextlib
import os
from pathlib import Path

import msgspec

from teemark.base.errors import DataError
from teemark.base.files import write_whole
from teemark.base.harmless import harmless_value
from teemark.run import records
from teemark.run.reader import RUN_FILE, ends

FILE = ".runs-index.json"


class Entry(msgspec.Struct, frozen=True):
    """A run of the folder; `stamp` is its file's time and size, by which a change is seen."""

    folder: str
    stamp: tuple[int, int]
    started: str = ""
    board: str = ""
    plan: str = ""
    commit: records.Commit | None = None
    labels: dict[str, str] = {}
    wrong: str = ""  # Why it can't be used


def entries(folder: Path) -> list[Entry]:
    """Returns the runs in the folders of `folder`, in the order of time; links such as runs/latest
    are none. DataError where it can't be read."""
    before = {one.folder: one for one in _kept(folder)}
    found: dict[str, Entry] = {}
    try:
        with os.scandir(folder) as inside:
            for place in inside:
                file = f"{place.path}/{RUN_FILE}"
                if place.is_symlink() or not os.path.isfile(file):  # noqa: PTH113 - 10,000 of them
                    continue
                status = os.stat(file)  # noqa: PTH116
                stamp = (status.st_mtime_ns, status.st_size)
                known = before.get(place.name)
                same = known is not None and known.stamp == stamp
                found[place.name] = known if known and same else look(place.name, file, stamp)
    except OSError as error:
        raise DataError(f"{folder}: can't be read: {error.strerror}") from None
    if found != before:
        with contextlib.suppress(DataError):  # a folder of others', who don't let us write
            write_whole(folder / FILE, msgspec.json.encode(list(found.values())))
    return sorted(found.values(), key=lambda one: (one.started, one.folder))


def _kept(folder: Path) -> list[Entry]:
    """Returns the index as it was written last, its words harmless; nothing where it can't be
    read."""
    try:
        data = harmless_value(msgspec.json.decode((folder / FILE).read_bytes()))
        return msgspec.convert(data, list[Entry], strict=False)
    except (OSError, msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return []


def look(folder: str, file: str, stamp: tuple[int, int]) -> Entry:
    """Returns what a run's first and last records say of it."""
    try:
        head, whole = ends(Path(file))
    except (OSError, DataError) as error:
        return Entry(
            folder, stamp, wrong=error.message if isinstance(error, DataError) else str(error)
        )
    wrong = "" if whole else f"{file}: the run is incomplete"
    facts = (head.started, head.board, head.plan, head.commit, dict(head.labels or {}))
    return Entry(folder, stamp, *facts, wrong=wrong)
