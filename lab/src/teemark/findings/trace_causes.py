# SPDX-License-Identifier: BSD-2-Clause
"""Causes of lost time that show inside a call alone: each by what a trace of the empty call has or
lacks. Pure functions of a trace; a run without one can't check them.

To add one: a function `(call) -> Cause` and its line in RULES, its words in report/causes.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from teemark.base.work import EMPTY_CALL
from teemark.findings.causes import Cause, Figure, Status, unchecked
from teemark.findings.causes import causes as outside
from teemark.model.models import Models
from teemark.model.stats import exactly
from teemark.run.reader import RunData
from teemark.trace.profile import CaseTrace, Node, Trace

TRACED = f"a trace with the names of the core (teemark trace {EMPTY_CALL} --optee source)"

BYTEWISE = 1.0
"""Instructions a byte: code that clears memory a word or more at a time takes fewer."""
VECTORS = 0.01
"""Of an empty call, what changing vector registers may take."""
PAGE = 4096
"""Bytes of a page table, which OP-TEE clears at every entry into a TA."""


def _core(call: CaseTrace, pattern: str) -> list[tuple[int, Node]]:
    """The places of the core's functions with such names, with their numbers."""
    return [
        (index, node)
        for index, node in enumerate(call.nodes)
        if call.functions[node.function].level == "S-EL1"
        and re.fullmatch(pattern, call.functions[node.function].name)
    ]


def _count(call: CaseTrace, pattern: str) -> tuple[int, int]:
    """Their instructions without what they call, and how often they were called."""
    found = _core(call, pattern)
    return sum(node.self for _, node in found), sum(node.calls for _, node in found)


def _below(call: CaseTrace, pattern: str) -> int:
    """Their instructions, and those of all that they call."""
    return sum(call.totals[index] for index, _ in _core(call, pattern))


def _share(call: CaseTrace, what: str, instructions: int) -> Figure:
    return Figure(f"{what}, of {call.case}", exactly(instructions / call.instructions), "share")


def size_optimised_core(call: CaseTrace) -> Cause:
    """By how memory is cleared: the largest block of an empty call is a page table."""
    name = "size-optimised-core"
    found = [node for _, node in _core(call, "memset")]
    # A window may begin inside a function, or come back to it: then nothing in it is its call.
    cleared = [node for node in found if node.calls]
    if not cleared:
        if found:
            return unchecked(name, "a trace with a whole call of the core's memset")
        return Cause(name, "absent", facts=("no memset in the core",))
    a_byte = max(node.self / node.calls for node in cleared) / PAGE
    return Cause(
        name,
        "found" if a_byte > BYTEWISE else "absent",
        (
            Figure("instructions of memset for a byte of a page table", exactly(a_byte), "number"),
            _share(call, "memset in the core", sum(node.self for node in cleared)),
        ),
    )


def core_debug(call: CaseTrace) -> Cause:
    """By functions that only a core with CFG_TEE_CORE_DEBUG has."""
    taken, calls = _count(call, r"spinlock_count_(in|de)cr|have_spinlock|assert_have_no_spinlock")
    share = _share(call, "counting of locks", taken)
    return _seen("core-debug", calls > 0, share)


def lazy_vfp(call: CaseTrace) -> Cause:
    """A TA's first vector instruction in a call traps, and the core changes registers then."""
    _, traps = _count(call, "thread_user_enable_vfp")
    taken = _below(call, "thread_user_(save|clear)_vfp|thread_lazy_(save|restore)_ns_vfp")
    taken += _below(call, "el0_sync_abort") if traps else 0
    share = _share(call, "changing vector registers", taken)
    return _seen("lazy-vfp", traps > 0 and share.value.value > VECTORS, share)


def pager(call: CaseTrace) -> Cause:
    taken, calls = _count(call, r"tee_pager_handle_fault|pager_.*fault.*")
    return _seen("pager", calls > 0, _share(call, "the core's pager", taken))


def spectre_workaround(call: CaseTrace) -> Cause:
    """By ways into EL3 that aren't part of the way in or out: each leg has one of the core's."""
    out = sum(one.count for one in call.passes if (one.origin, one.target) == ("S-EL1", "EL3"))
    back = sum(one.count for one in call.passes if (one.origin, one.target) == ("EL3", "EL1"))
    extra = Figure("SMCs of the core besides its return", exactly(float(out - back)), "number")
    return _seen("spectre-workaround-smc", out > back, extra)


def _seen(name: str, seen: bool, figure: Figure) -> Cause:
    status: Status = "found" if seen else "absent"
    return Cause(name, status, (figure,))


RULES: dict[str, Callable[[CaseTrace], Cause]] = {
    "size-optimised-core": size_optimised_core,
    "core-debug": core_debug,
    "lazy-vfp": lazy_vfp,
    "pager": pager,
    "spectre-workaround-smc": spectre_workaround,
}


def causes(run: RunData, models: Models, trace: Trace | None) -> tuple[Cause, ...]:
    """Of a run and a trace: by the trace where it can tell."""
    found: dict[str, Cause] = {}
    for cause in (*outside(run, models), *inside(trace)):
        if cause.name not in found or cause.status != "unchecked":
            found[cause.name] = cause
    return tuple(found.values())


def inside(trace: Trace | None) -> tuple[Cause, ...]:
    call = trace.case(EMPTY_CALL) if trace is not None else None
    if trace is None or call is None or call.core_nameless:
        return tuple(unchecked(name, TRACED) for name in RULES)
    return tuple(
        replace(cause, facts=(*cause.facts, trace.optee))
        for cause in (rule(call) for rule in RULES.values())
    )
