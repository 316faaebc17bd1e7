# SPDX-License-Identifier: BSD-2-Clause
"""The runs of a folder at a glance, by what their first and last records say."""

from dataclasses import dataclass, field
from pathlib import Path

from teemark.base.errors import DataError
from teemark.run import records
from teemark.run.reader import RUN_FILE, ends


@dataclass(frozen=True, slots=True)
class Entry:
    """A run of the folder."""

    folder: str
    started: str = ""
    board: str = ""
    plan: str = ""
    commit: records.Commit | None = None
    labels: dict[str, str] = field(default_factory=dict)
    wrong: str = ""  # Why it can't be used


def entries(folder: Path) -> list[Entry]:
    """Returns the runs in the folders of `folder`, in the order of time; links such as runs/latest
    are none. DataError where it can't be read."""
    try:
        places = [place for place in folder.iterdir() if not place.is_symlink()]
    except OSError as error:
        raise DataError(f"{folder}: can't be read: {error.strerror}") from None
    found = [look(one.name, one / RUN_FILE) for one in places if (one / RUN_FILE).is_file()]
    return sorted(found, key=lambda one: (one.started, one.folder))


def look(folder: str, file: Path) -> Entry:
    """Returns what a run's first and last records say of it."""
    try:
        head, whole = ends(file)
    except (OSError, DataError) as error:
        return Entry(folder, wrong=str(error))
    wrong = "" if whole else f"{file}: the run is incomplete"
    return Entry(folder, head.started, head.board, head.plan, head.commit, head.labels, wrong)
