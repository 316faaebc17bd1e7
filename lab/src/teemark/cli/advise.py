# SPDX-License-Identifier: BSD-2-Clause
"""`teemark advise`: which memory, pieces and backend to choose, according to a run."""

from pathlib import Path

from teemark.base.console import paragraph, terminal
from teemark.cli.common import json_option, put_json, run_argument, subcommand
from teemark.cli.reading import read
from teemark.findings.choices import choices
from teemark.findings.ground import Ground
from teemark.page import terminal as terminal_page
from teemark.page.choices import choice_table


@subcommand("advise")
def command(
    run_path: Path = run_argument,
    as_json: bool = json_option("Write the advice as JSON."),
) -> None:
    """Say which kind of memory, which pieces of a stream and which backend cost least, from which
    size to which, and what that saves.

    Memory and backends are compared at sizes that RUN measured, pieces by its models. What isn't
    better by 1 % is not advised.
    """
    run = read(run_path)
    ground = Ground.of(run)
    if as_json:
        put_json({"findings": tuple(choices(ground, alone=True))})
        return
    console, advice = terminal(), choice_table(ground)
    if advice.rows:
        terminal_page.show(console, [advice])
        return
    paragraph(
        console,
        "Nothing to advise: the run compares no kinds of memory, pieces or backends, or none is "
        "better by 1 %.",
    )
