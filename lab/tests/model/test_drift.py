# SPDX-License-Identifier: BSD-2-Clause
"""A level that changes over a run is found, and a steady one is ruled out."""

import random

import pytest

from synthetic import run_of
from teemark.findings.ground import Ground
from teemark.findings.rules import judge
from teemark.model.drift import PARTS, Drift, drift
from teemark.model.models import sampling_of
from teemark.run.reader import RunData

CASES, SAMPLES = 20, 15


def made(
    rise: float, step: float = 0.0, spread: float = 0.02, samples: int = SAMPLES
) -> Drift | None:
    run = slowed(rise, step, spread, samples)
    return drift(run.sound, sampling_of(run))


def slowed(rise: float, step: float = 0.0, spread: float = 0.02, samples: int = SAMPLES) -> RunData:
    """A run whose cases take turns; `rise` over all of it, `step` after two fifths of it."""
    rng, total = random.Random(1), CASES * samples
    times = {
        f"oneshot/sha256/c/{64 * (case + 1)}": [
            1e4 * (case + 1) * (1 + rise * at / total + step * (at / total > 0.4))
            * rng.gauss(1, spread)
            for at in range(case, total, CASES)
        ]
        for case in range(CASES)
    }  # fmt: skip
    return run_of(times)


@pytest.mark.parametrize(
    ("rise", "step", "answer"),
    [(0, 0, "no"), (0.02, 0, "no"), (0.3, 0, "yes"), (-0.3, 0, "yes"), (0, 0.3, "yes"),
     (0.065, 0, "undecided")],
)  # fmt: skip
def test_a_slow_down_over_the_run_and_a_step_in_it(rise: float, step: float, answer: str) -> None:
    found = made(rise, step)
    assert found is not None
    assert found.answer == answer
    if step:
        assert found.turn == pytest.approx(0.4, abs=0.03)
    if rise == 0.3:
        assert found.last.value == pytest.approx(1.2625 / 1.0375, rel=0.02)


def test_too_few_samples_tell_no_drift() -> None:
    assert made(0.3, samples=1) is None
    rest = made(0.3, samples=2)
    assert rest is not None
    assert len(rest.levels) == PARTS


def test_a_report_says_what_no_interval_holds() -> None:
    """A slow-down of 30 % over a run was printed as "453 µs (418 … 471)", as if that were sure."""
    by_rise = {
        rise: next(one for one in judge(Ground.of(slowed(rise))) if one.key == "drift")
        for rise in (0.0, 0.3)
    }
    found = by_rise[0.3]
    assert (found.status, found.severity, found.sure) == ("found", "caution", True)
    assert "The level of all cases changed over the run by more than 5" in found.claim
    assert "No interval holds that" in found.remedy
    steady = by_rise[0.0]
    assert (steady.severity, steady.remedy) == ("note", "")
    assert "All cases kept their level" in steady.claim
