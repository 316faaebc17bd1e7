# SPDX-License-Identifier: BSD-2-Clause
"""The time that traced calls spent in the secure world; one stay there is a leg.

The two events of a leg, `begin` and `end`, cost time: the difference between traced and untraced
calls. How much of it falls inside the leg isn't known: half is subtracted, and the interval reaches
from none to all of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from teemark.model.stats import DRAWS, SEED, Estimate, Sampling, exactly
from teemark.run.reader import RunData
from teemark.run.records import Leg

INTERRUPT = 0xFFFF0004  # The secure world's return value when an interrupt of the normal world came


@dataclass(frozen=True, slots=True)
class CaseLegs:
    """The traced calls of one case."""

    key: str
    ns: tuple[int, ...]  # Time of each call, ns, its events included
    ways: tuple[tuple[Leg, ...], ...]  # The legs of each call
    grain: float  # Step to which time stamps are rounded, ns
    sampling: Sampling

    @property
    def calls(self) -> int:
        return len(self.ns)

    @property
    def legs(self) -> float:
        """Returns the mean number of legs in a call."""
        return sum(map(len, self.ways)) / self.calls

    @property
    def rpcs(self) -> float:
        return sum(_is_rpc(ret) for legs in self.ways for *_, ret in legs) / self.calls

    def _estimate(self, values: Sequence[float], what: str) -> Estimate:
        """Returns the mean of `values`, one per call; unlike a median, a coarse clock doesn't bias
        it."""
        mean = sum(values) / len(values)
        # Without an RPC nothing waits: the stamps of one count differ by the clock's step.
        sampling = self.sampling if self.rpcs else replace(self.sampling, by_chance=True)
        median = sampling.estimate([list(values)], f"{self.key} {what}")
        if median.draws is None or (median.exact and len(set(values)) == 1 and not self.grain):
            return replace(median, value=mean)
        # The difference of two truncated time stamps has a triangular error of one step.
        rng = np.random.default_rng([SEED, len(values), round(self.legs)])
        spread = self.grain * (self.legs / self.calls / 6) ** 0.5
        draws = np.broadcast_to(median.draws, DRAWS) - median.value + mean
        return replace(median, value=mean, draws=draws + rng.normal(0.0, spread, DRAWS))

    def event(self, untraced: Estimate) -> Estimate:
        """Returns the cost of a leg's two events: how much longer a traced call takes, per leg."""
        traced = self._estimate([float(ns) for ns in self.ns], "traced")
        return (traced - untraced).scaled(1 / self.legs)

    def dwell(self, event: Estimate | None) -> Estimate:
        """Returns a call's time in the secure world; `event` is the cost of a leg's two events."""
        inside = [float(sum(end - begin for begin, end, _ in legs)) for legs in self.ways]
        return self._estimate(inside, "in") - _half(event, self.legs)

    def working(self, event: Estimate | None) -> Estimate:
        """Returns a call's time in the secure world and in interrupts meanwhile, without RPCs."""
        working = [float(legs[-1][1] - legs[0][0] - _served(legs)) for legs in self.ways]
        return self._estimate(working, "working") - _half(event, self.rpcs + 1)

    def served(self, event: Estimate | None, untraced: Estimate) -> Estimate:
        """Returns the normal world's time to serve a call's RPCs. The cost of tracing is
        subtracted: its events, and the slower switches between threads."""
        if not self.rpcs:
            return exactly(0.0)
        served = self._estimate([float(_served(legs)) for legs in self.ways], "rpc")
        if event is None:
            return served
        changes = (self.event(untraced) - event).scaled(self.legs)
        return served - _half(event, self.rpcs) - changes


def _half(event: Estimate | None, times: float) -> Estimate:
    """Returns half the cost of `times` events, with an interval from none to all of it; 0 if the
    cost of an event isn't known."""
    if event is None:
        return exactly(0.0)
    share = np.random.default_rng([SEED, DRAWS]).uniform(0.0, 1.0, DRAWS)
    draws = None if event.draws is None else event.draws * share * times
    return replace(event, value=event.value / 2 * times, draws=draws)


def _is_rpc(ret: int) -> bool:
    return ret >> 16 == 0xFFFF and ret not in (0xFFFFFFFF, INTERRUPT)


def _served(legs: Sequence[Leg]) -> int:
    return sum(following[0] - leg[1] for leg, following in pairwise(legs) if _is_rpc(leg[2]))


def traced_calls(run: RunData, sampling: Sampling) -> Mapping[str, CaseLegs]:
    """Returns the traced calls by case. A record that lost events has no legs and isn't used."""
    by_case: dict[str, list[tuple[int, tuple[Leg, ...], int]]] = {}
    for call in run.legs:
        if call.legs and call.ns is not None:
            by_case.setdefault(call.case, []).append((call.ns, call.legs, call.resolution_ns))
    legs = {}
    for key, calls in by_case.items():
        ns, ways, steps = zip(*calls, strict=True)
        legs[key] = CaseLegs(key, ns, ways, float(max(steps)), sampling)
    return legs
