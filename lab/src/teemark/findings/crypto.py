# SPDX-License-Identifier: BSD-2-Clause
"""Rules on computing: inside the TEE and outside, with the CPU's crypto instructions or without."""

import math

from teemark.base.finding import Figure, Finding, Share, Status
from teemark.base.work import EMPTY_CALL, ONESHOT, RNG, SAME_CODE
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
)
from teemark.model.decide import above, any_above
from teemark.model.stats import Estimate
from teemark.wording import fmt

EXTENSIONS = 1.5  # Speed-up that the CPU's crypto instructions give at least
SLOW_SOURCE = 10.0  # A random byte of the TEE may cost this many times one of the kernel

_SAME = fmt.percent(SAME - 1, 1)


def inside_and_outside(ground: Ground) -> Finding | None:
    rates = ground.rates("tee", "openssl")
    if rates is None:
        return None
    inside, outside = rates.one, rates.other
    times = ground.times(rates.ratio)
    much = {
        "same": f"as much, to within {_SAME}",
        "undecided": f"which is dearer is undecided, the ratio is {times}",
        "faster": f"only {times} as much",
        "slower": f"{times} as much",
    }[rates.side]
    tee, openssl = (
        ground.by_size(ONESHOT, cost.algorithm, cost.backend) for cost in (inside, outside)
    )
    sizes = [size for size in tee if size and size in openssl and openssl[size].time.median > 0]
    round_ones = [size for size in sizes if not size & (size - 1)] or sizes  # prefers 64 to 55
    at = [
        f"at {fmt.size(size)} {ground.times(tee[size].estimate / openssl[size].estimate)} as much "
        f"({ground.both(tee[size], openssl[size])})"
        for size in dict.fromkeys(round_ones[:1] + sizes[-1:])
    ]
    return rates.finding(
        "inside-and-outside",
        "answer",
        f"{rates.name} inside takes {fmt.digits(rates.one_byte.value)} {ground.run.unit} a byte"
        f"{rates.scope}, outside (OpenSSL) {fmt.digits(rates.other_byte.value)}: {much}.",
        evidence=f"A whole message: {', '.join(at)}." if at else "",
        remedy="Look at the call, not at the computing." if rates.side == "same" else "",
    )


def with_instructions(ground: Ground) -> Finding | None:
    """Compares the TEE's own code with a TA that uses the CPU's crypto instructions."""
    rates = ground.rates("tee", "ta-ce")
    if rates is None:
        return None
    takes = f"{fmt.digits(rates.other_byte.value)} {ground.run.unit} a byte{rates.scope}"
    than = "the CPU's crypto instructions in a TA"
    claim = {
        "slower": f"With the CPU's crypto instructions in the TA it takes {takes}.",
        "same": f"The TEE's own {rates.name} is as fast as {than} ({takes}).",
        "faster": f"The TEE's own {rates.name} is faster than {than} ({takes}).",
        "undecided": f"Whether the TEE's own {rates.name} is as fast as {than} is undecided.",
    }[rates.side]
    evidence = "" if rates.ratio.exact else rates.evidence
    return rates.finding("extensions", "answer", claim, evidence=evidence)


def no_extensions(ground: Ground) -> Finding:
    """Compares the TEE with the CPU's instructions in a TA, by the algorithm that differs most.

    More counted instructions prove that the TEE doesn't use the CPU's. More time may also mean that
    the TEE's data is slow to reach: an algorithm without CPU instructions tells the two apart.
    """
    key = "no-crypto-extensions-in-tee"
    by: dict[str, dict[str, Estimate]] = {}
    for cost in ground.models.costs:
        if cost.workload == ONESHOT.name and cost.fit.fits and cost.slope.value > 0:
            by.setdefault(cost.backend, {})[cost.algorithm] = cost.byte
    tee, instructions, plain = (by.get(backend, {}) for backend in ("tee", "ta-ce", "ta-c"))
    ratios = {name: tee[name] / instructions[name] for name in tee if name in instructions}
    if not ratios:
        lacks = missing((tee, "tee"), (instructions, "ta-ce")) or "tee and ta-ce"
        return not_checked(key, f"oneshot/ALGORITHM by {lacks}, of several sizes", EXPLAIN)
    # Any of the algorithms may tell it.
    surely = [name for name in ratios if above(ratios[name], EXTENSIONS, len(ratios)) == "yes"]
    name = max(surely or ratios, key=lambda name: ratios[name].value)
    shown = [ground.figure(f"a byte of {name}, tee over ta-ce", ratios[name], "times")]
    status = STATUS[any_above(list(ratios.values()), EXTENSIONS)]
    sure = ground.run.icount
    control = next(
        (algorithm for algorithm in tee if algorithm not in ratios and algorithm in plain), None
    )
    if control is not None and name in plain and not sure:
        sure, slower = True, tee[control] / plain[control]
        # Slow data would slow down plain C, and the CPU's instructions, by the factor of the other
        # algorithm. Is the TEE nearer to plain C or to the instructions?
        nearer = math.sqrt(instructions[name].value * plain[name].value)
        if tee[name].value < slower.value * nearer and status == "found":
            status = "ruled out"
        shown.append(ground.figure(f"a byte of {control}, tee over ta-c", slower, "times"))
    dear = map(ground.run.title, surely)
    in_tee, in_ta = (ground.by_size(ONESHOT, name, backend) for backend in ("tee", "ta-ce"))
    largest, costs = max(in_tee, default=0), None
    if largest in in_ta:
        whole, less = in_tee[largest], in_tee[largest].estimate - in_ta[largest].estimate
        costs = share_of(less, whole, ground.run.words(whole.key))
    looks = "computes" if sure else "looks as if it computed"
    return cause(
        key,
        status,
        shown,
        claim=f"OP-TEE {looks} {' and '.join(dear)} without the CPU's crypto instructions.",
        remedy="Build OP-TEE with CFG_CRYPTO_WITH_CE=y; if it can't be rebuilt, bring the code in "
        "the TA."
        if sure
        else "If it is built without CFG_CRYPTO_WITH_CE=y, build it so; else its data is slow to "
        "reach (uncached?).",
        costs=costs,
        saves=Share(max(1 - 1 / ratios[name].value, 0.0), f"a byte of {ground.run.title(name)}"),
        certain=sure,
    )


def same_code(ground: Ground) -> Finding | None:
    """Compares one C source in both worlds; it is a cause if the source is slower inside."""
    rates = ground.rates("ta-c", "c")
    if rates is None:
        return None
    run, ratio, side = ground.run, rates.ratio, rates.side
    what = f"The very same C source of {rates.name}"
    remedy = "Compare compiler flags of both builds"
    many, less = ("many", "fewer") if run.icount else ("much", "less")
    if side == "same":
        apart = f"{fmt.share(abs(ratio.value - 1))} {'more' if ratio.value > 1 else less}"
        claim = f"{what} is as fast in the TEE as outside, to within {_SAME}: it takes {apart} "
        claim += f"{fmt.quantity(run)} a byte."
    elif side == "undecided":
        claim = f"Whether {what[:1].lower()}{what[1:]} is as fast in the TEE as outside, to within "
        claim += f"{_SAME}, is undecided: the ratio is {fmt.ratio(run, ratio)}."
    else:
        only = "only " if side == "faster" else ""
        amount = f"{only}{fmt.ratio(run, ratio)} as {many} {fmt.quantity(run)}"
        claim = f"{what} takes {amount} a byte in the TEE as outside."
        remedy += "." if only else ", and whether the TA's pages are paged."
    dear = Share(1 - 1 / ratio.value, f"a byte by “{ground.title('ta-c')}”", at_most=True)
    return rates.finding(
        SAME_CODE.name,
        "cause",
        claim,
        status="found" if side == "slower" else "ruled out",
        evidence=rates.evidence,
        remedy=remedy if side in ("faster", "slower") else "",
        costs=dear if side == "slower" else None,
    )


def cpu_time(ground: Ground) -> Finding:
    """Finds a kernel driver that is slower than the CPU, but leaves the CPU time for other work."""
    key = "cpu-time-per-byte"
    order: tuple[Status, ...] = ("found", "undecided", "ruled out")
    pairs: list[tuple[str, Estimate, Estimate]] = []
    for algorithm in dict.fromkeys(case.algorithm for case in ground.models.stats):
        kernel, ssl = (ground.by_size(ONESHOT, algorithm, by) for by in ("afalg", "openssl"))
        for size in kernel.keys() & ssl.keys() - {0}:
            driver, openssl = kernel[size], ssl[size]
            if driver.cpu is None or openssl.cpu is None or openssl.cpu.value <= 0:
                continue
            what = f"CPU time of {driver.key} over {openssl.key}"
            pairs.append((what, driver.estimate / openssl.estimate, driver.cpu / openssl.cpu))
    judged: list[tuple[int, float, tuple[Figure, Figure]]] = []
    for what, time, cpu in pairs:  # Any of them may give the answer
        slower, dearer = above(time, SAME, len(pairs)), above(cpu, 1 / SAME, len(pairs))
        status: Status = "found" if (slower, dearer) == ("yes", "no") else "undecided"
        if slower == "no" or dearer == "yes":
            status = "ruled out"
        shown = (ground.figure(what, cpu, "times"), ground.figure("time", time, "times"))
        judged.append((order.index(status), cpu.value, shown))
    if judged:
        place, _, shown = min(judged, key=lambda row: row[:2])
        return cause(
            key,
            order[place],
            shown,
            claim="The kernel's driver takes longer than the CPU, and leaves the CPU more time.",
            remedy="Use it where the CPU has other work; else let the CPU compute.",
            topic="choice" if place == 0 else "cause",
        )
    measured = {case.backend for case in ground.models.stats if case.work.row is ONESHOT}
    lacks = missing(*((by in measured, by) for by in ("afalg", "openssl"))) or "afalg and openssl"
    return not_checked(key, f"oneshot/ALGORITHM by {lacks}, of one size and with CPU time", QUICK)


def slow_random(ground: Ground) -> Finding:
    key = "slow-rng"
    tee, kernel = (ground.by_size(RNG, RNG.subject, by) for by in ("tee", "getrandom"))
    shared = [size for size in tee if size in kernel and kernel[size].time.median > 0]
    empty = ground.models.case(EMPTY_CALL)
    if not shared or empty is None:
        names = "rng/random/tee/N", "rng/random/getrandom/N"
        lacks = missing((tee, names[0]), (kernel, names[1]), (empty, EMPTY_CALL))
        return not_checked(key, lacks or f"{' and '.join(names)} of one size", EXPLAIN)
    from_tee, from_kernel = tee[shared[-1]], kernel[shared[-1]]
    ratio = (from_tee.estimate - empty.estimate) / from_kernel.estimate
    what = f"{from_tee.key} without the call, over {from_kernel.key}"
    return cause(
        key,
        (ratio, SLOW_SOURCE),
        (ground.figure(what, ratio, "times"),),
        claim="Random bytes of the TEE cost many times as much as the kernel's.",
        remedy="Draw a seed from the TEE and expand it, or see which source feeds OP-TEE's "
        "generator.",
        topic="choice",
    )
