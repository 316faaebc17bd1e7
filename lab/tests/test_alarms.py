# SPDX-License-Identifier: BSD-2-Clause
"""False alarms of a comparison stay at their level, and a shift is found: lab/bench/alarms.py, with
fewer simulations."""

from __future__ import annotations

from math import sqrt
from types import ModuleType

import pytest

import benches

SIMULATIONS, CASES = 150, 8


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    return benches.load("alarms")


@pytest.mark.parametrize("number", [0, 2, 4])
def test_equals_raise_an_alarm_one_time_in_twenty_at_most(bench: ModuleType, number: int) -> None:
    share = bench.alarms(bench.WORLDS[number], SIMULATIONS, CASES)
    assert share <= 0.05 + 3 * sqrt(0.05 * 0.95 / SIMULATIONS)


@pytest.mark.parametrize(
    ("number", "shifted", "least"), [(2, 1, 0.9), (3, 1, 0.9), (3, CASES, 0.98)]
)
def test_two_per_cent_are_found(bench: ModuleType, number: int, shifted: int, least: float) -> None:
    assert bench.power(bench.WORLDS[number], 40, CASES, 0.02, shifted) >= least
