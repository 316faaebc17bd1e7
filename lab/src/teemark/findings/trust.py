# SPDX-License-Identifier: BSD-2-Clause
"""How far the figures of a run can be trusted: clocks, scatter, models, measuring itself, and the
machine."""

from __future__ import annotations

from collections.abc import Iterable

from teemark.base import fmt
from teemark.base.finding import Finding, Share, Status
from teemark.base.work import EMPTY_CALL, HARNESS
from teemark.findings.ground import KNOWN, Ground, is_known, not_checked, signature
from teemark.model.counter import TOLERANCE, Counted
from teemark.model.decide import above
from teemark.model.fit import MISFIT
from teemark.model.stats import STEADY, exactly
from teemark.page import figures
from teemark.run.reader import MeasuredCase

HARNESS_SHARE = 0.01
"""Share of the smallest case that measuring itself may take."""
CLOCK = 0.01
"""Share of the shortest sample that a step of the clock may be."""


def harness(ground: Ground) -> Finding | None:
    own = ground.models.case(HARNESS)
    others = [one for one in ground.models.stats if one.key != HARNESS and one.time.median > 0]
    if own is None or not others:
        return None
    smallest = min(others, key=lambda one: one.time.median)
    ratio = own.estimate / smallest.estimate
    answer = above(ratio, HARNESS_SHARE)
    adds, remedy = fmt.percent(ratio.value), ""
    interval = own.time.interval
    if own.time.median <= 0 or (interval is not None and interval.low <= 0):
        claim = "What measuring itself adds is not distinguishable from 0."
    elif answer == "no":
        claim = f"Measuring itself adds {adds} to the smallest case."
    elif answer == "yes":
        claim = f"Measuring itself is {adds} of the smallest case."
        remedy = "Nothing was subtracted: take it off where such small times matter."
    else:
        bound = fmt.percent(HARNESS_SHARE, 1)
        claim = f"Whether measuring itself is more than {bound} of the smallest case is open."
        samples = min(own.time.count, smallest.time.count)
        remedy = ground.more(ratio, (HARNESS_SHARE,), samples)
    return Finding(
        key="harness",
        topic="trust",
        status="undecided" if answer == "undecided" else "found",
        severity="caution" if answer == "yes" else "note",
        claim=claim,
        evidence=f"An empty backend takes {figures.time(ground.run, own.estimate)} a call; the "
        f"smallest case, {smallest.key}, {figures.time(ground.run, smallest.estimate)}.",
        remedy=remedy,
        figures=(ground.figure("measuring, of the smallest case", ratio, "share"),),
        sure=answer != "undecided",
    )


def two_clocks(ground: Ground) -> Finding | None:
    """Compares the slope over repetitions by the client's clock with the counter in the TA."""
    agree, apart, undecided = (
        [case for case in ground.models.counted if case.judgement == judgement]
        for judgement in ("agree", "disagree", "undecided")
    )
    if not (agree or apart or undecided):
        return None
    bound = fmt.percent(TOLERANCE, 1)
    evidence = remedy = ""
    if apart:
        judged = len(agree) + len(apart) + len(undecided)
        claim = (
            f"The client's clock and the TA's counter differ by more than {bound} on what an "
            f"operation takes inside the TA, in {fmt.plural(len(apart), 'case')} of "
            f"{fmt.count(judged)}."
        )
        evidence = ", ".join(map(_apart, apart)) + "."
        remedy = (
            "Don't rely on either before the reason is known: repetitions that don't cost the "
            "same (caches, a clock frequency that changes), or a counter that doesn't run as the "
            "firmware says."
        )
    elif agree:
        worst = max(agree, key=lambda case: abs(case.deviation or 0.0))
        claim = (
            "The TA's own counter agrees with the client's clock on what an operation takes: "
            f"{fmt.plural(len(agree), 'case')}, at most {fmt.share(abs(worst.deviation or 0.0))} "
            "apart."
        )
        evidence = f"Furthest apart: {_apart(worst)}; {bound} is allowed."
    else:
        claim = (
            "Whether the TA's counter agrees with the client's clock on what an operation takes, "
            f"to within {bound}, is undecided."
        )
        remedy = "More samples decide it."
    if undecided:
        names = ", ".join(case.case.case for case in undecided)
        evidence += f" Undecided, with too few or too scattered samples: {names}."
    verdict = "disagrees" if apart else "agrees" if agree else "undecided"
    return Finding(
        key=f"ta-counter-{verdict}",
        topic="trust",
        status="found" if apart or agree else "undecided",
        severity="caution" if apart else "note",
        claim=claim,
        evidence=evidence.strip(),
        remedy=remedy,
        sure=bool(apart or agree),
    )


def _apart(case: Counted) -> str:
    """Writes how far the TA's figure is from the client's: `oneshot/sha256/tee/4096 +0.12 %`."""
    return f"{case.case.case} {fmt.signed(case.deviation or 0.0)}"


def misfits(ground: Ground) -> Finding | None:
    costs = ground.models.costs
    bad = [cost for cost in costs if not cost.fit.fits]
    if not bad:
        return None
    worst = max(bad, key=lambda cost: cost.fit.misfit or 0.0)
    point = worst.fit.worst
    are, them = ("is", "it") if len(bad) == 1 else ("are", "them")
    return Finding(
        key="misfit",
        topic="trust",
        severity="caution",
        claim=f"{fmt.plural(len(bad), 'model')} of {fmt.count(len(costs))} {are} more than "
        f"{fmt.percent(MISFIT)} off somewhere, beyond what scatter explains: don't calculate with "
        f"{them}.",
        evidence=f"The worst is {ground.run.title(worst.algorithm)} by {worst.backend}, "
        f"{fmt.percent(abs(point.residual))} off at {fmt.size(int(point.x))}.",
    )


def waited(ground: Ground) -> Finding | None:
    """Cases that were timed though the board counts: their samples are too far apart."""
    cases = [one for one in ground.models.stats if ground.waits(one)]
    if not cases:
        return None
    worst = max(cases, key=lambda one: one.time.max / max(one.time.min, 1.0))
    are, their = ("is", "its") if len(cases) == 1 else ("are", "their")
    return Finding(
        key="waited",
        topic="trust",
        severity="caution",
        claim=f"{fmt.plural(len(cases), 'case')} of {fmt.count(len(ground.models.stats))} {are} "
        f"timed, not counted: {their} samples lie more than {fmt.percent(STEADY, 1)} apart.",
        evidence="Where the processor waits, for a disk as a rule, the clock goes on as that of "
        "the machine that emulates this board. Others find memory laid out differently from call "
        f"to call. {worst.key} took {fmt.duration(worst.time.min)} to "
        f"{fmt.duration(worst.time.max)}.",
        remedy="Measure on hardware what waits for a disk: nothing follows from these times.",
    )


def scatter(ground: Ground) -> Finding | None:
    """Medians that are known badly, and those that have no interval at all."""
    stats = ground.models.stats
    without = [one for one in stats if one.time.interval is None]
    wide = [one for one in stats if one.time.interval is not None and not is_known(one.estimate)]
    if not wide and not without:
        return None
    of = fmt.count(len(stats))
    parts, evidence = [], []
    if wide:
        spans = {
            one.key: one.time.interval.width / one.time.median
            if one.time.interval is not None and one.time.median > 0
            else float("inf")
            for one in wide
        }
        key, width = max(spans.items(), key=lambda pair: pair[1])
        is_ = "is" if len(wide) == 1 else "are"
        better = f"known to no better than {fmt.percent(KNOWN)} either way"
        parts.append(f"{fmt.plural(len(wide), 'median')} of {of} {is_} {better}")
        reach = f"{fmt.percent(width)} of" if width < 10 else "more than ten times"
        evidence.append(f"The interval of {key} spans {reach} the median.")
    if without:
        has = "has" if len(without) == 1 else "have"
        medians = fmt.plural(len(without), "median")
        parts.append(f"{medians} of {of} {has} too few samples for an interval")
        evidence.append(f"{without[0].key} has {fmt.plural(without[0].time.count, 'sample')}.")
    return Finding(
        key="scatter",
        topic="trust",
        severity="caution",
        claim=f"{', and '.join(parts)}.",
        evidence=" ".join(evidence),
        remedy="More samples narrow intervals, and so does a machine that does nothing else.",
    )


def clock_step(ground: Ground) -> Finding:
    key = "clock-resolution"
    step = ground.run.machine.clock.resolution_ns
    samples = [one.ns for case in ground.run.sound for one in case.samples if one.ns > 0]
    if step is None or not samples:
        return not_checked(key, "the step of the clock")
    share = exactly(step / min(samples))
    return signature(
        key,
        (share, CLOCK),
        (ground.figure("a step, of the shortest sample", share, "share"),),
        claim="The clock's steps are coarse for the shortest samples.",
        remedy="Measure longer samples (min_us), or with a finer clock source.",
        facts=(f"a step: {fmt.duration(float(step))}",),
        costs=Share(min(share.value, 1.0), "the shortest sample"),
    )


# -- what the machine does to all figures ---------------------------------------------------------

SLOWED = 0.95
"""Share of its highest frequency at which a CPU is not slowed down."""
WAITED = 0.01
"""Share of the time that processes may have waited for a CPU."""


def cpu_frequency(ground: Ground) -> Finding:
    """Compares each CPU with its own highest frequency. teebench reads both before the load begins:
    they don't tell what a governor raises with the load."""
    key = "cpu-frequency"
    run = ground.run
    cpu = run.machine.cpu
    now, most, governors = map(_by_cpu, (cpu.khz_now, cpu.khz_max, cpu.governor))
    pairs = {one: (_khz(now, one), _khz(most, one)) for one in sorted(now.keys() | most.keys())}
    known = [(khz / top, one, khz, top) for one, (khz, top) in pairs.items() if khz and top]
    if not known:
        why = run.machine.reasons.get("cpu.khz_now") or "the kernel doesn't say"
        return not_checked(key, f"the CPUs' frequencies ({why})")
    share, slowest, khz, top = min(known)
    of = f"{slowest}: " if slowest else ""
    facts = [f"{of}{khz / 1000:g} of {top / 1000:g} MHz when the run began"]
    if governors:
        facts.append(f"governor {', '.join(dict.fromkeys(governors.values()))}")
    slowed = [_of_cpu(governors, one) for share, one, *_ in known if share < SLOWED]
    status: Status = "ruled out"
    if slowed:
        status = "found" if "performance" in slowed else "undecided"
    return signature(
        key,
        status,
        claim="The CPU ran below its highest frequency.",
        remedy="Set the governor `performance`, and see to its cooling and power.",
        facts=facts,
        costs=Share(1 - share, "the time of each call", at_most=True),
    )


def _by_cpu(told: Iterable[str] | None) -> dict[str, str]:
    """Splits what teebench says of CPUs: "VALUE" of all, here under "", or "cpu0 VALUE"."""
    words = (text.rpartition(" ") for text in told or ())
    return {cpu: value for cpu, _, value in words}


def _of_cpu(told: dict[str, str], cpu: str) -> str:
    return told.get(cpu) or told.get("", "")


def _khz(told: dict[str, str], cpu: str) -> int:
    """Returns 0 where it isn't told."""
    value = _of_cpu(told, cpu)
    return int(value) if value.isdigit() else 0


def contention(ground: Ground) -> Finding:
    """Judges calls that their process and the TEE alone do, all together and each by itself: what
    another process serves waits for a CPU behind that."""
    key = "contention"
    alone = [case for case in ground.run.sound if not _served(case)]
    if not alone:
        return not_checked(key, f"calls that no other process serves, such as {EMPTY_CALL}")
    waits = {one.case.case: wait for one in alone if (wait := _wait(one)) is not None}
    total = sum(ns for ns, _ in waits.values())
    if not total:
        return not_checked(key, "the wait for a CPU: a kernel with CONFIG_SCHED_INFO")
    share = sum(wait for _, wait in waits.values()) / total
    worst, most = max(
        ((case, wait / ns) for case, (ns, wait) in waits.items()), key=lambda pair: pair[1]
    )
    shown = [ground.figure("waiting for a CPU, of all these calls", exactly(share), "share")]
    if most > WAITED:
        shown.append(ground.figure(f"of {worst}", exactly(most), "share"))
    return signature(
        key,
        "found" if max(share, most) > WAITED else "ruled out",
        shown,
        claim="Other processes took the CPU from the measured calls.",
        remedy="Stop them, or pin teebench to a CPU of its own.",
        costs=Share(min(most, 1.0), worst),
    )


def _wait(measured: MeasuredCase) -> tuple[int, int] | None:
    """Returns the time of all samples and how much of it they waited, ns; None if unknown."""
    told = [(one.ns, one.runq_ns) for one in measured.samples if one.runq_ns is not None]
    return (sum(ns for ns, _ in told), sum(wait for _, wait in told)) if told else None


def _served(measured: MeasuredCase) -> bool:
    """Whether tee-supplicant or the kernel's threads serve it: storage, files, a driver's queue.
    Of a command of any TA nobody knows."""
    return (
        measured.work.row.served
        or measured.work.by in ("afalg", "hwrng")
        or bool(measured.case.rpcs_per_call)
    )


def emulated(ground: Ground) -> Finding:
    key = "emulated"
    run = ground.run
    by_board = run.run.emulated if run.run is not None else None
    told = run.machine.board.emulated
    if by_board is None and told is None:
        return not_checked(key, "a machine that says what it is")
    facts = ["as its board file says"] if by_board else []
    if told and run.machine.board.emulated_told_by:
        facts.append(run.machine.board.emulated_told_by)
    if not (by_board or told):
        return Finding(key=key, topic="board", status="ruled out")
    if run.icount:
        claim = "Emulated board: this counts instructions."
        remedy = (
            "One nanosecond is one executed instruction; two boots agree to within 0.2 %. There "
            "are no cache misses and no latencies in it: good for finding and comparing work, not "
            "for predicting time on hardware."
        )
    else:
        claim = "Emulated board: timings are not those of silicon."
        remedy = (
            "The software is real (OP-TEE, Linux, the Trusted Application), the processor is "
            "emulated. What depends on the speed of particular instructions, on caches or on "
            "memory looks different on hardware: measure there for times."
        )
    return Finding(
        key=key,
        topic="board",
        severity="caution",
        claim=claim,
        evidence="; ".join(facts),
        remedy=remedy,
    )


def tee_defects(ground: Ground) -> Finding | None:
    skips = [skip for skip in ground.run.skips if skip.code == "tee-defect"]
    if not skips:
        return None
    hint = skips[0].hint or ""
    names = ", ".join(skip.case for skip in skips)
    return Finding(
        key="tee-defect",
        topic="board",
        severity="caution",
        claim=f"A defect of this board's TEE: {skips[0].reason}.",
        evidence=f"{fmt.plural(len(skips), 'case')} left out: {names}.",
        remedy=f"{hint[:1].upper()}{hint[1:].rstrip('.')}." if hint else "",
    )


def published_key(ground: Ground) -> Finding | None:
    """Says nothing of an emulated board: nobody keeps a secret in it."""
    run = ground.run
    if run.run is None or not run.run.tas_signed_with_published_key or run.run.emulated:
        return None
    if not any(run.backend(measured.case.backend).secure for measured in run.sound):
        return None
    return Finding(
        key="published-key",
        topic="board",
        severity="caution",
        claim="Anybody can sign TAs for this board.",
        evidence="Its TEE ran our TAs, which are signed with the key that OP-TEE's sources "
        "publish.",
        remedy="Before the board keeps secrets: build OP-TEE with a key of your own (TA_SIGN_KEY).",
    )
