# SPDX-License-Identifier: BSD-2-Clause
"""How often `teemark compare` raises a false alarm, and how often it finds a shift.

    python lab/bench/alarms.py [--simulations 1000] [--cases 20]
    python lab/bench/alarms.py RUN RUN...       # real runs of one build, of several starts each

Two runs of the same thing are compared again and again: the share of comparisons in which any case
is called better or worse must not be above 5 %. Then one case of the second run, or all of them,
take 2 % longer: how often is that found? Exit status 1: too many false alarms.

Of real runs, whose starts are the samples: all pairs of them; the two halves of each, its starts in
turns; and starts drawn from all of them, as if the runs differed by nothing else. The rule that
nothing is decided by an emulator's clock is left out of these, and shown by itself.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations
from math import sqrt
from pathlib import Path

from click import echo as say

from teemark.model.compare import ALPHA, Difference, compare, compare_values
from teemark.model.stats import Sampling, call_times
from teemark.run import reader
from teemark.run.reader import RunData


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
    World("5 starts, 1 % apart together", 5, 12, 0.01, between=0.01),
    World("8 starts, 1 % apart together", 8, 12, 0.01, between=0.01),
    World("8 starts, each case 0.5 % apart", 8, 12, 0.01, own=0.005),
    World("8 starts, alike but for 2 % noise", 8, 12, 0.02),
    World("8 starts, skewed noise of 5 %", 8, 12, 0.05, skewed=True),
)


def compared(
    world: World, rng: random.Random, cases: int, shift: float, shifted: int
) -> list[Difference]:
    medians = [10 ** rng.uniform(3, 7) for _ in range(cases)]
    moved = [m * (1 + shift * (place < shifted)) for place, m in enumerate(medians)]
    names = [f"a/b/c/{place}" for place in range(cases)]
    first, second = world.values(rng, medians), world.values(rng, moved)
    pairs = zip(first, second, strict=True)
    return compare_values(dict(zip(names, pairs, strict=True)), Sampling())


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


Start = dict[str, list[float]]
"""Nanoseconds a call, by case."""


def starts_of(run: RunData) -> list[Start]:
    found: list[Start] = [{} for _ in run.starts]
    for case in run.sound:
        for start, samples in zip(found, case.starts, strict=True):
            start[case.case.case] = call_times(samples)
    return found


def of_starts(first: Sequence[Start], second: Sequence[Start]) -> list[Difference]:
    both = ([[start[case] for start in starts] for starts in (first, second)] for case in first[0])
    return compare_values(
        {case: (one, other) for case, (one, other) in zip(first[0], both, strict=True)}, Sampling()
    )


def moved(starts: Sequence[Start], case: str, factor: float) -> list[Start]:
    return [start | {case: [value * factor for value in start[case]]} for start in starts]


def real(places: Sequence[Path], simulations: int) -> None:
    runs = [reader.read(place) for place in places]
    pairs = list(combinations(runs, 2))
    starts = [starts_of(run) for run in runs]
    found = [of_starts(one, other) for one, other in combinations(starts, 2)]
    say(f"{len(runs)} runs of {len(starts[0])} starts, {len(starts[0][0])} cases")
    _said("pairs of runs", found)
    _said("halves of one run", [of_starts(one[::2], one[1::2]) for one in starts])
    rng = random.Random(1)
    count = len(starts[0])
    every = list(chain.from_iterable(starts))
    drawn = [rng.sample(every, 2 * count) for _ in range(simulations)]
    _said("starts of all runs", [of_starts(one[:count], one[count:]) for one in drawn])
    for shift in (0.02, 0.2, 1):
        seen = 0
        for one in drawn[:: len(WORLDS)]:
            case = rng.choice(list(one[0]))
            (worse,) = (
                pair
                for pair in of_starts(one[:count], moved(one[count:], case, 1 + shift))
                if pair.case == case
            )
            seen += worse.verdict == "worse"
        say(f"  {shift:.0%} more in one case: found in {seen / len(drawn[:: len(WORLDS)]):.0%}")
    _said("`teemark compare` of pairs", [list(compare(*pair).pairs) for pair in pairs])


def _said(name: str, found: Sequence[Sequence[Difference]]) -> None:
    alarmed = sum(any(one.verdict in ("better", "worse") for one in pairs) for pairs in found)
    say(f"{name:28} false alarms in {alarmed} of {len(found)} ({alarmed / len(found):.1%})")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("runs", nargs="*", type=Path)
    asked = parser.parse_args()
    if asked.runs:
        real(asked.runs, asked.simulations)
        return 0
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
