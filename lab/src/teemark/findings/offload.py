# SPDX-License-Identifier: BSD-2-Clause
"""Who did the work of a kernel or OpenSSL case: a device, instructions of the CPU, or software?

Pure: a run, its models and what is published go in, a verdict with its evidence comes out. A
driver's priority is no evidence, nor is its name alone that of a device: a device shows by its
interrupts, or by time in which no CPU worked. Each piece of evidence speaks for some outcomes; the
verdict is `unknown` where the pieces contradict each other or nothing speaks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from typing import Literal

from teemark.base import fmt
from teemark.base.errors import ConfigError
from teemark.base.finding import Finding
from teemark.findings.ground import Ground
from teemark.model.decide import above, within
from teemark.model.models import Cost, Models
from teemark.model.stats import CaseStats, Estimate, estimate
from teemark.reference.data import KernelDriver, Reference, load
from teemark.run.reader import MeasuredCase, RunData
from teemark.run.records import InterruptLine, Masked, Watched

Outcome = Literal["accelerator", "cpu-instructions", "software", "mixed", "unknown"]
Kind = Literal["accelerator", "cpu-instructions", "software"]
Weight = Literal["proof", "hint", "context"]

EACH_CALL = 0.5
"""Interrupts a call from which a device took part in most calls: one may serve several."""
SOME_CALLS = 0.05
"""Interrupts a call from which it took part in some."""
RAISED = 8
"""Fewer interrupts may be somebody else's, unless there were hardly more calls."""
RESTING = 4.0
"""How many times as often as on the idle machine a line has to rise."""
BUSY, RESTED = 0.9, 0.7
"""Share of the time in which the CPU worked: it did it all; it didn't."""
POLLED = 0.5
"""Share of the time up to which a device without interrupts is believed."""
BULK = 1024
"""Bytes from which a rate is that of the algorithm and not of the call."""
MASK = 1.25
"""How much slower without the CPU's instructions, to have used them."""
MASK_SAME = 1.1
"""How far apart the two may be, either way, to be the same."""
GENERIC = 2.5
"""How many times as fast as the kernel's own C code; NEON alone reaches 2."""
NEWER = 1.15
"""A newer implementation may beat the published one by so much."""
DMA_CALL = 2.0
"""How many times as much a call to a device costs as one to software, at least."""

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
    "accelerator": "accelerator",
    "cpu-instructions": "CPU instructions",
    "software": "software",
    "mixed": "mixed",
    "unknown": "unknown",
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
    """`speaks_for` is what it speaks for; () is context. `text` is a sentence without full stop."""

    kind: str
    text: str
    speaks_for: tuple[Kind, ...] = ()
    weight: Weight = "context"


@dataclass(frozen=True, slots=True)
class Offload:
    key: str
    outcome: Outcome
    evidence: tuple[Evidence, ...]
    driver: str | None = None
    others: float | None = None
    """CPU time of everybody else a call, ns: kernel threads that feed a device."""

    @property
    def finding(self) -> Finding:
        unknown = self.outcome == "unknown"
        return Finding(
            key=f"worker/{self.key}",
            topic="worker",
            status="undecided" if unknown else "found",
            claim=f"{self.key}: {WORDS[self.outcome]}.",
            evidence="; ".join(part.text for part in self.evidence) + ".",
            sure=not unknown,
        )


def offloads(run: RunData, models: Models, known: Reference | None = None) -> tuple[Offload, ...]:
    """Judges each case that a device may have worked on, by `known` or else by reference/."""
    known = known or knowledge()
    cases = [case for case in run.sound if _of_interest(case)]
    return tuple(
        judge(run, models, case, known) for case in cases if models.case(case.case.case) is not None
    )


def workers(ground: Ground) -> Iterator[Finding]:
    """Yields a finding a case: who did the work."""
    for one in offloads(ground.run, ground.models):
        yield one.finding


def _of_interest(measured: MeasuredCase) -> bool:
    """Someone looked, and there was work: setting a key carries no bytes."""
    case = measured.case
    looked = case.watched is not None or case.watched_reason is not None
    return looked and case.bytes is not None


def judge(run: RunData, models: Models, measured: MeasuredCase, known: Reference) -> Offload:
    case, stats = measured.case, models.case(measured.case.case)
    assert stats is not None
    about = _Case(run, models, measured, stats, known)
    found = (
        about.cpu_time(),
        about.threads(),
        about.identity(),
        about.curve(),
        about.knee(),
        about.cycles(),
        about.masks(),
        about.against_generic(),
    )
    evidence = (about.interrupts(), *(one for one in found if one is not None))
    watched = case.watched
    others = None
    if watched is not None and watched.others_ns is not None and about.device_took_part:
        others = watched.others_ns / watched.calls
    return Offload(
        case.case,
        about.weigh(evidence),
        evidence,
        about.driver,
        others,
    )


# -- the evidence ----------------------------------------------------------------------------


def device_lines(watched: Watched) -> list[tuple[InterruptLine, float]]:
    """Lines of devices that rose with the calls, and how often a call."""
    found = []
    for line in watched.interrupts:
        if _CPU_LINES.search(line.line) or _CPU_LINES.search(line.name):
            continue
        if _STORAGE_AND_WIRES.search(line.name):
            continue
        resting = line.idle * (watched.ns / watched.idle_ns if watched.idle_ns else 1.0)
        least = min(RAISED, 0.75 * watched.calls)
        if line.count >= least and line.count > RESTING * resting:
            found.append((line, (line.count - resting) / watched.calls))
    return sorted(found, key=lambda pair: -pair[1])


@dataclass(frozen=True, slots=True)
class _Case:
    """A case with all that is known around it; each method is one kind of evidence."""

    run: RunData
    models: Models
    measured: MeasuredCase
    stats: CaseStats
    known: Reference

    @property
    def driver(self) -> str | None:
        found = self.measured.case.kernel_driver
        return found.name if found is not None else None

    @property
    def row(self) -> KernelDriver | None:
        """The first row of the table that fits."""
        rows = (one for one in self.known.drivers if fnmatchcase(self.driver or "", one.driver))
        return next(rows, None)

    @property
    def rate(self) -> float | None:
        """Interrupts of the busiest device line a call; None where nobody looked."""
        watched = self.measured.case.watched
        if watched is None:
            return None
        lines = device_lines(watched)
        return lines[0][1] if lines else 0.0

    @property
    def device_took_part(self) -> bool:
        return self.rate is not None and self.rate >= SOME_CALLS

    @property
    def share(self) -> float | None:
        """CPU time over the time in which the process wasn't waiting for a CPU."""
        cpu = elapsed = 0
        for sample in self.measured.samples:
            if sample.user_us is None or sample.sys_us is None:
                return None
            cpu += (sample.user_us + sample.sys_us) * 1000
            elapsed += sample.ns - (sample.runq_ns or 0)
        return min(cpu / elapsed, 1.0) if elapsed > 0 else None

    def interrupts(self) -> Evidence:
        watched = self.measured.case.watched
        if watched is None:
            return Evidence("interrupts", "interrupts weren't counted")
        lines = device_lines(watched)
        if not lines or lines[0][1] < SOME_CALLS:
            text = f"no device raised interrupts with {fmt.plural(watched.calls, 'call')}"
            return Evidence("interrupts", text)
        line = lines[0][0]
        text = (
            f"line {line.line} ({line.name}) was raised {fmt.count(line.count)} times in "
            f"{fmt.plural(watched.calls, 'call')}, {fmt.count(line.idle)} times at rest"
        )
        return Evidence("interrupts", text, ("accelerator",), "proof")

    def cpu_time(self) -> Evidence | None:
        share = self.share
        if share is None:
            return None
        # Not how it was split: a kernel that counts by ticks gives the program all of it.
        text = f"the process had the CPU {fmt.percent(share, 2)} of the time"
        speaks: tuple[Kind, ...] = ()
        if share >= BUSY:
            speaks = ("cpu-instructions", "software")
        elif share <= RESTED:
            speaks = ("accelerator",)
        return Evidence("CPU time", text, speaks, "hint")

    def threads(self) -> Evidence | None:
        watched = self.measured.case.watched
        if watched is None or watched.others_ns is None or not self.device_took_part:
            return None
        share = watched.others_ns / watched.ns if watched.ns else 0.0
        text = (
            "other processes and kernel threads took "
            f"{fmt.duration(watched.others_ns / watched.calls)} of CPU time a call "
            f"({fmt.percent(share, 2)} of the time)"
        )
        return Evidence("kernel threads", text)

    def identity(self) -> Evidence | None:
        driver, row, size = self.driver, self.row, self.measured.case.bytes
        if driver is None:
            return None
        if row is None:
            text = f"the driver bound is {driver}; what it is isn't known here"
            return Evidence("driver", text)
        if row.kind == "accelerator":
            # What it is says what it can do, not that it did.
            text = f"the driver bound, {driver}, is a device's ({row.source})"
            if row.fallback_below is not None and size is not None and size < row.fallback_below:
                text += f"; below {row.fallback_below} bytes it computes in software"
            return Evidence("driver", text)
        what = "instructions of the CPU" if row.kind == "cpu-instructions" else "software"
        text = f"the driver bound, {driver}, is {what} ({row.source})"
        return Evidence("driver", text, (row.kind,), "proof")

    def generic(self) -> MeasuredCase | None:
        """The kernel's own C code at the same work."""
        mine = self.measured.work
        for other in self.run.sound:
            name = other.case.kernel_driver.name if other.case.kernel_driver else ""
            same = replace(other.work, backend=mine.backend) == mine
            if same and name != self.driver and (name.endswith("-generic") or "-generic)" in name):
                return other
        return None

    def cost(self, measured: MeasuredCase) -> Cost | None:
        of = measured.work
        return self.models.cost(of.algorithm, of.backend, of.curve) if of.curve else None

    def curve(self) -> Evidence | None:
        """A device costs much a call: mapping, a queue, an interrupt, a switch of tasks."""
        other = self.generic()
        mine = self.cost(self.measured)
        theirs = self.cost(other) if other is not None else None
        if mine is None or theirs is None or not (mine.fit.fits and theirs.fit.fits):
            return None
        if theirs.call.value <= 0 or mine.call.value <= 0:
            return None
        ratio = mine.call / theirs.call
        text = f"a call's fixed cost is {fmt.factor(ratio.value)} that of the kernel's own C code"
        # Software may be dear a call, too: it excludes nothing.
        if above(ratio, DMA_CALL) == "yes":
            text += ", as a device's is"
        return Evidence("size curve", text)

    def knee(self) -> Evidence | None:
        """From which size on the device takes part: below it the driver falls back."""
        mine = self.measured.curve
        if mine is None:
            return None
        at = []
        for other in self.run.sound:
            size = other.case.bytes
            if size is None or other.curve != mine or not self.like(other):
                continue
            if other.case.watched is not None:
                lines = device_lines(other.case.watched)
                at.append((size, bool(lines) and lines[0][1] >= EACH_CALL))
        device = [size for size, took_part in at if took_part]
        without = [size for size, took_part in at if not took_part]
        if not device or not without or max(without) > min(device):
            return None
        text = f"a device takes part from {fmt.size(min(device))} on"
        text += f", not up to {fmt.size(max(without))}"
        if self.row is not None and self.row.fallback_below is not None:
            text += f"; the driver's threshold is {self.row.fallback_below} bytes"
        return Evidence("knee", text)

    def like(self, other: MeasuredCase) -> bool:
        """Of the same algorithm and backend."""
        mine = self.measured.case
        return (other.case.algorithm, other.case.backend) == (mine.algorithm, mine.backend)

    def cycles(self) -> Evidence | None:
        """CPU cycles against what is published of the core."""
        place, size = _core(self.run), self.stats.bytes or 0
        if place is None or self.stats.cpu is None or size < BULK:
            return None
        core, clock = place
        algorithm = self.measured.case.algorithm
        software = [
            row
            for row in self.known.cycles_for(core, algorithm)
            if row.implementation not in ("ce", "sha-ni")
        ]
        byte = self.stats.cpu.total.scaled(clock / 1e9 / size)
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
        return Evidence("cycles a byte", text, speaks, "hint")

    def masks(self) -> Evidence | None:
        """With the CPU's instructions hidden from OpenSSL; the longest message speaks for all."""
        mine = self.measured.curve
        for other in (self.measured, *self.run.sound):
            found, masked = other.curve, other.case.masked
            if masked is None or not self.like(other) or (mine and found and mine != found):
                continue
            ratio = _mask_ratio(self.run, other.case.case, masked)
            speaks: tuple[Kind, ...] = ()
            # An emulator may take longer with them than without.
            faster = self.run.emulated and above(ratio, 1 / MASK_SAME) == "no"
            if faster or above(ratio, MASK) == "yes":
                speaks = ("cpu-instructions",)
            elif within(ratio, 1 / MASK_SAME, MASK_SAME) == "yes":
                speaks = ("software", "accelerator")
            text = f"with {masked.variable}={masked.value} it takes {fmt.factor(ratio.value)} "
            text += "the time"
            if other is not self.measured:
                text += f", at {fmt.size(other.case.bytes or 0)}"
            weight: Weight = "proof" if speaks else "hint"
            return Evidence("instructions hidden", text, speaks, weight)
        return None

    def against_generic(self) -> Evidence | None:
        """Against the kernel's own C code, bound by its name in the same run."""
        other = self.generic()
        their = self.models.case(other.case.case) if other is not None else None
        if other is None or their is None or self.stats.time.median <= 0:
            return None
        ratio = their.estimate / self.stats.estimate
        driver = other.case.kernel_driver.name if other.case.kernel_driver else ""
        text = f"{driver}, the kernel's own C code, takes {fmt.factor(ratio.value)} the time"
        run = self.run.run
        wall = run is not None and run.emulated and not run.icount
        speaks: tuple[Kind, ...] = ()
        if not wall and above(ratio, GENERIC) == "yes":
            speaks = ("cpu-instructions", "accelerator")
        return Evidence("against C code", text, speaks, "hint")

    def weigh(self, evidence: Sequence[Evidence]) -> Outcome:
        rate, share = self.rate, self.share
        proofs = [one.speaks_for for one in evidence if one.weight == "proof"]
        excluded = any("accelerator" not in kinds for kinds in proofs)
        if rate is not None and rate >= EACH_CALL:
            # A line that rose with calls that no device worked on is somebody else's.
            return "unknown" if excluded else "accelerator"
        if rate is not None and rate >= SOME_CALLS and not excluded:
            return "mixed"
        if self.row is not None and self.row.kind == "accelerator":
            return _silent_device(rate, share)
        if share is not None and share <= RESTED:
            return "unknown"
        return _of_the_cpu(evidence)


def _silent_device(rate: float | None, share: float | None) -> Outcome:
    """Without interrupts a device that is polled leaves the CPU idle; else the driver fell back."""
    if rate is None or share is None:
        return "unknown"
    if share >= BUSY:
        return "software"
    return "accelerator" if share <= POLLED else "unknown"


def _of_the_cpu(evidence: Sequence[Evidence]) -> Outcome:
    """What the proofs name, if no hint contradicts; without proof, what all hints agree on."""
    proofs = [set(one.speaks_for) for one in evidence if one.weight == "proof"]
    hints = [set(one.speaks_for) for one in evidence if one.weight == "hint" and one.speaks_for]
    kinds: set[Kind] = {"cpu-instructions", "software"}
    for one in (*proofs, *hints):
        kinds &= one
    return kinds.pop() if len(kinds) == 1 else "unknown"


def _core(run: RunData) -> tuple[str, float] | None:
    """Name as in reference/, and clock in Hz; None where they aren't known for sure."""
    models, clocks = run.machine.cpu.models or (), run.machine.cpu.khz_max or ()
    emulated = run.machine.board.emulated is not False or (run.run and run.run.emulated)
    if emulated or len(models) != 1 or len(clocks) != 1 or not clocks[0].isdigit():
        return None
    named = re.search(r"Cortex-A\d+", models[0])
    return (named[0].lower(), float(clocks[0]) * 1000) if named else None


def _mask_ratio(run: RunData, key: str, masked: Masked) -> Estimate:
    """How many times as long it takes with the instructions hidden."""
    hidden = estimate([list(map(float, masked.masked_ns))], f"{key} masked", exact=run.icount)
    plain = estimate([list(map(float, masked.plain_ns))], f"{key} plain", exact=run.icount)
    return hidden / plain
