# SPDX-License-Identifier: BSD-2-Clause
"""`teemark schema`: the JSON Schema of a line of run.ndjson, made from the types of its records."""

import inspect
import json
import re
from pathlib import Path
from typing import Any

import msgspec

from teemark.cli.common import output_option, put, subcommand
from teemark.run.records import SCHEMA, AnyRecord


@subcommand("schema")
def command(output: Path | None = output_option) -> None:
    """Print the JSON Schema that every line of run.ndjson obeys."""
    put(json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n", output)


def json_schema() -> dict[str, Any]:
    text = msgspec.json.encode(msgspec.json.schema(AnyRecord)).decode()
    # Docstrings without their indentation, which Python 3.13 strips by itself.
    text = re.sub(r'(?<="description":)"(?:[^"\\]|\\.)*"', _tidy, text)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"teemark-run-{SCHEMA}",
        "title": f"One line of a teemark run.ndjson, schema {SCHEMA}",
        **json.loads(text),
    }


def _tidy(description: re.Match[str]) -> str:
    return json.dumps(inspect.cleandoc(json.loads(description[0])))
