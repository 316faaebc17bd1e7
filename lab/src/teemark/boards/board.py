# SPDX-License-Identifier: BSD-2-Clause
"""A board that can be used: run commands there, copy files there and back.

    with open_board("qemu-v8") as board:
        status = board.exec(["uname", "-a"])
        text = board.capture(["teehash", "--version"]).text
        with board.stream(["teebench", "--cases", "-"], stdin=cases) as process:
            for line in process.lines():
                ...
        board.push(Path("data.bin"), "/data/data.bin")

Every command gets the folder of our programs first in its PATH. Exit statuses are the command's
own, 128+n when signal n killed it.
"""

from __future__ import annotations

import contextlib
import os
import platform
import select
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, TracebackType
from typing import IO, Self

from teemark.boards import remote, transfer
from teemark.boards.config import BoardFile, Config
from teemark.boards.ssh import Channel, Endpoint, Ssh, Stream
from teemark.errors import BoardError, CommandFailed, NoTee

_ESCALATION = ("INT", "TERM", "KILL")
"""What the first, second and third Ctrl-C send."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a command on the board left."""

    status: int
    stdout: bytes
    stderr: bytes

    @property
    def text(self) -> str:
        return self.stdout.decode(errors="replace")

    @property
    def complaint(self) -> str:
        return self.stderr.decode(errors="replace").strip()


class Process:
    """A command that runs on the board."""

    def __init__(self, board: Board, argv: Sequence[str], channel: Channel, job: str) -> None:
        self.argv = tuple(argv)
        self.interrupts = 0
        """How often Ctrl-C was passed on to the command."""
        self._board = board
        self._channel = channel
        self._job = job
        self._senders: list[threading.Thread] = []

    @property
    def stdin(self) -> IO[bytes] | None:
        return self._channel.process.stdin

    @property
    def stdout(self) -> IO[bytes]:
        out = self._channel.process.stdout
        assert out is not None, "the command's output was not asked for"
        return out

    def lines(self) -> Iterator[bytes]:
        """The command's output, a line at a time as it comes, newline included."""
        yield from self.stdout

    def signal(self, name: str) -> None:
        """Send a signal (INT, TERM, …) to the command and its children, without waiting."""
        sender = threading.Thread(target=self._send, args=(name,), daemon=True)
        self._senders.append(sender)
        sender.start()

    def _send(self, name: str) -> None:
        with contextlib.suppress(BoardError, OSError):
            self._board.signal_job(self._job, name)

    def wait(self, timeout: float | None = None) -> int:
        """The command's exit status; kills it and raises after `timeout` seconds."""
        try:
            status = self._channel.wait(timeout)
        except subprocess.TimeoutExpired:
            self.abandon()
            raise BoardError(
                f"{self._board.name}: `{' '.join(self.argv)[:80]}` took more than {timeout:g} s",
                hint="the board may hang: look at its console",
            ) from None
        for sender in self._senders:
            sender.join(2)
        return status

    def wait_while_read(self, output: int) -> int:
        """`wait`, but when whoever reads the pipe `output` goes away, the command dies of SIGPIPE
        as it would here; a dropbear is not told of it otherwise."""
        pid = self._channel.process.pid
        with contextlib.closing(_PidFd(pid)) as ended:
            watch = select.poll()
            watch.register(ended.fd, select.POLLIN)
            watch.register(output, 0)  # errors come unasked
            while True:
                events = dict(watch.poll())
                if ended.fd in events:
                    return self.wait()
                if events.get(output, 0) & select.POLLERR:
                    break
                watch.unregister(output)
        self.signal("PIPE")
        try:
            self._channel.process.wait(3)
        except subprocess.TimeoutExpired:
            self.abandon()
            return 128 + signal.SIGPIPE
        return self.wait()

    def abandon(self) -> None:
        """Make an end of the command and of its channel."""
        process = self._channel.process
        if process.poll() is None:
            self._send("TERM")
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    @contextlib.contextmanager
    def taking_interrupts(self) -> Iterator[None]:
        """Within this, Ctrl-C goes to the command on the board and not to us: first INT, then
        TERM, then KILL; after that it ends us too."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def pass_on(_signum: int, _frame: FrameType | None) -> None:
            if self.interrupts >= len(_ESCALATION):
                raise KeyboardInterrupt
            self.signal(_ESCALATION[self.interrupts])
            self.interrupts += 1

        before = signal.signal(signal.SIGINT, pass_on)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


class _PidFd:
    """A process as something that can be polled."""

    def __init__(self, pid: int) -> None:
        self.fd = os.pidfd_open(pid)

    def close(self) -> None:
        os.close(self.fd)


class Board:
    """A board over ssh. Virtual boards add power (teemark.boards.virtual)."""

    def __init__(self, file: BoardFile, endpoint: Endpoint) -> None:
        self.file = file
        self.name = file.name
        self.config: Config = file.config
        self.endpoint = endpoint
        self.ssh = Ssh(self.name, endpoint)

    # -- what this board is ------------------------------------------------------------------

    @property
    def emulated(self) -> bool:
        """Its timings are not those of silicon."""
        return False

    @property
    def deterministic(self) -> bool:
        """Its clock counts instructions."""
        return False

    @property
    def directory(self) -> str:
        """Where our programs are on the board."""
        return self.config.directory

    # -- connection --------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self.ssh.connect()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.ssh.close()

    # -- commands ----------------------------------------------------------------------------

    def start(
        self,
        argv: Sequence[str],
        *,
        stdin: Stream = subprocess.DEVNULL,
        stdout: Stream = None,
        stderr: Stream = None,
        env: Mapping[str, str] | None = None,
        terminal: bool = False,
    ) -> Process:
        """Start a command; the caller waits for it. None streams are this process's own."""
        job = remote.new_job()
        sudo = getattr(self.config, "sudo", False)
        line = remote.command_line(argv, job=job, directory=self.directory, sudo=sudo, env=env)
        channel = self.ssh.open_channel(
            line, stdin=stdin, stdout=stdout, stderr=stderr, terminal=terminal
        )
        return Process(self, argv, channel, job)

    def exec(
        self,
        argv: Sequence[str],
        *,
        stdin: Stream = subprocess.DEVNULL,
        stdout: Stream = None,
        stderr: Stream = None,
        env: Mapping[str, str] | None = None,
        terminal: bool = False,
        check: bool = False,
        timeout: float | None = None,
    ) -> int:
        """Run a command to its end and return its exit status. Ctrl-C reaches it."""
        process = self.start(
            argv, stdin=stdin, stdout=stdout, stderr=stderr, env=env, terminal=terminal
        )
        try:
            with process.taking_interrupts():
                if stdout is None and timeout is None and not terminal:
                    status = process.wait_while_read(1)
                else:
                    status = process.wait(timeout)
        finally:
            process.abandon()
        if check and status != 0:
            raise self._failed(argv, status, "")
        return status

    def capture(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes | IO[bytes] = b"",
        env: Mapping[str, str] | None = None,
        check: bool = True,
        timeout: float | None = None,
    ) -> Result:
        """Run a command and keep its output; with `check`, a status other than 0 raises."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            with contextlib.ExitStack() as stack:
                if isinstance(stdin, bytes):
                    source = stack.enter_context(tempfile.TemporaryFile())
                    source.write(stdin)
                    source.seek(0)
                else:
                    source = stdin  # type: ignore[assignment]
                process = self.start(argv, stdin=source, stdout=out, stderr=err, env=env)
                try:
                    status = process.wait(timeout)
                finally:
                    process.abandon()
            out.seek(0)
            err.seek(0)
            result = Result(status, out.read(), err.read())
        if check and status != 0:
            raise self._failed(argv, status, result.complaint)
        return result

    def script(
        self, text: str, *args: str, stdin: bytes | IO[bytes] = b"", check: bool = True
    ) -> Result:
        """Run a POSIX shell script with arguments $1, $2, …"""
        return self.capture(remote.script(text, *args), stdin=stdin, check=check)

    @contextlib.contextmanager
    def stream(
        self,
        argv: Sequence[str],
        *,
        stdin: Stream = subprocess.DEVNULL,
        stderr: Stream = None,
        env: Mapping[str, str] | None = None,
    ) -> Iterator[Process]:
        """A command whose output is read while it runs. Ctrl-C goes to the command, so that it
        can end its output properly: read on until it does, then `wait`."""
        process = self.start(argv, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, env=env)
        try:
            with process.taking_interrupts():
                yield process
        finally:
            process.abandon()

    def signal_job(self, job: str, name: str) -> None:
        self.capture(remote.signal_argv(job, name), check=False, timeout=20)

    def _failed(self, argv: Sequence[str], status: int, complaint: str) -> CommandFailed:
        said = f": {complaint.splitlines()[-1]}" if complaint else ""
        return CommandFailed(
            f"{self.name}: `{' '.join(argv)[:80]}` ended with status {status}{said}",
            argv=argv,
            status=status,
            stderr=complaint,
        )

    # -- files -------------------------------------------------------------------------------

    def push(self, local: Path, target: str, *, mode: int | None = None) -> None:
        """Copy a file or folder to the board: written beside its place, checked by digest, then
        renamed, so that a reader sees the old one or the new one. `mode` None keeps the file's."""
        transfer.push(self, local, target, mode=mode)

    def pull(self, source: str, local: Path) -> list[str]:
        """Copy a file or folder from the board, checked and renamed as for `push`. Returns what
        of a folder was left out, and why (teemark.boards.unpack)."""
        return transfer.pull(self, source, local)

    # -- facts -------------------------------------------------------------------------------

    def architecture(self) -> str:
        """aarch64, armhf, or native where it is like this machine's."""
        return architecture(self.capture(["uname", "-m"]).text.strip())

    def require_tee(self) -> None:
        """Raise NoTee, with what to do, if a client application can't work here."""
        found = self.script(_TEE_SCRIPT).text.split()
        if "device" not in found:
            raise NoTee(
                f"{self.name}: there is no /dev/tee0",
                hint="OP-TEE isn't in this board's firmware, or the kernel's optee driver isn't "
                "loaded: see `dmesg | grep -i optee` there",
            )
        if "usable" not in found:
            raise NoTee(
                f"{self.name}: /dev/tee0 is there, but not for this user",
                hint="log in as root, set sudo = true in the board file, or add the user to the "
                "group of the device",
            )
        if "libteec" not in found:
            raise NoTee(
                f"{self.name}: there is no libteec.so.1 or libteec.so.2",
                hint="install OP-TEE's client library on the board (Debian: libteec2)",
            )
        if "supplicant" not in found:
            raise NoTee(
                f"{self.name}: tee-supplicant isn't running, so no TA can be loaded",
                hint="start it on the board: tee-supplicant -d",
            )


def architecture(machine: str) -> str:
    """What `uname -m` says as the name of a folder in build/host."""
    if machine.startswith(("armv7", "armv8")):
        return "armhf"
    same = machine == platform.machine() and machine != "aarch64"
    return "native" if same else machine


_TEE_SCRIPT = """\
[ -e /dev/tee0 ] && echo device
[ -r /dev/tee0 ] && [ -w /dev/tee0 ] && echo usable
for d in /lib /usr/lib /lib64 /usr/lib64 /lib/*-linux-gnu* /usr/lib/*-linux-gnu* /usr/local/lib \
    /vendor/lib*; do
  for f in "$d"/libteec.so*; do [ -e "$f" ] && { echo libteec; break 2; }; done
done
for f in /proc/[0-9]*/comm; do
  read -r c <"$f" 2>/dev/null && case $c in tee-supplicant*) echo supplicant; break;; esac
done
exit 0
"""
