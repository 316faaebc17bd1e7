# SPDX-License-Identifier: BSD-2-Clause
"""OP-TEE's own port to the Raspberry Pi 3, on QEMU's: it boots, is reached by ssh over USB, and
keeps its data when the power is cut."""

import hashlib
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import reboot
from teemark.boards import VirtualBoard, config, ensure_installed
from teemark.doctor import look

pytestmark = [pytest.mark.board, pytest.mark.exhaustive, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def pi() -> Iterator[VirtualBoard]:
    with VirtualBoard(config.find("qemu-rpi3")) as board:
        yield board


def test_it_is_a_pi_with_its_own_op_tee(pi: VirtualBoard) -> None:
    told = pi.script("cat /proc/device-tree/model; echo; nproc; grep ' / ' /proc/mounts; dmesg")
    assert told.text.startswith("Raspberry Pi 3 Model B\0\n4\n/dev/mmcblk0 / ext4")
    assert "psci: PSCIv1" in told.text
    assert "optee: initialized driver" in told.text
    core = pi.firmware[0]
    assert core.configuration["CFG_CRYPTO_WITH_CE"] == "n"
    assert core.configuration["CFG_SHMEM_SIZE"] == "0x00400000"
    assert b"D/TC" in pi.secure_log(0)[1]  # debug traces, as in the documents' logs


def test_nothing_uses_instructions_that_a_pi_lacks(pi: VirtualBoard) -> None:
    """QEMU's CPU has them. Neither teebench nor OpenSSL, in whatever program, uses them."""
    assert "sha2" in pi.script("grep Features /proc/cpuinfo").text
    ensure_installed(pi)
    assert look.machine(pi).cpu.features == ("neon",)
    assert pi.script("echo $OPENSSL_armcap").text == "1\n"
    assert "-ce\n" not in pi.capture(["cat", "/proc/crypto"]).text


def test_its_clock_is_not_faster_than_this_machines(pi: VirtualBoard) -> None:
    """QEMU's timer has 62.5 MHz, TF-A says 19.2: without a mend it would be 3.26 times faster."""
    began = time.monotonic()
    pi.capture(["sleep", "10"], timeout=300)
    assert time.monotonic() - began >= 9.9


def test_teehash_and_a_power_cut(pi: VirtualBoard, tmp_path: Path) -> None:
    """A file is hashed in the TEE as by this machine; the data disk has it after a power cut."""
    data = random.Random(3).randbytes(5_000_001)  # more than the pool of shared memory
    (tmp_path / "file").write_bytes(data)
    ensure_installed(pi)
    pi.push(tmp_path / "file", "/data/file")
    digest = hashlib.sha256(data).hexdigest()
    assert pi.capture(["teehash", "/data/file"]).text.split()[0] == digest
    pi.script("sync")
    reboot(pi)
    assert pi.capture(["sha256sum", "/data/file"]).text.split()[0] == digest


def test_100_mb_are_hashed_as_by_sha256sum(pi: VirtualBoard) -> None:
    """In chunks; in one call they are 25 times the pool of shared memory, and refused."""
    ensure_installed(pi)
    pi.script("dd if=/dev/urandom of=/data/large bs=1048576 count=100", timeout=600)
    both = pi.script("sha256sum /data/large; teehash /data/large", timeout=600).text.splitlines()
    assert both[0] == both[1]
    whole = ["teehash", "--mode=oneshot", "--oneshot-limit=200M", "/data/large"]
    refused = pi.capture(whole, check=False)
    assert (refused.status, refused.text) == (1, "")
    assert "TEE_ERROR_OUT_OF_MEMORY" in refused.complaint
    pi.script("rm /data/large")


def test_no_buffer_is_larger_than_the_pool_that_is_told(pi: VirtualBoard) -> None:
    ensure_installed(pi)
    most = look.machine(pi).tee.pool_bytes
    assert most is not None
    assert 4_000_000 < most <= 4 << 20
    cases = [f"shm/allocated/tee/in/{size}" for size in (2 << 20, most + 1)]
    told = pi.capture(["teebench", "--samples", "5", "-o", "-", *cases]).text.splitlines()
    records = [json.loads(line) for line in told]
    skipped = {it["case"]: it["code"] for it in records if it["type"] == "skip"}
    assert skipped == {cases[1]: "no-memory"}
    assert any(it["type"] == "sample" and it["case"] == cases[0] for it in records)
