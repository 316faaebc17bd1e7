# SPDX-License-Identifier: BSD-2-Clause
"""`teemark schema`: the JSON Schema of run.ndjson."""

from __future__ import annotations

from pathlib import Path

import click

from teemark.cli.options import output_option, put
from teemark.run.schema import json_schema_text


@click.command("schema")
@output_option
def command(output: Path | None) -> None:
    """Print the JSON Schema that every line of run.ndjson obeys."""
    put(json_schema_text(), output)
