# SPDX-License-Identifier: BSD-2-Clause
"""What computing costs: inside the TEE and outside, with the CPU's instructions and without."""

from __future__ import annotations

import math
from collections.abc import Sequence

from teemark.base import fmt
from teemark.base.finding import Figure, Finding, Share, Status
from teemark.base.work import EMPTY_CALL, ONESHOT, RNG, SAME_CODE
from teemark.findings.ground import (
    EXPLAIN,
    QUICK,
    SAME,
    STATUS,
    Ground,
    figure,
    missing,
    not_checked,
    signature,
)
from teemark.model.decide import ALIKE, Sides, above, sides
from teemark.model.stats import CaseStats, Estimate
from teemark.page import figures

EXTENSIONS = 1.5
"""Instructions of the CPU for a digest or a cipher save at least that factor."""
SLOW_SOURCE = 10.0
"""How many times as much a random byte of the TEE may cost as one of the kernel."""

_ALIKE = fmt.percent(ALIKE - 1, 1)
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
    ours, theirs = (
        ground.by_size(ONESHOT, cost.algorithm, cost.backend) for cost in (inside, outside)
    )
    sizes = [size for size in ours if size and size in theirs and theirs[size].time.median > 0]
    at = [
        f"at {fmt.size(size)} {ground.times(ours[size].estimate / theirs[size].estimate)} as much "
        f"({ground.against(ours[size], theirs[size])})"
        for size in dict.fromkeys(sizes[:1] + sizes[-1:])
    ]
    return rates.finding(
        "inside-and-outside",
        "answer",
        f"{rates.name} inside takes {fmt.digits(inside.slope.value)} {ground.run.unit} a byte, "
        f"outside (OpenSSL) {fmt.digits(outside.slope.value)}: {much}.",
        evidence=f"A whole message takes {', '.join(at)}." if at else "",
        remedy="Look at the call, not at the computing." if rates.side == "same" else "",
    )


def with_instructions(ground: Ground) -> Finding | None:
    """Compares the TEE's own code with a TA that uses the CPU's crypto instructions."""
    rates = ground.rates("tee", "ta-ce")
    if rates is None:
        return None
    takes = f"{fmt.digits(rates.other.slope.value)} {ground.run.unit} a byte"
    than = "the CPU's crypto instructions in a TA"
    claim = {
        "slower": f"With the CPU's crypto instructions in the TA it takes {takes}.",
        "same": f"The TEE's own {rates.name} is as fast as {than} ({takes}).",
        "faster": f"The TEE's own {rates.name} is faster than {than} ({takes}).",
        "undecided": f"Whether the TEE's own {rates.name} is as fast as {than} is undecided.",
    }[rates.side]
    evidence = "" if rates.ratio.exact else rates.evidence
    return rates.finding("extensions", "answer", claim, evidence=evidence)


def _rate(ground: Ground, algorithm: str, backend: str) -> Estimate | None:
    """Returns what a byte costs, by a fit that misses nothing."""
    cost = ground.models.cost(algorithm, backend)
    return cost.byte if cost is not None and cost.fit.fits and cost.slope.value > 0 else None


def _algorithms(ground: Ground) -> tuple[str, ...]:
    return tuple(dict.fromkeys(cost.algorithm for cost in ground.models.costs))


def no_extensions(ground: Ground) -> Finding:
    """Compares with the CPU's instructions in a TA, by the algorithm that is furthest from them.

    Instructions that are counted have no other explanation. Times have: the TEE's data may be slow
    to reach, though it uses those instructions. An algorithm that the CPU has none for tells."""
    key = "no-crypto-extensions-in-tee"
    rates = {
        (name, by): rate
        for name in _algorithms(ground)
        for by in ("tee", "ta-ce", "ta-c")
        if (rate := _rate(ground, name, by)) is not None
    }
    found = {
        name: rates[name, "tee"] / rates[name, "ta-ce"]
        for name in _algorithms(ground)
        if (name, "tee") in rates and (name, "ta-ce") in rates
    }
    if not found:
        have = {by for _, by in rates}
        lacks = missing(("tee" in have, "tee"), ("ta-ce" in have, "ta-ce")) or "tee and ta-ce"
        return not_checked(key, f"oneshot/ALGORITHM by {lacks}, of several sizes", EXPLAIN)
    name, ratio = max(found.items(), key=lambda one: one[1].value)
    shown = [figure(ground, f"a byte of {name}, tee over ta-ce", ratio, "times")]
    status = STATUS[above(ratio, EXTENSIONS)]
    slow_all_over = False
    looks = "computes" if ground.run.icount else "looks as if it computed"
    controls = [
        (other, rates[other, "tee"] / rates[other, "ta-c"])
        for other in _algorithms(ground)
        if other not in found and (other, "tee") in rates and (other, "ta-c") in rates
    ]
    plain = rates.get((name, "ta-c"))
    if controls and plain is not None and not ground.run.icount:
        other, slower = controls[0]
        # Plain C would be slowed down as much as the other algorithm is, and so would the CPU's
        # instructions: which of the two is nearer?
        with_ce, without = rates[name, "ta-ce"].value, plain.value
        slow_all_over = rates[name, "tee"].value < slower.value * math.sqrt(with_ce * without)
        looks = "computes"
        shown.append(figure(ground, f"a byte of {other}, tee over ta-c", slower, "times"))
    if slow_all_over:
        status = "ruled out" if status == "found" else status
    names = [ground.run.title(one) for one, known in found.items() if _dear(known)]
    by_size = ground.by_size(ONESHOT, name, "tee")
    largest = max(by_size, default=0)
    stats = by_size.get(largest)
    theirs = ground.by_size(ONESHOT, name, "ta-ce").get(largest)
    saved = 1 - 1 / ratio.value if ratio.value > 1 else 0.0
    costs = (
        Share(max(1 - theirs.time.median / stats.time.median, 0.0), f"{stats.key}")
        if stats is not None and theirs is not None and stats.time.median > 0
        else None
    )
    return signature(
        key,
        status,
        shown,
        claim=f"OP-TEE {looks} {' and '.join(names)} without the CPU's crypto instructions.",
        remedy="Build OP-TEE with CFG_CRYPTO_WITH_CE=y; if it can't be rebuilt, bring the code in "
        "the TA."
        if looks == "computes"
        else "If it is built without CFG_CRYPTO_WITH_CE=y, build it so; else its data is slow to "
        "reach (uncached?).",
        costs=costs,
        saves=Share(saved, f"a byte of {ground.run.title(name)}"),
        certain=looks == "computes",
    )


def _dear(ratio: Estimate) -> bool:
    return above(ratio, EXTENSIONS) == "yes"


def same_code(ground: Ground) -> Finding | None:
    """Compares one C source in both worlds: a cause where it is slower inside."""
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
        claim += f"{figures.amount(run)} a byte."
    elif side == "undecided":
        claim = f"Whether {what[:1].lower()}{what[1:]} is as fast in the TEE as outside, to within "
        claim += f"{_SAME}, is undecided: the ratio is {figures.times(run, ratio)}."
    else:
        only = "only " if side == "faster" else ""
        amount = f"{only}{figures.times(run, ratio)} as {many} {figures.amount(run)}"
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
    """Looks for a driver of the kernel that is slower than the CPU and leaves it more time."""
    key = "cpu-time-per-byte"
    best: dict[Status, tuple[Figure, Figure]] = {}
    for algorithm in dict.fromkeys(one.algorithm for one in ground.models.stats):
        kernel, ssl = (ground.by_size(ONESHOT, algorithm, by) for by in ("afalg", "openssl"))
        for size in kernel.keys() & ssl.keys():
            one, other = kernel[size], ssl[size]
            if size == 0 or one.cpu is None or other.cpu is None or other.cpu.total.value <= 0:
                continue
            time, cpu = one.estimate / other.estimate, one.cpu.total / other.cpu.total
            slower, dearer = above(time, SAME), above(cpu, 1 / SAME)
            status: Status = "undecided"
            if slower == "no" or dearer == "yes":
                status = "ruled out"
            elif (slower, dearer) == ("yes", "no"):
                status = "found"
            if status not in best or cpu.value < best[status][0].value:
                best[status] = (
                    figure(ground, f"CPU time of {one.key} over {other.key}", cpu, "times"),
                    figure(ground, "time", time, "times"),
                )
    order: tuple[Status, ...] = ("found", "undecided", "ruled out")
    said = next((status for status in order if status in best), None)
    if said is not None:
        return signature(
            key,
            said,
            best[said],
            claim="The kernel's driver takes longer than the CPU, and leaves the CPU more time.",
            remedy="Use it where the CPU has other work; else let the CPU compute.",
            topic="choice" if said == "found" else "cause",
        )
    measured = {one.backend for one in ground.models.stats if one.work.row is ONESHOT}
    lacks = missing(*((by in measured, by) for by in ("afalg", "openssl"))) or "afalg and openssl"
    lacks = f"oneshot/ALGORITHM by {lacks}, of one size and with CPU time"
    return not_checked(key, lacks, QUICK)


def slow_random(ground: Ground) -> Finding:
    key = "slow-rng"
    tee, kernel = (ground.by_size(RNG, RNG.subject, by) for by in ("tee", "getrandom"))
    shared = [size for size in tee if size in kernel and kernel[size].time.median > 0]
    empty = ground.models.case(EMPTY_CALL)
    if not shared or empty is None:
        names = "rng/random/tee/N", "rng/random/getrandom/N"
        lacks = missing((tee, names[0]), (kernel, names[1]), (empty, EMPTY_CALL))
        return not_checked(key, lacks or f"{' and '.join(names)} of one size", EXPLAIN)
    ours, theirs = tee[shared[-1]], kernel[shared[-1]]
    ratio = (ours.estimate - empty.estimate) / theirs.estimate
    what = f"{ours.key} without the call, over {theirs.key}"
    return signature(
        key,
        STATUS[above(ratio, SLOW_SOURCE)],
        (figure(ground, what, ratio, "times"),),
        claim="Random bytes of the TEE cost many times as much as the kernel's.",
        remedy="Draw a seed from the TEE and expand it, or see which source feeds OP-TEE's "
        "generator.",
        topic="choice",
    )


def _sizes(these: Sequence[int], all_sides: Sides) -> str:
    """Writes sizes as a range where no other was measured between them."""
    measured = [size for size, _ in all_sides.answers]
    start = measured.index(these[0])
    if len(these) > 2 and measured[start : start + len(these)] == list(these):
        return f"from {fmt.size(these[0])} to {fmt.size(these[-1])}"
    *before, last = map(fmt.size, these)
    return f"at {', '.join(before)} and {last}" if before else f"at {last}"


def kernel_pays(ground: Ground) -> Finding | None:
    """Says from which size on the kernel's crypto is faster than OpenSSL, between sizes that were
    measured."""
    rates = ground.rates("afalg", "openssl")
    if rates is None:
        return None
    kernel, ssl = (
        ground.by_size(ONESHOT, cost.algorithm, cost.backend) for cost in (rates.one, rates.other)
    )
    sizes = [size for size in kernel if size > 0 and size in ssl]
    found = sides(
        [(size, kernel[size].estimate) for size in sizes],
        [(size, ssl[size].estimate) for size in sizes],
    )
    claim, shown = _paying(rates.name, found)
    pairs: dict[int, tuple[CaseStats, CaseStats]] = {n: (kernel[n], ssl[n]) for n in sizes}
    at = [f"at {fmt.size(n)}: {ground.against(*pairs[n])}" for n in dict.fromkeys(shown)]
    evidence = "; ".join(at)
    evidence = f"{evidence[:1].upper()}{evidence[1:]} (medians)."
    open_ = found.sizes("undecided")
    if open_:
        evidence += f" Their intervals overlap at {', '.join(map(fmt.size, open_))}."
    decided = bool(found.sizes("faster", "slower", "same"))
    return Finding(
        key="kernel-pays-off",
        topic="choice" if ground.models.case(EMPTY_CALL) else "answer",
        status="found" if decided else "undecided",
        claim=claim,
        evidence=evidence,
        remedy="More samples decide the sizes at which intervals overlap." if open_ else "",
        sure=decided,
    )


def _paying(algorithm: str, found: Sides) -> tuple[str, Sequence[int]]:
    """Returns the sentence, and the sizes that bear it out."""
    name = f"{algorithm} by the kernel (AF_ALG)"
    apart, alike = found.sizes("faster", "slower"), found.sizes("same")
    open_ = found.sizes("undecided")
    if found.crossings:
        parts = [
            f"becomes {'faster' if one.faster else 'slower'} than by OpenSSL somewhere between "
            f"{fmt.size(one.after)} and {fmt.size(one.before)}"
            for one in found.crossings
        ]
        shown = [size for one in found.crossings for size in (one.after, one.before)]
        return f"{name} {', and '.join(parts)}.", shown
    if apart:
        shown = [apart[0], apart[-1], *alike[-1:]]
        kernel = bool(found.sizes("faster"))
        if alike:
            winner, loser = ("the kernel (AF_ALG)", "OpenSSL")[:: 1 if kernel else -1]
            claim = f"{winner[:1].upper()}{winner[1:]} beats {loser} at {algorithm} "
            claim += f"{_sizes(apart, found)}; {_sizes(alike, found)} they are equal, to within "
            return f"{claim}{_ALIKE}.", shown
        which = "is decided" if open_ else "was measured"
        ends = f"from {fmt.size(apart[0])} to {fmt.size(apart[-1])}"
        word = "faster" if kernel else "slower"
        return f"{name} is {word} than by OpenSSL at every size that {which}, {ends}.", shown
    if alike:
        where = f"{_sizes(alike, found)}, to within {_ALIKE}"
        return f"{name} is as fast as by OpenSSL {where}.", [alike[0], alike[-1]]
    undecided = f"Whether {name} is faster than by OpenSSL is undecided at every size."
    return undecided, list(open_[-1:])
