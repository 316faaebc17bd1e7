# SPDX-License-Identifier: BSD-2-Clause
"""Calls by several threads at once, on the board with one CPU, where they only take turns."""

import json

import pytest

from teemark.boards import VirtualBoard

pytestmark = pytest.mark.board


def instructions(board: VirtualBoard, key: str) -> float:
    """Until each thread has made one call; the least of three samples, which no tick is in."""
    argv = ["teebench", "--samples", "3", "--min-us", "0", "--loops", "20", "--no-ta-counter", key]
    records = [json.loads(line) for line in board.capture(argv, timeout=600).text.splitlines()]
    found = [float(one["ns"]) / one["loops"] for one in records if one["type"] == "sample"]
    assert len(found) == 3
    return float(min(found))


@pytest.mark.parametrize("sessions", ["own", "shared", "single"])
def test_threads_on_one_cpu_take_turns_and_waiting_costs_next_to_nothing(
    qemu_v8_icount: VirtualBoard, sessions: str
) -> None:
    one, eight = (
        instructions(qemu_v8_icount, f"parallel/{sessions}/tee/{threads}") for threads in (1, 8)
    )
    # Eight calls, of which some share the kernel's way back to their threads.
    assert 7 * one < eight < 8.3 * one
    # Each thread's call is a whole one, as of the workload that makes one alone.
    assert one > 0.9 * instructions(qemu_v8_icount, "invoke/none/tee/none")
