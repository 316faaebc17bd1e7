# SPDX-License-Identifier: BSD-2-Clause
"""Keeps track of the virtual boards that run: each has a folder under build/run with a state file.

`build/run/NAME` is the board that `teemark up` keeps; `build/run/NAME.XXXXXXXX` belongs to one
command and goes away with it. The next boot removes a folder whose owner is dead, and ends a QEMU
that it left. A process is known by its pid and its start time together; one in
another container, whose pids aren't seen here, by the lock that it holds.
"""

import contextlib
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path

import msgspec

from teemark.base import paths
from teemark.base.files import alone, hold, write_whole
from teemark.base.shutdown import patience
from teemark.boards.qemu import Instance

KEEP_LOGS = 24 * 3600
"""Seconds for which the logs of a failed boot are kept."""


def start_time(pid: int) -> int | None:
    """Returns when a process started (clock ticks since boot); None if there is no such process. A
    pid alone may be reused by another process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] == "Z" else int(fields[19])


class LocalProcess(msgspec.Struct, frozen=True):
    pid: int
    started: int

    @classmethod
    def of(cls, pid: int) -> "LocalProcess | None":
        started = start_time(pid)
        return None if started is None else cls(pid, started)

    @property
    def alive(self) -> bool:
        return start_time(self.pid) == self.started

    def end(self) -> None:
        """Terminates the process; kills it if it doesn't end within 3 s."""
        for signum, seconds in ((signal.SIGTERM, 3.0), (signal.SIGKILL, 3.0)):
            if not self.alive:
                return
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signum)
            limit = time.monotonic() + seconds
            while self.alive and patience(limit - time.monotonic()):
                time.sleep(0.02)


class State(msgspec.Struct, frozen=True):
    """The content of state.json."""

    kept: bool
    ready: bool
    """True once the board has answered its first command."""
    port: int
    qemu: LocalProcess
    owner: LocalProcess
    """The command that booted the board. A kept board outlives this command once it is ready."""

    @property
    def orphan(self) -> bool:
        """Returns true if no command will ever use or end the board."""
        return not self.owner.alive and not (self.kept and self.ready)


def write(instance: Instance, state: State) -> None:
    write_whole(instance.state, msgspec.json.encode(state).decode() + "\n")


def read(instance: Instance) -> State | None:
    try:
        return msgspec.json.decode(instance.state.read_bytes(), type=State)
    except (OSError, msgspec.MsgspecError):
        return None


def kept_instance(name: str) -> Instance:
    return Instance(paths.instances() / name)


def new_instance(name: str, *, kept: bool) -> Instance:
    """Returns an empty folder for a boot: a new one, or the emptied one of the kept board."""
    paths.instances().mkdir(parents=True, exist_ok=True)
    if not kept:
        path = tempfile.mkdtemp(prefix=f"{name}.", dir=paths.instances())
        return Instance(Path(path))
    instance = kept_instance(name)
    shutil.rmtree(instance.directory, ignore_errors=True)
    instance.directory.mkdir(mode=0o700)  # as mkdtemp does: only this user may read the disk
    return instance


def running_kept(name: str) -> State | None:
    """Returns the state of the board that `teemark up` keeps; None if it isn't up."""
    state = read(kept_instance(name))
    return state if state and state.ready and state.kept and state.qemu.alive else None


def sweep() -> None:
    """Ends QEMUs without an owner, and removes the files of boards that have ended."""
    if not paths.instances().is_dir():
        return
    for directory in filter(Path.is_dir, paths.instances().iterdir()):
        instance = Instance(directory)
        state = read(instance)  # None: just made by somebody, or left over
        if state is not None:
            if state.orphan:
                state.qemu.end()
            if state.qemu.alive or state.owner.alive:
                continue
            if (lock := hold(instance.lock)) is None:  # by its owner or QEMU, in another container
                continue
            lock.close()
            instance.data.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # another sweep was quicker
            old = time.time() - directory.stat().st_mtime > KEEP_LOGS
            if old or (state is not None and state.ready):
                shutil.rmtree(directory, ignore_errors=True)


def lock(name: str) -> contextlib.AbstractContextManager[None]:
    """Returns a lock that lets only one `up` or `down` of a board run at a time."""
    return alone(paths.instances() / f".{name}.lock")
