# SPDX-License-Identifier: BSD-2-Clause
"""Faults made on purpose on a real OP-TEE: the doctor names each with its remedy."""

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from teemark.base import paths
from teemark.boards import VirtualBoard, tas
from teemark.cli import doctor
from teemark.cli import main as cli
from teemark.doctor.facts import ExaminedBoard
from teemark.doctor.look import HEALTH, with_health
from teemark.doctor.rules import examine
from teemark.run.records import Machine

pytestmark = [pytest.mark.board, pytest.mark.long(50)]

DIGEST = "/lib/optee_armtz/5e5b2f0c-6d0a-4b57-9c1e-3a7f41d28860.ta"


def examined(board: VirtualBoard) -> dict[str, dict[str, Any]]:
    _, problems = doctor._examine(board)
    return {one.key: msgspec.to_builtins(one) for one in problems}


@pytest.fixture
def borrowed(lent: VirtualBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    # One TA tells what nine do: each session takes its time.
    every = tas.built(lent)
    monkeypatch.setattr(
        tas, "built", lambda _board: {u: n for u, n in every.items() if u in DIGEST}
    )


@contextlib.contextmanager
def fault(board: VirtualBoard, make: str, mend: str) -> Iterator[dict[str, dict[str, Any]]]:
    board.script(make)
    try:
        yield examined(board)
    finally:
        board.script(mend)


@pytest.mark.usefixtures("borrowed")
def test_faults_of_the_tee(qemu_v8: VirtualBoard) -> None:
    before = examined(qemu_v8)
    assert set(before) <= {"published-key", "emulated", "load"}, before

    # Users see it so, with a status that says whether to go on.
    qemu_v8.script("killall -STOP tee-supplicant")
    try:
        told = CliRunner().invoke(cli.cli, ["doctor", "qemu-v8"], standalone_mode=False)
    finally:
        qemu_v8.script("killall -CONT tee-supplicant")
    assert told.return_value == 1
    assert "killall -CONT tee-supplicant" in told.stdout
    assert "needs attention" in told.stdout

    with fault(qemu_v8, f"mv {DIGEST} /tmp/aside", f"mv /tmp/aside {DIGEST}") as found:
        assert "TEE_ERROR_ITEM_NOT_FOUND" in found["ta"]["evidence"]
        assert "teemark setup" in found["ta"]["remedy"]

    # It is of another key: the signature of one that was signed begins after 20 + 32 bytes.
    other = f"""cp -p {DIGEST} /tmp/aside && chmod u+w {DIGEST} &&
        printf 'xxxxxxxx' | dd of={DIGEST} bs=1 seek=60 conv=notrunc 2>/dev/null"""
    with fault(qemu_v8, other, f"cp -p /tmp/aside {DIGEST}") as found:
        assert "TEE_ERROR_SECURITY" in found["ta-key"]["evidence"]
        assert "ta_kit" in found["ta-key"]["remedy"]

    with fault(qemu_v8, "mv /dev/tee0 /dev/aside", "mv /dev/aside /dev/tee0") as found:
        assert "/dev/tee0" in found["tee-firmware"]["evidence"]


@pytest.mark.usefixtures("borrowed")
def test_faults_of_the_kernels_crypto_and_of_the_folder(qemu_v8: VirtualBoard) -> None:
    kernel = "cd /lib/modules/$(uname -r)/kernel/crypto && "
    # With their files hidden: asking for the sockets would load them again.
    hide = kernel + "mv crypto_user.ko* algif_hash.ko* /tmp/ && rmmod crypto_user algif_hash"
    show = kernel + "mv /tmp/crypto_user.ko* /tmp/algif_hash.ko* ."
    with fault(qemu_v8, hide, f"{show} && modprobe -a crypto_user algif_hash") as found:
        assert "errno 93" in found["crypto-netlink"]["evidence"]
        assert found["crypto-netlink"]["remedy"].startswith("modprobe crypto_user")
        assert found["crypto-netlink"]["severity"] == "note"
        assert "errno 2" in found["afalg-hash"]["evidence"]
        assert "algif_hash" in found["afalg-hash"]["remedy"]

    every = "algif_hash algif_skcipher algif_aead algif_rng"
    hide = kernel + f"mv af_alg.ko* /tmp/ && rmmod {every} af_alg"
    show = kernel + f"mv /tmp/af_alg.ko* . && for m in {every}; do modprobe $m; done"
    with fault(qemu_v8, hide, show) as found:
        assert "errno 97" in found["afalg-socket"]["evidence"]
        assert "af_alg" in found["afalg-socket"]["remedy"]

    said = qemu_v8.script('su user -c "$1/teebench --machine"', qemu_v8.config.directory).stdout
    seen = qemu_v8.script('su user -c "$1"', HEALTH).text
    facts = msgspec.convert(msgspec.json.decode(said), Machine)
    theirs = ExaminedBoard("x", with_health(facts, "x", seen))
    denied = {one.key: one for one in examine(theirs)}["tee-permission"]
    assert "usermod -aG tee user" in denied.remedy
    with fault(qemu_v8, "chmod 600 /dev/tee0", "chmod 660 /dev/tee0"):
        assert "/dev/tee0 rw-------" in qemu_v8.script('su user -c "$1"', HEALTH).text

    folder = qemu_v8.config.directory
    noexec = f"mount --bind {folder} {folder} && mount -o remount,bind,noexec {folder}"
    with fault(qemu_v8, noexec, f"umount {folder}") as found:
        assert list(found) == ["noexec"]
        assert f"remount,exec {folder}" in found["noexec"]["remedy"]

    # All is repaired: a clean bill again.
    told = CliRunner().invoke(cli.cli, ["doctor", "qemu-v8", "--json"], standalone_mode=False)
    document = json.loads(told.stdout)
    names = {one["key"] for one in document["findings"]}
    assert names <= {"published-key", "emulated", "load"}, names
    assert told.return_value == (0 if document["meaningful"] else 1)
    assert document["meaningful"] is ("load" not in names)
    assert document["machine"]["tee"]["device"] == "/dev/tee0"


BY_CPU = "aes_ce_ccm,aes_ce_blk,aes_neon_blk,aes_neon_bs,aes_ce_cipher"
"""Modules whose drivers of cbc(aes) come before the device's."""


def _accelerators(board: str, capfd: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """Returns what is said of the device's cbc(aes), and all that is said."""
    assert cli.run(["doctor", board, "--accelerators"]) == 0
    said = capfd.readouterr().out
    head = r"^virtio_crypto_aes_cbc \(cbc\(aes\)\), device virtio\d+\n"
    found = re.search(head + r"(  .*\n)*", said, re.M)
    assert found, said
    return found[0], said


@pytest.mark.exhaustive
@pytest.mark.usefixtures("lent")
def test_accelerators_that_the_cpu_outbids(
    qemu_v8: VirtualBoard, capfd: pytest.CaptureFixture[str]
) -> None:
    """tcrypt passes the device over. AF_ALG that doesn't reach it is said to be so."""
    mine, said = _accelerators("qemu-v8", capfd)
    assert "tcrypt: 0 tests of 12 operations by it; 0 interrupts" in mine
    assert "AF_ALG: reaches it" in mine
    assert "  cbc(aes): cbc-aes-ce\n" in said
    assert re.search(r"^dm-crypt, aes-cbc: cbc-aes-ce, 16 MiB in .* no device raised", said, re.M)
    assert re.search(r"^OpenSSL's engine afalg, .* 16 MiB in .* no device raised", said, re.M)
    assert "OpenSSL's engine devcrypto: not there\n" in said
    crypto = "cd /lib/modules/$(uname -r)/kernel/crypto && "
    qemu_v8.script(crypto + "mv algif_skcipher.ko* /tmp/; rmmod algif_skcipher")
    try:
        mine, _ = _accelerators("qemu-v8", capfd)
        assert "AF_ALG: doesn't reach it: " in mine
    finally:
        qemu_v8.script(crypto + "mv /tmp/algif_skcipher.ko* .; modprobe algif_skcipher")
    assert "tcrypt" not in qemu_v8.script("cat /proc/modules").text


@pytest.mark.exhaustive
def test_an_accelerator_that_comes_first(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Without the CPU's drivers tcrypt takes the device's, and so does OpenSSL's engine: interrupts
    show that. dm-crypt doesn't, for that driver allocates memory."""
    board = tmp_path / "first.toml"
    text = (paths.boards() / "qemu-v8.toml").read_text()
    board.write_text(text.replace('["nokaslr"]', f'["nokaslr", "module_blacklist={BY_CPU}"]'))
    mine, said = _accelerators(str(board), capfd)
    assert "  cbc(aes): virtio_crypto_aes_cbc\n" in said
    found = re.search(r"tcrypt: (\d+) tests of 12 operations by it; (\d+) interrupts", mine)
    assert found
    tests, interrupts = map(int, found.groups())
    assert tests >= 10
    assert interrupts >= 12 * tests
    assert "AF_ALG: reaches it" in mine
    assert re.search(r"^OpenSSL's engine afalg, .* 16 MiB in .*; a device raised", said, re.M)
    dm_crypt = re.search(r"^dm-crypt, aes-cbc: (.*), 16 MiB in .* no device raised", said, re.M)
    assert dm_crypt
    assert dm_crypt[1] == "cbc(ecb(aes-generic))"
