# SPDX-License-Identifier: BSD-2-Clause
"""`teemark report`: make the reports again from a run."""

from pathlib import Path

import click

from teemark.base.console import working
from teemark.cli.common import FOLDER, option, put_json, runs_argument, subcommand
from teemark.cli.runs import warn
from teemark.report import index_page, run_page
from teemark.run import listing, reader
from teemark.run.reader import PARTIAL_FILE, RUN_FILE
from teemark.trace import store


@subcommand("report")
def command(
    run_paths: tuple[Path, ...] = runs_argument,
    out: Path | None = option(
        "-o --out DIR",
        "Folder for report.html and report.md. [default: the first run's own]",
        kind=FOLDER,
    ),
    as_json: bool = option("--json", "Print what was written as JSON."),
) -> int:
    """Make report.html and report.md from one or more runs.

    A RUN is a run's folder, or its run.ndjson. Several runs are shown side by side, and compared
    with the first. The same runs always give the same bytes. Of a folder of runs it makes
    index.html, which opens each report and compares any two.

    Exit status: 0 fine; 1 if a run has failed cases, is incomplete, or couldn't use a TEE that is
    there.
    """
    if len(run_paths) == 1 and (entries := _runs_in(run_paths[0])):
        index = (out or run_paths[0]) / "index.html"
        with working("reading the runs …") as tell:
            index_page.write(run_paths[0], entries, index, tell)
        put_json({"html": str(index)}) if as_json else click.echo(index)
        return 0
    runs = [reader.read(path) for path in run_paths]
    report = run_page.make(runs, [store.find(reader.locate(path).parent) for path in run_paths])
    folder = out or reader.locate(run_paths[0]).parent
    html = run_page.write(report, folder)
    for run in runs:
        warn(run)
    if as_json:
        files = {"html": str(html), "markdown": str(html.with_suffix(".md"))}
        put_json(files)
    else:
        click.echo(f"{html}\n{html.with_suffix('.md')}")
    return 0 if all(run.as_asked for run in runs) else 1


def _runs_in(folder: Path) -> list[listing.Entry]:
    """Returns the runs in a folder of runs; [] for a run's own folder, or a file."""
    files = (folder / RUN_FILE, folder / PARTIAL_FILE)
    return listing.entries(folder) if folder.is_dir() and not any(p.exists() for p in files) else []
