# SPDX-License-Identifier: BSD-2-Clause
"""What can be wrong with a board: pure functions over what is known of it. To add one: a function
`(patient) -> problems` and a line in RULES, and in lab/tests/test_doctor.py a board that has it."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator

from teemark.base.finding import SEVERITIES, Finding
from teemark.doctor import kernel
from teemark.doctor.patient import Patient, Ta, caution, error, note

HOT = 80.0
"""Degrees Celsius from which boards slow down, or are about to."""
LOADED = 0.5
"""Load average for each CPU, from which a case seldom has one to itself."""
COARSE_NS = 1000
"""A clock with larger steps makes samples of thousands of calls."""
ROOM = 64 << 20
"""Bytes: a plan's largest file and a TA's memory have room in it."""

TEE_GROUP = "tee"


def tee_device(p: Patient) -> Iterator[Finding]:
    tee = p.machine.tee
    if tee.device is not None:
        return
    if not p.wants_tee and not (p.machine.built_for or "").startswith(("aarch64", "arm")):
        yield note(
            "no-tee",
            "there is no TEE",
            "OP-TEE runs on Arm, and nothing of a TEE is installed",
            p.why_not("tee.device"),
            "its cases are skipped; all others are measured",
        )
        return
    make = error if p.wants_tee else note
    found = p.device("/dev/tee0")
    evidence = p.why_not("tee.device")
    if found is not None:
        mode, owner, group = found
        evidence += f"; /dev/tee0 is {mode}, {owner}:{group}, and you are {p.machine.health.user}"
        yield make(
            "tee-permission",
            "the TEE can't be used by this user",
            "only root may open /dev/tee0"
            if group == "root" or mode[3:5] != "rw"
            else f"{p.machine.health.user} isn't in the group {group}",
            evidence,
            "\n".join(
                (
                    f"groupadd -f {TEE_GROUP}; usermod -aG {TEE_GROUP} {p.machine.health.user}",
                    'echo \'SUBSYSTEM=="tee", KERNEL=="tee[0-9]*", '
                    f'GROUP="{TEE_GROUP}", MODE="0660"\' > /etc/udev/rules.d/60-tee.rules',
                    "udevadm control --reload; udevadm trigger --subsystem-match=tee",
                    f"without udev: chgrp {TEE_GROUP} /dev/tee0; chmod 660 /dev/tee0",
                    "then log in again",
                )
            ),
        )
        return
    fixable = p.option("OPTEE") == "n" or not p.loaded("optee")
    built_in = p.option("OPTEE") == "y"
    if fixable and not built_in:
        yield make(
            "tee-driver",
            "there is no TEE device",
            kernel.cause(p, "OPTEE", "optee"),
            f"{evidence}; {kernel.state(p, 'OPTEE', 'optee')}",
            kernel.remedy(p, "OPTEE", "optee")
            + "\nthen dmesg | grep -i optee says whether the firmware has started OP-TEE",
        )
    else:
        yield make(
            "tee-firmware",
            "there is no TEE device, though the kernel has its driver",
            "the firmware didn't start OP-TEE, or the device tree has no node /firmware/optee, or "
            "the device was removed",
            f"{evidence}; {kernel.state(p, 'OPTEE', 'optee')}",
            "dmesg | grep -i optee; ls /proc/device-tree/firmware/optee\n"
            "rmmod optee; modprobe optee   # probes it again\n"
            "else build TF-A with SPD=opteed BL32=…, and give the device tree the node optee",
        )


def libteec(p: Patient) -> Iterator[Finding]:
    tee = p.machine.tee
    if tee.device is not None and tee.libteec is None:
        yield error(
            "libteec",
            "programs can't speak with the TEE",
            "libteec, OP-TEE's client library, isn't installed",
            p.why_not("tee.libteec"),
            'apt install libteec2; Yocto: IMAGE_INSTALL:append = " optee-client"; '
            "Buildroot: BR2_PACKAGE_OPTEE_CLIENT=y",
        )


def supplicant(p: Patient) -> Iterator[Finding]:
    state = p.machine.tee.supplicant
    if p.machine.tee.device is None or state in ("running", None):
        return
    stopped = state == "stopped"
    yield error(
        "supplicant",
        "the TEE can load no Trusted Application and has no storage",
        "tee-supplicant is stopped by a signal or a debugger"
        if stopped
        else "tee-supplicant isn't running",
        f"tee-supplicant is {state}",
        "killall -CONT tee-supplicant"
        if stopped
        else "systemctl enable --now tee-supplicant, or tee-supplicant -d in an init script, as "
        "root; it wants /dev/teepriv0",
    )


def trusted_applications(p: Patient) -> Iterator[Finding]:
    if p.machine.tee.device is None or p.machine.tee.supplicant not in ("running", None):
        return  # said above, and no TA could be loaded
    for code, all_of_it in _by_code(p.tas).items():
        first = all_of_it[0]
        named = ", ".join(dict.fromkeys(ta.name for ta in all_of_it))
        evidence = f"TA {first.uuid}: {first.reason}"
        match code:
            case "ta-rejected":
                cause = "they are signed with another key than this OP-TEE was built with"
                remedy = (
                    "name in the board file the kit of this board's OP-TEE, and its key:\n"
                    'ta_kit = "…/export-ta_arm64"\nta_key = "….pem"\n'
                    f"then teemark setup {p.name}"
                )
            case "no-ta":
                cause = "their files aren't where tee-supplicant looks for them"
                remedy = f"teemark setup {p.name}"
            case "ta-version":
                cause = "they were built for another OP-TEE, or are older than this teemark"
                remedy = f"teemark setup {p.name}"
            case "no-memory":
                yield note(
                    "ta-memory",
                    f"Trusted Applications that don't fit: {named}",
                    "the TEE's memory for Trusted Applications is too small for them",
                    evidence,
                    "cases that need them are skipped; OP-TEE's build: CFG_TZDRAM_SIZE",
                )
                continue
            case _:
                cause = "the TEE's answer, with who gave it, is the evidence"
                remedy = first.hint or "OP-TEE's console says more"
        yield error(
            "ta-key" if code == "ta-rejected" else "ta",
            f"Trusted Applications can't be used: {named}",
            cause,
            evidence,
            remedy,
        )


def _by_code(tas: tuple[Ta, ...]) -> dict[str, list[Ta]]:
    found: dict[str, list[Ta]] = {}
    for ta in tas:
        if not ta.opened:
            found.setdefault(ta.code or "", []).append(ta)
    return found


def published_key(p: Patient) -> Iterator[Finding]:
    open_to_all = [ta for ta in p.tas if ta.opened and ta.published_key]
    if open_to_all:
        yield note(
            "published-key",
            "anybody can sign Trusted Applications for this board",
            "its OP-TEE was built with the key that OP-TEE publishes, private half and all",
            f"a session was opened with {open_to_all[0].name}, signed with it",
            "fine in a lab. For a product build OP-TEE with TA_SIGN_KEY=… of your own",
        )


_ALGIF = {
    "hash": ("CRYPTO_USER_API_HASH", "algif_hash"),
    "skcipher": ("CRYPTO_USER_API_SKCIPHER", "algif_skcipher"),
    "aead": ("CRYPTO_USER_API_AEAD", "algif_aead"),
    "rng": ("CRYPTO_USER_API_RNG", "algif_rng"),
}
_FORBIDDEN = (
    "a seccomp filter, a security module or crypto.af_alg_restrict forbids it",
    "outside a container; systemd: RestrictAddressFamilies= with AF_ALG; "
    "sysctl crypto.af_alg_restrict=0",
)
_AFALG_ERRORS = {
    errno.EPERM: _FORBIDDEN,
    errno.EACCES: _FORBIDDEN,
    errno.EINVAL: (
        "a length, a key or a flag that this kernel's driver doesn't take",
        "another driver by name: afalg:DRIVER in a plan; see /proc/crypto",
    ),
    errno.EBUSY: (
        "the driver's queue is full, or a key is set while an operation is open",
        "end what else uses the accelerator; try again",
    ),
    errno.EBADMSG: (
        "the driver computes a wrong tag, or took the data for another message's",
        "don't use this driver: another by name, afalg:DRIVER; report it to its authors",
    ),
}
"""Causes and remedies that no fact of the board changes."""


def afalg(p: Patient) -> Iterator[Finding]:
    """Each error of each step has its own cause."""
    for step, code, words in p.steps():
        if not code:
            continue
        kind = step.split()[0]
        option, module = _ALGIF.get(kind, ("CRYPTO_USER_API", "af_alg"))
        evidence = f"{step}: errno {code}, {words}"
        if step == "netlink socket":
            yield _netlink(p, evidence)
            continue
        if code == errno.ETIMEDOUT:
            yield _never_answers(p, kind, evidence, words.rpartition(" from ")[2])
            continue
        known = kernel.state(p, option, module)
        if code == errno.EAFNOSUPPORT:
            option, module = _ALGIF["hash"] if kind == "socket" else (option, module)
            cause = "the kernel has no AF_ALG sockets: " + kernel.cause(
                p, "CRYPTO_USER_API", "af_alg"
            )
            evidence += f"; {kernel.state(p, 'CRYPTO_USER_API', 'af_alg')}"
            remedy = kernel.remedy(p, option, module if p.there("af_alg") is False else "af_alg")
        elif code == errno.ENOENT:
            cause = (
                f"{kernel.cause(p, option, module)}, or the algorithm's own module is missing, or "
                "the kernel restricts AF_ALG"
            )
            evidence += f"; {known}"
            remedy = (
                kernel.remedy(p, option, module)
                + "\nsysctl crypto.af_alg_restrict   # 0 where the kernel has it"
            )
        else:
            cause, remedy = _AFALG_ERRORS.get(
                code,
                (
                    f"the kernel says so at this step; {known}",
                    "dmesg may say more; the cases are skipped with this reason",
                ),
            )
        yield note(f"afalg-{kind}", _lost(kind), cause, evidence, remedy)


def _never_answers(p: Patient, kind: str, evidence: str, driver: str) -> Finding:
    """A run would wait for it as long."""
    listed = [line.split() for line in p.machine.crypto.kernel_drivers or ()]
    module = next((words[-1] for words in listed if words[1:2] == [driver]), None)
    unload = f"rmmod {module}, then" if module not in (None, "kernel") else "meanwhile"
    return error(
        f"afalg-{kind}",
        f"a run that measures the kernel's crypto ({kind}) never ends",
        f"{driver} takes what it is given and never completes it: its hardware may have no clock, "
        "no power, no interrupt or no DMA channel",
        evidence,
        "dmesg | grep -i -e crypto -e dma; reboot: the process that waits for it can't be killed\n"
        f"{unload} measure other drivers by name: afalg:DRIVER; see /proc/crypto",
    )


def _lost(kind: str) -> str:
    if kind == "socket":
        return "the kernel's crypto can't be measured"
    return f"the kernel's crypto can't be measured over AF_ALG: {kind}"


def _netlink(p: Patient, evidence: str) -> Finding:
    return note(
        "crypto-netlink",
        "libkcapi's programs fail with error -93; teemark needs no netlink",
        "libkcapi opens a NETLINK_CRYPTO socket; " + kernel.cause(p, "CRYPTO_USER", "crypto_user"),
        f"{evidence}; {kernel.state(p, 'CRYPTO_USER', 'crypto_user')}",
        kernel.remedy(p, "CRYPTO_USER", "crypto_user"),
    )


def libcrypto(p: Patient) -> Iterator[Finding]:
    crypto = p.machine.crypto
    if crypto.libcrypto is None:
        yield note(
            "libcrypto",
            "OpenSSL can't be measured",
            "libcrypto isn't installed",
            p.why_not("crypto.libcrypto"),
            'apt install libssl3; Yocto: IMAGE_INSTALL:append = " openssl"; '
            "Buildroot: BR2_PACKAGE_OPENSSL=y",
        )
    for line in p.machine.health.openssl_environment or ():
        yield caution(
            "openssl-environment",
            "OpenSSL isn't measured as programs find it",
            "the environment hides instructions of the CPU from it, or changes its settings",
            line,
            f"unset {line.partition('=')[0]}   # in the profile of this user",
        )


def governor(p: Patient) -> Iterator[Finding]:
    cpu = p.machine.cpu
    found = [word.split()[-1] for word in cpu.governor or ()]
    slow = sorted({word for word in found if word != "performance"})
    fixed = cpu.khz_min is not None and cpu.khz_min == cpu.khz_max
    if slow and not fixed:
        now = ", ".join(cpu.khz_now or ())
        most = ", ".join(cpu.khz_max or ())
        yield caution(
            "governor",
            "the CPU's clock changes while it is measured",
            f"the cpufreq governor is {', '.join(slow)}",
            f"now {now} kHz, at most {most} kHz",
            "for g in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do "
            "echo performance > $g; done   # as root, until the next boot",
        )


def heat(p: Patient) -> Iterator[Finding]:
    for line in p.machine.cpu.temperature or ():
        number = line.removesuffix(" °C").split()[-1]
        if number.replace(".", "", 1).isdigit() and float(number) >= HOT:
            yield caution(
                "temperature",
                "the board is hot, and slows down or will",
                "no cooling, or a load",
                line,
                "cool it; end what loads it; measure again with --rounds",
            )
    word = p.machine.health.throttled
    bits = int(word, 16) if word and all(c in "0123456789abcdefx" for c in word.lower()) else 0
    if bits & 0xF:
        why = {1: "too little voltage", 2: "a capped clock", 4: "throttling", 8: "the heat limit"}
        now = ", ".join(text for bit, text in why.items() if bits & bit)
        yield caution(
            "throttled",
            "the firmware slows the CPU down now",
            now,
            f"get_throttled {word}",
            "another power supply and a short cable for too little voltage; cooling for the rest",
        )


def load(p: Patient) -> Iterator[Finding]:
    average, cpus = p.machine.kernel.load_average, p.machine.cpu.online or 1
    if average is not None and average > LOADED * cpus:
        yield caution(
            "load",
            "other programs use the CPUs",
            "processes that run beside the benchmark",
            f"load average {average:.2f} with {cpus} CPU{'s' if cpus > 1 else ''}",
            "top   # end or stop them, and wait a minute",
        )


_SLOW_KERNELS = {"KASAN": "checks every access to memory", "LOCKDEP": "checks every lock"}


def debug_kernel(p: Patient) -> Iterator[Finding]:
    for option, does in _SLOW_KERNELS.items():
        if p.option(option) == "y":
            yield caution(
                "debug-kernel",
                "the kernel is a debug build",
                f"CONFIG_{option}=y {does}",
                f"CONFIG_{option}=y in {p.machine.kernel.options_from}",
                f"# CONFIG_{option} is not set   # in the kernel's configuration",
            )


def tracing(p: Patient) -> Iterator[Finding]:
    health = p.machine.health
    on = health.trace_events not in (None, "0")
    if health.tracer not in (None, "nop") or on:
        yield caution(
            "tracing",
            "the kernel records traces while it is measured",
            "tracing was left on",
            f"current_tracer {health.tracer}, events/enable {health.trace_events}",
            "cd /sys/kernel/tracing && echo nop > current_tracer && echo 0 > events/enable",
        )


def clock(p: Patient) -> Iterator[Finding]:
    found = p.machine.clock
    if found.clocksource == "jiffies" or (found.resolution_ns or 0) > COARSE_NS:
        yield caution(
            "clock",
            "the clock is too coarse for short calls",
            f"the clocksource is {found.clocksource}",
            f"steps of {found.resolution_ns} ns",
            "a driver of the SoC's timer in the kernel; "
            "cat /sys/devices/system/clocksource/clocksource0/available_clocksource",
        )


def room(p: Patient) -> Iterator[Finding]:
    memory, disk = p.machine.memory.available_bytes, p.machine.health.disk_free_bytes
    for name, free, remedy in (
        ("memory", memory, "end other programs; smaller plans"),
        ("disk", disk, "make room, or TEEMARK_DIR=/another/folder in the environment"),
    ):
        if free is not None and free < ROOM:
            yield caution(
                name,
                f"there is little room: {name}",
                "the largest messages and files of a plan don't fit",
                f"{free >> 20} MiB free",
                remedy,
            )


def emulated(p: Patient) -> Iterator[Finding]:
    if p.machine.board.emulated and not p.icount:
        yield note(
            "emulated",
            "its times are those of an emulator",
            "the CPU is software",
            p.machine.board.emulated_told_by or "it says so",
            "teemark run --board qemu-v8-icount counts instructions; a real board has times",
        )


def shared_memory(p: Patient) -> Iterator[Finding]:
    capabilities = p.machine.tee.capabilities
    if capabilities is not None and "registered memory" not in capabilities:
        yield note(
            "shared-memory",
            "buffers are copied on each call",
            "OP-TEE was built without dynamic shared memory",
            f"capabilities: {', '.join(capabilities) or 'none'}",
            "OP-TEE's build: CFG_CORE_DYN_SHM=y",
        )


_SILICON = ("raspberrypi,3", "raspberrypi,4", "brcm,bcm2837", "brcm,bcm2711", "brcm,bcm2835")


def crypto_instructions(p: Patient) -> Iterator[Finding]:
    """Missing in silicon, or only hidden from programs?"""
    machine = p.machine
    features, built = machine.cpu.features, machine.built_for or ""
    models = ", ".join(machine.cpu.models or ())
    if features is None or "aes" in features or not built.startswith(("aarch64", "arm")):
        return
    compatible = machine.board.compatible or ()
    evidence = f"{models}; features: {' '.join(features) or 'none'}"
    remedy = "nothing to do: software, and NEON code, is what this core has"
    if any(one.startswith(_SILICON) for one in compatible):
        cause = "this chip was made without the ARMv8 Crypto Extensions"
    elif any(f"Cortex-A{n} " in f"{models} " for n in (5, 7, 8, 9, 15, 17)):
        cause = "ARMv7 has no such instructions"
    else:
        cause = "the chip was made without them, or the firmware or a 32-bit kernel hides them"
        remedy = "the chip's manual says which; a 64-bit kernel and system show those there are"
    yield note(
        "crypto-instructions",
        "the CPU has no crypto instructions for programs",
        cause,
        evidence,
        remedy,
    )


_ENGINES = {
    "ti,am33xx": (
        ("CRYPTO_DEV_OMAP_SHAM", "omap_sham"),
        ("CRYPTO_DEV_OMAP_AES", "omap_aes_driver"),
    ),
    "virtio": (("CRYPTO_DEV_VIRTIO", "virtio_crypto"),),
}


def accelerator(p: Patient) -> Iterator[Finding]:
    """A chip with an engine whose driver isn't built."""
    compatible = p.machine.board.compatible or ()
    for chip, drivers in _ENGINES.items():
        if chip not in compatible:
            continue
        lacking = [
            (option, module)
            for option, module in drivers
            if p.option(option) == "n" or (p.option(option) == "m" and not p.loaded(module))
        ]
        for option, module in lacking:
            yield note(
                "accelerator",
                f"the chip's crypto engine isn't used: {module}",
                kernel.cause(p, option, module),
                kernel.state(p, option, module),
                kernel.remedy(p, option, module),
            )


def random_source(p: Patient) -> Iterator[Finding]:
    if p.machine.crypto.hwrng is None:
        yield note(
            "hwrng",
            "there is no hardware random source",
            "the chip has none that this kernel knows, or its driver isn't there",
            f"{p.why_not('crypto.hwrng')}; available: {p.machine.health.rng_available}",
            "CONFIG_HW_RANDOM and the chip's driver; OP-TEE's: CONFIG_HW_RANDOM_OPTEE",
        )


def old_program(p: Patient) -> Iterator[Finding]:
    if p.machine.health.afalg_steps is None:
        yield note(
            "old-program",
            "half of this examination is missing",
            "the teebench on the board is older than this teemark",
            f"it is version {p.machine.teebench}, and says nothing of its health",
            f"teemark setup {p.name}",
        )


Rule = Callable[[Patient], Iterator[Finding]]

RULES: tuple[Rule, ...] = (
    old_program,
    tee_device,
    libteec,
    supplicant,
    trusted_applications,
    governor,
    heat,
    load,
    debug_kernel,
    tracing,
    clock,
    room,
    libcrypto,
    afalg,
    accelerator,
    crypto_instructions,
    shared_memory,
    random_source,
    published_key,
    emulated,
)


def examine(patient: Patient) -> tuple[Finding, ...]:
    """All that is wrong, the worst first."""
    found = [problem for rule in RULES for problem in rule(patient)]
    return tuple(sorted(found, key=lambda problem: SEVERITIES.index(problem.severity)))


def meaningful(problems: tuple[Finding, ...]) -> bool:
    """Would a benchmark mean something?"""
    return all(problem.severity == "note" for problem in problems)
