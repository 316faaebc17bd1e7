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

    Memory and backends are compared at sizes that RUN measured, pieces by its models. Where
    intervals overlap nothing is advised.
    """
    from teemark.base.console import json_text, paragraph, terminal
    from teemark.cli.common import warn
    from teemark.findings.choices import choose, sentence
    from teemark.findings.ground import Ground
    from teemark.run import reader

    run = reader.read(source)
    warn(run)
    ground = Ground.of(run)
    found = choose(ground)
    if as_json:
        data = [
            {
                "question": one.question,
                "subject": one.subject,
                "choose": one.choose,
                "over": one.over,
                "from": one.first,
                "to": one.last,
                "undecided": one.undecided,
                "saves": one.saves,
                "low": one.saved.low if one.saved else None,
                "high": one.saved.high if one.saved else None,
            }
            for one in found
        ]
        click.echo(json_text({"advice": data}), nl=False)
        return
    console = terminal()
    for one in found:
        paragraph(console, f"• {sentence(ground, one)}")
    if not found:
        paragraph(
            console,
            "Nothing to advise: the run compares no kinds of memory, pieces or backends, or their "
            "intervals overlap at every size.",
        )
