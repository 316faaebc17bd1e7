# SPDX-License-Identifier: BSD-2-Clause
"""Finds out whether a silent program on the board is busy, or whether the board or its TEE hangs. A
board that counts instructions isn't asked while it computes, since a question would disturb."""

import time

from teemark.base.errors import BoardError, BoardHangs, ConnectError, ConnectionLost
from teemark.boards import command_lines
from teemark.boards.board import Board

SILENCE_S = 12.0
"""Seconds without output after which the board is asked; a board that counts instructions must also
have been nearly idle."""
ANSWER_S = 10.0
"""Seconds allowed for the answer: a session with a TA is opened, which takes some seconds at most.
The limit is five times as long for a board that gets a CPU a fifth of the time."""
_IDLE = 0.2
"""A board isn't busy if its CPU time is below this share of the silence."""

_TA = "0b7c9a52-31f4-4e0d-a866-5d902ce1743b"
"""The UUID of the bench TA."""

# Prints "alive" at once, and "tee" after any answer of the TEE.
_ASK = """\
echo alive
teebench --open-tas "$1" >/dev/null 2>&1
echo tee
"""


class Silence:
    """Watches one program on a board for silence, and for its time limit."""

    def __init__(self, board: Board, limit_s: float) -> None:
        self._board = board
        self._limit_s = limit_s
        self._began = self._heard = time.monotonic()
        self._cpu = board.cpu_seconds()

    def look(self, *, heard: bool = False) -> None:
        """Must be called every second or so; `heard` says that output has come. Raises BoardHangs
        if teebench took too long or the board doesn't answer, TeeHangs if its TEE doesn't."""
        now = time.monotonic()
        self._heard = now if heard else self._heard
        if now - self._began > self._limit_s:
            raise BoardHangs(
                f"{self._board.name}: teebench took more than {self._limit_s / 60:.0f} minutes, "
                "ten times as long as its plan should take",
                hint="if it is right, allow it more: --limit MINUTES",
            )
        silent = now - self._heard
        if silent < SILENCE_S:
            return
        before, self._cpu = self._cpu, self._board.cpu_seconds()
        ran, waited = (now - then for now, then in zip(self._cpu, before, strict=True))
        if not self._board.deterministic or ran + waited <= _IDLE * silent:
            self._ask(silent, ANSWER_S * min(1 + waited / max(ran, 1e-3), 20))
        self._heard = time.monotonic()

    def _ask(self, silent: float, patience: float) -> None:
        name, output = self._board.name, bytearray()
        try:
            with self._board.started(command_lines.script(_ASK, _TA)) as process:
                process.copy(output.extend, timeout=patience)
        except (ConnectError, ConnectionLost):
            raise
        except BoardError:
            if b"alive" in output:
                raise self._board.tee_hangs(
                    f"no record came for {silent:.0f} s, and a new session isn't opened within "
                    f"{patience:.0f} s"
                ) from None
            raise BoardHangs(
                f"{name}: the board doesn't answer any more: nothing came for "
                f"{silent + patience:.0f} s, not even from `echo`",
                hint="it may hang, or have lost its network: look at its console",
            ) from None
