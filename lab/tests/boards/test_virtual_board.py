# SPDX-License-Identifier: BSD-2-Clause
"""The virtual board itself: boots, dies with its command, keeps its data over a reboot."""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from conftest import changed, reboot
from teemark.base import errors, paths
from teemark.boards import (
    Board,
    BoardFile,
    SshConfig,
    VirtualBoard,
    ensure_installed,
    install,
    instances,
    open_board,
    virtual,
)
from teemark.boards.instances import start_time
from teemark.boards.qemu import Instance
from teemark.boards.shell import COMPLAINT_MAX
from waiting import (
    PATIENCE_S,
    PATIENT_TEEMARK,
    TEEMARK,
    line_of,
    status_of,
    until,
    until_gone,
)

pytestmark = [pytest.mark.board, pytest.mark.long(60)]

NOISE = random.Random(4).randbytes(400_000)


def selftest_file(**changes: object) -> BoardFile:
    """Returns the file of qemu-v8 with other values, under a name of its own."""
    return replace(changed("qemu-v8", **changes), name="selftest")


def test_the_root_file_system_is_not_for_everybody() -> None:
    """The board's host key is in it."""
    assert (paths.vboard() / "root.img").stat().st_mode & 0o077 == 0


@pytest.fixture
def selftest(tmp_path: Path) -> Iterator[str]:
    """A board file of a name of its own, so that nobody's kept-up board is touched."""
    path = tmp_path / f"selftest-{os.getpid()}.toml"
    path.write_text((paths.boards() / "qemu-v8.toml").read_text(encoding="utf-8"))
    yield str(path)
    subprocess.run([*TEEMARK, "down", str(path)], check=True, capture_output=True)


def states_of(name: str) -> list[instances.State]:
    found = [instances.read(Instance(path)) for path in paths.instances().glob(f"{name}*")]
    return [each for each in found if each is not None]


# -- on the shared board ---------------------------------------------------------------------


def test_it_is_op_tee(qemu_v8: VirtualBoard) -> None:
    assert qemu_v8.emulated
    assert not qemu_v8.deterministic
    assert qemu_v8.architecture() == "aarch64"
    assert qemu_v8.capture(["nproc"]).text == "1\n"
    assert b"OP-TEE version: " in qemu_v8.consoles()[1].read_bytes()


def test_streams_are_byte_exact_there(qemu_v8: VirtualBoard) -> None:
    result = qemu_v8.capture(["sh", "-c", "tee /dev/stderr; exit 77"], stdin=NOISE, check=False)
    assert (result.status, result.stdout, result.stderr) == (77, NOISE, NOISE[-COMPLAINT_MAX:])
    assert qemu_v8.capture(["sh", "-c", "kill -SEGV $$"], check=False).status == 139
    assert qemu_v8.exec(["sh", "-c", "exit 255"]) == 255


def test_programs_and_tas_are_installed(qemu_v8: VirtualBoard) -> None:
    for ta in paths.built_tas().glob("*.ta"):
        there = qemu_v8.capture(["stat", "-c", "%a %s", f"/lib/optee_armtz/{ta.name}"]).text
        assert there == f"444 {ta.stat().st_size}\n"
    assert qemu_v8.capture(["which", "teebench"]).text == "/opt/teemark/teebench\n"


def test_folders_that_programs_cannot_be_in(qemu_v8: VirtualBoard) -> None:
    qemu_v8.script(
        "mkdir -p /tmp/noexec /tmp/ro && mount -t tmpfs -o noexec none /tmp/noexec && "
        "mount -t tmpfs none /tmp/ro && mkdir /tmp/ro/there && mount -o remount,ro /tmp/ro"
    )

    def problem(**places: str) -> errors.TeemarkError:
        recipe = SshConfig(address="127.0.0.1", **places)  # type: ignore[arg-type]
        with (
            Board(BoardFile("desk", Path("desk.toml"), recipe), qemu_v8.endpoint) as board,
            pytest.raises(errors.TeemarkError) as caught,
        ):
            ensure_installed(board)
        return caught.value

    noexec = problem(directory="/tmp/noexec/p")
    assert noexec.message.startswith("desk: /tmp/noexec/p/teebench was installed, but doesn't run")
    assert "mounted noexec" in (noexec.hint or "")
    for place in ("new", "there"):
        read_only = problem(directory=f"/tmp/ro/{place}")
        assert isinstance(read_only, errors.TransferError)
        assert f"desk: /tmp/ro/{place}" in read_only.message
        assert "another `directory`" in (read_only.hint or "")
    assert "teemark exec BOARD -- mount -o remount,rw" in (read_only.hint or "")
    qemu_v8.script("umount /tmp/noexec /tmp/ro")


def test_a_copy_in_memory_is_laid_over_a_read_only_folder_of_tas(qemu_v8: VirtualBoard) -> None:
    """What was there before is there meanwhile; nobody's files but ours are touched afterwards."""
    qemu_v8.script(
        "mkdir -p /tmp/ro && mount -t tmpfs none /tmp/ro && mkdir /tmp/ro/there && "
        "echo theirs >/tmp/ro/there/a.ta && mount -o remount,ro /tmp/ro"
    )
    places = {"directory": "/opt/beside", "ta_directory": "/tmp/ro/there"}
    desk = BoardFile("desk", Path("desk.toml"), SshConfig(address="127.0.0.1", **places))  # type: ignore[arg-type]
    told: list[str] = []
    with Board(desk, qemu_v8.endpoint) as board:
        put = [item.target for item in ensure_installed(board, tell=told.append)]
        assert ensure_installed(board) == []
        assert "/tmp/ro/there on desk is read-only: a copy in memory is laid over it" in told
        files = board.script("ls /tmp/ro/there; cat /tmp/ro/there/a.ta").text.split()
        assert [f"/tmp/ro/there/{name}" for name in files[:-2] if name != "a.ta"] == [
            target for target in put if target.endswith(".ta")
        ]
        assert files[-1] == "theirs"
        assert install.remove(board)[0][0] == "/tmp/ro/there (in memory)"
        assert board.script("ls /tmp/ro/there; grep -c teemark /proc/mounts", check=False).text == (
            "a.ta\n0\n"
        )
    qemu_v8.script("umount /tmp/ro")


def test_files_there_and_back(qemu_v8: VirtualBoard, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(NOISE)
    qemu_v8.push(tmp_path / "a", "/data/a")
    qemu_v8.pull("/data/a", tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == NOISE
    qemu_v8.script("mkdir -p /data/d")
    with pytest.raises(errors.UsageMistake, match="/data/d is a folder"):
        qemu_v8.pull("/data/d", tmp_path)


def test_full_disk(qemu_v8: VirtualBoard, tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"\1" * 3_000_000)
    qemu_v8.script("mkdir -p /tmp/small && mount -t tmpfs -o size=1m none /tmp/small")
    try:
        qemu_v8.script("echo old >/tmp/small/big")
        with pytest.raises(errors.TransferError, match="no space left for /tmp/small") as caught:
            qemu_v8.push(tmp_path / "big", "/tmp/small/big")
        assert "df -h" in (caught.value.hint or "")
        assert qemu_v8.capture(["ls", "-A", "/tmp/small"]).text == "big\n"
        assert qemu_v8.capture(["cat", "/tmp/small/big"]).text == "old\n"
        qemu_v8.script("mount -o remount,ro /tmp/small")
        with pytest.raises(errors.TransferError, match="read-only file system"):
            qemu_v8.push(tmp_path / "big", "/tmp/small/other")
    finally:
        qemu_v8.script("umount /tmp/small")


def test_ctrl_c_reaches_the_command_there(qemu_v8: VirtualBoard, tmp_path: Path) -> None:
    where = qemu_v8.endpoint
    desk = tmp_path / "desk.toml"
    options = f'["UserKnownHostsFile={where.known_hosts}", "HostKeyAlias={where.host_alias}"]'
    desk.write_text(
        f'kind = "ssh"\naddress = "{where.address}"\nuser = "{where.user}"\nport = {where.port}\n'
        f'identity = "{where.identity}"\noptions = {options}\n'
    )
    script = "trap 'echo caught; exit 9' INT; echo ready; sleep 6000; echo slept"
    argv = [*PATIENT_TEEMARK, "exec", str(desk), "--", "sh", "-c", script]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        assert line_of(process) == b"ready\n"
        process.send_signal(signal.SIGINT)
        assert line_of(process) == b"caught\n"
        assert status_of(process) == 9


def test_it_reaches_nothing_but_us(qemu_v8: VirtualBoard) -> None:
    with socket.socket() as here:
        here.bind(("127.0.0.1", 0))
        here.listen()
        port = str(here.getsockname()[1])
        argv = ["nc", "-w", "3", "10.0.2.2", port]
        assert qemu_v8.capture(argv, check=False, timeout=PATIENCE_S).status != 0


# -- boards of their own ---------------------------------------------------------------------


def test_up_exec_side_by_side_down(qemu_v8: VirtualBoard, selftest: str, tmp_path: Path) -> None:
    """A person types this. qemu_v8 is up meanwhile, so these are two boards side by side."""

    def teemark(*args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([*TEEMARK, *args], input=stdin, capture_output=True, check=False)

    name = Path(selftest).stem
    up = teemark("up", selftest)
    assert up.returncode == 0, up.stderr.decode()
    assert f"{name} is up at 127.0.0.1:".encode() in up.stderr
    assert f"{name} was up already".encode() in teemark("up", selftest).stderr
    done = teemark("exec", selftest, "--", "sh", "-c", "tee /dev/stderr; exit 42", stdin=NOISE)
    assert (done.returncode, done.stdout, done.stderr) == (42, NOISE, NOISE)
    (tmp_path / "noise").write_bytes(NOISE)
    assert teemark("push", selftest, str(tmp_path / "noise"), "/data/x").returncode == 0
    assert teemark("pull", selftest, "/data/x", str(tmp_path / "back")).returncode == 0
    assert (tmp_path / "back").read_bytes() == NOISE
    setup = json.loads(teemark("setup", selftest, "--json").stdout)
    assert (setup["installed"], setup["tee"]) == ([], True)
    assert qemu_v8.exec(["test", "-e", "/data/x"]) == 1, "two boards share no disk"
    with open_board(selftest) as board:
        assert isinstance(board, VirtualBoard)
        assert board.boot_seconds is None, "the one that is up was found"
        board.exec(["sync"])  # a reboot is a power cut
        reboot(board)
    assert teemark("exec", selftest, "--", "cat", "/data/x").stdout == NOISE, "it is still up"
    pid = states_of(name)[0].qemu.pid
    assert start_time(pid) is not None
    assert teemark("down", selftest).returncode == 0
    assert start_time(pid) is None
    assert states_of(name) == []


@pytest.mark.parametrize(("how", "when_ready"), [(signal.SIGKILL, True), (signal.SIGTERM, False)])
def test_board_dies_with_its_killed_command(
    selftest: str, how: signal.Signals, *, when_ready: bool
) -> None:
    name = Path(selftest).stem
    argv = [*TEEMARK, "exec", selftest, "--", "sleep", "6000"]
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, start_new_session=True) as command:
        try:
            until("boot", lambda: any(each.ready >= when_ready for each in states_of(name)))
            pid = states_of(name)[0].qemu.pid
            assert start_time(pid) is not None
        finally:
            command.send_signal(how)
        status = status_of(command)
    until_gone(pid, "QEMU")
    if how == signal.SIGTERM:
        assert status == 128 + signal.SIGTERM
    else:
        instances.sweep()
    assert list(paths.instances().glob(f"{name}*")) == []


@pytest.mark.exhaustive
def test_data_outlives_a_reboot_and_a_power_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        # QEMU finds that somebody took the first port meanwhile.
        ports, free = iter([int(taken.getsockname()[1])]), virtual.free_port
        monkeypatch.setattr(virtual, "free_port", lambda: next(ports, None) or free())
        board = VirtualBoard(selftest_file())
        with board:
            assert board.endpoint.port != taken.getsockname()[1]
            _reboot_twice(board)
            _lose_the_kernel(board)
    console = board.consoles()[0]
    instances.sweep()
    assert b"Kernel panic" in console.read_bytes(), "the logs of a crash are kept"
    assert [path.name for path in console.parent.glob("*.img")] == []
    shutil.rmtree(console.parent)


def _reboot_twice(board: VirtualBoard) -> None:
    assert board.boot_seconds is not None
    board.script("echo kept >/data/file; sync; echo gone >/root/file")
    reboot(board)
    assert board.capture(["cat", "/data/file"]).text == "kept\n"
    assert board.exec(["test", "-e", "/root/file"]) == 1
    board.script("echo cut >/data/other; sync")
    reboot(board)
    assert board.capture(["cat", "/data/file", "/data/other"]).text == "kept\ncut\n"


def _lose_the_kernel(board: VirtualBoard) -> None:
    process = board.start(["sh", "-c", "sleep 1; echo c >/proc/sysrq-trigger"])
    with pytest.raises(errors.ConnectionLost, match="broke off") as caught:
        process.wait(PATIENCE_S)
    assert str(board.consoles()[0]) in (caught.value.hint or "")


def test_board_that_is_too_slow_says_what_it_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is over once the secure console has said something."""
    board = VirtualBoard(selftest_file(boot_timeout=1))

    def now() -> float:
        said = board.instance is not None and board.instance.secure_console
        return 2.0 if said and said.exists() and b"\n" in said.read_bytes() else 0.0

    monkeypatch.setattr(virtual, "time", SimpleNamespace(monotonic=now, sleep=time.sleep))
    with pytest.raises(errors.BootError, match="wasn't up after 1 s") as caught, board:
        pass
    console, secure = board.consoles()
    assert str(secure) in caught.value.message
    lines = [line for line in secure.read_text(errors="replace").splitlines() if line.strip()]
    assert any(line in caught.value.message for line in lines), "a console's last lines are shown"
    assert not board.running
    assert not (console.parent / "data.img").exists()
    shutil.rmtree(console.parent)


def test_qemu_that_fails_says_why() -> None:
    board = VirtualBoard(selftest_file(cpu="z80"))
    with pytest.raises(errors.BootError, match=r"(?s)ended while it booted.*z80"), board:
        pass
    shutil.rmtree(board.consoles()[0].parent)
