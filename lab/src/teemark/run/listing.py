# SPDX-License-Identifier: BSD-2-Clause
"""Lists the runs of a folder, from their first and last records."""

from dataclasses import dataclass, field
from pathlib import Path

from teemark.base.errors import DataError
from teemark.run import records
from teemark.run.reader import RUN_FILE, ends


@dataclass(frozen=True, slots=True)
class Entry:
    """A run in a folder of runs."""

    folder: str
    started: str = ""
    board: str = ""
    plan: str = ""
    commit: records.Commit | None = None
    labels: dict[str, str] = field(default_factory=dict)
    wrong: str = ""  # Why the run can't be used


def entries(folder: Path) -> list[Entry]:
    """Returns the runs in the subfolders of `folder`, in order of time; symbolic links such as
    runs/latest are skipped. Raises DataError if the folder can't be read."""
    try:
        places = [place for place in folder.iterdir() if not place.is_symlink()]
    except OSError as error:
        raise DataError(f"{folder}: can't be read: {error.strerror}") from None
    runs = [look(place.name, place / RUN_FILE) for place in places if (place / RUN_FILE).is_file()]
    return sorted(runs, key=lambda run: (run.started, run.folder))


def look(folder: str, file: Path) -> Entry:
    """Returns the entry of a run, from its first and last records."""
    try:
        head, whole = ends(file)
    except (OSError, DataError) as error:
        return Entry(folder, wrong=str(error))
    wrong = "" if whole else f"{file}: the run is incomplete"
    return Entry(folder, head.started, head.board, head.plan, head.commit, head.labels, wrong)
