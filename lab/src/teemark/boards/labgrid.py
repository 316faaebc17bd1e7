# SPDX-License-Identifier: BSD-2-Clause
"""A place of a labgrid farm as a board: acquired at the beginning of the `with`, released after it.

teemark runs `labgrid-client` and parses its output, which takes 0.4 s a call. The gRPC stubs are
faster, but they are no stable interface, they acquire a place whose exporter is gone, and they need
the package grpc. The client refuses such a place, and has its coordinator's version.

A separate process holds the place, and releases it when its stdin is closed. Only this process has
the other end open, so the place is released however this process ends.
"""

import ast
import contextlib
import getpass
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import msgspec

from teemark.base.console import say
from teemark.base.errors import BoardError, ConnectError, MissingOutput, UnknownBoard
from teemark.base.sanitize import harmless_line
from teemark.base.shutdown import patience
from teemark.boards.board import Board
from teemark.boards.config import LABGRID, SshConfig
from teemark.boards.console import Console
from teemark.boards.endpoint import Endpoint

CALL_S = "60"
"""Seconds allowed for a call of labgrid-client; with a working coordinator it takes less than 1."""
BOOT_S = 300.0
"""Seconds allowed from a power cycle to the first connection."""

_HOLD = """\
trap '' PIPE
said=$("$@" acquire 2>&1) || { status=$?; echo "$said"; exit $status; }
echo held
cat >/dev/null
exec "$@" release 2>&1
"""


ANSWER_MAX = 4 << 20
"""Largest answer of labgrid-client, bytes; that of a place with ten resources has 4 KiB."""

_PortNumber = Annotated[int, msgspec.Meta(ge=1, le=65535)]


class _Extra(msgspec.Struct):
    proxy: str | None = None
    proxy_required: bool = False


class _Service(msgspec.Struct):
    address: str
    username: str
    port: _PortNumber | None = None
    extra: _Extra = msgspec.field(default_factory=_Extra)


class _Port(msgspec.Struct):
    """The parameters of a NetworkSerialPort; without an exporter it has no host."""

    host: str | None = None
    port: _PortNumber | None = None
    extra: _Extra = msgspec.field(default_factory=_Extra)


class FarmPlace:
    """A place of the farm, parsed from the output of `labgrid-client show`."""

    def __init__(self, name: str, text: str) -> None:
        head, *parts = re.split(r"^(?=\w+ resource ')", text, flags=re.M)
        facts = dict(re.findall(r"^  (\w+): (.*)$", head, re.M))
        self.name = name
        self.gone = [part.split("'")[1] for part in parts if part.startswith("Orphaned")]
        """Names of resources whose exporter is gone."""
        try:
            self.owner = facts["acquired"].removesuffix("None")  # HOST/USER; empty if nobody has it
            self.users = (self.owner, *facts.get("allowed", "").split(", "))
            self.since = facts["changed"].partition(".")[0]
            literals = [part.partition("\n")[2].strip() for part in parts]
            resources = [ast.literal_eval(text) for text in literals if text]
            by_kind = [(x["cls"], x["params"]) for x in resources]
            services = [params for kind, params in by_kind if kind == "NetworkService"]
            consoles = [params for kind, params in by_kind if kind == "NetworkSerialPort"]
            self.services = msgspec.convert(services, list[_Service])
            self.consoles = msgspec.convert(consoles, list[_Port])
        except (LookupError, ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as e:
            raise BoardError(
                f"labgrid-client says of place {name} what teemark can't read ({_short(e)})",
                hint="teemark is tested with labgrid 26",
            ) from None

    def endpoint(self, base: Endpoint) -> Endpoint:
        """Returns the ssh destination: the place's address, and its user and port where `base` has
        none. Raises BoardError unless the place has exactly one NetworkService."""
        if len(self.services) != 1:
            number = f"has {len(self.services)} NetworkServices, not one"
            gone = f"; gone with their exporter: {', '.join(self.gone)}" if self.gone else ""
            hint = f"see `labgrid-client -p {self.name} show`: mend its matches, or its exporter"
            raise BoardError(f"labgrid place {self.name} {number}{gone}", hint=hint)
        (service,) = self.services
        jump = self._jump(service.extra, service.address, service.username)
        return replace(
            base,
            address=service.address,
            user=base.user or service.username,
            port=base.port or service.port,
            options=(*base.options, *([f"ProxyJump={jump}"] if jump else ())),
        )

    def console(self) -> Console | None:
        """Returns the place's serial console, read from now on; None unless there is just one."""
        ready = [(one.host, one.port, one.extra) for one in self.consoles if one.host and one.port]
        if len(ready) != 1:
            return None
        ((host, port, extra),) = ready
        return Console(str(host), int(port or 0), self._jump(extra, str(host)))

    def _jump(self, extra: "_Extra", *words: str) -> str | None:
        """Returns the ssh jump host to a resource, if any. Raises BoardError if the jump host, or
        one of the `words` for ssh, isn't a valid address or name."""
        jump = extra.proxy if extra.proxy_required else os.environ.get("LG_PROXY")
        for word in filter(None, (*words, jump)):
            if not re.fullmatch(r"[\w.:%\[][\w.:%\[\]@-]*", word):  # ssh passes words to a shell
                raise BoardError(f"labgrid place {self.name}: {word!r} is no address and no name")
        return jump


def places(pattern: str) -> list[str]:
    """Returns the names of the places that match a shell pattern; UnknownBoard if none does."""
    names = _client("complete", "places").split()
    if matching := [name for name in names if fnmatchcase(name, pattern)]:
        return matching
    existing = ", ".join(names) or "none"
    raise UnknownBoard(f"labgrid has no place {pattern}", hint=f"there are: {existing}")


def _argv(*words: str) -> list[str]:
    folders = [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    program = shutil.which("labgrid-client", path=os.pathsep.join(folders))
    if program is None:
        hint = "pip install 'teemark[labgrid]', or labgrid anywhere in PATH"
        raise MissingOutput("there is no labgrid-client on this machine", hint=hint)
    # LG_ENV is unset: with an environment file the client would do more than it is told.
    return ["timeout", CALL_S, "env", "-uLG_ENV", "-uLG_STATE", "-uSTATE", program, *words]


def _client(*words: str) -> str:
    with tempfile.TemporaryFile() as complaint:
        argv, pipe = _argv(*words), subprocess.PIPE
        with subprocess.Popen(argv, stdout=pipe, stderr=complaint) as process:
            assert process.stdout is not None
            data = process.stdout.read(ANSWER_MAX + 1)
            if len(data) > ANSWER_MAX:
                process.kill()
                what = f"`labgrid-client {' '.join(words)}` answers with more than"
                raise BoardError(f"{what} {ANSWER_MAX >> 20} MiB")
        text = data.decode(errors="replace")
        if process.returncode != 0:
            complaint.seek(0)
            message = complaint.read(ANSWER_MAX).decode(errors="replace")
            raise _error(" ".join(words), process.returncode, text + message)
    return text


def _short(error: Exception) -> str:
    return harmless_line(repr(error))[:200]


def _error(what: str, status: int, output: str) -> BoardError:
    if status == 124 or "Could not connect to coordinator" in output:
        where = os.environ.get("LG_COORDINATOR", "127.0.0.1:20408")
        hint = "name it: LG_COORDINATOR=HOST:PORT; behind an ssh host also LG_PROXY=HOST"
        return ConnectError(f"no labgrid coordinator answers at {where}", hint=hint)
    why = (output.strip() or "it said nothing").splitlines()[-1].rpartition("Error: ")[2]
    mend = "start its labgrid-exporter, or mend the place's matches" if "no matching" in why else ""
    return BoardError(f"`labgrid-client {what}`: {why}", hint=mend or None)


class LabgridBoard(Board):
    """A board in a labgrid place, reached through the place's NetworkService."""

    power_cycle: Literal["never", "once", "now"] = "never"
    """When to cut the board's power: `now`, or `once` if the board doesn't answer."""
    _holder: subprocess.Popen[str] | None = None
    _console: Console | None = None

    def __enter__(self) -> Self:
        assert isinstance(self.config, SshConfig)
        with contextlib.ExitStack() as stack:
            stack.push(self)
            place = self._acquire(*places(self.config.address.removeprefix(LABGRID)))
            self.ssh.endpoint = self.endpoint = place.endpoint(self.endpoint)
            self._console = place.console()
            self._connect(place.name)
            stack.pop_all()
        return self

    def _acquire(self, name: str) -> FarmPlace:
        """Acquires the place until `__exit__`, unless this user has it already."""
        argv, pipe = ["sh", "-c", _HOLD, "sh", *_argv("-p", name)], subprocess.PIPE
        self._holder = holder = subprocess.Popen(
            argv, stdin=pipe, stdout=pipe, text=True, start_new_session=True
        )
        assert holder.stdout is not None
        output = ""
        while (line := holder.stdout.readline(4096)) not in ("held\n", ""):
            output = (output + line)[-ANSWER_MAX:]
        if not line:
            self._holder = None
        place = FarmPlace(name, _client("-p", name, "show"))
        host = os.environ.get("LG_HOSTNAME") or socket.gethostname()
        us = f"{host}/{os.environ.get('LG_USERNAME') or getpass.getuser()}"
        if us in place.users:
            return place
        if place.owner:
            raise BoardError(
                f"labgrid place {name} is acquired by {place.owner} since {place.since}",
                hint=f"ask for it; they share it by: labgrid-client -p {name} allow {us}",
            )
        raise _error(f"-p {name} acquire", holder.wait(), output)

    def secure_log(self, after: int) -> tuple[int, bytes]:
        return self._console.after(after) if self._console is not None else (0, b"")

    def consoles_last(self) -> str:
        return self._console.last() if self._console is not None else ""

    def __exit__(self, *ending: Any) -> None:
        self.explain(ending[1])
        if self._console is not None:
            self._console.close()
        self.ssh.close()
        holder, self._holder = self._holder, None
        if holder is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):  # the holder goes on without us
                output, _ = holder.communicate(timeout=patience(2 * float(CALL_S)))
                if holder.returncode != 0:
                    error = _error("release", holder.returncode, output)
                    say(f"teemark: {self.name} may still be acquired: {error}")

    def _connect(self, place: str) -> None:
        limit = 0.0
        while not self.ssh.connected:
            if self.power_cycle == "now":
                say(f"teemark: {self.name} hangs: its power is cut")
                self.power_cycle, limit = "never", time.monotonic() + BOOT_S
                _client("-p", place, "power", "cycle")
            try:
                self.ssh.connect()
            except ConnectError as error:
                if self.power_cycle == "once":
                    self.power_cycle = "now"
                    self.explain(error)
                    say(f"teemark: {error.message}", error.hint)
                elif time.monotonic() > limit:
                    raise
                else:
                    time.sleep(1)
