# SPDX-License-Identifier: BSD-2-Clause
"""Ends a command soon after a signal, whatever a board does. After the first SIGINT, SIGTERM or
SIGHUP, a command that runs on a board is told and may end by itself; then the stack unwinds, and no
wait lasts longer than `patience` allows. The second signal ends all waiting, and raises nothing if
the first one did. A timer ends the process at the latest LAST_S after the first signal."""

import contextlib
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import NoReturn

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

GRACE_S = 2.8  # Seconds that a command on the board has to end by itself after the first signal
PATIENCE_S = 4.2  # Seconds from the first signal to the end of all waiting
LAST_S = 4.6  # Seconds from the first signal to the end of the process
AT_ONCE_S = 0.5  # Seconds from the second signal to the end of the process
SEALING_S = 1.0  # Seconds that an `undisturbed` block has beyond that: a disk may be slow


@dataclass(slots=True)
class _State:
    signum: int = 0
    count: int = 0
    waits_until: float = math.inf
    ends_at: float = math.inf
    tell: Callable[[int], None] | None = None
    told: bool = False  # The board's command was told, and has its grace
    busy: bool = False
    raised: bool = False  # A second exception would end what the first one's handlers do
    last: list[Callable[[], None]] = field(default_factory=list)


_state = _State()


def install() -> None:
    """Installs the handlers; a signal that nohup or a shell ignores stays ignored."""
    for signum in SIGNALS:
        if signal.getsignal(signum) != signal.SIG_IGN:
            signal.signal(signum, _hear)
    signal.signal(signal.SIGALRM, _alarm)


def finish(status: int) -> NoReturn:
    """Ends the process; after a signal it doesn't wait for threads that wait for a board."""
    _state.busy = True  # Another signal changes nothing any more
    if not _state.signum:
        sys.exit(status)
    signal.setitimer(signal.ITIMER_REAL, 0)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


def signalled() -> int:
    """Returns the number of the signal that told this process to end; 0 if none came."""
    return _state.signum


def patience(seconds: float) -> float:
    """Returns the seconds to wait for something that should take at most `seconds` (0 or more)."""
    return max(0.0, min(seconds, _state.waits_until - time.monotonic()))


@contextlib.contextmanager
def telling(tell: Callable[[int], None]) -> Iterator[None]:
    """Passes the first signal during the block to `tell`; the block then has GRACE_S to end. In a
    thread other than Python's main one, which alone gets signals, this does nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _state.tell, outer = tell, _state.tell
    try:
        yield
    finally:
        _state.tell = outer
        if _state.told:
            _state.told = False
            _set_timer()


@contextlib.contextmanager
def undisturbed(*, busy: bool = True) -> Iterator[None]:
    """Counts signals while the block runs, instead of obeying them: for short work that must not
    be left half done."""
    outer, _state.busy = _state.busy, busy
    try:
        yield
    finally:
        _state.busy = outer


@contextlib.contextmanager
def heeding() -> Iterator[None]:
    """Obeys signals in a block within an `undisturbed` one, also one that came before the block."""
    with undisturbed(busy=False):
        if _state.count:
            unwind()
        yield


@contextlib.contextmanager
def at_last(act: Callable[[], None]) -> Iterator[None]:
    """Runs `act` if the timer has to end the process while the block runs."""
    _state.last.append(act)
    try:
        yield
    finally:
        _state.last.remove(act)


def _set_timer(seconds: float | None = None) -> None:
    left = _state.ends_at - time.monotonic() if seconds is None else seconds
    signal.setitimer(signal.ITIMER_REAL, max(0.01, left))


def _hear(signum: int, _frame: FrameType | None) -> None:
    now = time.monotonic()
    _state.count += 1
    if _state.count == 1:
        _state.signum = signum
        _state.waits_until, _state.ends_at = now + PATIENCE_S, now + LAST_S
        if _state.tell is not None:
            _state.told = True
            _set_timer()
            with undisturbed():  # who isn't told wouldn't end
                _state.tell(signum)
            if _state.count == 1:
                _set_timer(min(GRACE_S, _state.ends_at - time.monotonic()))
                return
    elif _state.count == 2:
        _state.waits_until, _state.ends_at = now, min(_state.ends_at, now + AT_ONCE_S)
    else:
        return  # the timer ends the process soon
    unwind()


def unwind() -> None:
    """Raises the first signal's exception, once: KeyboardInterrupt for SIGINT, else SystemExit."""
    _state.told = False
    _set_timer()
    if _state.busy or _state.raised:
        return
    _state.raised = True
    if _state.signum == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + _state.signum)


def _alarm(_signum: int, _frame: FrameType | None) -> None:
    if _state.told:
        unwind()
        return
    if _state.busy and time.monotonic() < _state.ends_at + SEALING_S:
        _set_timer(0.1)
        return
    for act in reversed(_state.last):
        with contextlib.suppress(Exception):
            act()
    os._exit(128 + _state.signum)
