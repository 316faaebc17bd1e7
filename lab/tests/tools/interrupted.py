# SPDX-License-Identifier: BSD-2-Clause
"""`make run` is interrupted at random points and run again.

    python lab/tests/tools/interrupted.py [--times 20] [--seed 1] [--longest 60]   # 15 minutes

Each time it sends SIGINT to all processes of `make run`, as Ctrl-C does, some seconds after its
start, or in two of five cases some seconds after the first record was written; every fourth time a
second one follows after 0.2 s. It prints a line for each: when, how long the end took, the exit
status, and what was left. Then `make run` runs whole.

Exit status 1: an end took longer than 5 s (the times are of the wall clock: a busy machine adds to
them), a process outlived it, there was a traceback, a run looks whole that isn't, or the last run
fails.
"""

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from click import echo as say

from teemark.base import paths
from teemark.run import reader
from teemark.run.reader import PARTIAL_FILE, RUN_FILE

RUNS = paths.root() / "runs"
ENDS_S = 5.0
"""Seconds within which all has ended."""


def run_folders() -> set[Path]:
    return set(RUNS.glob("*-quick")) if RUNS.is_dir() else set()


def members(mark: str) -> dict[int, str]:
    """The live processes whose environment has `mark`, as QEMU's has, which leads a session of its
    own: command lines by process id."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (folder / "environ").read_bytes():
                words = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(folder.name)] = words.decode(errors="replace")
    return found


def left(folders: set[Path]) -> tuple[str, bool]:
    """Returns the new runs, and whether each is whole or says that it isn't."""
    told: list[str] = []
    well = True
    for folder in sorted(folders):
        if (folder / PARTIAL_FILE).exists():
            told.append(f"{PARTIAL_FILE} left")
            well = False
        if not (folder / RUN_FILE).exists():
            told.append("a folder without a run")
            continue
        data = reader.read(folder)
        well = well and data.end is not None and bool(data.incomplete)
        told.append(f"{len(data.cases)} cases, {data.incomplete or 'looks whole'}")
    return "; ".join(told) or "no run", well


def interrupt(dice: random.Random, number: int, longest: float) -> bool:
    """Starts `make run`, interrupts it, prints what came of it; True if it ended well."""
    before = run_folders()
    measuring = dice.random() < 0.4
    after = dice.uniform(0, longest / 2 if measuring else longest)
    with tempfile.TemporaryFile() as said:
        mark = f"TEEMARK_INTERRUPTED={os.getpid()}-{number}"
        process = subprocess.Popen(
            ["make", "run"],
            cwd=paths.root(),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
            env={**os.environ, **dict([mark.split("=")])},
        )
        while measuring and process.poll() is None:
            if any((new / PARTIAL_FILE).exists() for new in run_folders() - before):
                break
            time.sleep(0.1)
        began = time.monotonic()
        while time.monotonic() - began < after and process.poll() is None:
            time.sleep(0.1)
        over = process.poll() is not None
        sent = time.monotonic()
        for _ in range(2 if number % 4 == 0 else 1):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
                time.sleep(0.2)
        while (alive := members(mark)) and time.monotonic() - sent < 60:
            process.poll()
            time.sleep(0.05)
        took = time.monotonic() - sent
        for pid in alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        status = process.wait()
        said.seek(0)
        words = said.read().decode(errors="replace")
    kept, well = left(run_folders() - before)
    if over and status == 0:
        well = True
    torn = "; a traceback" * ("Traceback" in words)
    last = [line for line in words.splitlines() if line and not line.startswith("make: ***")][-1:]
    since = "the first record" if measuring else "the start"
    say(
        f"{number:2}: {after:4.1f} s after {since}{' (it had ended)' if over else ''}: ended in "
        f"{took:.1f} s, status {status}; {kept}{torn}; {(last or ['(silence)'])[0][:110]!r}"
        + "".join(f"\n    still alive: {line[:100]}" for line in alive.values())
    )
    return well and not alive and took <= ENDS_S and not torn


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--times", type=int, default=20)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--longest", type=float, default=60, help="seconds until the signal")
    asked = options.parse_args()
    # A shell that begins this in the background has SIGINT ignored, and so would `make run`.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    dice = random.Random(asked.seed)
    ends = [interrupt(dice, n + 1, asked.longest) for n in range(asked.times)]
    say(f"{sum(ends)} of {len(ends)} interruptions ended well")
    before = run_folders()
    done = subprocess.run(["make", "run"], cwd=paths.root(), check=False, capture_output=True)
    whole = [reader.read(folder) for folder in run_folders() - before]
    say(f"make run, then: status {done.returncode}, {sum(len(run.cases) for run in whole)} cases")
    return int(done.returncode != 0 or not all(ends) or any(run.incomplete for run in whole))


if __name__ == "__main__":
    sys.exit(main())
