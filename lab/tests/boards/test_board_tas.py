# SPDX-License-Identifier: BSD-2-Clause
"""The Trusted Applications on the real OP-TEE, through ta_check (ta/tests/board)."""

import re
from pathlib import Path

import pytest

from conftest import often
from teemark.boards import VirtualBoard

pytestmark = pytest.mark.board

CLOCK = 90
UNKNOWN = 8


@pytest.fixture(scope="module")
def ta_check(ta_programs: Path) -> str:
    return str(ta_programs / "ta_check")


def test_every_parameter_type_is_answered(qemu_v8: VirtualBoard, ta_check: str) -> None:
    """Every type that the driver passes on, on every command, and all 65,536 on the first, with
    memory, without, and with none of a size: no panic. In `make test` it is each 509th type."""
    step = often(509, 1)
    lines = qemu_v8.capture([ta_check, "types", "digest", str(step)]).text.splitlines()
    counts = [
        tuple(map(int, found.groups()))
        for line in lines
        if (found := re.match(r"command (\d+): (\d+) calls, (\d+) successes, (\d+) neither", line))
    ]
    # From the clock's command (90) on the rest run by a clock.
    assert [(command, bad) for command, _, _, bad in counts] == [
        (n, 0) for n in (0, 1, CLOCK, 2, 3, 4, 5, 6, 7, UNKNOWN)
    ]
    assert all(calls >= 7**4 // step // 2 for _, calls, _, _ in counts)
    assert counts[0][1] >= 65536 // step
    if step > 1:
        return
    successes = {command: right for command, _, right, _ in counts}
    # NOP: any types that exist, of all three kinds of memory. The unknown command: never.
    assert (successes[0], successes.pop(UNKNOWN)) == (3 * 7**4, 0)
    assert all(right > 0 for right in successes.values())


def test_a_dead_instance_takes_no_session_along(qemu_v8: VirtualBoard, ta_check: str) -> None:
    assert qemu_v8.capture([ta_check, "apart"]).text == "1 instances died, the session lived\n"


def test_probe_finds_what_a_ta_may_do_here(qemu_v8: VirtualBoard, ta_check: str) -> None:
    """Linux lets user space read the virtual counter and not the physical one."""
    found = dict(
        line.split(" ", 1) for line in qemu_v8.capture([ta_check, "probe"]).text.splitlines()
    )
    assert re.fullmatch(r"yes count=[1-9]\d* hz=62500000", found.pop("counter-virtual"))
    assert found == {
        "call": "yes",
        "counter-physical": "no",
    }


def test_stack_has_room_to_spare(qemu_v8: VirtualBoard, ta_check: str) -> None:
    """ta_check itself fails when less than a quarter of the stack stays unused."""
    lines = qemu_v8.capture([ta_check, "stack"]).text.splitlines()
    marks = [int(line.split(": ")[1].split()[0]) for line in lines]
    assert len(marks) == 10 + 9 + 3  # SM3 is the TEE's alone
    assert len(set(marks)) > 1
