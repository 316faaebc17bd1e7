# SPDX-License-Identifier: BSD-2-Clause
"""Waiting until a program is where a test wants it, however busy the machine is."""

import os
import subprocess
import time
from contextlib import suppress
from pathlib import Path


def until_it_settles(process: subprocess.Popen[bytes]) -> None:
    """Returns once all threads of a program wait for something, five looks long, or it has computed
    for half a second: it has begun, however busy the machine is."""
    calm = ticks = 0
    while process.poll() is None and calm < 5:
        time.sleep(0.05)
        stats = []
        for path in Path(f"/proc/{process.pid}/task").glob("*/stat"):
            with suppress(OSError):  # a thread that just ended
                stats.append(path.read_text().rpartition(")")[2].split())
        before, ticks = ticks, sum(int(stat[11]) + int(stat[12]) for stat in stats)
        if ticks >= os.sysconf("SC_CLK_TCK") / 2:
            return
        calm = calm + 1 if ticks == before and {stat[0] for stat in stats} == {"S"} else 0
