# SPDX-License-Identifier: BSD-2-Clause
"""When a run of teehash had a CPU, and at which step it was. Pure: a record in, times out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal

from teemark.run.records import StepName, Timeline

State = Literal["on", "preempt", "wait"]
"""Some thread has a CPU; none has, but one could go on; all wait for something."""

Step = StepName | Literal["between"]
"""What the thread that hashes does; between: nothing that was recorded as a step."""

STEPS: tuple[Step, ...] = ("open", "read", "wait", "hash", "between", "report", "close")


@dataclass(frozen=True, slots=True)
class Span:
    """Nanoseconds since the beginning."""

    begin: int
    end: int

    @property
    def ns(self) -> int:
        return self.end - self.begin


@dataclass(frozen=True, slots=True)
class StateSpan(Span):
    state: State


@dataclass(frozen=True, slots=True)
class StepSpan(Span):
    step: Step


@dataclass(frozen=True, slots=True)
class StepCost:
    """What a step took in all."""

    step: Step
    times: int
    ns: int
    on: int
    preempted: int
    waited: int
    switches: int
    gap: int
    """The longest stretch without a CPU."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a timeline tells, of the time in which it has every switch."""

    ns: int
    states: tuple[StateSpan, ...]
    threads: tuple[tuple[int, tuple[StateSpan, ...]], ...]
    """Of each thread, the one that hashes first."""
    steps: tuple[StepSpan, ...]
    costs: tuple[StepCost, ...]

    def total(self) -> StepCost:
        each = self.costs
        return StepCost(
            "between",
            1,
            self.ns,
            sum(one.on for one in each),
            sum(one.preempted for one in each),
            sum(one.waited for one in each),
            sum(one.switches for one in each),
            max((one.ns for one in self.states if one.state != "on"), default=0),
        )


def told(record: Timeline) -> Told:
    until = min(record.whole_until_ns, record.ns)
    # Events of one stamp keep their order: by their words a wait would end before it began.
    switches = sorted((one for one in record.switches if one[0] <= until), key=itemgetter(0))
    states = tuple(_states(switches, {record.thread}, until))
    names = dict.fromkeys((record.thread, *(thread for _, thread, _, _ in switches)))
    threads = tuple(
        (
            name,
            tuple(
                _states(
                    [one for one in switches if one[1] == name],
                    {name} & {record.thread},
                    until,
                )
            ),
        )
        for name in names
    )
    steps = tuple(_steps(record, until))
    outs = [at for at, _, _, kind in switches if kind in ("wait", "preempt")]
    return Told(until, states, threads, steps, tuple(_costs(steps, states, outs)))


def _states(
    switches: Iterable[tuple[int, int, int, str]], running: set[int], until: int
) -> Iterator[StateSpan]:
    """All threads taken together; neighbours differ."""
    on, ready = set(running), set[int]()
    begin, state = 0, _state(on, ready)
    for at, thread, _, kind in switches:
        on.discard(thread)
        ready.discard(thread)
        if kind == "in":
            on.add(thread)
        elif kind == "preempt":
            ready.add(thread)
        now = _state(on, ready)
        if now != state:
            if at > begin:
                yield StateSpan(begin, at, state)
            begin, state = at, now
    if until > begin:
        yield StateSpan(begin, until, state)


def _state(on: set[int], ready: set[int]) -> State:
    return "on" if on else "preempt" if ready else "wait"


def _steps(record: Timeline, until: int) -> Iterator[StepSpan]:
    """In order, without a gap and without overlap."""
    at = 0
    for step, begin, end in sorted(record.steps, key=lambda one: one[1:]):
        first, last = max(begin, at), min(end, until)
        if first >= last:
            continue
        if first > at:
            yield StepSpan(at, first, "between")
        yield StepSpan(first, last, step)
        at = last
    if at < until:
        yield StepSpan(at, until, "between")


def _costs(
    steps: tuple[StepSpan, ...], states: tuple[StateSpan, ...], outs: list[int]
) -> Iterator[StepCost]:
    pieces: dict[Step, list[StateSpan]] = {}
    times: dict[Step, int] = {}
    switches: dict[Step, int] = {}
    state, out = 0, 0
    for step in steps:
        times[step.step] = times.get(step.step, 0) + 1
        while state < len(states) and states[state].end <= step.begin:
            state += 1
        at = state
        while at < len(states) and states[at].begin < step.end:
            one = states[at]
            cut = StateSpan(max(one.begin, step.begin), min(one.end, step.end), one.state)
            pieces.setdefault(step.step, []).append(cut)
            at += 1
        while out < len(outs) and (outs[out] < step.end or step is steps[-1]):
            switches[step.step] = switches.get(step.step, 0) + 1
            out += 1
    for name in STEPS:
        if name not in times:
            continue
        found = pieces.get(name, [])

        def spent(state: State, found: list[StateSpan] = found) -> int:
            return sum(one.ns for one in found if one.state == state)

        yield StepCost(
            name,
            times[name],
            sum(one.ns for one in found),
            spent("on"),
            spent("preempt"),
            spent("wait"),
            switches.get(name, 0),
            max((one.ns for one in found if one.state != "on"), default=0),
        )
