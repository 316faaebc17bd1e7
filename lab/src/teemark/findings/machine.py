# SPDX-License-Identifier: BSD-2-Clause
"""What the machine does to all figures: its clock, its load, its emulation, its keys, its TEE."""

from __future__ import annotations

from collections.abc import Iterable

from teemark.base import fmt
from teemark.base.finding import Finding, Share, Status
from teemark.base.work import EMPTY_CALL
from teemark.findings.ground import Ground, figure, not_checked, signature
from teemark.model.stats import exactly
from teemark.run.reader import MeasuredCase

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
    shown = [figure(ground, "waiting for a CPU, of all these calls", exactly(share), "share")]
    if most > WAITED:
        shown.append(figure(ground, f"of {worst}", exactly(most), "share"))
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
