# SPDX-License-Identifier: BSD-2-Clause
"""Measures several boards side by side, each in a process that may fail without the others. As many
run at once as memory allows; the others wait. All of them end with this process."""

import contextlib
import ctypes
import os
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from teemark.base import shutdown
from teemark.base.console import say
from teemark.base.sanitize import harmless
from teemark.measure import progress

PROCESS = 150 << 20
"""Bytes of memory that a process takes which measures a board: most of all for its report."""
GUEST = 600 << 20
"""Bytes that a virtual board takes besides: QEMU with what the guest uses of its memory."""

_WAITS = "waits for others to end: there is no memory for all at once"
_PR_SET_PDEATHSIG = 1  # linux/prctl.h


@dataclass(slots=True)
class Child:
    """The process that measures one board, and its output, which the user doesn't see at once."""

    board: str
    needs: int  # bytes of memory
    gate: tuple[int, int]  # A pipe; the process begins once a byte comes through it
    pid: int = 0
    begun: bool = False
    status: int | None = None
    file: IO[bytes] = field(default_factory=tempfile.TemporaryFile)

    @property
    def lines(self) -> list[str]:
        """Returns the output so far. Reading it leaves the child's place in the file as it is."""
        return os.pread(self.file.fileno(), 1 << 26, 0).decode(errors="replace").splitlines()

    @property
    def state(self) -> str:
        if not self.begun and self.status is None:
            return _WAITS
        if self.status is None:
            return harmless((self.lines or ["starting"])[-1])
        return f"failed, status {self.status}" if self.status else "done"


def part(needs: Mapping[str, int]) -> int | list[Child]:
    """Forks a process for each board; `needs` has the bytes of memory that each takes, by the
    boards' names. In such a process, returns the number of the board that it has to measure, once
    memory allows. In this process, returns all children after their end; until then it passes
    signals on to them and shows them, as a table on a terminal, otherwise by their own lines."""
    live = sys.stderr.isatty()
    memory = free_memory()
    children = [Child(board, needed, os.pipe()) for board, needed in needs.items()]
    signal.pthread_sigmask(signal.SIG_BLOCK, shutdown.SIGNALS)  # until all can be told of one
    me = os.getpid()
    for number, child in enumerate(children):
        child.pid = os.fork()
        if child.pid == 0:
            _begin(child, me, live=live)
            return number
    _admit(children, memory)
    waiting = [child.board for child in children if not child.begun]
    if waiting and not live:
        say(f"{', '.join(waiting)}: {_WAITS}")

    def tell(signum: int) -> None:
        for child in children:
            if child.status is None:
                os.kill(child.pid, signum)

    with shutdown.telling(tell), _shown(children) if live else contextlib.nullcontext():
        signal.pthread_sigmask(signal.SIG_UNBLOCK, shutdown.SIGNALS)
        try:
            _wait(children, memory)
        except (KeyboardInterrupt, SystemExit):
            if not shutdown.patience(1):  # the second signal
                tell(shutdown.signalled())
            _wait(children, memory)  # `shutdown` bounds this wait
            raise
    for child in children:
        for line in child.lines:
            if line.startswith(("teemark:", "hint:")):
                say(f"{child.board}: {line}")
        if child.status:
            say(f"teemark: {child.board}: {child.state}")
    return children


def _begin(child: Child, parent: int, *, live: bool) -> None:
    os.setsid()  # the parent alone gets Ctrl-C and passes it on
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        raise SystemExit(1)  # it ended before it could be asked for
    os.dup2(child.file.fileno(), 1)
    if live:
        os.dup2(child.file.fileno(), 2)
        progress.STEP = 0.01
    signal.pthread_sigmask(signal.SIG_UNBLOCK, shutdown.SIGNALS)
    os.read(child.gate[0], 1)


def _admit(children: Sequence[Child], memory: int) -> None:
    left = [child for child in children if child.status is None]
    in_use = sum(child.needs for child in left if child.begun)
    for child in left:
        if not child.begun and (not in_use or in_use + child.needs <= memory):
            os.write(child.gate[1], b".")
            child.begun = True
            in_use += child.needs


def _wait(children: Sequence[Child], memory: int) -> None:
    while left := {child.pid: child for child in children if child.status is None}:
        pid, status = os.waitpid(-1, 0)
        if pid in left:
            left[pid].status = os.waitstatus_to_exitcode(status)
            _admit(children, memory)


def free_memory() -> int:
    """Returns the bytes of memory that processes may still take here, by the kernel's estimate and
    by the limit of a container."""
    words = Path("/proc/meminfo").read_text(encoding="ascii").split()
    free = int(words[words.index("MemAvailable:") + 1]) << 10
    with contextlib.suppress(OSError, ValueError):  # no limit: "max"
        group = Path("/sys/fs/cgroup")
        limit, used = (int((group / f"memory.{name}").read_text()) for name in ("max", "current"))
        free = min(free, limit - used)
    return free


def _shown(children: Sequence[Child]) -> contextlib.AbstractContextManager[object]:
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table
    from rich.text import Text

    def table() -> Table:
        states = Table("board", "state", box=None)
        for child in children:
            states.add_row(Text(child.board), Text(child.state, overflow="ellipsis"))
        return states

    return Live(get_renderable=table, console=Console(stderr=True, emoji=False, highlight=False))
