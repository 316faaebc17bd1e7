# SPDX-License-Identifier: BSD-2-Clause
"""What a board is, in lines of a label and a value."""

from __future__ import annotations

from collections import Counter

from teemark.base import fmt
from teemark.doctor.patient import Patient


def inventory(p: Patient, *, everything: bool = False) -> list[tuple[str, str]]:
    """What one wants to know first; with `everything`, all that was found."""
    m = p.machine
    found = [
        ("board", m.board.model or p.why_not("board.model")),
        ("CPU", _cpu(p)),
        ("instructions", " ".join(m.cpu.features or ()) or "no crypto instructions, no NEON"),
        ("clock", _clock(p)),
        ("memory", f"{_bytes(m.memory.available_bytes)} of {_bytes(m.memory.total_bytes)} free"),
        ("disk", f"{_bytes(m.health.disk_free_bytes)} free"),
        ("kernel", f"{m.kernel.release} {m.kernel.machine}, {m.kernel.os or 'system not told'}"),
        ("TEE", _tee(p)),
        ("TAs", _tas(p)),
        ("kernel crypto", _afalg(p)),
        ("OpenSSL", _openssl(p)),
        ("random", f"hwrng {m.crypto.hwrng or 'none'}; available {m.health.rng_available}"),
        ("tracing", f"tracer {m.health.tracer}" if m.health.tracer else "not to be seen"),
    ]
    if not everything:
        return found
    found += [
        (f"driver {number}", line) for number, line in enumerate(m.crypto.kernel_drivers or (), 1)
    ]
    found += [("option", line) for line in m.kernel.options or (p.why_not("kernel.options"),)]
    found += [("device", line) for line in m.health.devices or ()]
    found += [("module", line) for line in m.health.modules or ()]
    found += [("AF_ALG", line) for line in m.health.afalg_steps or ()]
    found += [
        ("netlink", f"{step}: {f'{code} {words}' if code else 'ok'}")
        for step, code, words in p.steps()
        if step == "netlink socket"
    ]
    found += [("openssl", line) for line in p.openssl]
    found += [("vulnerability", line) for line in m.cpu.vulnerabilities or ()]
    found += [
        (f"TA {ta.name}", f"{ta.uuid}: {'opened' if ta.opened else ta.reason}") for ta in p.tas
    ]
    return found


def _bytes(number: int | None) -> str:
    return fmt.roughly_size(number) if number is not None else "unknown"


def _cpu(p: Patient) -> str:
    cpu = p.machine.cpu
    return f"{cpu.online} {fmt.TIMES} {', '.join(cpu.models or ('not told',))}"


def _clock(p: Patient) -> str:
    cpu, clock = p.machine.cpu, p.machine.clock
    governor = f"governor {', '.join(cpu.governor)}" if cpu.governor else "no cpufreq"
    heat = f"; {', '.join(cpu.temperature)}" if cpu.temperature else ""
    return f"{governor}; {clock.clocksource}, steps of {clock.resolution_ns} ns{heat}"


def _tee(p: Patient) -> str:
    tee = p.machine.tee
    if tee.device is None:
        return f"none: {p.why_not('tee.device')}"
    words = [f"{tee.implementation} {tee.revision or ''}".strip(), tee.device]
    permissions = p.device(tee.device)
    if permissions:
        words.append(" ".join(permissions))
    dynamic = "registered memory" in (tee.capabilities or ())
    words.append(f"{'dynamic' if dynamic else 'static'} shared memory")
    words.append(f"tee-supplicant {tee.supplicant}")
    return ", ".join(words)


def _tas(p: Patient) -> str:
    if not p.tas:
        return "not tried"
    opened = sum(ta.opened for ta in p.tas)
    keys = Counter(ta.published_key for ta in p.tas)
    whose = {True: "OP-TEE's published key", False: "a key of their own", None: "an unknown key"}
    named = ", ".join(f"{count} with {whose[key]}" for key, count in keys.items())
    return f"{opened} of {len(p.tas)} open; signed: {named}"


def _afalg(p: Patient) -> str:
    bad = [f"{step} errno {code}" for step, code, _ in p.steps() if code]
    drivers = len(p.machine.crypto.kernel_drivers or ())
    return f"{fmt.plural(drivers, 'driver')}; AF_ALG " + (", ".join(bad) if bad else "works")


def _openssl(p: Patient) -> str:
    version = p.machine.crypto.libcrypto or p.why_not("crypto.libcrypto")
    providers = [line for line in p.openssl if line in ("default", "legacy", "fips", "base")]
    return version + (f"; providers {', '.join(providers)}" if providers else "")
