# SPDX-License-Identifier: BSD-2-Clause
"""Judges two runs of the same cases, for `compare`, `gate` and `history`.

Sampled times: the starts are compared. The interval of a ratio is Student's, over the logarithms of
the starts' medians, so wide that all cases together hold with probability 1 - ALPHA (Bonferroni). A
case is worse or better if the interval excludes 1, the same if it lies within MARGIN of 1, else
undecided. An emulated board's clock shows how busy its host is, so it decides nothing.

Counted instructions: two boots of one build differ by at most `slack`. A larger difference is
better or worse. Smaller differences that have the same sign in all calls of a kind are found by a
sign test over the cases (`shifted`)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, starmap
from statistics import fmean, geometric_mean, median, variance
from typing import Literal

from teemark.base.work import Work
from teemark.model.forms import AFALG
from teemark.model.models import in_tee
from teemark.model.power import ALPHA, FEWEST, student, student_p, visible
from teemark.model.stats import Estimate, centre, exactly, quartiles, steady
from teemark.run.reader import RunData
from teemark.wording.interval import LEVEL, Interval

BOOTS = 0.0002  # Relative difference of two boots of one build, besides one step of the clock
LIMIT = 0.001  # Relative difference of two boots if the timer ticks within a sample
WAITS = 4000.0
"""Further difference allowed in a step of teehash, in instructions: it waits for its file, and on a
busy host the wait takes up to 2,304 instructions more (measured)."""

KERNEL_LIMIT = 0.015
"""Relative difference allowed in the kernel's crypto. Only there do two builds of the same sources
differ, by up to 1.02 %: a request allocates pages, and which pages are free varies."""

TICK_NS = 4_000_000  # The kernel's timer tick on the virtual boards (CONFIG_HZ=250)
MARGIN = 0.01  # A sampled case is the same if its whole interval is within this share of 1
SIGNS = 1e-4  # Largest p-value of the sign test at which a common shift is taken for real

EMULATED = "an emulated board's clock shows how busy its machine was, which differs from run to run"
ONE_START = "runs of one start don't show what differs from start to start"
FEW_STARTS = f"fewer than {FEWEST} starts don't show how far starts may lie apart"
WITH_ALL = "it moved as all cases did, and days differ by as much"
SCATTERED = "the samples of every case scatter, as where calls wait for a disk"

Verdict = Literal["better", "worse", "same", "undecided"]
GRAVEST_FIRST: tuple[Verdict, ...] = ("worse", "better", "undecided", "same")
World = Literal["tee", "kernel", "program"]
Family = tuple[str, str, str]  # Workload, algorithm and backend

Starts = Sequence[Sequence[float]]  # Nanoseconds or instructions per call, one sequence per start


@dataclass(frozen=True)
class CaseReading:
    """One run's values of a case, for one number of operations per call, in nanoseconds or
    instructions."""

    case: str
    starts: Starts
    repeat: int = 1
    work: Work | None = None  # What the case does; None for a step of teehash
    size: int | None = None  # Bytes per call, summed over its operations
    world: World | None = None
    loops: int = 1  # Number of calls in the longest sample
    resolution: float = 0.0  # Step of the clock, in the unit of `starts`

    @property
    def key(self) -> str:
        """Returns the case's key, with ` x4` appended if each call does four operations."""
        return self.case + (f" x{self.repeat}" if self.repeat > 1 else "")

    @cached_property
    def medians(self) -> list[float]:
        return [median(values) for values in self.starts if values]

    @property
    def least(self) -> float:
        """Returns the smallest of the starts' medians, since one boot in about forty takes more
        instructions than the others."""
        return min(self.medians)

    @property
    def middle(self) -> float:
        """Returns the mean of the starts' medians. For teehash, where each start is a single value,
        it is their median."""
        return median(self.medians) if self.work is None else centre(self.starts)

    @cached_property
    def scatter(self) -> float:
        """Returns how far the scatter of samples may move `least`: the interquartile range of its
        start, which is over four standard deviations of the difference of two medians."""
        low, _, high = quartiles(min(filter(None, self.starts), key=median))
        return float(high - low)

    @cached_property
    def steady(self) -> bool:
        """Returns true if all calls took the same count of instructions. Steps of teehash are
        always steady: each of their runs has its own count."""
        if self.work is None:
            return True
        return not self.work.distribution and steady(list(chain.from_iterable(self.starts)))

    def difference(self, first: Estimate, second: Estimate, have: int = 1) -> "Difference":
        """Returns the case with its values of both runs, still without a verdict."""
        about = (self.work, self.size, self.world)
        return Difference(*(self.case, self.repeat, first, second, "undecided", *about), have=have)


@dataclass(frozen=True, slots=True)
class Difference:
    """One case in two runs, for one number of operations per call; ns or instructions."""

    case: str
    repeat: int
    first: Estimate
    second: Estimate
    verdict: Verdict
    work: Work | None = None  # As in Reading
    size: int | None = None
    world: World | None = None
    exact: bool = False
    reason: str | None = None  # Why a case that scatters on a counting board is undecided
    interval: Interval | None = None  # Ratio of second to first; holds for all cases together
    p: float | None = None  # p-value of Student's test, corrected for all cases; None if exact
    have: int = 0  # Starts of the run that has fewer of them
    visible: float = math.inf  # Smallest relative change called worse with probability POWER
    step: float = 0.0  # A step of the clock, per call
    shift: float | None = None  # Change per call that this case shares with the others of its world

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
        """Returns the nanoseconds or instructions added per call; negative if it is cheaper."""
        return self.second.value - self.first.value

    @property
    def moved(self) -> bool:
        return self.verdict in ("better", "worse")


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of two runs: `second` is compared with `first`."""

    first: RunData
    second: RunData
    pairs: tuple[Difference, ...]  # Cases of both runs, in the first's order
    lost: tuple[str, ...]  # Cases that only the first run has
    new: tuple[str, ...]  # Cases that only the second run has
    together: Interval | None = None  # Ratio by which almost all sampled cases moved alike

    @property
    def exact(self) -> bool:
        return self.first.icount and self.second.icount

    @property
    def starts(self) -> int:
        """Returns the number of starts of the run that has fewer."""
        return min(run.starts_a_case for run in (self.first, self.second))

    @property
    def blind(self) -> str | None:
        """Returns the clause that says why no case can be called better or worse; None if one
        can."""
        if self.exact:
            counted = any(pair.first.exact and pair.second.exact for pair in self.pairs)
            return None if counted or not self.pairs else SCATTERED
        if self.first.emulated or self.second.emulated:
            return EMULATED
        if len(self.too_few) < len(self.pairs):
            return None
        return ONE_START if all(pair.have < 2 for pair in self.pairs) else FEW_STARTS

    @property
    def too_few(self) -> tuple[Difference, ...]:
        """Returns the sampled cases with fewer than FEWEST starts: none is called better or
        worse."""
        return tuple(pair for pair in self.pairs if not pair.exact and pair.have < FEWEST)

    @property
    def worst_first(self) -> tuple[Difference, ...]:
        key = {verdict: place for place, verdict in enumerate(GRAVEST_FIRST)}
        return tuple(sorted(self.pairs, key=lambda pair: (key[pair.verdict], -abs(pair.change))))

    def verdicts(self) -> dict[str, Verdict]:
        """Returns the verdict on each case: the gravest over its numbers of operations per call."""
        return {pair.case: pair.verdict for pair in reversed(self.worst_first)}

    def of(self, verdict: Verdict) -> tuple[str, ...]:
        """Returns the cases with that verdict."""
        return tuple(case for case, gravest in self.verdicts().items() if gravest == verdict)

    @property
    def visible(self) -> tuple[float, ...]:
        """Returns, in rising order, the smallest relative change that each judged case would have
        shown."""
        return tuple(sorted(pair.visible for pair in self.pairs if math.isfinite(pair.visible)))


def obstacles(first: RunData, second: RunData) -> dict[str, str]:
    """Returns the reasons not to compare the two runs, each with what to do instead."""
    reasons: dict[str, str] = {}
    if first.emulated != second.emulated:
        base, new = ("an emulated board" if run.emulated else "hardware" for run in (first, second))
        why = f"BASE is a run of {base} and NEW one of {new}: an emulator's times say nothing "
        reasons[f"{why}about hardware"] = "measure both on one board"
    if first.icount != second.icount:
        base, new = ("instructions" if run.icount else "time" for run in (first, second))
        why = f"BASE is measured in {base} and NEW in {new}: their ratio has no meaning"
        reasons[why] = "measure both on one board"
    if first.header and second.header and first.plan != second.plan:
        why = f"BASE is a run of plan {first.plan} and NEW one of plan {second.plan}: what was "
        reasons[f"{why}measured beside a case may change it"] = "measure both with one plan"
    for run in (first, second):
        if run.incomplete:
            reasons[f"{run.file} is truncated: {run.incomplete}"] = f"measure {run.file} again"
    return reasons


def unlike(
    before: Mapping[str, str], after: Mapping[str, str], lacks: str = "none"
) -> dict[str, tuple[str, str]]:
    """Returns both values of each name whose values differ; a missing value is given as `lacks`."""
    return {
        name: (before.get(name, lacks), after.get(name, lacks))
        for name in dict.fromkeys((*before, *after))
        if before.get(name) != after.get(name)
    }


def other_machines(first: RunData, second: RunData) -> list[str]:
    """Returns the differences between two runs' set-ups, except their commits, as "NAME: BASE →
    NEW": builds, versions, settings of teebench, the board, the user's labels."""
    differs = unlike(_described(first), _described(second))
    return [f"{name}: {before} → {after}" for name, (before, after) in differs.items()]


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
    return {name: str(value) for name, value in values.items() if value not in (None, "")}


def compare(first: RunData, second: RunData) -> Comparison:
    """Judges every case that both runs have, and names the cases that only one of them has."""
    before, after = readings(first), readings(second)
    moved = None
    if first.icount and second.icount:
        pairs = counted(before, after)
    else:
        both = [(reading, after[key]) for key, reading in before.items() if key in after]
        pairs, moved = sampled(both), together(both)
    if first.emulated or second.emulated:
        pairs = [pair if pair.exact else replace(pair, verdict="undecided") for pair in pairs]
        moved = None
    lost = tuple(key for key in first.measured if key not in second.measured)
    new = tuple(key for key in second.measured if key not in first.measured)
    return Comparison(first, second, tuple(pairs), lost, new, moved)


def readings(run: RunData) -> dict[str, CaseReading]:
    """Returns all readings of a run, by `Reading.key`. Each run of teehash is a separate process,
    so it counts as a start; its value is the time for its file without opening the TA's session."""
    measured = []
    for case in run.sound:
        local = run.backend(case.record.backend).local
        world: World = "tee" if in_tee(run, case) else "program" if local else "kernel"
        for repeat in case.repeats:
            size = None if case.record.bytes is None else case.record.bytes * repeat
            about = (repeat, case.work, size, world, case.loops(repeat), run.resolution)
            measured.append(CaseReading(case.key, case.times(repeat), *about))
    steps: dict[str, list[list[float]]] = {}
    for record in run.teehash:
        files = record.report.get("files")
        file = files[0] if isinstance(files, list) and files else None
        value = file.get("total_ns") if isinstance(file, dict) else None
        if isinstance(value, int | float):
            steps.setdefault(record.case, []).append([float(value)])
    measured += [CaseReading(step, starts) for step, starts in steps.items()]
    return {reading.key: reading for reading in measured}


# -- where instructions are counted --------------------------------------------------------------


def slack(figure: float, *readings: CaseReading) -> tuple[float, float]:
    """Returns two limits in instructions per call. The first: how far two boots of one build may
    differ, in a call of `figure` instructions with these readings' scatter. The second: one step of
    the clock; infinite if allocated pages or timer ticks hide a step."""
    work, loops = readings[0].work, min(reading.loops for reading in readings)
    apart = sum(reading.scatter for reading in readings)
    if work is not None and work.by == AFALG:
        return KERNEL_LIMIT * figure + apart, math.inf
    if work is None:
        return LIMIT * figure + WAITS + apart, math.inf
    if loops * figure >= TICK_NS:
        return LIMIT * figure + apart, math.inf
    step = max(reading.resolution for reading in readings) / loops
    return step + BOOTS * figure + apart, step


def counted(
    before: Mapping[str, CaseReading], after: Mapping[str, CaseReading]
) -> list[Difference]:
    """Returns each case that both runs have, with its verdict; both counted instructions."""
    both = [(reading, after[key]) for key, reading in before.items() if key in after]
    return shifted([_counted(*pair) for pair in both])


def _counted(before: CaseReading, after: CaseReading) -> Difference:
    have = min(len(before.medians), len(after.medians))
    if before.steady and after.steady:
        difference = before.difference(exactly(before.least), exactly(after.least), have)
        return with_verdict(difference, *slack(before.least, before, after))
    first, second = (Estimate(median(chain.from_iterable(run.starts))) for run in (before, after))
    return with_verdict(before.difference(first, second, have), 0.0, math.inf)


def with_verdict(pair: Difference, allowed: float, step: float) -> Difference:
    """Returns the difference with its verdict: counts up to `allowed` apart are the same."""
    if not (pair.first.exact and pair.second.exact):
        why = "its samples scatter, as where a call waits for a disk, or each makes another key"
        return replace(pair, exact=True, verdict="undecided", reason=why)
    verdict: Verdict = "same"
    if abs(pair.added) > allowed:
        verdict = "worse" if pair.added > 0 else "better"
    visible = allowed / pair.first.value if pair.first.value else math.inf
    return replace(pair, exact=True, verdict=verdict, visible=visible, step=step)


def shifted(pairs: Sequence[Difference]) -> list[Difference]:
    """Returns the pairs with common shifts judged: if most calls into the TEE (or in the program)
    moved alike, each of them is worse or better, however little it moved."""
    cases = list(pairs)
    for world in ("tee", "program"):
        counted = [
            pair for pair in pairs if pair.world == world and pair.exact and pair.second.exact
        ]
        shift = common_shift([pair for pair in counted if math.isfinite(pair.step)])
        if shift is not None:
            verdict: Verdict = "worse" if shift > 0 else "better"
            cases = [
                replace(pair, verdict=verdict, shift=shift)
                if pair.world == world and pair.second.exact and moves_with(pair, shift)
                else pair
                for pair in cases
            ]
    return cases


def moves_with(pair: Difference, shift: float) -> bool:
    step = pair.step if math.isfinite(pair.step) else 0.0
    return pair.added * shift > 0 and abs(pair.added - shift) <= max(abs(shift) / 4, step)


def common_shift(members: Sequence[Difference]) -> float | None:
    """Returns the shift that most members share, in instructions per call (negative: fewer); else
    None."""
    signs = [pair.added > 0 for pair in members if pair.added]
    if not signs or sign_p(sum(signs), len(signs)) > SIGNS:
        return None
    shift = median(pair.added for pair in members)
    boots = min(min(BOOTS * pair.first.value, pair.step) for pair in members)
    most = sum(moves_with(pair, shift) for pair in members) > len(members) / 2
    return shift if most and abs(shift) > boots else None


def sign_p(ups: int, count: int) -> float:
    """Returns the two-sided p-value of a sign test with `ups` positive differences of `count`."""
    tail = min(ups, count - ups)
    return min(1.0, 2 * math.fsum(math.comb(count, k) / 2**count for k in range(tail + 1)))


# -- where times are sampled ---------------------------------------------------------------------


DAY = 0.03  # A level that all cases share may differ by this share from one day to the next

ALMOST_ALL = 0.9  # Share of the cases that must move in one direction to have moved together


def sampled(pairs: Sequence[tuple[CaseReading, CaseReading]]) -> list[Difference]:
    """Returns each pair with its verdict, by the test for sampled times. Where almost all cases
    moved alike, by no more than days differ, a case moved only if it also did beside the others."""
    tests = sum(starmap(_testable, pairs))
    judged = [_sampled(*pair, tests) for pair in pairs]
    shift = together(pairs)
    if shift is None or shift.low > 1 + DAY or shift.high < 1 - DAY:
        return judged
    beside = [_sampled(*pair, tests).verdict for pair in _besides(pairs)]
    return [
        replace(pair, verdict="undecided", reason=WITH_ALL)
        if pair.moved and verdict != pair.verdict
        else pair
        for pair, verdict in zip(judged, beside, strict=True)
    ]


def _levels(pairs: Sequence[tuple[CaseReading, CaseReading]]) -> list[list[float]]:
    """Returns the level of each start of both runs, as a mean of logarithms over the cases that
    every start has; empty without such cases."""
    tested = [pair for pair in pairs if _testable(*pair)]
    most = [max((len(pair[run].medians) for pair in tested), default=0) for run in (0, 1)]
    whole = [pair for pair in tested if [len(reading.medians) for reading in pair] == most]
    return [
        [fmean(math.log(pair[run].medians[start]) for pair in whole) for start in range(most[run])]
        for run in (0, 1)
        if whole
    ]


def together(pairs: Sequence[tuple[CaseReading, CaseReading]]) -> Interval | None:
    """Returns the ratio of the cases' common change; None unless almost all moved one way."""
    tested, levels = [pair for pair in pairs if _testable(*pair)], _levels(pairs)
    offs = [
        fmean(map(math.log, after.medians)) - fmean(map(math.log, before.medians))
        for before, after in tested
    ]
    ups = sum(off > 0 for off in offs)
    alike = max(ups, len(offs) - ups) >= ALMOST_ALL * len(offs)
    if not levels or not alike or sign_p(ups, len(offs)) > SIGNS:
        return None
    error = math.sqrt(sum(variance(starts) / len(starts) for starts in levels))
    half_width = student(1 - LEVEL, min(map(len, levels)) - 1) * error
    return Interval(math.exp(median(offs) - half_width), math.exp(median(offs) + half_width))


def _besides(
    pairs: Sequence[tuple[CaseReading, CaseReading]],
) -> list[tuple[CaseReading, CaseReading]]:
    first, second = _levels(pairs)
    middle = fmean(first)

    def level(reading: CaseReading, starts: Sequence[float]) -> CaseReading:
        factors = [math.exp(middle - start) for start in starts]
        rows = zip(reading.starts, factors, strict=False)
        return replace(reading, starts=[[value * by for value in row] for row, by in rows])

    return [(level(before, first), level(after, second)) for before, after in pairs]


def _testable(before: CaseReading, after: CaseReading) -> bool:
    if before.work is not None and before.work.distribution:
        return False
    return all(len(reading.medians) > 1 and min(reading.medians) > 0 for reading in (before, after))


def _sampled(before: CaseReading, after: CaseReading, tests: int) -> Difference:
    """Returns the difference with its verdict by Welch's t-test. The variance includes the clock's
    rounding (grain²/12), since a coarse clock may make different starts look equal."""
    medians = before.medians, after.medians
    many = len(before.medians), len(after.medians)
    first, second = (geometric_mean(run) if min(run) > 0 else fmean(run) for run in medians)
    difference = before.difference(Estimate(first), Estimate(second), min(many))
    if not _testable(before, after):
        return difference
    step = max(before.resolution, after.resolution) / min(before.loops, after.loops)
    grain = step / min(before.least, after.least)
    logs = [[math.log(value) for value in run] for run in medians]
    parts = [variance(values) + grain**2 / 12 for values in logs]
    each = parts[0] / many[0], parts[1] / many[1]
    error = math.sqrt(sum(each))
    off = fmean(logs[1]) - fmean(logs[0])
    if error == 0:  # No scatter: the starts are equal and the clock's step is unknown
        verdict: Verdict = "same" if abs(off) <= math.log1p(MARGIN) else "undecided"
        ratio = math.exp(off)
        return replace(difference, verdict=verdict, interval=Interval(ratio, ratio, 1 - ALPHA))
    freedom = sum(each) ** 2 / (each[0] ** 2 / (many[0] - 1) + each[1] ** 2 / (many[1] - 1))
    freedom = max(int(freedom), 1)
    half_width = student(ALPHA / tests, freedom) * error
    low, high = (math.exp(min(end, 500)) for end in (off - half_width, off + half_width))
    enough = min(many) >= FEWEST
    verdict = "undecided"
    if low >= 1 - MARGIN and high <= 1 + MARGIN:
        verdict = "same"
    elif enough and (low > 1 or high < 1):
        verdict = "worse" if low > 1 else "better"
    return replace(
        difference,
        verdict=verdict,
        interval=Interval(low, high, 1 - ALPHA),
        p=min(1.0, tests * student_p(abs(off) / error, freedom)),
        visible=visible(error, many, tests) if enough else math.inf,
    )


# -- how much worse is too much ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Limit:
    """The largest change that is tolerated: a share of the base, or instructions per call."""

    share: float | None = None
    instructions: float | None = None

    def broken(self, pair: Difference) -> bool:
        """Returns true if a case is worse by the limit or more, even at its interval's low end."""
        if pair.verdict != "worse":
            return False
        if self.instructions is not None:
            return pair.added >= self.instructions
        change = pair.change if pair.interval is None else pair.interval.low - 1
        return self.share is not None and change >= self.share

    def possible(self, pair: Difference) -> bool:
        """Returns true if a case doesn't break the limit, but its interval reaches it."""
        reaches = pair.interval is not None and pair.interval.high - 1 >= (self.share or 0.0)
        return not self.broken(pair) and (reaches or (pair.interval is None and not pair.exact))

    def __str__(self) -> str:
        if self.share is not None:
            return f"{100 * self.share:g} %"
        return f"{self.instructions:g} instructions"
