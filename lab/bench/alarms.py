# SPDX-License-Identifier: BSD-2-Clause
"""How often `teemark compare` raises a false alarm, and how often it finds a shift.

    python lab/bench/alarms.py [--simulations 1000] [--cases 20]

Two runs of the same thing are compared again and again: the share of comparisons in which any case
is called better or worse must not be above 5 %. Then one case of the second run, or all of them,
take 2 % longer: how often is that found? Exit status 1: too many false alarms.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import sqrt

from click import echo as say

from teemark.model.compare import ALPHA, Difference, compare_values
from teemark.model.stats import Dependence, Sampling


@dataclass(frozen=True)
class World:
    """How samples scatter: within a start, and from start to start (all cases together)."""

    name: str
    starts: int
    samples: int
    noise: float
    between: float = 0.0
    own: float = 0.0  # from start to start, of each case alone
    skewed: bool = False

    def values(self, rng: random.Random, medians: list[float]) -> list[list[list[float]]]:
        """By case and start."""
        shifts = [rng.gauss(1, self.between) for _ in range(self.starts)]
        draw: Callable[[], float] = partial(rng.gauss, 0, self.noise)
        if self.skewed:
            draw = lambda: self.noise * (rng.expovariate(1) - 0.693)  # noqa: E731
        made = []
        for median in medians:
            own = [rng.gauss(1, self.own) for _ in range(self.starts)]
            made.append(
                [
                    [median * shift * mine * (1 + draw()) for _ in range(self.samples)]
                    for shift, mine in zip(shifts, own, strict=True)
                ]
            )
        return made


WORLDS = (
    World("one start, 15 samples, 1 % noise", 1, 15, 0.01),
    World("one start, 40 samples, 2 % noise", 1, 40, 0.02),
    World("one start, 30 samples, skewed 1 %", 1, 30, 0.01, skewed=True),
    World("5 starts, 1 % apart together", 5, 12, 0.01, between=0.01),
    World("8 starts, 1 % apart together", 8, 12, 0.01, between=0.01),
    World("8 starts, each case 0.5 % apart", 8, 12, 0.01, own=0.005),
)


def compared(
    world: World, rng: random.Random, cases: int, shift: float, shifted: int
) -> list[Difference]:
    medians = [10 ** rng.uniform(3, 7) for _ in range(cases)]
    moved = [m * (1 + shift * (place < shifted)) for place, m in enumerate(medians)]
    names = [f"a/b/c/{place}" for place in range(cases)]
    first, second = world.values(rng, medians), world.values(rng, moved)
    sampling = Sampling(dependence=Dependence(()))
    return compare_values(dict(zip(names, zip(first, second, strict=True), strict=True)), sampling)


def alarms(world: World, simulations: int, cases: int, seed: int = 1) -> float:
    """The share of comparisons of equals that call anything better or worse."""
    rng = random.Random(seed)
    return sum(
        any(one.verdict in ("better", "worse") for one in compared(world, rng, cases, 0, 0))
        for _ in range(simulations)
    ) / max(simulations, 1)


def power(world: World, simulations: int, cases: int, shift: float, shifted: int) -> float:
    """The share of shifted cases that are called worse."""
    rng = random.Random(2)
    found = sum(
        one.verdict == "worse"
        for _ in range(simulations)
        for one in compared(world, rng, cases, shift, shifted)[:shifted]
    )
    return found / (simulations * shifted)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--cases", type=int, default=20)
    asked = parser.parse_args()
    allowed = ALPHA + 3 * sqrt(ALPHA * (1 - ALPHA) / asked.simulations)
    bad = False
    few = max(asked.simulations // 5, 1)
    for world in WORLDS:
        share = alarms(world, asked.simulations, asked.cases)
        one = power(world, few, asked.cases, 0.02, 1)
        every = power(world, few, asked.cases, 0.02, asked.cases)
        say(
            f"{world.name:34} false alarms {share:5.1%}{'!' if share > allowed else ' '}  "
            f"2 % found: in one case {one:4.0%}, in all {every:4.0%}"
        )
        bad = bad or share > allowed
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
