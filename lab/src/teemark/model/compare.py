# SPDX-License-Identifier: BSD-2-Clause
"""Two runs of the same cases: how far apart they are, and whether that can be chance.

On a deterministic board, where an instruction is a nanosecond, two runs differ by what differed in
the machine: nothing, or something that can be named. There only reasons that the samples
themselves bear out are given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from teemark.model.decide import Answer, above
from teemark.model.models import sampling_of
from teemark.model.stats import Estimate, call_times, loops_of, median
from teemark.run.reader import MeasuredCase, RunData

LIMIT = 0.001
"""How far apart two exact medians may be where a reason is given."""

TICK_NS = 4_000_000
"""The kernel's timer tick on the virtual boards (CONFIG_HZ=250)."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Two medians of one case (at one `repeat`), nanoseconds a call."""

    case: str
    repeat: int
    first: Estimate
    second: Estimate
    reason: str | None  # None: identical, or nothing that would explain it

    @property
    def relative(self) -> float:
        first = self.first.value
        return abs(self.second.value - first) / first if first else 0.0

    @property
    def same(self) -> bool:
        return self.first.value == self.second.value

    @property
    def holds(self) -> bool:
        """Identical, or a little apart with a reason."""
        return self.same or (self.reason is not None and self.relative <= LIMIT)

    @property
    def ratio(self) -> Estimate:
        return self.second / self.first

    @property
    def slower(self) -> Answer:
        """Whether the second is, beyond what the intervals of both allow for."""
        return above(self.ratio, 1.0)


def differences(first: RunData, second: RunData) -> tuple[Difference, ...]:
    """Of every case of both runs, in the order of the first."""
    resolution = first.machine.clock.resolution_ns or 0
    samplings = (sampling_of(first), sampling_of(second))
    found = []
    for case in first.sound:
        other = second.cases.get(case.case.case)
        if other is None:
            continue
        for repeat in sorted({sample.repeat for sample in case.samples}):
            known = [
                sampling.estimate(
                    [call_times(start, repeat) for start in one.starts],
                    f"{one.case.case} x{repeat} {place}",
                    loops_of(one, repeat),
                )
                for place, (one, sampling) in enumerate(zip((case, other), samplings, strict=True))
                if any(sample.repeat == repeat for sample in one.samples)
            ]
            if len(known) == 2:
                local = first.backend(case.case.backend).local
                reason = _reason((case, other), repeat, resolution, local=local)
                found.append(Difference(case.case.case, repeat, known[0], known[1], reason))
    return tuple(found)


def only_in_one(first: RunData, second: RunData) -> tuple[str, ...]:
    """Cases that only one of the runs measured."""
    return tuple(
        sorted({case.case.case for case in first.sound} ^ {case.case.case for case in second.sound})
    )


def _reason(
    cases: Sequence[MeasuredCase], repeat: int, resolution: int, *, local: bool
) -> str | None:
    samples = [[s for s in case.samples if s.repeat == repeat] for case in cases]
    calls = [median(s.ns / s.loops for s in of_run) for of_run in samples]
    whole = [median(s.ns for s in of_run) for of_run in samples]
    loops = {s.loops for of_run in samples for s in of_run}
    if calls[0] == calls[1]:
        return None
    if len(loops) > 1:
        return f"samples of {' and '.join(map(str, sorted(loops)))} calls"
    if abs(whole[1] - whole[0]) <= resolution:
        return f"the clock resolves {resolution} ns"
    if max(whole) >= TICK_NS:
        return "timer ticks and the kernel's threads ran within the sample"
    if not local:
        return "the way through kernel and TEE depends on what went before"
    return None
