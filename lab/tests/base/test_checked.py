# SPDX-License-Identifier: BSD-2-Clause
"""Checked input: whatever is wrong is named with its place, and with what is allowed there."""

from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct

from teemark.base.checked import Wrong, convert
from teemark.base.errors import ConfigError, DataError
from teemark.boards import config
from teemark.plan import file as plan
from teemark.run.records import AnyRecord
from teemark.studies import declared


class Inner(Struct, forbid_unknown_fields=True):
    colour: Literal["red", "green"]
    size: Annotated[int, Meta(ge=1)] = 1

    def __post_init__(self) -> None:
        if self.size == 13:
            raise Wrong("13 brings bad luck", "take 12", "size")


class Outer(Struct, forbid_unknown_fields=True):
    inner: tuple[Inner, ...]
    words: dict[str, str] = {}


@pytest.mark.parametrize(
    ("data", "message", "hint"),
    [
        ({}, "f: inner: missing", None),
        ({"inner": 3}, "f: inner: must be a list, not 3", None),
        ({"inner": [3]}, "f: inner: must be a table, not 3", "known: colour, size"),
        ({"inner": [{"colour": "red"}, {}]}, "f: inner[2].colour: missing", "known: green, red"),
        ({"inner": [{"colour": "blue"}]}, "f: inner[1].colour: 'blue' isn't known", "known: green"),
        (
            {"inner": [{"colour": "red", "size": 0}]},
            "f: inner[1].size: must be a whole number from 1 on, not 0",
            None,
        ),
        ({"inner": [{"color": "red"}]}, "f: inner[1].color: no such key", "did you mean `colour`?"),
        ({"inner": [{"colour": "red", "size": 13}]}, "f: inner[1].size: 13 brings", "take 12"),
        ({"inner": [], "words": {"a": 3}}, "f: words: must be a text, not {'a': 3}", None),
    ],
)
def test_what_is_wrong_is_named(data: object, message: str, hint: str | None) -> None:
    with pytest.raises(DataError) as caught:
        convert(data, Outer, "f", error=DataError)
    assert caught.value.message.startswith(message)
    assert (caught.value.hint or "").startswith(hint or "")
    assert (caught.value.hint is None) == (hint is None)


KEYS = [
    "kind",
    "type",
    "summary",
    "cases",
    "teehash",
    "workload",
    "algorithms",
    "backends",
    "sizes",
    "parameters",
    "samples",
    "repeat",
    "chunk",
    "reader",
    "modes",
    "address",
    "port",
    "cores",
    "options",
    "icount",
    "devices",
    "tables",
    "rows",
    "columns",
    "name",
    "with",
    "case",
    "seq",
    "ns",
    "loops",
    "schema",
    "teebench",
    "cpu",
    "online",
    "features",
    "complete",
    "reason",
    "let",
    "measured",
]
WORDS = ["ssh", "virtual", "run", "machine", "case", "sample", "end", "stream", "me", "tee", "4KiB"]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 70), 1 << 70)
    | st.floats()
    | st.dates()
    | st.sampled_from(WORDS)
    | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
    ),
    max_leaves=25,
)


@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=8))
@pytest.mark.parametrize("type_", [plan._File, config.Config, declared._File, AnyRecord])
def test_any_data_is_right_or_named(type_: Any, data: dict[str, object]) -> None:
    said = "f: "
    try:
        convert(data, type_, "f")
    except ConfigError as error:
        said = error.message
    assert said.startswith("f: ")
