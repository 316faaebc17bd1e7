# SPDX-License-Identifier: BSD-2-Clause
"""Rules on the cost of a call into the TEE, and on what makes it dearer: sessions, a TA's size, the
kind of memory that a buffer is in."""

from collections.abc import Sequence

from teemark.base.finding import Figure, Finding, Share
from teemark.base.work import EMPTY_CALL, SESSION, SHM, TA_SIZE, TIME
from teemark.findings.ground import (
    EXPLAIN,
    QUICK,
    SAME,
    STATUS,
    Ground,
    cause,
    missing,
    not_checked,
    share_of,
    sure,
)
from teemark.model.decide import above, any_above
from teemark.model.models import Cost
from teemark.model.stats import CaseStats, Estimate, estimate, exactly
from teemark.wording import fmt

STACK_LEFT = 0.1  # A stack of which a smaller share than this was never used is named as a finding

RPC = 2.0  # A query slower than this many queries inside the TEE is taken for an RPC


def stack_and_heap(ground: Ground) -> Finding | None:
    """Says how much of its stack and heap the user's TA took, as its run's header has it."""
    header = ground.run.header
    if header is None or (memory := header.ta_memory) is None:
        return None
    claim = f"Your TA used {fmt.count(memory.stack)} of its {fmt.count(memory.stack_size)} bytes "
    claim += "of stack"
    if memory.heap is not None and memory.heap_size is not None:
        claim += f", and {fmt.count(memory.heap)} of its {fmt.count(memory.heap_size)} of heap"
    left = 1 - memory.stack / memory.stack_size
    scarce = left < STACK_LEFT
    if scarce:
        claim += f": {fmt.share(max(left, 0))} of the stack is left"
    return Finding(
        key="ta-stack",
        topic="answer",
        severity="caution" if scarce else "note",
        claim=f"{claim}.",
        evidence="By every access to memory in a call of each case, on a boot of its own.",
        remedy="Raise TA_STACK_SIZE: other input may take more." if scarce else "",
        figures=(Figure("of the stack left", left, "share"),),
    )


def empty_call(ground: Ground) -> Finding | None:
    stats = ground.models.case(EMPTY_CALL)
    if stats is None:
        return None
    time = stats.time
    if time.estimate.exact:
        low, high = fmt.instructions(time.min), fmt.instructions(time.max)
        within = f"lie between {low} and {high}" if low != high else "are all alike"
        evidence = f"The median of {fmt.plural(time.count, 'sample')}; within the run they {within}"
    else:
        evidence = (
            f"{fmt.LEVEL} interval of the median {fmt.duration_interval(time.interval)}"
            if time.interval
            else "Too few samples for an interval"
        )
        evidence += f"; {fmt.plural(time.count, 'sample')}"
        if stats.single and time.count >= 20:
            evidence += f"; 95 of 100 calls take less than {fmt.cost(ground.run, time.p95)}"
    return Finding(
        key="empty-call",
        topic="answer",
        claim=f"A call into the TEE costs {fmt.cost(ground.run, time.estimate)} before it does "
        "anything.",
        evidence=f"{evidence}.",
        figures=(ground.figure(EMPTY_CALL, stats.estimate),),
        sure=sure(stats),
    )


def way_in_and_out(ground: Ground) -> Finding | None:
    """Compares the way into the TEE and back with the cost of a message inside, with setting up.

    The TA's counter gives the cost of the way if the run has one, otherwise an empty call does. A
    fit's intercept would not do: it also contains what each message costs inside.
    """
    models = ground.models
    algorithm = ground.main_algorithm("tee")
    cost = models.cost(algorithm, "tee") if algorithm else None
    empty = models.case(EMPTY_CALL)
    if cost is None or not cost.fit.fits or cost.slope.value <= 0:
        return None
    crossing = cost.crossing.terms["call"] if cost.crossing else empty.estimate if empty else None
    sizes = sorted(int(point.x) for point in cost.fit.points if point.x > 0)
    if crossing is None or crossing.value <= 0 or not sizes:
        return None
    even, tenth = (_message(cost, sizes, crossing.scaled(times)) for times in (2, 10))
    run = ground.run
    name = run.title(cost.algorithm)
    if even.value > sizes[0]:
        size = (
            f"{fmt.roughly_size(even.value)}{ground.interval_in_brackets(even, fmt.roughly_size)}"
        )
        claim = f"Getting in and out of the TEE costs as much as the {name} of {size}."
    else:
        size = fmt.size(sizes[0])
        claim = f"Getting in and out of the TEE costs less than the {name} of even {size}."
    by = (
        "By the TA's counter"
        if cost.crossing
        else "As long as an empty call, since the TA can't read a counter"
    )
    return Finding(
        key="call-outweighs-compute",
        topic="choice",
        claim=claim,
        evidence=f"{by}, the way in and out, with the buffers that a digest needs, takes "
        f"{fmt.cost(run, crossing)}; computing takes {ground.per_byte(cost.byte)}, after it "
        "was set up.",
        remedy=f"Hand over larger pieces: from {fmt.roughly_size(tenth.value)} a call on, the way "
        "is less than a tenth of the time."
        if tenth.value > sizes[0]
        else "",
        figures=(ground.figure("the way in and out", crossing),),
        sure=sure(cost, crossing, even),
    )


def _message(cost: Cost, sizes: Sequence[int], whole: Estimate) -> Estimate:
    """Returns the bytes of a message that costs `whole`: the next smaller measured size, and the
    rest of the cost at the price of a byte."""
    below = [size for size in sizes if cost.at(size).value <= whole.value]
    size = below[-1] if below else sizes[0]
    return exactly(float(size)) + (whole - cost.at(size)) / cost.byte


def loading_the_ta(ground: Ground) -> Finding:
    key = "ta-load-first-call"
    names = SESSION.key("first-open"), SESSION.key("open")
    first, warm = map(ground.models.case, names)
    empty = ground.models.case(EMPTY_CALL)
    loaded = warm or empty
    if first is None or loaded is None or loaded.time.median <= 0:
        return not_checked(key, missing((first, names[0]), (loaded, names[1])) or names[1], EXPLAIN)
    ratio = first.estimate / loaded.estimate
    shown = [ground.figure(f"{first.key} over {loaded.key}", ratio, "times")]
    shown.append(ground.figure("opening the first session", first.estimate))
    if warm is not None:
        what = "opening one while another session keeps the TA loaded"
        shown.append(ground.figure(what, warm.estimate))
    calls = ""
    if empty is not None and empty.time.median > 0:
        count = fmt.digits((first.estimate / empty.estimate).value)
        calls = f", and costs as much as {count} empty calls"
    return cause(
        key,
        (ratio, SAME),
        shown,
        claim=f"Opening the first session loads and checks the TA{calls}.",
        remedy="Open one session early and keep it; or keep the TA (TA_FLAG_INSTANCE_KEEP_ALIVE).",
    )


def ta_size(ground: Ground) -> Finding:
    key = "ta-size-remap"
    sizes = {case.work.count or 0: case for case in ground.models.stats if case.work.row is TA_SIZE}
    if len(sizes) < 2 or sizes[min(sizes)].time.median <= 0:
        return not_checked(key, "ta-size/KIB/tee/none of two sizes", EXPLAIN)
    small, large = min(sizes), max(sizes)
    few, many = sizes[small], sizes[large]
    ratio, extra = many.estimate / few.estimate, many.estimate - few.estimate
    return cause(
        key,
        (ratio, SAME),
        (
            ground.figure(f"{many.key} over {few.key}", ratio, "times"),
            ground.figure("a KiB of the TA's data", extra.scaled(1 / (large - small))),
        ),
        claim="The more data a TA has, the longer a call to it takes.",
        remedy="Keep TA_DATA_SIZE and TA_STACK_SIZE as small as the TA allows.",
        costs=share_of(extra, many, f"a call to a TA with {fmt.size(large << 10)} of data"),
    )


def _query(ground: Ground, clock: str) -> Estimate | None:
    points = sorted(
        (case.work.count or 0, case.estimate)
        for case in ground.models.stats
        if (case.work.row, case.algorithm) == (TIME, clock) and case.work.count is not None
    )
    if len(points) < 2:
        return None
    (few, low), *_, (many, high) = points
    return (high - low).scaled(1 / (many - few))


def ree_time(ground: Ground) -> Finding:
    key = "ree-time-rpc"
    ree, system = _query(ground, "ree"), _query(ground, "system")
    if ree is None or system is None or system.value <= 0:
        names = "time/ree/tee/N of two N", "time/system/tee/N of two N"
        positive = system is not None and system.value > 0
        return not_checked(key, missing((ree, names[0]), (positive, names[1])), EXPLAIN)
    ratio = ree / system
    return cause(
        key,
        (ratio, RPC),
        (
            ground.figure("TEE_GetREETime over TEE_GetSystemTime", ratio, "times"),
            ground.figure("TEE_GetREETime", ree),
        ),
        claim="A TA that asks for TEE_GetREETime goes to the normal world and back each time.",
        remedy="Ask once a call, or use TEE_GetSystemTime.",
        saves=Share(1 - 1 / ratio.value, "a query") if ratio.value > 1 else None,
        topic="choice",
    )


def cold_cache(ground: Ground) -> Finding:
    """Compares the first call of each case with its later calls, over all cases of the TEE."""
    key = "cold-cache"
    if ground.run.emulated:
        return not_checked(key, "a CPU with caches: this one is emulated")
    ratios = [
        case.first_cost / case.time.median
        for case in ground.models.stats
        if case.first_cost and case.time.median > 0 and ground.run.backend(case.backend).secure
    ]
    if len(ratios) < 6:
        return not_checked(key, "the first calls of six cases of the TEE", QUICK)
    ratio = estimate([ratios], key)
    return cause(
        key,
        (ratio, SAME),
        (ground.figure("first call over the others", ratio, "times"),),
        claim="A first call takes longer than those after it.",
        remedy="Don't take the figures of repeated calls for one that comes alone.",
        costs=Share(1 - 1 / ratio.value, "a first call") if ratio.value > 1 else None,
    )


# -- memory: what it costs to hand a buffer to the TEE, by its kind -------------------------------

PAGE = 4096  # Bytes of a page; the TEE maps buffers page by page

Pair = tuple[CaseStats, CaseStats]


def _pairs(ground: Ground, memory: str) -> tuple[list[Pair], str]:
    """Returns calls with this memory and with allocated memory, in pairs by size; else what is
    missing."""
    direction = ground.direction(memory)
    cases = ground.by_size(SHM, memory, "tee", direction)
    allocated = ground.by_size(SHM, "allocated", "tee", direction)
    shared = [size for size in cases if size in allocated and allocated[size].time.median > 0]
    names = [f"shm/{kind}/tee/in/N" for kind in (memory, "allocated")]
    lacks = missing((cases, names[0]), (allocated, names[1])) or " and ".join(names)
    return [(cases[size], allocated[size]) for size in shared], lacks


def is_pool(ground: Ground) -> bool:
    """Returns true if the board says that its TEE has no dynamic shared memory."""
    capabilities = ground.run.machine.tee.capabilities
    return capabilities is not None and "registered memory" not in capabilities


def pool(ground: Ground) -> Finding | None:
    """Says how much a fixed pool of shared memory holds, and which cases didn't fit into it."""
    if not is_pool(ground):
        return None
    most = ground.run.machine.tee.pool_bytes
    refused = [skip.case for skip in ground.run.skips if skip.code == "no-memory"]
    claim = "Shared memory is a fixed pool"
    if most is not None:
        claim += f": {fmt.count(most)} bytes for all buffers together"
    evidence = "This OP-TEE has no dynamic shared memory: the kernel's driver offers none"
    if refused:
        evidence += f"; {fmt.plural(len(refused), 'case')} didn't fit: {', '.join(refused)}"
    return Finding(
        key="shared-memory-pool",
        topic="choice",
        claim=f"{claim}; libteec copies every buffer that isn't in it, in each call.",
        evidence=f"{evidence}.",
        remedy="Hand large data over in pieces, in memory of TEEC_AllocateSharedMemory. Or tell "
        "OP-TEE which memory is the normal world's (register_ddr() in its platform's code: "
        "CFG_CORE_DYN_SHM=y, the default, does nothing without), or build it with a larger "
        "CFG_SHMEM_SIZE, which the kernel's device tree has to reserve.",
        figures=(Figure("largest buffer, bytes", most, ""),) if most is not None else (),
        sure=most is not None,
    )


def temporary(ground: Ground) -> Finding:
    """Judges all sizes together: found if one size is surely dearer, ruled out if surely none
    is."""
    key = "tmpref-registration"
    pairs, lacks = _pairs(ground, "temporary")
    if not pairs:
        return not_checked(key, f"{lacks} of one size", EXPLAIN)
    ratios = [(case, allocated, case.estimate / allocated.estimate) for case, allocated in pairs]
    dearer = [row for row in ratios if above(row[2], SAME, len(ratios)) == "yes"]
    case, allocated, ratio = max(dearer or ratios, key=lambda row: row[2].value)
    size = fmt.size(case.bytes or 0)
    extra = case.estimate - allocated.estimate
    costs = share_of(extra, case, f"a call with {size} in temporary memory")
    return cause(
        key,
        STATUS[any_above([each[2] for each in ratios], SAME)],
        (
            ground.figure(f"{case.key} over {allocated.key}", ratio, "times"),
            ground.figure("difference a call", extra),
        ),
        claim="A temporary reference is copied into the pool and back by every call."
        if is_pool(ground)
        else "A temporary reference is registered and released by every call.",
        remedy="Allocate shared memory once (TEEC_AllocateSharedMemory) and use it for many calls.",
        costs=costs,
        saves=costs,
    )


def read_only(ground: Ground) -> Finding:
    """Compares the cost of a further byte in read-only memory with that in allocated memory."""
    key = "shadow-copy"
    pairs, lacks = _pairs(ground, "registered-ro")
    if len(pairs) < 2:
        return not_checked(key, f"{lacks} of two sizes", EXPLAIN)
    (small, small_allocated), *_, (large, allocated) = pairs
    extra = (large.estimate - allocated.estimate) - (small.estimate - small_allocated.estimate)
    share = extra / allocated.estimate
    bytes_more = (large.bytes or 0) - (small.bytes or 0)
    costs = share_of(extra, large, f"a call with {fmt.size(large.bytes or 0)} of read-only memory")
    return cause(
        key,
        (share, SAME - 1),
        (
            ground.figure(f"copying, as a share of {allocated.key}", share, "share"),
            ground.figure("a byte", extra.scaled(1 / bytes_more)),
        ),
        claim="Read-only memory can't be shared: the client library copies it in every call.",
        remedy="Hand over writable memory, best memory that the client library allocated.",
        costs=costs,
        saves=costs,
    )


def pages(ground: Ground) -> Finding:
    key = "per-page-mapping"
    cases = ground.by_size(SHM, "allocated", "tee")
    if len(cases) < 2 or next(iter(cases.values())).time.median <= 0:
        lacks = "shm/allocated/tee/in/N of two sizes, such as 4 KiB and 1 MiB"
        return not_checked(key, lacks, EXPLAIN)
    (small, first), *_, (large, last) = cases.items()
    more = -(-large // PAGE) - -(-small // PAGE)
    if more < 1:
        return not_checked(key, "shm/allocated/tee/in/N of sizes that lie pages apart", EXPLAIN)
    ratio, extra = last.estimate / first.estimate, last.estimate - first.estimate
    return cause(
        key,
        (ratio, SAME),
        (
            ground.figure(f"{last.key} over {first.key}", ratio, "times"),
            ground.figure("a page", extra.scaled(1 / more)),
        ),
        claim="The TEE maps a buffer page by page in every call, whether or not the TA reads it.",
        remedy="Hand over no more of a buffer than the TA needs.",
        costs=share_of(extra, last, f"a call that only carries {fmt.size(large)}"),
    )
