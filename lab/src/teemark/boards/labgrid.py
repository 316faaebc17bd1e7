# SPDX-License-Identifier: BSD-2-Clause
"""A place of a labgrid farm as a board: it is acquired on entering and released on leaving.

teemark runs `labgrid-client` and reads what it prints, 0.4 s a call. The gRPC stubs are faster, but
no stable interface, they acquire a place whose exporter is gone, and would bring grpc into this
environment. The client refuses such a place, and is as new as the coordinator where people use it.

A process of its own holds the place, and releases it at the end of its stdin, which only this
process has open: so the place is released however this process ends.
"""

from __future__ import annotations

import ast
import contextlib
import getpass
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Self

from teemark.base.console import say
from teemark.base.errors import BoardError, ConnectError, MissingOutput, UnknownBoard
from teemark.base.leaving import patience
from teemark.boards.board import Board
from teemark.boards.config import LABGRID, BoardFile
from teemark.boards.endpoint import Endpoint

CALL_S = "60"
"""Seconds for a call of labgrid-client, which takes less than one where the coordinator answers."""
BOOT_S = 300.0
"""Seconds from a power cycle to the first connection."""

_HOLD = '"$@" acquire 2>&1 || exit; echo held; cat >/dev/null; exec "$@" release 2>&1'
_TELNET = re.compile(rb"\xff(?:\xfa.*?\xff\xf0|[\xfb-\xfe].|.)", re.S)
"""What a port that is served by RFC 2217 says besides the console."""


class Place:
    """A place by what `labgrid-client show` prints."""

    def __init__(self, name: str, text: str) -> None:
        head, *parts = re.split(r"^(?=\w+ resource ')", text, flags=re.M)
        facts = dict(re.findall(r"^  (\w+): (.*)$", head, re.M))
        self.name = name
        self.gone = [part.split("'")[1] for part in parts if part.startswith("Orphaned")]
        """Resources whose exporter is gone."""
        try:
            self.owner = facts["acquired"].removesuffix("None")  # HOST/USER, empty without one
            self.users = (self.owner, *facts.get("allowed", "").split(", "))
            self.since = facts["changed"].partition(".")[0]
            found = [part.partition("\n")[2].strip() for part in parts]
            resources = [ast.literal_eval(text) for text in found if text]
            self.resources = [(one["cls"], dict(one["params"])) for one in resources]
        except (KeyError, ValueError, TypeError, SyntaxError) as error:
            raise BoardError(
                f"labgrid-client says of place {name} what teemark can't read ({error!r})",
                hint="teemark is tested with labgrid 26",
            ) from None

    def params(self, cls: str) -> list[dict[str, Any]]:
        """Returns the parameters of the resources of a class."""
        return [params for its, params in self.resources if its == cls]

    def endpoint(self, asked: Endpoint) -> Endpoint:
        """Returns where ssh connects to. What `asked` says holds before what the place says."""
        services = self.params("NetworkService")
        if len(services) != 1:
            gone = f"; gone with their exporter: {', '.join(self.gone)}" if self.gone else ""
            raise BoardError(
                f"labgrid place {self.name} has {len(services)} NetworkServices, not one{gone}",
                hint=f"see `labgrid-client -p {self.name} show`: mend the place's matches, or "
                "start labgrid-exporter again",
            )
        service, extra = services[0], services[0].get("extra", {})
        jump = extra.get("proxy") if extra.get("proxy_required") else os.environ.get("LG_PROXY")
        return replace(
            asked,
            address=service["address"],
            user=asked.user or service["username"],
            port=asked.port or service.get("port"),
            options=(*asked.options, *([f"ProxyJump={jump}"] if jump else ())),
        )


def places(pattern: str) -> list[str]:
    """Returns the names of the places like a pattern; UnknownBoard if there is none."""
    names = _client("complete", "places").split()
    if found := [name for name in names if fnmatchcase(name, pattern)]:
        return found
    there = ", ".join(names) or "none"
    raise UnknownBoard(f"labgrid has no place {pattern}", hint=f"there are: {there}")


def _argv(*words: str) -> list[str]:
    folders = [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    program = shutil.which("labgrid-client", path=os.pathsep.join(folders))
    if program is None:
        hint = "pip install 'teemark[labgrid]', or labgrid anywhere in PATH"
        raise MissingOutput("there is no labgrid-client on this machine", hint=hint)
    # With an environment file it would do more than it is told.
    return ["timeout", CALL_S, "env", "-uLG_ENV", "-uLG_STATE", "-uSTATE", program, *words]


def _client(*words: str) -> str:
    done = subprocess.run(_argv(*words), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise _error(" ".join(words), done.returncode, done.stdout + done.stderr)
    return done.stdout


def _error(what: str, status: int, said: str) -> BoardError:
    if status == 124 or "Could not connect to coordinator" in said:
        where = os.environ.get("LG_COORDINATOR", "127.0.0.1:20408")
        hint = "name it: LG_COORDINATOR=HOST:PORT; behind an ssh host also LG_PROXY=HOST"
        return ConnectError(f"no labgrid coordinator answers at {where}", hint=hint)
    why = (said.strip() or "it said nothing").splitlines()[-1].rpartition("Error: ")[2]
    mend = "start its labgrid-exporter, or mend the place's matches" if "no matching" in why else ""
    return BoardError(f"`labgrid-client {what}`: {why}", hint=mend or None)


class LabgridBoard(Board):
    """A board in a place, reached by the place's NetworkService."""

    def __init__(self, file: BoardFile, asked: Endpoint) -> None:
        super().__init__(file, asked)
        self.place = asked.address.removeprefix(LABGRID)
        self._asked = asked
        self._holder: subprocess.Popen[str] | None = None
        self._console: socket.socket | None = None
        self._said = b""

    def __enter__(self) -> Self:
        try:
            place = self._acquire(*places(self.place))
            self.ssh.endpoint = self.endpoint = place.endpoint(self._asked)
            for port in place.params("NetworkSerialPort")[:1]:
                self._listen(port)
            self._connect()
        except BaseException as error:
            self.__exit__()
            if isinstance(error, BoardError) and (words := self.last_words()):
                error.message += f"\n{words}"
            raise
        return self

    def _acquire(self, name: str) -> Place:
        """Holds the place until `__exit__`, unless it is ours already."""
        argv, pipe = ["sh", "-c", _HOLD, "sh", *_argv("-p", name)], subprocess.PIPE
        self._holder = holder = subprocess.Popen(
            argv, stdin=pipe, stdout=pipe, text=True, start_new_session=True
        )
        assert holder.stdout is not None
        said = ""
        while (line := holder.stdout.readline()) not in ("held\n", ""):
            said += line
        if not line:
            self._holder = None
        place = Place(name, _client("-p", name, "show"))
        host = os.environ.get("LG_HOSTNAME") or socket.gethostname()
        us = f"{host}/{os.environ.get('LG_USERNAME') or getpass.getuser()}"
        if us in place.users:
            return place
        if place.owner:
            raise BoardError(
                f"labgrid place {name} is acquired by {place.owner} since {place.since}",
                hint=f"ask for it; they share it by: labgrid-client -p {name} allow {us}",
            )
        raise _error(f"-p {name} acquire", holder.wait(), said)

    def __exit__(self, *_ending: object) -> None:
        self.ssh.close()
        if self._console is not None:
            self._console.close()
        holder, self._holder = self._holder, None
        if holder is not None:
            # If that takes too long it goes on without us.
            with contextlib.suppress(subprocess.TimeoutExpired):
                said, _ = holder.communicate(timeout=patience(2 * float(CALL_S)))
                if holder.returncode != 0:
                    error = _error(f"-p {self.place} release", holder.returncode, said)
                    say(f"teemark: {self.name} may still be acquired: {error}")

    def _connect(self) -> None:
        """Connects, after a power cycle if the board hangs and that is allowed."""
        limit = 0.0
        while not self.ssh.connected:
            if self.hangs:
                say(f"teemark: {self.name} hangs: its power is cut")
                self.hangs, self.power_cycles = False, self.power_cycles - 1
                _client("-p", self.place, "power", "cycle")
                limit = time.monotonic() + BOOT_S
            try:
                self.ssh.connect()
            except ConnectError:
                self.hangs = not limit and self.power_cycles > 0
                if not self.hangs and time.monotonic() > limit:
                    raise
                time.sleep(1)

    def _listen(self, port: dict[str, Any]) -> None:
        """Keeps the end of what a serial port says from now on, unless it is behind a jump host."""

        def listen(console: socket.socket) -> None:
            with contextlib.suppress(OSError):
                while data := console.recv(4096):
                    self._said = (self._said + data)[-8192:]

        if not port.get("extra", {}).get("proxy_required"):
            with contextlib.suppress(OSError):
                self._console = socket.create_connection((port["host"], port["port"]))
                threading.Thread(target=listen, args=(self._console,), daemon=True).start()

    def last_words(self) -> str:
        said = _TELNET.sub(b"", self._said).decode(errors="replace").replace("\r", "")
        lines = "\n".join(said.splitlines()[-12:]).strip()
        return f"-- {self.name}, last lines of its console:\n{lines}" if lines else ""
