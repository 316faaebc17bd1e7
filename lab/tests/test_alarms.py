# SPDX-License-Identifier: BSD-2-Clause
"""False alarms of a comparison stay at their level, and a shift is found: lab/bench/alarms.py, with
fewer simulations."""

from __future__ import annotations

import importlib.util
import sys
from math import sqrt
from types import ModuleType

import pytest

from teemark import paths

SIMULATIONS, CASES = 150, 8


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("alarms", paths.root() / "lab/bench/alarms.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["alarms"] = module  # where its data class looks for itself
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("number", [0, 2, 4])
def test_equals_raise_an_alarm_one_time_in_twenty_at_most(bench: ModuleType, number: int) -> None:
    share = bench.alarms(bench.WORLDS[number], SIMULATIONS, CASES)
    assert share <= 0.05 + 3 * sqrt(0.05 * 0.95 / SIMULATIONS)


@pytest.mark.parametrize(
    ("number", "shifted", "least"), [(2, 1, 0.9), (3, 1, 0.9), (3, CASES, 0.98)]
)
def test_two_per_cent_are_found(bench: ModuleType, number: int, shifted: int, least: float) -> None:
    assert bench.power(bench.WORLDS[number], 40, CASES, 0.02, shifted) >= least
