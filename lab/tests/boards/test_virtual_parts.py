# SPDX-License-Identifier: BSD-2-Clause
"""The parts of the virtual board that need no boot: QEMU's command line, state files, orphans."""

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from teemark.base import errors, files, paths
from teemark.boards import VirtualConfig, config, instances, optee, qemu, ssh, virtual
from teemark.boards.qemu import Images, Instance
from teemark.boards.ssh import guarded
from teemark.boards.ta_kit import Kit
from waiting import status_of, until, until_gone


def command(recipe: VirtualConfig) -> list[str]:
    return qemu.command(recipe, Images(Path("/im,ages")), Instance(Path("/in,st")), 4022)


def after(words: list[str], option: str) -> list[str]:
    return [words[n + 1] for n, word in enumerate(words) if word == option]


def recipe(name: str) -> VirtualConfig:
    found = config.find(name).config
    assert isinstance(found, VirtualConfig)
    return found


def test_wall_clock_board() -> None:
    words = command(recipe("qemu-v8"))
    assert after(words, "-machine") == ["virt,secure=on,gic-version=3"]
    assert after(words, "-smp") == ["2"]
    assert "-icount" not in words
    assert any("hostfwd=tcp:127.0.0.1:4022-:22" in word for word in after(words, "-netdev"))
    assert any(word.startswith("virtio-rng") for word in after(words, "-device"))
    assert any(word.startswith("virtio-crypto") for word in after(words, "-device"))


def test_board_without_a_tee() -> None:
    words = command(recipe("qemu-bare"))
    assert after(words, "-machine") == ["virt,secure=off,gic-version=3"]
    assert "-bios" not in words
    assert not any("pflash" in word for word in words)


def test_a_32_bit_board_brings_its_kernel_and_says_where_the_initrd_is(tmp_path: Path) -> None:
    for name, size in (("Image", 3), ("initrd.img", 5)):
        (tmp_path / name).write_bytes(bytes(size))
    images = Images(Path("/images"), Path("/flash"), tmp_path)
    words = qemu.command(recipe("qemu-v7"), images, Instance(Path("/in")), 4022)
    assert after(words, "-machine") == ["virt,secure=on,gic-version=2"]
    assert after(words, "-kernel") == [f"{tmp_path}/Image"]
    assert images.root == Path("/images/root.img")  # it isn't among what the system brings
    loader = f"loader,file={tmp_path}/initrd.img,addr=0x68000000,force-raw=on"
    assert loader in after(words, "-device")
    assert "initrd=0x68000000,5" in after(words, "-append")[0].split()


@pytest.mark.parametrize(
    ("architecture", "address", "place"),
    [(0, 0xE100000, "/systems/armv7"), (1, 0xE100000, "/v"), (1, 0x10100000, "/systems/rpi3")],
)
def test_the_cores_header_says_which_tf_a_boots_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, architecture: int, address: int, place: str
) -> None:
    """The core for a Raspberry Pi 3 is known by its load address."""
    places = {"armv7": "/systems/armv7", "rpi3": "/systems/rpi3", "debian": "/v"}
    monkeypatch.setattr(optee, "system", lambda name: Path(places[name]))
    header = struct.pack("<4sBBHIII", b"OPTE", 2, architecture, 0, 2, 0, address)
    (tmp_path / "tee-header_v2.bin").write_bytes(header)
    assert optee.tfa(tmp_path) == Path(place) / "tf-a"
    (tmp_path / "tee-header_v2.bin").write_bytes(bytes(len(header)))
    with pytest.raises(errors.BoardError, match="no header"):
        optee.tfa(tmp_path)


def test_a_pi_finds_its_images_in_memory_and_its_arguments_in_the_tree(tmp_path: Path) -> None:
    """QEMU's raspi3b has no boot loader, and boots TF-A only without -kernel and -append."""
    tree = '/dts-v1/; / { model = "Pi"; chosen { stdout-path = "serial1"; }; };'
    make = ["dtc", "-I", "dts", "-O", "dtb", "-o", str(tmp_path / "tree.dtb")]
    subprocess.run(make, input=tree.encode(), check=True)
    (tmp_path / "initrd.img").write_bytes(bytes(5))
    (tmp_path / "in").mkdir()
    images, instance = Images(Path("/i"), Path("/flash"), tmp_path), Instance(tmp_path / "in")
    words = qemu.command(recipe("qemu-rpi3"), images, instance, 4022)
    assert not {"-kernel", "-append", "-bios", "-cpu"} & set(words)
    assert after(words, "-machine") == ["raspi3b"]
    # QEMU's machine has four cores, always: the exact one powers one of them.
    for board, powered in (("qemu-rpi3", 4), ("qemu-rpi3-icount", 1)):
        told = qemu.command(recipe(board), images, instance, 4022)
        assert after(told, "-smp") == ["4"]
        assert f"bcm2837.enabled-cpus={powered}" in after(told, "-global")
    assert [word for word in after(words, "-device") if word.startswith("loader,")] == [
        "loader,file=/flash,addr=0x0,force-raw=on",
        "loader,file=/i/Image,addr=0x2000000,force-raw=on",
        f"loader,file={tmp_path}/in/tree.dtb,addr=0x1f00000,force-raw=on",
        f"loader,file={tmp_path}/initrd.img,addr=0x5000000,force-raw=on",
    ]
    qemu.write_tree(recipe("qemu-rpi3"), images, instance)
    argv = ["fdtget", str(instance.tree), "/chosen", "bootargs"]
    told = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()
    assert {"console=ttyAMA0", "nokaslr", "initrd=0x5000000,5"} <= set(told)


def test_other_boards_get_their_tree_from_qemu(tmp_path: Path) -> None:
    qemu.write_tree(recipe("qemu-v8"), Images(tmp_path), Instance(tmp_path))
    assert not any(tmp_path.iterdir())


def test_a_locked_board_gets_tas_of_a_key_that_its_op_tee_does_not_know(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The OP-TEE is that of qemu-v8; the key is made once."""
    monkeypatch.setattr(paths, "build", lambda: tmp_path)
    monkeypatch.setattr(optee, "versions", lambda: {"optee-os": "4.5"})
    monkeypatch.setattr(
        Kit, "ours", lambda kit: Path("/tas of") / (kit.key or Path("its own")).name
    )
    open_one, locked = (optee.resolve(recipe(name)) for name in ("qemu-v8", "qemu-locked"))
    key = tmp_path / "unknown-key/key.pem"
    assert (open_one.kit.key, locked.kit.key) == (None, key)
    assert locked.kit.ours() == Path("/tas of/key.pem")
    assert (locked.flash, locked.images) == (open_one.flash, open_one.images)
    made = key.read_bytes()
    assert b"PRIVATE KEY" in made
    assert optee.resolve(recipe("qemu-locked")).kit.key == key
    assert key.read_bytes() == made


def test_an_image_that_another_user_keeps_is_no_image_that_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    images = Images(tmp_path)
    for path in vars(images).values():
        path.parent.mkdir(exist_ok=True)
        if path != tmp_path:
            path.write_text("x")
    images.check()
    looked = Path.is_file

    def is_file(path: Path) -> bool:
        if path == images.identity:
            raise PermissionError(13, "Permission denied")
        return looked(path)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "is_file", is_file)
        with pytest.raises(errors.MissingOutput) as caught:
            images.check()
    assert "belongs to another user" in caught.value.message
    assert "teemark vboard install" in (caught.value.hint or "")
    images.kernel.unlink()
    with pytest.raises(errors.MissingOutput, match=r"isn't built: there is no .*/Image"):
        images.check()


def test_deterministic_board() -> None:
    words = command(recipe("qemu-v8-icount"))
    assert after(words, "-icount") == ["shift=0,sleep=on"]
    assert after(words, "-smp") == ["1"]
    assert after(words, "-seed") == ["42"]
    assert "clock=vm" in after(words, "-rtc")[0]
    assert "nokaslr norandmaps" in after(words, "-append")[0]
    assert not any("rng" in word for word in words)


def test_commas_in_paths_are_doubled_where_qemu_wants_it() -> None:
    words = command(recipe("qemu-v8"))
    assert any(word.startswith("file=/im,,ages/root.img,") for word in after(words, "-drive"))
    assert after(words, "-serial")[0] == "file:/in,,st/console.log"
    assert after(words, "-kernel") == ["/im,ages/Image"]


def test_the_root_disk_forgets_and_the_data_disk_does_not() -> None:
    drives = after(command(recipe("qemu-v8")), "-drive")
    assert ["root.img" in drive for drive in drives] == ["snapshot=on" in drive for drive in drives]
    assert sum("data.img" in drive for drive in drives) == 1


def test_missing_qemu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(errors.MissingOutput, match="no qemu-system-aarch64"):
        qemu.require()


def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "6000"], start_new_session=True)


@pytest.fixture
def instance_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(paths, "instances", lambda: tmp_path / "run")
    return tmp_path / "run"


def gone() -> instances.LocalProcess:
    """A process that has ended."""
    process = sleeper()
    known = instances.LocalProcess.of(process.pid)
    assert known is not None
    process.kill()
    process.wait()
    return known


def note(
    instance: Instance, qemu_process: instances.LocalProcess, *, kept: bool, ready: bool, mine: bool
) -> None:
    me = instances.LocalProcess.of(os.getpid())
    assert me is not None
    owner = me if mine else gone()
    instances.write(instance, instances.State(kept, ready, 1, qemu_process, owner))
    instance.data.write_bytes(b"data")


def test_a_reused_pid_is_another_process() -> None:
    me = instances.LocalProcess.of(os.getpid())
    assert me is not None
    assert me.alive
    assert not instances.LocalProcess(me.pid, me.started + 1).alive
    assert instances.LocalProcess.of(2**22 + 1) is None
    assert not gone().alive


@pytest.mark.parametrize(
    ("kept", "ready", "mine", "survives"),
    [
        (True, True, False, True),
        (True, False, False, False),
        (False, True, False, False),
        (False, False, False, False),
        (False, True, True, True),
        (True, False, True, True),
    ],
)
def test_sweep_ends_what_nobody_owns(
    instance_folder: Path, *, kept: bool, ready: bool, mine: bool, survives: bool
) -> None:
    instance = instances.new_instance("b", kept=kept)
    with sleeper() as process:
        known = instances.LocalProcess.of(process.pid)
        assert known is not None
        note(instance, known, kept=kept, ready=ready, mine=mine)
        instances.sweep()
        alive = process.poll() is None
        process.kill()
    assert alive is survives
    assert instance.data.exists() is survives


def test_sweep_leaves_a_board_of_another_container_alone(instance_folder: Path) -> None:
    """Its processes aren't seen here, but its lock is."""
    instance = instances.new_instance("b", kept=False)
    instance.data.touch()
    gone = instances.LocalProcess(2**22 + 1, 1)
    instances.write(instance, instances.State(False, True, 1, gone, gone))
    lock = files.hold(instance.lock)
    assert lock is not None
    instances.sweep()
    assert instance.data.exists()
    lock.close()
    instances.sweep()
    assert not instance.directory.exists()


def test_sweep_keeps_the_logs_of_a_boot_that_failed(instance_folder: Path) -> None:
    failed, done = instances.new_instance("b", kept=False), instances.new_instance("b", kept=False)
    note(failed, gone(), kept=False, ready=False, mine=False)
    note(done, gone(), kept=False, ready=True, mine=False)
    failed.console.write_text("panic")
    instances.sweep()
    assert failed.console.exists()
    assert not failed.data.exists()
    assert not done.directory.exists()


@pytest.mark.parametrize("kept", [False, True])
def test_nobody_else_looks_into_an_instance(instance_folder: Path, *, kept: bool) -> None:
    """The copy of the board's disk in it has what the TEE stores."""
    made = instances.new_instance("b", kept=kept)
    assert made.directory.stat().st_mode & 0o077 == 0


def test_stale_state_is_not_a_running_board(instance_folder: Path) -> None:
    assert instances.running_kept("b") is None
    instance = instances.new_instance("b", kept=True)
    note(instance, gone(), kept=True, ready=True, mine=False)
    assert instances.running_kept("b") is None
    instance.state.write_text("{}")
    assert instances.running_kept("b") is None
    assert virtual.take_down("b") is False


def test_take_down_ends_it(instance_folder: Path) -> None:
    instance = instances.new_instance("b", kept=True)
    with sleeper() as process:
        known = instances.LocalProcess.of(process.pid)
        assert known is not None
        note(instance, known, kept=True, ready=True, mine=False)
        found = instances.running_kept("b")
        assert found is not None
        assert found.port == 1
        assert virtual.take_down("b") is True
        assert status_of(process) != 0
    assert not instance.directory.exists()


def test_guarded_child_dies_with_a_killed_parent() -> None:
    code = (
        "import subprocess, sys, time; from teemark.boards.ssh import guarded\n"
        "p = subprocess.Popen(guarded(['sleep', '6000']), start_new_session=True)\n"
        "print(p.pid, flush=True); time.sleep(6000)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    with parent.stdout:
        child = int(parent.stdout.readline())
        words = Path(f"/proc/{child}/cmdline")
        until("sleep to begin", lambda: b"sleep" in words.read_bytes().split(b"\0")[0])
        parent.kill()
        parent.wait()
    until_gone(child, "the guarded child")


def test_without_setpriv_a_shell_watches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS: stdin and status pass through, a signal too, and nobody outlives us."""
    monkeypatch.setattr(shutil, "which", lambda _: None)
    words = guarded(["sh", "-c", "read line; echo $line; exit 7"])
    done = subprocess.run(words, input="said\n", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (7, "said\n", "")

    # A command that ends before the shell looks: its status was lost, and a failure was a success.
    late = ssh._WATCH.replace("watcher=$!\n", "watcher=$!\nsleep 0.2\n")
    assert late != ssh._WATCH
    words = ["sh", "-c", late, "sh", str(os.getpid()), "sh", "-c", "exit 7"]
    assert subprocess.run(words, check=False).returncode == 7

    # An exec, so that the only process is the one that has the PID.
    here = tmp_path / "pid"
    command = ["sh", "-c", f"echo $$ >{here}; exec sleep 6000"]

    def begun() -> int:
        pid = until("the command's PID", lambda: here.read_text().strip() if here.exists() else "")
        here.unlink()
        return int(pid)

    told = subprocess.Popen(guarded(command))
    child = begun()
    told.terminate()
    told.wait()
    until_gone(child)
    with subprocess.Popen(["sleep", "6000"]) as parent:
        words = guarded(command)
        words[words.index(str(os.getpid()))] = str(parent.pid)
        orphan = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        child = begun()
        parent.kill()
    until_gone(child)
    orphan.wait()


def test_guarded_child_does_not_start_for_a_parent_that_died_already() -> None:
    words = guarded(["touch", "/nonexistent/never"])
    words[words.index(str(os.getpid()))] = "1"
    done = subprocess.run(words, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (1, b"")
