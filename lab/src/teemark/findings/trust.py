# SPDX-License-Identifier: BSD-2-Clause
"""How far the figures of a run can be trusted: clocks, scatter, models, measuring itself."""

from __future__ import annotations

from teemark.base import fmt
from teemark.base.finding import Finding, Share
from teemark.base.work import HARNESS
from teemark.findings.ground import (
    KNOWN,
    STATUS,
    Ground,
    figure,
    is_known,
    not_checked,
    signature,
)
from teemark.model.counter import TOLERANCE, Counted
from teemark.model.decide import above
from teemark.model.fit import MISFIT
from teemark.model.stats import STEADY, exactly
from teemark.page import figures

HARNESS_SHARE = 0.01
"""Share of the smallest case that measuring itself may take."""
CLOCK = 0.01
"""Share of the shortest sample that a step of the clock may be."""


def harness(ground: Ground) -> Finding | None:
    own = ground.models.case(HARNESS)
    others = [one for one in ground.models.stats if one.key != HARNESS and one.time.median > 0]
    if own is None or not others:
        return None
    smallest = min(others, key=lambda one: one.time.median)
    ratio = own.estimate / smallest.estimate
    answer = above(ratio, HARNESS_SHARE)
    adds, remedy = fmt.percent(ratio.value), ""
    interval = own.time.interval
    if own.time.median <= 0 or (interval is not None and interval.low <= 0):
        claim = "What measuring itself adds is not distinguishable from 0."
    elif answer == "no":
        claim = f"Measuring itself adds {adds} to the smallest case."
    elif answer == "yes":
        claim = f"Measuring itself is {adds} of the smallest case."
        remedy = "Nothing was subtracted: take it off where such small times matter."
    else:
        bound = fmt.percent(HARNESS_SHARE, 1)
        claim = f"Whether measuring itself is more than {bound} of the smallest case is open."
        samples = min(own.time.count, smallest.time.count)
        remedy = ground.more(ratio, (HARNESS_SHARE,), samples)
    return Finding(
        key="harness",
        topic="trust",
        status="undecided" if answer == "undecided" else "found",
        severity="caution" if answer == "yes" else "note",
        claim=claim,
        evidence=f"An empty backend takes {figures.time(ground.run, own.estimate)} a call; the "
        f"smallest case, {smallest.key}, {figures.time(ground.run, smallest.estimate)}.",
        remedy=remedy,
        figures=(figure(ground, "measuring, of the smallest case", ratio, "share"),),
        sure=answer != "undecided",
    )


def two_clocks(ground: Ground) -> Finding | None:
    """Compares the slope over repetitions by the client's clock with the counter in the TA."""
    agree, apart, undecided = (
        [case for case in ground.models.counted if case.judgement == judgement]
        for judgement in ("agree", "disagree", "undecided")
    )
    if not (agree or apart or undecided):
        return None
    bound = fmt.percent(TOLERANCE, 1)
    evidence = remedy = ""
    if apart:
        judged = len(agree) + len(apart) + len(undecided)
        claim = (
            f"The client's clock and the TA's counter differ by more than {bound} on what an "
            f"operation takes inside the TA, in {fmt.plural(len(apart), 'case')} of "
            f"{fmt.count(judged)}."
        )
        evidence = ", ".join(map(_apart, apart)) + "."
        remedy = (
            "Don't rely on either before the reason is known: repetitions that don't cost the "
            "same (caches, a clock frequency that changes), or a counter that doesn't run as the "
            "firmware says."
        )
    elif agree:
        worst = max(agree, key=lambda case: abs(case.deviation or 0.0))
        claim = (
            "The TA's own counter agrees with the client's clock on what an operation takes: "
            f"{fmt.plural(len(agree), 'case')}, at most {fmt.share(abs(worst.deviation or 0.0))} "
            "apart."
        )
        evidence = f"Furthest apart: {_apart(worst)}; {bound} is allowed."
    else:
        claim = (
            "Whether the TA's counter agrees with the client's clock on what an operation takes, "
            f"to within {bound}, is undecided."
        )
        remedy = "More samples decide it."
    if undecided:
        names = ", ".join(case.case.case for case in undecided)
        evidence += f" Undecided, with too few or too scattered samples: {names}."
    verdict = "disagrees" if apart else "agrees" if agree else "undecided"
    return Finding(
        key=f"ta-counter-{verdict}",
        topic="trust",
        status="found" if apart or agree else "undecided",
        severity="caution" if apart else "note",
        claim=claim,
        evidence=evidence.strip(),
        remedy=remedy,
        sure=bool(apart or agree),
    )


def _apart(case: Counted) -> str:
    """Writes how far the TA's figure is from the client's: `oneshot/sha256/tee/4096 +0.12 %`."""
    return f"{case.case.case} {fmt.signed(case.deviation or 0.0)}"


def misfits(ground: Ground) -> Finding | None:
    costs = ground.models.costs
    bad = [cost for cost in costs if not cost.fit.fits]
    if not bad:
        return None
    worst = max(bad, key=lambda cost: cost.fit.misfit or 0.0)
    point = worst.fit.worst
    are, them = ("is", "it") if len(bad) == 1 else ("are", "them")
    return Finding(
        key="misfit",
        topic="trust",
        severity="caution",
        claim=f"{fmt.plural(len(bad), 'model')} of {fmt.count(len(costs))} {are} more than "
        f"{fmt.percent(MISFIT)} off somewhere, beyond what scatter explains: don't calculate with "
        f"{them}.",
        evidence=f"The worst is {ground.run.title(worst.algorithm)} by {worst.backend}, "
        f"{fmt.percent(abs(point.residual))} off at {fmt.size(int(point.x))}.",
    )


def waited(ground: Ground) -> Finding | None:
    """Cases that were timed though the board counts: their samples are too far apart."""
    cases = [one for one in ground.models.stats if ground.waits(one)]
    if not cases:
        return None
    worst = max(cases, key=lambda one: one.time.max / max(one.time.min, 1.0))
    are, their = ("is", "its") if len(cases) == 1 else ("are", "their")
    return Finding(
        key="waited",
        topic="trust",
        severity="caution",
        claim=f"{fmt.plural(len(cases), 'case')} of {fmt.count(len(ground.models.stats))} {are} "
        f"timed, not counted: {their} samples lie more than {fmt.percent(STEADY, 1)} apart.",
        evidence="Where the processor waits, for a disk as a rule, the clock goes on as that of "
        "the machine that emulates this board. Others find memory laid out differently from call "
        f"to call. {worst.key} took {fmt.duration(worst.time.min)} to "
        f"{fmt.duration(worst.time.max)}.",
        remedy="Measure on hardware what waits for a disk: nothing follows from these times.",
    )


def scatter(ground: Ground) -> Finding | None:
    """Medians that are known badly, and those that have no interval at all."""
    stats = ground.models.stats
    without = [one for one in stats if one.time.interval is None]
    wide = [one for one in stats if one.time.interval is not None and not is_known(one.estimate)]
    if not wide and not without:
        return None
    of = fmt.count(len(stats))
    parts, evidence = [], []
    if wide:
        spans = {
            one.key: one.time.interval.width / one.time.median
            if one.time.interval is not None and one.time.median > 0
            else float("inf")
            for one in wide
        }
        key, width = max(spans.items(), key=lambda pair: pair[1])
        is_ = "is" if len(wide) == 1 else "are"
        better = f"known to no better than {fmt.percent(KNOWN)} either way"
        parts.append(f"{fmt.plural(len(wide), 'median')} of {of} {is_} {better}")
        reach = f"{fmt.percent(width)} of" if width < 10 else "more than ten times"
        evidence.append(f"The interval of {key} spans {reach} the median.")
    if without:
        has = "has" if len(without) == 1 else "have"
        medians = fmt.plural(len(without), "median")
        parts.append(f"{medians} of {of} {has} too few samples for an interval")
        evidence.append(f"{without[0].key} has {fmt.plural(without[0].time.count, 'sample')}.")
    return Finding(
        key="scatter",
        topic="trust",
        severity="caution",
        claim=f"{', and '.join(parts)}.",
        evidence=" ".join(evidence),
        remedy="More samples narrow intervals, and so does a machine that does nothing else.",
    )


def clock_step(ground: Ground) -> Finding:
    key = "clock-resolution"
    step = ground.run.machine.clock.resolution_ns
    samples = [one.ns for case in ground.run.sound for one in case.samples if one.ns > 0]
    if step is None or not samples:
        return not_checked(key, "the step of the clock")
    share = exactly(step / min(samples))
    return signature(
        key,
        STATUS[above(share, CLOCK)],
        (figure(ground, "a step, of the shortest sample", share, "share"),),
        claim="The clock's steps are coarse for the shortest samples.",
        remedy="Measure longer samples (min_us), or with a finer clock source.",
        facts=(f"a step: {fmt.duration(float(step))}",),
        costs=Share(min(share.value, 1.0), "the shortest sample"),
    )
