# SPDX-License-Identifier: BSD-2-Clause
"""Sentences on the TEE's memory follow from the steps that teebench prints, and a TA's stack."""

import pytest

from teemark.exact.memory import Least, Measured
from teemark.measure.memory import MemoryPool, MemoryStep, MemoryUse
from teemark.page.blocks import Paragraph, Table, plain
from teemark.report import memory_page
from teemark.trace.memory import TaMemory

UUID = "5e5b2f0c-6d0a-4b57-9c1e-3a7f41d28860"
THIN = "\N{NARROW NO-BREAK SPACE}"


def pools(heap: int, ram: int, *, most: int = 0, refused: int = 0) -> tuple[MemoryPool, ...]:
    return (
        MemoryPool("Heap", heap, max(most, heap), 199_296, refused, 512 * refused),
        MemoryPool("TA RAM", ram, ram, 15_728_640, 0, 0),
    )


FULL = MemoryUse(
    UUID,
    (
        MemoryStep(UUID, "before", pools(17_000, 0)),
        MemoryStep(UUID, "first", pools(20_696, 192_512)),
        MemoryStep(UUID, "second", pools(23_992, 282_624)),
        MemoryStep(
            UUID,
            "full",
            pools(192_000, 4_000_000, most=197_000, refused=1),
            sessions=53,
            result=0xFFFF000F,
            reason="TEE_ERROR_SECURITY",
        ),
        MemoryStep(UUID, "after", pools(17_000, 0)),
    ),
)


def measured(
    *sessions: MemoryUse, ta: TaMemory | None = None, least: tuple[Least, ...] = ()
) -> Measured:
    tas = (ta,) if ta is not None else None
    return Measured("board", (), sessions, tas, 2048, least)


def said(what: Measured) -> str:
    shown = memory_page.blocks(what)
    return " ".join(plain(block.text) for block in shown if isinstance(block, Paragraph))


def test_a_session_takes_what_is_there_more_than_before() -> None:
    assert FULL.more("first", "Heap") == 3696
    assert FULL.more("second", "Heap", since="first") == 3296
    assert FULL.more("after", "TA RAM") == 0
    assert FULL.more("first", "no such pool") is None
    assert FULL.more("no such step", "Heap") is None
    assert FULL.most("Heap") == 180_000
    assert FULL.failure is None


def test_the_pool_that_refused_is_the_cause_whatever_the_tee_answered() -> None:
    text = said(measured(FULL))
    assert f"53 sessions with TA {UUID} fit: then Heap (199{THIN}296 bytes) has no room" in text
    assert "SECURITY" not in text


def test_without_a_pool_that_refused_the_tees_answer_is_the_cause() -> None:
    steps = (*FULL.steps[:3], MemoryStep(UUID, "full", (), sessions=2, reason="busy"))
    assert "2 sessions" in (text := said(measured(MemoryUse(UUID, steps))))
    assert "then: busy" in text


def test_more_sessions_than_are_opened_are_at_least_so_many() -> None:
    steps = (FULL.steps[0], MemoryStep(UUID, "full", pools(1, 1), sessions=512))
    assert f"At least 512 sessions with TA {UUID} fit" in said(measured(MemoryUse(UUID, steps)))


def test_a_tee_without_statistics_says_so_and_how_many_sessions_fit() -> None:
    why = "this OP-TEE has no statistics of its memory: CFG_WITH_STATS=n"
    steps = (
        MemoryStep(UUID, "before", unknown=why),
        MemoryStep(UUID, "full", unknown=why, sessions=7, reason="out of memory"),
    )
    what = measured(MemoryUse(UUID, steps))
    assert "7 sessions" in said(what)
    assert "CFG_WITH_STATS=n" in said(what)
    assert not [block for block in memory_page.blocks(what) if isinstance(block, Table)]


@pytest.mark.parametrize(("stack", "little"), [(5529, False), (5530, True), (6144, True)])
def test_less_than_a_tenth_of_a_stack_is_little(stack: int, *, little: bool) -> None:
    what = measured(ta=TaMemory("mine", stack, 6144, 272, 4096, 8192, 3, 4))
    assert bool(memory_page.scarce(what)) is little
    assert ("raise TA_STACK_SIZE of mine" in said(what)) is little


def test_the_least_size_is_said_with_what_less_of_it_answers() -> None:
    least = Least("TA_STACK_SIZE", 512, "TEE_ERROR_TARGET_DEAD")
    text = said(measured(ta=TaMemory("mine", 2560, 6144, 0, 4096, 8192, 3, 4), least=(least,)))
    assert "TA_STACK_SIZE with which all calls pass is 512; with 16 bytes less: TEE_ERROR" in text


def test_a_failed_case_is_named_and_the_command_fails() -> None:
    steps = (
        MemoryStep("invoke/none/tee/none", "before", pools(1, 1)),
        MemoryStep("invoke/none/tee/none", "failed", pools(1, 1), reason="no TA"),
    )
    what = Measured("board", (MemoryUse("invoke/none/tee/none", steps),), (), None, 2048)
    assert what.failed
    assert "invoke/none/tee/none failed: no TA." in said(what)
