# SPDX-License-Identifier: BSD-2-Clause
"""The timeline of a run of teehash: when it had a CPU, and in which step. Pure functions."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter

from teemark.run.records import Timeline

STEPS = ("open", "read", "wait", "hash", "between", "report", "close")
"""Steps of the hashing thread, in order; "between" is the time outside of every recorded step."""


@dataclass(frozen=True, slots=True)
class StateSpan:
    """An interval of time in one step or one state. States: "on" (a thread has a CPU), "preempt"
    (none has, but one is ready), "wait" (all are blocked). Nanoseconds since the beginning."""

    begin: int
    end: int
    what: str

    @property
    def ns(self) -> int:
        return self.end - self.begin


@dataclass(frozen=True, slots=True)
class StepCost:
    """The total of all occurrences of one step; times in nanoseconds."""

    step: str
    times: int
    ns: int
    on: int
    preempted: int
    waited: int
    switches: int
    gap: int  # Longest stretch without a CPU


@dataclass(frozen=True, slots=True)
class Told:
    """A timeline, up to the moment from which switches are missing."""

    ns: int
    states: tuple[StateSpan, ...]
    steps: tuple[StateSpan, ...]
    costs: tuple[StepCost, ...]

    def total(self) -> StepCost:
        switches = sum(cost.switches for cost in self.costs)
        return _cost("between", 1, self.states, switches)


def told(record: Timeline) -> Told:
    until = min(record.whole_until_ns, record.ns)
    # Events with equal stamps keep their order: sorted by kind, a wait would end before it began.
    switches = sorted((row for row in record.switches if row[0] <= until), key=itemgetter(0))
    states = tuple(_states(switches, record.thread, until))
    steps = tuple(_steps(record, until))
    outs = [at for at, _, _, kind in switches if kind in ("wait", "preempt")]
    return Told(until, states, steps, tuple(_costs(steps, states, outs)))


def _states(
    switches: Iterable[tuple[int, int, int, str]], running: int, until: int
) -> Iterator[StateSpan]:
    on, ready = {running}, set[int]()
    begin, state = 0, "on"
    for at, thread, _, kind in switches:
        on.discard(thread)
        ready.discard(thread)
        if kind == "in":
            on.add(thread)
        elif kind == "preempt":
            ready.add(thread)
        now = "on" if on else "preempt" if ready else "wait"
        if now != state:
            if at > begin:
                yield StateSpan(begin, at, state)
            begin, state = at, now
    if until > begin:
        yield StateSpan(begin, until, state)


def _steps(record: Timeline, until: int) -> Iterator[StateSpan]:
    at = 0
    stretches = sorted(record.steps, key=lambda row: row[1:])
    for step, begin, end in (*stretches, ("between", until, until)):
        first, last = max(begin, at), min(end, until)
        if first > at and (first < last or first == until):
            yield StateSpan(at, min(first, until), "between")
            at = first
        if first < last:
            yield StateSpan(first, last, step)
            at = last


def _costs(
    steps: tuple[StateSpan, ...], states: tuple[StateSpan, ...], outs: list[int]
) -> Iterator[StepCost]:
    ends = [span.end for span in states]
    for name in STEPS:
        mine = [span for span in steps if span.what == name]
        pieces: list[StateSpan] = []
        switches = 0
        for step in mine:
            last = len(outs) if step is steps[-1] else bisect_left(outs, step.end)
            switches += last - bisect_left(outs, step.begin)
            for at in range(bisect_right(ends, step.begin), bisect_left(ends, step.end) + 1):
                state = states[at]
                pieces.append(
                    StateSpan(max(state.begin, step.begin), min(state.end, step.end), state.what)
                )
        if mine:
            yield _cost(name, len(mine), pieces, switches)


def _cost(step: str, times: int, pieces: Iterable[StateSpan], switches: int) -> StepCost:
    spent, gap = Counter[str](), 0
    for piece in pieces:
        spent[piece.what] += piece.ns
        gap = max(gap, piece.ns if piece.what != "on" else 0)
    on, ready, waited = (spent[state] for state in ("on", "preempt", "wait"))
    return StepCost(step, times, on + ready + waited, on, ready, waited, switches, gap)
