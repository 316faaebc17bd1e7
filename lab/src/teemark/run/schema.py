# SPDX-License-Identifier: BSD-2-Clause
"""The JSON Schema of a line of run.ndjson, made from the types in records.py."""

from __future__ import annotations

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
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
