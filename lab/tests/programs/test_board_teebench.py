# SPDX-License-Identifier: BSD-2-Clause
"""teebench and its backends on the real OP-TEE."""

import hashlib
import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from conftest import THOROUGH
from teemark.base import paths
from teemark.boards import VirtualBoard

pytestmark = pytest.mark.board

TA = "/lib/optee_armtz/5e5b2f0c-6d0a-4b57-9c1e-3a7f41d28860.ta"
PROBE = "/lib/optee_armtz/8d1f60c7-5b3e-4c92-b027-e4196a53cd08.ta"
CASE = "oneshot/sha256/tee/1024"

SHA2 = {"sha1", "sha224", "sha256"}
SHA = {
    *SHA2,
    *("sha384", "sha512", "sha3-224", "sha3-256", "sha3-384", "sha3-512"),
}


def bench(board: VirtualBoard, *arguments: str, **env: str) -> list[dict[str, Any]]:
    words = [f"{name}={value}" for name, value in env.items()]
    argv = ["env", *words, "teebench", "--samples", "2", *arguments]
    done = board.capture(argv, check=False)
    assert done.status == 0, done.complaint
    return [json.loads(line) for line in done.text.splitlines()]


def only_skip(records: list[dict[str, Any]]) -> dict[str, Any]:
    (skip,) = [record for record in records if record["type"] == "skip"]
    assert not [record for record in records if record["type"] == "sample"]
    assert records[-1]["complete"] is True
    return skip


def expected(algorithm: str, length: int) -> str:
    message = bytes((i * 7 + length) & 0xFF for i in range(length))
    return hashlib.new(algorithm.replace("sha3-", "sha3_"), message).hexdigest()


def test_digests_of_every_backend_and_length_equal_hashlib(qemu_v8: VirtualBoard) -> None:
    target = paths.root() / "host"
    subprocess.run(
        ["make", "--no-print-directory", "-C", target, "ARCH=aarch64", "tests"], check=True
    )
    program = paths.root() / "build" / "host" / "aarch64" / "tests" / "digests"
    qemu_v8.push(program, "/tmp/digests", mode=0o755)
    computed: dict[str, dict[str, list[int]]] = {}
    borders = [] if THOROUGH else ["DIGESTS_BORDERS=1"]
    for line in qemu_v8.capture(["env", *borders, "/tmp/digests"]).text.splitlines():
        backend, algorithm, length, *digests = line.split(" ")
        if length == "skip":
            continue
        assert digests == [expected(algorithm, int(length))] * 2, line
        computed.setdefault(backend, {}).setdefault(algorithm, []).append(int(length))
    assert {backend: set(by) for backend, by in computed.items()} == {
        "tee": SHA | {"sm3"},
        "ta-c": SHA,
        "ta-ce": SHA2,
        "c": SHA,
        "ce": SHA2,
        "openssl": SHA | {"sm3"},
        "afalg": SHA,
    }
    for by_algorithm in computed.values():
        for algorithm, lengths in by_algorithm.items():
            block = hashlib.new(algorithm.replace("sha3-", "sha3_")).block_size
            assert lengths == [
                length
                for length in range(2 * block + 2)
                if THOROUGH or length < 2 or (length + 18) % block < 20
            ]


def test_the_first_use_is_kept_apart(qemu_v8: VirtualBoard) -> None:
    records = bench(qemu_v8, CASE, "invoke/none/tee/none")
    first = {r["what"]: r for r in records if r["type"] == "first" and r["case"] is None}
    assert list(first) == ["context", "session", "invoke"]
    typical = min(
        r["ns"] / r["loops"]
        for r in records
        if r["type"] == "sample" and r["case"] == "invoke/none/tee/none"
    )
    assert first["session"]["ns"] > 10 * typical
    assert {r["case"] for r in records if r["type"] == "first" and r["case"]} == {
        CASE,
        "invoke/none/tee/none",
    }


def test_the_machine_is_known(qemu_v8: VirtualBoard) -> None:
    machine = bench(qemu_v8, CASE)[0]
    assert machine["tee"]["impl_id"] == 1
    assert machine["tee"]["revision"].startswith("4.")
    assert machine["tee"]["supplicant"] == "running"
    assert machine["cpu"]["midr"] == ["0x00000000411fd070"]
    assert machine["kernel"]["os"] == "teemark virtual board (Debian trixie packages, busybox)"
    assert "sha2" in machine["cpu"]["features"]
    assert machine["board"]["emulated"] is True


def test_the_counter_of_tas_is_found(qemu_v8: VirtualBoard) -> None:
    """A TA is sacrificed for it; where there is none to sacrifice, it goes without."""
    records = bench(qemu_v8, CASE)
    found = {"name": "CNTVCT_EL0", "hz": 62500000, "resolution_ns": 16}
    assert records[0]["ta_counter"] == found
    assert records[-1] == records[-1] | {"samples": 2, "ta_samples": 2}
    machine = json.loads(qemu_v8.capture(["teebench", "--machine"]).text)
    assert machine["ta_counter"] == found

    qemu_v8.script('mv "$1" "$1.away"', PROBE)
    try:
        records = bench(qemu_v8, CASE)
    finally:
        qemu_v8.script('mv "$1.away" "$1"', PROBE)
    assert set(records[0]["ta_counter"].values()) == {None}
    assert "cannot open a session with the probe TA" in records[0]["reasons"]["ta_counter.name"]
    (case,) = [record for record in records if record["type"] == "case"]
    assert case["ta_counter"] is False
    assert records[-1] == records[-1] | {"samples": 2, "ta_samples": 0, "failed": 0}


def test_interrupted_while_tas_count(qemu_v8: VirtualBoard) -> None:
    """Every sample that is written has its twin, and the counts are those of what is written."""
    done = qemu_v8.script(
        # A shell without a terminal has its background jobs ignore INT.
        f"teebench --samples 1000000 {CASE} >/tmp/cut & pid=$!\n"
        "until grep -q ta-counter /tmp/cut; do sleep 0.1; done\n"
        "kill -TERM $pid; wait $pid; cat /tmp/cut"
    )
    records = [json.loads(line) for line in done.text.splitlines()]
    end = records[-1]
    assert (end["type"], end["complete"], end["reason"]) == ("end", False, "terminated")
    samples = [record for record in records if record["type"] == "sample"]
    assert len(samples) == end["samples"] + end["ta_samples"] > 0
    assert [s["source"] for s in samples] == ["client-clock", "ta-counter"] * end["samples"]
    for client, inside in zip(samples[::2], samples[1::2], strict=True):
        assert client["seq"] == inside["seq"]
        assert 0 < inside["ns"] < client["ns"]


def test_no_ta(qemu_v8: VirtualBoard) -> None:
    qemu_v8.script('mv "$1" "$1.away"', TA)
    try:
        skip = only_skip(bench(qemu_v8, CASE))
    finally:
        qemu_v8.script('mv "$1.away" "$1"', TA)
    assert skip["code"] == "no-ta"
    assert skip["tee_result"] == "TEE_ERROR_ITEM_NOT_FOUND"
    assert TA.rpartition("/")[2] in skip["hint"]


def test_a_ta_that_was_altered(qemu_v8: VirtualBoard) -> None:
    damage = (
        'cp -a "$1" "$1.good"; size=$(stat -c %s "$1"); '
        'printf X | dd of="$1" bs=1 seek=$((size - 5)) conv=notrunc 2>&1'
    )
    qemu_v8.script(damage, TA)
    try:
        skip = only_skip(bench(qemu_v8, CASE))
    finally:
        qemu_v8.script('mv "$1.good" "$1"', TA)
    assert skip["code"] == "ta-rejected"
    assert skip["tee_result"] == "TEE_ERROR_SECURITY"
    assert "sign" in skip["hint"]


@pytest.fixture
def stopped_supplicant(qemu_v8: VirtualBoard) -> Iterator[VirtualBoard]:
    qemu_v8.script("kill -STOP $(pidof tee-supplicant)")
    yield qemu_v8
    qemu_v8.script("kill -CONT $(pidof tee-supplicant)")


def test_a_stopped_supplicant(stopped_supplicant: VirtualBoard) -> None:
    skip = only_skip(bench(stopped_supplicant, CASE, TEEMARK_TEE_TIMEOUT="2"))
    assert skip["code"] == "no-supplicant"
    assert "stopped" in skip["reason"]
    assert "kill -CONT" in skip["hint"]


def test_no_supplicant(qemu_v8: VirtualBoard) -> None:
    command = qemu_v8.script(
        "pid=$(pidof tee-supplicant); tr '\\0' '\\n' </proc/$pid/cmdline; kill $pid; "
        "while kill -0 $pid 2>/dev/null; do sleep 0.1; done"
    ).text.splitlines()
    try:
        skip = only_skip(bench(qemu_v8, CASE, TEEMARK_TEE_TIMEOUT="2"))
    finally:
        qemu_v8.capture([*command] if "-d" in command else [*command, "-d"])
    assert skip["code"] == "no-supplicant"
    assert "tee-supplicant is not running" in skip["reason"]
    assert "start it" in skip["hint"]
    assert bench(qemu_v8, CASE)[-1]["samples"] == 2


def test_no_permission(qemu_v8: VirtualBoard) -> None:
    done = qemu_v8.script(
        'chmod 660 /dev/tee0; bench=$(command -v teebench); cp "$bench" /tmp/teebench; '
        f"cd /; chmod 755 /tmp/teebench; su -s /bin/sh nobody -c '/tmp/teebench {CASE}'"
    )
    skip = only_skip([json.loads(line) for line in done.text.splitlines()])
    assert skip["code"] == "no-permission"
    assert "/dev/tee0" in skip["reason"]


def test_libkcapis_error_is_that_of_a_missing_netlink_socket(qemu_v8: VirtualBoard) -> None:
    """The published -93 (a BeagleBone without CONFIG_CRYPTO_USER), made on purpose: the module is
    unloaded, and nothing may load it again. AF_ALG works all the while."""
    said = qemu_v8.script(
        """\
        loader=$(cat /proc/sys/kernel/modprobe)
        trap 'echo "$loader" >/proc/sys/kernel/modprobe; modprobe crypto_user; rm -f /tmp/abc' EXIT
        printf abc >/tmp/abc
        look() {
            kcapi-dgst -c sha256 --hex </tmp/abc >/dev/null 2>&1
            echo "kcapi $?"
            teebench --machine | grep -o 'netlink_errno":[0-9]*' | tr '":' '  '
            teebench oneshot/sha256/afalg/64 | grep -c '"type":"sample"'
        }
        modprobe crypto_user
        look
        echo /bin/false >/proc/sys/kernel/modprobe
        rmmod crypto_user
        look
        """
    ).text.split()
    with_it, without = said[: len(said) // 2], said[len(said) // 2 :]
    assert with_it[:4] == ["kcapi", "0", "netlink_errno", "0"]
    assert without[:4] == ["kcapi", str(256 - 93), "netlink_errno", "93"]
    assert int(with_it[4]) == int(without[4]) > 0
