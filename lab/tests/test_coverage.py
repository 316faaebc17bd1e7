# SPDX-License-Identifier: BSD-2-Clause
"""Intervals hold the truth as often as they say: lab/bench/coverage.py and parts.py,
with fewer runs."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

RUNS = 150
LEAST, MOST = 0.88, 0.995
"""Four standard errors of 95 % in so many runs would be 7 %; what is broken is further off."""


def _bench(name: str) -> ModuleType:
    file = Path(__file__).parents[1] / "bench" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"bench_{name}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    return _bench("coverage")


def test_coverage_of_the_parts_of_a_call() -> None:
    parts = _bench("parts")
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
