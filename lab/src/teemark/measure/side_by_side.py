# SPDX-License-Identifier: BSD-2-Clause
"""Measures several boards at once, each in a process that may fail without the others."""

import contextlib
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO

from teemark.base import leaving
from teemark.base.console import say
from teemark.base.harmless import harmless
from teemark.measure import progress


@dataclass(slots=True)
class Child:
    """The process that measures one board, and its output, which the user doesn't see at once."""

    board: str
    pid: int = 0
    status: int | None = None
    file: IO[bytes] = field(default_factory=tempfile.TemporaryFile)

    @property
    def lines(self) -> list[str]:
        """Returns the output so far. Reading it leaves the child's place in the file as it is."""
        return os.pread(self.file.fileno(), 1 << 26, 0).decode(errors="replace").splitlines()

    @property
    def state(self) -> str:
        if self.status is None:
            return harmless((self.lines or ["starting"])[-1])
        return f"failed, status {self.status}" if self.status else "done"


def part(boards: Sequence[str]) -> int | list[Child]:
    """Forks a process for each board. In such a process, returns the number of the board that it
    has to measure. In this process, returns all children after their end; until then it passes
    signals on to them and shows them, as a table on a terminal, otherwise by their own lines."""
    live = sys.stderr.isatty()
    children = [Child(board) for board in boards]
    for number, child in enumerate(children):
        child.pid = os.fork()
        if child.pid == 0:
            os.setsid()  # the parent alone gets Ctrl-C and passes it on
            os.dup2(child.file.fileno(), 1)
            if live:
                os.dup2(child.file.fileno(), 2)
                progress.STEP = 0.01
            return number

    def tell(signum: int) -> None:
        for child in children:
            if child.status is None:
                os.kill(child.pid, signum)

    with leaving.telling(tell), _shown(children) if live else contextlib.nullcontext():
        try:
            _wait(children)
        except (KeyboardInterrupt, SystemExit):
            if not leaving.patience(1):  # the second signal
                tell(leaving.signalled())
            _wait(children)  # `leaving` bounds this wait
            raise
    for child in children:
        for line in child.lines:
            if line.startswith(("teemark:", "hint:")):
                say(f"{child.board}: {line}")
        if child.status:
            say(f"teemark: {child.board}: {child.state}")
    return children


def _wait(children: Sequence[Child]) -> None:
    while left := {child.pid: child for child in children if child.status is None}:
        pid, status = os.waitpid(-1, 0)
        if pid in left:
            left[pid].status = os.waitstatus_to_exitcode(status)


def _shown(children: Sequence[Child]) -> contextlib.AbstractContextManager[object]:
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table
    from rich.text import Text

    def table() -> Table:
        made = Table("board", "state", box=None)
        for child in children:
            made.add_row(Text(child.board), Text(child.state, overflow="ellipsis"))
        return made

    return Live(get_renderable=table, console=Console(stderr=True, emoji=False, highlight=False))
