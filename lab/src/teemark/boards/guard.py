# SPDX-License-Identifier: BSD-2-Clause
"""Children that die with us, even when we are killed with SIGKILL."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

# The kernel sends the signal only if we die after it was asked for; sh looks whether we did
# before, and then becomes the program.
_CHECK = '[ "$PPID" = "$1" ] || exit 1; shift; exec "$@"'


def guarded(argv: Sequence[str]) -> list[str]:
    """`argv` so that it is killed when the thread that starts it ends, however it ends."""
    me = str(os.getpid())
    return ["setpriv", "--pdeathsig", "KILL", "sh", "-c", _CHECK, "sh", me, *argv]


def start_time(pid: int) -> int | None:
    """When a process started (clock ticks since boot), or None if there is no such process.

    A pid alone may be another process by now; with the start time it is that one.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    if fields[0] == "Z":
        return None
    return int(fields[19])
