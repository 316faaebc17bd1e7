# SPDX-License-Identifier: BSD-2-Clause
"""Commands on a board, each a channel of its one connection.

Every command gets the folder of our programs first in its PATH. Exit statuses are the command's
own, 128+n when signal n killed it.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import IO, Self

from teemark.base.errors import BoardError, CommandFailed
from teemark.boards import command_lines
from teemark.boards.config import Config
from teemark.boards.endpoint import Endpoint
from teemark.boards.ssh import Channel, Ssh, Stream

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

    def __init__(self, shell: Shell, argv: Sequence[str], channel: Channel, job: str) -> None:
        self.argv = tuple(argv)
        self.interrupts = 0
        """How often Ctrl-C was passed on to the command."""
        self._shell = shell
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
            self._shell.signal_job(self._job, name)

    def wait(self, timeout: float | None = None) -> int:
        """The command's exit status; kills it and raises after `timeout` seconds."""
        try:
            status = self._channel.wait(timeout)
        except subprocess.TimeoutExpired:
            self.abandon()
            raise BoardError(
                f"{self._shell.name}: `{' '.join(self.argv)[:80]}` took more than {timeout:g} s",
                hint="the board may hang: look at its console",
            ) from None
        for sender in self._senders:
            sender.join(2)
        return status

    def pass_output(self, output: int) -> int:
        """Copy the command's output to the file descriptor `output` until it ends; its status.
        OSError when that can't be written. When whoever reads it goes away, the command dies of
        SIGPIPE as it would here; a dropbear is not told of it otherwise."""
        source = self.stdout.fileno()
        watch = select.poll()
        watch.register(source, select.POLLIN)
        watch.register(output, 0)  # errors come unasked
        try:
            while True:
                events = dict(watch.poll())
                if source in events:
                    data = os.read(source, 1 << 16)
                    if not data:
                        return self.wait()
                    _write_all(output, data)
                elif events.get(output, 0) & select.POLLERR:
                    break
                else:
                    watch.unregister(output)
        except BrokenPipeError:
            pass
        self.signal("PIPE")
        self.stdout.close()
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


def _write_all(output: int, data: bytes) -> None:
    """Also where ssh, which has it as its stderr, made it non-blocking."""
    left = memoryview(data)
    while left:
        try:
            left = left[os.write(output, left) :]
        except BlockingIOError:
            select.select([], [output], [])


class Shell:
    """A board as something that runs commands, while its connection is open."""

    def __init__(self, name: str, config: Config, endpoint: Endpoint) -> None:
        self.name = name
        self.config = config
        self.endpoint = endpoint
        self.ssh = Ssh(name, endpoint)

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
        job = command_lines.new_job()
        sudo = getattr(self.config, "sudo", False)
        line = command_lines.command_line(
            argv, job=job, directory=self.config.directory, sudo=sudo, env=env
        )
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
        copied = stdout is None and timeout is None and not terminal
        if copied:
            stdout = subprocess.PIPE
        process = self.start(
            argv, stdin=stdin, stdout=stdout, stderr=stderr, env=env, terminal=terminal
        )
        try:
            with process.taking_interrupts():
                status = process.pass_output(1) if copied else process.wait(timeout)
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
        return self.capture(command_lines.script(text, *args), stdin=stdin, check=check)

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
        self.capture(command_lines.signal_argv(job, name), check=False, timeout=20)

    def _failed(self, argv: Sequence[str], status: int, complaint: str) -> CommandFailed:
        said = f": {complaint.splitlines()[-1]}" if complaint else ""
        return CommandFailed(
            f"{self.name}: `{' '.join(argv)[:80]}` ended with status {status}{said}",
            argv=argv,
            status=status,
            stderr=complaint,
        )
