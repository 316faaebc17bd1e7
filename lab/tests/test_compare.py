# SPDX-License-Identifier: BSD-2-Clause
"""Two runs of a deterministic board: what counts as the same, and with which reason."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

import msgspec
import numpy as np
import pytest

from synthetic import TRUTH, Synthetic, run_from, run_of, scattered
from teemark.model.compare import (
    EMULATED,
    ONE_START,
    Comparison,
    Difference,
    compare,
    compare_values,
    starts_more,
)
from teemark.model.stats import Estimate, Sampling, exactly
from teemark.report.comparing import remarks
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
    return run_from(records)


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
    found = compare(run(), run()).pairs
    assert {one.case for one in found} == set(run().cases)
    assert len(found) == sum(len(case.case.repeat) for case in run().cases.values())
    assert all(one.identical and one.verdict == "same" and one.reason is None for one in found)
    assert compare(run(), run()).lost == compare(run(), run()).new == ()


@pytest.mark.parametrize(
    ("key", "by_ns", "holds", "reason"),
    [
        (SHORT.format("c"), RESOLUTION, True, "clock"),
        (SHORT.format("c"), RESOLUTION + 1, False, None),
        (SHORT.format("afalg"), 600, True, "kernel and TEE"),
        (SHORT.format("afalg"), 14_000, True, "kernel and TEE"),  # 1.5 %, by the pages at hand
        (EMPTY.format("afalg"), 16_000, False, "kernel and TEE"),
        (LONG.format("afalg"), 140_000, True, "timer ticks"),
        (LONG.format("afalg"), 160_000, False, "timer ticks"),
        (EMPTY.format("ta-c"), 400, True, "kernel and TEE"),
        (SHORT.format("tee"), 5000, False, "kernel and TEE"),  # a reason, but too far
        (LONG.format("c"), 7000, True, "timer ticks"),
        (LONG.format("c"), 70000, False, "timer ticks"),
    ],
)
def test_what_is_apart_needs_a_reason(
    key: str, by_ns: int, holds: bool, reason: str | None
) -> None:
    found = compare(run(), moved(key, by_ns)).pairs
    one = of(key, found)
    assert one.second.value > one.first.value
    assert one.verdict == ("same" if holds else "worse")
    assert (one.reason is None) == (reason is None)
    assert reason is None or reason in (one.reason or "")
    assert all(other.verdict == "same" for other in found if other.case != key)


@pytest.mark.parametrize(("more_ns", "holds"), [(8, True), (8000, False)])
def test_samples_of_other_lengths(more_ns: int, holds: bool) -> None:
    key = SHORT.format("tee")

    def twice_as_many(record: dict[str, object]) -> None:
        if record["type"] == "sample" and record["case"] == key:
            assert isinstance(record["ns"], int)
            assert isinstance(record["loops"], int)
            record["ns"] = record["ns"] * 2 + more_ns
            record["loops"] *= 2

    one = of(key, compare(run(), run(twice_as_many)).pairs)
    assert one.reason is not None
    assert re.fullmatch(r"samples of \d+ and \d+ calls", one.reason)
    assert one.verdict == ("same" if holds else "worse")


def test_a_case_that_only_one_has_is_named() -> None:
    key = SHORT.format("tee")
    less = run()
    less = dataclasses.replace(less, cases={k: v for k, v in less.cases.items() if k != key})
    assert compare(run(), less).lost == (key,)
    assert compare(less, run()).new == (key,)
    assert key not in {one.case for one in compare(run(), less).pairs}


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [(1.1, "worse"), (0.9, "better"), (1.001, "undecided"), (0.999, "undecided")],
)
def test_a_difference_may_be_chance(factor: float, verdict: str) -> None:
    key = SHORT.format("c")
    one, other = (
        [[v] for v in scattered(1000 * f, 0.02, seed=s)] for f, s in ((1, 1), (factor, 2))
    )
    (found,) = compare_values({key: (one, other)}, Sampling())
    assert found.verdict == verdict
    assert found.ratio.value == pytest.approx(factor, rel=0.01)
    assert found.change == pytest.approx(factor - 1, abs=0.005)


@pytest.mark.parametrize("emulated", [False, True])
def test_one_start_or_an_emulators_clock_decide_nothing(emulated: bool) -> None:
    """However far apart the runs are."""
    starts = 8 if emulated else 1
    made = Synthetic(algorithms=("sha256",), noise=0.001, starts=starts, emulated=emulated)
    truth = {key: (2 * call, 2 * byte) for key, (call, byte) in TRUTH.items()}
    other = dataclasses.replace(made, seed=2, truth=truth)
    found = compare(*(reader.parse(one.lines(), file="x") for one in (made, other)))
    assert {one.verdict for one in found.pairs} == {"undecided"}
    assert found.blind == (EMULATED if emulated else ONE_START)
    (said,) = (line for line in remarks(found) if "Nothing is called" in line)
    assert ("qemu-v8-icount" in said) == emulated
    assert ("--rounds 7" in said) != emulated
    if not emulated:
        found = compare(*(reader.parse(replaced(one).lines(), file="x") for one in (made, other)))
        assert found.blind is None
        assert len(found.of("worse")) > 15


def test_where_the_ratio_has_no_interval_nothing_tells_how_many_starts_would_decide() -> None:
    """As where a start of the base took no time; not a number of starts that are there already."""
    first = [[0.0]] * 11 + [[10.0]]
    (one,) = compare_values({"a": (first, [[12.0 + i / 10] for i in range(12)])}, Sampling())
    assert one.ratio.interval is None
    assert (one.verdict, one.have, one.more) == ("undecided", 12, None)
    (one,) = compare_values({"a": ([[10.0]], [[12.0]])}, Sampling())
    assert (one.have, one.more) == (1, 3)


@pytest.mark.parametrize(
    ("ratio", "half", "have", "cases", "more"),
    [
        (1.04, 0.06, 8, 1, 10),  # 8 (0.06 / 0.04)^2 = 18
        (0.96, 0.06, 8, 1, 10),
        (1.04, 0.06, 8, 50, 43),  # by the level of one of 50: 1.679 times as wide
        (1.004, 0.009, 8, 1, 10),  # the same sooner than worse: 8 (0.009 / 0.006)^2 = 18
        (1.0, 0.02, 8, 1, 24),  # the same: 8 (0.02 / 0.01)^2 = 32
        (1.3, 0.35, 2, 1, 2),  # four are the fewest that a rank test can tell apart
        (1.041, 0.04, 8, 1, 1),
        (1.02, 3.0, 8, 1, None),  # 180,000
        (1.04, 0.06, 1, 1, 3),
    ],
)
def test_how_many_starts_more_would_decide(
    ratio: float, half: float, have: int, cases: int, more: int | None
) -> None:
    """An interval of known width, whose ends come nearer as the square root of the starts."""
    draws = np.linspace(ratio - half / 0.95, ratio + half / 0.95, 2001)
    one = Difference("x", 1, exactly(1.0), Estimate(ratio, draws), "undecided", have=have)
    assert starts_more(one, cases) == more


def test_one_start_is_too_few_however_many_the_other_run_has() -> None:
    """A rank test would do, but nothing shows how far starts of the first lie apart."""
    (one,) = compare_values({"a": ([[10.0]], [[12.0 + i / 100] for i in range(40)])}, Sampling())
    assert (one.verdict, one.least_p < 0.05) == ("undecided", True)
    sampled = dataclasses.replace(EXACT, identical=False, emulated=False).run()
    found = Comparison(sampled, sampled, (one,), (), (), 1)
    assert (found.too_few, found.blind) == ((one,), ONE_START)


def replaced(made: Synthetic) -> Synthetic:
    return dataclasses.replace(made, starts=7)


def test_what_waits_for_a_disk_is_not_exact() -> None:
    key = SHORT.format("tee")

    def scatter(record: dict[str, object]) -> None:
        if record["type"] == "sample" and record["case"] == key:
            assert isinstance(record["ns"], int)
            assert isinstance(record["seq"], int)
            record["ns"] = record["ns"] * (10 + record["seq"] % 7) // 10

    found = compare(run(), run(scatter))
    one = of(key, found.pairs)
    assert (one.verdict, found.blind) == ("undecided", None)
    assert one.reason is not None
    assert "disk" in one.reason


def test_a_repeat_that_only_one_has_is_no_difference() -> None:
    key = SHORT.format("c")
    one = run_of({key: [1.0] * 8})
    samples = tuple(msgspec.structs.replace(s, repeat=2) for s in one.cases[key].samples)
    other = dataclasses.replace(
        one, cases={key: dataclasses.replace(one.cases[key], starts=(samples,))}
    )
    assert compare(one, other).pairs == ()


def test_cases_that_only_the_first_has_are_passed_over() -> None:
    one = run_of({"a/b/c/1": [1.0] * 8, SHORT.format("c"): [2.0] * 8})
    (found,) = compare(one, run_of({SHORT.format("c"): [2.0] * 8})).pairs
    assert found.case == SHORT.format("c")
    assert found.identical
