# SPDX-License-Identifier: BSD-2-Clause
"""Call trees: every instruction in its place, across exception levels, interrupts and threads."""

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from teemark.base import paths
from teemark.base.errors import DataError, MissingOutput
from teemark.trace import tree
from teemark.trace.places import Domain, Flag
from trace_windows import BL, ERET, NOP, RET, SMC, SVC, B, Machine

pytestmark = pytest.mark.skipif(
    not (paths.trace_tools() / tree.PROGRAM).is_file(), reason="build/trace isn't built: make trace"
)

KERNEL, TFA, CORE, TA = Domain.KERNEL, Domain.TFA, Domain.CORE, Domain.TA


def folded(machine: Machine, folder: Path) -> dict[str, int]:
    """Stacks with their instructions; what was lost is an error here."""
    stacks, built = with_lost(machine, folder)
    assert built.lost == ()
    return stacks


def with_lost(machine: Machine, folder: Path) -> tuple[dict[str, int], tree.Tree]:
    window = machine.recorder.window(folder)
    built = tree.build(window, machine.located())
    names = [f.name for f in machine.functions]
    stacks: list[str] = []
    found: dict[str, int] = {}
    for node in built.nodes:
        name = names[node.function] if node.function < len(names) else "other"
        stacks.append(f"{stacks[node.parent]};{name}" if node.parent >= 0 else name)
        if node.self:
            found[stacks[-1]] = found.get(stacks[-1], 0) + node.self
    assert sum(found.values()) == window.instructions
    return found, built


def test_a_call_returns_to_its_caller(tmp_path: Path) -> None:
    m = Machine()
    m.run("main", 0x1000, BL)
    m.run("leaf", 0x2000, RET, flags=Flag.ENTRY)
    m.run("main", 0x1010, NOP)
    assert folded(m, tmp_path) == {"main": 8, "main;leaf": 4}


def test_a_jump_to_another_function_is_below_the_jumping_one(tmp_path: Path) -> None:
    """Who called is to be seen; both return at once."""
    m = Machine()
    m.run("main", 0x1000, BL)
    m.run("wrapper", 0x2000, B, flags=Flag.ENTRY)
    m.run("real", 0x3000, RET, flags=Flag.ENTRY)
    m.run("main", 0x1010, NOP)
    assert folded(m, tmp_path) == {"main": 8, "main;wrapper": 4, "main;wrapper;real": 4}


def test_calls_and_tail_calls_are_counted(tmp_path: Path) -> None:
    m = Machine()
    for _ in range(3):
        m.run("main", 0x1000, BL)
        m.run("wrapper", 0x2000, B, flags=Flag.ENTRY)
        m.run("real", 0x3000, RET, flags=Flag.ENTRY)
        m.run("main", 0x1010, NOP)
    _, built = with_lost(m, tmp_path)
    calls = {m.functions[node.function].name: node.calls for node in built.nodes}
    assert (calls["wrapper"], calls["real"]) == (3, 3)


def test_a_window_begins_in_the_midst_of_a_block(tmp_path: Path) -> None:
    """The call at the block's end returns behind it all the same."""
    m = Machine()
    m.run("main", 0x1000, BL, size=6, begun=2)
    m.run("leaf", 0x2000, RET, flags=Flag.ENTRY)
    m.run("main", 0x1018, NOP)
    assert folded(m, tmp_path) == {"main": 6, "main;leaf": 4}


def test_the_way_in_and_the_way_out_are_told_apart(tmp_path: Path) -> None:
    m = Machine()
    m.run("main", 0x1000, SVC)
    m.run("call", 0x80000, SMC, domain=KERNEL, flags=Flag.VECTOR)
    m.run("monitor", 0xE000, ERET, domain=TFA, flags=Flag.ENTRY)
    m.run("call", 0x80010, ERET, domain=KERNEL)
    m.run("main", 0x1010, NOP)
    _, built = with_lost(m, tmp_path)
    ways = [(link.origin, link.target) for link in built.passes]
    assert ways == [("EL0", "EL1"), ("EL1", "EL3"), ("EL3", "EL1"), ("EL1", "EL0")]


def test_parts_of_a_function_that_jump_to_each_other_grow_no_deeper(tmp_path: Path) -> None:
    m = Machine()
    m.run("main", 0x1000, BL)
    for _ in range(3):
        m.run("f", 0x2000, B, flags=Flag.ENTRY)
        m.run("f.cold", 0x3000, B, flags=Flag.ENTRY)
    m.run("f", 0x2010, RET)
    m.run("main", 0x1010, NOP)
    assert folded(m, tmp_path) == {"main": 8, "main;f": 16, "main;f;f.cold": 12}


def test_a_recursion_unwinds_one_by_one(tmp_path: Path) -> None:
    m = Machine()
    m.run("main", 0x1000, BL)
    m.run("f", 0x2000, BL, flags=Flag.ENTRY)
    m.run("f", 0x2000, BL, flags=Flag.ENTRY)
    m.run("leaf", 0x3000, RET, flags=Flag.ENTRY)
    m.run("f", 0x2010, RET)
    m.run("f", 0x2010, RET)
    m.run("main", 0x1010, NOP)
    assert folded(m, tmp_path) == {
        "main": 8,
        "main;f": 8,
        "main;f;f": 8,
        "main;f;f;leaf": 4,
    }


def call_into_the_tee(m: Machine) -> None:
    """A program's system call, the driver's SMC, TF-A, the core, the TA and back."""
    m.run("main", 0x1000, SVC)
    m.run("sync", 0xFFFF800000000400, SMC, domain=KERNEL, flags=Flag.VECTOR | Flag.ENTRY)
    m.run("smc", 0x0E090000, ERET, domain=TFA)
    m.run("entry", 0x0E100000, ERET, domain=CORE, flags=Flag.ENTRY)
    m.run("ta", 0x40000000, SVC, domain=TA, flags=Flag.ENTRY)
    m.run("svc", 0x0E101000, RET, domain=CORE, flags=Flag.ENTRY)


def back_from_the_tee(m: Machine) -> None:
    m.run("smc", 0x0E090100, ERET, domain=TFA)
    m.run("sync", 0xFFFF800000000410, ERET, domain=KERNEL)
    m.run("main", 0x1010, NOP)


def test_one_rule_returns_through_all_levels(tmp_path: Path) -> None:
    m = Machine()
    call_into_the_tee(m)
    # The TA's system call ends it: the core goes on where it had entered the TA.
    m.run("entry", 0x0E100010, SMC, domain=CORE)
    back_from_the_tee(m)
    assert folded(m, tmp_path) == {
        "main": 8,
        "main;sync": 8,
        "main;sync;smc": 4,
        "main;sync;smc;entry": 8,
        "main;sync;smc;entry;ta": 4,
        "main;sync;smc;entry;ta;svc": 4,
        "main;sync;smc;entry;smc": 4,
    }


def test_a_fault_goes_back_to_the_instruction_itself(tmp_path: Path) -> None:
    m = Machine()
    m.run("main", 0x1000, NOP, size=6, begun=3)
    m.run("abort", 0xFFFF800000000400, ERET, domain=KERNEL, flags=Flag.VECTOR | Flag.ENTRY)
    m.run("main", 0x1008, NOP)
    assert folded(m, tmp_path) == {"main": 7, "main;abort": 4}


def test_an_interrupt_in_the_kernel_is_below_what_it_interrupted(tmp_path: Path) -> None:
    m = Machine()
    m.run("work", 0xFFFF800000001000, NOP, domain=KERNEL)
    m.run("irq", 0xFFFF800000000280, ERET, domain=KERNEL, flags=Flag.VECTOR | Flag.ENTRY)
    m.run("work", 0xFFFF800000001010, NOP, domain=KERNEL)
    assert folded(m, tmp_path) == {"work": 8, "work;irq": 4}


def rpc(m: Machine, resumed: int, *, asks: bool = False) -> None:
    """The core asks the normal world, which resumes it at `resumed`; in between it may make a
    fast call."""
    m.run("entry", 0x0E100010, BL, domain=CORE)
    m.run("rpc", 0x0E102000, SMC, domain=CORE, flags=Flag.ENTRY)
    m.run("smc", 0x0E090100, ERET, domain=TFA)
    # The kernel's own business with TF-A comes in between.
    m.run("sync", 0xFFFF800000000410, SMC, domain=KERNEL)
    m.run("workaround", 0x0E092000, ERET, domain=TFA)
    m.run("sync", 0xFFFF800000000420, SMC, domain=KERNEL)
    if asks:
        m.run("smc", 0x0E090200, ERET, domain=TFA)
        m.run("fast", 0x0E106000, SMC, domain=CORE, flags=Flag.ENTRY)
        m.run("smc", 0x0E090300, ERET, domain=TFA)
        m.run("sync", 0xFFFF800000000430, SMC, domain=KERNEL)
    m.run("smc", 0x0E090200, ERET, domain=TFA)
    m.run("resume", 0x0E103000, ERET, domain=CORE, flags=Flag.ENTRY)
    m.run("rpc", resumed, RET, domain=CORE)


def test_the_core_goes_on_after_an_rpc_as_if_it_had_never_been_away(tmp_path: Path) -> None:
    m = Machine()
    call_into_the_tee(m)
    rpc(m, 0x0E102040)
    m.run("entry", 0x0E100020, SMC, domain=CORE)
    m.run("smc", 0x0E090100, ERET, domain=TFA)
    m.run("sync", 0xFFFF800000000430, ERET, domain=KERNEL)
    m.run("main", 0x1010, NOP)
    stacks = folded(m, tmp_path)
    assert stacks["main"] == 8
    assert stacks["main;sync;smc;entry;rpc"] == 8  # before and after
    assert stacks["main;sync;smc;resume"] == 4
    assert stacks["main;sync;smc;entry"] == 12
    assert "main;sync;smc;resume;rpc" not in stacks


def test_a_fast_call_does_not_make_the_core_forget_the_one_that_waits(tmp_path: Path) -> None:
    m = Machine()
    call_into_the_tee(m)
    rpc(m, 0x0E102040, asks=True)
    m.run("entry", 0x0E100020, SMC, domain=CORE)
    m.run("smc", 0x0E090100, ERET, domain=TFA)
    m.run("sync", 0xFFFF800000000440, ERET, domain=KERNEL)
    m.run("main", 0x1010, NOP)
    stacks = folded(m, tmp_path)
    assert stacks["main;sync;smc;entry;rpc"] == 8  # before and after
    assert stacks["main;sync;smc;entry"] == 12
    assert stacks["main;sync;smc;fast"] == 4


def test_a_call_that_waits_is_not_lost_while_others_wait_and_go_on(tmp_path: Path) -> None:
    """There is room for eight that wait: one that went on must give its place back."""
    m = Machine()
    at = 0xFFFF800000000400

    def kernel_asks_again() -> None:
        nonlocal at
        m.run("smc", 0x0E090100, ERET, domain=TFA)
        m.run("sync", at := at + 0x10, SMC, domain=KERNEL)
        m.run("smc", 0x0E090200, ERET, domain=TFA)

    call_into_the_tee(m)
    m.run("entry", 0x0E100010, BL, domain=CORE)
    m.run("rpc", 0x0E102000, SMC, domain=CORE, flags=Flag.ENTRY)
    for _ in range(4):
        kernel_asks_again()
        m.run("other", 0x0E108000, BL, domain=CORE, flags=Flag.ENTRY)
        m.run("ask", 0x0E109000, SMC, domain=CORE, flags=Flag.ENTRY)
        kernel_asks_again()
        m.run("resume", 0x0E103000, ERET, domain=CORE, flags=Flag.ENTRY)
        m.run("ask", 0x0E109040, RET, domain=CORE)
        m.run("other", 0x0E108010, SMC, domain=CORE)
    kernel_asks_again()
    m.run("resume", 0x0E103000, ERET, domain=CORE, flags=Flag.ENTRY)
    m.run("rpc", 0x0E102040, RET, domain=CORE)
    m.run("entry", 0x0E100020, SMC, domain=CORE)
    m.run("smc", 0x0E090100, ERET, domain=TFA)
    m.run("sync", at + 0x10, ERET, domain=KERNEL)
    m.run("main", 0x1010, NOP)
    stacks = folded(m, tmp_path)
    assert stacks["main;sync;smc;entry;rpc"] == 8  # before and after
    assert stacks["main;sync;smc;other;ask"] == stacks["main;sync;smc;other"] == 4 * 8
    assert stacks["main;sync;smc;resume"] == 5 * 4


def test_an_interrupt_right_behind_another_is_below_what_the_first_interrupted(
    tmp_path: Path,
) -> None:
    """Also where an earlier call has left something that was never gone on with."""
    m = Machine()
    call_into_the_tee(m)
    m.run("entry", 0x0E100010, SMC, domain=CORE)
    back_from_the_tee(m)
    call_into_the_tee(m)
    m.run("entry", 0x0E100010, BL, domain=CORE)
    m.run("leaf", 0x0E107000, NOP, domain=CORE, flags=Flag.ENTRY)
    for _ in range(2):
        m.run("vector", 0x0E104000, B, domain=CORE, flags=Flag.VECTOR | Flag.ENTRY)
        m.run("handler", 0x0E105000, ERET, domain=CORE, flags=Flag.ENTRY)
    m.run("leaf", 0x0E107010, RET, domain=CORE)
    m.run("entry", 0x0E100020, SMC, domain=CORE)
    back_from_the_tee(m)
    stacks = folded(m, tmp_path)
    inside = "main;sync;smc;entry;leaf"
    assert stacks[inside] == stacks[f"{inside};vector"] == stacks[f"{inside};vector;handler"] == 8
    assert stacks["main"] == 16


def test_two_threads_keep_their_stacks(tmp_path: Path) -> None:
    """The kernel goes to another thread and back: what that does is a tree of its own, and the
    first goes on where it was."""

    def switch() -> None:
        m.run("switch", 0xFFFF800000005000, RET, domain=KERNEL, flags=Flag.ENTRY | Flag.SWITCH)

    m = Machine()
    m.run("main", 0x1000, SVC)
    m.run("sync", 0xFFFF800000000400, BL, domain=KERNEL, flags=Flag.VECTOR | Flag.ENTRY)
    m.run("wait", 0xFFFF800000002000, BL, domain=KERNEL, flags=Flag.ENTRY)
    switch()
    m.run("serve", 0xFFFF800000003000, ERET, domain=KERNEL)
    m.run("daemon", 0x9000, SVC)
    m.run("sync", 0xFFFF800000000400, BL, domain=KERNEL, flags=Flag.VECTOR | Flag.ENTRY)
    m.run("serve", 0xFFFF800000002F00, BL, domain=KERNEL, flags=Flag.ENTRY)
    switch()
    m.run("wait", 0xFFFF800000002010, RET, domain=KERNEL)
    m.run("sync", 0xFFFF800000000410, ERET, domain=KERNEL)
    m.run("main", 0x1010, NOP)
    stacks = folded(m, tmp_path)
    assert stacks["main;sync;wait"] == 8
    assert stacks["main"] == 8
    assert stacks["other;daemon"] == 4
    assert stacks["other;daemon;sync;serve"] == 4
    assert sum(count for stack, count in stacks.items() if stack.startswith("main")) == 28


def test_a_thread_that_was_never_seen_is_not_taken_for_one_that_sleeps(tmp_path: Path) -> None:
    def switch() -> None:
        m.run("switch", 0xFFFF800000005000, RET, domain=KERNEL, flags=Flag.ENTRY | Flag.SWITCH)

    m = Machine()
    m.run("wait", 0xFFFF800000002000, BL, domain=KERNEL, flags=Flag.ENTRY)
    switch()
    m.run("first", 0xFFFF800000003000, BL, domain=KERNEL)
    switch()
    m.run("second", 0xFFFF800000004000, BL, domain=KERNEL)
    switch()
    m.run("wait", 0xFFFF800000002010, NOP, domain=KERNEL)
    stacks = folded(m, tmp_path)
    assert stacks["wait"] == 8
    assert stacks["other;first"] == stacks["other;second"] == 4


def test_code_without_symbols_is_one_block_and_its_calls_still_return(tmp_path: Path) -> None:
    m = Machine()
    m.run("main", 0x1000, BL)
    m.run("[lib]", 0x2000, BL, flags=Flag.OPAQUE)
    m.run("[lib]", 0x2100, B, flags=Flag.OPAQUE)  # a stub that jumps to what has a name
    m.run("named", 0x3000, RET, flags=Flag.ENTRY)
    m.run("[lib]", 0x2010, RET, flags=Flag.OPAQUE)
    m.run("main", 0x1010, NOP)
    assert folded(m, tmp_path) == {"main": 8, "main;[lib]": 12, "main;[lib];named": 4}


def test_a_return_to_nowhere_is_told(tmp_path: Path) -> None:
    """And what was on the stack is in doubt, but for the window's own beginning."""
    m = Machine()
    m.run("main", 0x1000, BL)
    m.run("leaf", 0x2000, RET, flags=Flag.ENTRY)
    m.run("stranger", 0x7000, NOP)
    _, built = with_lost(m, tmp_path)
    assert [(lost.by, lost.count) for lost in built.lost] == [("return", 1)]
    assert {m.functions[n.function].name: n.unsure for n in built.nodes} == {
        "main": False,
        "leaf": True,
        "stranger": False,
    }


def test_a_lost_return_into_the_middle_of_a_function_on_the_stack_goes_there(
    tmp_path: Path,
) -> None:
    m = Machine()
    m.run("main", 0x1000, BL)
    m.run("f", 0x2000, BL, flags=Flag.ENTRY)
    m.run("leaf", 0x3000, RET, flags=Flag.ENTRY)
    m.run("f", 0x2040, RET)  # not behind its call
    m.run("main", 0x1010, NOP)
    stacks, built = with_lost(m, tmp_path)
    assert sum(lost.count for lost in built.lost) == 1
    assert stacks == {"main": 8, "main;f": 8, "main;f;leaf": 4}


def tick(m: Machine, domain: Domain) -> None:
    """An interrupt of a level, with a call of its own, back by ERET."""
    base = 0x0E104000 if domain in (CORE, TA) else 0xFFFF800000008000
    inside = CORE if domain in (CORE, TA) else KERNEL
    m.run("irq", base, BL, size=2, domain=inside, flags=Flag.VECTOR | Flag.ENTRY)
    m.run("serve", base + 0x1000, RET, size=3, domain=inside, flags=Flag.ENTRY)
    m.run("irq", base + 8, ERET, size=2, domain=inside)


@pytest.mark.parametrize("domain", [Domain.PROGRAM, KERNEL, CORE, TA])
@pytest.mark.parametrize("behind", ["calls", "returns", "jumps", "all"])
def test_a_tick_behind_every_block_of_a_call_changes_nothing_but_its_own(
    tmp_path: Path, domain: Domain, behind: str
) -> None:
    """QEMU takes interrupts between blocks: between a call and what is called, a return and where
    it goes, a jump and its target."""
    base = {KERNEL: 0xFFFF800000100000, CORE: 0x0E110000}.get(domain, 0x40100000)
    kinds = {"calls": (BL,), "returns": (RET,), "jumps": (B,), "all": (BL, RET, B)}[behind]
    program = (
        ("f", 0x0, BL, Flag.ENTRY),
        ("g", 0x1000, BL, Flag.ENTRY),
        ("leaf", 0x2000, B, Flag.ENTRY),
        ("leaf", 0x2040, B, 0),  # a taken branch
        ("tail", 0x3000, RET, Flag.ENTRY),
        ("g", 0x1010, BL, 0),
        ("g", 0x1000, BL, Flag.ENTRY),  # a recursion
        ("leaf", 0x2000, RET, Flag.ENTRY),
        ("g", 0x1010, RET, 0),
        ("g", 0x1020, RET, 0),
        ("f", 0x10, NOP, 0),
    )

    def run(ticks: bool) -> Machine:
        m = Machine()
        for name, at, last, flags in program:
            m.run(name, base + at, last, domain=domain, flags=flags)
            if ticks and last in kinds:
                tick(m, domain)
        return m

    undisturbed = folded(run(ticks=False), tmp_path)
    assert undisturbed == {
        "f": 8,
        "f;g": 12,
        "f;g;leaf": 8,
        "f;g;leaf;tail": 4,
        "f;g;g": 8,
        "f;g;g;leaf": 4,
    }
    disturbed = folded(run(ticks=True), tmp_path)
    its_own = {stack: count for stack, count in disturbed.items() if "irq" not in stack}
    assert its_own == undisturbed
    ticks = sum(last in kinds for _, _, last, _ in program)
    assert sum(disturbed.values()) == sum(undisturbed.values()) + 7 * ticks


def test_a_call_in_a_ta_that_the_normal_world_interrupts_goes_on_when_it_is_resumed(
    tmp_path: Path,
) -> None:
    """A timer tick inside OP-TEE is the normal world's: the way there and back comes between the
    TA's call and what it calls."""
    m = Machine()
    m.run("main", 0x1000, SVC)
    m.run("sync", 0xFFFF800000000400, SMC, domain=KERNEL, flags=Flag.VECTOR | Flag.ENTRY)
    m.run("smc", 0x0E090000, ERET, domain=TFA)
    m.run("entry", 0x0E100000, ERET, domain=CORE, flags=Flag.ENTRY)
    for number in range(3):
        m.run("ta", 0x40000000 + 0x10 * number, BL, domain=TA, flags=0 if number else Flag.ENTRY)
        m.run("vector", 0x0E104000, SMC, domain=CORE, flags=Flag.VECTOR | Flag.ENTRY)
        m.run("smc", 0x0E090100, ERET, domain=TFA)
        # taken at once, before the first instruction behind the SMC
        m.run("irq", 0xFFFF800000000280, ERET, domain=KERNEL, flags=Flag.VECTOR | Flag.ENTRY)
        m.run("sync", 0xFFFF800000000410, SMC, domain=KERNEL)
        m.run("smc", 0x0E090200, ERET, domain=TFA)
        m.run("resume", 0x0E103000, ERET, domain=CORE, flags=Flag.ENTRY)
        m.run("leaf", 0x40001000, RET, domain=TA, flags=Flag.ENTRY)
    m.run("ta", 0x40000030, SVC, domain=TA)
    m.run("svc", 0x0E101000, RET, domain=CORE, flags=Flag.ENTRY)
    m.run("entry", 0x0E100010, SMC, domain=CORE)
    back_from_the_tee(m)
    stacks = folded(m, tmp_path)
    inside = "main;sync;smc;entry;ta"
    assert stacks[inside] == 16
    assert stacks[f"{inside};leaf"] == stacks[f"{inside};vector"] == 12
    assert stacks["main;sync;smc;resume"] == stacks["main;sync;irq"] == 12
    assert stacks["main"] == 8


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(seed=st.integers(0, 10**9), size=st.integers(1, 60))
def test_any_program_of_calls_comes_out_as_it_went_in(tmp_path: Path, seed: int, size: int) -> None:
    rng = random.Random(seed)
    m = Machine()
    expected: dict[str, int] = {}
    left = size

    def call(number: int, stack: str) -> None:
        nonlocal left
        base = 0x10000 * (number + 1)
        at = base

        def interrupted() -> None:
            if rng.random() < 0.3:
                tick(m, Domain.PROGRAM)

        while left > 0 and rng.random() < 0.6 and stack.count(";") < 20:
            left -= 1
            length = rng.randint(1, 5)
            entry = Flag.ENTRY if at == base else 0
            m.run(f"f{number}", at, BL, size=length, flags=entry)
            interrupted()
            expected[stack] = expected.get(stack, 0) + length
            at += 4 * length
            child = rng.randint(0, 5)
            call(child, f"{stack};f{child}")
        last = RET if stack.count(";") else NOP
        m.run(f"f{number}", at, last, size=2, flags=Flag.ENTRY if at == base else 0)
        expected[stack] = expected.get(stack, 0) + 2
        if last == RET:
            interrupted()

    call(0, "f0")
    stacks = folded(m, tmp_path)
    assert {stack: n for stack, n in stacks.items() if "irq" not in stack} == expected


@pytest.mark.parametrize("cut", [0, 7, 40, -4])
def test_half_a_window_is_refused(tmp_path: Path, cut: int) -> None:
    m = Machine()
    m.run("main", 0x1000, NOP)
    window = m.recorder.window(tmp_path)
    whole = window.file.read_bytes()
    window.file.write_bytes(whole[:cut])
    with pytest.raises(DataError, match=r"not a whole window|cannot be read"):
        tree.build(window, m.located())


def test_a_step_of_no_block_is_refused(tmp_path: Path) -> None:
    m = Machine()
    m.run("main", 0x1000, NOP)
    m.recorder.steps.append((99, 4))
    window = m.recorder.window(tmp_path)
    with pytest.raises(DataError, match="not a whole window"):
        tree.build(window, m.located())


def test_two_million_steps(tmp_path: Path) -> None:
    m = Machine()
    m.run("main", 0x1000, BL)
    m.run("leaf", 0x2000, RET, flags=Flag.ENTRY)
    m.run("main", 0x1010, B)
    m.recorder.steps *= 700_000
    stacks = folded(m, tmp_path)
    assert stacks == {"main": 2 * 4 * 700_000, "main;leaf": 4 * 700_000}


def test_without_the_program_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "trace_tools", lambda: tmp_path)
    m = Machine()
    m.run("main", 0x1000, NOP)
    with pytest.raises(MissingOutput, match=r"there is no .*teetrace-walk"):
        tree.build(m.recorder.window(tmp_path), m.located())
