# SPDX-License-Identifier: BSD-2-Clause
"""`teemark export`: a run in the form that another tool reads."""

from pathlib import Path

import click

from teemark.base.console import say
from teemark.base.errors import UsageMistake
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
    server: str | None = option(
        "--push URL",
        "Send openmetrics to a Prometheus push gateway, http://HOST:9091, or bmf to a project of "
        "Bencher, https://api.bencher.dev/PROJECT, by the key in BENCHER_API_KEY.",
    ),
    output: Path | None = output_option,
) -> int:
    """Print a run in another tool's format.

    RUN is a run's folder, or its run.ndjson. With --push nothing is printed unless -o names a file.
    A gateway's figures of the run's board and plan are replaced; Bencher keeps each run.

    Exit status: 0 fine; 1 if the run has failed cases, is incomplete, or couldn't use a TEE that is
    there (the export is written all the same); 2 for a mistake on the command line.
    """
    run = reader.read(run_path)
    row = next(row for row in FORMATS if row.name == name)
    if server is not None and (row.push is None or not server.startswith(("http://", "https://"))):
        hint = "--format openmetrics --push http://HOST:9091, or --format bmf --push https://HOST/PROJECT"
        raise UsageMistake(f"{name} can't be sent, or {server} is no address", hint=hint)
    text = row.render(run)
    if server is None or output is not None:
        put(text, output)
    if server is not None and row.push is not None:
        row.push(text, run, server)
    if name == "bmf" and server is None and run.commit is not None:
        branch = f" --branch {run.commit.branch}" if run.commit.branch else ""
        say(f"teemark: BMF has no place for a commit: bencher run --hash {run.commit.hash}{branch}")
    return 0 if run.as_asked else 1
