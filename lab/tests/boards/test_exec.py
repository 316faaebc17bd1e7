# SPDX-License-Identifier: BSD-2-Clause
"""`teemark exec`, `push`, `pull` and `shell` as a person uses them, on this machine over ssh."""

import contextlib
import os
import pty
import random
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import sshserver
from conftest import HOST
from teemark.boards import open_board
from waiting import PATIENCE_S, PATIENT_TEEMARK, TEEMARK, line_of, status_of, until

NOISE = random.Random(5).randbytes(500_000)


@pytest.fixture
def local(ssh_server: sshserver.SshServer, tmp_path: Path) -> str:
    """A board file for the local server, written as a user would."""
    path = tmp_path / "local.toml"
    path.write_text(
        f"""\
kind = "ssh"
address = "127.0.0.1"
user = "{ssh_server.user}"
port = {ssh_server.port}
identity = "{ssh_server.identity}"
options = [
    "UserKnownHostsFile={ssh_server.known_hosts}",
    "HostKeyAlias={HOST}",
    "StrictHostKeyChecking=yes",
]
"""
    )
    return str(path)


def teemark(*args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*TEEMARK, *args], input=stdin, capture_output=True, check=False)


def test_everything_passes_through(local: str) -> None:
    script = 'tee /dev/stderr; printf "%s" "$1"; exit 42'
    done = teemark("exec", local, "--", "sh", "-c", script, "sh", "--help", stdin=NOISE)
    assert (done.returncode, done.stdout, done.stderr) == (42, NOISE + b"--help", NOISE)


def test_verbose_shows_what_ssh_says(local: str, ssh_server: sshserver.SshServer) -> None:
    said = f"debug1: Offering public key: {ssh_server.identity} ".encode()
    done = teemark("-v", "exec", local, "--", "echo", "words")
    assert (done.returncode, done.stdout) == (0, b"words\n")
    assert said in done.stderr
    assert teemark("exec", local, "--", "true").stderr == b""
    text = Path(local).read_text().replace(str(ssh_server.port), str(sshserver.free_port()))
    Path(local).write_text(text)
    failed = teemark("-v", "exec", local, "--", "true").stderr
    assert b"ssh: connect to host 127.0.0.1 port " in failed
    assert b"\nteemark: error: local: " in failed


def test_options_of_the_command_need_no_dashes(local: str) -> None:
    assert teemark("exec", local, "printf", "%s", "--json").stdout == b"--json"
    assert teemark("exec", local, "--", "printf", "%s", "--", "x").stdout == b"--x"


def test_status_255_and_signals(local: str) -> None:
    assert teemark("exec", local, "--", "sh", "-c", "exit 255").returncode == 255
    assert teemark("exec", local, "--", "sh", "-c", "kill -9 $$").returncode == 137


def test_reader_that_goes_away_ends_the_command(local: str) -> None:
    with subprocess.Popen(
        [*TEEMARK, "exec", local, "--", "yes"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read(4) == b"y\ny\n"
        process.stdout.close()
        assert status_of(process) == 128 + signal.SIGPIPE


def test_input_that_nobody_reads(local: str) -> None:
    done = teemark("exec", local, "--", "head", "-c", "5", stdin=NOISE * 4)
    assert (done.returncode, done.stdout) == (0, NOISE[:5])


def test_ctrl_c_reaches_the_command_and_its_status_comes_back(local: str) -> None:
    """The shell there waits for a child in the foreground: only a signal to both ends it."""
    script = "trap 'echo caught; exit 9' INT; echo ready; sleep 6000; echo slept"
    argv = [*PATIENT_TEEMARK, "exec", local, "--", "sh", "-c", script]
    with subprocess.Popen(
        argv, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, start_new_session=True
    ) as process:
        assert line_of(process) == b"ready\n"
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the whole group
        assert line_of(process) == b"caught\n"
        assert status_of(process) == 9


def test_terminated_exec_ends_the_command_there(local: str, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    script = f"trap 'echo ended >{mark}; exit 143' TERM; echo ready; sleep 6000 & wait"
    argv = [*PATIENT_TEEMARK, "exec", local, "--", "sh", "-c", script]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.terminate()
        assert status_of(process) == 128 + signal.SIGTERM
    assert mark.read_text() == "ended\n"


def test_push_and_pull(local: str, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(NOISE)
    files = [str(tmp_path / "a"), str(tmp_path / "b")]
    assert teemark("push", local, *files, str(there)).returncode == 0
    assert (there / "b").read_bytes() == NOISE
    assert teemark("pull", local, str(there / "a"), str(tmp_path / "back")).returncode == 0
    assert (tmp_path / "back").read_bytes() == NOISE
    wrong = teemark("push", local, *files, str(tmp_path / "none"))
    assert wrong.returncode == 2
    assert b"is no folder\nhint: make it first" in wrong.stderr
    missing = teemark("pull", local, str(tmp_path / "none"), str(tmp_path))
    assert missing.returncode == 1
    assert b"No such file" in missing.stderr


@contextlib.contextmanager
def terminal(*args: str) -> Iterator[tuple[int, int]]:
    """teemark on a terminal of its own: its pid and the terminal's other end."""
    pid, end = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [*PATIENT_TEEMARK, *args])
    try:
        yield pid, end
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.close(end)


def read_until(end: int, text: bytes) -> bytes:
    """Returns what a terminal shows up to a text, or until it is closed."""
    seen = b""

    def comes() -> bool:
        nonlocal seen
        if not select.select([end], [], [], 1)[0]:
            return False
        try:
            seen += (more := os.read(end, 4096))
        except OSError:
            return True
        return text in seen or not more

    until(f"{text!r} on the terminal", comes, 0)
    return seen


def test_shell_on_a_terminal(local: str) -> None:
    with terminal("shell", local) as (pid, end):
        os.write(end, b"echo $((6*7))is; tty; stty size\n")
        seen = read_until(end, b"/dev/pts")
        assert b"42is" in seen
        # What says so is in the foreground already, and becomes what Ctrl-C ends.
        os.write(end, b"sh -c \"echo go''ing; exec sleep 6000\"\n")
        read_until(end, b"going")
        os.write(end, b"\x03")  # Ctrl-C
        os.write(end, b"exit 5\n")
        read_until(end, b"no such text ever")
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5


def test_ctrl_c_at_a_terminal(local: str) -> None:
    script = "trap 'echo caught; exit 9' INT; echo ready; sleep 6000"
    with terminal("exec", local, "--", "sh", "-c", script) as (pid, end):
        read_until(end, b"ready")
        os.write(end, b"\x03")
        assert b"caught" in read_until(end, b"caught")
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9


def test_typed_input_reaches_the_command(local: str) -> None:
    with terminal("exec", local, "--", "sh", "-c", "echo ready; read x; echo got $x") as (_, end):
        read_until(end, b"ready")
        os.write(end, b"words\n")
        assert b"got words" in read_until(end, b"got words")


def test_output_that_cannot_be_written_is_one_line_and_status_1(local: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*TEEMARK, "exec", local, "--", "seq", "100000"],
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            timeout=PATIENCE_S,
        )
    assert done.returncode == 1
    assert done.stderr == (
        b"teemark: error: can't write to standard output: No space left on device\n"
    )


@pytest.mark.parametrize("command", [("exec", "LOCAL", "--", "true"), ("plan", "list")])
def test_closed_output_is_refused_at_once(local: str, command: tuple[str, ...]) -> None:
    words = [local if word == "LOCAL" else word for word in command]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *TEEMARK, *words],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(b"teemark: error: standard output is closed\n")
    assert b"Traceback" not in done.stderr


def test_full_output_of_a_command_of_our_own() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*TEEMARK, "plan", "list"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1
    assert b"standard output: No space left on device" in done.stderr


HOLDS = """
import sys, time
from teemark.boards import open_board
with open_board(sys.argv[1]) as board, board.held_folder(sys.argv[2]) as folder:
    argv = ["env", f"WHERE={folder}/bin", "sh", "-c", "sleep 1000 & echo $!; wait"]
    with board.started(argv) as process:
        for line in process.lines():
            print(folder, line.decode(), flush=True)
"""


def test_a_held_folder_and_what_runs_in_it_end_with_the_connection(
    local: str, tmp_path: Path
) -> None:
    """kill -9 of `watch` left the watched program and its folder on the board."""
    argv = [sys.executable, "-c", HOLDS, local, str(tmp_path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        folder, pid = line_of(process).decode().split()
        assert Path(folder).is_dir()
        process.kill()
    until("the folder's end", lambda: not Path(folder).exists())
    until("the program's end", lambda: not Path(f"/proc/{pid}").exists())


def test_a_folder_whose_holder_was_killed_goes_with_the_next_one(
    local: str, tmp_path: Path
) -> None:
    with open_board(local) as board:
        with board.held_folder(str(tmp_path)) as folder:
            holder = int((Path(folder) / "holder").read_text())
            os.kill(holder, signal.SIGKILL)
            until("the holder's end", lambda: not Path(f"/proc/{holder}").exists())
        assert Path(folder).is_dir()
        with board.held_folder(str(tmp_path)) as other, board.held_folder(str(tmp_path)) as third:
            assert not Path(folder).exists()
            assert len({other, third} & set(map(str, tmp_path.glob("teemark-held.*")))) == 2
        assert not list(tmp_path.glob("teemark-held.*"))
