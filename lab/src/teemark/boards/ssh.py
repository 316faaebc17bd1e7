# SPDX-License-Identifier: BSD-2-Clause
"""One connection to a board: the system's ssh, kept open by a master process.

Every command is a channel of that connection, which costs milliseconds instead of a key exchange
on a slow board. The master's socket lies in a folder of its own with a short name (a socket's
path has 108 bytes at most); the master dies with us.
"""

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import IO, Any, TypeAlias

from teemark.base import scratch
from teemark.base.console import detail
from teemark.base.errors import ConnectionLost, MissingOutput, TeemarkError
from teemark.base.shutdown import patience
from teemark.boards.endpoint import Endpoint
from teemark.boards.ssh_messages import connect_error, error_in

Stream: TypeAlias = IO[bytes] | int | None


class Ssh:
    """A connection to a board, open between `connect` and `close`."""

    def __init__(self, board: str, endpoint: Endpoint) -> None:
        self.board = board
        self.endpoint = endpoint
        self.lost = False
        """True once a connection has broken off."""
        self.lost_hint = "its console"
        """Where the user should look if the connection breaks off."""
        self._directory: Path | None = None
        self._master: subprocess.Popen[bytes] | None = None
        self._logs = count(1)

    @property
    def connected(self) -> bool:
        return self._master is not None and self._master.poll() is None

    def _socket(self) -> Path:
        assert self._directory is not None
        return self._directory / "s"

    def connect(self) -> None:
        """Opens the connection; if that fails, raises a ConnectError with the reason."""
        if shutil.which("ssh") is None:
            raise MissingOutput(
                "there is no ssh on this machine", hint="install it: apt install openssh-client"
            )
        self.close()
        self._directory = scratch.make(_short_directory())
        log = self._directory / "master.log"
        argv = ["ssh", "-M", "-N", "-T", "-E", str(log), "-S", str(self._socket())]
        argv += ["-o", "LogLevel=DEBUG1"]  # logs the tried keys and the server's key
        argv += [*self.endpoint.arguments(), "--", self.endpoint.address]
        # ssh has a session of its own: teemark handles Ctrl-C, and the connection must outlive it.
        with log.open("ab") as stderr:
            self._master = subprocess.Popen(
                guarded(argv),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                start_new_session=True,
            )
        pause = 0.002
        limit = time.monotonic() + 2 * self.endpoint.connect_timeout + 5
        while not self._socket().exists():
            if self._master.poll() is not None or time.monotonic() > limit:
                ended = self._master.poll() is not None
                text = _text(log)
                detail(text)
                self.close()
                raise connect_error(self.board, self.endpoint, text if ended else "timed out")
            time.sleep(pause)
            pause = min(pause * 1.5, 0.05)
        detail(_text(log))

    def close(self) -> None:
        if self._master is not None:
            end(self._master)
            self._master = None
        if self._directory is not None:
            scratch.remove(self._directory)
            self._directory = None

    def answers(self) -> bool:
        """Returns true if the master process still serves its connection. A master that lost its
        connection has closed the channels, but may not have exited yet."""
        if not self.connected:
            return False
        argv = ["ssh", "-S", str(self._socket()), *self.endpoint.arguments(), "-O", "check"]
        try:
            check = subprocess.run(
                [*argv, "--", self.endpoint.address],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=patience(self.endpoint.connect_timeout),
            )
        except subprocess.TimeoutExpired:
            return False
        return check.returncode == 0

    def lost_error(self) -> ConnectionLost:
        self.lost = True
        return ConnectionLost(
            f"{self.board}: the connection to {self.endpoint} broke off",
            hint=f"the board may have crashed, rebooted or lost power: look at {self.lost_hint}",
        )

    def open_channel(
        self, command: str, *, terminal: bool = False, **streams: Any
    ) -> tuple[subprocess.Popen[bytes], Path]:
        """Starts a command line on the board. Returns the local ssh process, and the file with
        ssh's own messages. `streams` are stdin, stdout and stderr; None is this process's own."""
        if not self.connected:
            raise self.lost_error()
        assert self._directory is not None
        log = self._directory / f"{next(self._logs)}.log"
        argv = ["ssh", "-E", str(log), "-S", str(self._socket()), "-t" if terminal else "-T"]
        argv += ["-o", "ControlMaster=no", *self.endpoint.arguments()]
        # ProxyCommand=false: if the master has just gone away, ssh makes no connection of its own.
        argv += ["-o", "ProxyCommand=false", "--", self.endpoint.address, command]
        return subprocess.Popen(argv, start_new_session=not terminal, **streams), log

    def trouble(self, log: Path) -> TeemarkError | None:
        """Returns the error behind the exit status 255. That status is ssh's own, unless the
        command itself ended with 255: then there is no error, and None is returned."""
        text = _text(log)
        refusal = error_in("channel", self.board, text, to=str(self.endpoint))
        if refusal is not None:
            return refusal
        if not text and self.answers():
            return None
        # The master may take a moment to notice that its connection broke, and another to end.
        limit = time.monotonic() + 1
        while self.connected and patience(limit - time.monotonic()):
            time.sleep(0.05)
        return self.lost_error()


# setpriv's signal comes only if our process dies after the request for it. So sh first checks that
# our process still lives, and then runs the program.
_CHECK = '[ "$PPID" = "$1" ] || exit 1; shift; exec "$@"'

# Without setpriv: a shell checks each second whether our process lives, else kills its child.
_WATCH = """\
me=$1 told=
shift
exec 3<&0
trap 'told=1; kill -TERM $child 2>/dev/null' TERM
"$@" <&3 3<&- &
child=$!
[ -z "$told" ] || kill -TERM $child
(while kill -0 "$me" && kill -0 $$; do sleep 1; done; kill -9 $child) </dev/null >/dev/null 2>&1 &
watcher=$!
wait $child; status=$?
while kill -0 $child 2>/dev/null; do wait $child; status=$?; done
kill $watcher
exit $status
"""


def guarded(argv: Sequence[str]) -> list[str]:
    """Returns a command line that runs `argv`, and kills it when the calling thread ends, however
    that ends. Without the program setpriv it is killed when the process ends."""
    me = str(os.getpid())
    if shutil.which("setpriv") is None:
        return ["sh", "-c", _WATCH, "sh", me, *argv]
    return ["setpriv", "--pdeathsig", "KILL", "sh", "-c", _CHECK, "sh", me, *argv]


def end(process: subprocess.Popen[bytes], seconds: float = 5, *, ask: bool = True) -> None:
    """Ends a process, by force after `seconds`. With `ask` it gets SIGTERM first; without, it is
    expected to end by itself.

    OpenSSH (9.2, for one) misses a SIGTERM that comes right before it waits for the network, so the
    signal is repeated.
    """
    limit = time.monotonic() + seconds
    while process.poll() is None and patience(limit - time.monotonic()):
        if ask:
            process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
    if process.poll() is None:
        process.kill()
        process.wait()


def _short_directory() -> str:
    """Returns a folder for the socket's folder, with a short name: a socket's path has less than
    108 bytes, and ssh adds 18 to it while it makes the socket."""
    for name in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir()):
        if name and len(os.fsencode(name)) < 45 and os.access(name, os.W_OK | os.X_OK):
            return name
    return "/tmp"


def _text(log: Path) -> str:
    try:
        return log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
