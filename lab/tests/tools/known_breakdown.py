# SPDX-License-Identifier: BSD-2-Clause
"""Runs that are made up: the calls that `teemark explain` needs for a SHA-256 of 1 MiB, with known
parts and noise that is its own in every sample, in random order."""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from teemark.model import models
from teemark.model.breakdown import Breakdown, breakdowns
from teemark.run import reader
from teemark.run.reader import RunData

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


def lines(
    calls: Mapping[tuple[str, int], float],
    order: Sequence[tuple[str, int]],
    noise: Callable[[], float],
) -> Iterator[str]:
    """Yields the records of a run with those calls (nanoseconds), taken in that order; each takes
    its time multiplied by `noise`."""
    algorithms = [
        {"name": name, "title": name, "class": "digest", "block_bytes": 64, "pad_bytes": 9}
        for name in ("sha1", "sha256")
    ]
    machine = {"type": "machine", "schema": 1, "teebench": "0.1.0", "algorithms": algorithms}
    records: list[dict[str, object]] = [machine]
    for key in dict.fromkeys(key for key, _ in calls):
        workload, algorithm, backend, parameters = key.split("/", 3)
        repeats = [repeat for of, repeat in calls if of == key]
        size = parameters.split("/")[-1]
        records.append(
            {"type": "case", "case": key, "workload": workload, "algorithm": algorithm}
            | {"backend": backend, "parameters": parameters, "verified": True}
            | {"bytes": int(size) if size.isdigit() else None}
            | {"samples": len(order) // len(calls), "repeat": repeats, "loops": [1] * len(repeats)}
        )
    yield from (json.dumps(one) + "\n" for one in records)
    for seq, (key, repeat) in enumerate(order):
        ns = round(calls[key, repeat] * noise())
        yield (
            json.dumps(
                {"type": "sample", "case": key, "seq": seq, "repeat": repeat, "loops": 1, "ns": ns}
                | {"source": "client-clock", "user_us": ns // 2000, "sys_us": ns // 2000}
                | {"nvcsw": 0, "nivcsw": 0, "runq_ns": 0}
            )
            + "\n"
        )
    yield json.dumps({"type": "end", "complete": True, "reason": "done"}) + "\n"


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
    """Returns the share of runs in which the interval of each part held the truth."""
    held: Counter[str] = Counter()
    for seed in range(runs):
        for part in apart(simulated(seed, spread)).parts:
            if part.name in PARTS and part.value is not None:
                interval = part.value.interval
                held[part.name] += interval is not None and PARTS[part.name] in interval
    return {name: held[name] / runs for name in PARTS}
