# SPDX-License-Identifier: BSD-2-Clause
"""`teemark advise`: what to choose, by what a run measured."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("advise")
@click.argument("source", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Write the advice as JSON.")
def command(source: Path, as_json: bool) -> None:
    """Say which kind of memory, which pieces of a stream and which backend cost least, from which
    size to which, and what that saves.

    Memory and backends are compared at sizes that RUN measured, pieces by its models. What isn't
    better by 1 % is not advised.
    """
    from teemark.base.console import json_text, paragraph, terminal
    from teemark.cli.common import warn
    from teemark.findings.choices import choices
    from teemark.findings.ground import Ground
    from teemark.page import terminal as terminal_page
    from teemark.page.blocks import Findings
    from teemark.run import reader

    run = reader.read(source)
    warn(run)
    found = tuple(choices(Ground.of(run), alone=True))
    if as_json:
        click.echo(json_text({"findings": found}), nl=False)
        return
    console = terminal()
    terminal_page.show(console, [Findings(found)])
    if not found:
        paragraph(
            console,
            "Nothing to advise: the run compares no kinds of memory, pieces or backends, or none "
            "is better by 1 %.",
        )
