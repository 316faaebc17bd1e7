# SPDX-License-Identifier: BSD-2-Clause
"""`teemark schema`: the JSON Schema of run.ndjson."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("schema")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to this file instead of stdout.",
)
def command(output: Path | None) -> None:
    """Print the JSON Schema that every line of run.ndjson obeys."""
    from teemark.files import write_whole
    from teemark.run.schema import json_schema_text

    text = json_schema_text()
    if output is None:
        click.echo(text, nl=False)
    else:
        write_whole(output, text)
