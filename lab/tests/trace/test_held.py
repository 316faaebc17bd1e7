# SPDX-License-Identifier: BSD-2-Clause
"""Stretches in which the secure world holds off interrupts, from the instructions alone."""

from collections import Counter
from pathlib import Path

import pytest

from teemark.base import paths
from teemark.trace import tree
from teemark.trace.places import Domain, Flag
from teemark.trace.profile import Held
from trace_windows import BL, ERET, NOP, RET, SMC, SVC, B, Machine

pytestmark = pytest.mark.skipif(
    not (paths.trace_tools() / tree.PROGRAM).is_file(), reason="build/trace isn't built: make trace"
)

KERNEL, TFA, CORE, TA = Domain.KERNEL, Domain.TFA, Domain.CORE, Domain.TA
MASK, UNMASK, SET = 0xD50343DF, 0xD50343FF, 0xD51B4220  # DAIFSet #3, DAIFClr #3, DAIF, x0
MASK_NATIVE = 0xD50342DF  # DAIFSet #2: the secure world's own interrupts only


def call(m: Machine) -> None:
    m.run("driver", 0xFFFF800000001000, SMC, domain=KERNEL)
    m.run("smc", 0x0E090000, ERET, domain=TFA)


def end(m: Machine) -> None:
    m.run("exit", 0x0E1F0000, SMC, domain=CORE)
    m.run("smc", 0x0E090100, ERET, domain=TFA)
    m.run("driver", 0xFFFF800000001010, NOP, domain=KERNEL)


def held(m: Machine, folder: Path) -> tuple[Held, list[str]]:
    """The stretches, and the functions that hold the longest ones."""
    built = tree.build(m.recorder.window(folder), m.located())
    names = [function.name for function in m.functions]
    return built.held, [
        names[built.nodes[stretch.above].function] if stretch.above >= 0 else ""
        for stretch in built.held.longest
    ]


def test_from_the_call_on_interrupts_are_held_off_until_the_core_unmasks_them(
    tmp_path: Path,
) -> None:
    m = Machine()
    call(m)
    m.run("entry", 0x0E100000, UNMASK, domain=CORE, flags=Flag.ENTRY, size=20)
    m.run("entry", 0x0E100050, MASK, domain=CORE, size=30)
    end(m)
    found, holders = held(m, tmp_path)
    # TF-A's 4 and the entry's 20; then the exit's 4 and TF-A's 4, not the 30 between.
    assert [stretch.instructions for stretch in found.longest] == [24, 8]
    assert (found.number, found.instructions) == (2, 32)
    assert found.sizes == ((3, 1, 8), (4, 1, 24))
    assert holders[0] == "smc"
    built = tree.build(m.recorder.window(tmp_path), m.located())
    by_name: Counter[str] = Counter()
    for node in built.nodes:
        by_name[m.functions[node.function].name] += node.held
    assert by_name == {"driver": 0, "smc": 8, "entry": 20, "exit": 4}


def test_a_ta_never_holds_interrupts_off_and_its_system_calls_do(tmp_path: Path) -> None:
    m = Machine()
    call(m)
    m.run("entry", 0x0E100000, ERET, domain=CORE, flags=Flag.ENTRY)
    m.run("ta", 0x40000000, SVC, domain=TA, size=500)
    m.run("svc", 0x0E101000, UNMASK, domain=CORE, flags=Flag.VECTOR | Flag.ENTRY, size=10)
    m.run("svc", 0x0E101030, MASK, domain=CORE, size=200)
    end(m)
    found, _ = held(m, tmp_path)
    assert sorted(stretch.instructions for stretch in found.longest) == [8, 8, 10]


def test_the_longest_is_named_by_the_function_that_holds_it(tmp_path: Path) -> None:
    """thread_set_exceptions() unmasks if it asked for a spinlock, and masks otherwise."""
    m = Machine()
    call(m)
    m.run("entry", 0x0E100000, UNMASK, domain=CORE, flags=Flag.ENTRY)
    for asks, address in ((False, 0x0E100010), (True, 0x0E100020)):
        m.run("unmap", address, BL, domain=CORE)
        flags = Flag.ENTRY | Flag.SETS_MASK
        if asks:
            m.run("set", 0x0E200000, BL, domain=CORE, flags=flags)
            asking = Flag.ENTRY | Flag.ASKS_SPINLOCK
            m.run("lock", 0x0E300000, RET, domain=CORE, flags=asking)
            m.run("set", 0x0E200010, SET, domain=CORE, flags=Flag.SETS_MASK)
        else:
            m.run("set", 0x0E200000, SET, domain=CORE, flags=flags)
        m.run("set", 0x0E200020, RET, domain=CORE, flags=Flag.SETS_MASK)
        m.run("unmap", address + 16, NOP, domain=CORE, size=0x100 if not asks else 4)
    m.run("unmap", 0x0E100030, MASK, domain=CORE)
    end(m)
    found, holders = held(m, tmp_path)
    longest = found.longest[0]
    assert holders[0] == "unmap"
    # From behind the MSR in the first call to the MSR in the second one.
    assert longest.instructions == 4 + 0x100 + 4 + 4 + 4 + 4


def test_an_interrupt_in_the_core_restores_the_mask_that_it_found(tmp_path: Path) -> None:
    m = Machine()
    call(m)
    m.run("entry", 0x0E100000, UNMASK, domain=CORE, flags=Flag.ENTRY)
    m.run("work", 0x0E100010, NOP, domain=CORE, size=50)
    m.run("fiq", 0x0E400000, SMC, domain=CORE, flags=Flag.VECTOR | Flag.ENTRY, size=7)
    m.run("smc", 0x0E090100, ERET, domain=TFA)
    m.run("driver", 0xFFFF800000001010, SMC, domain=KERNEL)
    m.run("smc", 0x0E090200, ERET, domain=TFA)
    m.run("fiq", 0x0E40001C, ERET, domain=CORE)
    m.run("work", 0x0E1000D8, NOP, domain=CORE, size=60)
    m.run("work", 0x0E1001C8, MASK, domain=CORE)
    end(m)
    found, _ = held(m, tmp_path)
    assert sum(stretch.instructions for stretch in found.longest) == 8 + 11 + 8 + 8


def test_an_interrupt_after_a_jump_goes_back_to_where_the_jump_led(tmp_path: Path) -> None:
    """A loop is interrupted behind its last instruction, and goes on at its first one."""
    m = Machine()
    call(m)
    m.run("entry", 0x0E100000, UNMASK, domain=CORE, flags=Flag.ENTRY)
    m.run("loop", 0x0E100100, B, domain=CORE, size=50)
    m.run("fiq", 0x0E400000, SMC, domain=CORE, flags=Flag.VECTOR | Flag.ENTRY, size=7)
    m.run("smc", 0x0E090100, ERET, domain=TFA)
    m.run("driver", 0xFFFF800000001010, SMC, domain=KERNEL)
    m.run("smc", 0x0E090200, ERET, domain=TFA)
    m.run("fiq", 0x0E40001C, ERET, domain=CORE)
    m.run("loop", 0x0E100100, B, domain=CORE, size=50)
    m.run("loop", 0x0E100100, MASK, domain=CORE, size=60)
    end(m)
    found, _ = held(m, tmp_path)
    assert sorted(stretch.instructions for stretch in found.longest) == [8, 8, 8, 11]


def test_masking_the_secure_worlds_own_interrupts_holds_none_of_ours_off(tmp_path: Path) -> None:
    m = Machine()
    call(m)
    m.run("entry", 0x0E100000, UNMASK, domain=CORE, flags=Flag.ENTRY)
    m.run("entry", 0x0E100010, MASK_NATIVE, domain=CORE)
    m.run("entry", 0x0E100020, MASK, domain=CORE, size=40)
    end(m)
    found, _ = held(m, tmp_path)
    assert found.instructions == 8 + 8
