# SPDX-License-Identifier: BSD-2-Clause
"""Runs commands on a board, each over a channel of the board's one connection.

Every command gets the folder of our programs first in its PATH. An exit status is the command's
own, or 128+n if signal n killed the command.
"""

import contextlib
import os
import secrets
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Self

from teemark.base import shutdown
from teemark.base.errors import BoardError, BoardHangs, CommandFailed
from teemark.boards import answers, command_lines
from teemark.boards.config import Config
from teemark.boards.endpoint import Endpoint
from teemark.boards.ssh import Ssh, Stream, end
from teemark.boards.ssh_messages import root_error

LINE_MAX = 4 << 20
"""Largest line of a command's output, bytes; the longest of our own programs are 40 KiB."""
ANSWER_MAX = 16 << 20
"""Largest answer that is kept in memory, bytes."""
COMPLAINT_MAX = 64 << 10
"""Bytes of stderr that are kept: the last ones."""
GREETING_MAX = 4 << 10
"""Bytes kept of a shell's greeting, for the error if no command follows."""
ASK_S = 120.0
"""Seconds allowed for a short command; a slow board needs a second or two."""
LEAVING_S = 30.0
"""Seconds allowed for the last step of a command, such as removing its folder."""
_SIGNAL_S = 2.0
"""Seconds allowed until a board has passed on a signal and the command has ended."""

_TELLING_S = 0.3
"""Seconds allowed for sending a signal: less than the shutdown.AT_ONCE_S after a second Ctrl-C."""


@dataclass(frozen=True, slots=True)
class Result:
    """The status and the output of a command on the board."""

    status: int
    stdout: bytes
    stderr: bytes
    """The last COMPLAINT_MAX bytes of stderr."""

    @property
    def text(self) -> str:
        return self.stdout.decode(errors="replace")

    @property
    def complaint(self) -> str:
        return self.stderr.decode(errors="replace").strip()


@dataclass(eq=False, slots=True)
class Process:
    """A command that runs on the board. `whole` is true once all of its output has come; `stderr`
    is the end of its stderr, as far as it was read."""

    _shell: "Shell"
    argv: Sequence[str]
    process: subprocess.Popen[bytes]
    """The ssh process on this machine."""
    _log: Path
    _job: str
    _marked: bool
    whole: bool = False
    stderr: bytes = b""
    _greeting: bytes = b""
    _begun: bool = False
    _signalled: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._begun = self.whole = not self._marked

    @property
    def complaint(self) -> str:
        return self.stderr.decode(errors="replace").strip()

    def error(self, what: str, hint: str | None = None) -> BoardError:
        return BoardError(f"{self._shell.name}: {_words(self.argv)} {what}", hint=hint)

    def chunks(self, tick: float | None = None, *, timeout: float | None = None) -> Iterator[bytes]:
        """Yields the command's output as it comes. Yields b"" after `tick` seconds without output,
        and when stderr had something, so that the caller can look at the time. Raises BoardError if
        the command takes longer than `timeout` seconds."""
        if shutdown.signalled():
            tick = 0.1
        elif timeout is not None:
            tick = min(tick or timeout, timeout / 8)
        began = time.monotonic()
        for data in self._between_marks(tick):
            yield data
            if shutdown.signalled() and not shutdown.patience(1):
                raise self._hangs(f"took more than {shutdown.PATIENCE_S:g} s")
            if timeout is not None and time.monotonic() - began > timeout:
                raise self._hangs(f"took more than {timeout:g} s")

    def _between_marks(self, tick: float | None) -> Iterator[bytes]:
        raw = self._raw(tick)
        if not self._marked:
            yield from raw
            return
        begin, end = command_lines.marks(self._job)
        held = b""
        for data in raw:
            held += data
            if not self._begun:
                before, mark, after = held.partition(begin)
                self._begun = bool(mark)
                self._greeting = before[-GREETING_MAX:]
                held = after if mark else held[-GREETING_MAX:]
            if not self._begun or self.whole:
                held = b"" if self.whole else held
                yield b""
                continue
            output, mark, _ = held.partition(end)
            self.whole = bool(mark)
            keep = 0 if mark else _overlap(output, end)
            held = output[len(output) - keep :]
            yield output[: len(output) - keep]
        if held and self._begun and not self.whole:
            yield held

    def _raw(self, tick: float | None) -> Iterator[bytes]:
        stdout, stderr = self.process.stdout, self.process.stderr
        streams = {stream.fileno() for stream in (stdout, stderr) if stream is not None}
        out = stdout.fileno() if stdout is not None else -1
        watch = select.poll()
        for stream in streams:
            watch.register(stream, select.POLLIN)
        while streams:
            events = watch.poll(None if tick is None else tick * 1000)
            if not events:
                yield b""
            for stream, _ in events:
                data = os.read(stream, 1 << 16)
                if not data:
                    streams.remove(stream)
                    watch.unregister(stream)
                elif stream == out:
                    yield data
                else:
                    self.stderr = (self.stderr + data)[-COMPLAINT_MAX:]
                    yield b""

    def lines(self, tick: float | None = None, *, timeout: float | None = None) -> Iterator[bytes]:
        """Yields the command's output line by line as it comes, newlines included. With `tick` it
        also yields b"" as `chunks` does. Raises BoardError for a line longer than LINE_MAX."""
        held = b""
        for data in self.chunks(tick, timeout=timeout):
            if not data and tick is not None:
                yield b""
            *whole, held = (held + data).split(b"\n") if b"\n" in data else (held + data,)
            if max(len(held), *map(len, whole), 0) > LINE_MAX:
                raise self.error(f"sends a line of more than {LINE_MAX >> 20} MiB")
            yield from (line + b"\n" for line in whole)
        if held:
            yield held

    def copy(
        self, take: Callable[[bytes], object], timeout: float | None, silence: float | None = None
    ) -> int:
        """Gives the command's output to `take`, and returns its exit status. Raises BoardError if
        the command takes longer than `timeout` seconds, or is silent for `silence` seconds."""
        heard = time.monotonic()
        for data in self.chunks(silence and silence / 8, timeout=timeout):
            now = time.monotonic()
            if data:
                heard = now
                take(data)
            if silence is not None and now - heard > silence:
                raise self._hangs(f"says nothing for {silence:g} s")
        return self.wait(ASK_S)

    def wait(self, timeout: float | None = None) -> int:
        """Returns the command's exit status. After `timeout` seconds it kills the command and
        raises BoardError; if the connection broke off first, it raises ConnectionLost."""
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise self._hangs(f"took more than {timeout:g} s") from None
        if (status == 255 or status < 0) and (error := self._shell.ssh.trouble(self._log)):
            raise error
        with contextlib.suppress(OSError):
            self._log.unlink(missing_ok=True)
        status = status if status >= 0 else 128 - status
        if not self._begun:
            greeting = answers.shown(self._greeting.decode(errors="replace"))
            raise self.error(
                f"isn't run by the shell there (status {status}), which says {greeting}",
                hint=f"what does `ssh {self._shell.endpoint} true` say? The account needs a shell",
            )
        return status

    def _hangs(self, what: str) -> BoardError:
        self.abandon()
        return BoardHangs(self.error(what).message, hint="the board may hang: see its console")

    def signal(self, name: str) -> None:
        """Sends a signal (INT, TERM, …) to the command and its children, without waiting."""
        argv = command_lines.script(command_lines.SIGNAL, self._job, name)
        none = subprocess.DEVNULL
        with contextlib.suppress(BoardError, OSError):
            sender = self._shell.start(argv, stdout=none, stderr=none, marked=False)
            self._signalled.append(sender.process)

    def abandon(self) -> None:
        """Ends the command and closes its channel, even if the board no longer answers."""
        for teller in self._signalled:  # a slow board passes a signal on late
            _wait(teller, 1)
        if self._signalled:
            _wait(self.process, 0.3)
        if self.process.poll() is None:
            self.signal("KILL" if self._signalled else "TERM")
            end(self.process, _SIGNAL_S, ask=False)
        for teller in self._signalled:  # after a second Ctrl-C, too: no job may stay on the board
            with contextlib.suppress(subprocess.TimeoutExpired):
                teller.wait(_TELLING_S)
            end(teller, 0)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def pass_output(self, output: int) -> int:
        """Copies the command's output to the file descriptor `output`; returns the command's
        status. Raises OSError if `output` can't be written. If the reader of `output` goes away,
        the command gets SIGPIPE as it would here, since a dropbear doesn't tell it."""
        out = self.process.stdout
        assert out is not None, "the command's output was not asked for"
        watch = select.poll()
        watch.register(output, 0)  # poll reports errors unasked
        with contextlib.suppress(BrokenPipeError):
            for data in self._raw(0.2):
                _write_all(output, data)
                if any(event & select.POLLERR for _, event in watch.poll(0)):
                    break
            else:
                return self.wait()
        self.signal("PIPE")
        out.close()
        try:
            self.process.wait(3)
        except subprocess.TimeoutExpired:
            self.abandon()
            return 128 + signal.SIGPIPE
        return self.wait()


def _words(argv: Sequence[str]) -> str:
    if command_lines.is_script(argv):
        return "a script of teemark's"
    return f"`{' '.join(' '.join(argv).split())[:80]}`"


def _overlap(data: bytes, end: bytes) -> int:
    """Returns how many bytes at the end of `data` may be the beginning of `end`."""
    return next((n for n in range(min(len(end), len(data)), 0, -1) if data.endswith(end[:n])), 0)


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(shutdown.patience(seconds))


def _write_all(output: int, data: bytes) -> None:
    """Writes all data, even if ssh made `output` non-blocking, as it does with its stderr."""
    left = memoryview(data)
    while left:
        try:
            left = left[os.write(output, left) :]
        except BlockingIOError:
            select.select([], [output], [])


class Shell:
    """A board that runs commands, while the connection to it is open."""

    environment: tuple[str, ...] = ()
    """Variables of each command, as NAME=VALUE."""

    def __init__(self, name: str, config: Config, endpoint: Endpoint) -> None:
        self.name = name
        self.config = config
        self.endpoint = endpoint
        self.ssh = Ssh(name, endpoint)

    def __enter__(self) -> Self:
        self.ssh.connect()
        return self

    def __exit__(self, *_ending: object) -> None:
        self.ssh.close()

    def start(
        self, argv: Sequence[str], *, terminal: bool = False, marked: bool = True, **streams: Stream
    ) -> Process:
        """Starts a command, which the caller reads and waits for. `streams` are its stdin (default:
        none), stdout and stderr (default: pipes); None is this process's own stream. With `marked`,
        only the text between two marks in stdout counts as the command's output."""
        pipes: dict[str, Stream] = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
        streams = pipes | {"stdin": subprocess.DEVNULL} | streams
        job = secrets.token_hex(8)
        how: dict[str, Any] = {name: getattr(self.config, name, False) for name in ("sudo", "su")}
        how |= {"directory": self.config.directory, "environment": self.environment}
        line = command_lines.command_line(argv, job=job, marked=marked, **how)
        process, log = self.ssh.open_channel(line, terminal=terminal, **streams)
        return Process(self, tuple(argv), process, log, job, marked)

    @contextlib.contextmanager
    def started(
        self, argv: Sequence[str], *, stdin: bytes | Stream = subprocess.DEVNULL, **how: Any
    ) -> Iterator[Process]:
        """Starts a command as `start` does, and ends the command after the block."""
        with _as_file(stdin) if isinstance(stdin, bytes) else contextlib.nullcontext(stdin) as file:
            process = self.start(argv, stdin=file, **how)
            try:
                yield process
            finally:
                process.abandon()

    @contextlib.contextmanager
    def stream(self, argv: Sequence[str], **how: Any) -> Iterator[Process]:
        """Starts a command whose output is read while it runs; `how` is for `started`. The first
        signal that would end this process goes to the command, so that it can finish its output:
        read until it ends, then `wait` (teemark.base.shutdown)."""

        def tell(signum: int) -> None:
            process.signal("INT" if signum == signal.SIGINT else "TERM")

        with self.started(argv, **how) as process, shutdown.telling(tell):
            yield process

    def exec(
        self, argv: Sequence[str], *, stdin: Stream = subprocess.DEVNULL, terminal: bool = False
    ) -> int:
        """Runs a command to its end with this process's own streams, and returns its exit status.
        Ctrl-C is passed on to the command."""
        streams = {"stdin": stdin, "stdout": None if terminal else subprocess.PIPE, "stderr": None}
        with self.stream(argv, terminal=terminal, marked=False, **streams) as process:
            status = process.wait() if terminal else process.pass_output(1)
        if shutdown.signalled() not in (0, signal.SIGINT):
            return 128 + shutdown.signalled()  # whatever the command made of the signal
        return status

    def capture(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes | Stream = subprocess.DEVNULL,
        check: bool = True,
        timeout: float | None = ASK_S,
        silence: float | None = None,
    ) -> Result:
        """Runs a command and returns its output. With `check`, a status other than 0 raises an
        error. Raises BoardError if the command takes longer than `timeout` seconds, prints nothing
        for `silence` seconds, or prints more than ANSWER_MAX bytes."""
        kept = bytearray()

        def keep(data: bytes) -> None:
            kept.extend(data)
            if len(kept) > ANSWER_MAX:
                raise process.error(f"answers with more than {ANSWER_MAX >> 20} MiB")

        with self.started(argv, stdin=stdin) as process:
            status = process.copy(keep, timeout=timeout, silence=silence)
        result = Result(status, bytes(kept), process.stderr)
        if check and status != 0:
            if error := root_error(self.name, result.complaint):
                raise error
            last = f": {answers.last_line(result.complaint)}" if result.complaint else ""
            raise CommandFailed(f"{self.name}: {_words(argv)} ended with status {status}{last}")
        if status == 0 and not process.whole:
            raise process.error("was cut off in its answer")
        return result

    def script(self, text: str, *args: str, **how: Any) -> Result:
        """Runs a POSIX shell script with arguments $1, $2, …; `how` is for `capture`."""
        return self.capture(command_lines.script(text, *args), **how)

    def ask(self, about: str, form: Mapping[str, str], text: str, *args: str) -> answers.Answer:
        """Runs a script and returns its answer; `form` is for teemark.boards.answers.parse."""
        return answers.parse(self.name, about, self.script(text, *args).text, form)

    @contextlib.contextmanager
    def folder(self, parent: str = "") -> Iterator[str]:
        """Makes a folder on the board (below `parent`, TMPDIR or /tmp) for the time of the
        block."""
        script = 'echo "folder $(mktemp -d "${1:-${TMPDIR:-/tmp}}/teemark.XXXXXX")"'
        path = self.ask("a folder", {"folder": "/.+"}, script, parent).one("folder")
        try:
            yield path
        finally:
            with contextlib.suppress(BoardError):
                self.script('rm -rf "$1"', path, timeout=LEAVING_S)

    @contextlib.contextmanager
    def held_folder(self, parent: str) -> Iterator[str]:
        """Makes a folder below `parent` on the board for the time of the block. Once this process
        lets go of it or ends, a process there ends all that has a path in the folder in its
        environment, and removes the folder; where it was killed itself, the next call does so."""
        argv = command_lines.script(command_lines.HOLD_FOLDER, parent)
        with self.started(argv, stdin=subprocess.PIPE) as holder:
            line = next(filter(None, holder.lines(ASK_S / 8, timeout=ASK_S)), b"").decode()
            form = {"folder": "/[^ ]+"}
            try:
                yield answers.parse(self.name, "a folder", line, form).one("folder")
            finally:
                assert holder.process.stdin is not None
                holder.process.stdin.close()
                _wait(holder.process, LEAVING_S)


@contextlib.contextmanager
def _as_file(data: bytes) -> Iterator[IO[bytes]]:
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        yield file
