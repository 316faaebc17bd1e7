# SPDX-License-Identifier: BSD-2-Clause
"""Verdicts: named conclusions with their evidence and what to change. Pure functions.

To add one: a function `(run, models) -> Verdict | None`, a line in VERDICTS, and its fixture.
None means that the run gives no ground for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from teemark import fmt
from teemark.model.counter import TOLERANCE, Counted
from teemark.model.line import MISFIT
from teemark.model.models import CostLine, Models
from teemark.model.published_key import accepted as published_key_accepted
from teemark.model.stats import CaseStats
from teemark.run.reader import RunData

CLEAR = 1.15
"""Two rates closer than this are called the same."""

NOISY = 0.10
"""An interval of the median wider than this share of it is worth a word."""

EMPTY_CALL = "invoke/none/tee/none"
HARNESS = "invoke/none/empty/none"
HARNESS_SHARE = 0.01
"""What measuring itself may cost of the smallest case."""


@dataclass(frozen=True, slots=True)
class Verdict:
    key: str
    kind: Literal["finding", "caution"]
    claim: str
    evidence: str
    advice: str | None = None
    confidence: Literal["high", "low"] = "high"
    """Low where it stands on a line that doesn't fit, or on samples that are too few or too
    scattered to tell."""


Function = Callable[[RunData, Models], Verdict | None]


def per_byte(run: RunData, cost: CostLine) -> str:
    interval = cost.line.slope_interval
    span = fmt.span(interval)
    known = f"{fmt.LEVEL} interval {span}" if fmt.TO in span else "without visible scatter"
    return f"{fmt.digits(cost.ns_per_byte)} {run.unit} a byte ({known})"


def confidence(*costs: CostLine) -> Literal["high", "low"]:
    """High if every line fits and each rate is known to within a tenth either way."""
    for cost in costs:
        interval = cost.line.slope_interval
        width = interval.high - interval.low
        if not cost.line.fits or width > 2 * NOISY * abs(cost.ns_per_byte):
            return "low"
    return "high"


def main_algorithm(models: Models, *backends: str) -> str | None:
    """The algorithm to speak of: SHA-256 if these backends have it, else the first they share."""
    shared = [
        cost.algorithm
        for cost in models.costs
        if all(models.cost(cost.algorithm, backend) for backend in backends)
    ]
    return "sha256" if "sha256" in shared else next(iter(shared), None)


def _pair(models: Models, one: str, other: str) -> tuple[CostLine, CostLine] | None:
    algorithm = main_algorithm(models, one, other)
    if algorithm is None:
        return None
    first, second = models.cost(algorithm, one), models.cost(algorithm, other)
    if first is None or second is None or first.ns_per_byte <= 0 or second.ns_per_byte <= 0:
        return None
    return first, second


def empty_call(_run: RunData, models: Models) -> Verdict | None:
    stats = models.case(EMPTY_CALL)
    if stats is None:
        return None
    time = stats.time
    interval = (
        f"{fmt.LEVEL} interval of the median {fmt.duration_interval(time.interval)}"
        if time.interval
        else "too few samples for an interval"
    )
    return Verdict(
        key="empty-call",
        kind="finding",
        confidence=steady(stats),
        claim=f"An empty call into the TEE takes {fmt.duration(time.median)}.",
        evidence=f"{interval}; {fmt.plural(time.count, 'sample')}; "
        f"95 of 100 calls take less than {fmt.duration(time.p95)}.",
    )


def steady(*all_stats: CaseStats) -> Literal["high", "low"]:
    """High if every median is known to within a tenth."""
    for stats in all_stats:
        interval = stats.time.interval
        if interval is None or interval.high - interval.low > NOISY * stats.time.median:
            return "low"
    return "high"


def call_outweighs(run: RunData, models: Models) -> Verdict | None:
    algorithm = main_algorithm(models, "tee")
    cost = models.cost(algorithm, "tee") if algorithm else None
    if cost is None or cost.call_ns <= 0 or cost.ns_per_byte <= 0:
        return None
    name = run.title(cost.algorithm)
    even = cost.call_ns / cost.ns_per_byte
    ninety = 9 * even
    return Verdict(
        key="call-outweighs-compute",
        kind="finding",
        claim=f"Getting in and out of the TEE costs as much as the {name} of "
        f"{fmt.roughly_size(even)}.",
        evidence=f"Fitted: {fmt.duration(cost.call_ns)} a call and {per_byte(run, cost)}.",
        confidence=confidence(cost),
        advice=f"Hand over larger pieces: from {fmt.roughly_size(ninety)} a call on, crossing "
        f"is less than a tenth of the time.",
    )


def extensions(run: RunData, models: Models) -> Verdict | None:
    pair = _pair(models, "tee", "ta-ce")
    if pair is None:
        return None
    tee, ce = pair
    name = run.title(tee.algorithm)
    ratio = tee.ns_per_byte / ce.ns_per_byte
    evidence = f"TEE API {per_byte(run, tee)}, Crypto Extensions in the TA {per_byte(run, ce)}."
    if ratio < CLEAR:
        return Verdict(
            key="tee-core-uses-extensions",
            confidence=confidence(*pair),
            kind="finding",
            claim=f"The TEE's own {name} is as fast as the CPU's Crypto Extensions.",
            evidence=evidence,
        )
    return Verdict(
        key="tee-core-without-extensions",
        confidence=confidence(*pair),
        kind="finding",
        claim=f"In the same TA, the CPU's Crypto Extensions do {name} "
        f"{fmt.factor(ratio)} as fast as the TEE's own implementation.",
        evidence=evidence,
        advice="If the TEE core can be rebuilt: CFG_CRYPTO_WITH_CE=y gives it these "
        "instructions. If it can't, a TA may bring its own code.",
    )


def same_code(run: RunData, models: Models) -> Verdict | None:
    pair = _pair(models, "ta-c", "c")
    if pair is None:
        return None
    inside, outside = pair
    name = run.title(inside.algorithm)
    ratio = inside.ns_per_byte / outside.ns_per_byte
    evidence = f"In the TA {per_byte(run, inside)}, in the normal world {per_byte(run, outside)}."
    if 1 / CLEAR <= ratio <= CLEAR:
        return Verdict(
            key="same-code-same-speed",
            confidence=confidence(*pair),
            kind="finding",
            claim=f"The very same C source of {name} computes as fast in the TEE as outside.",
            evidence=evidence + " So the price of the TEE is the call, not the computing.",
        )
    if ratio > 1:
        return Verdict(
            key="same-code-slower-inside",
            confidence=confidence(*pair),
            kind="finding",
            claim=f"The very same C source of {name} takes {fmt.factor(ratio)} as long a byte "
            "in the TEE.",
            evidence=evidence,
            advice="Mapping the buffer is part of this. Beyond that compare compiler flags of "
            "both builds, and whether the TA's pages are paged.",
        )
    return Verdict(
        key="same-code-faster-inside",
        confidence=confidence(*pair),
        kind="finding",
        claim=f"The very same C source of {name} is {fmt.factor(1 / ratio)} as fast in the TEE.",
        evidence=evidence,
        advice="Compare compiler flags of both builds.",
    )


def normal_world(run: RunData, models: Models) -> Verdict | None:
    pair = _pair(models, "tee", "openssl")
    if pair is None:
        return None
    algorithm = pair[0].algorithm
    both = [
        (tee, ssl)
        for tee in models.stats
        if (tee.workload, tee.algorithm, tee.backend) == ("oneshot", algorithm, "tee")
        and tee.bytes
        and (ssl := models.case(f"oneshot/{algorithm}/openssl/{tee.parameters}"))
    ]
    if not both:
        return None
    small, large = both[0], both[-1]
    name = run.title(algorithm)
    said = [
        f"{fmt.factor(tee.time.median / ssl.time.median)} as long at {fmt.size(tee.bytes or 0)}"
        for tee, ssl in (small, large)
    ]
    return Verdict(
        key="tee-against-openssl",
        kind="finding",
        confidence=steady(*small, *large),
        claim=f"{name} through the TEE takes {said[0]} and {said[1]} as with OpenSSL.",
        evidence=f"At {fmt.size(small[0].bytes or 0)} {fmt.duration(small[0].time.median)} "
        f"against {fmt.duration(small[1].time.median)}, at {fmt.size(large[0].bytes or 0)} "
        f"{fmt.duration(large[0].time.median)} against "
        f"{fmt.duration(large[1].time.median)} (medians).",
    )


def kernel_pays_off(run: RunData, models: Models) -> Verdict | None:
    pair = _pair(models, "afalg", "openssl")
    if pair is None:
        return None
    kernel, ssl = pair
    name = run.title(kernel.algorithm)
    evidence = (
        f"Kernel {fmt.duration(kernel.call_ns)} a call and {per_byte(run, kernel)}; "
        f"OpenSSL {fmt.duration(ssl.call_ns)} and {per_byte(run, ssl)}."
    )
    extra, saved = kernel.call_ns - ssl.call_ns, ssl.ns_per_byte - kernel.ns_per_byte
    if extra <= 0:
        return None
    if saved <= 0:
        return Verdict(
            key="kernel-never-pays",
            confidence=confidence(*pair),
            kind="finding",
            claim=f"Going through the kernel (AF_ALG) for {name} pays off at no size: OpenSSL is "
            "faster by the call and by the byte.",
            evidence=evidence,
        )
    return Verdict(
        key="kernel-pays-off",
        confidence=confidence(*pair),
        kind="finding",
        claim=f"Going through the kernel (AF_ALG) for {name} pays off from about "
        f"{fmt.roughly_size(extra / saved)} on.",
        evidence=evidence,
    )


def session_kept(_run: RunData, models: Models) -> Verdict | None:
    first, again = models.case("session/first-open/tee/none"), models.case(EMPTY_CALL)
    if first is None or again is None or first.time.median < CLEAR * again.time.median:
        return None
    warm = models.case("session/open/tee/none")
    beside = ""
    if warm is not None:
        beside = f"; while another session keeps it loaded, {fmt.duration(warm.time.median)}"
    return Verdict(
        key="keep-the-session",
        kind="finding",
        confidence=steady(first, again),
        claim="Opening the first session with a TA takes as long as "
        f"{fmt.digits(first.time.median / again.time.median)} empty calls.",
        evidence=f"It loads and checks the TA: {fmt.duration(first.time.median)}{beside} "
        "(medians).",
        advice="Open one session and keep it.",
    )


def shared_buffers(_run: RunData, models: Models) -> Verdict | None:
    pairs = [
        (temporary, allocated)
        for temporary in models.stats
        if (temporary.workload, temporary.algorithm) == ("shm", "temporary")
        and (allocated := models.case(f"shm/allocated/tee/{temporary.parameters}"))
    ]
    if not pairs:
        return None
    temporary, allocated = max(pairs, key=lambda pair: pair[0].bytes or 0)
    ratio = temporary.time.median / allocated.time.median
    if ratio < CLEAR:
        return None
    size = fmt.size(temporary.bytes or 0)
    return Verdict(
        key="shared-buffers",
        kind="finding",
        confidence=steady(temporary, allocated),
        claim=f"A temporary reference to {size} crosses in {fmt.factor(ratio)} the time of "
        "allocated shared memory.",
        evidence=f"{fmt.duration(temporary.time.median)} against "
        f"{fmt.duration(allocated.time.median)} for a call that does nothing else (medians).",
        advice="Allocate shared memory once (TEEC_AllocateSharedMemory) and use it for many calls.",
    )


def stored_objects(run: RunData, models: Models) -> Verdict | None:
    pairs = [
        (stored, plain)
        for stored in models.stats
        if (stored.workload, stored.algorithm, stored.backend)
        == ("storage", "create", "tee-ree-fs")
        and (plain := models.case(f"storage/create/file-fsync/{stored.parameters}"))
    ]
    if not pairs:
        return None
    stored, plain = pairs[0]
    ratio = stored.time.median / plain.time.median
    rpcs = run.cases[stored.key].case.rpcs_per_call
    calls = f" The TEE calls the normal world {fmt.digits(rpcs)} times for it." if rpcs else ""
    return Verdict(
        key="stored-objects",
        kind="finding",
        confidence=steady(stored, plain),
        claim=f"Creating an object of {fmt.size(stored.bytes or 0)} in the TEE's storage takes "
        f"{fmt.factor(ratio)} the time of a file that is written through to the disk.",
        evidence=f"{fmt.duration(stored.time.median)} against "
        f"{fmt.duration(plain.time.median)} (medians).{calls}",
        advice="Keep in one object what is read together, and read it once.",
    )


def tee_defects(run: RunData, _models: Models) -> Verdict | None:
    found = [skip for skip in run.skips if skip.code == "tee-defect"]
    if not found:
        return None
    return Verdict(
        key="tee-defect",
        kind="caution",
        claim=f"A defect of this board's TEE: {found[0].reason}.",
        evidence=f"{fmt.plural(len(found), 'case')} left out: "
        + ", ".join(skip.case for skip in found),
        advice=found[0].hint,
    )


def harness(_run: RunData, models: Models) -> Verdict | None:
    own = models.case(HARNESS)
    others = [stats for stats in models.stats if stats.key != HARNESS and stats.time.median > 0]
    if own is None or not others:
        return None
    smallest = min(others, key=lambda stats: stats.time.median)
    share = own.time.median / smallest.time.median
    evidence = (
        f"An empty backend takes {fmt.duration(own.time.median)} a call; the smallest case, "
        f"{smallest.key}, {fmt.duration(smallest.time.median)}."
    )
    if share <= HARNESS_SHARE:
        return Verdict(
            key="harness-small",
            kind="finding",
            claim=f"Measuring itself adds {fmt.percent(share)} to the smallest case.",
            evidence=evidence,
        )
    return Verdict(
        key="harness-large",
        kind="caution",
        claim=f"Measuring itself is {fmt.percent(share)} of the smallest case.",
        evidence=evidence,
        advice="Nothing was subtracted: take it off where such small times matter.",
    )


def two_clocks(_run: RunData, models: Models) -> Verdict | None:
    """The slope over repetitions by the client's clock, and by the counter in the TA."""
    judged = [case for case in models.counted if case.judgement is not None]
    apart = [case for case in judged if case.judgement == "disagree"]
    alike = [case for case in judged if case.judgement == "agree"]
    open_ = [case for case in judged if case.judgement == "undecided"]
    if not judged:
        return None
    undecided = (
        f" {fmt.plural(len(open_), 'case')} undecided, with samples that are too few or too "
        f"scattered: {', '.join(case.case.case for case in open_)}."
        if open_
        else ""
    )
    bound = fmt.percent(TOLERANCE)
    if apart:
        return Verdict(
            key="ta-counter-disagrees",
            kind="caution",
            claim="What an operation takes inside the TA differs by more than "
            f"{bound} between the client's clock (slope over repetitions) and the TA's counter, "
            f"in {fmt.plural(len(apart), 'case')} of {fmt.count(len(judged))}.",
            evidence=", ".join(_apart(case) for case in apart) + "." + undecided,
            advice="Don't rely on either before it is known why: repetitions that don't cost the "
            "same (caches, a clock frequency that changes), or a counter that doesn't run as the "
            "firmware says.",
        )
    if alike:
        worst = max(alike, key=lambda case: abs(case.deviation or 0.0))
        return Verdict(
            key="ta-counter-agrees",
            kind="finding",
            claim="The TA's own counter agrees with the slope over repetitions by the client's "
            f"clock: {fmt.plural(len(alike), 'case')}, at most "
            f"{fmt.percent(abs(worst.deviation or 0.0))} apart.",
            evidence=f"Furthest apart: {_apart(worst)}; {bound} were allowed.{undecided}",
        )
    return Verdict(
        key="ta-counter-undecided",
        kind="finding",
        confidence="low",
        claim="Whether the TA's counter agrees with the slope over repetitions by the client's "
        f"clock to within {bound} is undecided.",
        evidence=undecided.strip(),
        advice="More samples decide it.",
    )


def _apart(case: Counted) -> str:
    """`oneshot/sha256/tee/4096 +0.12 %`, of the TA's from the client's."""
    deviation = case.deviation or 0.0
    sign = "+" if deviation > 0 else ""
    return f"{case.case.case} {sign}{fmt.percent(deviation)}"


def misfit(_run: RunData, models: Models) -> Verdict | None:
    bad = [cost for cost in models.costs if not cost.line.fits]
    if not bad:
        return None
    worst = max(bad, key=lambda cost: abs(cost.line.worst.residual))
    point = worst.line.worst
    return Verdict(
        key="line-misfit",
        kind="caution",
        claim=f"{fmt.plural(len(bad), 'fitted line')} of {len(models.costs)} "
        f"{'misses' if len(bad) == 1 else 'miss'} a median by more than "
        f"{fmt.percent(MISFIT)}: don't calculate with {'it' if len(bad) == 1 else 'them'}.",
        evidence=f"Worst: {worst.algorithm} in {worst.backend}, "
        f"{fmt.percent(abs(point.residual))} off at {fmt.size(int(point.x))}.",
    )


def noise(_run: RunData, models: Models) -> Verdict | None:
    wide = []
    for stats in models.stats:
        interval = stats.time.interval
        if interval and (interval.high - interval.low) > NOISY * stats.time.median:
            wide.append(((interval.high - interval.low) / stats.time.median, stats.key))
    if not wide:
        return None
    worst, key = max(wide)
    return Verdict(
        key="noisy",
        kind="caution",
        claim=f"{fmt.plural(len(wide), 'case')} of {fmt.count(len(models.stats))} "
        f"{'has' if len(wide) == 1 else 'have'} a median that is known to no better than "
        f"{fmt.percent(NOISY)}.",
        evidence=f"Widest: {key}, its interval spans {fmt.percent(worst)} of the median.",
        advice="More samples narrow it, and so does a machine that does nothing else.",
    )


def published_key(run: RunData, _models: Models) -> Verdict | None:
    if not published_key_accepted(run):
        return None
    return Verdict(
        "published-key",
        "caution",
        "Anybody can sign TAs for this board.",
        "its TEE ran our TAs, which are signed with the key that OP-TEE publishes with its sources",
        "before the board keeps secrets: build OP-TEE with a key of your own (TA_SIGN_KEY)",
    )


VERDICTS: tuple[Function, ...] = (
    empty_call,
    call_outweighs,
    same_code,
    extensions,
    normal_world,
    kernel_pays_off,
    session_kept,
    shared_buffers,
    stored_objects,
    tee_defects,
    published_key,
    two_clocks,
    harness,
    misfit,
    noise,
)


def judge(run: RunData, models: Models) -> tuple[Verdict, ...]:
    """All verdicts that the run gives ground for, in the order of the list."""
    return tuple(verdict for function in VERDICTS if (verdict := function(run, models)))


def by_kind(verdicts: Sequence[Verdict], kind: str) -> tuple[Verdict, ...]:
    return tuple(verdict for verdict in verdicts if verdict.kind == kind)
