# SPDX-License-Identifier: BSD-2-Clause
"""`compare` raises no false alarm, and sees what it says it would see: lab/tests/alarms.py, with
fewer simulations."""

from __future__ import annotations

import pytest

import alarms as bench

SIMULATIONS, CASES = 60, 12


@pytest.mark.parametrize("number", range(4))
def test_equals_raise_no_alarm_and_three_per_cent_are_not_five(number: int) -> None:
    for share in (0.0, 0.03):
        found = bench.outcome(bench.WORLDS[number], SIMULATIONS, CASES, share)
        assert (found.alarms, found.failed) == (0, 0)


@pytest.mark.parametrize("number", [0, 1, 4])
def test_what_is_said_to_be_visible_is_seen_in_80_of_100(number: int) -> None:
    """Within a factor of 1.2: more is seen more often, less is seen less often."""
    world = bench.WORLDS[number]
    said = bench.outcome(world, SIMULATIONS, CASES, 0.0).printed
    assert bench.outcome(world, SIMULATIONS, CASES, said * bench.OFF).seen > 0.8
    assert bench.outcome(world, SIMULATIONS, CASES, said / bench.OFF).seen < 0.8
