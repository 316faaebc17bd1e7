# SPDX-License-Identifier: BSD-2-Clause
"""Two runs of the same cases: which became better or worse, and which are the same.

Where times are sampled, starts are what is compared: in runs of one start nothing shows what
differs from start to start, and nothing is decided; no rank test tells two or three starts from as
many. A case is better or worse if two things agree:
the 95 % interval of the ratio of its medians leaves 1 out, and a rank test says so, corrected for
the number of cases. It is the same if the whole interval is within MARGIN of 1, else undecided. The
clock of an emulated board runs with its machine, which is busier in one run than in the next: no
number of starts shows that, and nothing is decided either (lab/bench/alarms.py).

On a deterministic board, where an instruction is a nanosecond, two runs differ by what differed in
the machine: nothing, or something that can be named. There a case is the same if its medians are
equal, or so little apart that a reason which the samples themselves bear out explains it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

from teemark.base.interval import LEVEL
from teemark.base.work import EMPTY_CALL, ONESHOT, Work
from teemark.model.models import Cost, Models, sampling_of
from teemark.model.ranks import false_discovery, least_p, mann_whitney
from teemark.model.stats import Estimate, Sampling, Z, call_times, loops_of, median
from teemark.run.reader import MeasuredCase, RunData

LIMIT = 0.001
"""How far apart two exact medians may be where a reason is given."""

KERNEL_LIMIT = 0.015
"""Likewise for the kernel's crypto: two builds of the same sources differed by up to 1.02 % there,
and by nothing elsewhere. A request takes pages, and which are at hand depends on what went before.
"""

MARGIN = 0.01
"""Cases whose whole interval is within that of the base are the same."""

ALPHA = 1 - LEVEL
"""Of the alarms, the share that may be false; without any difference, how often there is one."""

MOST = 100_000
"""More samples than that decide nothing."""

TICK_NS = 4_000_000
"""The kernel's timer tick on the virtual boards (CONFIG_HZ=250)."""

EMULATED = "an emulated board's clock shows how busy its machine was, which differs from run to run"
ONE_START = "runs of one start don't show what differs from start to start"
FEW_STARTS = "no rank test can tell so few starts apart"
SCATTERED = "the samples of every case scatter, as where calls wait for a disk"

Verdict = Literal["better", "worse", "same", "undecided"]


@dataclass(frozen=True, slots=True)
class Difference:
    """Two medians of one case (at one `repeat`), nanoseconds a call."""

    case: str
    repeat: int
    first: Estimate
    second: Estimate
    verdict: Verdict
    exact: bool = False
    reason: str | None = None
    """Why exact medians differ a little; None: identical, or nothing that would explain it."""
    have: int = 0
    """Starts of the run with fewer."""
    p: float | None = None
    """Of the rank test, corrected for all cases; None where figures are exact."""
    larger: float | None = None
    """Effect size: how probable it is that a start of the second run takes longer."""
    more: int | None = None
    """About how many starts more of each run would decide; None: no number would, or nothing tells
    how many."""
    least_p: float = 0.0
    """The smallest p that so many starts can have, not corrected; 0 where figures are exact."""

    @property
    def name(self) -> str:
        return self.case + (f" ×{self.repeat}" if self.repeat > 1 else "")  # noqa: RUF001

    @property
    def ratio(self) -> Estimate:
        return self.second / self.first

    @property
    def change(self) -> float:
        """Relative; positive where the second takes longer."""
        first = self.first.value
        return (self.second.value - first) / first if first else 0.0

    @property
    def added(self) -> float:
        """Nanoseconds (instructions) a call; negative where there are fewer."""
        return self.second.value - self.first.value

    @property
    def identical(self) -> bool:
        return self.first.value == self.second.value


@dataclass(frozen=True, slots=True)
class Comparison:
    """Of a run with the one that it is held against."""

    first: RunData
    second: RunData
    pairs: tuple[Difference, ...]
    """In the order of the first run."""
    lost: tuple[str, ...]
    """What only the first run measured."""
    new: tuple[str, ...]
    """What only the second run measured."""
    starts: int
    """Of the run that has fewer."""

    @property
    def exact(self) -> bool:
        return self.first.icount and self.second.icount

    @property
    def blind(self) -> str | None:
        """Why nothing is called better or worse, whatever the figures are: half a sentence."""
        if self.exact:
            counted = any(one.first.exact and one.second.exact for one in self.pairs)
            return None if counted or not self.pairs else SCATTERED
        if self.first.emulated or self.second.emulated:
            return EMULATED
        if len(self.too_few) < len(self.pairs):
            return None
        return ONE_START if all(one.have < 2 for one in self.pairs) else FEW_STARTS

    @property
    def sampled(self) -> tuple[Difference, ...]:
        return tuple(one for one in self.pairs if not one.exact)

    @property
    def too_few(self) -> tuple[Difference, ...]:
        """Cases of so few starts that they are never called better or worse."""
        return tuple(one for one in self.sampled if one.have < 2 or one.least_p > ALPHA)

    @property
    def worst_first(self) -> tuple[Difference, ...]:
        order: tuple[Verdict, ...] = ("worse", "undecided", "better", "same")
        return tuple(
            sorted(
                self.pairs,
                key=lambda one: (
                    order.index(one.verdict),
                    -abs(one.change) if one.verdict != "undecided" else -one.change,
                ),
            )
        )

    def of(self, verdict: Verdict) -> tuple[Difference, ...]:
        return tuple(one for one in self.pairs if one.verdict == verdict)


def obstacles(first: RunData, second: RunData) -> dict[str, str]:
    """Why the two should not be compared, with what to do instead: half a sentence each."""
    found = {}
    one, other = first.run, second.run
    kinds = ["an emulated board" if run.emulated else "hardware" for run in (first, second)]
    if kinds[0] != kinds[1]:
        found[
            f"BASE is a run of {kinds[0]} and NEW one of {kinds[1]}: an emulator's times say "
            "nothing about hardware"
        ] = "measure both on one board"
    units = ["instructions" if run.icount else "time" for run in (first, second)]
    if units[0] != units[1]:
        found[
            f"BASE is measured in {units[0]} and NEW in {units[1]}: their ratio has no meaning"
        ] = "measure both on one board"
    if one is not None and other is not None and one.plan != other.plan:
        found[
            f"BASE is a run of plan {one.plan} and NEW one of plan {other.plan}: what was measured "
            "beside a case may change it"
        ] = "measure both with one plan"
    for run in (first, second):
        if run.incomplete:
            found[f"{run.file} is truncated: {run.incomplete}"] = f"measure {run.file} again"
    return found


def compare(first: RunData, second: RunData) -> Comparison:
    """Every case of both runs, and what one of them lacks."""
    pairs = _judged([*_cases(first, second), *_hashing(first, second)])
    if first.emulated or second.emulated:
        pairs = [
            one if one.exact else replace(one, verdict="undecided", more=None) for one in pairs
        ]
    keys = [{case.case.case for case in run.sound if case.samples} for run in (first, second)]
    for run, known in zip((first, second), keys, strict=True):
        known |= {record.case for record in run.teehash}
    return Comparison(
        first,
        second,
        tuple(pairs),
        tuple(sorted(keys[0] - keys[1])),
        tuple(sorted(keys[1] - keys[0])),
        min(len(run.starts) for run in (first, second)),
    )


@dataclass(frozen=True, slots=True)
class _Pair:
    """What is known of one case before it is judged."""

    case: str
    repeat: int
    starts: tuple[Starts, Starts]
    samplings: tuple[Sampling, Sampling]
    loops: tuple[int, int]
    reason: str | None = None


def _cases(first: RunData, second: RunData) -> Iterator[_Pair]:
    resolution = first.machine.clock.resolution_ns or 0
    samplings = (sampling_of(first), sampling_of(second))
    others = {case.case.case: case for case in second.sound}
    for case in first.sound:
        other = others.get(case.case.case)
        if other is None:
            continue
        repeats = [{sample.repeat for sample in one.samples} for one in (case, other)]
        for repeat in sorted(repeats[0] & repeats[1]):
            local = first.backend(case.case.backend).local
            starts, others_starts = (
                [call_times(start, repeat) for start in one.starts] for one in (case, other)
            )
            yield _Pair(
                case.case.case,
                repeat,
                (starts, others_starts),
                samplings,
                (loops_of(case, repeat), loops_of(other, repeat)),
                _reason((case, other), repeat, resolution, local=local),
            )


def _hashing(first: RunData, second: RunData) -> Iterator[_Pair]:
    """teehash's steps. Each of its runs is a process of its own: a start."""
    exact = first.icount and second.icount
    times = [file_times(run) for run in (first, second)]
    samplings = (Sampling(first.icount), Sampling(second.icount))
    for case in times[0]:
        if case in times[1]:
            # No tick of the timer can make it shorter.
            of_both = [[min(found[case])] if exact else found[case] for found in times]
            one, other = ([[value] for value in values] for values in of_both)
            reason = "timer ticks ran within it" if exact and one != other else None
            yield _Pair(case, 1, (one, other), samplings, (1, 1), reason)


def file_times(run: RunData) -> dict[str, list[float]]:
    """By step: what each run of teehash took for its file, nanoseconds, without opening the TA's
    session."""
    found: dict[str, list[float]] = {}
    for record in run.teehash:
        files = record.report.get("files")
        file = files[0] if isinstance(files, list) and files else None
        value = file.get("total_ns") if isinstance(file, dict) else None
        if isinstance(value, int | float):
            found.setdefault(record.case, []).append(float(value))
    return found


Starts = Sequence[Sequence[float]]
"""Nanoseconds a call, by start."""


def compare_values(
    values: Mapping[str, tuple[Starts, Starts]], sampling: Sampling
) -> list[Difference]:
    """The same verdicts on bare values of two runs, by case."""
    return _judged(
        [_Pair(case, 1, starts, (sampling, sampling), (1, 1)) for case, starts in values.items()]
    )


def _judged(pairs: Sequence[_Pair]) -> list[Difference]:
    found, ps = [], []
    for pair in pairs:
        known = [
            sampling.estimate(starts, f"{pair.case} x{pair.repeat}", loops)
            for starts, sampling, loops in zip(pair.starts, pair.samplings, pair.loops, strict=True)
        ]
        # Starts of different runs share nothing.
        before, after = replace(known[0], shared=False), known[1].drawn_apart()
        one = Difference(pair.case, pair.repeat, before, after, "undecided")
        if all(sampling.exact for sampling in pair.samplings):
            found.append(_exactly(replace(one, exact=True, reason=pair.reason)))
            continue
        medians = [[median(values) for values in of_run if values] for of_run in pair.starts]
        test = mann_whitney(*medians)
        ps.append(test.p)
        least = least_p(*map(len, medians))
        found.append(
            replace(one, have=min(map(len, medians)), larger=test.larger, p=test.p, least_p=least)
        )
    corrected = iter(false_discovery(ps))
    return [one if one.exact else _sampled(one, next(corrected), len(ps)) for one in found]


def limit_of(key: str) -> float:
    """LIMIT or KERNEL_LIMIT, by the backend in a case's key."""
    return KERNEL_LIMIT if re.match(r"[^/]*/[^/]*/afalg\b", key) else LIMIT


def _exactly(one: Difference) -> Difference:
    if one.identical or (one.reason is not None and abs(one.change) <= limit_of(one.case)):
        return replace(one, verdict="same")
    if not (one.first.exact and one.second.exact):
        return replace(one, reason="its samples scatter, as where a call waits for a disk")
    return replace(one, verdict="worse" if one.added > 0 else "better")


def _sampled(one: Difference, p: float, cases: int) -> Difference:
    interval = one.ratio.interval
    verdict: Verdict = "undecided"
    if interval is not None and one.have > 1:
        if interval.low >= 1 - MARGIN and interval.high <= 1 + MARGIN:
            verdict = "same"
        elif p <= ALPHA and interval.low > 1:
            verdict = "worse"
        elif p <= ALPHA and interval.high < 1:
            verdict = "better"
    more = starts_more(one, cases) if verdict == "undecided" else None
    return replace(one, verdict=verdict, p=p, more=more)


def starts_needed(cases: int) -> int:
    """Of each run, so that a case of so many can be called better or worse if no other differs."""
    needed = 2
    while least_p(needed, needed) > ALPHA / cases:
        needed += 1
    return needed


def starts_more(one: Difference, cases: int) -> int | None:
    """How many more starts of each run would decide a case of so many; None: no number would, or
    nothing tells. The interval's width falls with the square root of the number of starts; the test
    is taken at the level that it needs if no other case differs."""
    interval, have = one.ratio.interval, one.have
    least = starts_needed(cases)
    if have < 2:
        return least - have
    if interval is None:
        return None
    off = abs(one.ratio.value - 1)
    wider = NormalDist().inv_cdf(1 - ALPHA / cases / 2) / Z
    half = interval.width / 2
    needed = [max(have * (half * wider / off) ** 2, least)] if off > 0 else []
    if off < MARGIN:
        needed.append(have * (half / (MARGIN - off)) ** 2)
    best = min(needed)
    return max(math.ceil(best) - have, 1) if best < MOST else None


def _reason(
    cases: Sequence[MeasuredCase], repeat: int, resolution: int, *, local: bool
) -> str | None:
    samples = [[s for s in case.samples if s.repeat == repeat] for case in cases]
    calls = [median(s.ns / s.loops for s in of_run) for of_run in samples]
    whole = [median(s.ns for s in of_run) for of_run in samples]
    loops = {s.loops for of_run in samples for s in of_run}
    if calls[0] == calls[1]:
        return None
    if len(loops) > 1:
        return f"samples of {' and '.join(map(str, sorted(loops)))} calls"
    if abs(whole[1] - whole[0]) <= resolution:
        return f"the clock resolves {resolution} ns"
    if max(whole) >= TICK_NS:
        return "timer ticks and the kernel's threads ran within the sample"
    if not local:
        return "the way through kernel and TEE depends on what went before"
    return None


@dataclass(frozen=True, slots=True)
class Limit:
    """How much worse is too much: a share of the base, or so many instructions a call."""

    share: float | None = None
    instructions: float | None = None

    def broken(self, one: Difference) -> bool:
        if one.verdict != "worse":
            return False
        if self.share is not None and one.change >= self.share:
            return True
        return self.instructions is not None and one.added >= self.instructions

    def __str__(self) -> str:
        if self.share is not None:
            return f"{100 * self.share:g} %"
        return f"{self.instructions:g} instructions"


# -- why ---------------------------------------------------------------------------------------

Term = Literal["call", "byte"]

PART = 0.1
"""A term that makes less of the change than this, where it makes most, isn't named."""


@dataclass(frozen=True, slots=True)
class TermChange:
    """What a term of a fit cost in both runs; `byte` is of a long message."""

    term: Term
    first: Estimate
    second: Estimate

    @property
    def added(self) -> Estimate:
        return self.second - self.first

    def of(self, size: int) -> float:
        """What it makes of a call with so many bytes."""
        return self.added.value * (size if self.term == "byte" else 1)

    @property
    def sure(self) -> bool:
        interval = self.added.interval
        return interval is not None and 0 not in interval


@dataclass(frozen=True, slots=True)
class Explanation:
    """Of all sizes of a workload, algorithm and backend: which term changed, and which didn't."""

    workload: str
    algorithm: str
    backend: str
    changed: tuple[TermChange, ...]
    unchanged: tuple[Term, ...]
    like_empty_call: bool = False
    """The call's change is that of an empty call, to a tenth."""

    @property
    def name(self) -> str:
        return "/".join((self.workload, self.algorithm, self.backend))


def explain(found: Comparison, first: Models, second: Models) -> tuple[Explanation, ...]:
    """Of every fit of both runs that has a case which became better or worse."""
    moved = {one.case for one in found.pairs if one.verdict in ("better", "worse")}
    empty = next((one for one in found.pairs if one.case == EMPTY_CALL), None)
    said = []
    for cost in first.costs:
        other = second.cost(cost.algorithm, cost.backend, cost.workload)
        if other is None or not any(cost.covers(Work.of(case)) for case in moved):
            continue
        one = _explained(found, cost, other)
        call = next((change for change in one.changed if change.term == "call"), None)
        if call is not None and empty is not None and empty.verdict in ("better", "worse"):
            like = abs(call.added.value - empty.added) <= PART * abs(empty.added)
            one = replace(one, like_empty_call=like and cost.workload == ONESHOT.name)
        if one.changed:
            said.append(one)
    return tuple(said)


def _explained(found: Comparison, cost: Cost, other: Cost) -> Explanation:
    added = [  # bytes, what a call takes more, and how much of that matters
        (case.size or 0, one.added, max(abs(one.added), LIMIT * one.first.value))
        for one in found.pairs
        if one.repeat == 1 and cost.covers(case := Work.of(one.case))
    ]
    terms: tuple[tuple[Term, Estimate, Estimate], ...] = (
        ("call", cost.call, other.call),
        ("byte", cost.byte, other.byte),
    )
    changed = [
        change
        for term, before, after in terms
        if (change := TermChange(term, before, after.drawn_apart())).sure
        if any(abs(change.of(size)) >= PART * scale for size, _, scale in added if scale)
    ]
    for change in changed:
        if all(abs(more - change.of(size)) < PART * scale for size, more, scale in added):
            changed = [change]  # It explains all: fits of two runs differ by a little, too.
            break
    unchanged = tuple(term for term, *_ in terms if term not in [one.term for one in changed])
    return Explanation(cost.workload, cost.algorithm, cost.backend, tuple(changed), unchanged)
