# SPDX-License-Identifier: BSD-2-Clause
"""The card for a real Raspberry Pi 3: its partitions and boot files by others' tools; and it boots
in QEMU's Pi, where this test plays the Pi's firmware, grows, and is reached by the user's key."""

import hashlib
import json
import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from teemark.boards import Board, BoardFile, SshConfig, config, make_board
from teemark.boards.ssh import guarded
from teemark.boards.virtual import free_port
from waiting import TEEMARK, status_of, until

pytestmark = [pytest.mark.board, pytest.mark.exhaustive, pytest.mark.timeout(3000)]

SECTOR = 512
PATH = "/usr/sbin:/sbin:/usr/bin:/bin"
FIRMWARE = ("bootcode.bin", "start.elf", "fixup.dat")


def run(*argv: str | Path) -> str:
    """Returns what a tool prints; fails if the tool finds fault."""
    argv = ("env", f"PATH={PATH}", *argv)
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for program in ("sfdisk", "mkfs.vfat", "mcopy"):
        if shutil.which(program, path=PATH) is None:
            pytest.skip(f"there is no {program}")
    folder = tmp_path_factory.mktemp("card")
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / "key")
    (folder / "firmware").mkdir()
    for name in FIRMWARE:
        (folder / "firmware" / name).write_text(f"the Pi's {name}")
    return folder


def teemark(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs `teemark vboard image rpi3` with these words."""
    argv = [*TEEMARK, "vboard", "image", "rpi3", *words]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def make(folder: Path, name: str) -> Path:
    image = folder / name
    done = teemark("-o", image, "--key", folder / "key.pub", "--firmware", folder / "firmware")
    assert done.returncode == 0, done.stderr
    return image


@pytest.fixture(scope="module")
def image(folder: Path) -> Path:
    return make(folder, "pi3.img")


def partitions(image: Path) -> list[dict[str, int | str]]:
    table = json.loads(run("sfdisk", "--json", image))["partitiontable"]
    return list(table["partitions"])


def part(image: Path, number: int) -> Path:
    """Returns the file of one partition, counted from 1."""
    place = partitions(image)[number - 1]
    file = image.with_name(f"{image.stem}-{number}")
    with image.open("rb") as whole:
        whole.seek(int(place["start"]) * SECTOR)
        file.write_bytes(whole.read(int(place["size"]) * SECTOR))
    return file


def test_partitions_and_file_systems_are_sound(image: Path) -> None:
    assert "No errors detected" in run("sfdisk", "--verify", image)
    first, root, data = partitions(image)
    assert (first["type"], root["type"], data["type"]) == ("c", "83", "83")
    assert int(first["start"]) % 8192 == 0  # cards are erased by 4 MiB
    run("fsck.fat", "-n", part(image, 1))
    for number, label in ((2, "teemark-root"), (3, "teemark-data")):
        run("e2fsck", "-f", "-n", part(image, number))
        assert f"name:   {label}\n" in run("tune2fs", "-l", part(image, number))


def test_the_first_partition_has_what_its_config_names(image: Path, folder: Path) -> None:
    boot = part(image, 1)
    listed = run("mdir", "-b", "-i", boot, "::").replace("::/", "").split()
    settings = run("mtype", "-i", boot, "::config.txt")
    named = re.findall(r"^(?:armstub|kernel|device_tree)=(\S+)|^initramfs (\S+)", settings, re.M)
    named_files = {one or other for one, other in named}
    assert named_files == {"armstub8.bin", "kernel8.img", "pi3.dtb", "pi3plus.dtb", "initrd.img"}
    assert named_files | {"config.txt", "cmdline.txt", *FIRMWARE} == set(listed)
    run(
        "mcopy",
        "-n",
        "-i",
        boot,
        "::kernel8.img",
        "::armstub8.bin",
        "::pi3.dtb",
        "::pi3plus.dtb",
        folder,
    )
    assert (folder / "kernel8.img").read_bytes()[
        56:60
    ] == b"ARM\x64"  # Documentation/arch/arm64/booting.rst
    assert b"OPTE" in (folder / "armstub8.bin").read_bytes()
    for tree, model in (("pi3.dtb", "3-model-b"), ("pi3plus.dtb", "3-model-b-plus")):
        assert run("fdtget", folder / tree, "/", "compatible").split()[0] == f"raspberrypi,{model}"
        assert run("fdtget", folder / tree, "/firmware/optee", "method") == "smc\n"
    for name in FIRMWARE:
        assert run("mtype", "-i", boot, f"::{name}") == f"the Pi's {name}"


def test_no_secret_and_no_password_is_on_it(image: Path, folder: Path) -> None:
    root = part(image, 2)

    def cat(name: str) -> str:
        return run("debugfs", "-R", f"cat {name}", root)

    assert cat("/root/.ssh/authorized_keys") == (folder / "key.pub").read_text()
    assert "host_key" not in run("debugfs", "-R", "ls /etc/dropbear", root)
    assert all(line.split(":")[1] == "*" for line in cat("/etc/shadow").splitlines())


def test_two_images_are_the_same_bytes(image: Path, folder: Path) -> None:
    again = make(folder, "again.img")
    assert subprocess.run(["cmp", image, again], check=False).returncode == 0


def test_mistakes_are_told(folder: Path) -> None:
    for more, said in (
        ([f"{folder}/key"], "no public key"),
        ([f"{folder}/key.pub", "--firmware", str(folder)], "bootcode.bin"),
        ([f"{folder}/key.pub", "--board", "qemu-v8"], "no virtual rpi3"),
        ([f"{folder}/key.pub", "--firmware", str(folder), "--non-free-firmware"], "--firmware and"),
    ):
        refused = teemark("-o", folder / "no.img", "--key", *more)
        assert refused.returncode in (1, 2)
        assert said in refused.stderr
    assert not list(folder.glob("no.*"))


@contextmanager
def booted(card: Path, folder: Path) -> Iterator[Board]:
    """Boots a card in QEMU's Pi as the Pi's firmware does: it reads the first partition, puts the
    files where config.txt says, and tells the kernel arguments and initrd by the device tree."""
    boot, port, console = part(card, 1), free_port(), folder / "console"
    console.unlink(missing_ok=True)
    settings = run("mtype", "-i", boot, "::config.txt")
    at = dict(re.findall(r"^(kernel|device_tree)_address=(\S+)", settings, re.M))
    initrd_at = re.findall(r"^initramfs \S+ (\S+)", settings, re.M)[0]
    names = {
        "0": "armstub8.bin",
        at["kernel"]: "kernel8.img",
        at["device_tree"]: "pi3.dtb",
        initrd_at: "initrd.img",
    }
    for name in names.values():
        run("mcopy", "-n", "-i", boot, f"::{name}", folder)
    chosen = ("fdtput", folder / "pi3.dtb", "/chosen")
    arguments = run("mtype", "-i", boot, "::cmdline.txt").strip()
    run(chosen[0], "-t", "s", *chosen[1:], "bootargs", arguments)
    end = int(initrd_at, 16) + (folder / "initrd.img").stat().st_size
    run(chosen[0], "-t", "x", *chosen[1:], "linux,initrd-start", initrd_at)
    run(chosen[0], "-t", "x", *chosen[1:], "linux,initrd-end", hex(end))
    words = [
        "qemu-system-aarch64",
        "-nodefaults",
        "-no-reboot",
        "-display",
        "none",
        "-monitor",
        "none",
    ]
    words += ["-machine", "raspi3b", "-serial", f"file:{folder}/tf-a", "-serial", f"file:{console}"]
    words += [
        "-global",
        "cortex-a53-arm-cpu.cntfrq=19200000",
        "-drive",
        f"file={card},format=raw,if=sd",
    ]
    for address, name in names.items():
        words += ["-device", f"loader,file={folder / name},addr={address},force-raw=on"]
    network = (
        f"user,id=net,net=10.0.7.0/24,dhcpstart=10.0.7.40,hostfwd=tcp:127.0.0.1:{port}-10.0.7.40:22"
    )
    words += ["-netdev", network, "-device", "usb-net,netdev=net,mac=b8:27:eb:00:00:01"]
    ssh = SshConfig(
        address="127.0.0.1",
        port=port,
        user="root",
        identity=str(folder / "key"),
        connect_timeout=200,
        directory="/opt/teemark",
        options=("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null"),
    )
    with subprocess.Popen(guarded(words)) as qemu:
        try:
            until(
                "an address by DHCP",
                lambda: console.exists() and b"the address is 10.0.7.40" in console.read_bytes(),
            )
            with make_board(BoardFile("card", folder / "card.toml", ssh)) as board:
                yield board
        finally:
            qemu.terminate()
            status_of(qemu)


def fills(board: Board) -> bool:
    """Returns true once /data has 1 GiB: it grows while the board runs."""
    return int(board.script("df -k /data | tail -n 1").text.split()[1]) > 1 << 20


def test_it_boots_grows_and_is_reached_by_the_users_key(image: Path, folder: Path) -> None:
    card = folder / "card.img"
    run("cp", "--sparse=always", image, card)
    run("truncate", "-s", "2G", card)  # QEMU's cards have a power of two
    data = random.Random(5).randbytes(4_500_001)
    (folder / "file").write_bytes(data)
    keys = []
    for boot in (1, 2):
        with booted(card, folder) as board:
            keys.append(board.capture(["dropbearkey", "-y", "-f", "/etc/dropbear/host_key"]).text)
            until("/data to fill the card", partial(fills, board), 1)
            if boot == 1:
                board.push(folder / "file", "/data/file")
            told = board.capture(["/opt/teemark/teehash", "/data/file"]).text
            assert told.split()[0] == hashlib.sha256(data).hexdigest()
            assert (
                "linux,dummy-virt"
                not in board.capture(["cat", "/proc/device-tree/compatible"]).text
            )
            board.script("sync")
    assert keys[0] == keys[1]
    # docs/raspberry-pi.md says to look for these. QEMU's firmware doesn't choose the mini UART, so
    # TF-A, which asks which one is on the pins, writes to the other.
    assert "NOTICE:  BL31: Built" in (folder / "tf-a").read_text(errors="replace")
    text = (folder / "console").read_text(errors="replace")
    looked_for = ("I/TC: OP-TEE version", "Booting Linux on", "teemark: ready after")
    for line in (*looked_for, "teemark: the address is"):
        assert line in text
    assert "No errors detected" in run("sfdisk", "--verify", card)
    written = config.read(image.with_suffix(".toml")).config
    assert isinstance(written, SshConfig)
    assert (Path(written.ta_kit or "") / "mk" / "ta_dev_kit.mk").is_file()
    assert Path(written.identity or "").is_file()
