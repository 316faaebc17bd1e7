# SPDX-License-Identifier: BSD-2-Clause
"""The rules find what is wrong with a board, by its facts. To add a problem: its words in PROBLEMS,
its condition in a function of SYMPTOMS, and a board that has it in test_doctor.py."""

import errno
from collections.abc import Iterator
from dataclasses import replace

from teemark.base.finding import SEVERITIES, Finding
from teemark.doctor.facts import ExaminedBoard
from teemark.wording import fmt

HOT = 80.0  # Degrees Celsius from which boards slow down, or soon will
LOADED = 0.5  # Load average for each CPU from which a case seldom has a CPU to itself
COARSE_NS = 1000  # Nanoseconds; with a clock of larger steps a sample needs thousands of calls
ROOM = 64 << 20  # Bytes that must be free: a plan's largest file and a TA's memory fit into them

PROBLEMS = """
program-absent, error: teebench isn't on the board
nothing is installed in {1}
teemark setup {0}

program-mode, error: teebench can't be run
its file may not be read or executed by this user
teemark setup {0}, or chmod 755

noexec, error: teebench can't be run
{2}, where {1} is, is mounted noexec
mount -o remount,exec {2}
or in the board file another folder: directory = "/usr/local/lib/teemark"

old-program, note: half of this examination is missing
the teebench on the board is older than this teemark
teemark setup {0}

no-tee, note: there is no TEE
OP-TEE runs on Arm, and nothing of a TEE is installed
its cases are skipped; all others are measured

tee-permission, error: the TEE can't be used by this user
{0}
groupadd -f tee; usermod -aG tee {1}
echo 'SUBSYSTEM=="tee", KERNEL=="tee[0-9]*", GROUP="tee", MODE="0660"' \
> /etc/udev/rules.d/60-tee.rules
udevadm control --reload; udevadm trigger --subsystem-match=tee
without udev: chgrp tee /dev/tee0; chmod 660 /dev/tee0
then log in again

tee-driver, error: there is no TEE device
{0}
{1}
then dmesg | grep -i optee says whether the firmware has started OP-TEE

tee-firmware, error: there is no TEE device, though the kernel has its driver
the firmware didn't start OP-TEE, or the device tree has no node /firmware/optee, or the device \
was removed
dmesg | grep -i optee; ls /proc/device-tree/firmware/optee
rmmod optee; modprobe optee   # probes it again
else build TF-A with SPD=opteed BL32=…, and give the device tree the node optee

libteec, error: programs can't speak with the TEE
libteec, OP-TEE's client library, isn't installed
apt install libteec2; Yocto: IMAGE_INSTALL:append = " optee-client"; \
Buildroot: BR2_PACKAGE_OPTEE_CLIENT=y

supplicant, error: the TEE can load no Trusted Application and has no storage
{0}
{1}

ta, error: Trusted Applications can't be used: {0}
{1}
{2}

ta-key, error: Trusted Applications can't be used: {0}
they are signed with another key than this OP-TEE was built with
name in the board file the kit of this board's OP-TEE, and its key:
ta_kit = "…/export-ta_arm64"
ta_key = "….pem"
then teemark setup {1}

ta-memory, note: Trusted Applications that don't fit: {0}
the TEE's memory for Trusted Applications is too small for them
cases that need them are skipped; OP-TEE's build: CFG_TZDRAM_SIZE

governor, caution: the CPU's clock changes while it is measured
the cpufreq governor is {0}
for g in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do echo performance > $g; done   \
# as root, until the next boot

temperature, caution: the board is hot, and slows down or will
no cooling, or a load
cool it; end what loads it; measure again with --rounds

throttled, caution: the firmware slows the CPU down now
{0}
another power supply and a short cable for too little voltage; cooling for the rest

load, caution: other programs use the CPUs
processes that run beside the benchmark
top   # end or stop them, and wait a minute

debug-kernel, caution: the kernel is a debug build
CONFIG_{0}=y {1}
# CONFIG_{0} is not set   # in the kernel's configuration

tracing, caution: the kernel records traces while it is measured
tracing was left on
cd /sys/kernel/tracing && echo nop > current_tracer && echo 0 > events/enable

clock, caution: the clock is too coarse for short calls
the clocksource is {0}
a driver of the SoC's timer in the kernel; \
cat /sys/devices/system/clocksource/clocksource0/available_clocksource

memory, caution: there is little room: memory
the largest messages and files of a plan don't fit
end other programs; smaller plans

disk, caution: there is little room: disk
the largest messages and files of a plan don't fit
make room, or TEEMARK_DIR=/another/folder in the environment

libcrypto, note: OpenSSL can't be measured
libcrypto isn't installed
apt install libssl3; Yocto: IMAGE_INSTALL:append = " openssl"; Buildroot: BR2_PACKAGE_OPENSSL=y

openssl-environment, caution: OpenSSL isn't measured as programs find it
the environment hides instructions of the CPU from it, or changes its settings
unset {0}   # in the profile of this user

crypto-netlink, note: libkcapi's programs fail with error -93; teemark needs no netlink
libkcapi opens a NETLINK_CRYPTO socket; {0}
{1}

afalg-{0}, note: the kernel's crypto can't be measured{1}
{2}
{3}

afalg-{0} never answers, error: a run that measures the kernel's crypto ({0}) never ends
{1} takes what it is given and never completes it: its hardware may have no clock, no power, no \
interrupt or no DMA channel
dmesg | grep -i -e crypto -e dma; reboot: the process that waits for it can't be killed
{2} measure other drivers by name: afalg:DRIVER; see /proc/crypto

accelerator, note: the chip's crypto engine isn't used: {0}
{1}
{2}

crypto-instructions, note: the CPU has no crypto instructions for programs
{0}
{1}

shared-memory, note: shared memory is a fixed pool{0}
this OP-TEE has no dynamic shared memory: in each call a buffer that isn't in the pool is copied \
into it
hand large data over in pieces; OP-TEE's build: register_ddr() in its platform's code, beside \
CFG_CORE_DYN_SHM=y; or a larger CFG_SHMEM_SIZE, which the kernel's device tree reserves

hwrng, note: there is no hardware random source
the chip has none that this kernel knows, or its driver isn't there
CONFIG_HW_RANDOM and the chip's driver; OP-TEE's: CONFIG_HW_RANDOM_OPTEE

published-key, note: anybody can sign Trusted Applications for this board
its OP-TEE was built with the key that OP-TEE publishes, private half and all
fine in a lab. For a product build OP-TEE with TA_SIGN_KEY=… of your own

emulated, note: its times are those of an emulator
the CPU is software
teemark run --board qemu-v8-icount counts instructions; a real board has times
"""
"""Each problem's first line has key, severity and claim, the second the cause, the rest the remedy.
A symptom fills in {0}, {1}, …. If two problems have one key, different words follow it."""

Symptoms = Iterator[tuple[str, ...]]
"""Each symptom is a problem's name in PROBLEMS, the evidence, and the texts for {0}, {1}, …."""


def _tee(p: ExaminedBoard) -> Symptoms:
    tee, evidence = p.machine.tee, p.why_not("tee.device")
    if tee.device is not None:
        if tee.libteec is None:
            yield "libteec", p.why_not("tee.libteec")
        if tee.supplicant not in ("running", None):
            why = "tee-supplicant isn't running"
            remedy = "systemctl enable --now tee-supplicant, or tee-supplicant -d in an init "
            remedy += "script, as root; it wants /dev/teepriv0"
            if tee.supplicant == "stopped":
                why = "tee-supplicant is stopped by a signal or a debugger"
                remedy = "killall -CONT tee-supplicant"
            yield "supplicant", f"tee-supplicant is {tee.supplicant}", why, remedy
        else:
            yield from _trusted_applications(p)
        return
    if not p.wants_tee and not (p.machine.built_for or "").startswith(("aarch64", "arm")):
        yield "no-tee", evidence
        return
    device, user = p.device("/dev/tee0"), str(p.machine.health.user)
    if device is not None:
        mode, owner, group = device
        evidence += f"; /dev/tee0 is {mode}, {owner}:{group}, and you are {user}"
        root = group == "root" or mode[3:5] != "rw"
        why = "only root may open /dev/tee0" if root else f"{user} isn't in the group {group}"
        yield "tee-permission", evidence, why, user
        return
    state, cause, remedy = p.lacking("OPTEE", "optee")
    driver = p.option("OPTEE") != "y" and (p.option("OPTEE") == "n" or not p.loaded("optee"))
    key = "tee-driver" if driver else "tee-firmware"
    yield key, f"{evidence}; {state}", cause, remedy


def _trusted_applications(p: ExaminedBoard) -> Symptoms:
    for code in dict.fromkeys(ta.code for ta in p.tas if not ta.opened):
        these = [ta for ta in p.tas if not ta.opened and ta.code == code]
        named, first = ", ".join(dict.fromkeys(ta.name for ta in these)), these[0]
        evidence = f"TA {first.uuid}: {first.reason}"
        setup, user = f"teemark setup {p.name}", str(p.machine.health.user)
        if user not in ("root", "None"):
            setup += f", as root if {user} may not write the folder of TAs"
        whys = {
            "no-ta": "their files aren't where tee-supplicant looks for them",
            "ta-version": "they were built for another OP-TEE, or are older than this teemark",
        }
        if code == "ta-rejected":
            yield "ta-key", evidence, named, p.name
        elif code == "no-memory":
            yield "ta-memory", evidence, named
        elif code in whys:
            yield "ta", evidence, named, whys[code], setup
        else:
            why = "the TEE's answer, with who gave it, is the evidence"
            yield "ta", evidence, named, why, first.hint or "OP-TEE's console says more"
    for ta in [ta for ta in p.tas if ta.opened and ta.published_key][:1]:
        yield "published-key", f"a session was opened with {ta.name}, signed with it"


_SLOW_KERNELS = {"KASAN": "checks every access to memory", "LOCKDEP": "checks every lock"}
_THROTTLED = {1: "too little voltage", 2: "a capped clock", 4: "throttling", 8: "the heat limit"}


def _figures(p: ExaminedBoard) -> Symptoms:
    cpu, health, clock = p.machine.cpu, p.machine.health, p.machine.clock
    slow = {word.split()[-1] for word in cpu.governor or ()} - {"performance"}
    if slow and (cpu.khz_min is None or cpu.khz_min != cpu.khz_max):
        now, most = (", ".join(khz or ()) for khz in (cpu.khz_now, cpu.khz_max))
        yield "governor", f"now {now} kHz, at most {most} kHz", ", ".join(sorted(slow))
    for line in cpu.temperature or ():
        number = line.removesuffix(" °C").split()[-1]
        if number.replace(".", "", 1).isdigit() and float(number) >= HOT:
            yield "temperature", line
    word = health.throttled or ""
    bits = int(word, 16) if word and all(c in "0123456789abcdefx" for c in word.lower()) else 0
    if bits & 0xF:
        now = ", ".join(text for bit, text in _THROTTLED.items() if bits & bit)
        yield "throttled", f"get_throttled {word}", now
    average, cpus = p.machine.kernel.load_average or 0.0, cpu.online or 1
    if average > LOADED * cpus:
        yield "load", f"load average {average:.2f} with {fmt.plural(cpus, 'CPU')}"
    for option, does in _SLOW_KERNELS.items():
        if p.option(option) == "y":
            yield "debug-kernel", f"CONFIG_{option}=y", option, does
    if health.tracer not in (None, "nop") or health.trace_events not in (None, "0"):
        yield "tracing", f"current_tracer {health.tracer}, events/enable {health.trace_events}"
    if clock.clocksource == "jiffies" or (clock.resolution_ns or 0) > COARSE_NS:
        yield "clock", f"steps of {clock.resolution_ns} ns", str(clock.clocksource)
    free = {"memory": p.machine.memory.available_bytes, "disk": health.disk_free_bytes}
    for name, left in free.items():
        if left is not None and left < ROOM:
            yield name, f"{left >> 20} MiB free"
    for line in health.openssl_environment or ():
        yield "openssl-environment", line, line.partition("=")[0]


_ENGINES = {
    "ti,am33xx": (
        ("CRYPTO_DEV_OMAP_SHAM", "omap_sham"),
        ("CRYPTO_DEV_OMAP_AES", "omap_aes_driver"),
    ),
    "virtio": (("CRYPTO_DEV_VIRTIO", "virtio_crypto"),),
}
_SILICON = ("raspberrypi,3", "raspberrypi,4", "brcm,bcm2837", "brcm,bcm2711", "brcm,bcm2835")


def _lacks(p: ExaminedBoard) -> Symptoms:
    m, compatible = p.machine, p.machine.board.compatible or ()
    if m.health.afalg_steps is None:
        yield "old-program", f"it is version {m.teebench}, and says nothing of its health", p.name
    if m.crypto.libcrypto is None:
        yield "libcrypto", p.why_not("crypto.libcrypto")
    for step, code, words in p.steps():
        if step == "netlink socket" and code:
            state, *cause = p.lacking("CRYPTO_USER", "crypto_user")
            yield "crypto-netlink", f"{step}: errno {code}, {words}; {state}", *cause
    for option, module in (engine for chip in compatible for engine in _ENGINES.get(chip, ())):
        if p.option(option) == "n" or (p.option(option) == "m" and not p.loaded(module)):
            state, *cause = p.lacking(option, module)
            yield "accelerator", state, module, *cause
    memory = m.tee.capabilities
    if memory is not None and "registered memory" not in memory:
        pool, evidence = m.tee.pool_bytes, f"capabilities: {', '.join(memory) or 'none'}"
        limit = f": {fmt.count(pool)} bytes for all buffers" if pool is not None else ""
        yield "shared-memory", evidence, limit
    if m.crypto.hwrng is None:
        yield "hwrng", f"{p.why_not('crypto.hwrng')}; available: {m.health.rng_available}"
    if m.board.emulated and not p.icount:
        yield "emulated", m.board.emulated_told_by or "it says so"


def _instructions(p: ExaminedBoard) -> Symptoms:
    m = p.machine
    arm = (m.built_for or "").startswith(("aarch64", "arm"))
    if arm and m.cpu.features is not None and "aes" not in m.cpu.features:
        models = ", ".join(m.cpu.models or ())
        why = "the chip was made without them, or the firmware or a 32-bit kernel hides them"
        remedy = "nothing to do: software, and NEON code, is what this core has"
        if any(chip.startswith(_SILICON) for chip in m.board.compatible or ()):
            why = "this chip was made without the ARMv8 Crypto Extensions"
        elif any(f"Cortex-A{n} " in f"{models} " for n in (5, 7, 8, 9, 15, 17)):
            why = "ARMv7 has no such instructions"
        else:
            remedy = "the chip's manual says which; a 64-bit kernel and system show those there are"
        evidence = f"{models}; features: {' '.join(m.cpu.features) or 'none'}"
        yield "crypto-instructions", evidence, why, remedy


# -- the kernel's crypto: each error of each step has its own cause ------------------------------

_ALGIF = {
    "hash": ("CRYPTO_USER_API_HASH", "algif_hash"),
    "skcipher": ("CRYPTO_USER_API_SKCIPHER", "algif_skcipher"),
    "aead": ("CRYPTO_USER_API_AEAD", "algif_aead"),
    "rng": ("CRYPTO_USER_API_RNG", "algif_rng"),
}
_SOCKETS = ("CRYPTO_USER_API", "af_alg")
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
"""Causes and remedies that are the same on every board."""


def _afalg(p: ExaminedBoard) -> Symptoms:
    for step, code, words in p.steps():
        kind = step.split()[0]
        if not code or kind == "netlink":
            continue
        evidence = f"{step}: errno {code}, {words}"
        state, cause, remedy = p.lacking(*_ALGIF.get(kind, _SOCKETS))
        match code:
            case errno.ETIMEDOUT:
                driver = words.rpartition(" from ")[2]
                listed = [line.split() for line in p.machine.crypto.kernel_drivers or ()]
                module = next((words[-1] for words in listed if words[1:2] == [driver]), None)
                unload = f"rmmod {module}, then" if module not in (None, "kernel") else "meanwhile"
                yield "afalg-{0} never answers", evidence, kind, driver, unload
                continue
            case errno.EAFNOSUPPORT:
                state, cause, load = p.lacking(*_SOCKETS)
                cause = f"the kernel has no AF_ALG sockets: {cause}"
                if p.there("af_alg") is not False:
                    remedy = load
                elif kind == "socket":
                    *_, remedy = p.lacking(*_ALGIF["hash"])
                evidence += f"; {state}"
            case errno.ENOENT:
                cause += ", or the algorithm's own module is missing, or the kernel restricts "
                cause += "AF_ALG"
                evidence += f"; {state}"
                remedy += "\nsysctl crypto.af_alg_restrict   # 0 where the kernel has it"
            case _:
                reason = f"the kernel says so at this step; {state}"
                hint = "dmesg may say more; the cases are skipped with this reason"
                cause, remedy = _AFALG_ERRORS.get(code, (reason, hint))
        over = f" over AF_ALG: {kind}" if kind != "socket" else ""
        yield "afalg-{0}", evidence, kind, over, cause, remedy


SYMPTOMS = (_afalg, _tee, _figures, _lacks, _instructions)


def problem(name: str, evidence: str, *fill: str) -> Finding:
    """Returns the finding of the problem `name` in PROBLEMS; `fill` replaces {0}, {1}, …."""
    words = {text.partition(", ")[0]: text for text in PROBLEMS.strip().split("\n\n")}
    head, why, remedy = (text.format(*fill) for text in words[name].split("\n", 2))
    key, _, claim = head.partition(": ")
    key, _, level = key.partition(", ")
    return Finding(
        key=key.partition(" ")[0],
        topic="board",
        severity=next(severity for severity in SEVERITIES if severity == level),
        claim=claim,
        why=why,
        evidence=evidence,
        remedy=remedy,
    )


def examine(p: ExaminedBoard) -> tuple[Finding, ...]:
    """Returns all problems of a board, the most severe first."""
    problems = [problem(*symptom) for rule in SYMPTOMS for symptom in rule(p)]
    if not p.wants_tee:  # no TEE's programs: the board is measured without
        tee = ("tee-permission", "tee-driver", "tee-firmware")
        problems = [
            replace(finding, severity="note") if finding.key in tee else finding
            for finding in problems
        ]
    return tuple(sorted(problems, key=lambda finding: SEVERITIES.index(finding.severity)))


def meaningful(problems: tuple[Finding, ...]) -> bool:
    """Returns true if a benchmark would mean something: every problem is just a note."""
    return all(finding.severity == "note" for finding in problems)
