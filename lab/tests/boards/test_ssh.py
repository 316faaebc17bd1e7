# SPDX-License-Identifier: BSD-2-Clause
"""The transport, against a real ssh server on this machine."""

import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sshserver
from conftest import HOST, local_board
from teemark.base import errors
from teemark.boards import Board, command_lines, ssh, ssh_messages
from teemark.boards.endpoint import Endpoint
from teemark.boards.instances import start_time
from teemark.boards.shell import COMPLAINT_MAX
from waiting import line_of, output_of, until_gone

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
    """The end of stderr is kept."""
    result = board.capture(["sh", "-c", "tee /dev/stderr"], stdin=NOISE)
    assert result.stdout == NOISE
    assert result.stderr == NOISE[-COMPLAINT_MAX:]


def test_no_such_command_is_127_and_says_so(board: Board) -> None:
    result = board.capture(["no-such-program"], check=False)
    assert result.status == 127
    assert "no-such-program" in result.complaint


def test_checked_failure_names_the_command_and_its_last_word(board: Board) -> None:
    with pytest.raises(errors.CommandFailed, match=r"`sh .*` ended with status 3: sorry"):
        board.capture(["sh", "-c", "echo sorry >&2; exit 3"])


@settings(
    max_examples=settings().max_examples // 2,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(words=st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8")), max_size=5))
def test_arguments_arrive_as_they_are(board: Board, words: list[str]) -> None:
    argv = ["sh", "-c", 'for a; do printf "%s\\0" "$a"; done', "sh", *words]
    assert board.capture(argv).stdout == b"".join(w.encode() + b"\0" for w in words)


def test_path_begins_with_our_folder(board: Board, ssh_server: sshserver.SshServer) -> None:
    path = board.capture(["sh", "-c", 'printf %s "$PATH"']).text
    assert path.split(":")[0] == str(ssh_server.home / "our programs")
    assert "/usr/bin" in path.split(":")


def test_lines_come_while_the_command_runs(board: Board) -> None:
    script = "echo one; read x; echo got $x"
    with board.stream(["sh", "-c", script], stdin=subprocess.PIPE) as process:
        lines = process.lines()
        assert next(lines) == b"one\n"
        assert process.process.stdin is not None
        process.process.stdin.write(b"two\n")
        process.process.stdin.close()
        assert next(lines) == b"got two\n"
        assert process.wait() == 0


STUBBORN = """\
import sys
from pathlib import Path
import sshserver
from conftest import local_board
from teemark.base import shutdown
from teemark.boards import shell

shutdown.GRACE_S = float(sys.argv[4])
shutdown.PATIENCE_S = shutdown.LAST_S = shutdown.AT_ONCE_S = shell._TELLING_S = 600
shutdown.install()
server = sshserver.SshServer(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), None)
script = "trap 'echo caught' INT; trap '' TERM; echo $$; while :; do sleep 0.1; done"
with local_board(server) as board, board.stream(["sh", "-c", script]) as process:
    for line in process.lines():
        print(line.decode(), end="", flush=True)
"""


@pytest.mark.parametrize(("signals", "grace_s"), [(1, 0.5), (2, 6000)])
def test_stubborn_command_has_a_moment_and_is_killed_then(
    ssh_server: sshserver.SshServer, signals: int, grace_s: float
) -> None:
    """The second Ctrl-C doesn't wait for it."""
    server = [str(ssh_server.directory), ssh_server.user, str(ssh_server.port)]
    with subprocess.Popen(
        [sys.executable, "-c", STUBBORN, *server, str(grace_s)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        there = int(line_of(process))
        process.send_signal(signal.SIGINT)
        if signals == 2:
            assert line_of(process) == b"caught\n"
            process.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in output_of(process)[1]
    until_gone(there, "the command there")


def test_timeout_ends_the_command_there(board: Board, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    for timeout in (0.5, 5.0, 50.0):  # until it was reached after the command had begun
        with pytest.raises(errors.BoardError, match=f"took more than {timeout:g} s"):
            board.capture(["sh", "-c", f"echo $$ >{mark}; exec sleep 6000"], timeout=timeout)
        if mark.exists():
            break
    until_gone(int(mark.read_text()), "the command there")


def test_too_long_a_command_is_refused_here() -> None:
    with pytest.raises(errors.BoardError, match="bytes long"):
        command_lines.command_line(["echo", "x" * 9000], job="0", directory="/p")


def test_connection_dies_with_a_killed_process(
    ssh_server: sshserver.SshServer, tmp_path: Path
) -> None:
    code = (
        "import sys, time; sys.path[:0] = sys.argv[1].split(':')\n"
        "from pathlib import Path; import sshserver; from conftest import local_board\n"
        "s = sshserver.SshServer(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), None)\n"
        "with local_board(s) as b:\n"
        "    print(b.ssh._master.pid, flush=True); time.sleep(6000)\n"
    )
    here = ":".join(str(Path(__file__).parents[1] / name) for name in (".", "tools"))
    argv = [sys.executable, "-c", code, here, str(ssh_server.directory), ssh_server.user]
    process = subprocess.Popen([*argv, str(ssh_server.port)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout:
        master = int(process.stdout.readline())
        assert start_time(master) is not None
        process.kill()
        process.wait()
    until_gone(master, "ssh")


@pytest.mark.parametrize(
    ("trap", "status"), [("n=$((n+1)); [ $n -lt 2 ] || exit 0", 0), ("", -signal.SIGKILL)]
)
def test_a_master_that_misses_the_signal_is_asked_again(trap: str, status: int) -> None:
    script = f"n=0; trap '{trap}' TERM; echo ready; while :; do sleep 0.02; done"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE) as master:
        assert master.stdout is not None
        assert master.stdout.readline() == b"ready\n"
        ssh.end(master, 1)
        assert master.returncode == status


def test_connection_lost_in_mid_run(tmp_path: Path) -> None:
    server = sshserver.start(tmp_path, HOST)
    try:
        with local_board(server) as board:
            with board.stream(["sh", "-c", "echo ready; sleep 6000"]) as process:
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
            with board.stream(["sh", "-c", "echo ready; sleep 6000"]) as process:
                assert next(process.lines()) == b"ready\n"
                monkeypatch.setattr(ssh.Ssh, "connected", property(lambda _: True))
                server.stop()
                with pytest.raises(errors.ConnectionLost, match="broke off"):
                    process.wait()
    finally:
        server.stop()


def test_connection_refused(ssh_server: sshserver.SshServer) -> None:
    closed = local_board(ssh_server, port=sshserver.free_port())
    with pytest.raises(errors.ConnectError, match="refuses connections"), closed:
        pass


def test_silent_address_times_out(ssh_server: sshserver.SshServer) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        mute = local_board(ssh_server, port=silent.getsockname()[1], connect_timeout=1)
        with pytest.raises(errors.ConnectError, match="doesn't answer"), mute:
            pass


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
    with pytest.raises(errors.ConnectError, match="no address known for"), nowhere:
        pass


def make_key(folder: Path, name: str, passphrase: str = "") -> Path:
    argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", str(folder / name)]
    subprocess.run(argv, check=True)
    return folder / name


def failure(server: sshserver.SshServer, **changes: object) -> errors.TeemarkError:
    """Why a board can't be reached."""
    with pytest.raises(errors.TeemarkError) as caught, local_board(server, **changes):
        pass
    return caught.value


def run_hint(error: errors.TeemarkError, program: str) -> None:
    """The command of a hint, as somebody copies it."""
    found = re.search(rf"{program} .*", error.hint or "")
    assert found, error.hint
    command = re.split(r"; | \(|\)", found[0])[0]
    subprocess.run(["sh", "-c", command], check=True, capture_output=True)


def fingerprint(server: sshserver.SshServer) -> str:
    argv = ["ssh-keygen", "-lf", str(server.known_hosts)]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.split()[1]


def test_another_host_key(ssh_server: sshserver.SshServer, tmp_path: Path) -> None:
    """The hint's command removes just the old key, from the file that has it, port and all."""
    other = make_key(tmp_path, "other").with_suffix(".pub").read_text()
    known = tmp_path / "known hosts"
    name = f"[127.0.0.1]:{ssh_server.port}"
    known.write_text(f"some-other-host {other}{name} {other}")
    error = failure(ssh_server, known_hosts=known, host_alias=name)
    assert isinstance(error, errors.ConnectError)
    assert "shows another host key" in error.message
    assert f"({known}, line 2)" in error.message
    assert f"ssh-ed25519 {fingerprint(ssh_server)}" in error.message
    run_hint(error, "ssh-keygen")
    assert known.read_text() == f"some-other-host {other}"
    error = failure(ssh_server, known_hosts=known, host_alias=name)
    assert "isn't known yet" in error.message


def test_host_key_not_known_yet(ssh_server: sshserver.SshServer, tmp_path: Path) -> None:
    """The fingerprint that is shown is the server's own."""
    error = failure(ssh_server, known_hosts=tmp_path / "empty")
    assert isinstance(error, errors.ConnectError)
    assert f"isn't known yet: ssh-ed25519 {fingerprint(ssh_server)}" in error.message
    assert f'UserKnownHostsFile="{tmp_path}/empty"\' -o HostKeyAlias=' in (error.hint or "")
    assert f"-p {ssh_server.port} {ssh_server.user}@127.0.0.1 true" in (error.hint or "")


def test_key_refused(ssh_server: sshserver.SshServer, tmp_path: Path) -> None:
    other = make_key(tmp_path, "other")
    error = failure(ssh_server, identity=other)
    assert isinstance(error, errors.ConnectError)
    assert f"refuses the key {other} (SHA256:" in error.message
    to = f"{ssh_server.user}@127.0.0.1"
    assert f"ssh-copy-id -i {other}.pub -p {ssh_server.port} {to};" in (error.hint or "")
    unknown = failure(ssh_server, user="nobody-here")
    assert f"nobody-here@127.0.0.1 refuses the key {ssh_server.identity} " in unknown.message
    assert "is `user` right" in (unknown.hint or "")


def test_a_key_with_a_passphrase_is_not_refused(
    ssh_server: sshserver.SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    locked = make_key(tmp_path, "locked", "secret")
    allowed = ssh_server.home / ".ssh" / "authorized_keys"
    before = allowed.read_text()
    refused = failure(ssh_server, identity=locked)
    assert f"refuses the key {locked} " in refused.message
    allowed.write_text(before + locked.with_suffix(".pub").read_text())
    try:
        error = failure(ssh_server, identity=locked)
    finally:
        allowed.write_text(before)
    assert isinstance(error, errors.ConnectError)
    assert f"would take the key {locked}, but it has a passphrase" in error.message
    assert "refuses" not in error.message
    assert f"ssh-add {locked} " in (error.hint or "")


def test_key_files_that_cannot_be_used(ssh_server: sshserver.SshServer, tmp_path: Path) -> None:
    missing = failure(ssh_server, identity=tmp_path / "missing")
    assert missing.message == f"local: there is no key file {tmp_path}/missing"
    assert missing.hint == "check `identity` in the board file"

    loose = tmp_path / "loose key"
    shutil.copy(ssh_server.identity, loose)
    loose.chmod(0o644)
    error = failure(ssh_server, identity=loose)
    assert error.message == (
        f"local: others may read the key {loose} (mode 0644), so ssh doesn't use it"
    )
    run_hint(error, "chmod")
    with local_board(ssh_server, identity=loose) as board:
        assert board.exec(["true"]) == 0

    public = failure(ssh_server, identity=ssh_server.identity.with_suffix(".pub"))
    assert "id.pub is the public half of a key" in public.message
    assert f"name the private one, {ssh_server.identity}," in (public.hint or "")

    junk = tmp_path / "junk"
    junk.write_text("not a key\n")
    junk.chmod(0o600)
    assert (
        f"{junk} is no private key that ssh can read" in failure(ssh_server, identity=junk).message
    )
    for one in (missing, error, public):
        assert isinstance(one, errors.ConnectError)


def test_no_key_at_all(ssh_server: sshserver.SshServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    error = failure(ssh_server, identity=None, options=("IdentityFile=none",))
    assert "there is no key to show to" in error.message
    assert "ssh-keygen" in (error.hint or "")


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("NoSuchOption=1", "Bad configuration option: nosuchoption"),
        ("Compression=perhaps", 'unsupported option "perhaps"'),
        ("ConnectTimeout=soon", "invalid time value"),
        ("Ciphers=nonsense", "Bad SSH2 cipher spec 'nonsense'"),
    ],
)
def test_a_rejected_option_is_named(ssh_server: sshserver.SshServer, option: str, why: str) -> None:
    error = failure(ssh_server, options=("TCPKeepAlive=yes", option, "Compression=yes"))
    assert isinstance(error, errors.ConfigError)
    assert error.message == f"local: ssh doesn't accept the `options` in the board file: {why}"


def test_a_gateway_that_is_off_is_named(ssh_server: sshserver.SshServer) -> None:
    error = failure(ssh_server, options=("ProxyJump=127.0.0.1:1",))
    assert error.message == "local: 127.0.0.1:1 refuses connections"


def test_what_is_no_ssh_server(ssh_server: sshserver.SshServer) -> None:
    with socket.socket() as web:
        web.bind(("127.0.0.1", 0))
        web.listen()

        def answer() -> None:
            with web.accept()[0] as one:
                one.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\n" + bytes(300))

        thread = threading.Thread(target=answer)
        thread.start()
        error = failure(ssh_server, port=web.getsockname()[1])
        thread.join()
    assert "is no ssh server" in error.message


def test_the_users_own_configuration_is_named_where_it_is_wrong() -> None:
    said = (
        "/home/u/.ssh/config: line 3: Bad configuration option: colour\n"
        "/home/u/.ssh/config: terminating, 1 bad configuration options\n"
    )
    error = ssh_messages.connect_error("b", Endpoint("h"), said)
    assert "/home/u/.ssh/config, line 3: Bad configuration option: colour" in error.message


def test_old_servers_offer_what_can_be_allowed() -> None:
    said = (
        "debug1: Connecting to h [1.2.3.4] port 22.\n"
        "Unable to negotiate with 1.2.3.4 port 22: no matching host key type found. "
        "Their offer: ssh-rsa,ssh-dss\r\n"
    )
    error = ssh_messages.connect_error("b", Endpoint("h"), said)
    assert "no host key type in common; it offers ssh-rsa,ssh-dss" in error.message
    assert 'options = ["HostKeyAlgorithms=+ssh-rsa"]' in (error.hint or "")


def test_long_runtime_folder_is_avoided(
    ssh_server: sshserver.SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("x" * 90)
    deep.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with local_board(ssh_server) as board:
        assert board.exec(["true"]) == 0
