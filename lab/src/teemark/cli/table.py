# SPDX-License-Identifier: BSD-2-Clause
"""`teemark table`: boards beside each other, a line each."""

import csv
import io
from pathlib import Path

from teemark.base.sanitize import harmless_cell
from teemark.cli import common
from teemark.cli.common import option, subcommand
from teemark.cli.runs import read
from teemark.findings.subject import subjects
from teemark.report.sections.boards import data, figures, table


@subcommand("table")
def command(
    run_paths: tuple[Path, ...] = common.runs_argument,
    algorithm: str = option("--algorithm NAME", "The digest.", default="sha256"),
    form: str = common.form_option("markdown", "csv"),
    output: Path | None = common.output_option,
) -> int:
    """Show what calls cost on each board: a line a run.

    A RUN is a run's folder, or its run.ndjson. Of runs with digests it shows a call and a byte:
    every call into the TEE takes an empty call; a call that hashes takes its set-up with it, and
    each byte comes on top. A byte in Linux is that of its cheapest backend. Of other runs it shows
    the cases that most of them have, those of the headline first. CSV and JSON have the intervals;
    a ? marks a figure that is smaller than its interval.

    Exit status: 0 fine; 1 if a run has failed cases, is incomplete, or couldn't use a TEE that is
    there.
    """
    about = subjects([read(path) for path in run_paths])
    names = tuple(figures(about, algorithm))
    rows = [data(subject, algorithm, names) for subject in about]
    if form == "csv":
        file = io.StringIO()
        lines = csv.writer(file, lineterminator="\n")
        lines.writerows([list(rows[0]), *(map(harmless_cell, row.values()) for row in rows)])
        common.put(file.getvalue(), output)
    else:
        common.put_blocks(form, output, lambda: [table(about, algorithm)], lambda: rows)
    return 0 if all(subject.run.as_asked for subject in about) else 1
