# SPDX-License-Identifier: BSD-2-Clause
"""Two runs of a deterministic board: what counts as the same, and with which reason."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable

import msgspec
import pytest

from synthetic import Synthetic, run_of, scattered
from teemark.model.compare import Difference, differences, only_in_one
from teemark.run import reader
from teemark.run.reader import RunData

EXACT = Synthetic(noise=0, identical=True, samples=5)
SHORT = "oneshot/sha256/{}/64"
EMPTY = "oneshot/sha512/{}/0"
LONG = "oneshot/sha256/{}/1048576"


RESOLUTION = 16


def unchanged(record: dict[str, object]) -> None:
    """As it is."""


def run(change: Callable[[dict[str, object]], None] = unchanged) -> RunData:
    records = EXACT.records()
    for record in records:
        if record["type"] == "machine":
            record |= {"clock": {"resolution_ns": RESOLUTION}}
        change(record)
    return reader.parse([json.dumps(record).encode() + b"\n" for record in records], file="x")


def moved(key: str, by_ns: int) -> RunData:
    """All samples of a case longer by so much."""

    def change(record: dict[str, object]) -> None:
        if record["type"] == "sample" and record["case"] == key:
            assert isinstance(record["ns"], int)
            record["ns"] += by_ns

    return run(change)


def of(key: str, found: tuple[Difference, ...]) -> Difference:
    return next(one for one in found if one.case == key)


def test_a_run_is_as_it_is() -> None:
    found = differences(run(), run())
    assert {one.case for one in found} == set(run().cases)
    assert len(found) == sum(len(case.case.repeat) for case in run().cases.values())
    assert all(one.same and one.holds and one.reason is None for one in found)
    assert only_in_one(run(), run()) == ()


@pytest.mark.parametrize(
    ("key", "by_ns", "holds", "reason"),
    [
        (SHORT.format("c"), RESOLUTION, True, "clock"),
        (SHORT.format("c"), RESOLUTION + 1, False, None),
        (SHORT.format("afalg"), 600, True, "kernel and TEE"),
        (EMPTY.format("afalg"), 6000, False, "kernel and TEE"),
        (EMPTY.format("ta-c"), 400, True, "kernel and TEE"),
        (SHORT.format("tee"), 5000, False, "kernel and TEE"),  # a reason, but too far
        (LONG.format("c"), 7000, True, "timer ticks"),
        (LONG.format("c"), 70000, False, "timer ticks"),
    ],
)
def test_what_is_apart_needs_a_reason(
    key: str, by_ns: int, holds: bool, reason: str | None
) -> None:
    found = differences(run(), moved(key, by_ns))
    one = of(key, found)
    assert one.second.value > one.first.value
    assert one.holds is holds
    assert (one.reason is None) == (reason is None)
    assert reason is None or reason in (one.reason or "")
    assert all(other.holds for other in found if other.case != key)


@pytest.mark.parametrize(("more_ns", "holds"), [(8, True), (8000, False)])
def test_samples_of_other_lengths(more_ns: int, holds: bool) -> None:
    key = SHORT.format("tee")

    def twice_as_many(record: dict[str, object]) -> None:
        if record["type"] == "sample" and record["case"] == key:
            assert isinstance(record["ns"], int)
            assert isinstance(record["loops"], int)
            record["ns"] = record["ns"] * 2 + more_ns
            record["loops"] *= 2

    one = of(key, differences(run(), run(twice_as_many)))
    assert one.reason is not None
    assert re.fullmatch(r"samples of \d+ and \d+ calls", one.reason)
    assert one.holds is holds


def test_a_case_that_only_one_has_is_named() -> None:
    key = SHORT.format("tee")
    less = run()
    less = dataclasses.replace(less, cases={k: v for k, v in less.cases.items() if k != key})
    assert only_in_one(run(), less) == (key,)
    assert key not in {one.case for one in differences(run(), less)}


@pytest.mark.parametrize(
    ("factor", "slower"), [(1.1, "yes"), (0.9, "no"), (1.001, "undecided"), (0.999, "undecided")]
)
def test_a_difference_may_be_chance(factor: float, slower: str) -> None:
    first = run_of({SHORT.format("c"): scattered(1000, 0.02)})
    second = run_of({SHORT.format("c"): scattered(1000 * factor, 0.02, seed=2)})
    (found,) = differences(first, second)
    assert found.slower == slower
    assert found.ratio.value == pytest.approx(factor, rel=0.01)
    assert found.relative == pytest.approx(abs(factor - 1), abs=0.005)


def test_a_repeat_that_only_one_has_is_no_difference() -> None:
    key = SHORT.format("c")
    one = run_of({key: [1.0] * 8})
    samples = tuple(msgspec.structs.replace(s, repeat=2) for s in one.cases[key].samples)
    other = dataclasses.replace(
        one, cases={key: dataclasses.replace(one.cases[key], starts=(samples,))}
    )
    assert differences(one, other) == ()


def test_cases_that_only_the_first_has_are_passed_over() -> None:
    one = run_of({"a/b/c/1": [1.0] * 8, SHORT.format("c"): [2.0] * 8})
    (found,) = differences(one, run_of({SHORT.format("c"): [2.0] * 8}))
    assert found.case == SHORT.format("c")
    assert found.same
