# SPDX-License-Identifier: BSD-2-Clause
"""The JSON Schema is current, says what the types say, and real output obeys it."""

import json
import re
import subprocess
from typing import get_args

import jsonschema
import pytest
from click.testing import CliRunner

from synthetic import Synthetic
from teemark.base import paths
from teemark.cli.schema import command, json_schema
from teemark.run import reader
from teemark.run.records import AnyRecord

DOCS = paths.root() / "docs"


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    jsonschema.Draft202012Validator.check_schema(json_schema())
    return jsonschema.Draft202012Validator(json_schema())


def test_the_stored_schema_is_current() -> None:
    stored = (DOCS / "run.schema.json").read_text(encoding="utf-8")
    assert CliRunner().invoke(command).output == stored, (
        "make it again: teemark schema -o docs/run.schema.json"
    )


def test_every_field_is_documented() -> None:
    text = (DOCS / "run-format.md").read_text(encoding="utf-8")
    words = set(re.findall(r"`([a-z_]+)`", text))
    for record in get_args(AnyRecord):
        missing = set(record.__struct_fields__) - words
        assert not missing, f"docs/run-format.md doesn't say what {missing} of {record} are"


def test_synthetic_run_obeys(validator: jsonschema.Draft202012Validator) -> None:
    for record in Synthetic(samples=2).records():
        validator.validate(record)


@pytest.mark.parametrize(
    "record",
    [
        {"type": "nonsense"},
        {"type": "end", "complete": 1, "reason": "done"},
        {"type": "sample", "case": "a/b/c/d", "seq": -1},
        {"type": "machine", "schema": "1"},
    ],
)
def test_schema_refuses(
    validator: jsonschema.Draft202012Validator, record: dict[str, object]
) -> None:
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(record)


def test_real_teebench_obeys(validator: jsonschema.Draft202012Validator) -> None:
    """The native build measures here; its every line obeys the schema and makes a run."""
    program = paths.built_programs("native") / "teebench"
    if not program.exists():
        pytest.skip("there is no native teebench yet: make target")
    cases = "\n".join(
        (
            "invoke/none/tee/none samples=3",
            "oneshot/sha256/c/64 samples=3 repeat=1,2,4",
            "oneshot/sha256/openssl/1024 samples=3",
            "oneshot/sha256/afalg/1024 samples=3",
            "oneshot/sha512/ce/64 samples=3",
        )
    )
    done = subprocess.run([program], input=cases.encode(), capture_output=True, check=True)
    lines = done.stdout.splitlines(keepends=True)
    for line in lines:
        validator.validate(json.loads(line))
    run = reader.parse(lines, file="teebench")
    assert run.incomplete is None
    assert not run.fails
    assert {"oneshot/sha256/c/64"} <= run.cases.keys()
    assert len(run.cases) + len(run.skips) == 5
