# SPDX-License-Identifier: BSD-2-Clause
"""Who did the work of a kernel or OpenSSL case: a device, instructions of the CPU, or software?

A driver's priority is no evidence, nor is its name alone that of a device: a device shows by its
interrupts, or by time in which no CPU worked. Each piece of evidence speaks for some outcomes; the
verdict is `unknown` where the pieces contradict each other or nothing speaks.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from typing import Literal

from teemark.base import fmt
from teemark.base.errors import ConfigError
from teemark.model.decide import above, within
from teemark.model.models import Models
from teemark.model.stats import CaseStats, estimate
from teemark.reference.data import KernelDriver, Reference, load
from teemark.run.reader import MeasuredCase, RunData
from teemark.run.records import InterruptLine, Watched

Outcome = Literal["accelerator", "cpu-instructions", "software", "mixed", "unknown"]
Kind = Literal["accelerator", "cpu-instructions", "software"]

EACH_CALL = 0.5  # Interrupts a call from which a device took part in most: one may serve several
SOME_CALLS = 0.05  # Interrupts a call from which it took part in some
RAISED = 8  # Fewer interrupts may be somebody else's, unless there were hardly more calls
RESTING = 4.0  # How many times as often as on the idle machine a line has to rise
BUSY, RESTED = 0.9, 0.7  # Share of the time that the CPU worked: it did it all; it didn't
POLLED = 0.5  # Share of the time up to which a device without interrupts is believed
BULK = 1024  # Bytes from which a rate is that of the algorithm and not of the call
MASK = 1.25  # How much slower without the CPU's instructions, to have used them
MASK_SAME = 1.1  # How far apart the two may be, either way, to be the same
GENERIC = 2.5  # How many times as fast as the kernel's own C code; NEON alone reaches 2
NEWER = 1.15  # A newer implementation may beat the published one by so much

_CPU_LINES = re.compile(
    r"^(IPI|LOC|RES|CAL|TLB|NMI|RTR|PMI|IWI|SPU|TRM|THR|MCE|MCP|HYP|HRE|HVS|Err|ERR|MIS|PIN|NPI|PIW)"
    r"|timer|\bpmu\b|optee_notification",
    re.I,
)
_STORAGE_AND_WIRES = re.compile(
    r"virtio\d+-(req|input|output|config)|nvme|mmc|sdhci|dw-?mci|ahci|\bata\b|\bs?scsi|ufs|nand"
    r"|\beth\d|\ben[opsx]\d|wlan|mdio|usb|[xeo]hci|uart|serial|\btty",
    re.I,
)
"""Lines of disks, networks and consoles: what a case reads or writes raises them, too. With those
of the CPU they are the lines that no accelerator has."""


WORDS: dict[Outcome, str] = {
    **{outcome: outcome for outcome in ("accelerator", "software", "mixed", "unknown")},
    "cpu-instructions": "CPU instructions",
}
PROVEN: dict[Outcome, str] = WORDS | {"accelerator": "an accelerator"}


@cache
def knowledge() -> Reference:
    """Returns what reference/ has of drivers and cores; nothing outside a checkout."""
    try:
        return load()
    except ConfigError:
        return Reference({}, {}, {})


@dataclass(frozen=True, slots=True)
class Evidence:
    text: str  # A sentence without full stop
    speaks_for: tuple[Kind, ...] = ()  # None for context
    proof: bool = False  # It may contradict a hint; proofs that contradict each other tell nothing


@dataclass(frozen=True, slots=True)
class Offload:
    key: str
    outcome: Outcome
    evidence: tuple[Evidence, ...]
    driver: str | None = None

    @property
    def told(self) -> str:
        """Returns the evidence as a sentence."""
        return "; ".join(part.text for part in self.evidence) + "."


def offloads(run: RunData, models: Models) -> tuple[Offload, ...]:
    """Judges each case that carries bytes and that teebench watched, by what reference/ knows."""
    reference = knowledge()
    return tuple(
        _Case(run, models, measured, stats, reference).judged()
        for measured in run.sound
        if (measured.case.watched is not None or measured.case.watched_reason is not None)
        and measured.case.bytes is not None
        and (stats := models.case(measured.case.case)) is not None
    )


def reach(run: RunData, judged: Sequence[Offload]) -> tuple[str, ...]:
    """Returns sentences that say which drivers of crypto devices AF_ALG reaches on the board, as
    far as the run recorded it: a device that worked, a bind that the kernel refused."""
    listed = [line.split() for line in run.machine.crypto.kernel_drivers or ()]
    kinds = {"shash", "ahash", "skcipher", "aead"}
    names = [words[1] for words in listed if kinds & set(words[2:])]
    names += [offload.driver for offload in judged if offload.driver is not None]
    sentences: dict[str, list[str]] = {}
    for name in sorted(set(names)):
        row = _row(knowledge(), name)
        if row is None or row.kind != "accelerator":
            continue
        outcomes = {offload.outcome for offload in judged if offload.driver == name}
        refused = [skip.reason for skip in run.skips if f"/afalg:{name}/" in skip.case]
        what = "Whether AF_ALG reaches a device by {} isn't known, for no case asked: "
        what += "`teemark doctor BOARD --accelerators` tells."
        if outcomes & {"accelerator", "mixed"}:
            what = "AF_ALG reaches a device by {}: the evidence is below."
        elif outcomes:
            what = "AF_ALG takes {}, but nothing shows that the device worked."
        elif refused:
            what = "AF_ALG doesn't reach a device by {}: " + refused[0].rstrip(".") + "."
        sentences.setdefault(what, []).append(name)
    return tuple(what.replace("{}", ", ".join(drivers), 1) for what, drivers in sentences.items())


def _row(reference: Reference, driver: str) -> KernelDriver | None:
    """Returns the first row of the table that fits."""
    return next((row for row in reference.drivers if fnmatchcase(driver, row.driver)), None)


def device_lines(watched: Watched) -> list[tuple[InterruptLine, float]]:
    """Returns the lines of devices that rose with the calls, and how often a call."""
    rising = []
    for line in watched.interrupts:
        cpus = _CPU_LINES.search(line.line) or _CPU_LINES.search(line.name)
        if cpus or _STORAGE_AND_WIRES.search(line.name):
            continue
        resting = line.idle * (watched.ns / watched.idle_ns if watched.idle_ns else 1.0)
        if line.count >= min(RAISED, 0.75 * watched.calls) and line.count > RESTING * resting:
            rising.append((line, (line.count - resting) / watched.calls))
    return sorted(rising, key=lambda pair: -pair[1])


def _rate(watched: Watched | None) -> float | None:
    """Returns the interrupts of the busiest device line a call; None where nobody looked."""
    return None if watched is None else max((rate for _, rate in device_lines(watched)), default=0)


def _driver(measured: MeasuredCase) -> str | None:
    return measured.case.kernel_driver.name if measured.case.kernel_driver else None


@dataclass(frozen=True, slots=True)
class _Case:
    """A case with all that is known around it; each method in KINDS is one kind of evidence."""

    run: RunData
    models: Models
    measured: MeasuredCase
    stats: CaseStats
    known: Reference

    def judged(self) -> Offload:
        evidence = tuple(part for kind in KINDS if (part := kind(self)) is not None)
        outcome = self.weigh(evidence)
        return Offload(self.measured.key, outcome, evidence, _driver(self.measured))

    @property
    def row(self) -> KernelDriver | None:
        return _row(self.known, _driver(self.measured) or "")

    @property
    def device_took_part(self) -> bool:
        return (_rate(self.measured.case.watched) or 0.0) >= SOME_CALLS

    @property
    def share(self) -> float | None:
        """Returns CPU time over the time in which the process wasn't waiting for a CPU."""
        cpu = elapsed = 0
        for sample in self.measured.samples:
            if sample.user_us is None or sample.sys_us is None:
                return None
            cpu += (sample.user_us + sample.sys_us) * 1000
            elapsed += sample.ns - sample.waited_ns
        return min(cpu / elapsed, 1.0) if elapsed > 0 else None

    def interrupts(self) -> Evidence:
        watched = self.measured.case.watched
        if watched is None:
            return Evidence("interrupts weren't counted")
        calls = fmt.plural(watched.calls, "call")
        if not self.device_took_part:
            return Evidence(f"no device raised interrupts with {calls}")
        line = device_lines(watched)[0][0]
        text = (
            f"line {line.line} ({line.name}) was raised {fmt.count(line.count)} times in "
            f"{calls}, {fmt.count(line.idle)} times at rest"
        )
        return Evidence(text, ("accelerator",), proof=True)

    def cpu_time(self) -> Evidence | None:
        share = self.share
        if share is None:
            return None
        # Not how it was split: a kernel that counts by ticks gives the program all of it.
        text = f"the process had the CPU {fmt.percent(share, 2)} of the time"
        busy: tuple[Kind, ...] = ("cpu-instructions", "software") if share >= BUSY else ()
        return Evidence(text, ("accelerator",) if share <= RESTED else busy)

    def threads(self) -> Evidence | None:
        watched = self.measured.case.watched
        if watched is None or watched.others_ns is None or not self.device_took_part:
            return None
        text = (
            "other processes and kernel threads took "
            f"{fmt.duration(watched.others_ns / watched.calls)} of CPU time a call "
            f"({fmt.percent(watched.others_ns / watched.ns if watched.ns else 0.0, 2)} of the time)"
        )
        return Evidence(text)

    def identity(self) -> Evidence | None:
        """Returns the evidence of a device's driver: it says what it can do, not that it did."""
        driver, row, size = _driver(self.measured), self.row, self.measured.case.bytes
        if driver is None:
            return None
        if row is None:
            return Evidence(f"the driver bound is {driver}; what it is isn't known here")
        what = {"accelerator": "a device's", "cpu-instructions": "instructions of the CPU"}
        text = f"the driver bound, {driver}, is {what.get(row.kind, 'software')} ({row.source})"
        if row.kind != "accelerator":
            return Evidence(text, (row.kind,), proof=True)
        if row.fallback_below is not None and size is not None and size < row.fallback_below:
            text += f"; below {row.fallback_below} bytes it computes in software"
        return Evidence(text)

    def knee(self) -> Evidence | None:
        """Tells from which size on the device takes part: below it the driver falls back."""
        mine = self.measured.curve
        at = [
            (case.case.bytes, (_rate(case.case.watched) or 0.0) >= EACH_CALL)
            for case in self.run.sound
            if mine is not None and case.curve == mine and self.like(case)
            if case.case.watched is not None and case.case.bytes is not None
        ]
        device = [size for size, took_part in at if took_part]
        without = [size for size, took_part in at if not took_part]
        if not device or not without or max(without) > min(device):
            return None
        text = f"a device takes part from {fmt.size(min(device))} on"
        text += f", not up to {fmt.size(max(without))}"
        if self.row is not None and self.row.fallback_below is not None:
            text += f"; the driver's threshold is {self.row.fallback_below} bytes"
        return Evidence(text)

    def like(self, case: MeasuredCase) -> bool:
        """Returns true if the other case has the same algorithm and backend."""
        mine = self.measured.case
        return (case.case.algorithm, case.case.backend) == (mine.algorithm, mine.backend)

    def cycles(self) -> Evidence | None:
        """Holds CPU cycles against what is published of the core."""
        core, clock, size = _core(self.run), ghz(self.run), self.stats.bytes or 0
        if not core or clock is None or self.stats.cpu is None or size < BULK:
            return None
        published = self.known.cycles_for(core, self.measured.case.algorithm)
        software = [row for row in published if row.implementation not in ("ce", "sha-ni")]
        byte = self.stats.cpu.scaled(clock / size)
        if not software or byte.interval is None:
            return None
        fastest = min(software, key=lambda row: row.cycles)
        least = float(fastest.cycles)
        text = f"{fmt.digits(byte.value)} CPU cycles a byte; the fastest published software takes "
        text += f"{least:g} ({fastest.source})"
        speaks: tuple[Kind, ...] = ()
        if byte.interval.high < least / NEWER:
            speaks = ("cpu-instructions", "accelerator")
        elif byte.interval.low > least / NEWER:
            speaks = ("software",)
        return Evidence(text, speaks)

    def masks(self) -> Evidence | None:
        """Hides the CPU's instructions from OpenSSL; the longest message speaks for all."""
        mine = self.measured.curve
        for case in (self.measured, *self.run.sound):
            curve, masked = case.curve, case.case.masked
            if masked is None or not self.like(case) or (mine and curve and mine != curve):
                continue
            hidden, plain = (
                estimate([list(map(float, ns))], f"{case.case.case} {how}", exact=self.run.icount)
                for how, ns in (("masked", masked.masked_ns), ("plain", masked.plain_ns))
            )
            ratio = hidden / plain
            speaks: tuple[Kind, ...] = ()
            # An emulator may take longer with them than without.
            faster = self.run.emulated and above(ratio, 1 / MASK_SAME) == "no"
            if faster or above(ratio, MASK) == "yes":
                speaks = ("cpu-instructions",)
            elif within(ratio, 1 / MASK_SAME, MASK_SAME) == "yes":
                speaks = ("software", "accelerator")
            text = f"with {masked.variable}={masked.value} it takes {fmt.factor(ratio.value)} "
            text += "the time"
            if case is not self.measured:
                text += f", at {fmt.size(case.case.bytes or 0)}"
            return Evidence(text, speaks, proof=bool(speaks))
        return None

    def against_generic(self) -> Evidence | None:
        """Compares with the kernel's own C code, bound by its name in the same run."""
        mine = self.measured.work
        for case in self.run.sound:
            name, theirs = _driver(case) or "", self.models.case(case.case.case)
            generic = name.endswith("-generic") or "-generic)" in name
            same = replace(case.work, backend=mine.backend) == mine
            if not generic or not same or name == _driver(self.measured) or theirs is None:
                continue
            if self.stats.time.median <= 0:
                return None
            ratio = theirs.estimate / self.stats.estimate
            wall = self.run.emulated and not self.run.icount
            fast = not wall and above(ratio, GENERIC) == "yes"
            text = f"{name}, the kernel's own C code, takes {fmt.factor(ratio.value)} the time"
            return Evidence(text, ("cpu-instructions", "accelerator") if fast else ())
        return None

    def weigh(self, evidence: Sequence[Evidence]) -> Outcome:
        """Weighs the evidence. Interrupts come first; without any a device that is polled leaves
        the CPU idle, or its driver fell back. What is the CPU's is what all proofs and hints agree
        on."""
        rate, share = _rate(self.measured.case.watched), self.share
        excluded = any(part.proof and "accelerator" not in part.speaks_for for part in evidence)
        if rate is not None and rate >= EACH_CALL:
            # A line that rose with calls that no device worked on is somebody else's.
            return "unknown" if excluded else "accelerator"
        if rate is not None and rate >= SOME_CALLS and not excluded:
            return "mixed"
        device = self.row is not None and self.row.kind == "accelerator"
        if device and rate is not None and share is not None:
            return "software" if share >= BUSY else "accelerator" if share <= POLLED else "unknown"
        kinds: set[Kind] = {"cpu-instructions", "software"}
        for part in evidence:
            kinds &= set(part.speaks_for) or kinds
        waited = device or (share is not None and share <= RESTED)
        return kinds.pop() if len(kinds) == 1 and not waited else "unknown"


KINDS = (
    _Case.interrupts, _Case.cpu_time, _Case.threads, _Case.identity, _Case.knee, _Case.cycles,
    _Case.masks, _Case.against_generic,
)  # fmt: skip


def ghz(run: RunData) -> float | None:
    """Returns the highest clock of a real machine's CPUs; None where they differ or don't say."""
    clocks = run.machine.cpu.khz_max or ()
    emulated = run.machine.board.emulated is not False or (run.run and run.run.emulated)
    if emulated or len(clocks) != 1 or not clocks[0].isdigit():
        return None
    return float(clocks[0]) / 1e6


def _core(run: RunData) -> str:
    """Returns the core's name as in reference/; an empty string if it isn't sure."""
    models = run.machine.cpu.models or ()
    named = re.search(r"Cortex-A\d+", models[0]) if len(models) == 1 else None
    return named[0].lower() if named else ""
