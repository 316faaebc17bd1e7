# SPDX-License-Identifier: BSD-2-Clause
"""How much one call may have a Trusted Application do: common/include/teemark/ta_work.h in Python.

teebench and the TAs refuse more; a plan is refused where it is read, so that the mistake shows
before a board is reached.
"""

from __future__ import annotations

WORK_MAX = 8 << 20
"""Bytes: repetitions times the length."""
REPEAT_MAX = 1 << 16
RANDOM_MAX = 64 << 10
"""Random bytes, repeated or not."""


def excess(workload: str, backend: str, parameters: str, repeat: int) -> str | None:
    """Why one call of a case would be too long; None where it wouldn't."""
    size = parameters.rpartition("/")[2]
    if not (backend == "tee" or backend.startswith("ta-")) or not size.isdecimal():
        return None
    work = repeat * int(size)
    if workload == "rng":
        if work > RANDOM_MAX or repeat > REPEAT_MAX:
            return f"{repeat} times {size} random bytes in one call; {RANDOM_MAX} are the most"
    elif repeat > 1 and (work > WORK_MAX or repeat > REPEAT_MAX):
        return (
            f"{repeat} repetitions of {size} bytes in one call; "
            f"{REPEAT_MAX} repetitions and {WORK_MAX} bytes in all are the most"
        )
    return None
