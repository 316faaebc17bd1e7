# SPDX-License-Identifier: BSD-2-Clause
"""Splits the time of one call into parts. Each part is a difference or a slope of measured cases;
the rest of the call is the part `unexplained`, which may be negative (docs/method.md)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from teemark.base import work
from teemark.base.work import DIRECT_CALL, EMPTY_CALL, REFUSED_CALL, Calls
from teemark.model.decide import Answer, within
from teemark.model.models import Models
from teemark.model.sources import Sources, buffer
from teemark.model.stats import CaseStats, Estimate, added, exactly
from teemark.run.reader import RunData

TOLERANCE = 0.05  # Relative difference up to which two sources agree
NOTHING = exactly(0.0)

Name = Literal[
    "client", "switch", "client-switch", "ta-entry", "client-switch-entry", "mapping", "setup",
    "compute", "rpcs", "console", "run-queue", "publisher", "broker", "sealing", "subscribers",
    "unexplained",
]  # fmt: skip

PARTS: Mapping[Name, tuple[str, str]] = {  # Title of each part, and its colour in a bar
    "client": ("client library and driver", "0"),
    "switch": ("world switch and TEE core", "1"),
    "client-switch": ("client library, driver, world switch and TEE core", "0"),
    "ta-entry": ("session and entry of the TA", "2"),
    "client-switch-entry": ("an empty call", "0"),
    "mapping": ("mapping of the buffers", "3"),
    "setup": ("set-up of the operation", "4"),
    "compute": ("compute", "5"),
    "rpcs": ("RPCs to the normal world", "6"),
    "console": ("console output", "6"),
    "run-queue": ("waiting for a CPU", "other"),
    "publisher": ("publisher", "0"),
    "broker": ("broker", "1"),
    "sealing": ("sealing anew: plugin, driver and TEE", "5"),
    "subscribers": ("subscribers", "3"),
    "unexplained": ("unexplained", "other"),
}


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a call. If a run can't tell its value, `reason` says why and `measure` what to
    measure instead. `covers` lists the parts whose time is included in this one."""

    name: Name
    value: Estimate | None = None
    source: str | None = None
    reason: str | None = None
    measure: str | None = None
    covers: tuple[Name, ...] = ()

    @property
    def title(self) -> str:
        return PARTS[self.name][0]

    @property
    def colour(self) -> str:
        return PARTS[self.name][1]

    @property
    def all_names(self) -> frozenset[Name]:
        return frozenset((self.name, *self.covers))


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """One quantity as two sources give it. `answer`: whether they agree to within TOLERANCE."""

    what: str
    one: Estimate
    one_source: str
    other: Estimate
    other_source: str
    tests: int = 1  # Number of checks of the run, of which any may show that sources differ

    @property
    def ratio(self) -> Estimate:
        return self.one / self.other

    @property
    def answer(self) -> Answer:
        return within(self.ratio, 1 - TOLERANCE, 1 + TOLERANCE, self.tests)


@dataclass(frozen=True, slots=True)
class Breakdown:
    """One call of a case; `parts` are in the order of a call, the unexplained rest last."""

    key: str
    kind: str  # As in base/work.py, or "MAC" (keyed digest), or "message" (broker)
    stats: CaseStats
    parts: tuple[Part, ...]
    checks: tuple[CrossCheck, ...] = ()

    @property
    def total(self) -> Estimate:
        return self.stats.estimate

    def part(self, name: Name) -> Part | None:
        return next((part for part in self.parts if part.name == name), None)

    @property
    def known_parts(self) -> tuple[tuple[Part, Estimate], ...]:
        return tuple((part, part.value) for part in self.parts if part.value is not None)


def _short(key: str) -> str:
    return key.removesuffix("/tee/none").replace("/tee/", "/")


# The parts -----------------------------------------------------------------------------------

_EVENTS = "run with --trace-events"


def _often(times: int) -> str:
    return f" ({times} times)" if times > 1 else ""


def _way(sources: Sources, stats: CaseStats, calls: int) -> Iterator[Part]:
    empty, entry = sources.empty, sources.entry
    if empty is None:
        for name in ("client", "switch", "ta-entry"):
            yield Part(name, reason=f"the run has no {EMPTY_CALL}", measure=f"measure {EMPTY_CALL}")
        return
    legs = sources.traced.get(EMPTY_CALL)
    key, entry_source = _short(EMPTY_CALL), f"{_short(DIRECT_CALL)} less {_short(REFUSED_CALL)}"
    joint: Name = "client-switch-entry" if entry is None else "client-switch"
    inner: tuple[Name, ...] = ("switch", "ta-entry") if entry is None else ("switch",)
    less = "" if entry is None else f", less ({entry_source})"
    call = sources.models.case(EMPTY_CALL)
    assert call is not None
    back = _calls_back(sources, call)  # A part of its own, whose time isn't the client's
    outside = (call.estimate if "run-queue" in back.covers else empty) - (back.value or NOTHING)
    inside = outside if legs is None else legs.dwell(sources.event)
    rest = (inside if entry is None else inside - entry).scaled(calls)
    often = _often(calls)
    if legs is None:
        why = sources.run.untraced(EMPTY_CALL)
        yield Part("client", reason=why, measure=_EVENTS)
        yield Part("switch", reason=why, measure=_EVENTS)
        yield Part(joint, rest, key + less + often, covers=("client", *inner))
    else:
        events = "tracepoints and RPCs" if legs.rpcs else "tracepoints"
        yield Part("client", (outside - inside).scaled(calls), f"{key}, less its {events}{often}")
        covers = inner if entry is None else ()
        yield Part("switch", rest, f"tracepoints of {key}{less}{often}", covers=covers)
    if entry is None:
        why = f"the run lacks {DIRECT_CALL} or {REFUSED_CALL}, which tell it"
        yield Part("ta-entry", reason=why, measure="measure both (plan explain)")
    elif stats.work.row is work.TA_SIZE:
        # The difference between the two empty calls is put down to that other TA.
        time = sources.time(stats.key)
        assert time is not None
        yield Part("ta-entry", entry + (time - empty), f"{entry_source}, and this call less {key}")
    else:
        yield Part("ta-entry", entry.scaled(calls), entry_source + often)


def _mapping(sources: Sources, shape: Calls) -> Part:
    if not shape.references:
        return Part("mapping", NOTHING, "no reference to memory")
    shares: list[Estimate] = []
    cases: list[str] = []
    for reference in dict.fromkeys(shape.references):
        sourced = sources.mapping(*reference)
        if sourced is None:
            key = buffer(*reference)
            why = f"the run has no {key}, which only carries the buffer"
            return Part(
                "mapping", reason=why, measure=f"measure {key} and {EMPTY_CALL} (plan explain)"
            )
        times = shape.references.count(reference)
        shares.append(sourced[0].scaled(times))
        cases.append(_short(sourced[1]) + _often(times))
    return Part("mapping", added(shares), f"{' and '.join(cases)}, less {_short(EMPTY_CALL)}")


def _hashing(sources: Sources, stats: CaseStats) -> Iterator[Part]:
    size = stats.bytes or 0
    operation = sources.operation(stats.work)
    if operation is None:
        operation = sources.whole(stats.work).get(size)
    line = sources.hashing(stats.work)
    if line is not None and line.line.fits:
        setup = line.setup(size)
        yield Part("setup", setup, line.source)
        whole, source = (line.all_of(size), line.source) if operation is None else operation
        yield Part("compute", whole - setup, source)
        return
    like = f"{work.ONESHOT.name}/{stats.algorithm}/{stats.backend}"
    why = f"it can't be told from computing: {like} was measured at too few sizes"
    what = f"measure {like} at four sizes, and with repeat=1,2,4"
    if line is not None:
        worst = int(line.line.worst.x)
        why = (
            f"no sum of a set-up and blocks describes it: the line ({line.source}) is off by "
            f"{line.line.misfit or 0:.0%} at {worst} bytes"
        )
        what = f"see what the code does at {worst} bytes (teemark trace)"
    yield Part("setup", reason=why, measure=what)
    if operation is None:
        yield Part("compute", reason=why, measure=what)
    else:
        yield Part("compute", *operation, covers=("setup",))


def _calls_back(sources: Sources, stats: CaseStats) -> Part:
    legs = sources.traced.get(stats.key)
    if legs is not None:
        source = f"tracepoints: {legs.rpcs:g} RPCs a call"
        covers: tuple[Name, ...] = ()
        waited = sources.waited(stats)
        if legs.rpcs and waited is not None and waited.value:
            source += "; the wait for a CPU, which tee-supplicant has meanwhile, is in them"
            covers = ("run-queue",)
        return Part("rpcs", legs.served(sources.event, stats.estimate), source, covers=covers)
    rpcs = sources.run.cases[stats.key].record.rpcs_per_call
    cost = sources.models.cost(stats.algorithm, stats.backend, work.STORAGE.name)
    term = cost.fit.terms.get("rpc") if cost is not None and cost.fit.fits else None
    if rpcs is not None and (term is not None or rpcs == 0):
        value = NOTHING if term is None else term.scaled(rpcs)
        return Part("rpcs", value, "RPCs counted by tracepoint, times the model's term")
    return Part("rpcs", reason=sources.run.untraced(stats.key), measure=_EVENTS)


def _console(sources: Sources, stats: CaseStats) -> Part:
    some = work.LOG.key(work.LOG.subject, work.TEE, "N")
    if stats.work.row is not work.LOG:
        why = "who writes lines to the console in a call can't be seen from outside"
        what = f"{some} gives the cost of a line; the unexplained part limits their number"
        return Part("console", reason=why, measure=what)
    line = sources.models.lines
    if line is None or not line.fits:
        why = "no slope: too few numbers of lines, or not the same for each line"
        return Part("console", reason=why, measure=f"measure {some}, N = 0, 1, 2 and 4")
    cost = line.terms["line"].scaled(stats.work.count or 0)
    return Part("console", cost, f"slope over N of {some}")


def _run_queue(sources: Sources, stats: CaseStats) -> Part:
    waited = sources.waited(stats)
    if waited is None:
        why = "this kernel doesn't tell: no /proc/self/schedstat"
        return Part("run-queue", reason=why, measure="a kernel with CONFIG_SCHED_INFO")
    return Part("run-queue", waited, "the kernel: run-queue wait")


def _at_once(sources: Sources, stats: CaseStats, parts: Sequence[Part]) -> Part:
    """Returns set-up and computing as one part: by the operation's slope, otherwise by the time in
    the secure world."""
    slope = sources.operation(stats.work)
    if slope is not None:
        return Part("compute", *slope, covers=("setup",))
    legs = sources.traced.get(stats.key)
    if legs is None:
        return Part("compute", reason=sources.run.untraced(stats.key), measure=_EVENTS)
    inside = legs.working(sources.event)
    for part in parts:
        if part.name in ("switch", "ta-entry", "mapping") and part.value is not None:
            inside -= part.value
    return Part("compute", inside, "tracepoints, less the way there")


def _message(sources: Sources, stats: CaseStats) -> Breakdown:
    cpu = stats.key.replace("message", "cpu", 1)
    plain = cpu.replace(f"/{stats.backend}/", "/plain/")
    programs: tuple[tuple[Name, str, str], ...] = (
        ("publisher", stats.key.replace("message", "publisher", 1), ""),
        ("broker", plain, ""),
        ("sealing", cpu, plain),
        ("subscribers", stats.key.replace("message", "subscribers", 1), ""),
    )
    parts, left = list[Part](), stats.estimate
    for name, key, less in programs:
        value, subtracted = sources.time(key), sources.time(less) if less else NOTHING
        if value is None or subtracted is None:
            lacking = key if value is None else less
            parts.append(
                Part(name, reason=f"the run has no {lacking}", measure="teemark broker measure")
            )
            continue
        parts.append(Part(name, value - subtracted, f"CPU time: {key}{less and f', less {less}'}"))
        left -= value - subtracted
    parts.append(Part("unexplained", left, "the message less its parts"))
    return Breakdown(stats.key, "message", stats, tuple(parts))


def explain(sources: Sources, stats: CaseStats) -> Breakdown | None:
    if stats.key.startswith("broker/message-"):
        return _message(sources, stats)
    shape = stats.work.calls()
    if shape is None:
        return None
    mac = shape.kind == "digest" and sources.run.algorithm(stats.algorithm).class_ == "mac"
    parts = [*_way(sources, stats, shape.count), _mapping(sources, shape)]
    if shape.kind in ("digest", "stream"):
        parts += _hashing(sources, stats)
    elif shape.kind in ("storage", "other"):
        parts.append(_at_once(sources, stats, parts))
    back = _calls_back(sources, stats)
    parts += [back, _console(sources, stats)]
    if "run-queue" not in back.covers:
        parts.append(_run_queue(sources, stats))
    left = stats.estimate
    for part in parts:
        if part.value is not None:
            left -= part.value
    source = "the call less its parts"
    if shape.kind == "buffer" or stats.key == EMPTY_CALL or stats.work.row is work.TA_SIZE:
        source = "0 by construction: its parts are differences with this very call"
    parts.append(Part("unexplained", left, source))
    checks = tuple(_checks(sources, stats, shape, parts))
    return Breakdown(stats.key, "MAC" if mac else shape.kind, stats, tuple(parts), checks)


# Two sources for the same --------------------------------------------------------------------


WAY: frozenset[Name] = frozenset(("client", "switch", "ta-entry", "mapping"))
"""The parts that bring a call into the TA and out again."""


def _checks(
    sources: Sources, stats: CaseStats, shape: Calls, parts: Sequence[Part]
) -> Iterator[CrossCheck]:
    crossing = [part for part in parts if part.value is not None and part.all_names & WAY]
    covered = frozenset[Name]().union(*(part.all_names for part in crossing))
    counted = sources.models.counted.get(stats.key)
    if counted is not None and counted.crossing is not None and covered >= WAY and shape.count == 1:
        yield CrossCheck(
            "the way in and out",
            added([NOTHING, *(part.value for part in crossing if part.value is not None)]),
            "sum of its parts, each by the client's clock",
            counted.crossing,
            "client's clock less the TA's counter, call by call",
        )
    legs = sources.traced.get(stats.key)
    inside = _inside(sources, stats, shape, {part.name: part for part in parts})
    if legs is not None and inside is not None:
        traced = legs.dwell(sources.event), "tracepoints, less what tracing adds"
        yield CrossCheck("time in the secure world", *inside, *traced)


def _inside(
    sources: Sources, stats: CaseStats, shape: Calls, by_name: Mapping[str, Part]
) -> tuple[Estimate, str] | None:
    if stats.key == EMPTY_CALL:
        refused = sources.traced.get(REFUSED_CALL)
        if refused is None or sources.entry is None:
            return None
        source = f"tracepoints of {_short(REFUSED_CALL)}, and {_short(DIRECT_CALL)} less that"
        return sources.entry + refused.dwell(sources.event), source
    client = by_name.get("client")
    # A buffer registered for this call costs more outside the secure world than `client` says.
    shared = all(memory == "allocated" for memory, *_ in shape.references)
    if client is None or client.value is None or not shared or shape.kind == "storage":
        return None
    inside = stats.estimate - client.value
    for part in (by_name.get("rpcs"), by_name.get("run-queue")):
        if part is not None and part.value is not None:
            inside -= part.value
    return inside, "client's clock less the normal world's parts"


def breakdowns(run: RunData, models: Models) -> tuple[Breakdown, ...]:
    """Returns the breakdown of every case that is a call into the TEE and has known parts."""
    sources = Sources(run, models)
    calls = [call for stats in models.stats if (call := explain(sources, stats)) is not None]
    tests = sum(len(call.checks) for call in calls)
    return tuple(
        replace(call, checks=tuple(replace(check, tests=tests) for check in call.checks))
        for call in calls
    )


def shown(all_of_them: Sequence[Breakdown]) -> tuple[Breakdown, ...]:
    """Returns one breakdown of each kind for the report: an empty call, the largest SHA-256 digest
    by the TEE's own code, a stream, a storage operation, the most lines on the console."""

    def weight(example: Breakdown) -> tuple[float, ...]:
        case = example.stats.work
        sha256, tee = case.algorithm == "sha256", case.backend == "tee"
        return sha256, tee, case.algorithm == "read", example.stats.bytes or 0, example.total.value

    chosen: dict[str, list[Breakdown]] = {}
    for call in all_of_them:
        only = {"empty call": call.key == EMPTY_CALL, "buffer": call.stats.algorithm == "temporary"}
        if call.kind != "other" and only.get(call.kind, True):
            chosen.setdefault(call.kind, []).append(call)
    return tuple(max(group, key=weight) for group in chosen.values())
