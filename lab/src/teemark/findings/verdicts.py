# SPDX-License-Identifier: BSD-2-Clause
"""Verdicts: what a run shows, decided on intervals. Pure functions; their words are the report's.

To add one: a dataclass with what it stands on, a function `(run, models) -> Verdict | None`, a line
in VERDICTS, its sentence in report/verdicts.py, and a test on both sides of its threshold. None
means that the run gives no ground for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from teemark.base.work import EMPTY_CALL, HARNESS, ONESHOT, SAME_CODE, SESSION, SHM, STORAGE, TEE
from teemark.model.counter import Counted
from teemark.model.decide import Answer, Side, Sides, above, more, sides, within
from teemark.model.models import Cost, Models
from teemark.model.stats import CaseStats, Estimate
from teemark.run.reader import RunData
from teemark.run.records import Skip

SAME = 1.05
"""Two rates are the same when their ratio is within this either way, with all of its interval."""

KNOWN = 0.10
"""A figure that is known to no better than that either way is uncertain."""

HARNESS_SHARE = 0.01
"""What measuring itself may cost of the smallest case."""

Confidence = Literal["high", "low"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`confidence` is low where it is undecided, or stands on a figure that is known badly or on a
    fit that misses."""

    key: str
    kind: Literal["finding", "caution"] = "finding"
    confidence: Confidence = "high"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyCall(Verdict):
    stats: CaseStats


@dataclass(frozen=True, slots=True, kw_only=True)
class WayInAndOut(Verdict):
    """How many bytes take as long to compute as the way into the TEE and out again."""

    cost: Cost
    way: Estimate
    told_by: Literal["counter", "empty call"]
    even: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates(Verdict):
    """A byte by one backend against one by another."""

    one: Cost
    other: Cost
    ratio: Estimate
    side: Side  # of the one
    more: int | None  # samples that would decide; of an undecided one only


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio(Verdict):
    """One case's time over another's. Where there is a threshold to be above, `answer` says so."""

    one: CaseStats
    other: CaseStats
    ratio: Estimate
    answer: Answer = "yes"
    more: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstOpenssl(Verdict):
    small: Ratio
    large: Ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelPays(Verdict):
    algorithm: str
    sides: Sides
    pairs: tuple[tuple[int, CaseStats, CaseStats], ...]  # size, kernel, OpenSSL


@dataclass(frozen=True, slots=True, kw_only=True)
class Session(Ratio):
    warm: CaseStats | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored(Ratio):
    rpcs: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect(Verdict):
    skips: tuple[Skip, ...]


class PublishedKey(Verdict):
    """The TEE ran TAs that anybody could have signed."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoClocks(Verdict):
    agree: tuple[Counted, ...]
    apart: tuple[Counted, ...]
    undecided: tuple[Counted, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfits(Verdict):
    bad: tuple[Cost, ...]
    of: int

    @property
    def worst(self) -> Cost:
        return max(self.bad, key=lambda cost: cost.fit.misfit or 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waited(Verdict):
    """Cases of a board that counts instructions which differ too much to have been counted; the one
    that differs most comes first."""

    cases: tuple[CaseStats, ...]
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scatter(Verdict):
    """Medians that are known badly, and those that have no interval at all."""

    wide: tuple[tuple[CaseStats, float], ...]  # with the width of the interval over the median
    without: tuple[CaseStats, ...]
    of: int


def is_known(figure: Estimate) -> bool:
    """To within KNOWN either way."""
    interval = figure.interval
    return interval is not None and interval.width <= 2 * KNOWN * abs(figure.value)


def sure(*figures: Estimate | Cost | CaseStats) -> Confidence:
    """High if every figure is known, and so are the rates of costs, whose fits miss nothing."""
    for one in figures:
        if isinstance(one, Cost):
            if not one.fit.fits or not is_known(one.byte):
                return "low"
        elif not is_known(one.estimate if isinstance(one, CaseStats) else one):
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


def _pair(models: Models, one: str, other: str) -> tuple[Cost, Cost] | None:
    algorithm = main_algorithm(models, one, other)
    if algorithm is None:
        return None
    first, second = models.cost(algorithm, one), models.cost(algorithm, other)
    if first is None or second is None or first.ns_per_byte <= 0 or second.ns_per_byte <= 0:
        return None
    return first, second


def _ratio_of(
    one: CaseStats, other: CaseStats, threshold: float
) -> tuple[Estimate, Answer, int | None] | None:
    """How many times as long, whether more often than the threshold, and what would tell; None
    without a divisor."""
    if other.time.median <= 0:
        return None
    ratio = one.estimate / other.estimate
    return (
        ratio,
        above(ratio, threshold),
        more(ratio, (threshold,), min(one.time.count, other.time.count)),
    )


def empty_call(_run: RunData, models: Models) -> Verdict | None:
    stats = models.case(EMPTY_CALL)
    if stats is None:
        return None
    return EmptyCall(key="empty-call", confidence=sure(stats), stats=stats)


def way_in_and_out(_run: RunData, models: Models) -> Verdict | None:
    """By the TA's counter where there is one, else by an empty call; an intercept would have in it
    what each message costs inside."""
    algorithm = main_algorithm(models, "tee")
    cost = models.cost(algorithm, "tee") if algorithm else None
    empty = models.case(EMPTY_CALL)
    if cost is None or cost.ns_per_byte <= 0:
        return None
    way = cost.way.terms["call"] if cost.way else empty.estimate if empty else None
    if way is None or way.value <= 0:
        return None
    even = way / cost.byte
    return WayInAndOut(
        key="call-outweighs-compute",
        confidence=sure(cost, way, even),
        cost=cost,
        way=way,
        told_by="counter" if cost.way else "empty call",
        even=even,
    )


def _rates(key: str, models: Models, one: str, other: str) -> Verdict | None:
    pair = _pair(models, one, other)
    if pair is None:
        return None
    first, second = pair
    ratio = first.byte / second.byte
    side: Side = "undecided"
    if within(ratio, 1 / SAME, SAME) == "yes":
        side = "same"
    elif above(ratio, SAME) == "yes":
        side = "slower"
    elif above(ratio, 1 / SAME) == "no":
        side = "faster"
    return Rates(
        key=key,
        confidence="low" if side == "undecided" else sure(first, second, ratio),
        one=first,
        other=second,
        ratio=ratio,
        side=side,
        more=more(ratio, (1 / SAME, SAME), min(first.samples, second.samples)),
    )


def same_code(_run: RunData, models: Models) -> Verdict | None:
    return _rates(SAME_CODE.name, models, "ta-c", "c")


def extensions(_run: RunData, models: Models) -> Verdict | None:
    return _rates("extensions", models, "tee", "ta-ce")


def _by_size(models: Models, algorithm: str, backend: str) -> dict[int, CaseStats]:
    return {
        one.bytes: one
        for one in models.stats
        if (one.workload, one.algorithm, one.backend) == (ONESHOT.name, algorithm, backend)
        and one.bytes is not None
    }


def normal_world(_run: RunData, models: Models) -> Verdict | None:
    pair = _pair(models, "tee", "openssl")
    if pair is None:
        return None
    tee, ssl = (_by_size(models, cost.algorithm, cost.backend) for cost in pair)
    sizes = sorted(size for size in tee.keys() & ssl.keys() if size > 0)
    ratios = []
    for size in sizes[:1] + sizes[-1:]:
        found = _ratio_of(tee[size], ssl[size], 1.0)
        if found is None:
            return None
        ratios.append(
            Ratio(key="", one=tee[size], other=ssl[size], ratio=found[0], answer=found[1])
        )
    if not ratios:
        return None
    return AgainstOpenssl(
        key="tee-against-openssl",
        confidence=sure(*(one.ratio for one in ratios)),
        small=ratios[0],
        large=ratios[-1],
    )


def kernel_pays_off(_run: RunData, models: Models) -> Verdict | None:
    pair = _pair(models, "afalg", "openssl")
    if pair is None:
        return None
    kernel, ssl = (_by_size(models, cost.algorithm, cost.backend) for cost in pair)
    sizes = sorted(size for size in kernel.keys() & ssl.keys() if size > 0)
    found = sides(
        [(size, kernel[size].estimate) for size in sizes],
        [(size, ssl[size].estimate) for size in sizes],
    )
    return KernelPays(
        key="kernel-pays-off",
        confidence="high" if found.sizes("faster", "slower", "same") else "low",
        algorithm=pair[0].algorithm,
        sides=found,
        pairs=tuple((size, kernel[size], ssl[size]) for size in sizes),
    )


def session_kept(_run: RunData, models: Models) -> Verdict | None:
    first, again = models.case(SESSION.key("first-open")), models.case(EMPTY_CALL)
    found = _ratio_of(first, again, SAME) if first and again else None
    if first is None or again is None or found is None or found[1] == "no":
        return None
    ratio, answer, needed = found
    return Session(
        key="keep-the-session",
        confidence=sure(ratio) if answer == "yes" else "low",
        one=first,
        other=again,
        ratio=ratio,
        answer=answer,
        more=needed,
        warm=models.case("session/open/tee/none"),
    )


def shared_buffers(_run: RunData, models: Models) -> Verdict | None:
    pairs = [
        (temporary, allocated)
        for temporary in models.stats
        if (temporary.work.row, temporary.algorithm) == (SHM, "temporary")
        and (allocated := models.case(SHM.key("allocated", TEE, temporary.parameters)))
    ]
    if not pairs:
        return None
    temporary, allocated = max(pairs, key=lambda pair: pair[0].bytes or 0)
    found = _ratio_of(temporary, allocated, SAME)
    if found is None or found[1] == "no":
        return None
    ratio, answer, needed = found
    return Ratio(
        key="shared-buffers",
        confidence=sure(ratio) if answer == "yes" else "low",
        one=temporary,
        other=allocated,
        ratio=ratio,
        answer=answer,
        more=needed,
    )


def stored_objects(run: RunData, models: Models) -> Verdict | None:
    for stored in models.stats:
        if not stored.key.startswith("storage/create/tee-ree-fs/"):
            continue
        plain = models.case(STORAGE.key("create", "file-fsync", stored.parameters))
        found = _ratio_of(stored, plain, 1.0) if plain else None
        if plain is not None and found is not None:
            ratio, answer, needed = found
            return Stored(
                key="stored-objects",
                confidence=sure(ratio) if answer != "undecided" else "low",
                one=stored,
                other=plain,
                ratio=ratio,
                answer=answer,
                more=needed,
                rpcs=run.cases[stored.key].case.rpcs_per_call,
            )
    return None


def tee_defects(run: RunData, _models: Models) -> Verdict | None:
    found = tuple(skip for skip in run.skips if skip.code == "tee-defect")
    return Defect(key="tee-defect", kind="caution", skips=found) if found else None


def harness(_run: RunData, models: Models) -> Verdict | None:
    own = models.case(HARNESS)
    others = [stats for stats in models.stats if stats.key != HARNESS and stats.time.median > 0]
    if own is None or not others:
        return None
    smallest = min(others, key=lambda stats: stats.time.median)
    found = _ratio_of(own, smallest, HARNESS_SHARE)
    if found is None:
        return None
    ratio, answer, needed = found
    return Ratio(
        key="harness",
        kind="caution" if answer == "yes" else "finding",
        confidence="low" if answer == "undecided" else "high",
        one=own,
        other=smallest,
        ratio=ratio,
        answer=answer,
        more=needed,
    )


def two_clocks(_run: RunData, models: Models) -> Verdict | None:
    """The slope over repetitions by the client's clock, and by the counter in the TA."""
    agree, apart, undecided = (
        tuple(case for case in models.counted if case.judgement == judgement)
        for judgement in ("agree", "disagree", "undecided")
    )
    if not (agree or apart or undecided):
        return None
    return TwoClocks(
        key="ta-counter-disagrees"
        if apart
        else "ta-counter-agrees"
        if agree
        else "ta-counter-undecided",
        kind="caution" if apart else "finding",
        confidence="high" if apart or agree else "low",
        agree=agree,
        apart=apart,
        undecided=undecided,
    )


def misfits(_run: RunData, models: Models) -> Verdict | None:
    bad = tuple(cost for cost in models.costs if not cost.fit.fits)
    return Misfits(key="misfit", kind="caution", bad=bad, of=len(models.costs)) if bad else None


def scatter(_run: RunData, models: Models) -> Verdict | None:
    wide = []
    without = []
    for stats in models.stats:
        interval = stats.time.interval
        if interval is None:
            without.append(stats)
        elif not is_known(stats.estimate):
            share = interval.width / stats.time.median if stats.time.median > 0 else float("inf")
            wide.append((stats, share))
    if not wide and not without:
        return None
    wide.sort(key=lambda pair: -pair[1])
    return Scatter(
        key="scatter",
        kind="caution",
        wide=tuple(wide),
        without=tuple(without),
        of=len(models.stats),
    )


def waited(run: RunData, models: Models) -> Verdict | None:
    if not run.icount:
        return None
    found = [stats for stats in models.stats if not stats.estimate.exact]
    found.sort(key=lambda stats: -stats.time.max / max(stats.time.min, 1.0))
    if not found:
        return None
    return Waited(key="waited", kind="caution", cases=tuple(found), of=len(models.stats))


def published_key(run: RunData, _models: Models) -> Verdict | None:
    """Of a board that is emulated it says nothing: nobody keeps a secret in it."""
    if run.run is None or not run.run.tas_signed_with_published_key or run.run.emulated:
        return None
    if not any(run.backend(measured.case.backend).secure for measured in run.sound):
        return None
    return PublishedKey(key="published-key", kind="caution")


VERDICTS: tuple[Callable[[RunData, Models], Verdict | None], ...] = (
    empty_call,
    way_in_and_out,
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
    misfits,
    waited,
    scatter,
)


def judge(run: RunData, models: Models) -> tuple[Verdict, ...]:
    """All verdicts that the run gives ground for, in the order of the list."""
    return tuple(verdict for function in VERDICTS if (verdict := function(run, models)))
