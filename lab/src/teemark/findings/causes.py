# SPDX-License-Identifier: BSD-2-Clause
"""Causes of lost time: each a name, the signature by which a run shows it, and what it stands on.

A rule says `found` only where its signature holds with all of its interval, `absent` where it
doesn't, `undecided` where the interval reaches to both sides of its threshold, and `unchecked` with
what is missing. Pure functions of a run and its models; their words are the report's.

Those that show inside a call alone are in trace/causes.py, which puts both together. To add one: a
function `(run, models) -> Cause`, a line in RULES, its words in report/causes.py, and a test on
both sides of its threshold and without its data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from teemark.base.work import (
    EMPTY_CALL,
    LOG,
    ONESHOT,
    REFUSED_CALL,
    RNG,
    SHM,
    STORAGE,
    TA_SIZE,
    TEE,
    TIME,
    Workload,
)
from teemark.findings.verdicts import SAME, is_known
from teemark.model.decide import Answer, above
from teemark.model.models import Models
from teemark.model.stats import CaseStats, Estimate, estimate, exactly
from teemark.run.reader import MeasuredCase, RunData

MORE = SAME
"""A call that takes more than so many times as long as another has a cause."""
EXTENSIONS = 1.5
"""Instructions of the CPU for a digest or a cipher save at least that factor."""
RPC = 2.0
"""How many times as much as a system call a question costs that goes to the normal world."""
SLOW_SOURCE = 10.0
"""How many times as much a random byte of the TEE may cost as one of the kernel."""
BLOCK = 4096
"""Bytes of a block of OP-TEE's storage."""
EACH_BLOCK = 0.5
"""RPCs a block from which more blocks are more RPCs."""
BUILT_FOR_SIZE = 3.5
"""How many times the instructions of a refused call an empty one takes: 4.4 to 5.0 with cores that
are built for size, 2.0 to 2.7 with CFG_CC_OPT_LEVEL=2 (docs/method.md)."""
CLOCK = 0.01
"""What a step of the clock may be of the shortest sample."""
WAITED = 0.01
"""Share of the time that processes may have waited for a CPU."""
FAST = ("openssl", "ce")
"""Code of the normal world that uses what the CPU has for it."""
SLOWED = 0.95
"""Share of its highest frequency at which a CPU is not slowed down."""

Status = Literal["found", "absent", "undecided", "unchecked"]
Confidence = Literal["high", "low"]
Unit = Literal["time", "times", "share", "number"]


@dataclass(frozen=True, slots=True)
class Figure:
    """Something measured that a rule stands on."""

    what: str
    value: Estimate
    unit: Unit = "time"


@dataclass(frozen=True, slots=True)
class Cause:
    """`figures`: first that which is held against the threshold. `facts`: what the machine says.
    `lacks`: what the run would need; of an unchecked one only."""

    name: str
    status: Status
    figures: tuple[Figure, ...] = ()
    facts: tuple[str, ...] = ()
    lacks: str | None = None

    @property
    def confidence(self) -> Confidence:
        """Low where it is undecided, or stands on a figure that is known badly."""
        if self.status in ("undecided", "unchecked"):
            return "low"
        return "high" if all(is_known(figure.value) for figure in self.figures) else "low"


_STATUS: dict[Answer, Status] = {"yes": "found", "no": "absent", "undecided": "undecided"}


def unchecked(name: str, lacks: str) -> Cause:
    return Cause(name, "unchecked", lacks=lacks)


def _measured(
    name: str, figure: Figure, threshold: float, *others: Figure, facts: Sequence[str] = ()
) -> Cause:
    status = _STATUS[above(figure.value, threshold)]
    return Cause(name, status, (figure, *others), tuple(facts))


def _slower(
    name: str, one: CaseStats, other: CaseStats, each: str = "difference a call", steps: int = 1
) -> Cause:
    """Whether a case takes more than MORE times as long as another; with the difference, or what
    each of so many steps between the two is of it."""
    if other.time.median <= 0:
        return unchecked(name, f"a time of {other.key} that isn't 0")
    return _measured(
        name,
        Figure(f"{one.key} over {other.key}", one.estimate / other.estimate, "times"),
        MORE,
        Figure(each, (one.estimate - other.estimate).scaled(1 / steps)),
    )


def _missing(*needs: tuple[object, str]) -> str:
    """What of the needs isn't there; "" where each is."""
    return " and ".join(what for there, what in needs if not there)


def _of(models: Models, workload: Workload, algorithm: str, backend: str) -> dict[int, CaseStats]:
    """The cases by bytes; of the smallest first. Of buffers, those that only go in."""
    found = {
        one.bytes: one
        for one in models.stats
        if (one.work.row, one.algorithm, one.backend) == (workload, algorithm, backend)
        and one.bytes is not None
        and (one.work.row is not SHM or one.work.way == "in")
    }
    return dict(sorted(found.items()))


# Memory --------------------------------------------------------------------------------------


def _against_allocated(models: Models, name: str, memory: str) -> Cause:
    ours, allocated = (_of(models, SHM, kind, "tee") for kind in (memory, "allocated"))
    shared = [size for size in ours if size in allocated]
    if not shared:
        return unchecked(name, _no_buffers(memory, ours, allocated, "one size"))
    return _slower(name, ours[shared[-1]], allocated[shared[-1]])


def _no_buffers(memory: str, ours: object, allocated: object, sizes: str) -> str:
    names = [f"shm/{kind}/tee/in/N" for kind in (memory, "allocated")]
    lacks = _missing((ours, names[0]), (allocated, names[1])) or " and ".join(names)
    return f"{lacks} of {sizes}"


def tmpref_registration(_run: RunData, models: Models) -> Cause:
    return _against_allocated(models, "tmpref-registration", "temporary")


def shadow_copy(_run: RunData, models: Models) -> Cause:
    """By the rate: what a byte more costs beyond what it does in allocated memory."""
    name = "shadow-copy"
    copied, allocated = (_of(models, SHM, kind, "tee") for kind in ("registered-ro", "allocated"))
    shared = [size for size in copied if size in allocated]
    if len(shared) < 2:
        return unchecked(name, _no_buffers("registered-ro", copied, allocated, "two sizes"))
    small, large = shared[0], shared[-1]
    extra = (copied[large].estimate - allocated[large].estimate) - (
        copied[small].estimate - allocated[small].estimate
    )
    share = extra / allocated[large].estimate
    return _measured(
        name,
        Figure(f"grows by, of shm/allocated/tee/in/{large}", share, "share"),
        MORE - 1,
        Figure("a byte", extra.scaled(1 / (large - small))),
    )


def per_page_mapping(_run: RunData, models: Models) -> Cause:
    name = "per-page-mapping"
    found = _of(models, SHM, "allocated", "tee")
    if len(found) < 2:
        return unchecked(name, "shm/allocated/tee/in/N of two sizes, such as 4 KiB and 1 MiB")
    (small, first), *_, (large, last) = found.items()
    pages = -(-large // BLOCK) - -(-small // BLOCK)
    if pages < 1:
        return unchecked(name, "shm/allocated/tee/in/N of sizes that lie pages apart")
    return _slower(name, last, first, "a page", pages)


def ta_size_remap(_run: RunData, models: Models) -> Cause:
    name = "ta-size-remap"
    sizes = {one.work.count or 0: one for one in models.stats if one.work.row is TA_SIZE}
    if len(sizes) < 2:
        return unchecked(name, "ta-size/KIB/tee/none of two sizes")
    small, large = min(sizes), max(sizes)
    return _slower(name, sizes[large], sizes[small], "a KiB of the TA's data", large - small)


def ta_load_first_call(_run: RunData, models: Models) -> Cause:
    name = "ta-load-first-call"
    first, warm = (models.case(f"session/{step}/tee/none") for step in ("first-open", "open"))
    if first is None or warm is None:
        names = "session/first-open/tee/none", "session/open/tee/none"
        return unchecked(name, _missing((first, names[0]), (warm, names[1])))
    return _slower(name, first, warm)


# Computing -----------------------------------------------------------------------------------


def _a_byte(models: Models, algorithm: str, backend: str) -> Estimate | None:
    cost = models.cost(algorithm, backend)
    return cost.byte if cost is not None and cost.fit.fits and cost.ns_per_byte > 0 else None


def _no_rates(models: Models, *needs: Sequence[str]) -> str:
    """By one backend of each of the needs."""
    known = {
        cost.backend
        for cost in models.costs
        if cost.workload == ONESHOT.name
        and _a_byte(models, cost.algorithm, cost.backend) is not None
    }
    names = [" or ".join(backends) for backends in needs]
    lacks = _missing(*((known & set(one), name) for one, name in zip(needs, names, strict=True)))
    lacks = lacks or " and ".join(names)
    return f"oneshot/ALGORITHM by {lacks}, of several sizes"


def no_crypto_extensions(_run: RunData, models: Models) -> Cause:
    """The algorithm by which the TEE is furthest from the CPU's instructions in the same TA."""
    name = "no-crypto-extensions-in-tee"
    found = [
        (algorithm, tee / with_ce)
        for algorithm in dict.fromkeys(cost.algorithm for cost in models.costs)
        if (tee := _a_byte(models, algorithm, "tee")) is not None
        and (with_ce := _a_byte(models, algorithm, "ta-ce")) is not None
    ]
    if not found:
        return unchecked(name, _no_rates(models, ("tee",), ("ta-ce",)))
    algorithm, ratio = max(found, key=lambda one: one[1].value)
    return _measured(
        name, Figure(f"a byte of {algorithm}, tee over ta-ce", ratio, "times"), EXTENSIONS
    )


def tee_at_cpu_speed(_run: RunData, models: Models) -> Cause:
    """Found if no algorithm is slower by the TEE than by the fastest code of the normal world; of
    those that more than plain C was measured of, which isn't the fastest there is."""
    name = "tee-at-cpu-speed"
    ratios: list[tuple[str, str, Estimate]] = []
    for algorithm in dict.fromkeys(cost.algorithm for cost in models.costs):
        tee = _a_byte(models, algorithm, "tee")
        others = {
            backend: rate
            for backend in (*FAST, "c")
            if (rate := _a_byte(models, algorithm, backend)) is not None
        }
        if tee is not None and others.keys() & set(FAST):
            backend, rate = min(others.items(), key=lambda one: one[1].value)
            ratios.append((algorithm, backend, tee / rate))
    if not ratios:
        return unchecked(name, _no_rates(models, ("tee",), FAST))
    algorithm, backend, ratio = max(ratios, key=lambda one: one[2].value)
    slower = [above(one, SAME) for *_, one in ratios]
    status: Status = "undecided" if "undecided" in slower else "found"
    status = "absent" if "yes" in slower else status
    return Cause(
        name, status, (Figure(f"a byte of {algorithm}, tee over {backend}", ratio, "times"),)
    )


def cpu_time_per_byte(_run: RunData, models: Models) -> Cause:
    """A driver of the kernel that is slower than the CPU, and leaves it more time."""
    name = "cpu-time-per-byte"
    best: dict[Status, tuple[Figure, Figure]] = {}
    for algorithm in dict.fromkeys(one.algorithm for one in models.stats):
        kernel, ssl = (_of(models, ONESHOT, algorithm, by) for by in ("afalg", "openssl"))
        for size in kernel.keys() & ssl.keys():
            one, other = kernel[size], ssl[size]
            if size == 0 or one.cpu is None or other.cpu is None or other.cpu.total.value <= 0:
                continue
            time, cpu = one.estimate / other.estimate, one.cpu.total / other.cpu.total
            slower, dearer = above(time, SAME), above(cpu, 1 / SAME)
            status: Status = "undecided"
            if slower == "no" or dearer == "yes":
                status = "absent"
            elif (slower, dearer) == ("yes", "no"):
                status = "found"
            if status not in best or cpu.value < best[status][0].value.value:
                best[status] = (
                    Figure(f"CPU time of {one.key} over {other.key}", cpu, "times"),
                    Figure("time", time, "times"),
                )
    for said in ("found", "undecided", "absent"):
        if said in best:
            return Cause(name, said, best[said])
    measured = {one.backend for one in models.stats if one.work.row is ONESHOT}
    lacks = _missing(*((by in measured, by) for by in ("afalg", "openssl"))) or "afalg and openssl"
    return unchecked(name, f"oneshot/ALGORITHM by {lacks}, of one size and with CPU time")


# The way to the normal world -------------------------------------------------------------------


def _slope(models: Models, clock: str) -> Estimate | None:
    """What one question for the time costs."""
    asked = sorted(
        (one.work.count or 0, one.estimate)
        for one in models.stats
        if (one.work.row, one.algorithm) == (TIME, clock) and one.work.count is not None
    )
    if len(asked) < 2:
        return None
    (few, low), *_, (many, high) = asked
    return (high - low).scaled(1 / (many - few))


def ree_time_rpc(_run: RunData, models: Models) -> Cause:
    name = "ree-time-rpc"
    ree, system = _slope(models, "ree"), _slope(models, "system")
    if ree is None or system is None or system.value <= 0:
        names = "time/ree/tee/N of two N", "time/system/tee/N of two N"
        known = system is not None and system.value > 0
        return unchecked(name, _missing((ree, names[0]), (known, names[1])))
    return _measured(
        name,
        Figure("TEE_GetREETime over TEE_GetSystemTime", ree / system, "times"),
        RPC,
        Figure("TEE_GetREETime", ree),
    )


def console_traces(_run: RunData, models: Models) -> Cause:
    name = "console-traces"
    empty = models.case(EMPTY_CALL)
    line = models.lines.term("line") if models.lines is not None else None
    if models.lines is None or empty is None:
        lines = f"{LOG.key(LOG.subject, TEE, 'N')} of three N"
        return unchecked(name, _missing((models.lines, lines), (empty, EMPTY_CALL)))
    if line is None:
        return Cause(name, "absent")
    share = line / empty.estimate
    return _measured(
        name, Figure("a line, of an empty call", share, "share"), MORE - 1, Figure("a line", line)
    )


def size_optimised_core(run: RunData, models: Models) -> Cause:
    """By what the entry into a TA adds to the way through the driver, TF-A and the core. Times
    don't tell: caches and TLBs may slow down an entry as well."""
    name = "size-optimised-core"
    empty, refused = models.case(EMPTY_CALL), models.case(REFUSED_CALL)
    if not run.icount or empty is None or refused is None:
        counting = run.icount, "a board that counts instructions"
        lacks = _missing((refused, REFUSED_CALL), (empty, EMPTY_CALL), counting)
        return unchecked(name, f"{lacks}, or a trace with the names of the core")
    ratio = Figure(f"{EMPTY_CALL} over {REFUSED_CALL}", empty.estimate / refused.estimate, "times")
    return _measured(name, ratio, BUILT_FOR_SIZE)


def storage_rpcs(_run: RunData, models: Models) -> Cause:
    """By counting: the RPCs of a larger object less those of a smaller one, a block."""
    name = "storage-rpc-per-block"
    found: list[tuple[float, str]] = []
    uncounted = False
    for cost in models.costs:
        if cost.workload != STORAGE.name or cost.algorithm not in ("read", "write"):
            continue
        known = [
            (int(point.x), rpcs)
            for point, rpcs in zip(cost.fit.points, cost.rpcs, strict=False)
            if rpcs is not None
        ]
        if not cost.backend.startswith("tee") or len(known) < 2:
            uncounted |= cost.backend.startswith("tee")
            continue
        (small, few), *_, (large, many) = known
        blocks = -(-large // BLOCK) - -(-small // BLOCK)
        if blocks > 0:
            found.append(((many - few) / blocks, f"{cost.algorithm} by {cost.backend}"))
    if not found:
        what = "storage/read|write/tee-ree-fs/BYTES of three sizes, with their RPCs"
        counts = "the number of RPCs, which the kernel tells root alone"
        return unchecked(name, counts if uncounted else what)
    most, which = max(found)
    return _measured(name, Figure(f"RPCs a block, {which}", exactly(most), "number"), EACH_BLOCK)


def slow_rng(_run: RunData, models: Models) -> Cause:
    name = "slow-rng"
    tee, kernel = (_of(models, RNG, RNG.subject, by) for by in ("tee", "getrandom"))
    shared = [size for size in tee if size in kernel]
    empty = models.case(EMPTY_CALL)
    if not shared or empty is None:
        names = "rng/random/tee/N", "rng/random/getrandom/N"
        lacks = _missing((tee, names[0]), (kernel, names[1]), (empty, EMPTY_CALL))
        return unchecked(name, lacks or f"{' and '.join(names)} of one size")
    ours, theirs = tee[shared[-1]], kernel[shared[-1]]
    inside = ours.estimate - empty.estimate
    return _measured(
        name,
        Figure(
            f"{ours.key} without the call, over {theirs.key}", inside / theirs.estimate, "times"
        ),
        SLOW_SOURCE,
    )


# The machine ---------------------------------------------------------------------------------


def cpu_frequency(run: RunData, _models: Models) -> Cause:
    """Each CPU against its own highest frequency. teebench reads both before the load begins: what
    a governor raises with the load isn't known by them."""
    name = "cpu-frequency"
    cpu = run.machine.cpu
    now, most, governors = map(_by_cpu, (cpu.khz_now, cpu.khz_max, cpu.governor))
    pairs = {one: (_khz(now, one), _khz(most, one)) for one in sorted(now.keys() | most.keys())}
    known = [(khz / top, one, khz, top) for one, (khz, top) in pairs.items() if khz and top]
    if not known:
        why = run.machine.reasons.get("cpu.khz_now") or "the kernel doesn't say"
        return unchecked(name, f"the CPUs' frequencies ({why})")
    _, slowest, khz, top = min(known)
    of = f"{slowest}: " if slowest else ""
    facts = [f"{of}{khz / 1000:g} of {top / 1000:g} MHz when the run began"]
    if governors:
        facts.append(f"governor {', '.join(dict.fromkeys(governors.values()))}")
    slowed = [_of_cpu(governors, one) for share, one, *_ in known if share < SLOWED]
    status: Status = "absent"
    if slowed:
        status = "found" if "performance" in slowed else "undecided"
    return Cause(name, status, facts=tuple(facts))


def _by_cpu(told: Iterable[str] | None) -> dict[str, str]:
    """What teebench says of CPUs: "VALUE" of all, here under "", or "cpu0 VALUE", "cpu4 VALUE"."""
    words = (text.rpartition(" ") for text in told or ())
    return {cpu: value for cpu, _, value in words}


def _of_cpu(told: dict[str, str], cpu: str) -> str:
    return told.get(cpu) or told.get("", "")


def _khz(told: dict[str, str], cpu: str) -> int:
    """0 where it isn't told."""
    value = _of_cpu(told, cpu)
    return int(value) if value.isdigit() else 0


def contention(run: RunData, _models: Models) -> Cause:
    """In calls that are done when they come back by their process and the TEE alone: one that
    another process serves waits for a CPU behind that."""
    name = "contention"
    alone = [case for case in run.sound if not _served(case)]
    if not alone:
        return unchecked(name, f"calls that no other process serves, such as {EMPTY_CALL}")
    samples = [one for case in alone for one in case.samples]
    told = [(one.ns, one.runq_ns) for one in samples if one.runq_ns is not None]
    total = sum(ns for ns, _ in told)
    if not total:
        return unchecked(name, "the wait for a CPU: a kernel with CONFIG_SCHED_INFO")
    share = exactly(sum(wait for _, wait in told) / total)
    what = "waiting for a CPU, of calls that no other process serves"
    return _measured(name, Figure(what, share, "share"), WAITED)


def _served(measured: MeasuredCase) -> bool:
    """By tee-supplicant, or by threads of the kernel: for storage, files, a driver's queue; or
    nobody knows, of a command of any TA."""
    return (
        measured.work.row.served
        or measured.work.by in ("afalg", "hwrng")
        or bool(measured.case.rpcs_per_call)
    )


def cold_cache(run: RunData, models: Models) -> Cause:
    """The first call of a case against its others, over all cases into the TEE."""
    name = "cold-cache"
    ratios = [
        one.first_ns / one.time.median
        for one in models.stats
        if one.first_ns and one.time.median > 0 and run.backend(one.backend).secure
    ]
    if len(ratios) < 6:
        return unchecked(name, "the first calls of six cases of the TEE")
    ratio = estimate([ratios], name)
    return _measured(name, Figure("first call over the others", ratio, "times"), MORE)


def clock_resolution(run: RunData, _models: Models) -> Cause:
    name = "clock-resolution"
    step = run.machine.clock.resolution_ns
    samples = [one.ns for case in run.sound for one in case.samples if one.ns > 0]
    if step is None or not samples:
        return unchecked(name, "the step of the clock")
    share = Figure("a step, of the shortest sample", exactly(step / min(samples)), "share")
    return _measured(name, share, CLOCK, Figure("a step", exactly(float(step))))


def emulated(run: RunData, _models: Models) -> Cause:
    name = "emulated"
    by_board = run.run.emulated if run.run is not None else None
    told = run.machine.board.emulated
    if by_board is None and told is None:
        return unchecked(name, "a machine that says what it is")
    facts = ["as its board file says"] if by_board else []
    if told and run.machine.board.emulated_told_by:
        facts.append(run.machine.board.emulated_told_by)
    return Cause(name, "found" if by_board or told else "absent", facts=tuple(facts))


RULES: tuple[Callable[[RunData, Models], Cause], ...] = (
    tmpref_registration,
    shadow_copy,
    per_page_mapping,
    ta_size_remap,
    ta_load_first_call,
    no_crypto_extensions,
    tee_at_cpu_speed,
    cpu_time_per_byte,
    ree_time_rpc,
    console_traces,
    size_optimised_core,
    storage_rpcs,
    slow_rng,
    cpu_frequency,
    contention,
    cold_cache,
    clock_resolution,
    emulated,
)


def causes(run: RunData, models: Models) -> tuple[Cause, ...]:
    """What every rule says of this run, in the order of the list."""
    return tuple(rule(run, models) for rule in RULES)
