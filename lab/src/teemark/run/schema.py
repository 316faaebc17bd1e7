# SPDX-License-Identifier: BSD-2-Clause
"""The JSON Schema of a line of run.ndjson, made from the types in records.py."""

from __future__ import annotations

import inspect
import json
from typing import Any

import msgspec

from teemark.run.records import SCHEMA, AnyRecord


def json_schema() -> dict[str, Any]:
    schema = msgspec.json.schema(AnyRecord)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"teemark-run-{SCHEMA}",
        "title": f"One line of a teemark run.ndjson, schema {SCHEMA}",
        **schema,
    }


def json_schema_text() -> str:
    return json.dumps(_tidy(json_schema()), indent=2, ensure_ascii=False) + "\n"


def _tidy(value: Any) -> Any:
    """Descriptions without the docstring's indentation, which Python 3.13 strips by itself."""
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: inspect.cleandoc(item)
        if key == "description" and isinstance(item, str)
        else _tidy(item)
        for key, item in value.items()
    }
