# SPDX-License-Identifier: BSD-2-Clause
"""The one judge of two runs of the same cases. `compare`, `gate` and `history` all ask it.

Where times are sampled, starts are compared. The interval of a ratio is Student's, over the
logarithms of the starts' medians, so wide that all cases together hold with 1 - ALPHA (Bonferroni).
A case is worse or better if that interval leaves 1 out, the same if it lies within MARGIN of 1,
else undecided. The clock of an emulated board shows how busy its machine is: it decides nothing.

Where instructions are counted, two boots of one build differ by very little: `slack`. What differs
by more is better or worse; what differs by less, but in one direction in all calls of a kind, is
found by a sign test over the cases (`shifted`)."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, geometric_mean, median, variance
from typing import Any, Literal

from teemark.base.interval import Interval
from teemark.base.work import Work
from teemark.model.forms import AFALG
from teemark.model.models import in_tee
from teemark.model.power import ALPHA, FEWEST, student, student_p, visible
from teemark.model.stats import (
    Estimate,
    call_times,
    exactly,
    loops_of,
    quartiles,
    repeats_of,
    resolution_of,
    steady,
)
from teemark.run.reader import MeasuredCase, RunData

BOOTS = 0.0002  # Relative difference of two boots of one build, besides the step of the clock
LIMIT = 0.001  # Likewise where the timer ticks within a sample
WAITS = 4000.0
"""Instructions besides, of a step of teehash: it waits for its file, the longer the busier the host
is, and takes so many more then (2,304 were seen)."""

KERNEL_LIMIT = 0.015
"""Likewise for the kernel's crypto: two builds of the same sources differed by up to 1.02 % there,
and by nothing elsewhere. A request takes pages, and which are at hand depends on what went before.
"""

TICK_NS = 4_000_000  # The kernel's timer tick on the virtual boards (CONFIG_HZ=250)
MARGIN = 0.01  # A sampled case is the same if its whole interval is within this share of 1
SIGNS = 1e-4  # A shift is taken for real if its cases' signs are that improbable by chance

EMULATED = "an emulated board's clock shows how busy its machine was, which differs from run to run"
ONE_START = "runs of one start don't show what differs from start to start"
FEW_STARTS = f"fewer than {FEWEST} starts don't show how far starts may lie apart"
SCATTERED = "the samples of every case scatter, as where calls wait for a disk"

Verdict = Literal["better", "worse", "same", "undecided"]
GRAVEST_FIRST: tuple[Verdict, ...] = ("worse", "better", "undecided", "same")
World = Literal["tee", "kernel", "program"]
Family = tuple[str, str, str]  # Workload, algorithm and backend

Starts = Sequence[Sequence[float]]  # Values a call (nanoseconds or instructions), by start


@dataclass(frozen=True, slots=True)
class Difference:
    """One case in two runs, at one number of operations in a call; nanoseconds or instructions."""

    case: str
    repeat: int
    first: Estimate
    second: Estimate
    verdict: Verdict
    exact: bool = False
    reason: str | None = None  # Why nothing is decided of a case that scatters where others count
    interval: Interval | None = None  # Ratio of second to first; holds for all cases together
    p: float | None = None  # Of Student's test, corrected for all cases; None of exact figures
    have: int = 0  # Starts of the run with fewer
    visible: float = math.inf  # Smallest relative change called worse in POWER of such pairs
    scatter: float = 0.0  # Relative standard deviation from start to start
    work: Work | None = None  # What the case does; None for a step of teehash
    size: int | None = None  # Bytes that a call works on, all its operations together
    world: World | None = None
    step: float = 0.0  # What one step of the clock makes of a call
    shift: float | None = None  # The common shift that this case is part of

    @property
    def name(self) -> str:
        return self.case + (f" ×{self.repeat}" if self.repeat > 1 else "")  # noqa: RUF001

    @property
    def family(self) -> Family:
        work = self.work
        return (work.workload, work.algorithm, work.backend) if work else (self.case, "", "")

    @property
    def ratio(self) -> float | None:
        return self.second.value / self.first.value if self.first.value else None

    @property
    def change(self) -> float:
        """Returns the relative change; positive where the second takes longer."""
        first = self.first.value
        return (self.second.value - first) / first if first else 0.0

    @property
    def added(self) -> float:
        """Returns nanoseconds or instructions a call; negative where there are fewer."""
        return self.second.value - self.first.value

    @property
    def moved(self) -> bool:
        return self.verdict in ("better", "worse")


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run beside the one that it is held against."""

    first: RunData
    second: RunData
    pairs: tuple[Difference, ...]  # In the order of the first run
    lost: tuple[str, ...]  # Cases that only the first run has
    new: tuple[str, ...]  # Cases that only the second run has

    @property
    def exact(self) -> bool:
        return self.first.icount and self.second.icount

    @property
    def starts(self) -> int:
        """Starts of the run that has fewer."""
        return min(len(run.starts) for run in (self.first, self.second))

    @property
    def blind(self) -> str | None:
        """Returns half a sentence that says why nothing is called better or worse; None if
        something may be."""
        if self.exact:
            counted = any(one.first.exact and one.second.exact for one in self.pairs)
            return None if counted or not self.pairs else SCATTERED
        if self.first.emulated or self.second.emulated:
            return EMULATED
        if len(self.too_few) < len(self.pairs):
            return None
        return ONE_START if all(one.have < 2 for one in self.pairs) else FEW_STARTS

    @property
    def too_few(self) -> tuple[Difference, ...]:
        """Returns the sampled cases of so few starts that they are never called better or worse."""
        return tuple(one for one in self.pairs if not one.exact and one.have < FEWEST)

    @property
    def worst_first(self) -> tuple[Difference, ...]:
        key = {verdict: place for place, verdict in enumerate(GRAVEST_FIRST)}
        return tuple(sorted(self.pairs, key=lambda one: (key[one.verdict], -abs(one.change))))

    def verdicts(self) -> dict[str, Verdict]:
        """Returns the verdict on each case: the gravest of its numbers of operations in a call."""
        return {one.case: one.verdict for one in reversed(self.worst_first)}

    def of(self, verdict: Verdict) -> tuple[str, ...]:
        """Returns the cases with that verdict."""
        return tuple(case for case, said in self.verdicts().items() if said == verdict)

    @property
    def visible(self) -> tuple[float, ...]:
        """Returns the smallest change that would have been seen in each case that is judged,
        ordered."""
        return tuple(sorted(one.visible for one in self.pairs if math.isfinite(one.visible)))


def obstacles(first: RunData, second: RunData) -> dict[str, str]:
    """Returns the reasons not to compare the two runs, each with what to do instead."""
    places, units, plans = (
        tuple(tell(run) for run in (first, second))
        for tell in (
            lambda run: "an emulated board" if run.emulated else "hardware",
            lambda run: "instructions" if run.icount else "time",
            lambda run: run.plan if first.run and second.run else None,
        )
    )
    differ = (
        (places, "a run of {}", "one of {}: an emulator's times say nothing about hardware"),
        (units, "measured in {}", "in {}: their ratio has no meaning"),
        (
            plans,
            "a run of plan {}",
            "one of plan {}: what was measured beside a case may change it",
        ),
    )
    found = {
        f"BASE is {base.format(told[0])} and NEW {new.format(told[1])}": "measure both "
        + ("with one plan" if told is plans else "on one board")
        for told, base, new in differ
        if told[0] != told[1]
    }
    for run in (first, second):
        if run.incomplete:
            found[f"{run.file} is truncated: {run.incomplete}"] = f"measure {run.file} again"
    return found


def other_machines(first: RunData, second: RunData) -> list[str]:
    """Returns what else differs between two runs, besides their commits: builds and versions,
    settings of teebench, the board, the user's labels; "NAME: BASE → NEW" each."""
    before, after = _described(first), _described(second)
    return [
        f"{name}: {before.get(name) or 'none'} → {after.get(name) or 'none'}"
        for name in dict.fromkeys((*before, *after))
        if before.get(name) != after.get(name)
    ]


def _described(run: RunData) -> dict[str, str]:
    machine = run.machine
    options = machine.settings
    values = {
        "board": run.name,
        "plan": run.plan or None,
        "CPU": ", ".join(machine.cpu.models or ()) or None,
        "OP-TEE": machine.tee.revision,
        "kernel": machine.kernel.release,
        "libcrypto": machine.crypto.libcrypto,
        "teebench": machine.teebench,
        "built for": machine.built_for,
        "samples": options.samples,
        "shortest sample (µs)": options.min_us,
        "counter of the TA": options.ta_counter,
        **{f"label {key}": value for key, value in run.labels.items()},
    }
    return {name: str(value) for name, value in values.items() if value is not None}


def compare(first: RunData, second: RunData) -> Comparison:
    """Judges every case of both runs, and names those that one of them lacks."""
    raw = [*_cases(first, second), *_hashing(first, second)]
    if first.icount and second.icount:
        pairs = shifted([_counted(one) for one in raw])
    else:
        pairs = _sampled(raw)
    if first.emulated or second.emulated:
        pairs = [one if one.exact else replace(one, verdict="undecided") for one in pairs]
    before, after = first.measured, second.measured
    lost = tuple(key for key in before if key not in after)
    new = tuple(key for key in after if key not in before)
    return Comparison(first, second, tuple(pairs), lost, new)


# -- what is judged ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Pair:
    """A case of both runs before it is judged."""

    one: Difference  # Without a verdict
    medians: tuple[Sequence[float], Sequence[float]]  # Of each start of both runs
    starts: tuple[Starts, Starts]
    loops: int = 1  # Calls in the longest sample of the run with the shorter ones
    resolution: float = 0.0  # A step of the clock, nanoseconds
    steady: bool = True

    @property
    def grain(self) -> float:
        """Returns a step of the clock as a share of the case."""
        figure = min(map(min, self.medians))
        return self.resolution / self.loops / figure if figure > 0 else 0.0

    @property
    def tested(self) -> bool:
        """Tells whether both runs have two starts of a cost, no distribution, and no time is 0."""
        if self.one.work is not None and self.one.work.distribution:
            return False
        return self.one.have > 1 and min(map(min, self.medians)) > 0


def _pair(one: Difference, starts: tuple[Starts, Starts], *how: Any) -> _Pair:
    """Returns the pair with the geometric means of the starts' medians, if they are positive."""
    before, after = ([median(values) for values in run if values] for run in starts)
    first, second = (
        Estimate(geometric_mean(values) if min(values) > 0 else fmean(values))
        for values in (before, after)
    )
    have = min(len(before), len(after))
    return _Pair(replace(one, first=first, second=second, have=have), (before, after), starts, *how)


_UNKNOWN = Estimate(math.nan)


def difference_of(run: RunData, key: str, repeat: int = 1) -> Difference:
    """Returns a case of `run` as a difference without figures and verdict."""
    case = run.cases.get(key)
    made = Difference(key, repeat, _UNKNOWN, _UNKNOWN, "undecided")
    if case is None:  # a step of teehash
        return made
    size = None if case.case.bytes is None else case.case.bytes * repeat
    return replace(made, work=case.work, size=size, world=_world(run, case))


def _world(run: RunData, case: MeasuredCase) -> World:
    """Returns where the calls of a case go; "program" is nowhere out of the program."""
    if in_tee(run, case):
        return "tee"
    return "program" if run.backend(case.case.backend).local else "kernel"


def _cases(first: RunData, second: RunData) -> Iterator[_Pair]:
    step = max(resolution_of(first), resolution_of(second))
    others = {case.key: case for case in second.sound}
    for case in first.sound:
        other = others.get(case.key)
        if other is None:
            continue
        for repeat in sorted({*repeats_of(case)} & {*repeats_of(other)}):
            before, after = (
                [call_times(start, repeat) for start in one.starts] for one in (case, other)
            )
            loops = min(loops_of(case, repeat), loops_of(other, repeat))
            counts = steady(case, repeat) and steady(other, repeat)
            one = difference_of(first, case.key, repeat)
            yield _pair(one, (before, after), loops, step, counts)


def _hashing(first: RunData, second: RunData) -> Iterator[_Pair]:
    """Yields teehash's steps. Each of its runs is a process of its own: a start."""
    before, after = file_times(first), file_times(second)
    for case in before:
        if case in after:
            starts = [[value] for value in before[case]], [[value] for value in after[case]]
            yield _pair(difference_of(first, case), starts)


def file_times(run: RunData) -> dict[str, list[float]]:
    """Returns what each run of teehash took for its file, by step: nanoseconds, without opening the
    TA's session."""
    found: dict[str, list[float]] = {}
    for record in run.teehash:
        files = record.report.get("files")
        file = files[0] if isinstance(files, list) and files else None
        value = file.get("total_ns") if isinstance(file, dict) else None
        if isinstance(value, int | float):
            found.setdefault(record.case, []).append(float(value))
    return found


# -- where instructions are counted --------------------------------------------------------------


def least(starts: Starts) -> float:
    """Returns the smallest of the starts' medians: one boot of about forty takes more than the
    others."""
    return min(median(values) for values in starts if values)


def scatter(starts: Starts) -> float:
    """Returns how far `least` may be off because samples of that start differ: as far as the middle
    half of them lies apart, over four standard deviations of the difference of two such medians."""
    values = min((values for values in starts if values), key=median)
    low, _, high = quartiles(values)
    return float(high - low)


def slack(
    work: Work | None, figure: float, loops: int, resolution: float, *runs: Starts
) -> tuple[float, float]:
    """Returns how many instructions two boots of one build may differ in a call that takes `figure`
    of them, in samples of `loops` calls that scatter as those of `runs`; and what a step of the
    clock makes of a call: infinite where pages at hand or timer ticks hide it. A step of teehash
    has no work."""
    apart = sum(map(scatter, runs))
    if work is not None and work.by == AFALG:
        return KERNEL_LIMIT * figure + apart, math.inf
    if work is None:
        return LIMIT * figure + WAITS + apart, math.inf
    if loops * figure >= TICK_NS:
        return LIMIT * figure + apart, math.inf
    return resolution / loops + BOOTS * figure + apart, resolution / loops


def _counted(pair: _Pair) -> Difference:
    if not pair.steady:
        before, after = (
            Estimate(median(v for one in starts for v in one)) for starts in pair.starts
        )
        return judged(replace(pair.one, first=before, second=after), 0.0, math.inf)
    before, after = (exactly(min(medians)) for medians in pair.medians)
    allowed = slack(pair.one.work, before.value, pair.loops, pair.resolution, *pair.starts)
    return judged(replace(pair.one, first=before, second=after), *allowed)


def judged(one: Difference, allowed: float, step: float) -> Difference:
    """Returns the difference with its verdict; its counted figures may differ by `allowed`."""
    if not (one.first.exact and one.second.exact):
        why = "its samples scatter, as where a call waits for a disk, or each makes another key"
        return replace(one, exact=True, verdict="undecided", reason=why)
    verdict: Verdict = "same"
    if abs(one.added) > allowed:
        verdict = "worse" if one.added > 0 else "better"
    visible = allowed / one.first.value if one.first.value else math.inf
    return replace(one, exact=True, verdict=verdict, visible=visible, step=step)


def shifted(pairs: Sequence[Difference]) -> list[Difference]:
    """Returns the pairs with the verdicts of common shifts: a case that moved with most calls into
    the TEE (or in the program) is worse or better, however little it moved."""
    found = list(pairs)
    for world in ("tee", "program"):
        counted = [one for one in pairs if one.world == world and one.exact and one.second.exact]
        shift = common_shift([one for one in counted if math.isfinite(one.step)])
        if shift is not None:
            verdict: Verdict = "worse" if shift > 0 else "better"
            found = [
                replace(one, verdict=verdict, shift=shift)
                if one.world == world and one.second.exact and moves_with(one, shift)
                else one
                for one in found
            ]
    return found


def moves_with(one: Difference, shift: float) -> bool:
    step = one.step if math.isfinite(one.step) else 0.0
    return one.added * shift > 0 and abs(one.added - shift) <= max(abs(shift) / 4, step)


def common_shift(members: Sequence[Difference]) -> float | None:
    """Returns the instructions a call that most members have more (or fewer, if negative); None
    without."""
    signs = [one.added > 0 for one in members if one.added]
    if not signs or sign_p(sum(signs), len(signs)) > SIGNS:
        return None
    shift = median(one.added for one in members)
    boots = min(min(BOOTS * one.first.value, one.step) for one in members)
    most = sum(moves_with(one, shift) for one in members) > len(members) / 2
    return shift if most and abs(shift) > boots else None


def sign_p(ups: int, count: int) -> float:
    """Returns the two-sided p-value of so many of `count` signs being up, where either is as
    likely."""
    tail = min(ups, count - ups)
    return min(1.0, 2 * math.fsum(math.comb(count, k) / 2**count for k in range(tail + 1)))


# -- where times are sampled ---------------------------------------------------------------------


def _sampled(pairs: Sequence[_Pair]) -> list[Difference]:
    tests = sum(pair.tested for pair in pairs)
    return [_tested(pair, tests) if pair.tested else pair.one for pair in pairs]


def _tested(pair: _Pair, tests: int) -> Difference:
    """Returns the difference with its verdict, by Welch's form of Student's test. Starts that a
    coarse clock shows as equal scatter by as much as it hides."""
    one, logs = pair.one, [[math.log(value) for value in values] for values in pair.medians]
    before, after = map(len, logs)
    parts = [variance(values) + pair.grain**2 / 12 for values in logs]
    each = parts[0] / before, parts[1] / after
    error = math.sqrt(sum(each))
    off = fmean(logs[1]) - fmean(logs[0])
    if error == 0:  # starts without any scatter, by a clock of unknown steps
        verdict: Verdict = "same" if abs(off) <= math.log1p(MARGIN) else "undecided"
        ratio = math.exp(off)
        return replace(one, verdict=verdict, interval=Interval(ratio, ratio, 1 - ALPHA))
    freedom = sum(each) ** 2 / (each[0] ** 2 / (before - 1) + each[1] ** 2 / (after - 1))
    freedom = max(int(freedom), 1)
    reach = student(ALPHA / tests, freedom) * error
    low, high = (math.exp(min(end, 500)) for end in (off - reach, off + reach))
    enough = one.have >= FEWEST
    verdict = "undecided"
    if low >= 1 - MARGIN and high <= 1 + MARGIN:
        verdict = "same"
    elif enough and (low > 1 or high < 1):
        verdict = "worse" if low > 1 else "better"
    return replace(
        one,
        verdict=verdict,
        interval=Interval(low, high, 1 - ALPHA),
        p=min(1.0, tests * student_p(abs(off) / error, freedom)),
        visible=visible(error, (before, after), tests) if enough else math.inf,
        scatter=math.sqrt(sum(parts) / 2),
    )


# -- how much worse is too much ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Limit:
    """How much worse is too much: a share of the base, or so many instructions a call."""

    share: float | None = None
    instructions: float | None = None

    def broken(self, one: Difference) -> bool:
        """Tells whether a case, with all of its interval, is worse by the limit or more."""
        if one.verdict != "worse":
            return False
        if self.instructions is not None:
            return one.added >= self.instructions
        change = one.change if one.interval is None else one.interval.low - 1
        return self.share is not None and change >= self.share

    def possible(self, one: Difference) -> bool:
        """Tells whether a case that doesn't break the limit may be worse by as much."""
        reach = one.interval is not None and one.interval.high - 1 >= (self.share or 0.0)
        return not self.broken(one) and (reach or (one.interval is None and not one.exact))

    def __str__(self) -> str:
        if self.share is not None:
            return f"{100 * self.share:g} %"
        return f"{self.instructions:g} instructions"
