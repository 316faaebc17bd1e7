# SPDX-License-Identifier: BSD-2-Clause
"""Causes inside OP-TEE's core, by a trace of the empty call; without it most can't be checked."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from teemark.base.finding import Figure, Finding, Share
from teemark.base.work import EMPTY_CALL, LOG, REFUSED_CALL
from teemark.findings.ground import Ground, cause, not_checked, written
from teemark.model.decide import above
from teemark.model.models import build
from teemark.run.reader import RunData
from teemark.trace.profile import CaseTrace, Node, Trace
from teemark.wording import fmt
from teemark.wording.interval import Interval

BYTEWISE = 1.0  # Instructions for a cleared byte; code that clears whole words takes fewer
VECTORS = 0.01  # Share of an empty call above which changing vector registers is a cause
PAGE = 4096  # Bytes of a page table, which OP-TEE clears at every entry into a TA
BUILT_FOR_SIZE = 3.5
"""Ratio of an empty call's instructions to a refused call's, above which the core is suspected: 4.4
to 5.0 if built for size, 2.0 to 2.7 with CFG_CC_OPT_LEVEL=2 (docs/method.md)."""
MOST = 5.0  # The largest such ratio measured; what an entry takes beyond it isn't the compiler's
BUILT_FOR_SPEED = 2.45
"""An empty call with CFG_CC_OPT_LEVEL=2, in refused calls without it: 29,888 over 12,185
instructions of OP-TEE 4.10, 47 % less than an empty call without it (docs/method.md)."""
SIZE, SPECTRE = "size-optimised-core", "spectre-workaround-smc"


def _names(ground: Ground) -> str:
    """Returns what a cause inside the core lacks; with the board's version where it is known."""
    version = ground.run.machine.tee.revision
    return "a trace with the names of the core" + (f", OP-TEE {version}" if version else "")


def _core(call: CaseTrace, pattern: str) -> list[tuple[int, Node]]:
    named = ((index, node, call.functions[node.function]) for index, node in enumerate(call.nodes))
    core = ((index, node, fn.name) for index, node, fn in named if fn.level == "S-EL1")
    return [(index, node) for index, node, name in core if re.fullmatch(pattern, name)]


def _count(call: CaseTrace, pattern: str) -> tuple[int, int]:
    """Returns the instructions in functions that match the pattern, without callees, and their
    number of calls."""
    nodes = _core(call, pattern)
    return sum(node.self for _, node in nodes), sum(node.calls for _, node in nodes)


def below(call: CaseTrace, pattern: str) -> int:
    """Returns the instructions in functions that match the pattern, with all their callees."""
    return sum(call.totals[index] for index, _ in _core(call, pattern))


def _counted(what: str, value: float, unit: str = "share") -> Figure:
    return Figure(what, value, unit, Interval(value, value))


def size_from_outside(ground: Ground) -> Finding:
    """Suspects a core built for size by the cost of entering a TA, relative to the way through
    driver, TF-A and core. It is no proof either way: an entry does more than clear memory, and
    times also depend on caches and TLBs."""
    empty, refused = map(ground.models.case, (EMPTY_CALL, REFUSED_CALL))
    if not ground.run.icount or empty is None or refused is None or refused.time.median <= 0:
        return not_checked(SIZE, _names(ground), ground.trace_core)
    ratio = empty.estimate / refused.estimate
    shown = ground.figure(f"{EMPTY_CALL} over {REFUSED_CALL}", ratio, "times")
    if above(ratio, BUILT_FOR_SIZE) != "yes":
        return replace(
            not_checked(SIZE, _names(ground), ground.trace_core),
            evidence=written(shown),
            figures=(shown,),
        )
    less = (min(ratio.value, MOST) - BUILT_FOR_SPEED) / ratio.value
    saves = Share(less, "an empty call", at_most=True)
    return cause(
        SIZE,
        "found",
        (shown,),
        claim="OP-TEE's core looks built for size: an empty call takes "
        f"{fmt.factor(ratio.value)} a call that the core refuses.",
        remedy="If it is, build OP-TEE with CFG_CC_OPT_LEVEL=2: "
        f"`teemark what-if {EMPTY_CALL} --option CFG_CC_OPT_LEVEL=2` measures what that saves of "
        "an OP-TEE from source.",
        costs=saves,
        saves=saves,
        certain=False,
    )


def size(call: CaseTrace) -> Finding | None:
    """Judges whether the core is built for size, by how it clears memory: an empty call's largest
    block is a page table. Returns None if the trace has no whole call of memset."""
    memsets = [node for _, node in _core(call, "memset")]
    if not memsets:
        return cause(SIZE, "ruled out", claim="", facts=("no memset in the core",))
    # A window may begin inside a function, or return to one: such a node has no calls.
    cleared = [node for node in memsets if node.calls]
    if not cleared:
        return None
    a_byte = max(node.self / node.calls for node in cleared) / PAGE
    share = sum(node.self for node in cleared) / call.instructions
    what = "instructions of memset for a byte of a page table"
    costs = Share(share, call.case)
    return cause(
        SIZE,
        "found" if a_byte > BYTEWISE else "ruled out",
        (_counted(what, a_byte, ""), _counted(f"memset in the core, of {call.case}", share)),
        claim="OP-TEE's core is built for size: it clears a page table byte by byte at every entry "
        "into a TA.",
        remedy="Build OP-TEE with CFG_CC_OPT_LEVEL=2.",
        costs=costs,
        saves=replace(costs, at_most=True),
    )


@dataclass(frozen=True, slots=True)
class Shown:
    """A cause that calls of certain functions of the core show."""

    key: str
    called: str  # Pattern of these functions' names
    purpose: str  # Of their instructions
    claim: str
    remedy: str
    below: str = ""  # Pattern of the functions to count instead, with their callees
    saves: bool = False
    least: float = 0.0  # Share of the call that the instructions must exceed

    def __call__(self, call: CaseTrace) -> Finding:
        count, calls = _count(call, self.called)
        if self.below:
            count = below(call, self.below) if calls else 0
        share = count / call.instructions
        costs = Share(share, call.case) if share else None
        return cause(
            self.key,
            "found" if calls and (share > self.least or not self.least) else "ruled out",
            (_counted(f"{self.purpose}, of {call.case}", share),),
            claim=self.claim,
            remedy=self.remedy,
            costs=costs,
            saves=costs if self.saves else None,
        )


SHOWN = (
    Shown(
        "core-debug",
        r"spinlock_count_(in|de)cr|have_spinlock|assert_have_no_spinlock",
        "counting of locks",
        "OP-TEE's core counts and checks its locks.",
        "Build it with CFG_TEE_CORE_DEBUG=n, once you don't need its assertions any more.",
        saves=True,
    ),
    Shown(
        "lazy-vfp",
        "thread_user_enable_vfp",
        "changing vector registers",
        "The TA's first vector instruction in a call traps into the core.",
        "Keep vector code out of short commands: build the TA's other files without it "
        "(-mgeneral-regs-only).",
        below="thread_user_(save|clear)_vfp|thread_lazy_(save|restore)_ns_vfp|el0_sync_abort",
        saves=True,
        least=VECTORS,
    ),
    Shown(
        "pager",
        r"tee_pager_handle_fault|pager_.*fault.*",
        "the core's pager",
        "OP-TEE's core is paged: a call loads and decrypts parts of it.",
        "Build OP-TEE with CFG_WITH_PAGER=n where its memory has room for all of it.",
    ),
)


def spectre(call: CaseTrace) -> Finding:
    """Counts the core's calls of EL3 besides those at the end of each leg. They are a price without
    a remedy: OP-TEE makes them only on CPUs that need them."""
    out = sum(link.count for link in call.passes if (link.origin, link.target) == ("S-EL1", "EL3"))
    back = sum(link.count for link in call.passes if (link.origin, link.target) == ("EL3", "EL1"))
    extra = _counted("SMCs of the core besides its return", float(out - back), "")
    return cause(
        SPECTRE,
        "found" if out > back else "ruled out",
        (extra,),
        claim="OP-TEE's core calls the firmware at each entry from a TA, against Spectre. It does "
        "so by itself, only on CPUs that need it.",
    )


def console(ground: Ground) -> Finding:
    """Finds the cost of console lines. Only a trace shows whether a call writes lines; without one,
    the price of a line is given."""
    key = "console-traces"
    lines = ground.models.lines
    line = lines.terms.get("line") if lines is not None else None
    price = f"; {written(ground.figure('a line would cost', line))}" if line else ""
    traced = [
        case
        for case in (ground.trace.cases if ground.trace is not None else ())
        if not case.case.startswith(f"{LOG.name}/") and not case.core_nameless
    ]
    if not traced:
        claim = f"Whether calls write to the TEE's console can't be seen from outside{price}."
        return not_checked(key, _names(ground), ground.trace_core, claim if price else "")
    worst, share = max(
        ((case, below(case, "trace_ext_puts") / case.instructions) for case in traced),
        key=lambda pair: pair[1],
    )
    costs = Share(share, worst.case)
    return cause(
        key,
        "found" if share else "ruled out",
        claim=f"A call writes to the TEE's console: {costs.words}.",
        remedy="Build OP-TEE and the TAs with CFG_TEE_CORE_LOG_LEVEL and CFG_TEE_TA_LOG_LEVEL of 1 "
        "or 0.",
        facts=(f"console output is {costs.words}{price}",),
        costs=costs,
        saves=costs,
    )


RULES: dict[str, Callable[[CaseTrace], Finding | None]] = {
    SIZE: size,
    **{shown.key: shown for shown in SHOWN},
    SPECTRE: spectre,
}


def inside(ground: Ground) -> Iterator[Finding]:
    """Yields the findings of the trace; without a trace, the suspicion from outside."""
    trace = ground.trace
    call = trace.case(EMPTY_CALL) if trace is not None else None
    for key, rule in RULES.items():
        finding = rule(call) if call is not None and not call.core_nameless else None
        if trace is not None and finding is not None:
            yield replace(finding, evidence="; ".join((finding.evidence, trace.optee)))
        else:
            lacks = not_checked(key, _names(ground), ground.trace_core)
            yield size_from_outside(ground) if key == SIZE else lacks


def confirmed(run: RunData, trace: Trace) -> Iterator[str]:
    """Yields for each cause inside OP-TEE's core whether the trace confirms it, with the share of
    the call that its functions take. Yields one sentence if the core has no symbols, since then
    nothing can be confirmed; nothing for a trace without an empty call."""
    ground = Ground(run, build(run), trace=trace)
    if trace.case(EMPTY_CALL) is None:
        return
    findings = (*inside(ground), console(ground))
    judged = [one for one in findings if one.sure and one.status in ("found", "ruled out")]
    for finding in sorted(judged, key=lambda finding: finding.status != "found"):
        verdict = f"confirmed: {finding.claim}" if finding.status == "found" else "not the cause:"
        yield f"{finding.key}, {verdict} {finding.evidence}."
    if not judged:
        yield f"No cause is confirmed or ruled out: {trace.optee} has no names of its core."
