# SPDX-License-Identifier: BSD-2-Clause
"""`teemark export`: a run in the form that another tool reads."""

from __future__ import annotations

from pathlib import Path

import click

from teemark.base.console import say
from teemark.cli.common import option, output_option, put, run_argument
from teemark.export import FORMATS
from teemark.run import reader


@click.command(
    "export",
    epilog="Formats: " + "; ".join(f"{row.name} ({row.help})" for row in FORMATS) + ".",
)
@run_argument
@option(
    "-f --format WHICH",
    "What to write.",
    "name",
    kind=click.Choice([row.name for row in FORMATS]),
    required=True,
)
@output_option
def command(run_path: Path, name: str, output: Path | None) -> int:
    """Print a run in another tool's format.

    RUN is a run's folder, or its run.ndjson.

    Exit status: 0 fine; 1 if the run has failed cases, is incomplete, or couldn't use a TEE that is
    there (the export is written all the same); 2 for a mistake on the command line.
    """
    run = reader.read(run_path)
    render = next(row.render for row in FORMATS if row.name == name)
    put(render(run), output)
    if name == "bmf" and run.commit is not None:
        branch = f" --branch {run.commit.branch}" if run.commit.branch else ""
        say(f"teemark: BMF has no place for a commit: bencher run --hash {run.commit.hash}{branch}")
    return 0 if run.as_asked else 1
