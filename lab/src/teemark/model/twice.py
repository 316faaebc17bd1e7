# SPDX-License-Identifier: BSD-2-Clause
"""The same plan measured twice on a deterministic board: how far apart, and why.

Where an instruction is a nanosecond, two runs differ by what differed in the machine: nothing, or
something that can be named. Only reasons that the samples themselves bear out are given.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from teemark.model.stats import median
from teemark.run.reader import RunData
from teemark.run.records import Case, Sample

LIMIT = 0.001
"""How far apart two medians may be where a reason is given."""

TICK_NS = 4_000_000
"""The kernel's timer tick on the virtual boards (CONFIG_HZ=250)."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Two medians of one case (at one `repeat`), nanoseconds a call."""

    case: str
    repeat: int
    first: float
    second: float
    reason: str | None  # None: identical, or nothing that would explain it

    @property
    def relative(self) -> float:
        return abs(self.second - self.first) / self.first if self.first else 0.0

    @property
    def holds(self) -> bool:
        """Identical, or a little apart with a reason."""
        return self.first == self.second or (self.reason is not None and self.relative <= LIMIT)


def differences(first: RunData, second: RunData) -> tuple[Difference, ...]:
    """Of every case of both runs, in the order of the first."""
    resolution = first.machine.clock.resolution_ns or 0
    return tuple(
        _difference(
            case.case,
            repeat,
            (samples, _by_repeat(second.cases[case.case.case].samples).get(repeat, ())),
            resolution,
            local=first.backend(case.case.backend).local,
        )
        for case in first.sound
        if case.case.case in second.cases
        for repeat, samples in _by_repeat(case.samples).items()
    )


def only_in_one(first: RunData, second: RunData) -> tuple[str, ...]:
    """Cases that only one of the runs measured."""
    return tuple(
        sorted({case.case.case for case in first.sound} ^ {case.case.case for case in second.sound})
    )


def _by_repeat(samples: Iterable[Sample]) -> dict[int, tuple[Sample, ...]]:
    found: dict[int, tuple[Sample, ...]] = {}
    for sample in samples:
        found[sample.repeat] = (*found.get(sample.repeat, ()), sample)
    return found


def _difference(
    case: Case,
    repeat: int,
    runs: tuple[tuple[Sample, ...], tuple[Sample, ...]],
    resolution: int,
    *,
    local: bool,
) -> Difference:
    loops = {sample.loops for samples in runs for sample in samples}
    calls = [_median(sample.ns / sample.loops for sample in samples) for samples in runs]
    whole = [_median(sample.ns for sample in samples) for samples in runs]
    apart = abs(whole[1] - whole[0])
    reason = None
    if not all(runs) or calls[0] == calls[1]:
        pass  # nothing to compare, or to explain
    elif len(loops) > 1:
        reason = f"samples of {' and '.join(map(str, sorted(loops)))} calls"
    elif apart <= resolution:
        reason = f"the clock resolves {resolution} ns"
    elif max(whole) >= TICK_NS:
        reason = "timer ticks and the kernel's threads ran within the sample"
    elif not local:
        reason = "the way through kernel and TEE depends on what went before"
    return Difference(case.case, repeat, calls[0], calls[1], reason)


def _median(values: Iterable[float]) -> float:
    found = list(values)
    return median(found) if found else 0.0
