# SPDX-License-Identifier: BSD-2-Clause
"""`teemark table`: boards beside each other, a line each."""

import csv
import io
from pathlib import Path

import click

from teemark.base.console import json_text
from teemark.cli.common import PATH, form_options, option, put, shown
from teemark.cli.reading import read
from teemark.findings.subject import subjects
from teemark.page import markdown, terminal
from teemark.report.sections.boards import data, table


@click.command("table")
@click.argument("run_paths", metavar="RUN...", nargs=-1, required=True, type=PATH)
@option("--algorithm NAME", "The digest.", default="sha256")
@form_options("markdown", "csv")
def command(run_paths: tuple[Path, ...], algorithm: str, form: str, output: Path | None) -> int:
    """Show what a call and a byte cost on each board: a line a run.

    A RUN is a run's folder, or its run.ndjson. Every call into the TEE takes an empty call; a call
    that hashes takes its set-up with it, and each byte comes on top. A byte in Linux is that of its
    cheapest backend. CSV and JSON have the intervals; a ? marks figures with one wider than they.

    Exit status: 0 fine; 1 if a run has failed cases, is incomplete, or couldn't use a TEE that is
    there; 2 for a mistake on the command line.
    """
    about = subjects([read(path) for path in run_paths])
    rows, made = [data(one, algorithm) for one in about], table(about, algorithm)
    if form == "json":
        text = json_text(rows)
    elif form == "csv":
        file = io.StringIO()
        lines = csv.writer(file, lineterminator="\n")
        lines.writerows([list(rows[0]), *(row.values() for row in rows)])
        text = file.getvalue()
    elif form == "markdown":
        text = markdown.table(made) + "\n"
    else:
        text = shown(lambda console: terminal.show(console, [made]), plain=output is not None)
    put(text, output)
    return 0 if all(one.run.as_asked for one in about) else 1
