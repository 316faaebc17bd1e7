# SPDX-License-Identifier: BSD-2-Clause
"""The inventory describes a board in lines of a label and a value."""

from collections import Counter

import msgspec

from teemark.doctor.facts import ExaminedBoard
from teemark.run.records import HealthFacts, Machine
from teemark.wording import fmt

GROUPS = ("board", "cpu", "memory", "clock", "kernel", "tee", "ta_counter", "crypto", "health")


def inventory(p: ExaminedBoard, *, everything: bool = False) -> list[tuple[str, str]]:
    """Returns labels with values: the facts that users ask for first; with `everything`, all
    facts."""
    m = p.machine
    cores = f"{m.cpu.online} {fmt.TIMES} " if m.cpu.online else ""
    step = f", steps of {m.clock.resolution_ns} ns" if m.clock.resolution_ns is not None else ""
    features = "no crypto instructions, no NEON" if m.cpu.features is not None else "not told"
    rows = [
        ("board", m.board.model or p.why_not("board.model")),
        ("CPU", cores + _all(m.cpu.models)),
        ("instructions", " ".join(m.cpu.features or ()) or features),
        ("CPU clock", _cpu_clock(p)),
        ("clock", f"{m.clock.clocksource or 'not told'}{step}"),
        ("memory", f"{_bytes(m.memory.available_bytes)} of {_bytes(m.memory.total_bytes)} free"),
        ("kernel", " ".join(filter(None, (m.kernel.release, m.kernel.machine))) or "not told"),
        ("system", m.kernel.os or p.why_not("kernel.os")),
        ("TEE", _tee(p)),
        ("clock in TAs", m.ta_counter.name or p.why_not("ta_counter.name")),
        ("kernel crypto", _afalg(p)),
        ("OpenSSL", _openssl(p)),
        ("random", f"hwrng {m.crypto.hwrng or 'none'}"),
    ]
    if m.health != HealthFacts():  # only the doctor asks for these
        rows += [
            ("kernel's keys", "; ".join(m.health.kernel_asymmetric or ("not told",))),
            ("disk", f"{_bytes(m.health.disk_free_bytes)} free"),
            ("TAs", _tas(p)),
            ("random sources", m.health.rng_available or "not told"),
            ("tracing", f"tracer {m.health.tracer}" if m.health.tracer else "not to be seen"),
        ]
    if everything:
        rows += [(name, value or why) for name, value, why in facts(m)]
        rows += [("openssl", line) for line in p.openssl]
        rows += [
            (f"TA {ta.name}", f"{ta.uuid}: {'opened' if ta.opened else ta.reason}") for ta in p.tas
        ]
    return rows


def facts(m: Machine) -> list[tuple[str, str, str]]:
    """Returns each fact's name, its value, and the reason if it has no value."""
    rows = []
    groups = GROUPS if m.health != HealthFacts() else GROUPS[:-1]
    for group in groups:
        for name, value in msgspec.structs.asdict(getattr(m, group)).items():
            key = f"{group}.{name}"
            text = " · ".join(map(str, value)) or "none" if isinstance(value, tuple) else str(value)
            why = "" if value is not None else f"not known: {m.reasons.get(key, 'no reason given')}"
            rows.append((key, "" if why else text, why))
    return rows


def _all(values: tuple[str, ...] | None) -> str:
    return ", ".join(values or ("not told",))


def _bytes(number: int | None) -> str:
    return fmt.roughly_size(number) if number is not None else "unknown"


def _cpu_clock(p: ExaminedBoard) -> str:
    cpu = p.machine.cpu
    mhz = [f"{int(khz) / 1000:g} MHz" if khz.isdigit() else khz for khz in cpu.khz_now or ()]
    governor = f"governor {_all(cpu.governor)}" if cpu.governor else p.why_not("cpu.governor")
    return "; ".join((*([", ".join(mhz)] if mhz else ()), governor, *(cpu.temperature or ())))


def _tee(p: ExaminedBoard) -> str:
    tee = p.machine.tee
    if tee.device is None:
        return f"none: {p.why_not('tee.device')}"
    words = [f"{tee.implementation} {tee.revision or ''}".strip(), tee.device]
    words += [" ".join(p.device(tee.device) or ())]
    dynamic = "registered memory" in (tee.capabilities or ())
    words += [f"{'dynamic' if dynamic else 'static'} shared memory"]
    words += [f"tee-supplicant {tee.supplicant}"]
    return ", ".join(filter(None, words))


def _tas(p: ExaminedBoard) -> str:
    if not p.tas:
        return "not tried"
    opened = sum(ta.opened for ta in p.tas)
    keys = Counter(ta.published_key for ta in p.tas)
    whose = {True: "OP-TEE's published key", False: "a key of their own", None: "an unknown key"}
    named = ", ".join(f"{count} with {whose[key]}" for key, count in keys.items())
    return f"{opened} of {len(p.tas)} open; signed: {named}"


def _afalg(p: ExaminedBoard) -> str:
    bad = [f"{step} errno {code}" for step, code, _ in p.steps() if code]
    works = "works" if p.machine.crypto.afalg else p.why_not("crypto.afalg")
    drivers = len(p.machine.crypto.kernel_drivers or ())
    return f"{fmt.plural(drivers, 'driver')}; AF_ALG {', '.join(bad) or works}"


def _openssl(p: ExaminedBoard) -> str:
    version = p.machine.crypto.libcrypto or p.why_not("crypto.libcrypto")
    providers = [line for line in p.openssl if line in ("default", "legacy", "fips", "base")]
    return version + (f"; providers {', '.join(providers)}" if providers else "")
