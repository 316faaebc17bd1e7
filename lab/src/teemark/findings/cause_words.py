# SPDX-License-Identifier: BSD-2-Clause
"""What the rules on causes say: a sentence, its evidence, and what to change."""

from __future__ import annotations

from dataclasses import dataclass

from teemark.base import fmt
from teemark.findings.causes import Cause, Confidence, Figure, Status
from teemark.page import figures
from teemark.run.reader import RunData


@dataclass(frozen=True, slots=True)
class SaidCause:
    """A rule's answer in words. `claim` and `advice` only where it is found."""

    key: str
    status: Status
    claim: str | None
    evidence: str
    advice: str | None
    confidence: Confidence
    lacks: str | None


def say(run: RunData, cause: Cause) -> SaidCause:
    claim, advice = _WORDS[cause.name]
    found = cause.status == "found"
    told = (*(_figure(run, one) for one in cause.figures), *cause.facts)
    return SaidCause(
        cause.name,
        cause.status,
        claim if found else None,
        "; ".join(told),
        advice if found else None,
        cause.confidence,
        cause.lacks,
    )


def _figure(run: RunData, one: Figure) -> str:
    interval = one.value.interval
    match one.unit:
        case "time":
            # Not exact on a board that counts: a time, as what waits is.
            known = "exact" if one.value.exact else fmt.duration_interval(interval)
            return f"{one.what}: {figures.time(run, one.value)} ({known})"
        case "times":
            return f"{one.what}: {figures.times(run, one.value)}"
        case "share":
            ends = (
                f" ({fmt.percent(interval.low)}{fmt.TO}{fmt.percent(interval.high)})"
                if interval is not None and interval.width
                else ""
            )
            return f"{one.what}: {fmt.percent(one.value.value)}{ends}"
        case "number":
            return f"{one.what}: {fmt.digits(one.value.value)}"


_WORDS: dict[str, tuple[str, str]] = {
    "tmpref-registration": (
        "A temporary reference is registered and released by every call.",
        "Allocate shared memory once (TEEC_AllocateSharedMemory) and use it for many calls.",
    ),
    "shadow-copy": (
        "Read-only memory can't be shared: the client library copies it in every call.",
        "Hand over writable memory, best allocated by TEEC_AllocateSharedMemory.",
    ),
    "per-page-mapping": (
        "The TEE maps a buffer page by page in every call, whether or not the TA reads it.",
        "Hand over no more of a buffer than the TA needs.",
    ),
    "ta-size-remap": (
        "The more data a TA has, the longer a call to it takes.",
        "Keep TA_DATA_SIZE and TA_STACK_SIZE as small as the TA allows.",
    ),
    "ta-load-first-call": (
        "Opening the first session loads the TA.",
        "Open one session early and keep it; or keep the TA (TA_FLAG_INSTANCE_KEEP_ALIVE).",
    ),
    "no-crypto-extensions-in-tee": (
        "The TEE's own code is much slower than the CPU's Crypto Extensions, which a TA can use.",
        "Build OP-TEE with CFG_CRYPTO_WITH_CE=y; if it can't be rebuilt, bring the code in the TA.",
    ),
    "tee-at-cpu-speed": (
        "The TEE computes as fast as the fastest code of the normal world: nothing to gain there.",
        "Look at the call, not at the computing.",
    ),
    "cpu-time-per-byte": (
        "The kernel's driver takes longer than the CPU, and leaves the CPU more time.",
        "Use it where the CPU has other work; else let the CPU compute.",
    ),
    "ree-time-rpc": (
        "TEE_GetREETime goes to the normal world and back each time.",
        "Ask once a call, or use TEE_GetSystemTime.",
    ),
    "console-traces": (
        "A line that a TA or the core writes to the console costs a good part of a call.",
        "Build OP-TEE and the TAs with CFG_TEE_CORE_LOG_LEVEL and CFG_TEE_TA_LOG_LEVEL of 1 or 0.",
    ),
    "storage-rpc-per-block": (
        "The TEE's storage calls the normal world for each block.",
        "Keep objects small, and read or write them whole.",
    ),
    "slow-rng": (
        "Random bytes of the TEE cost many times as much as the kernel's.",
        "Draw a seed from the TEE and expand it, or see which source feeds OP-TEE's generator.",
    ),
    "cpu-frequency": (
        "The CPU ran below its highest frequency.",
        "Set the governor `performance`, and see to its cooling and power.",
    ),
    "contention": (
        "Other processes took the CPU from the measured calls.",
        "Stop them, or pin teebench to a CPU of its own.",
    ),
    "cold-cache": (
        "A first call takes longer than those after it.",
        "Don't take the figures of repeated calls for one that comes alone.",
    ),
    "clock-resolution": (
        "The clock's steps are coarse for the shortest samples.",
        "Measure longer samples (min_us), or with a finer clock source.",
    ),
    "emulated": (
        "This board's CPU is emulated: its times say nothing of hardware.",
        "Compare counts of instructions, and measure on hardware for times.",
    ),
    "size-optimised-core": (
        "OP-TEE's core is built for size: it clears a page table byte by byte at every entry into "
        "a TA.",
        "Build OP-TEE with CFG_CC_OPT_LEVEL=2.",
    ),
    "core-debug": (
        "OP-TEE's core counts and checks its locks.",
        "Build it with CFG_TEE_CORE_DEBUG=n, once you don't need its assertions any more.",
    ),
    "lazy-vfp": (
        "The TA's first vector instruction in a call traps into the core.",
        "Keep vector code out of short commands: build the TA's other files without it "
        "(-mgeneral-regs-only).",
    ),
    "pager": (
        "OP-TEE's core is paged: a call loads and decrypts parts of it.",
        "Build OP-TEE with CFG_WITH_PAGER=n where its memory has room for all of it.",
    ),
    "spectre-workaround-smc": (
        "OP-TEE's core calls the firmware at each entry from a TA, against Spectre.",
        "Cores that aren't vulnerable (CSV2) don't need it: CFG_CORE_WORKAROUND_SPECTRE_BP_SEC=n, "
        "for such cores only.",
    ),
}
