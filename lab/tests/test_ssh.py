# SPDX-License-Identifier: BSD-2-Clause
"""The transport, against a real ssh server on this machine."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sshserver
from conftest import HOST, local_board
from teemark import errors
from teemark.boards import Board, command_lines, ssh
from teemark.boards.guard import start_time

NOISE = random.Random(2).randbytes(300_000)


def test_status_passes_through(board: Board) -> None:
    for status in (0, 1, 2, 77, 126, 254, 255):
        assert board.exec(["sh", "-c", f"exit {status}"]) == status


@pytest.mark.parametrize("name", ["TERM", "KILL", "SEGV", "INT", "PIPE"])
def test_death_by_signal_is_128_plus_n_and_silent(board: Board, name: str) -> None:
    result = board.capture(["sh", "-c", f"kill -s {name} $$"], check=False)
    assert result.status == 128 + getattr(signal, f"SIG{name}")
    assert result.stderr == b""


def test_streams_are_byte_exact(board: Board) -> None:
    result = board.capture(["sh", "-c", "tee /dev/stderr"], stdin=NOISE)
    assert result.stdout == NOISE
    assert result.stderr == NOISE


def test_no_such_command_is_127_and_says_so(board: Board) -> None:
    result = board.capture(["no-such-program"], check=False)
    assert result.status == 127
    assert "no-such-program" in result.complaint


def test_checked_failure_names_the_command_and_its_last_word(board: Board) -> None:
    with pytest.raises(errors.CommandFailed, match=r"`sh .*` ended with status 3: sorry") as caught:
        board.capture(["sh", "-c", "echo sorry >&2; exit 3"])
    assert caught.value.status == 3


@settings(
    max_examples=settings().max_examples // 2,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(words=st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8")), max_size=5))
def test_arguments_arrive_as_they_are(board: Board, words: list[str]) -> None:
    argv = ["sh", "-c", 'for a; do printf "%s\\0" "$a"; done', "sh", *words]
    assert board.capture(argv).stdout == b"".join(w.encode() + b"\0" for w in words)


def test_path_begins_with_our_folder(board: Board, ssh_server: sshserver.SshServer) -> None:
    path = board.capture(["sh", "-c", 'printf %s "$PATH"']).text
    assert path.split(":")[0] == str(ssh_server.home / "our programs")
    assert "/usr/bin" in path.split(":")


def test_environment_is_passed(board: Board) -> None:
    assert board.capture(["sh", "-c", 'printf %s "$A"'], env={"A": "x 'y\" $z"}).text == "x 'y\" $z"


def test_lines_come_while_the_command_runs(board: Board) -> None:
    script = "echo one; read x; echo got $x"
    with board.stream(["sh", "-c", script], stdin=subprocess.PIPE) as process:
        lines = process.lines()
        assert next(lines) == b"one\n"
        assert process.stdin is not None
        process.stdin.write(b"two\n")
        process.stdin.close()
        assert next(lines) == b"got two\n"
        assert process.wait() == 0


def test_ctrl_c_reaches_the_command_and_its_children(board: Board) -> None:
    # The shell waits for a child in the foreground: only a signal to both ends it at once.
    script = "trap 'echo caught; exit 9' INT; echo ready; sleep 60; echo slept"
    with board.stream(["sh", "-c", script]) as process:
        lines = process.lines()
        assert next(lines) == b"ready\n"
        os.kill(os.getpid(), signal.SIGINT)
        assert next(lines) == b"caught\n"
        assert process.wait() == 9
    assert process.interrupts == 1


def test_stubborn_command_gets_kill_at_the_third_ctrl_c(board: Board) -> None:
    script = "trap '' INT TERM; echo ready; while :; do sleep 1; done"
    with board.stream(["sh", "-c", script]) as process:
        lines = process.lines()
        assert next(lines) == b"ready\n"
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGINT)
        assert process.wait() == 128 + signal.SIGKILL
    assert process.interrupts == 3


def test_timeout_ends_the_command_there(board: Board, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    with pytest.raises(errors.BoardError, match=r"took more than 0\.5 s"):
        board.exec(["sh", "-c", f"echo $$ >{mark}; exec sleep 60"], timeout=0.5)
    pid = int(mark.read_text())
    limit = time.monotonic() + 5
    while start_time(pid) is not None and time.monotonic() < limit:
        time.sleep(0.05)
    assert start_time(pid) is None


def test_too_long_a_command_is_refused_here() -> None:
    with pytest.raises(errors.BoardError, match="bytes long"):
        command_lines.command_line(["echo", "x" * 9000], job="0")


def test_connection_dies_with_a_killed_process(
    ssh_server: sshserver.SshServer, tmp_path: Path
) -> None:
    code = (
        "import sys, time; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path; import sshserver; from conftest import local_board\n"
        "s = sshserver.SshServer(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), None)\n"
        "with local_board(s) as b:\n"
        "    print(b.ssh._master.pid, flush=True); time.sleep(60)\n"
    )
    here = str(Path(__file__).parent)
    argv = [sys.executable, "-c", code, here, str(ssh_server.directory), ssh_server.user]
    process = subprocess.Popen([*argv, str(ssh_server.port)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout:
        master = int(process.stdout.readline())
        assert start_time(master) is not None
        process.kill()
        process.wait()
    limit = time.monotonic() + 5
    while start_time(master) is not None and time.monotonic() < limit:
        time.sleep(0.02)
    assert start_time(master) is None


@pytest.mark.parametrize(
    ("trap", "status"), [("n=$((n+1)); [ $n -lt 2 ] || exit 0", 0), ("", -signal.SIGKILL)]
)
def test_a_master_that_misses_the_signal_is_asked_again(trap: str, status: int) -> None:
    script = f"n=0; trap '{trap}' TERM; echo ready; while :; do sleep 0.02; done"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE) as master:
        assert master.stdout is not None
        assert master.stdout.readline() == b"ready\n"
        ssh.end(master, patience=1)
        assert master.returncode == status


def test_connection_lost_in_mid_run(tmp_path: Path) -> None:
    server = sshserver.start(tmp_path, HOST)
    try:
        with local_board(server) as board:
            with board.stream(["sh", "-c", "echo ready; sleep 60"]) as process:
                assert next(process.lines()) == b"ready\n"
                server.stop()
                with pytest.raises(errors.ConnectionLost, match="broke off") as caught:
                    process.wait()
            assert caught.value.hint
            with pytest.raises(errors.ConnectionLost):
                board.exec(["true"])
    finally:
        server.stop()


def test_a_master_that_lost_its_connection_and_is_not_gone_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has ended the channel, silently and with 255, as a command may that ends so."""
    server = sshserver.start(tmp_path, HOST)
    try:
        with local_board(server) as board:
            assert board.exec(["sh", "-c", "exit 255"]) == 255
            with board.stream(["sh", "-c", "echo ready; sleep 60"]) as process:
                assert next(process.lines()) == b"ready\n"
                monkeypatch.setattr(ssh.Ssh, "connected", property(lambda _: True))
                server.stop()
                with pytest.raises(errors.ConnectionLost, match="broke off"):
                    process.wait()
    finally:
        server.stop()


def test_connection_refused(ssh_server: sshserver.SshServer) -> None:
    closed = local_board(ssh_server, port=sshserver.free_port())
    with pytest.raises(errors.ConnectionRefused, match="refuses connections"), closed:
        pass


def test_silent_address_times_out(ssh_server: sshserver.SshServer) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        mute = local_board(ssh_server, port=silent.getsockname()[1], connect_timeout=1)
        began = time.monotonic()
        with pytest.raises(errors.ConnectTimeout, match="doesn't answer"), mute:
            pass
        assert time.monotonic() - began < 8


def test_server_that_hangs_up(ssh_server: sshserver.SshServer) -> None:
    with socket.socket() as rude:
        rude.bind(("127.0.0.1", 0))
        rude.listen()

        def hang_up() -> None:
            rude.accept()[0].close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        board = local_board(ssh_server, port=rude.getsockname()[1])
        with pytest.raises(errors.ConnectError, match="closed the connection"), board:
            pass
        thread.join()


def test_unknown_name(ssh_server: sshserver.SshServer) -> None:
    nowhere = local_board(ssh_server, address="no-such-host.invalid")
    with pytest.raises(errors.AddressUnknown, match="no address known"), nowhere:
        pass


def test_another_host_key(ssh_server: sshserver.SshServer, tmp_path: Path) -> None:
    other = tmp_path / "other"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(other)], check=True)
    known = tmp_path / "known_hosts"
    known.write_text(f"{HOST} {other.with_suffix('.pub').read_text()}")
    with (
        pytest.raises(errors.HostKeyMismatch, match="another host key"),
        local_board(ssh_server, known_hosts=known),
    ):
        pass


def test_host_key_not_known_yet(ssh_server: sshserver.SshServer, tmp_path: Path) -> None:
    with (
        pytest.raises(errors.HostKeyMismatch, match="isn't known yet"),
        local_board(ssh_server, known_hosts=tmp_path / "empty"),
    ):
        pass


def test_key_refused(ssh_server: sshserver.SshServer, tmp_path: Path) -> None:
    other = tmp_path / "other"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(other)], check=True)
    with (
        pytest.raises(errors.KeyRefused, match="refuses the key") as caught,
        local_board(ssh_server, identity=other),
    ):
        pass
    assert "authorized_keys" in (caught.value.hint or "")


def test_key_file_that_is_no_key(ssh_server: sshserver.SshServer, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("not a key\n")
    other.chmod(0o600)
    with (
        pytest.raises(errors.KeyRefused, match="can't be used"),
        local_board(ssh_server, identity=other),
    ):
        pass


def test_wrong_option(ssh_server: sshserver.SshServer) -> None:
    with (
        pytest.raises(errors.ConfigError, match="doesn't accept the options"),
        local_board(ssh_server, options=("NoSuchOption=1",)),
    ):
        pass


def test_long_runtime_folder_is_avoided(
    ssh_server: sshserver.SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("x" * 90)
    deep.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with local_board(ssh_server) as board:
        assert board.exec(["true"]) == 0
