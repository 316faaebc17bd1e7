# SPDX-License-Identifier: BSD-2-Clause
"""The doctor on made-up boards: what it finds, with which remedy, and when a board is well."""

import getpass
import json
import os
import re
import subprocess
from typing import Any

import msgspec
import pytest

from teemark.base.errors import BoardError
from teemark.base.finding import Finding
from teemark.boards.tas import Ta
from teemark.cli import doctor
from teemark.doctor.facts import ExaminedBoard
from teemark.doctor.inventory import inventory
from teemark.doctor.look import HEALTH, with_health
from teemark.doctor.rules import examine, meaningful
from teemark.run.records import Machine

KERNEL_KEYS = [
    "rsa by rsa-generic",
    "an AF_ALG socket: 2 No such file or directory",
    "keyctl (126: it takes keys of a keyring): 126 Required key not available",
]
OK_STEPS = [
    "socket: ok",
    "hash bind: ok",
    "hash accept: ok",
    "hash send: ok",
    "hash receive: ok",
    "skcipher bind: ok",
    "aead bind: ok",
    "rng bind: ok",
]
TEE = {
    "libteec": "libteec.so.2",
    "supplicant": "running",
    "device": "/dev/tee0",
    "implementation": "OP-TEE",
    "capabilities": ["GlobalPlatform", "registered memory"],
    "revision": "4.5",
}
NO_TEE = {"libteec": None, "supplicant": "not running", "device": None}


def machine(**changes: dict[str, Any]) -> Machine:
    """A healthy 64-bit Arm board with a TEE, but for what is changed, group by group."""
    facts: dict[str, dict[str, Any]] = {
        "board": {"model": "Some Board", "compatible": ["some,board"], "emulated": False},
        "cpu": {
            "models": ["ARM Cortex-A72 r0p3"],
            "features": ["neon", "aes", "pmull", "sha1", "sha2"],
            "online": 4,
            "governor": ["performance"],
            "khz_now": ["1500000"],
            "khz_min": ["600000"],
            "khz_max": ["1500000"],
            "temperature": ["cpu-thermal 45.0 °C"],
        },
        "memory": {"total_bytes": 4 << 30, "available_bytes": 3 << 30},
        "clock": {"clocksource": "arch_sys_counter", "resolution_ns": 19, "reading_ns": 30},
        "kernel": {
            "release": "6.12",
            "machine": "aarch64",
            "load_average": 0.1,
            "options": ["CONFIG_OPTEE=m", "CONFIG_CRYPTO_USER=m", "CONFIG_CRYPTO_USER_API_HASH=m"],
        },
        "tee": TEE,
        "crypto": {
            "libcrypto": "OpenSSL 3.5",
            "afalg": True,
            "kernel_drivers": ["sha256 sha256-ce priority 200 shash module sha2_ce"],
            "hwrng": "iproc-rng200",
            "netlink_errno": 0,
        },
        "health": {
            "user": "root",
            "afalg_steps": OK_STEPS,
            "kernel_asymmetric": KERNEL_KEYS,
            "devices": ["/dev/tee0 rw-rw---- root tee"],
            "modules": ["optee", "tee", "af_alg", "algif_hash", "crypto_user"],
            "modules_there": ["optee", "tee", "af_alg", "algif_hash", "crypto_user"],
            "tracer": "nop",
            "trace_events": "0",
            "disk_free_bytes": 1 << 30,
            "openssl_environment": [],
            "rng_available": "iproc-rng200",
        },
    }
    reasons = changes.pop("reasons", {})
    built_for = changes.pop("built_for", "aarch64")
    for group, new in changes.items():
        facts[group] = facts[group] | new
    record = {"type": "machine", "schema": 2, "teebench": "1", "built_for": built_for}
    return msgspec.convert(record | facts | {"reasons": reasons}, Machine)


def board_facts(tas: tuple[Ta, ...] = (), **changes: Any) -> ExaminedBoard:
    return ExaminedBoard("desk", machine(**changes), tas)


def found(sick: ExaminedBoard) -> dict[str, Finding]:
    return {problem.key: problem for problem in examine(sick)}


def only(sick: ExaminedBoard, *, well: bool) -> Finding:
    problems = examine(sick)
    assert meaningful(problems) is well
    assert len(problems) == 1, problems
    (problem,) = problems
    assert problem.why and problem.evidence and problem.remedy  # noqa: PT018
    return problem


def test_a_healthy_board_gets_a_clean_bill() -> None:
    assert examine(board_facts()) == ()
    lines = dict(inventory(board_facts(), everything=True))
    assert lines["TEE"].startswith("OP-TEE 4.5, /dev/tee0, rw-rw---- root tee, dynamic")
    assert lines["kernel crypto"] == "1 driver; AF_ALG works"


def test_each_ta_of_a_name_has_its_own_state() -> None:
    """Those of several sizes are made from one folder, and have its name."""
    small = Ta("6c1f-32", "size", opened=True)
    large = Ta("6c1f-64", "size", opened=False, code="no-memory", reason="out of memory")
    lines = inventory(board_facts((small, large)), everything=True)
    assert ("TA size", "6c1f-32: opened") in lines
    assert ("TA size", "6c1f-64: out of memory") in lines


# -- boards --------------------------------------------------------------------------------


def test_a_raspberry_pi_3() -> None:
    """Lacks the extensions in silicon; on demand it changes its clock, and it gets hot."""
    pi = board_facts(
        board={
            "model": "Raspberry Pi 3 Model B",
            "compatible": ["raspberrypi,3-model-b", "brcm,bcm2837"],
        },
        cpu={
            "models": ["ARM Cortex-A53 r0p4"],
            "features": ["neon"],
            "governor": ["ondemand"],
            "khz_now": ["600000"],
            "temperature": ["cpu-thermal 82.3 °C"],
        },
        health={"throttled": "0x50005"},
    )
    problems = found(pi)
    assert set(problems) == {"crypto-instructions", "governor", "temperature", "throttled"}
    assert "without the ARMv8 Crypto Extensions" in problems["crypto-instructions"].why
    assert problems["throttled"].why == "too little voltage, throttling"
    assert "echo performance" in problems["governor"].remedy
    assert not meaningful(examine(pi))


def test_a_raspberry_pi_5_has_them() -> None:
    pi = board_facts(
        board={"compatible": ["raspberrypi,5-model-b", "brcm,bcm2712"]},
        cpu={"models": ["ARM Cortex-A76 r4p1"]},
        health={"throttled": "0x0"},
    )
    assert examine(pi) == ()


def test_hidden_or_absent() -> None:
    """Another core of that kind may have them: a 32-bit kernel or the firmware hides them."""
    sick = board_facts(cpu={"features": ["neon"]})
    assert "hides them" in only(sick, well=True).why


def test_a_beaglebone_black() -> None:
    bone = board_facts(
        built_for="arm",
        board={
            "model": "TI AM335x BeagleBone Black",
            "compatible": ["ti,am335x-bone-black", "ti,am33xx"],
        },
        cpu={
            "models": ["ARM Cortex-A8 r3p2"],
            "features": ["neon"],
            "online": 1,
            "khz_now": ["1000000"],
            "khz_min": ["1000000"],
            "khz_max": ["1000000"],
        },
        tee=NO_TEE,
        kernel={
            "options": [
                "CONFIG_OPTEE=n",
                "CONFIG_CRYPTO_USER=n",
                "CONFIG_CRYPTO_DEV_OMAP_SHAM=m",
                "CONFIG_CRYPTO_DEV_OMAP_AES=n",
            ]
        },
        crypto={"netlink_errno": 93},
        health={
            "devices": [],
            "modules": ["af_alg", "algif_hash"],
            "modules_there": ["af_alg", "algif_hash", "omap_sham"],
        },
        reasons={"tee.device": "no TEE device: there is no /dev/tee0"},
    )
    problems = {(one.key, one.claim): one for one in examine(bone)}
    names = [one.key for one in examine(bone)]
    assert sorted(names) == [
        "accelerator",
        "accelerator",
        "crypto-instructions",
        "crypto-netlink",
        "tee-driver",
    ]
    assert meaningful(examine(bone))  # software is measured as well as it is
    netlink = next(one for one in problems.values() if one.key == "crypto-netlink")
    assert "errno 93" in netlink.evidence
    assert "CONFIG_CRYPTO_USER=m" in netlink.remedy
    assert "KERNEL_MODULE_AUTOLOAD" in netlink.remedy
    assert "BR2_LINUX_KERNEL_CONFIG_FRAGMENT_FILES" in netlink.remedy
    remedies = [one.remedy for one in problems.values() if one.key == "accelerator"]
    assert any(remedy.startswith("modprobe omap_sham") for remedy in remedies)
    assert any("CONFIG_CRYPTO_DEV_OMAP_AES=m" in remedy for remedy in remedies)


def test_a_pc_with_sha_ni() -> None:
    pc = board_facts(
        built_for="x86_64",
        board={"model": None, "compatible": None, "emulated": None},
        cpu={"models": ["AMD Ryzen 9"], "features": ["aes", "avx2", "sha_ni"]},
        tee=NO_TEE,
        kernel={"options": None},
        health={"devices": [], "modules_there": None},
    )
    problem = only(pc, well=True)
    assert problem.key == "no-tee"


# -- the TEE -------------------------------------------------------------------------------


def test_no_permission() -> None:
    sick = board_facts(
        tee={"device": None},
        health={"user": "ann", "devices": ["/dev/tee0 rw------- root root"]},
        reasons={"tee.device": "cannot open /dev/tee0: Permission denied"},
    )
    problem = only(sick, well=False)
    assert problem.key == "tee-permission"
    assert "usermod -aG tee ann" in problem.remedy
    assert 'SUBSYSTEM=="tee"' in problem.remedy


def test_not_in_the_group() -> None:
    sick = board_facts(tee={"device": None}, health={"user": "ann"})
    assert "ann isn't in the group tee" in only(sick, well=False).why


def test_the_device_is_gone() -> None:
    sick = board_facts(tee={"device": None}, health={"devices": []})
    problem = only(sick, well=False)
    assert problem.key == "tee-firmware"
    assert "rmmod optee; modprobe optee" in problem.remedy


def test_the_driver_is_not_loaded() -> None:
    sick = board_facts(tee={"device": None}, health={"devices": [], "modules": []})
    problem = only(sick, well=False)
    assert problem.key == "tee-driver"
    assert problem.remedy.startswith("modprobe optee")


@pytest.mark.parametrize(("state", "remedy"), [("stopped", "-CONT"), ("not running", "systemctl")])
def test_the_supplicant(state: str, remedy: str) -> None:
    problem = only(board_facts(tee={"supplicant": state}), well=False)
    assert problem.key == "supplicant"
    assert remedy in problem.remedy


def test_a_ta_that_no_supplicant_loads_is_mended_as_the_program_says() -> None:
    """The state of tee-supplicant isn't known everywhere: without /proc, the opening tells."""
    hint = "start it (tee-supplicant -d, or systemctl start tee-supplicant)"
    ta = Ta("5e5b", "digest", opened=False, code="no-supplicant", reason="no answer", hint=hint)
    problem = only(board_facts((ta,), tee={"supplicant": None}), well=False)
    assert (problem.key, problem.remedy) == ("ta", hint)


def test_libteec() -> None:
    assert only(board_facts(tee={"libteec": None}), well=False).key == "libteec"


@pytest.mark.parametrize(
    ("code", "reason", "name", "remedy"),
    [
        ("ta-rejected", "TEEC_ERROR_SECURITY (0xffff000f) by TEE", "ta-key", "ta_kit"),
        ("no-ta", "TEEC_ERROR_ITEM_NOT_FOUND (0xffff0008) by TEE", "ta", "teemark setup desk"),
        ("ta-version", "another version", "ta", "teemark setup desk"),
        ("no-supplicant", "no answer within 30 s when loading the digest TA", "ta", "console"),
        (None, "TEEC_ERROR_GENERIC (0xffff0000) by communication", "ta", "console"),
    ],
)
def test_trusted_applications(code: str | None, reason: str, name: str, remedy: str) -> None:
    ta = Ta("5e5b", "digest", opened=False, code=code, reason=reason)
    problem = only(board_facts((ta,)), well=False)
    assert problem.key == name
    assert reason in problem.evidence
    assert remedy in problem.remedy


def test_a_ta_too_large_is_no_illness() -> None:
    ta = Ta("6c1f", "size", opened=False, code="no-memory", reason="TEEC_ERROR_OUT_OF_MEMORY")
    assert only(board_facts((ta,)), well=True).key == "ta-memory"


def test_anybody_can_sign() -> None:
    ta = Ta("5e5b", "digest", opened=True, published_key=True)
    assert only(board_facts((ta,)), well=True).key == "published-key"


def test_without_a_supplicant_tas_are_not_blamed() -> None:
    ta = Ta("5e5b", "digest", opened=False, code="no-ta", reason="x")
    assert (
        only(board_facts((ta,), tee={"supplicant": "not running"}), well=False).key == "supplicant"
    )


# -- the kernel's crypto --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "code", "cause", "remedy"),
    [
        ("socket", "97 Address family not supported", "no AF_ALG sockets", "modprobe af_alg"),
        ("socket", "1 Operation not permitted", "seccomp", "RestrictAddressFamilies"),
        ("hash bind", "2 No such file or directory", "restricts AF_ALG", "modprobe algif_hash"),
        ("aead bind", "2 No such file or directory", "algif_aead", "CONFIG_CRYPTO_USER_API_AEAD=m"),
        ("hash accept", "22 Invalid argument", "doesn't take", "afalg:DRIVER"),
        ("hash send", "16 Device or resource busy", "queue is full", "try again"),
        ("hash receive", "74 Bad message", "wrong tag", "don't use this driver"),
    ],
)
def test_each_error_of_each_step(step: str, code: str, cause: str, remedy: str) -> None:
    problem = only(board_facts(health={"afalg_steps": [f"{step}: {code}"]}), well=True)
    assert problem.evidence.startswith(f"{step}: errno {code.split(maxsplit=1)[0]}")
    assert cause in problem.why
    assert remedy in problem.remedy


def test_a_driver_that_never_answers_is_named() -> None:
    steps = ["socket: ok", "hash send: 110 no answer in 10 s from omap-sha256"]
    drivers = ["sha256 omap-sha256 priority 400 ahash module omap_sham"]
    sick = board_facts(health={"afalg_steps": steps}, crypto={"kernel_drivers": drivers})
    problem = only(sick, well=False)
    assert problem.why.startswith("omap-sha256 takes what it is given and never completes it")
    assert "rmmod omap_sham" in problem.remedy


def test_what_is_told_fits_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """But what is to be copied. Elsewhere each row is one line, for grep."""
    sick = board_facts(health={"afalg_steps": ["socket: 97 Address family not supported"]})
    doctor._tell("desk", sick, examine(sick), everything=True)
    piped = capsys.readouterr().out.splitlines()
    assert not [line for line in piped if line.startswith(" " * 11)]
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    doctor._tell("desk", sick, examine(sick), everything=True)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > len(piped)
    first = next(number for number, line in enumerate(lines) if line.startswith("    do:"))
    assert all(len(line) <= 80 for line in lines[:first]), lines
    assert "modprobe af_alg" in lines[first]
    assert any(line.startswith("    why:   the kernel has no AF_ALG") for line in lines)


def test_netlink_apart() -> None:
    sick = board_facts(crypto={"netlink_errno": 93}, health={"modules": ["optee"]})
    problem = only(sick, well=True)
    assert "-93" in problem.claim
    assert problem.remedy.startswith("modprobe crypto_user")


# -- what spoils figures --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"kernel": {"load_average": 3.0}}, "load"),
        ({"kernel": {"options": ["CONFIG_KASAN=y"]}}, "debug-kernel"),
        ({"health": {"tracer": "function"}}, "tracing"),
        ({"health": {"trace_events": "1"}}, "tracing"),
        ({"clock": {"clocksource": "jiffies", "resolution_ns": 4_000_000}}, "clock"),
        ({"health": {"disk_free_bytes": 1 << 20}}, "disk"),
        ({"memory": {"available_bytes": 1 << 20}}, "memory"),
        ({"health": {"openssl_environment": ["OPENSSL_armcap=0"]}}, "openssl-environment"),
        ({"cpu": {"governor": ["cpu0 ondemand", "cpu1 performance"]}}, "governor"),
    ],
)
def test_what_spoils_figures(changes: dict[str, Any], name: str) -> None:
    assert only(board_facts(**changes), well=False).key == name


def test_a_fixed_pool_of_shared_memory_is_told_with_its_size_to_the_byte() -> None:
    pool = {"capabilities": ["GlobalPlatform"], "pool_bytes": 4_190_208}
    told = only(board_facts(tee=pool), well=True)
    assert told.key == "shared-memory"
    digits = "".join(filter(str.isdigit, told.claim))
    assert digits == "4190208", told.claim
    unknown = only(board_facts(tee=pool | {"pool_bytes": None}), well=True)
    assert unknown.claim == "shared memory is a fixed pool"


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"tee": {"capabilities": ["GlobalPlatform"]}}, "shared-memory"),
        ({"crypto": {"hwrng": None}}, "hwrng"),
        ({"crypto": {"libcrypto": None}}, "libcrypto"),
        ({"board": {"emulated": True}}, "emulated"),
    ],
)
def test_what_is_worth_knowing(changes: dict[str, Any], name: str) -> None:
    assert only(board_facts(**changes), well=True).key == name


def test_a_clock_that_cannot_change_needs_no_governor() -> None:
    assert examine(board_facts(cpu={"governor": ["powersave"], "khz_min": ["1500000"]})) == ()


def test_problems_are_data() -> None:
    sick = board_facts(kernel={"load_average": 9.0})
    assert json.loads(msgspec.json.encode(examine(sick)))[0]["key"] == "load"


def test_facts_that_are_all_unknown_are_survived() -> None:
    record = {"type": "machine", "schema": 2, "teebench": "1"}
    unknown = ExaminedBoard("x", msgspec.convert(record, Machine))
    assert all(problem.remedy for problem in examine(unknown))
    assert inventory(unknown, everything=True)


def test_the_kernels_keys_and_the_ways_to_them() -> None:
    """No socket of AF_ALG takes asymmetric keys in mainline; keyctl does."""
    assert dict(inventory(board_facts()))["kernel's keys"] == "; ".join(KERNEL_KEYS)
    lines = dict(inventory(board_facts(health={"kernel_asymmetric": None})))
    assert lines["kernel's keys"] == "not told"


def test_what_a_shell_tells_of_this_machine() -> None:
    told = subprocess.run(["sh"], input=HEALTH, capture_output=True, text=True, check=True).stdout
    seen = ExaminedBoard("here", with_health(machine(), "here", told))
    health, random = seen.machine.health, seen.device("/dev/random")
    assert random is not None
    mode, user, group = random
    assert re.fullmatch("[rwx-]{9}", mode)
    assert (user, group) == ("root", "root")
    assert health.user == getpass.getuser()
    free = os.statvfs(".")
    assert health.disk_free_bytes == pytest.approx(free.f_bavail * free.f_frsize, rel=0.1)
    assert health.afalg_steps == tuple(OK_STEPS)  # what teebench told stays


def test_modules_that_the_shell_lists() -> None:
    text = "user ann\ntracer nop\nmodules\nmodules tee\nmodules optee\ndevices\n"
    record = {"type": "machine", "schema": 1, "teebench": "1"}
    health = with_health(msgspec.convert(record, Machine), "x", text).health
    assert (health.user, health.modules, health.devices) == ("ann", ("tee", "optee"), ())
    assert (health.modules_there, health.disk_free_bytes, health.throttled) == (None, None, None)
    with pytest.raises(BoardError, match="x"):
        with_health(machine(), "x", "user ann\nwho knows\n")
