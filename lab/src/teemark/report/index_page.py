# SPDX-License-Identifier: BSD-2-Clause
"""The runs of a folder on one page, by plan and board and in the order of time. Each opens its
report, and a script in the page compares any two; nothing is fetched."""

import contextlib
import json
import os
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec import DecodeError, Struct, ValidationError
from msgspec.json import decode, encode

from teemark.base.errors import DataError, TeemarkError
from teemark.base.files import write_whole
from teemark.base.work import EMPTY_CALL
from teemark.model.compare import LIMIT, readings
from teemark.page import blocks, html
from teemark.report import comparing, heading
from teemark.report.run_page import HTML
from teemark.run import reader
from teemark.run.listing import Entry
from teemark.run.reader import RUN_FILE
from teemark.wording import fmt

KEPT = ".index.json"
"""File in a folder of runs that keeps their figures, so that each run is read once."""


class Figures(Struct, frozen=True):
    """Costs that the page shows of a run's file, as it was at `stamp`: nanoseconds or instructions
    a call, by case."""

    stamp: int
    unit: str
    asked: str
    cases: dict[str, float]


def write(
    folder: Path, entries: Sequence[Entry], output: Path, tell: Callable[[str], None]
) -> None:
    """Writes the page of these runs of `folder`. Raises DataError if there are none."""
    if not entries:
        raise DataError(f"{folder} has no runs", hint="name the folder that has the runs' folders")
    write_whole(output, render(folder, entries, figures(folder, entries, tell), output.parent))


def figures(
    folder: Path, entries: Sequence[Entry], tell: Callable[[str], None] = lambda _: None
) -> dict[str, Figures]:
    """Returns each run's figures by its folder: those that are kept, as long as the run's file is
    the same, else read from the run and kept. A run that can't be read has none."""
    kept, by_run = _kept(folder), dict[str, Figures]()
    for number, entry in enumerate(entries, 1):
        if entry.wrong:
            continue
        stamp = (folder / entry.folder / RUN_FILE).stat().st_mtime_ns
        if (old := kept.get(entry.folder)) is not None and old.stamp == stamp:
            by_run[entry.folder] = old
            continue
        tell(f"reading run {number} of {len(entries)} …")
        try:
            run = reader.read(folder / entry.folder)
        except TeemarkError:
            continue
        values = {
            reading.case: reading.least if run.icount else reading.middle
            for reading in readings(run).values()
            if reading.repeat == 1
        }
        question = (run.header.plan_title if run.header is not None else None) or heading.ASKED
        by_run[entry.folder] = Figures(stamp, run.unit, question, values)
    if by_run != kept:
        with contextlib.suppress(DataError):  # a folder that may only be read
            write_whole(folder / KEPT, encode(kept | by_run))
    return by_run


def _kept(folder: Path) -> dict[str, Figures]:
    try:
        return decode((folder / KEPT).read_bytes(), type=dict[str, Figures])
    except (OSError, DecodeError, ValidationError):
        return {}


def render(folder: Path, entries: Sequence[Entry], by_run: dict[str, Figures], place: Path) -> str:
    """Returns the page, which will stand in the folder `place`."""
    kinds = sorted({(entry.plan, entry.board) for entry in entries if entry.board})
    groups, data = [], list[dict[str, object]]()
    for plan, board in kinds:
        runs = [entry for entry in entries if (entry.plan, entry.board) == (plan, board)]
        groups.append(_group(folder, runs, by_run, place, data))
    days = dict.fromkeys(heading.day(e.started) for e in (entries[0], entries[-1]) if e.started)
    boards = {board for _, board in kinds}
    answer = (
        f"{fmt.plural(len(entries), 'run')} of {fmt.plural(len({*(p for p, _ in kinds)}), 'plan')} "
        f"on {fmt.plural(len(boards), 'board')}, {' to '.join(days)}. Choose a base and a new run "
        "to compare them."
    )
    title = f"What was measured on {fmt.listed(sorted(boards))}"
    foot = [blocks.plain(line) for line in heading.footer(title)]
    # In a page, "<" could end the script that holds the data
    text = json.dumps(data).replace("<", "\\u003c")
    return html.index(title, answer, groups, text, foot)


def _group(
    folder: Path,
    runs: Sequence[Entry],
    by_run: dict[str, Figures],
    place: Path,
    data: list[dict[str, object]],
) -> dict[str, object]:
    """Returns a plan's runs on a board for the template, the newest first, with the figure that
    most of them have and its change since the run before; appends their figures to `data`."""
    have = [by_run[run.folder] for run in runs if run.folder in by_run]
    often: dict[str, int] = {}
    for one in have:
        for key in one.cases:
            often[key] = often.get(key, 0) + 1
    key = max(often, key=lambda name: (often[name], name == EMPTY_CALL), default="")
    rows, before = list[dict[str, Any]](), None
    for run in runs:
        mine = by_run.get(run.folder)
        value = mine.cases.get(key) if mine is not None else None
        change = value / before - 1 if value and before else None
        moved = change is not None and abs(change) > LIMIT
        report = folder / run.folder / HTML
        commit = run.commit.short if run.commit is not None else fmt.NONE
        row = {
            "began": run.started.replace("T", " ")[:16],
            "link": Path(os.path.relpath(report, place)).as_posix() if report.is_file() else "",
            "wrong": run.wrong and "incomplete",
            "figure": _written(value, mine.unit) if value and mine else fmt.NONE,
            "change": comparing.signed(change) if change is not None else fmt.NONE,
            "verdict": ("worse" if (change or 0) > 0 else "better") if moved else "",
            "place": len(data) if mine is not None else None,
            "commit": commit,
            "labels": " ".join(f"{name}={text}" for name, text in run.labels.items()),
        }
        rows.append(row)
        before = value or before
        if mine is not None:
            name = f"{run.plan} on {run.board}, {row['began']}"
            shown = {case: float(f"{figure:.6g}") for case, figure in mine.cases.items()}
            where = shlex.quote((folder / run.folder).as_posix())
            data.append({"name": name, "folder": where, "unit": mine.unit, "figures": shown})
    unit = ", instructions" if have and have[-1].unit != "ns" else ""
    return {
        "name": f"{runs[0].plan} on {runs[0].board}",
        "asked": have[-1].asked if have else "",
        "figure": (("an empty call" if key == EMPTY_CALL else key) or "figure") + unit,
        "runs": rows[::-1],
    }


def _written(value: float, unit: str) -> str:
    return fmt.duration(value) if unit == "ns" else fmt.instructions(value)
