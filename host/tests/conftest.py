# SPDX-License-Identifier: BSD-2-Clause
"""Builds first what the tests run, by one test process at a time."""

import fcntl
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build" / "tests"

SLOW = [HealthCheck.too_slow]  # It judges the machine
settings.register_profile("quick", max_examples=20, deadline=None, suppress_health_check=SLOW)
settings.register_profile("thorough", max_examples=200, deadline=None, suppress_health_check=SLOW)
settings.load_profile("thorough" if os.environ.get("THOROUGH") else "quick")

# Programs go on ignoring what nohup or a shell's & ignores, and no test could interrupt them.
for number, handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, handler)

Make = Callable[..., None]


@pytest.fixture(scope="session")
def make() -> Make:
    """Runs make with these words."""

    def run(*words: str | Path) -> None:
        BUILD.mkdir(parents=True, exist_ok=True)
        with (BUILD / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            subprocess.run(["make", "--no-print-directory", "-j2", *words], check=True)

    return run


@pytest.fixture(scope="session", autouse=True)
def _programs(make: Make) -> None:
    make("-C", HERE, "programs")
