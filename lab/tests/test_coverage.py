# SPDX-License-Identifier: BSD-2-Clause
"""Intervals hold the truth as often as they say: lab/bench/coverage.py and parts.py,
with fewer runs."""

from __future__ import annotations

from types import ModuleType

import pytest

import benches

RUNS = 150
LEAST, MOST = 0.88, 0.995
"""Four standard errors of 95 % in so many runs would be 7 %; what is broken is further off."""


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    return benches.load("coverage")


def test_coverage_of_the_parts_of_a_call() -> None:
    parts = benches.load("parts")
    for name, share in parts.coverage(RUNS, 0.02).items():
        assert LEAST <= share <= MOST, name


@pytest.mark.parametrize("name", ["lognormal", "dependent", "4 starts"])
def test_coverage(bench: ModuleType, name: str) -> None:
    (scenario,) = (one for one in bench.SCENARIOS if one.name == name)
    found = bench.coverage(scenario, RUNS)
    assert set(found) == set(bench.INTERVALS)
    for interval, (share, runs) in found.items():
        assert runs >= 0.9 * RUNS, interval
        assert LEAST <= share <= MOST, interval
