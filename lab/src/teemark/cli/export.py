# SPDX-License-Identifier: BSD-2-Clause
"""`teemark export`: a run in the form that another tool reads."""

from pathlib import Path

import click

from teemark.base.console import say
from teemark.cli.common import option, output_option, put, run_argument, subcommand
from teemark.export import FORMATS
from teemark.run import reader


@subcommand(
    "export", epilog="Formats: " + "; ".join(f"{row.name} ({row.help})" for row in FORMATS) + "."
)
def command(
    run_path: Path = run_argument,
    name: str = option(
        "-f --format WHICH",
        "What to write.",
        kind=click.Choice([row.name for row in FORMATS]),
        required=True,
    ),
    output: Path | None = output_option,
) -> int:
    """Print a run in another tool's format.

    RUN is a run's folder, or its run.ndjson. docs/ci.md has the commands that send the text to a
    Prometheus push gateway and to Bencher.

    Exit status: 0 fine; 1 if the run has failed cases, is incomplete, or couldn't use a TEE that is
    there (the export is written all the same).
    """
    run = reader.read(run_path)
    row = next(row for row in FORMATS if row.name == name)
    put(row.render(run), output)
    if name == "bmf" and run.commit is not None:
        branch = f" --branch {run.commit.branch}" if run.commit.branch else ""
        say(f"teemark: BMF has no place for a commit: bencher run --hash {run.commit.hash}{branch}")
    return 0 if run.as_asked else 1
