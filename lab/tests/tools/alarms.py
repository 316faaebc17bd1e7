# SPDX-License-Identifier: BSD-2-Clause
"""How often `teemark compare` raises a false alarm, and whether it sees what it says it would see.

    python lab/tests/tools/alarms.py [--simulations 500] [--cases 20 --cases 194]   # 9 minutes

Simulated: two runs of one build, whose starts scatter as each world says, then the same with every
third case 1, 3, 5 and 10 % dearer. For each share it prints in how many comparisons a case that
didn't change is called better or worse (alarms), in how many --fail-on 5% fails, and how many of
the changed cases are called worse; then the change that `compare` prints as visible in 80 of 100
pairs, beside the one found by search. Exit status 1: an alarm, a failure of 5 % at a true 3 % or
less, or a printed change that is off by more than a factor of 1.2; that isn't asked of skewed
starts, whose scatter a median of few estimates shows as too small. Last come histories without a
change, and what is said of a level that changes over a run, or doesn't.
"""

import argparse
import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from statistics import median

from click import echo as say

from synthetic import _DIGESTS, run_of
from teemark.findings import call, crypto
from teemark.findings.ground import SAME, Ground
from teemark.model.breakdown import TOLERANCE, CrossCheck
from teemark.model.compare import CaseReading, Difference, Limit, Starts, sampled
from teemark.model.drift import drift
from teemark.model.history import BY_CHANCE, sampled_changes
from teemark.model.models import sampling_of
from teemark.model.stats import Sampling, exactly

CHANGED = 3
"""Every third case is changed."""

LIMIT = Limit(share=0.05)

OFF = 1.2
"""The printed change and the one that is found by search differ by no more than this factor."""


@dataclass(frozen=True)
class World:
    """How the medians of starts scatter: all cases of a start together, and each for itself."""

    name: str
    starts: int
    together: float = 0.0
    own: float = 0.0
    skewed: bool = False
    day: float = 0.0  # How far the level of a whole run lies off, as from one day to the next

    def values(self, rng: random.Random, medians: Sequence[float]) -> list[list[list[float]]]:
        """Draws one value for each case and start: the median of the start."""
        level = rng.gauss(0, self.day)
        shifts = [level + rng.gauss(0, self.together) for _ in range(self.starts)]
        return [
            [[median_ * (1 + shift + self.draw(rng))] for shift in shifts] for median_ in medians
        ]

    def draw(self, rng: random.Random) -> float:
        return self.own * (rng.expovariate(1) - 1 if self.skewed else rng.gauss(0, 1))


WORLDS = (
    World("5 starts, each case 1 % apart", 5, own=0.01),
    World("8 starts, each case 3 % apart", 8, own=0.03),
    World("8 starts, 1 % together, 0.5 % own", 8, together=0.01, own=0.005),
    World("8 starts, skewed by 1 %", 8, own=0.01, skewed=True),
    World("20 starts, each case 3 % apart", 20, own=0.03),
)

BY_THEORY = 0.04  # 2.5 % of runs have one of many figures beyond an interval's one end

DAYS = World("8 starts, 0.5 % own, a day's level of 1 %", 8, own=0.005, day=0.01)


def compare_values(values: Mapping[str, tuple[Starts, Starts]]) -> list[Difference]:
    """Returns the verdicts on bare values of two runs, by case."""
    pairs = [
        (CaseReading(case, one), CaseReading(case, other)) for case, (one, other) in values.items()
    ]
    return sampled(pairs)


def compared(world: World, rng: random.Random, cases: int, share: float) -> list[Difference]:
    """Two runs, with every third case of the second dearer by that share."""
    medians = [10 ** rng.uniform(3, 7) for _ in range(cases)]
    moved = [m * (1 + share * (place % CHANGED == 0)) for place, m in enumerate(medians)]
    pairs = zip(world.values(rng, medians), world.values(rng, moved), strict=True)
    # The cases have nothing in common, so their keys name no family.
    return compare_values({str(place): pair for place, pair in enumerate(pairs)})


@dataclass(frozen=True)
class Outcome:
    """The counts over many comparisons."""

    alarms: int
    """Comparisons in which an unchanged case is called better or worse."""
    failed: int
    """Comparisons that --fail-on 5% fails."""
    seen: float
    """Share of the changed cases that are called worse."""
    printed: float
    """Median of the change that is printed as visible."""


def outcome(world: World, simulations: int, cases: int, share: float, seed: int = 1) -> Outcome:
    rng = random.Random(seed)
    alarms = failed = seen = 0
    printed = []
    for _ in range(simulations):
        found = compared(world, rng, cases, share)
        same = [one for place, one in enumerate(found) if place % CHANGED or not share]
        alarms += any(one.moved for one in same)
        failed += any(LIMIT.broken(one) for one in found)
        seen += sum(one.verdict == "worse" for one in found[::CHANGED])
        printed.append(median(one.visible for one in found))
    changed = simulations * len(range(0, cases, CHANGED))
    return Outcome(alarms, failed, seen / changed, median(printed))


def truly_visible(world: World, simulations: int, cases: int) -> float:
    """The change that 80 of 100 changed cases are called worse by, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(9):
        middle = (low + high) / 2
        seen = outcome(world, simulations, cases, middle, seed=3).seen
        low, high = (middle, high) if seen < 0.8 else (low, middle)
    return (low + high) / 2


def simulated(simulations: int, cases: int) -> bool:
    """Prints a table for that many cases; whether all is as it should be."""
    good = True
    say(f"{cases} cases, {simulations} comparisons each: alarms, failures of 5 %, changes seen")
    for world in WORLDS:
        cells = []
        for share in (0.0, 0.01, 0.03, 0.05, 0.10):
            one = outcome(world, simulations, cases, share)
            good &= one.alarms == 0 and not (share <= 0.03 and one.failed)
            cells.append(f"{share:.0%}: {one.alarms} {one.failed} {one.seen:.0%}")
        printed = one.printed
        true = truly_visible(world, max(simulations // 10, 10), cases)
        good &= world.skewed or 1 / OFF <= printed / true <= OFF
        say(f"{world.name:34} {' | '.join(cells)} | visible: said {printed:.1%}, is {true:.1%}")
    return good


def histories(simulations: int, runs: int, cases: int = 194) -> dict[str, float]:
    """Returns the share of histories without a change in which `history` sees one, by world."""
    rng = random.Random(4)
    worlds: dict[str, Callable[[], float]] = {
        "normal, 1 %": lambda: rng.gauss(1e5, 1e3),
        "slow runs far out": lambda: 1e5 * math.exp(rng.expovariate(100)),
        "values repeat, 1 in 10 differs": lambda: 1000.0 + (rng.random() < 0.1),
        "values repeat, 1 in 2 differs": lambda: 1000.0 + (rng.random() < 0.5),
    }
    return {
        name: sum(
            bool(sampled_changes([draw() for _ in range(runs)], cases)) for _ in range(simulations)
        )
        / simulations
        for name, draw in worlds.items()
    }


def drifts(simulations: int) -> dict[str, Counter[str]]:
    """Returns the answers on the level of a run, by what the level does over it."""
    rng, cases, samples = random.Random(5), 20, 15
    total = cases * samples
    worlds: dict[str, Callable[[float], float]] = {
        "steady": lambda _: 1.0,
        "3 % slower at the end": lambda at: 1 + 0.03 * at,
        "30 % slower at the end": lambda at: 1 + 0.3 * at,
        "a step of 30 %": lambda at: 1.3 if at > 0.4 else 1.0,
    }
    answers = {}
    for name, level in worlds.items():
        answers[name] = Counter[str]()
        for _ in range(simulations):
            run = run_of({
                f"oneshot/sha256/c/{64 * (case + 1)}": [
                    1e5 * level(at / total) * rng.gauss(1, 0.02) for at in range(case, total, cases)
                ]
                for case in range(cases)
            })  # fmt: skip
            found = drift(run.sound, sampling_of(run))
            answers[name][found.answer if found else "none"] += 1
    return answers


def any_of_many(simulations: int, many: int = 8) -> dict[str, float]:
    """Returns in what share of runs a sentence of the kind "any of" is untrue, by sentence. Each of
    `many` figures lies just where nothing may be said of it: on the bound itself."""
    rng, said = random.Random(6), Counter[str]()
    sizes, algorithms = (64, 4096, 65536), list(islice(_DIGESTS, many))

    def near(truth: float) -> list[float]:
        return [truth * rng.gauss(1, 0.02) for _ in range(15)]

    for _ in range(simulations):
        cases = {}
        for algorithm, size in product(algorithms, sizes):
            cases[f"oneshot/{algorithm}/ta-ce/{size}"] = near(20.0 * size + 9e4)
            cases[f"oneshot/{algorithm}/tee/{size}"] = near(crypto.EXTENSIONS * 20.0 * size + 9e4)
        said["no-crypto-extensions"] += crypto.no_extensions(on(cases)).status == "found"
        cases = {}
        for algorithm, size in product(algorithms[:3], sizes):
            cases[f"oneshot/{algorithm}/openssl/{size}"] = near(20.0 * size)
            cases[f"oneshot/{algorithm}/afalg/{size}"] = near(SAME * 20.0 * size)
        ground = on(cases)
        busy = {"afalg": 0.1, "openssl": 1.0}
        known = [replace(one, cpu=exactly(busy[one.backend])) for one in ground.models.stats]
        models = replace(ground.models, stats=tuple(known))
        said["cpu-time"] += crypto.cpu_time(replace(ground, models=models)).status == "found"
        buffers = {f"shm/{of}/tee/in/{64 << place}": near(1e5 * (1 if of == "allocated" else SAME))
                   for of, place in product(("allocated", "temporary"), range(many))}  # fmt: skip
        said["temporary"] += call.temporary(on(buffers)).status == "found"
        sources = [
            Sampling().estimate([near(1e5 * by)], f"{place} {by}")
            for place in range(many) for by in (1 + TOLERANCE, 1.0)
        ]  # fmt: skip
        checks = [
            CrossCheck("a part", one, "", other, "", tests=many)
            for one, other in zip(sources[::2], sources[1::2], strict=True)
        ]
        said["breakdown"] += any(check.answer == "no" for check in checks)
    return {name: said[name] / simulations for name in said}


def on(cases: Mapping[str, Sequence[float]]) -> Ground:
    return Ground.of(run_of(cases))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--simulations", type=int, default=500)
    parser.add_argument("--cases", type=int, action="append")
    asked = parser.parse_args()
    good = [simulated(asked.simulations, cases) for cases in asked.cases or (20, 194)]
    alarms = outcome(DAYS, asked.simulations, 20, 0.0).alarms
    say(f"{DAYS.name}: {alarms} alarms in {asked.simulations}")
    good.append(alarms <= 0.08 * asked.simulations)
    for runs in (8, 12, 20):
        shares = histories(asked.simulations, runs)
        said = ", ".join(f"{name}: {share:.1%}" for name, share in shares.items())
        say(f"history of {runs} runs, no change: {said}")
        good.append(max(shares.values()) <= max(BY_CHANCE[runs]) + 0.03)
    for name, share in any_of_many(asked.simulations).items():
        say(f"any of many, {name}: untrue in {share:.1%} of the runs")
        good.append(share <= BY_THEORY)
    for name, answers in drifts(asked.simulations // 10).items():
        say(f"drift, {name}: {dict(answers)}")
        good.append(not answers["no" if "30" in name else "yes"])
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
