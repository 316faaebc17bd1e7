# SPDX-License-Identifier: BSD-2-Clause
"""How often do the intervals of a call's parts hold the truth? Takes made-up runs apart.

    python lab/bench/parts.py [--runs 1000] [--spread 0.02]

Each run has the calls that `teemark explain` needs for a SHA-256 of 1 MiB, with known parts and
noise that is its own in every sample, in random order. The interval of each part, and of what they
leave (whose truth is 0), should hold the truth in 95 % of the runs. Exit status 1: one does in
fewer than 93 % or in more than 97 %.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Mapping

from click import echo as say
from simulated import lines

from teemark.model import models
from teemark.model.breakdown import Breakdown, breakdowns
from teemark.run import reader
from teemark.run.reader import RunData

LOW, HIGH = 0.93, 0.97
WIDER = ("setup", "compute")
"""With the error of a line: these may hold the truth more often."""
SAMPLES = 25
SIZE = 1048576
SIZES = (0, 4096, 65536, SIZE)
KEY = f"oneshot/sha256/tee/{SIZE}"

SWITCH, ENTRY, REFERENCE, PAGE, LIBRARY = 30_000.0, 26_000.0, 9_000.0, 190.0, 500.0
SETUP, BLOCK = 8_000.0, 3_800.0
CALL = SWITCH + ENTRY


def carried(size: int) -> float:
    return REFERENCE + PAGE * -(-size // 4096)


def blocks(size: int) -> int:
    return -(-(size + 9) // 64)


def digest(size: int, repeat: int) -> float:
    return CALL + carried(size) + carried(64) + repeat * (SETUP + blocks(size) * BLOCK)


PARTS: Mapping[str, float] = {
    "client-switch": SWITCH,
    "ta-entry": ENTRY,
    "mapping": carried(SIZE) + carried(64),
    "setup": SETUP,
    "compute": blocks(SIZE) * BLOCK,
    "unexplained": 0.0,
}
CALLS: Mapping[tuple[str, int], float] = {
    ("invoke/none/tee/none", 1): CALL,
    ("invoke/direct/tee/none", 1): CALL - LIBRARY,
    ("invoke/refused/tee/none", 1): SWITCH - LIBRARY,
    **{(f"shm/allocated/tee/in/{n}", 1): CALL + carried(n) for n in (64, SIZE)},
    **{(f"oneshot/sha256/tee/{n}", r): digest(n, r) for n in SIZES for r in (1, 2, 4)},
}


def simulated(seed: int, spread: float) -> RunData:
    """A run whose samples scatter so much about their truth, as a share of it."""
    rng = random.Random(seed)
    order = list(CALLS) * SAMPLES
    rng.shuffle(order)
    made = lines(CALLS, order, lambda: max(0.1, rng.gauss(1.0, spread)))
    return reader.parse((line.encode() for line in made), file="simulated")


def apart(run: RunData) -> Breakdown:
    return next(one for one in breakdowns(run, models.build(run)) if one.key == KEY)


def coverage(runs: int, spread: float) -> dict[str, float]:
    """Of each part, the share of runs in which its interval held the truth."""
    held: Counter[str] = Counter()
    for seed in range(runs):
        for part in apart(simulated(seed, spread)).parts:
            if part.name in PARTS and part.value is not None:
                interval = part.value.interval
                held[part.name] += interval is not None and PARTS[part.name] in interval
    return {name: held[name] / runs for name in PARTS}


def good(name: str, share: float) -> bool:
    return LOW <= share <= (1.0 if name in WIDER else HIGH)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--spread", type=float, default=0.02)
    asked = parser.parse_args()
    found = coverage(asked.runs, asked.spread)
    for name, share in found.items():
        mark = "" if good(name, share) else "  !"
        say(f"{name:14} {share:7.1%}{mark}")
    return 0 if all(good(name, share) for name, share in found.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
