# SPDX-License-Identifier: BSD-2-Clause
"""Who did the work of a kernel or OpenSSL case: a device, instructions of the CPU, or software?

Neither a driver's priority nor its name proves that a device works. A device shows by its
interrupts, or by time in which no CPU worked. Each piece of evidence speaks for some outcomes. The
verdict is `unknown` if the pieces contradict each other or none says anything.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from typing import Literal

from teemark.base.errors import ConfigError
from teemark.model.decide import above, within
from teemark.model.models import Models
from teemark.model.stats import CaseStats, estimate
from teemark.reference.data import DriverKind, Reference, load
from teemark.run.reader import MeasuredCase, RunData
from teemark.run.records import InterruptLine, Watched
from teemark.wording import fmt

Outcome = Literal["accelerator", "cpu-instructions", "software", "mixed", "unknown"]
Kind = Literal["accelerator", "cpu-instructions", "software"]

EACH_CALL = 0.5  # With this many interrupts a call a device serves most calls: one may be for two
SOME_CALLS = 0.05  # With this many interrupts a call a device serves some calls
RAISED = 8  # Fewest interrupts that show a device; with few calls, three for four calls do
RESTING = 4.0  # An interrupt line must be raised this many times as often as at rest
BUSY, RESTED = 0.9, 0.7  # CPU's share of the time: from BUSY on it did all work, up to RESTED not
POLLED = 0.5  # CPU's share of the time up to which a device without interrupts is taken as polled
BULK = 1024  # Bytes of a message from which its rate shows the algorithm and not the call
MASK = 1.25  # A case so many times as slow without the CPU's instructions had used them
MASK_SAME = 1.1  # Two times within this factor, either way, are the same
GENERIC = 2.5  # Speed-up over the kernel's own C code that NEON alone doesn't reach (it reaches 2)
NEWER = 1.15  # Factor by which a newer implementation may beat the published one

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
"""Interrupt lines of disks, networks and consoles, which a case's input and output raise, too. No
accelerator has one of these, or one of the CPU's."""


WORDS: dict[Outcome, str] = {
    **{outcome: outcome for outcome in ("accelerator", "software", "mixed", "unknown")},
    "cpu-instructions": "CPU instructions",
}
PROVEN: dict[Outcome, str] = WORDS | {"accelerator": "an accelerator"}


@cache
def knowledge() -> Reference:
    """Returns the drivers and cores that reference/ knows; nothing outside a checkout."""
    try:
        return load()
    except ConfigError:
        return Reference({}, {}, {})


@dataclass(frozen=True, slots=True)
class Evidence:
    text: str  # A sentence without full stop
    speaks_for: tuple[Kind, ...] = ()  # Empty: context only
    proof: bool = False  # A proof overrules hints; if proofs contradict each other, nothing follows


@dataclass(frozen=True, slots=True)
class Offload:
    key: str
    outcome: Outcome
    evidence: tuple[Evidence, ...]
    driver: str | None = None

    @property
    def sentence(self) -> str:
        """Returns the evidence as a sentence."""
        return "; ".join(part.text for part in self.evidence) + "."


def offloads(run: RunData, models: Models) -> tuple[Offload, ...]:
    """Judges each case that teebench watched and that has bytes, with the facts of reference/."""
    reference = knowledge()
    return tuple(
        _Case(run, models, measured, stats, reference).judged()
        for measured in run.sound
        if (measured.record.watched is not None or measured.record.watched_reason is not None)
        and measured.record.bytes is not None
        and (stats := models.case(measured.key)) is not None
    )


def reached_drivers(run: RunData, judged: Sequence[Offload]) -> tuple[str, ...]:
    """Returns sentences that say which drivers of crypto devices AF_ALG reaches on the board, if
    the run shows it: by a device that worked, or by a bind that the kernel refused."""
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
        what = "No case used {}. `teemark doctor BOARD --accelerators` shows whether AF_ALG "
        what += "reaches a device by it."
        if outcomes & {"accelerator", "mixed"}:
            what = "AF_ALG reaches a device by {}: the evidence is below."
        elif outcomes:
            what = "AF_ALG takes {}, but nothing shows that the device worked."
        elif refused:
            what = "AF_ALG doesn't reach a device by {}: " + refused[0].rstrip(".") + "."
        sentences.setdefault(what, []).append(name)
    return tuple(what.replace("{}", ", ".join(drivers), 1) for what, drivers in sentences.items())


def _row(reference: Reference, driver: str) -> DriverKind | None:
    return next((row for row in reference.drivers if fnmatchcase(driver, row.driver)), None)


def device_lines(watched: Watched) -> list[tuple[InterruptLine, float]]:
    """Returns the interrupt lines of devices that rose with the calls, with their rate a call."""
    rising = []
    for line in watched.lines:
        cpus = _CPU_LINES.search(line.line) or _CPU_LINES.search(line.name)
        if cpus or _STORAGE_AND_WIRES.search(line.name):
            continue
        resting = line.idle * (watched.ns / watched.idle_ns if watched.idle_ns else 1.0)
        if line.count >= min(RAISED, 0.75 * watched.calls) and line.count > RESTING * resting:
            rising.append((line, (line.count - resting) / watched.calls))
    return sorted(rising, key=lambda pair: -pair[1])


def _rate(watched: Watched | None) -> float | None:
    return None if watched is None else max((rate for _, rate in device_lines(watched)), default=0)


def _driver(measured: MeasuredCase) -> str | None:
    return measured.record.kernel_driver.name if measured.record.kernel_driver else None


@dataclass(frozen=True, slots=True)
class _Case:
    """A case with the facts around it; each method in KINDS makes one kind of evidence."""

    run: RunData
    models: Models
    measured: MeasuredCase
    stats: CaseStats
    reference: Reference

    def judged(self) -> Offload:
        evidence = tuple(part for kind in KINDS if (part := kind(self)) is not None)
        outcome = self.weigh(evidence)
        return Offload(self.measured.key, outcome, evidence, _driver(self.measured))

    @property
    def row(self) -> DriverKind | None:
        return _row(self.reference, _driver(self.measured) or "")

    @property
    def device_took_part(self) -> bool:
        return (_rate(self.measured.record.watched) or 0.0) >= SOME_CALLS

    @property
    def share(self) -> float | None:
        """Returns the process' CPU time over its elapsed time, without its waits for a CPU."""
        cpu = elapsed = 0
        for sample in self.measured.samples:
            if sample.user_us is None or sample.sys_us is None:
                return None
            cpu += (sample.user_us + sample.sys_us) * 1000
            elapsed += sample.ns - sample.waited_ns
        return min(cpu / elapsed, 1.0) if elapsed > 0 else None

    def interrupts(self) -> Evidence:
        watched = self.measured.record.watched
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
        # User and system time aren't told apart: a kernel that counts by ticks can't split them.
        text = f"the process had the CPU {fmt.percent(share, 2)} of the time, without waits for it"
        busy: tuple[Kind, ...] = ("cpu-instructions", "software") if share >= BUSY else ()
        return Evidence(text, ("accelerator",) if share <= RESTED else busy)

    def threads(self) -> Evidence | None:
        watched = self.measured.record.watched
        if watched is None or watched.others_ns is None or not self.device_took_part:
            return None
        text = (
            "other processes and kernel threads took "
            f"{fmt.duration(watched.others_ns / watched.calls)} of CPU time a call "
            f"({fmt.percent(watched.others_ns / watched.ns if watched.ns else 0.0, 2)} of the time)"
        )
        return Evidence(text)

    def identity(self) -> Evidence | None:
        """Returns the driver as evidence: it shows what its device can do, not that it worked."""
        driver, row, size = _driver(self.measured), self.row, self.measured.record.bytes
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
        """Says from which size on the device takes part; the driver falls back below it."""
        mine = self.measured.curve
        at = [
            (case.record.bytes, (_rate(case.record.watched) or 0.0) >= EACH_CALL)
            for case in self.run.sound
            if mine is not None and case.curve == mine and self.like(case)
            if case.record.watched is not None and case.record.bytes is not None
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
        mine = self.measured.record
        return (case.record.algorithm, case.record.backend) == (mine.algorithm, mine.backend)

    def cycles(self) -> Evidence | None:
        """Compares CPU cycles a byte with published figures for the core."""
        core, clock, size = _core(self.run), ghz(self.run), self.stats.bytes or 0
        if not core or clock is None or self.stats.cpu is None or size < BULK:
            return None
        published = self.reference.cycles_for(core, self.measured.record.algorithm)
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
        """Compares with OpenSSL without the CPU's instructions, by the longest message."""
        mine = self.measured.curve
        for case in (self.measured, *self.run.sound):
            curve, masked = case.curve, case.record.masked
            if masked is None or not self.like(case) or (mine and curve and mine != curve):
                continue
            hidden, plain = (
                estimate([list(map(float, ns))], f"{case.key} {how}", exact=self.run.icount)
                for how, ns in (("masked", masked.masked_ns), ("plain", masked.plain_ns))
            )
            ratio = hidden / plain
            speaks: tuple[Kind, ...] = ()
            # On an emulator these instructions may be slower than C code.
            faster = self.run.emulated and above(ratio, 1 / MASK_SAME) == "no"
            if faster or above(ratio, MASK) == "yes":
                speaks = ("cpu-instructions",)
            elif within(ratio, 1 / MASK_SAME, MASK_SAME) == "yes":
                speaks = ("software", "accelerator")
            text = f"without the CPU's crypto instructions ({masked.variable}={masked.value}) it "
            text += f"takes {fmt.factor(ratio.value)} the time"
            text += " (an emulator may run them slower than C)" * faster
            if case is not self.measured:
                text += f", at {fmt.size(case.record.bytes or 0)}"
            return Evidence(text, speaks, proof=bool(speaks))
        return None

    def against_generic(self) -> Evidence | None:
        """Compares with the kernel's own C code, which the same run bound by its name."""
        mine = self.measured.work
        for case in self.run.sound:
            name, theirs = _driver(case) or "", self.models.case(case.key)
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
        """Weighs the evidence. Interrupts come first. A device without interrupts was polled if
        the CPU rested; otherwise its driver fell back to software. Without a device, the outcome is
        the one that all proofs and hints speak for."""
        rate, share = _rate(self.measured.record.watched), self.share
        excluded = any(part.proof and "accelerator" not in part.speaks_for for part in evidence)
        if rate is not None and rate >= EACH_CALL:
            # If no device worked on the calls, some other work raised the line.
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
    """Returns the CPUs' highest clock; None if it isn't known, or on an emulated machine."""
    clocks = run.machine.cpu.khz_max or ()
    emulated = run.machine.board.emulated is not False or (run.header and run.header.emulated)
    if emulated or len(clocks) != 1 or not clocks[0].isdigit():
        return None
    return float(clocks[0]) / 1e6


def _core(run: RunData) -> str:
    models = run.machine.cpu.models or ()
    named = re.search(r"Cortex-A\d+", models[0]) if len(models) == 1 else None
    return named[0].lower() if named else ""
