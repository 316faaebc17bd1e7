# SPDX-License-Identifier: BSD-2-Clause
"""How far the figures of a run can be trusted: clocks, scatter, models, overhead, and the
machine."""

from statistics import median

from teemark.base.finding import Finding, Share, Status, Topic
from teemark.base.work import CALL, EMPTY_CALL, HARNESS, REFUSED_CALL
from teemark.findings.ground import KNOWN, Ground, cause, is_known, not_checked
from teemark.findings.notices import sentence
from teemark.model.counter import TOLERANCE, Counted
from teemark.model.decide import above
from teemark.model.drift import BOUND
from teemark.model.fit import MISFIT
from teemark.model.stats import STEADY, exactly
from teemark.wording import fmt

HARNESS_SHARE = 0.01  # Largest share of the smallest case for the overhead of measuring
CLOCK = 0.01  # Largest share of the shortest sample for a step of the clock


def harness(ground: Ground) -> Finding | None:
    overhead = ground.models.case(HARNESS)
    others = [case for case in ground.models.stats if case.key != HARNESS and case.time.median > 0]
    if overhead is None or not others:
        return None
    smallest = min(others, key=lambda case: case.time.median)
    ratio, interval = overhead.estimate / smallest.estimate, overhead.time.interval
    adds, bound = fmt.percent(ratio.value), fmt.percent(HARNESS_SHARE, 1)
    answer = above(ratio, HARNESS_SHARE)
    samples = min(overhead.time.count, smallest.time.count)
    claim, remedy = {
        "no": (f"Measuring itself adds {adds} to the smallest case.", ""),
        "yes": (
            f"Measuring itself is {adds} of the smallest case.",
            "Nothing was subtracted: take it off where such small times matter.",
        ),
        "undecided": (
            f"Whether measuring itself is more than {bound} of the smallest case is open.",
            ground.more_samples(ratio, (HARNESS_SHARE,), samples),
        ),
    }[answer]
    if overhead.time.median <= 0 or (interval is not None and interval.low <= 0):
        claim, remedy = "What measuring itself adds is not distinguishable from 0.", ""
    return Finding(
        key="harness",
        topic="trust",
        status="undecided" if answer == "undecided" else "found",
        severity="caution" if answer == "yes" else "note",
        claim=claim,
        evidence=f"An empty backend takes {fmt.cost(ground.run, overhead.estimate)} a call; the "
        f"smallest case, {smallest.key}, {fmt.cost(ground.run, smallest.estimate)}.",
        remedy=remedy,
        figures=(ground.figure("measuring, of the smallest case", ratio, "share"),),
        sure=answer != "undecided",
    )


def two_clocks(ground: Ground) -> Finding | None:
    """Compares the client's clock (slope over repetitions) with the counter in the TA."""
    judged = [case for case in ground.models.counted.values() if case.answer is not None]
    agree, apart, undecided = (
        [case for case in judged if case.answer == answer] for answer in ("yes", "no", "undecided")
    )
    if not judged:
        return None
    bound, what = fmt.percent(TOLERANCE, 1), "the client's clock on what an operation takes"
    verdict, evidence, remedy = "undecided", "", "More samples decide it."
    claim = f"Whether the TA's counter agrees with {what}, to within {bound}, is undecided."
    if apart:
        verdict, evidence = "disagrees", f"{', '.join(map(_apart, apart))}."
        claim = (
            f"The client's clock and the TA's counter differ by more than {bound} on what an "
            f"operation takes inside the TA, in {fmt.plural(len(apart), 'case')} of "
            f"{fmt.count(len(judged))}."
        )
        remedy = (
            "Don't rely on either before the reason is known: repetitions that don't cost the "
            "same (caches, a clock frequency that changes), or a counter that doesn't run as the "
            "firmware says."
        )
    elif agree:
        worst = max(agree, key=lambda case: abs(case.deviation or 0.0))
        most, cases = fmt.share(abs(worst.deviation or 0.0)), fmt.plural(len(agree), "case")
        claim = f"The TA's own counter agrees with {what}: {cases}, at most {most} apart."
        verdict, remedy = "agrees", ""
        evidence = f"Furthest apart: {_apart(worst)}; {bound} is allowed."
    if undecided:
        names = ", ".join(case.key for case in undecided)
        evidence += f" Undecided, with too few or too scattered samples: {names}."
    return Finding(
        key=f"ta-counter-{verdict}",
        topic="trust",
        status="undecided" if verdict == "undecided" else "found",
        severity="caution" if apart else "note",
        claim=claim,
        evidence=evidence.strip(),
        remedy=remedy,
        sure=verdict != "undecided",
    )


def _apart(case: Counted) -> str:
    return f"{case.key} {fmt.signed(case.deviation or 0.0)}"


def _doubt(
    key: str, claim: str, evidence: str, remedy: str = "", topic: Topic = "trust"
) -> Finding:
    return Finding(
        key=key, topic=topic, severity="caution", claim=claim, evidence=evidence, remedy=remedy
    )


def misfits(ground: Ground) -> Finding | None:
    costs = ground.models.costs
    bad = [cost for cost in costs if not cost.fit.fits]
    if not bad:
        return None
    worst = max(bad, key=lambda cost: cost.fit.misfit or 0.0)
    point = worst.fit.worst
    are, them = ("is", "it") if len(bad) == 1 else ("are", "them")
    return _doubt(
        "misfit",
        f"{fmt.plural(len(bad), 'model')} of {fmt.count(len(costs))} {are} more than "
        f"{fmt.percent(MISFIT)} off somewhere, beyond what scatter explains: don't calculate with "
        f"{them}.",
        f"The worst is {ground.run.title(worst.algorithm)} by {worst.backend}, "
        f"{fmt.percent(abs(point.residual))} off at {fmt.size(int(point.x))}.",
    )


def waited(ground: Ground) -> Finding | None:
    """Finds cases that were timed on a board that counts, since their samples lie too far apart."""
    stats = (case for case in ground.models.stats if case.key != HARNESS)
    cases = [case for case in stats if case.estimate.kind == "waited"]
    if not cases:
        return None
    worst = max(cases, key=lambda case: case.time.max / max(case.time.min, 1.0))
    are, their = ("is", "its") if len(cases) == 1 else ("are", "their")
    return _doubt(
        "waited",
        f"{fmt.plural(len(cases), 'case')} of {fmt.count(len(ground.models.stats))} {are} "
        f"timed, not counted: half of {their} samples lie over {fmt.percent(STEADY, 1)} apart.",
        "While the processor waits, as a rule for a disk, the clock runs like that of the machine "
        "that emulates this board. In other cases the layout of memory differs between calls. "
        f"{worst.key} took {fmt.duration(worst.time.min)} to {fmt.duration(worst.time.max)}.",
        "Measure on hardware what waits for a disk: nothing follows from these times.",
    )


def scatter(ground: Ground) -> Finding | None:
    """Finds medians with wide intervals, and medians that have no interval at all."""
    stats = ground.models.stats
    without = [case for case in stats if case.time.interval is None]
    widths = {
        case.key: case.time.interval.width / max(case.time.median, 1e-9)
        for case in stats
        if case.time.interval is not None and not is_known(case.estimate)
    }
    parts, evidence = [], []
    if widths:
        key, width = max(widths.items(), key=lambda pair: pair[1])
        are = "is" if len(widths) == 1 else "are"
        parts.append(
            f"{fmt.plural(len(widths), 'median')} of {fmt.count(len(stats))} {are} known to no "
            f"better than {fmt.percent(KNOWN)} either way"
        )
        span = f"{fmt.percent(width)} of" if width < 10 else "more than ten times"
        evidence.append(f"The interval of {key} spans {span} the median.")
    if without:
        has = "has" if len(without) == 1 else "have"
        medians = f"{fmt.plural(len(without), 'median')} of {fmt.count(len(stats))}"
        why = " and ".join(dict.fromkeys(case.estimate.vague for case in without))
        parts.append(f"{medians} {has} {why}")
        evidence.append(f"{without[0].key} has {fmt.plural(without[0].time.count, 'sample')}.")
    remedy = "More samples narrow intervals, and so does a machine that does nothing else."
    claim = f"{', and '.join(parts)}."
    return _doubt("scatter", claim, " ".join(evidence), remedy) if parts else None


def clock_step(ground: Ground) -> Finding:
    key = "clock-resolution"
    step = ground.run.machine.clock.resolution_ns
    sound = (case for case in ground.run.sound if case.key != HARNESS)  # the empty backend
    samples = [sample.ns for case in sound for sample in case.samples if sample.ns > 0]
    if step is None or not samples:
        return not_checked(key, "the step of the clock")
    share = exactly(step / min(samples))
    return cause(
        key,
        (share, CLOCK),
        (ground.figure("a step, of the shortest sample", share, "share"),),
        claim="The clock's steps are coarse for the shortest samples.",
        remedy="Measure longer samples (min_us), or with a finer clock source.",
        facts=(f"a step: {fmt.duration(float(step))}",),
        costs=Share(min(share.value, 1.0), "the shortest sample"),
    )


def level(ground: Ground) -> Finding | None:
    """Judges whether the level of all cases changed over the run, as a CPU that throttles makes
    it."""
    found, bound = ground.models.drift, fmt.percent(BOUND - 1, 1)
    if found is None:
        return None
    change = f"the level of all cases changed over the run by more than {bound}"
    last, turn = fmt.signed(found.last.value - 1), fmt.percent(found.turn)
    claim, remedy = {
        "yes": (
            f"{sentence(change).rstrip('.')}: the last quarter takes {last} beside the first, and "
            f"it changed most after {turn} of the samples.",
            "No interval holds that: look at the board's cooling, power and governor, and measure "
            "again.",
        ),
        "no": (f"All cases kept their level over the run, to within {bound}.", ""),
        "undecided": (
            f"Whether {change} is undecided.",
            "More samples, on a board that does nothing else, would decide.",
        ),
    }[found.answer]
    return Finding(
        key="drift",
        topic="trust",
        status="undecided" if found.answer == "undecided" else "found",
        severity="caution" if found.answer == "yes" else "note",
        claim=claim,
        evidence="Each sample is divided by its case's median. The highest level of the run's four "
        f"quarters over the lowest: {fmt.ratio(ground.run, found.most)}.",
        remedy=remedy,
        figures=(ground.figure("largest over smallest quarter", found.most, "times"),),
        sure=found.answer != "undecided",
    )


# -- what the machine does to all figures ---------------------------------------------------------

SLOWED = 0.95  # A CPU below this share of its highest frequency is slowed down
WAITED = 0.01  # Largest share of the time that processes may wait for a CPU


def cpu_frequency(ground: Ground) -> Finding:
    """Compares each CPU's frequency with its highest. teebench reads both before the load begins,
    so a governor may raise the frequency later."""
    key, machine = "cpu-frequency", ground.run.machine
    cpu = machine.cpu
    now, most, governors = (
        # "VALUE" for all CPUs (key ""), or "cpu0 VALUE"
        {which: value for which, _, value in (text.rpartition(" ") for text in texts or ())}
        for texts in (cpu.khz_now, cpu.khz_max, cpu.governor)
    )

    def lookup(values: dict[str, str], which: str) -> str:
        return values.get(which) or values.get("", "")

    cpus = []
    for which in sorted(now.keys() | most.keys()):
        here, top = (lookup(values, which) for values in (now, most))
        if here.isdigit() and top.isdigit() and int(here) and int(top):
            cpus.append((int(here) / int(top), which, int(here), int(top)))
    if not cpus:
        why = machine.reasons.get("cpu.khz_now") or "the kernel doesn't say"
        return not_checked(key, f"the CPUs' frequencies ({why})")
    share, slowest, khz, highest = min(cpus)
    name = f"{slowest}: " if slowest else ""
    facts = [f"{name}{khz / 1000:g} of {highest / 1000:g} MHz when the run began"]
    if governors:
        facts.append(f"governor {', '.join(dict.fromkeys(governors.values()))}")
    slowed = [lookup(governors, which) for less, which, *_ in cpus if less < SLOWED]
    status: Status = "undecided" if slowed else "ruled out"
    return cause(
        key,
        "found" if "performance" in slowed else status,
        claim="The CPU ran below its highest frequency.",
        remedy="Set the governor `performance`, and see to its cooling and power.",
        facts=facts,
        costs=Share(1 - share, "the time of each call", at_most=True),
    )


def contention(ground: Ground) -> Finding:
    """Judges calls that only their process and the TEE work on, together and one by one. Calls that
    tee-supplicant or kernel threads serve (storage, files, a driver's queue) may wait for a CPU
    there, unseen. Who serves a command of the user's TA isn't known, so it is left out too."""
    key = "contention"
    alone = [
        case
        for case in ground.run.sound
        if not case.work.row.served and case.work.by not in ("afalg", "hwrng")
        if not case.record.rpcs_per_call
    ]
    if not alone:
        return not_checked(key, f"calls that no other process serves, such as {EMPTY_CALL}")
    waits = {
        case.key: times
        for case in alone
        if (times := [(s.ns, s.waited_ns) for s in case.samples if s.runq_ns is not None])
    }
    total = sum(ns for times in waits.values() for ns, _ in times)
    if not total:
        return not_checked(key, "the wait for a CPU: a kernel with CONFIG_SCHED_INFO")
    share = sum(wait for times in waits.values() for _, wait in times) / total
    # One sample of a case that waits leaves its median, which is what a report says, as it is.
    most, worst = max(
        (median(wait / max(ns, 1) for ns, wait in times), case) for case, times in waits.items()
    )
    shown = [ground.figure("waiting for a CPU, of all these calls", exactly(share), "share")]
    if most > WAITED:
        shown.append(ground.figure(f"of {worst}", exactly(most), "share"))
    return cause(
        key,
        "found" if max(share, most) > WAITED else "ruled out",
        shown,
        claim="Other processes took the CPU from the measured calls.",
        remedy="Stop what else runs on the board, and measure again.",
        costs=Share(share, "the time of all these calls"),
    )


def emulated(ground: Ground) -> Finding:
    key, run = "emulated", ground.run
    by_board = run.header.emulated if run.header is not None else None
    by_machine, by = run.machine.board.emulated, run.machine.board.emulated_told_by
    if by_board is None and by_machine is None:
        return not_checked(key, "a machine that says what it is")
    if not (by_board or by_machine):
        return Finding(key=key, topic="board", status="ruled out")
    facts = ("as its board file says" if by_board else "", by if by_machine and by else "")
    claim = "Emulated board: timings are not those of silicon."
    remedy = (
        "The software is real, the processor is emulated. "
        "What depends on the speed of particular instructions, on caches or on memory looks "
        "different on hardware: measure there for times."
    )
    if run.icount:
        claim = "Emulated board: this counts instructions."
        remedy = (
            "One nanosecond is one executed instruction; two boots of one plan agree to within "
            "0.2 %. A case also depends on what else its plan measures, by up to 0.7 %: compare "
            "runs of one plan. Cache misses and latencies aren't counted: good for finding and "
            "comparing work, not for predicting time on hardware."
        )
    return _doubt(key, claim, "; ".join(filter(None, facts)), remedy, "board")


def tee_defects(ground: Ground) -> Finding | None:
    skips = [skip for skip in ground.run.skips if skip.code == "tee-defect"]
    if not skips:
        return None
    names = ", ".join(skip.case for skip in skips)
    return _doubt(
        "tee-defect",
        f"A defect of this board's TEE: {skips[0].reason}.",
        f"{fmt.plural(len(skips), 'case')} left out: {names}.",
        sentence((skips[0].hint or "").rstrip(".")),
        "board",
    )


def published_key(ground: Ground) -> Finding | None:
    """Finds a TEE that takes TAs signed with the published key; not on an emulated board. The proof
    is a call that one of our TAs served: OP-TEE's core refuses some by itself, and a command of the
    user's TA says nothing of ours."""
    run = ground.run
    if run.header is None or not run.header.tas_signed_with_published_key or run.header.emulated:
        return None
    served = [
        case.key
        for case in run.sound
        if any(case.starts) and case.key != REFUSED_CALL and case.work.row is not CALL
        if run.backend(case.work.backend).secure
    ]
    if not served:
        return None
    return _doubt(
        "published-key",
        "Anybody can sign TAs for this board.",
        f"Its TEE ran our TA, which is signed with the key that OP-TEE's sources publish: "
        f"{served[0]} was measured.",
        "Before the board keeps secrets: build OP-TEE with a key of your own (TA_SIGN_KEY).",
        "board",
    )
