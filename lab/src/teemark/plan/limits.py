# SPDX-License-Identifier: BSD-2-Clause
"""How much one call may have a Trusted Application do: common/include/teemark/ta_work.h in Python.

teebench and the TAs refuse more; a plan is refused where it is read, so that the mistake shows
before a board is reached.
"""

from __future__ import annotations

from teemark.base.work import IN_TA, Work

WORK_MAX = 4 << 20
"""Bytes: repetitions times the length."""
REPEAT_MAX = 1 << 11
RANDOM_MAX = 64 << 10
"""Random bytes, repeated or not."""


def excess(case: Work, repeat: int) -> str | None:
    """Returns why one call of a case would be too long; None where it wouldn't."""
    size = case.size
    if case.backend not in IN_TA or size is None:
        return None
    total = repeat * size
    if case.row.draws:
        if total > RANDOM_MAX or repeat > REPEAT_MAX:
            return f"{repeat} times {size} random bytes in one call; {RANDOM_MAX} are the most"
    elif repeat > 1 and (total > WORK_MAX or repeat > REPEAT_MAX):
        return (
            f"{repeat} repetitions of {size} bytes in one call; "
            f"{REPEAT_MAX} repetitions and {WORK_MAX} bytes in all are the most"
        )
    return None
