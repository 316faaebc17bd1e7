# SPDX-License-Identifier: BSD-2-Clause
"""Where the time of one call goes: parts, each from a source of its own, and what they leave.

A part is a difference or a slope of what the run measured apart: an empty call less one that the
TEE's core refuses is what the TA takes of it; a call that only carries a buffer less an empty one
is its mapping; the slope over repetitions is the operation. Nothing is spread over the rest to make
the sum fit: what the parts leave of the call is `unexplained`, and may be negative. Where two
sources tell the same they are compared, not averaged. docs/method.md has the formulas.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import msgspec

from teemark.base import work
from teemark.base.work import (
    DIGEST_BYTES,
    DIRECT_CALL,
    EMPTY_CALL,
    REFUSED_CALL,
    Calls,
    Work,
)
from teemark.model.decide import Answer, within
from teemark.model.fit import MISFIT
from teemark.model.forms import Blocks, blocks_of
from teemark.model.legs import traced_calls
from teemark.model.models import Models, RepeatLine, repeat_lines, sampling_of
from teemark.model.stats import CaseStats, Estimate, case_stats, exactly
from teemark.run.reader import MeasuredCase, RunData

TOLERANCE = 0.05
"""Two sources that tell the same may be so far apart."""

Name = Literal[
    "client", "switch", "client-switch", "ta-entry", "client-switch-entry", "mapping", "setup",
    "compute", "rpcs", "console", "run-queue", "unexplained",
]  # fmt: skip

TITLES: Mapping[Name, str] = {
    "client": "client library and driver",
    "switch": "world switch and TEE core",
    "client-switch": "client library, driver, world switch and TEE core",
    "ta-entry": "session and entry of the TA",
    "client-switch-entry": "an empty call",
    "mapping": "mapping of the buffers",
    "setup": "set-up of the operation",
    "compute": "compute",
    "rpcs": "RPCs to the normal world",
    "console": "console output",
    "run-queue": "waiting for a CPU",
    "unexplained": "unexplained",
}


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a call. `value` None: this run can't tell; `reason` says why, `measure` what
    would. `covers`: parts that are known together only."""

    name: Name
    value: Estimate | None
    source: str | None = None
    reason: str | None = None
    measure: str | None = None
    covers: tuple[Name, ...] = ()

    @property
    def title(self) -> str:
        return TITLES[self.name]


@dataclass(frozen=True, slots=True)
class Check:
    """The same by two sources. `answer`: whether they agree to within TOLERANCE."""

    what: str
    one: Estimate
    one_source: str
    other: Estimate
    other_source: str
    answer: Answer

    @property
    def ratio(self) -> Estimate:
        return self.one / self.other


@dataclass(frozen=True, slots=True)
class Breakdown:
    """One call of a case. Parts are in the order in which a call goes through them; the last is
    what they leave."""

    key: str
    kind: str
    """As in base/work.py; "MAC" for a digest with a key."""
    stats: CaseStats
    parts: tuple[Part, ...]
    checks: tuple[Check, ...] = ()

    @property
    def total(self) -> Estimate:
        return self.stats.estimate

    def part(self, name: Name) -> Part | None:
        return next((part for part in self.parts if part.name == name), None)

    @property
    def known(self) -> tuple[Part, ...]:
        return tuple(part for part in self.parts if part.value is not None)

    @property
    def unexplained(self) -> Estimate:
        found = self.parts[-1].value
        assert found is not None
        return found


class _Run:
    """What the parts of all its calls are made from."""

    def __init__(self, run: RunData, models: Models) -> None:
        self.run = run
        self.models = models
        self.sampling = sampling_of(run)
        self.traced = traced_calls(run, self.sampling)

    @cached_property
    def event(self) -> Estimate | None:
        """What the events of one leg cost, by a call of one leg with and without them."""
        for key in (REFUSED_CALL, EMPTY_CALL):
            traced, plain = self.traced.get(key), self.models.case(key)
            if traced is not None and plain is not None:
                return traced.event(plain.estimate)
        return None

    @cached_property
    def empty(self) -> Estimate | None:
        return self.time(EMPTY_CALL)

    @cached_property
    def entry(self) -> Estimate | None:
        """What the TA takes in an empty call."""
        direct, refused = self.time(DIRECT_CALL), self.time(REFUSED_CALL)
        return None if direct is None or refused is None else direct - refused

    @cached_property
    def repeats(self) -> tuple[RepeatLine, ...]:
        if not self._net:
            return self.models.repeats
        cases = [self._net.get(one.case.case, one) for one in self.run.sound]
        return repeat_lines(cases, self.sampling)

    @cached_property
    def _net(self) -> Mapping[str, MeasuredCase]:
        """Cases whose process waited for a CPU, without that."""
        return {
            one.case.case: _without_wait(one)
            for one in self.run.sound
            if any(sample.runq_ns for sample in one.samples)
        }

    def time(self, key: str) -> Estimate | None:
        """Of a call, less what its process waited for a CPU."""
        stats = self.models.case(key)
        net = self._net.get(key)
        if stats is not None and net is not None:
            stats = case_stats(net, self.sampling)
        return stats.estimate if stats is not None else None

    def waited(self, stats: CaseStats) -> Estimate | None:
        """For a CPU, in a call; None where the kernel doesn't say."""
        if any(sample.runq_ns is None for sample in self.run.cases[stats.key].samples):
            return None
        rest = self.time(stats.key)
        assert rest is not None
        # By the same draws: the rest is spread as the call is.
        return stats.estimate - rest

    def mapping(self, memory: str, direction: str, size: int) -> tuple[Estimate, str] | None:
        """What one reference adds to an empty call, and the case that tells."""
        empty = self.empty
        if empty is None:
            return None
        names = [buffer(memory, way, size) for way in (direction, "in", "inout", "out")]
        if memory == "allocated" and size <= DIGEST_BYTES:
            names.append(work.INVOKE.key(f"memref-{direction}"))
            names += [buffer(memory, "in", n) for n in (64, 4096)]
        for name in names:
            found = self.time(name)
            if found is not None:
                return found - empty, name
        like = work.SHM.work(memory, work.TEE, "in", size)
        cost = self.models.cost(memory, work.TEE, like.curve or "")
        if cost is None or not cost.fit.fits:
            return None
        return cost.at(size) - empty, f"the model of {like.key}"

    # The operation: what a call does in the TA -------------------------------------------------

    def operation(self, case: Work) -> _Slope | None:
        """What it takes inside a call, by the slope over repetitions or else the TA's counter."""
        size = case.size or 0
        for line in self.repeats:
            if line.key == case.key:
                return _Slope(size, line.operation, "slope over repetitions")
        for counted in self.models.counted:
            if counted.case.case == case.key and counted.inside is not None:
                return _Slope(size, counted.inside.estimate, "the TA's counter")
        return None

    def operations(self, algorithm: str, backend: str) -> list[_Slope]:
        """Those on whole messages, by size."""
        wanted = (work.ONESHOT.name, algorithm, backend)
        found = [
            self.operation(stats.work)
            for stats in sorted(self.models.stats, key=lambda stats: stats.bytes or 0)
            if (stats.workload, stats.algorithm, stats.backend) == wanted
        ]
        return [slope for slope in found if slope is not None]


def buffer(memory: str, direction: str, size: int) -> str:
    """The key of the case that only carries such a buffer."""
    return work.SHM.key(memory, work.TEE, direction, size)


def _without_wait(measured: MeasuredCase) -> MeasuredCase:
    return replace(
        measured,
        starts=tuple(
            tuple(
                msgspec.structs.replace(one, ns=max(1, one.ns - one.runq_ns))
                if one.runq_ns
                else one
                for one in start
            )
            for start in measured.starts
        ),
    )


@dataclass(frozen=True, slots=True)
class _Slope:
    size: int
    value: Estimate
    source: str


@dataclass(frozen=True, slots=True)
class _Line:
    """What an operation takes: its set-up, and so much a block."""

    setup: Estimate
    block: Estimate
    source: str


def _of_whole(stats: CaseStats) -> str:
    """The cases that hash whole messages as this one does."""
    return f"{work.ONESHOT.name}/{stats.algorithm}/{stats.backend}"


def _line(known: _Run, stats: CaseStats, blocks: Blocks, slopes: Sequence[_Slope]) -> _Line | None:
    """Through the operation on the smallest message, which has few blocks in it, and on the
    largest."""
    if slopes:
        small, large = slopes[0], slopes[-1]
        few, many = blocks.of(small.size), blocks.of(large.size)
        if many > 10 * few:
            block = (large.value - small.value).scaled(1 / (many - few))
            told = f"{large.source}, {small.size} and {large.size} bytes"
            return _Line(small.value - block.scaled(few), block, told)
    cost, empty = known.models.cost(stats.algorithm, stats.backend), known.empty
    reference = known.mapping("allocated", "in", DIGEST_BYTES)
    each = cost.fit.term("block") if cost is not None and cost.fit.fits else None
    if cost is None or each is None or empty is None or reference is None:
        return None
    setup = cost.call - empty - reference[0].scaled(2)
    return _Line(setup, each, f"the model of {_of_whole(stats)}")


def _bent(line: _Line, blocks: Blocks, slopes: Iterable[_Slope]) -> _Slope | None:
    """An operation that the line misses: it isn't made of a set-up and so much a block."""
    for slope in slopes:
        missed = (line.setup + line.block.scaled(blocks.of(slope.size))) / slope.value
        if within(missed, 1 - MISFIT, 1 + MISFIT) == "no":
            return slope
    return None


def _short(key: str) -> str:
    """As one says it: a TEE's case without what all of them have."""
    return key.removesuffix("/tee/none").replace("/tee/", "/")


# The parts -----------------------------------------------------------------------------------


def _way(known: _Run, stats: CaseStats, calls: int) -> Iterator[Part]:
    """Into the TEE and out again, as often as there are calls."""
    empty, entry = known.empty, known.entry
    if empty is None:
        why = f"the run has no {EMPTY_CALL}"
        for name in ("client", "switch", "ta-entry"):
            yield Part(name, None, reason=why, measure=f"measure {EMPTY_CALL}")
        return
    legs = known.traced.get(EMPTY_CALL)
    key, told = _short(EMPTY_CALL), f"{_short(DIRECT_CALL)} less {_short(REFUSED_CALL)}"
    joint: Name = "client-switch-entry" if entry is None else "client-switch"
    inner: tuple[Name, ...] = ("switch", "ta-entry") if entry is None else ("switch",)
    less = "" if entry is None else f", less ({told})"
    if legs is None:
        why = known.run.untraced(EMPTY_CALL)
        yield Part("client", None, reason=why, measure="run with --trace-events")
        yield Part("switch", None, reason=why, measure="run with --trace-events")
        rest = empty if entry is None else empty - entry
        yield Part(joint, rest.scaled(calls), key + less, covers=("client", *inner))
    else:
        dwell = legs.dwell(known.event)
        rest = dwell if entry is None else dwell - entry
        yield Part("client", (empty - dwell).scaled(calls), f"{key}, less its tracepoints")
        covers = inner if entry is None else ()
        yield Part("switch", rest.scaled(calls), f"tracepoints of {key}{less}", covers=covers)
    if entry is None:
        why = f"the run lacks {DIRECT_CALL} or {REFUSED_CALL}, which tell it"
        yield Part("ta-entry", None, reason=why, measure="measure both (plan explain)")
    elif stats.work.row is work.TA_SIZE:
        # All that another TA's empty call takes more or less is that TA's.
        own = known.time(stats.key)
        assert own is not None
        yield Part("ta-entry", entry + (own - empty), f"{told}, and this call less {key}")
    else:
        yield Part("ta-entry", entry.scaled(calls), told)


def _mapping(known: _Run, shape: Calls) -> Part:
    if not shape.references:
        return Part("mapping", exactly(0.0), "no reference to memory")
    total: Estimate | None = None
    told: list[str] = []
    for reference in dict.fromkeys(shape.references):
        found = known.mapping(*reference)
        if found is None:
            memory, direction, size = reference
            key = buffer(memory, direction, size)
            return Part(
                "mapping",
                None,
                reason=f"the run has no {key}, which only carries the buffer",
                measure=f"measure {key} and {EMPTY_CALL} (plan explain)",
            )
        share = found[0].scaled(shape.references.count(reference))
        total = share if total is None else total + share
        told.append(found[1])
    return Part("mapping", total, f"{' and '.join(map(_short, told))}, less {_short(EMPTY_CALL)}")


def _digest(known: _Run, stats: CaseStats) -> Iterator[Part]:
    size = stats.bytes or 0
    blocks = blocks_of(known.run.algorithm(stats.algorithm))
    slopes = known.operations(stats.algorithm, stats.backend)
    own = next((slope for slope in slopes if slope.size == size), None)
    line = _line(known, stats, blocks, slopes) if blocks is not None else None
    if blocks is None or line is None:
        why = "no slope over repetitions, no counter in the TA, and no model over sizes"
        what = f"measure {_of_whole(stats)} with repeat=1,2,4 at 0 and 64 KiB"
        yield Part("setup", None, reason=why, measure=what)
        yield Part("compute", None, reason=why, measure=what)
        return
    bent = _bent(line, blocks, slopes)
    if bent is None:
        whole = line.setup + line.block.scaled(blocks.of(size))
        yield Part("setup", line.setup, own.source if own is not None else line.source)
        rest = (own.value if own is not None else whole) - line.setup
        yield Part("compute", rest, own.source if own is not None else line.source)
        return
    why = (
        f"no set-up and so much a block: the line through {slopes[0].size} and {slopes[-1].size} "
        f"bytes is off by more than {MISFIT:.0%} at {bent.size} bytes"
    )
    what = f"see what the code does at {bent.size} bytes (teemark trace)"
    yield Part("setup", None, reason=why, measure=what)
    if own is None:
        yield Part("compute", None, reason=why, measure=what)
    else:
        yield Part("compute", own.value, own.source, covers=("setup",))


def _calls_back(known: _Run, stats: CaseStats) -> Part:
    """What the normal world did for the TEE while the call was under way."""
    legs = known.traced.get(stats.key)
    if legs is not None:
        value = legs.served(known.event, stats.estimate)
        told = f"tracepoints: {legs.rpcs:g} RPCs a call"
        waited = known.waited(stats)
        if legs.rpcs and waited is not None and waited.value:
            value -= waited
            told += ", less the wait for a CPU"
        return Part("rpcs", value, told)
    rpcs = known.run.cases[stats.key].case.rpcs_per_call
    cost = known.models.cost(stats.algorithm, stats.backend, work.STORAGE.name)
    term = cost.fit.term("rpc") if cost is not None and cost.fit.fits else None
    if rpcs is not None and (term is not None or rpcs == 0):
        value = exactly(0.0) if term is None else term.scaled(rpcs)
        return Part("rpcs", value, "RPCs counted by tracepoint, times the model's term")
    return Part(
        "rpcs", None, reason=known.run.untraced(stats.key), measure="run with --trace-events"
    )


def _console(known: _Run, stats: CaseStats) -> Part:
    some = work.LOG.key(work.LOG.subject, work.TEE, "N")
    if stats.work.row is work.LOG:
        line = known.models.lines
        if line is not None and line.fits:
            cost = line.terms["line"].scaled(stats.work.count or 0)
            return Part("console", cost, f"slope over N of {some}")
        why = "no slope: too few numbers of lines, or not the same for each line"
        return Part("console", None, reason=why, measure=f"measure {some}, N = 0, 1, 2 and 4")
    return Part(
        "console",
        None,
        reason="who writes lines to the console in a call can't be seen from outside",
        measure=f"{some} tells what a line costs; what is unexplained bounds their number",
    )


def _run_queue(known: _Run, stats: CaseStats) -> Part:
    waited = known.waited(stats)
    if waited is None:
        return Part(
            "run-queue",
            None,
            reason="this kernel doesn't tell: no /proc/self/schedstat",
            measure="a kernel with CONFIG_SCHED_INFO",
        )
    return Part("run-queue", waited, "the kernel: run-queue wait")


def _at_once(known: _Run, stats: CaseStats, parts: Sequence[Part]) -> Part:
    """Work and its set-up together: by its own slope, or else its time in the secure world, less
    the way there."""
    slope = known.operation(stats.work)
    if slope is not None:
        return Part("compute", slope.value, slope.source, covers=("setup",))
    legs = known.traced.get(stats.key)
    if legs is None:
        why = known.run.untraced(stats.key)
        return Part("compute", None, reason=why, measure="run with --trace-events")
    dwell = legs.working(known.event)
    taken = {"switch", "ta-entry", "mapping"}
    for part in parts:
        if part.name in taken and part.value is not None:
            dwell -= part.value
    return Part("compute", dwell, "tracepoints, less the way there")


def explain(known: _Run, stats: CaseStats) -> Breakdown | None:
    shape = stats.work.calls()
    if shape is None:
        return None
    mac = shape.kind == "digest" and known.run.algorithm(stats.algorithm).class_ == "mac"
    parts = [*_way(known, stats, shape.count), _mapping(known, shape)]
    if shape.kind in ("digest", "stream"):
        parts += _digest(known, stats)
    elif shape.kind in ("storage", "other"):
        parts.append(_at_once(known, stats, parts))
    parts += [_calls_back(known, stats), _console(known, stats), _run_queue(known, stats)]
    left = stats.estimate
    for part in parts:
        if part.value is not None:
            left -= part.value
    parts.append(Part("unexplained", left, "the call less its parts"))
    return Breakdown(
        stats.key,
        "MAC" if mac else shape.kind,
        stats,
        tuple(parts),
        tuple(_checks(known, stats, shape, parts)),
    )


# Two sources for the same --------------------------------------------------------------------


WAY: frozenset[Name] = frozenset(("client", "switch", "ta-entry", "mapping"))
"""Into the TA and out again."""


def _checks(known: _Run, stats: CaseStats, shape: Calls, parts: Sequence[Part]) -> Iterator[Check]:
    told: set[Name] = set()
    way = exactly(0.0)
    for part in parts:
        names = {part.name, *part.covers}
        if part.value is not None and names & WAY:
            told |= names
            way += part.value
    counted = next((one for one in known.models.counted if one.case.case == stats.key), None)
    if counted is not None and counted.crossing is not None and told >= WAY and shape.count == 1:
        yield _check(
            "the way in and out",
            way,
            "sum of its parts, each by the client's clock",
            counted.crossing.estimate,
            "client's clock less the TA's counter, call by call",
        )
    if counted is not None and counted.slopes is not None and counted.judgement is not None:
        first, ratio = exactly(counted.slopes.first), counted.slopes.ratio
        words: dict[str, Answer] = {"agree": "yes", "disagree": "no", "undecided": "undecided"}
        yield Check(
            "one operation",
            first,
            "slope over repetitions, client's clock",
            Estimate(
                ratio.value * first.value,
                None if ratio.draws is None else ratio.draws * first.value,
                ratio.freedom,
                ratio.shared,
            ),
            "slope over repetitions, the TA's counter",
            words[counted.judgement],
        )
    legs = known.traced.get(stats.key)
    inside = _inside(known, stats, shape, {part.name: part for part in parts})
    if legs is not None and inside is not None:
        yield _check(
            "time in the secure world",
            *inside,
            legs.dwell(known.event),
            "tracepoints, less what tracing adds",
        )


def _inside(
    known: _Run, stats: CaseStats, shape: Calls, by_name: Mapping[str, Part]
) -> tuple[Estimate, str] | None:
    """The time in the secure world by another source than the call's own tracepoints."""
    if stats.key == EMPTY_CALL:
        refused = known.traced.get(REFUSED_CALL)
        if refused is None or known.entry is None:
            return None
        told = f"tracepoints of {_short(REFUSED_CALL)}, and {_short(DIRECT_CALL)} less that"
        return known.entry + refused.dwell(known.event), told
    client = by_name.get("client")
    # A reference that is registered for the call has more than the client's share outside.
    shared = all(memory == "allocated" for memory, *_ in shape.references)
    if client is None or client.value is None or not shared or shape.kind == "storage":
        return None
    inside = stats.estimate - client.value
    for name in ("rpcs", "run-queue"):
        value = by_name[name].value
        inside = inside if value is None else inside - value
    return inside, "client's clock less the normal world's parts"


def _check(what: str, one: Estimate, source: str, other: Estimate, other_source: str) -> Check:
    answer = within(one / other, 1 - TOLERANCE, 1 + TOLERANCE)
    return Check(what, one, source, other, other_source, answer)


def breakdowns(run: RunData, models: Models) -> tuple[Breakdown, ...]:
    """Of every case that is a call into the TEE and whose pieces are known here."""
    known = _Run(run, models)
    found = (explain(known, stats) for stats in models.stats)
    return tuple(one for one in found if one is not None)


def shown(all_of_them: Sequence[Breakdown]) -> tuple[Breakdown, ...]:
    """One of each kind for people: an empty call, the largest digest by the TEE's own code, a
    stream, a storage operation, lines on the console."""
    chosen: dict[str, Breakdown] = {}
    for one in all_of_them:
        stats = one.stats
        if one.kind == "other" or (one.kind == "empty call" and one.key != EMPTY_CALL):
            continue
        if one.kind == "buffer" and stats.algorithm != "temporary":
            continue
        old = chosen.get(one.kind)
        if old is None or _weight(one) > _weight(old):
            chosen[one.kind] = one
    return tuple(chosen.values())


def _weight(one: Breakdown) -> tuple[bool, bool, bool, int]:
    stats = one.stats
    return (
        stats.algorithm == "sha256",
        stats.backend == "tee",
        stats.algorithm == "read",
        stats.bytes or 0,
    )
