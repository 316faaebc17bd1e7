# SPDX-License-Identifier: BSD-2-Clause
"""What verdicts say: a sentence, its evidence, and what to change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Literal

from teemark.base import fmt
from teemark.findings import verdicts as v
from teemark.model.counter import TOLERANCE, Counted
from teemark.model.decide import ALIKE, Sides
from teemark.model.fit import MISFIT
from teemark.model.models import Cost
from teemark.model.stats import STEADY, CaseStats
from teemark.page import figures
from teemark.run.reader import RunData


@dataclass(frozen=True, slots=True)
class Said:
    """A verdict in words."""

    key: str
    kind: Literal["finding", "caution"]
    claim: str
    evidence: str
    advice: str | None = None
    confidence: v.Confidence = "high"


def say(run: RunData, verdict: v.Verdict) -> Said:
    claim, evidence, advice = _words(verdict, run)
    return Said(verdict.key, verdict.kind, claim, evidence, advice, verdict.confidence)


Words = tuple[str, str, str | None]


@singledispatch
def _words(verdict: v.Verdict, run: RunData) -> Words:
    raise NotImplementedError(type(verdict).__name__)


def per_byte(run: RunData, cost: Cost) -> str:
    interval = cost.byte.interval
    text = f"{fmt.digits(cost.ns_per_byte)} {run.unit} a byte"
    return text + figures.known(run, interval, fmt.span(interval))


def _starts(run: RunData) -> int:
    return max((len(case.starts) for case in run.sound), default=1)


def _against(run: RunData, one: CaseStats, other: CaseStats) -> str:
    """Both counted, or both timed."""
    timed = run.icount and not (one.estimate.exact and other.estimate.exact)
    first, second = (
        fmt.duration(stats.time.median) if timed else figures.time(run, stats.estimate)
        for stats in (one, other)
    )
    return f"{first} against {second}"


@_words.register
def _empty_call(verdict: v.EmptyCall, run: RunData) -> Words:
    time = verdict.stats.time
    claim = f"An empty call into the TEE takes {figures.time(run, time.estimate)}."
    if time.estimate.exact:
        low, high = figures.instructions(time.min), figures.instructions(time.max)
        within = f"lie between {low} and {high}" if low != high else "are all alike"
        evidence = (
            f"The median of {fmt.plural(time.count, 'sample')}; within the run they {within}."
        )
        return claim, evidence, None
    evidence = (
        f"{fmt.LEVEL} interval of the median {fmt.duration_interval(time.interval)}"
        if time.interval
        else "Too few samples for an interval"
    )
    evidence += f"; {fmt.plural(time.count, 'sample')}"
    if verdict.stats.single and time.count >= 20:
        evidence += f"; 95 of 100 calls take less than {figures.time(run, time.p95)}"
    return claim, evidence + ".", None


@_words.register
def _way_in_and_out(verdict: v.WayInAndOut, run: RunData) -> Words:
    name = run.title(verdict.cost.algorithm)
    interval = verdict.even.interval
    low_high = (
        f"{fmt.roughly_size(max(interval.low, 0.0))}{fmt.TO}{fmt.roughly_size(interval.high)}"
        if interval
        else ""
    )
    by = (
        "By the TA's counter"
        if verdict.told_by == "counter"
        else "As long as an empty call, since the TA can't read a counter"
    )
    return (
        f"Getting in and out of the TEE costs as much as the {name} of "
        f"{fmt.roughly_size(verdict.even.value)}{figures.known(run, interval, low_high)}.",
        f"{by}, the way in and out, with the buffers that a digest needs, takes "
        f"{figures.time(run, verdict.way)}; computing takes {per_byte(run, verdict.cost)}.",
        f"Hand over larger pieces: from {fmt.roughly_size(9 * verdict.even.value)} a call on, the "
        "way is less than a tenth of the time.",
    )


@_words.register
def _rates(verdict: v.Rates, run: RunData) -> Words:
    name = run.title(verdict.one.algorithm)
    one, other = (run.backend(cost.backend).title for cost in (verdict.one, verdict.other))
    evidence = (
        f"“{one}” takes {per_byte(run, verdict.one)}, “{other}” {per_byte(run, verdict.other)}."
    )
    same = verdict.key == "same-code"
    what = f"The very same C source of {name}" if same else f"The TEE's own {name}"
    where = " in the TEE" if same else ""
    than = "outside" if same else "the CPU's Crypto Extensions in the same TA"
    bound = fmt.percent(v.SAME - 1, 1)
    ratio = verdict.ratio.value
    match verdict.side:
        case "same":
            apart = abs(ratio - 1)
            work = f"{figures.amount(run)} a byte"
            less = "fewer" if run.icount else "less"
            exactly = f"it takes {fmt.share(apart)} {'more' if ratio > 1 else less} {work}"
            claim = f"{what} is as fast{where} as {than}, to within {bound}: {exactly}."
            advice = "The price of the TEE is the call, not the computing." if same else None
        case "slower" | "faster":
            only = "only " if verdict.side == "faster" else ""
            much = "many" if run.icount else "much"
            amount = f"{only}{figures.times(run, verdict.ratio)} as {much} {figures.amount(run)}"
            claim = f"{what} takes {amount} a byte{where} as {than}."
            if same:
                advice = "Compare compiler flags of both builds"
                advice += "." if only else ", and whether the TA's pages are paged."
            elif only:
                advice = None
            else:
                advice = (
                    "If the TEE core can be rebuilt: CFG_CRYPTO_WITH_CE=y gives it these "
                    "instructions. If it can't, a TA may bring its own code."
                )
        case "undecided":
            claim = (
                f"Whether {what[:1].lower()}{what[1:]} is as fast{where} as {than}, to within "
                f"{bound}, is undecided: the ratio is {figures.times(run, verdict.ratio)}."
            )
            advice = figures.more(verdict.more, _starts(run))
    return claim, evidence, advice


@_words.register
def _against_openssl(verdict: v.AgainstOpenssl, run: RunData) -> Words:
    both = [verdict.small] if verdict.small == verdict.large else [verdict.small, verdict.large]
    of = f" the {figures.amount(run)} of OpenSSL"
    said = ", and ".join(
        f"{figures.times(run, one.ratio)}{of if one is both[0] else ''} at "
        f"{fmt.size(one.one.bytes or 0)}"
        for one in both
    )
    evidence = "; ".join(
        f"at {fmt.size(one.one.bytes or 0)}: {_against(run, one.one, one.other)}" for one in both
    )
    return (
        f"{run.title(verdict.small.one.algorithm)} through the TEE takes {said}.",
        f"{evidence[:1].upper()}{evidence[1:]} (medians).",
        None,
    )


_ALIKE = fmt.percent(ALIKE - 1, 1)


def _sizes(these: Sequence[int], sides: Sides) -> str:
    """At these sizes; a range where no other was measured between them."""
    measured = [size for size, _ in sides.answers]
    start = measured.index(these[0])
    if len(these) > 2 and measured[start : start + len(these)] == list(these):
        return f"from {fmt.size(these[0])} to {fmt.size(these[-1])}"
    *before, last = map(fmt.size, these)
    return f"at {', '.join(before)} and {last}" if before else f"at {last}"


@_words.register
def _kernel_pays(verdict: v.KernelPays, run: RunData) -> Words:
    name = f"{run.title(verdict.algorithm)} by the kernel (AF_ALG)"
    by_size = {size: (kernel, ssl) for size, kernel, ssl in verdict.pairs}
    crossings = verdict.sides.crossings
    apart = verdict.sides.sizes("faster", "slower")
    alike = verdict.sides.sizes("same")
    open_ = verdict.sides.sizes("undecided")
    shown = [size for crossing in crossings for size in (crossing.after, crossing.before)]
    if crossings:
        parts = [
            f"becomes {'faster' if one.faster else 'slower'} than by OpenSSL somewhere between "
            f"{fmt.size(one.after)} and {fmt.size(one.before)}"
            for one in crossings
        ]
        claim = f"{name} {', and '.join(parts)}."
    elif apart:
        shown = [apart[0], apart[-1], *alike[-1:]]
        word = "faster" if verdict.sides.sizes("faster") else "slower"
        if alike:
            where = (
                f"{_sizes(apart, verdict.sides)}, and as fast {_sizes(alike, verdict.sides)}, to "
                f"within {_ALIKE}"
            )
        else:
            which = "is decided" if open_ else "was measured"
            where = (
                f"at every size that {which}, from {fmt.size(apart[0])} to {fmt.size(apart[-1])}"
            )
        claim = f"{name} is {word} than by OpenSSL {where}."
    elif alike:
        shown = [alike[0], alike[-1]]
        claim = (
            f"{name} is as fast as by OpenSSL {_sizes(alike, verdict.sides)}, to within {_ALIKE}."
        )
    else:
        shown = list(open_[-1:])
        claim = f"Whether {name} is faster than by OpenSSL is undecided at every size."
    evidence = "; ".join(
        f"at {fmt.size(size)}: {_against(run, *by_size[size])}" for size in dict.fromkeys(shown)
    )
    evidence = f"{evidence[:1].upper()}{evidence[1:]} (medians)."
    advice = None
    if open_:
        evidence += f" Their intervals overlap at {', '.join(map(fmt.size, open_))}."
        advice = "More samples decide the sizes at which intervals overlap."
    return claim, evidence, advice


@_words.register
def _session(verdict: v.Session, run: RunData) -> Words:
    evidence = (
        "Opening the first session loads and checks the TA: "
        f"{figures.time(run, verdict.one.estimate)}"
    )
    if verdict.warm is not None:
        warm = figures.time(run, verdict.warm.estimate)
        evidence += f"; while another session keeps the TA loaded, opening one takes {warm}"
    evidence += " (medians)."
    if verdict.answer == "undecided":
        return (
            "Whether opening the first session with a TA takes longer than an empty call is "
            "undecided.",
            evidence,
            figures.more(verdict.more, _starts(run)),
        )
    return (
        "Opening the first session with a TA takes as long as "
        f"{fmt.digits(verdict.ratio.value)} empty calls.",
        evidence,
        "Open one session and keep it.",
    )


def _ratio_words(verdict: v.Ratio, run: RunData, claim: str, open_: str, advice: str) -> Words:
    evidence = f"{_against(run, verdict.one, verdict.other)} (medians)."
    if verdict.answer == "undecided":
        return open_, evidence, figures.more(verdict.more, _starts(run))
    return claim, evidence, advice


@_words.register
def _stored(verdict: v.Stored, run: RunData) -> Words:
    size = fmt.size(verdict.one.bytes or 0)
    claim, evidence, advice = _ratio_words(
        verdict,
        run,
        f"Creating an object of {size} in the TEE's storage takes "
        f"{figures.times(run, verdict.ratio)} the time of a file that is written through to the "
        "disk.",
        f"Whether creating an object of {size} in the TEE's storage takes longer than writing a "
        "file through to the disk is undecided.",
        "Keep in one object what is read together, and read it once.",
    )
    if verdict.rpcs:
        evidence += f" The TEE calls the normal world {fmt.digits(verdict.rpcs)} times for it."
    return claim, evidence, advice if verdict.answer != "no" else None


@_words.register
def _ratio(verdict: v.Ratio, run: RunData) -> Words:
    if verdict.key == "harness":
        return _harness(verdict, run)
    size = fmt.size(verdict.one.bytes or 0)
    return _ratio_words(
        verdict,
        run,
        f"A temporary reference to {size} crosses in {figures.times(run, verdict.ratio)} the time "
        "of allocated shared memory.",
        f"Whether a temporary reference to {size} crosses more slowly than allocated shared memory "
        "is undecided.",
        "Allocate shared memory once (TEEC_AllocateSharedMemory) and use it for many calls.",
    )


def _harness(verdict: v.Ratio, run: RunData) -> Words:
    own = verdict.one.time
    bound = fmt.percent(v.HARNESS_SHARE, 1)
    evidence = (
        f"An empty backend takes {figures.time(run, own.estimate)} a call; the smallest case, "
        f"{verdict.other.key}, {figures.time(run, verdict.other.estimate)}."
    )
    if own.median <= 0 or (own.interval is not None and own.interval.low <= 0):
        return "What measuring itself adds is not distinguishable from 0.", evidence, None
    adds = fmt.percent(verdict.ratio.value)
    match verdict.answer:
        case "no":
            claim, advice = f"Measuring itself adds {adds} to the smallest case.", None
        case "yes":
            claim = f"Measuring itself is {adds} of the smallest case."
            advice = "Nothing was subtracted: take it off where such small times matter."
        case "undecided":
            claim = f"Whether measuring itself is more than {bound} of the smallest case is open."
            advice = figures.more(verdict.more, _starts(run))
    return claim, evidence, advice


@_words.register
def _waited(verdict: v.Waited, _run: RunData) -> Words:
    worst = verdict.cases[0]
    are, their = ("is", "its") if len(verdict.cases) == 1 else ("are", "their")
    return (
        f"{fmt.plural(len(verdict.cases), 'case')} of {fmt.count(verdict.of)} {are} timed, not "
        f"counted: {their} samples lie more than {fmt.percent(STEADY, 1)} apart.",
        "Where the processor waits, for a disk as a rule, the clock goes on as that of the machine "
        "that emulates this board. Others find memory laid out differently from call to call. "
        f"{worst.key} took {fmt.duration(worst.time.min)} to {fmt.duration(worst.time.max)}.",
        "Measure on hardware what waits for a disk: nothing follows from these times.",
    )


@_words.register
def _defect(verdict: v.Defect, _run: RunData) -> Words:
    first = verdict.skips[0]
    hint = first.hint or ""
    return (
        f"A defect of this board's TEE: {first.reason}.",
        f"{fmt.plural(len(verdict.skips), 'case')} left out: "
        + ", ".join(skip.case for skip in verdict.skips)
        + ".",
        f"{hint[:1].upper()}{hint[1:].rstrip('.')}." if hint else None,
    )


@_words.register
def _published_key(_verdict: v.PublishedKey, _run: RunData) -> Words:
    return (
        "Anybody can sign TAs for this board.",
        "Its TEE ran our TAs, which are signed with the key that OP-TEE's sources publish.",
        "Before the board keeps secrets: build OP-TEE with a key of your own (TA_SIGN_KEY).",
    )


def _apart(case: Counted) -> str:
    """`oneshot/sha256/tee/4096 +0.12 %`: how far the TA's is from the client's."""
    deviation = case.deviation or 0.0
    return f"{case.case.case} {fmt.signed(deviation)}"


@_words.register
def _two_clocks(verdict: v.TwoClocks, _run: RunData) -> Words:
    bound = fmt.percent(TOLERANCE, 1)
    judged = len(verdict.agree) + len(verdict.apart) + len(verdict.undecided)
    open_ = (
        f" Undecided, with too few or too scattered samples: "
        f"{', '.join(case.case.case for case in verdict.undecided)}."
        if verdict.undecided
        else ""
    )
    if verdict.apart:
        return (
            f"The client's clock and the TA's counter differ by more than {bound} on what an "
            f"operation takes inside the TA, in {fmt.plural(len(verdict.apart), 'case')} of "
            f"{fmt.count(judged)}.",
            ", ".join(_apart(case) for case in verdict.apart) + "." + open_,
            "Don't rely on either before the reason is known: repetitions that don't cost the "
            "same (caches, a clock frequency that changes), or a counter that doesn't run as the "
            "firmware says.",
        )
    if verdict.agree:
        worst = max(verdict.agree, key=lambda case: abs(case.deviation or 0.0))
        return (
            "The TA's own counter agrees with the client's clock on what an operation takes: "
            f"{fmt.plural(len(verdict.agree), 'case')}, at most "
            f"{fmt.share(abs(worst.deviation or 0.0))} apart.",
            f"Furthest apart: {_apart(worst)}; {bound} is allowed.{open_}",
            None,
        )
    return (
        "Whether the TA's counter agrees with the client's clock on what an operation takes, to "
        f"within {bound}, is undecided.",
        open_.strip(),
        "More samples decide it.",
    )


@_words.register
def _misfits(verdict: v.Misfits, run: RunData) -> Words:
    worst, point = verdict.worst, verdict.worst.fit.worst
    one = len(verdict.bad) == 1
    return (
        f"{fmt.plural(len(verdict.bad), 'model')} of {fmt.count(verdict.of)} "
        f"{'is' if one else 'are'} more than {fmt.percent(MISFIT)} off somewhere, beyond what "
        f"scatter explains: don't calculate with {'it' if one else 'them'}.",
        f"The worst is {run.title(worst.algorithm)} by {worst.backend}, "
        f"{fmt.percent(abs(point.residual))} off at {fmt.size(int(point.x))}.",
        None,
    )


@_words.register
def _scatter(verdict: v.Scatter, _run: RunData) -> Words:
    parts, evidence = [], []
    if verdict.wide:
        worst, width = verdict.wide[0]
        one = len(verdict.wide) == 1
        parts.append(
            f"{fmt.plural(len(verdict.wide), 'median')} of {fmt.count(verdict.of)} "
            f"{'is' if one else 'are'} known to no better than {fmt.percent(v.KNOWN)} either way"
        )
        spans = f"{fmt.percent(width)} of" if width < 10 else "more than ten times"
        evidence.append(f"The interval of {worst.key} spans {spans} the median.")
    if verdict.without:
        one = len(verdict.without) == 1
        parts.append(
            f"{fmt.plural(len(verdict.without), 'median')} of {fmt.count(verdict.of)} "
            f"{'has' if one else 'have'} too few samples for an interval"
        )
        evidence.append(
            f"{verdict.without[0].key} has {fmt.plural(verdict.without[0].time.count, 'sample')}."
        )
    return (
        f"{', and '.join(parts)}.",
        " ".join(evidence),
        "More samples narrow intervals, and so does a machine that does nothing else.",
    )
