# SPDX-License-Identifier: BSD-2-Clause
"""All waiting of the tests, Python's and the host programs', with one limit for all of it.

A test waits for the event that it is about: a line, a file, a process's end. Its limit is no part
of what it asserts: minutes, which a machine that was stopped for a while meets too. A wait that
fails names what it waited for. test_waits.py refuses sleeps, limits of a test's own and signals to
itself.
"""

import fcntl
import os
import re
import subprocess
import sys
import termios
import time
from array import array
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

PATIENCE_S = 300.0
"""Seconds that a test waits for anything: less than pytest's own limit, which names no event."""

PATIENT = f"""\
import sys
from teemark.base import shutdown
shutdown.GRACE_S = shutdown.PATIENCE_S = shutdown.LAST_S = shutdown.AT_ONCE_S = {PATIENCE_S}
from teemark.__main__ import main
sys.exit(main())
"""
TEEMARK = [sys.executable, "-m", "teemark"]
PATIENT_TEEMARK = [sys.executable, "-c", PATIENT]
"""teemark, and one that gives what it ends after a signal minutes, as a busy machine may need."""

HEARS = """\
import os, signal
heard, hears = os.pipe()
os.set_blocking(hears, False)
signal.set_wakeup_fd(hears)
def hear():
    while True:
        os.read(heard, 1)
"""
"""Begins a child's code: hear() returns from no signal, but any signal wakes it, also one that came
after Python looked for one and before it waits. A sleep would only hear that one when it ends."""

T = TypeVar("T")
Popen = subprocess.Popen[bytes]


def until(what: str, happened: Callable[[], T | None], often_s: float = 0.02) -> T:
    """Returns the first result of `happened` that is true; asks every `often_s` seconds, and fails
    after PATIENCE_S with the event's name, `what`."""
    limit = time.monotonic() + PATIENCE_S
    while True:
        if found := happened():
            return found
        assert time.monotonic() < limit, f"waited {PATIENCE_S:.0f} s in vain for {what}"
        time.sleep(often_s)


def status_of(process: Popen | subprocess.Popen[str]) -> int:
    """Returns a child's exit status, which it waits for."""
    try:
        return process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"{process.args!r} didn't end within {PATIENCE_S:.0f} s") from None


def output_of(process: Popen) -> tuple[bytes, bytes]:
    """Returns what a child still writes to its two pipes until it ends."""
    try:
        return process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"{process.args!r} didn't end within {PATIENCE_S:.0f} s") from None


def line_of(process: Popen) -> bytes:
    """Returns the next line of a child's standard output: what it says that it has got to."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, f"{process.args!r} ended without a word more"
    return line


def _stats(pid: int) -> list[list[str]]:
    """Returns the fields of /proc/PID/task/*/stat from the state on, a list for each thread."""
    stats = []
    with suppress(OSError):
        for path in Path(f"/proc/{pid}/task").glob("*/stat"):
            with suppress(OSError):  # a thread that just ended
                stats.append(path.read_text().rpartition(")")[2].split())
    return stats


def children(pid: int) -> list[int]:
    """Returns the children that a process has now."""
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, path.read_text().split())
    return found


def cpu_seconds(pid: int) -> float:
    """Returns the CPU time of a process's threads; 0 for one that is gone."""
    ticks = sum(int(stat[11]) + int(stat[12]) for stat in _stats(pid))
    return ticks / os.sysconf("SC_CLK_TCK")


def until_gone(pid: int, what: str = "") -> None:
    """Returns once there is no process with that id but a zombie."""
    until(
        f"the end of {what or 'process'} {pid}",
        lambda: all(stat[0] in "ZX" for stat in _stats(pid)),
    )


def until_it_computed(process: Popen, seconds: float = 0.3) -> None:
    """Returns once a program has taken that much CPU time, or has ended."""
    until(
        f"{seconds} s of CPU time of {process.args!r}",
        lambda: process.poll() is not None or cpu_seconds(process.pid) >= seconds,
    )


def until_it_settles(process: Popen) -> None:
    """Returns once all threads of a program wait for something, five looks long, or it has computed
    for half a second: it has begun, however busy the machine is."""
    calm, seen = 0, -1.0

    def settled() -> bool:
        nonlocal calm, seen
        before, seen = seen, cpu_seconds(process.pid)
        asleep = {stat[0] for stat in _stats(process.pid)} == {"S"}
        calm = calm + 1 if seen == before and asleep else 0
        return process.poll() is not None or calm >= 5 or seen >= 0.5

    until(f"{process.args!r} to wait for something", settled, 0.05)


def until_it_hears(process: Popen, number: int) -> None:
    """Returns once no signal of that number waits for the process to take it."""
    status = Path(f"/proc/{process.pid}/status")

    def heard() -> bool:
        with suppress(OSError):
            masks = re.findall(r"^S(?:ig|hd)Pnd:\s*(\w+)", status.read_text(), re.M)
            return not any(int(mask, 16) >> (number - 1) & 1 for mask in masks)
        return True

    until(f"{process.args!r} to take signal {number}", heard)


def until_it_catches(process: Popen, number: int) -> None:
    """Returns once a program has a handler of its own for a signal, or has ended."""
    status = Path(f"/proc/{process.pid}/status")

    def catches() -> bool:
        with suppress(OSError):
            mask = re.findall(r"^SigCgt:\s*(\w+)", status.read_text(), re.M)
            return any(int(one, 16) >> (number - 1) & 1 for one in mask) or not mask
        return True

    until(
        f"{process.args!r} to catch signal {number}",
        lambda: catches() or process.poll() is not None,
    )


def _openings(path: Path) -> int:
    """Returns how often other processes have a file open."""
    count = 0
    for link in Path("/proc").glob("[1-9]*/fd/*"):
        with suppress(OSError):
            count += link.parts[2] != str(os.getpid()) and link.readlink() == path
    return count


def pour(fifo: Path, data: bytes) -> None:
    """Writes `data` into a fifo as its only content: returns once the reader has read it all and
    closed the fifo. A writer that came before would only lengthen what this one wrote."""

    def opened() -> int | None:
        with suppress(OSError):  # ENXIO: nobody reads
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK) or None
        return None

    end = until(f"a reader of {fifo}", opened)
    os.set_blocking(end, True)
    with os.fdopen(end, "wb") as writer:
        writer.write(data)
        writer.flush()
        left = array("i", [1])

        def drained() -> bool:
            fcntl.ioctl(writer, termios.FIONREAD, left)
            return left[0] == 0

        until(f"{fifo} to be read", drained, 0.002)
    until(f"{fifo} to be closed", lambda: not _openings(fifo.resolve()))
