# SPDX-License-Identifier: BSD-2-Clause
"""teebench as scripts see it, on this machine, under the sanitizers (make -C host/tests)."""

import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from waiting import (
    PATIENCE_S,
    children,
    cpu_seconds,
    output_of,
    status_of,
    until,
    until_it_computed,
    until_it_hears,
    until_it_settles,
)

HERE = Path(__file__).resolve().parent
BUILT = HERE.parents[1] / "build" / "tests" / "host"
TEEBENCH = BUILT / "teebench"
DIGESTS = BUILT / "digests"

C = "oneshot/sha256/c/100"
FAST = ("--samples", "3", "--min-us", "10")


def bench(
    *arguments: str | Path, stdin: str | bytes = b"", **options: object
) -> subprocess.CompletedProcess[bytes]:
    data = stdin.encode() if isinstance(stdin, str) else stdin
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        [TEEBENCH, *arguments],
        input=data,
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
        **options,
    )


def records(text: bytes) -> list[dict[str, object]]:
    assert text.endswith(b"\n")

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} in JSON")

    return [json.loads(line, parse_constant=refuse) for line in text.decode().splitlines()]


def of_type(found: Sequence[dict[str, object]], wanted: str) -> list[dict[str, object]]:
    return [record for record in found if record["type"] == wanted]


def test_a_run() -> None:
    cases = f"{C} repeat=1,2 samples=4\ninvoke/none/empty/none\noneshot/sha1/c/0\n"
    done = bench(*FAST, stdin=cases)
    assert done.returncode == 0, done.stderr
    found = records(done.stdout)
    assert found[0]["type"] == "machine"
    assert found[0]["schema"] == 1
    assert found[-1] == found[-1] | {"type": "end", "complete": True, "reason": "done"}
    samples = of_type(found, "sample")
    assert len(samples) == 4 * 2 + 3 + 3 == found[-1]["samples"]
    assert [sample["seq"] for sample in samples] == list(range(len(samples)))
    assert {case["case"] for case in of_type(found, "case")} == {
        C,
        "invoke/none/empty/none",
        "oneshot/sha1/c/0",
    }
    # nothing computes in a TA, so nobody asked one
    assert found[0]["ta_counter"] == {"name": None, "hz": None, "resolution_ns": None}
    assert found[0]["reasons"]["ta_counter.name"] == "not looked for: no case computes in a TA"
    assert found[-1]["ta_samples"] == 0
    for sample in samples:
        assert isinstance(sample["ns"], int)
        assert sample["ns"] >= 10_000
        assert sample["source"] == "client-clock"
    # a case is announced before its samples
    for case in of_type(found, "case"):
        first = next(s for s in samples if s["case"] == case["case"])
        assert found.index(case) < found.index(first)
        assert case["verified"] is True


def test_the_order_is_random_and_the_same_for_a_seed() -> None:
    cases = "\n".join(f"oneshot/sha256/c/{size} samples=10" for size in (1, 2, 3))

    def order(seed: int) -> list[object]:
        found = records(bench("--loops", "1", "--seed", str(seed), stdin=cases).stdout)
        return [sample["case"] for sample in of_type(found, "sample")]

    assert order(7) == order(7)
    assert order(7) != order(8)
    assert order(7) != sorted(map(str, order(7)))
    assert sorted(map(str, order(7))) == sorted(map(str, order(8)))


def test_what_the_machine_cannot_do_is_a_skip_with_a_reason() -> None:
    lacking = ["oneshot/sha1/empty/1", "oneshot/sha1/urandom/1", "rng/random/c/16"]
    done = bench(*FAST, C, "oneshot/sha256/tee/16", "invoke/none/c/none", *lacking)
    assert done.returncode == 0, done.stderr
    found = records(done.stdout)
    skips = {skip["case"]: skip for skip in of_type(found, "skip")}
    assert skips["invoke/none/c/none"]["code"] == "no-call"
    assert {skips[key]["code"] for key in lacking} == {"unsupported-algorithm"}
    if not Path("/dev/tee0").exists():
        assert skips["oneshot/sha256/tee/16"]["code"] == "no-tee"
    for skip in skips.values():
        assert skip["reason"]
    assert found[-1]["skipped"] == len(skips)


@pytest.mark.parametrize(
    ("arguments", "stdin", "said"),
    [
        (["--colour"], "", "--help"),
        (["--samples", "x", C], "", "samples"),
        (["--cases", "/no/such/file"], "", "/no/such/file"),
        ([], "", "no cases"),
        ([], "# nothing\n", "no cases"),
        ([], f"{C}\n\noneshot/sha256/gpu/1\n", "standard input:3"),
        ([], f"{C}\noneshot/sha256/c/1 samples=1.5\n", "standard input:2"),
        (["nonsense"], "", "nonsense"),
        (["oneshot/sha256/c/99999999999999999999"], "", "too large, at most 1073741824"),
        (["oneshot/sha256/c/1073741825"], "", "too large, at most 1073741824"),
        (["--seed", "99999999999999999999"], "", "--seed is too large, at most 18446744073709551"),
        (
            ["stream/sha256/c/4096/1/2/3"],
            "",
            'takes ALGORITHM/BACKEND/BYTES/CHUNK; there is "/2/3"',
        ),
        ([f"{C}/1"], "", 'oneshot takes ALGORITHM/BACKEND/BYTES; there is "/1" too many'),
        ([f"{C} samples=1 samples=2"], "", '"samples" is there twice'),
        (["oneshot/sha256/tee/1048576 repeat=1,9"], "", "9 repetitions of 1048576 bytes are more"),
        (["oneshot/sha256/ta-c/0 repeat=65537"], "", "hint: a call can't be ended from outside"),
        (["oneshot/hmac-sha256/tee/4096 repeat=2049"], "", "2049 repetitions of 4096 bytes"),
        ([], "cipher/aes-128-cbc/tee/enc/64 repeat=65537\n", "standard input:1: cipher/aes-128"),
        (["same-code/intloop/ta-c/8388608 repeat=2"], "", "2 repetitions of 8388608 bytes"),
        (["rng/random/tee/65536 repeat=1,2"], "", "2 times 65536 random bytes are more"),
    ],
)
def test_wrong_usage(arguments: list[str], stdin: str, said: str) -> None:
    done = bench(*arguments, stdin=stdin)
    assert done.returncode == 2
    assert said in done.stderr.decode()
    assert done.stdout == b""


def test_check_measures_nothing() -> None:
    good = bench("--check", stdin=f"{C}\n# no more\ninvoke/none/tee/none repeat=1\n")
    assert (good.returncode, good.stdout, good.stderr) == (0, b"", b"")
    bad = bench("--check", "--cases", "-", stdin=f"{C}\ninvoke/none/te/none\n")
    assert bad.returncode == 2
    assert b"standard input:2: invoke/none/te/none: there is no backend" in bad.stderr


def test_stretches_of_calls() -> None:
    done = bench("--stretch", "--loops", "3", C)
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(done.stdout.split()) == 5
    assert all(int(line) > 0 for line in done.stdout.split())
    # There is room for 64 arrays that are made in a row: a sanitizer would notice a 65th.
    more = bench("--stretch", "--loops", "65", "storage/create/memory/16")
    assert (more.returncode, more.stderr) == (0, b"")
    assert len(more.stdout.split()) == 5


def test_stretches_that_a_signal_ends_leave_no_file(tmp_path: Path) -> None:
    with subprocess.Popen(
        [TEEBENCH, "--stretch", "--loops", "1000000", "file/sha256/c/100"],
        env={"TEEMARK_DIR": str(tmp_path)},
    ) as process:
        until_it_computed(process)
        assert list(tmp_path.iterdir())
        process.send_signal(signal.SIGTERM)
        assert status_of(process) == 143
    assert list(tmp_path.iterdir()) == []


def test_interrupted_while_it_compares(tmp_path: Path) -> None:
    """Both processes get the terminal's signal; the one that was begun cleans up as well."""
    for number in (1, 2, 4):
        with subprocess.Popen(
            [TEEBENCH, "--samples=99999", "--output", tmp_path / "run", "file/sha256/openssl/65536"],
            env={"TEEMARK_DIR": str(tmp_path)}, start_new_session=True,
        ) as process:  # fmt: skip
            begun: set[int] = set()

            until(
                f"process {number} of the comparison",
                lambda: begun.update(children(process.pid)) or len(begun) >= number,  # noqa: B023
                0.001,
            )
            os.killpg(process.pid, signal.SIGINT)
            assert status_of(process) == 130
        until("the other process's file to go", lambda: len(list(tmp_path.iterdir())) == 1)
        assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_help_and_version() -> None:
    done = bench("--help")
    assert done.returncode == 0
    assert b"Exit status" in done.stdout
    package = HERE.parents[1] / "lab" / "src" / "teemark" / "version.py"
    version = re.search('__version__ = "(.+)"', package.read_text())
    assert version
    assert bench("--version").stdout == f"teebench {version[1]}\n".encode()


def test_list() -> None:
    text = bench("--list").stdout.decode()
    listed, _, rest = text.removeprefix("Backends\n").partition("\n\n")
    backends = [line for line in listed.split("\n") if line[2] != " "]
    assert [line.split()[0] for line in backends] == [
        *("tee", "ta-c", "ta-ce", "c", "ce", "openssl", "afalg", "keyctl"),
        *("getrandom", "urandom", "hwrng", "pkcs11", "empty"),
    ]
    assert "  c         not here" not in listed
    assert "not here: " in listed
    assert "\n  pkcs11    " in listed
    about = {block.split(":")[0]: block.splitlines() for block in rest.split("Workload ")[1:]}
    assert about["oneshot"][0].endswith(" (parameters: BYTES)")
    assert {"sha1", "sha3-512", "hmac-sha256"} < set(about["oneshot"][1].split())
    assert "aes-128-cbc" not in about["oneshot"][1]
    assert {"rsa-2048", "ecdsa-p256"} < set(about["sign"][1].split())
    assert about["log"][1:3] == ["  lines", "  backend: tee"]
    assert about["storage"][2] == "  backends: tee-ree-fs tee-rpmb memory file file-fsync"


def test_machine() -> None:
    machine = json.loads(bench("--machine").stdout)
    assert machine["type"] == "machine"
    assert machine["memory"]["total_bytes"] > 0
    assert machine["kernel"]["release"] == os.uname().release
    assert machine["clock"]["resolution_ns"] > 0

    def nulls(prefix: str, value: object) -> list[str]:
        if value is None:
            return [prefix]
        if isinstance(value, dict):
            return [n for k, v in value.items() for n in nulls(f"{prefix}.{k}".strip("."), v)]
        return []

    facts = {name: value for name, value in machine.items() if isinstance(value, dict)}
    unknown = nulls("", {name: group for name, group in facts.items() if name != "reasons"})
    assert sorted(unknown) == sorted(machine["reasons"])
    assert all(machine["reasons"].values())


def test_machine_of_a_made_up_tree(tmp_path: Path) -> None:
    """/proc and /sys of a Raspberry Pi 3, as a folder: what --machine makes of them."""
    files = {
        "proc/device-tree/model": "Raspberry Pi 3 Model B Rev 1.2\0",
        "proc/device-tree/compatible": "raspberrypi,3-model-b\0brcm,bcm2837\0",
        "sys/devices/system/cpu/cpu0/regs/identification/midr_el1": "0x00000000410fd034\n",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "ondemand\n",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq": "600000\n",
        "sys/class/thermal/thermal_zone0/temp": "82300\n",
        "sys/class/thermal/thermal_zone0/type": "cpu-thermal\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    root = {**os.environ, "TEEBENCH_ROOT": str(tmp_path)}
    machine = json.loads(bench("--machine", env=root).stdout)
    assert machine["board"]["compatible"] == ["raspberrypi,3-model-b", "brcm,bcm2837"]
    assert machine["cpu"]["midr"] == ["0x00000000410fd034"]
    assert machine["cpu"]["governor"] == ["ondemand"]
    assert machine["cpu"]["temperature"] == ["cpu-thermal 82.3 °C"]


def test_the_kernels_log_and_its_configuration(tmp_path: Path) -> None:
    log = """[    1.5] optee: revision 4.5 (abc)
[    2.0][  T1] virtio_crypto virtio4: Registered algo cbc(aes)
[    2.1] WARNING: at crypto/api.c:5
[    2.2] usb 1-1: new device"""
    (tmp_path / "dmesg").write_text(f"#!/bin/sh\ncat <<'END'\n{log}\nEND\n")
    (tmp_path / "zcat").write_text(
        "#!/bin/sh\necho CONFIG_OPTEE=m; echo '# CONFIG_TEE is not set'\n"
    )
    for name in ("dmesg", "zcat"):
        (tmp_path / name).chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    machine = json.loads(bench("--machine", env=env).stdout)
    assert machine["crypto"]["driver_log"] == [
        "[  T1] virtio_crypto virtio4: Registered algo cbc(aes)"
    ]
    assert machine["kernel"]["options"][:2] == ["CONFIG_OPTEE=m", "CONFIG_TEE=n"]


@pytest.mark.parametrize(
    ("number", "reason", "status"),
    [
        (signal.SIGINT, "interrupted", 130),
        (signal.SIGTERM, "terminated", 143),
        (signal.SIGHUP, "hung-up", 129),
    ],
)
@pytest.mark.parametrize("quiet", [(), ("--quiet-until-end",)])
def test_interrupted(
    tmp_path: Path, number: int, reason: str, status: int, quiet: tuple[str, ...]
) -> None:
    output = tmp_path / "run"
    with subprocess.Popen(
        [TEEBENCH, "--samples", "1000000", "--output", output, *quiet, C]
    ) as process:
        until_it_computed(process)
        process.send_signal(number)
        assert status_of(process) == status
    found = records(output.read_bytes())
    assert found[-1]["complete"] is False
    assert found[-1]["reason"] == reason
    assert len(of_type(found, "sample")) == found[-1]["samples"] > 0
    assert not (tmp_path / "run.partial").exists()


def cpu_seconds_of_children() -> float:
    """Returns the CPU time of all processes that this one began and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize(
    ("case", "seconds"), [("file/sha256/c/1073741824", 1.0), ("oneshot/sha256/c/1073741824", 0.2)]
)
def test_interrupted_while_it_prepares(tmp_path: Path, case: str, seconds: float) -> None:
    """Filling, writing, hashing to compare, calibrating: a minute of it here, but no one step."""
    output = tmp_path / "run"
    ended = cpu_seconds_of_children()
    with subprocess.Popen(
        [TEEBENCH, "--output", output, case], env={"TEEMARK_DIR": str(tmp_path)}
    ) as process:
        until_it_computed(process, seconds)
        before = cpu_seconds(process.pid)
        process.send_signal(signal.SIGINT)
        assert status_of(process) == 130
    assert cpu_seconds_of_children() - ended - before < 30
    found = records(output.read_bytes())
    assert [record["type"] for record in found] == ["machine", "end"]
    assert found[-1]["complete"] is False
    assert found[-1]["reason"] == "interrupted"
    assert found[-1]["failed"] == 0
    assert list(tmp_path.iterdir()) == [output]


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_it_at_once(tmp_path: Path, second: int) -> None:
    output = tmp_path / "run"
    # Where a sample just ends, the first signal is enough, and the second may come too late, or
    # while the end record is written.
    for seconds in (1.0, 1.7, 2.9):
        with subprocess.Popen(
            [TEEBENCH, "--min-us", "60000000", "--output", output, C]
        ) as process:  # in one call after the other, and loops without an end in sight
            until_it_computed(process, seconds)
            process.send_signal(signal.SIGINT)
            until_it_hears(process, signal.SIGINT)
            process.send_signal(second)
            status = status_of(process)
        left = tmp_path / "run.partial"
        if not output.exists() and b'"end"' not in left.read_bytes():
            break
        output.unlink(missing_ok=True)
        left.unlink(missing_ok=True)
    assert status == -second
    assert not output.exists()
    assert [record["type"] for record in records(left.read_bytes())] == ["machine"]


def test_killed_leaves_a_partial_file_without_an_end(tmp_path: Path) -> None:
    output = tmp_path / "run"
    with subprocess.Popen([TEEBENCH, "--samples", "1000000", "--output", output, C]) as process:
        until_it_computed(process)
        process.kill()
    assert not output.exists()
    lines = (tmp_path / "run.partial").read_bytes().splitlines(keepends=True)
    assert not any(b'"type":"end"' in line for line in lines)
    assert all(json.loads(line) for line in lines)


def test_without_ta_counter() -> None:
    """The option is recorded, and what could have been looked for wasn't."""
    done = bench(*FAST, "--no-ta-counter", C, "oneshot/sha256/tee/0")
    machine = records(done.stdout)[0]
    assert machine["settings"]["ta_counter"] is False
    assert machine["ta_counter"]["name"] is None
    assert machine["reasons"]["ta_counter.hz"] == "not looked for: --no-ta-counter was given"


def test_without_looking_who_does_the_work() -> None:
    done = bench(*FAST, "--no-evidence", "oneshot/sha256/openssl/64")
    (case,) = of_type(records(done.stdout), "case")
    assert case["watched"] is None
    assert case["watched_reason"] == "not looked for: --no-evidence was given"
    assert "masked" not in case


def test_masked_instructions_are_used_by_nobody() -> None:
    """Our own code skips them by OpenSSL's own variable, and the machine has none."""
    masked = {**os.environ, "OPENSSL_armcap": "1"}
    done = bench(*FAST, "oneshot/sha256/ce/64", "oneshot/sha256/openssl/64", env=masked)
    said = records(done.stdout)
    (skip,) = of_type(said, "skip")
    assert (skip["case"], skip["code"]) == ("oneshot/sha256/ce/64", "no-ce")
    assert "OPENSSL_armcap" in skip["reason"]
    for environment, told in ((masked, ["OPENSSL_armcap=1"]), (None, [])):
        machine = json.loads(bench("--machine", env=environment).stdout)
        assert machine["health"]["openssl_environment"] == told
    machine = json.loads(bench("--machine", env=masked).stdout)
    assert not {"aes", "sha2"} & set(machine["cpu"]["features"])


def test_settling_is_interrupted_too() -> None:
    with subprocess.Popen([TEEBENCH, "--settle", "1000", C], stdout=subprocess.PIPE) as process:
        until_it_settles(process)
        process.send_signal(signal.SIGINT)
        out, _ = output_of(process)
    assert process.returncode == 130
    assert records(out)[-1]["complete"] is False


def test_nohup_is_respected() -> None:
    with subprocess.Popen(
        ["nohup", TEEBENCH, "--settle", "1", *FAST, C],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        until_it_settles(process)
        process.send_signal(signal.SIGHUP)
        out, _ = output_of(process)
    assert process.returncode == 0
    assert records(out)[-1]["complete"] is True


def test_a_reader_that_goes_away() -> None:
    with subprocess.Popen(
        [TEEBENCH, "--samples", "100000", C], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
        assert status_of(process) == 1
    assert b"Broken pipe" in said


@pytest.mark.parametrize("what", [(C,), ("--list",), ("--machine",), ("--help",)])
def test_a_full_disk(what: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [TEEBENCH, *what],
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            timeout=PATIENCE_S,
        )
    assert done.returncode == 1
    assert b"No space left" in done.stderr


def test_quiet_says_the_same(tmp_path: Path) -> None:
    output = tmp_path / "run"
    done = bench(*FAST, "--quiet-until-end", "--output", output, C)
    assert done.returncode == 0
    assert done.stdout == b""
    found = records(output.read_bytes())
    assert [record["type"] for record in found] == [
        "machine", "first", "case", "sample", "sample", "sample", "end",
    ]  # fmt: skip


def test_pinned_loops() -> None:
    found = records(bench("--loops", "3", "--samples", "2", C).stdout)
    assert [sample["loops"] for sample in of_type(found, "sample")] == [3, 3]


def expected(algorithm: str, length: int) -> str:
    message = bytes((i * 7 + length) & 0xFF for i in range(length))
    return hashlib.new(algorithm.replace("sha3-", "sha3_"), message).hexdigest()


def check_digests(text: str) -> dict[str, set[str]]:
    """Compares with hashlib; what each backend computed."""
    computed: dict[str, set[str]] = {}
    lengths: dict[tuple[str, str], list[int]] = {}
    for line in text.splitlines():
        backend, algorithm, length, *digests = line.split(" ")
        if length == "skip":
            continue
        assert digests == [expected(algorithm, int(length))] * 2, line
        computed.setdefault(backend, set()).add(algorithm)
        lengths.setdefault((backend, algorithm), []).append(int(length))
    for (_, algorithm), seen in lengths.items():
        block = hashlib.new(algorithm.replace("sha3-", "sha3_")).block_size
        assert seen == list(range(2 * block + 2))
    return computed


PORTABLE = {
    *("sha1", "sha224", "sha256", "sha384", "sha512"),
    *("sha3-224", "sha3-256", "sha3-384", "sha3-512"),
}


def test_digests_of_every_length_equal_hashlib() -> None:
    done = subprocess.run([DIGESTS], capture_output=True, text=True, check=True, timeout=PATIENCE_S)
    computed = check_digests(done.stdout)
    assert computed["c"] == PORTABLE
    if shutil.which("openssl"):
        assert computed["openssl"] >= PORTABLE


@pytest.mark.parametrize(
    ("arch", "emulator", "cpu", "root", "backends"),
    [
        ("aarch64", "qemu-aarch64-static", "cortex-a57", "/usr/aarch64-linux-gnu", ("c", "ce")),
        ("armhf", "qemu-arm-static", "cortex-a7", "/usr/arm-linux-gnueabihf", ("c",)),
    ],
)
def test_digests_of_other_processors(
    make: Callable[..., None], arch: str, emulator: str, cpu: str, root: str,
    backends: tuple[str, ...],
) -> None:  # fmt: skip
    # the compiler's own C library, whatever the virtual board's is
    build = BUILT / arch
    make("-C", HERE.parent, f"ARCH={arch}", f"BUILD={build}", "tests")
    program = build / "host" / arch / "tests" / "digests"
    done = subprocess.run(
        [emulator, "-cpu", cpu, "-L", root, program, *backends],
        capture_output=True, text=True, check=True, timeout=PATIENCE_S,
    )  # fmt: skip
    computed = check_digests(done.stdout)
    assert computed["c"] == PORTABLE
    assert computed.get("ce", {"sha1", "sha224", "sha256"}) >= {"sha1", "sha224", "sha256"}
    assert set(computed) == set(backends)


def test_a_dash_is_standard_output(tmp_path: Path) -> None:
    done = bench(*FAST, "-o", "-", C, cwd=tmp_path)
    assert done.returncode == 0
    assert records(done.stdout)[-1]["complete"] is True
    assert list(tmp_path.iterdir()) == []


def test_what_a_run_changes_is_recorded_at_its_end() -> None:
    found = records(bench(*FAST, C).stdout)
    after = found[-1]["after"]
    assert isinstance(after, dict)
    assert set(after) == {"khz_now", "temperature", "load_average"}


TA = "0b7c9a52-31f4-4e0d-a866-5d902ce1743b"


def test_tas_that_cannot_be_opened_are_told_one_by_one() -> None:
    if Path("/dev/tee0").exists():
        pytest.skip("this machine has a TEE")
    done = bench("--open-tas", TA, TA.upper())
    assert (done.returncode, done.stderr) == (1, b"")
    found = [one for one in records(done.stdout) if one["step"] == "failed"]
    assert [one["about"] for one in found] == [TA, TA.upper()]
    for one in found:
        assert one["code"] in ("no-tee", "no-teec-headers")
        assert one["reason"]


@pytest.mark.parametrize(
    "word", ["", "x", TA[:-1], TA + "0", TA.replace("-", "0"), TA.replace("a", " "), "-" * 36]
)
def test_what_is_no_uuid_opens_nothing(word: str) -> None:
    done = bench("--open-tas", "--", TA, word)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"is no UUID" in done.stderr
