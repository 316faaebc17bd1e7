# SPDX-License-Identifier: BSD-2-Clause
"""Finds where a case's level changed, in many runs of the same cases in order of time.

Counted instructions: a level changes if a figure leaves it by more than the judge of `compare`
allows, and the next run doesn't return to it. Sampled times on hardware: levels are those of PELT
(R. Killick, P. Fearnhead, I. Eckley, 2012) for the mean, by the package ruptures; the scatter is
estimated from neighbouring runs, which a change of the level hardly affects. The times of an
emulated board have no levels."""

import math
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isnan
from statistics import median

import numpy as np
from msgspec import structs

from teemark.model.changes import Change, changes
from teemark.model.compare import Comparison, Verdict, readings, shifted, slack
from teemark.model.stats import exactly
from teemark.run.reader import RunData
from teemark.run.records import Machine

FEWEST = 8  # Fewer sampled runs have no change points: their scatter isn't known

PENALTY = 5.0
"""PELT's penalty per change point, divided by the logarithm of the number of runs; twice the
logarithm of the number of cases comes on top, since any of them may show a change by chance."""

BY_CHANCE = {8: (0.015, 0.05), 12: (0.007, 0.04), 20: (0.001, 0.02)}
"""Shares of unchanged cases that show a change, of 194 cases with at least so many runs, in
simulations: with normal scatter, and with a scatter in which slow runs are far out."""

COARSE = 0.005
"""Differences of neighbouring runs up to this one are taken for a step of what is measured."""

_NORMAL = 0.9539
"""Median of the absolute difference of two normal values, over their standard deviation."""


@dataclass(frozen=True, slots=True)
class CaseHistory:
    """One case; `values[i]` is of run `runs[i]`, in nanoseconds (instructions) per call."""

    case: str
    runs: tuple[int, ...]
    values: tuple[float, ...]
    changes: tuple[int, ...]  # Indices in `values` where a new level begins
    scattered: bool = False  # On a counting board: the samples of some run scatter

    def levels(self) -> list[tuple[int, int, float]]:
        """Returns each level: its first index, the index after its last, and its median."""
        ends = (0, *self.changes, len(self.values))
        return [(a, b, median(self.values[a:b])) for a, b in pairwise(ends)]

    @property
    def last_change(self) -> float:
        """Returns the relative change from the last level but one to the last; 0 with one level."""
        levels = self.levels()
        return levels[-1][2] / levels[-2][2] - 1 if len(levels) > 1 else 0.0


def lines(runs: Iterable[RunData]) -> tuple[CaseHistory, ...]:
    """Returns every case that two or more runs have; `runs` are in order of time, of one kind. Each
    is read once, and three figures a case are kept of it."""
    by_case: dict[str, tuple[array[int], array[float]]] = {}
    counted, emulated = True, False
    for number, run in enumerate(runs):
        counted, emulated = counted and run.icount, emulated or run.emulated
        for reading in readings(run).values():
            if reading.repeat == 1:
                places, figures = by_case.setdefault(reading.case, (array("l"), array("d")))
                places.append(number)
                least = reading.least
                # Without an allowance: a level can't be told from the waiting for a disk.
                allowed = slack(least, reading)[0] if run.icount and reading.steady else math.nan
                figures.extend((least, reading.middle, allowed))
    cases = []
    for key, (places, figures) in by_case.items():
        if len(places) < 2:
            continue
        values, allowances = tuple(figures[0 if counted else 1 :: 3]), figures[2::3]
        sure = [at for at, allowed in enumerate(allowances) if not (counted and isnan(allowed))]
        changes: tuple[int, ...] = ()
        if counted:
            levels = exact_changes([values[at] for at in sure], [allowances[at] for at in sure])
            changes = tuple(sure[place] for place in levels)
        elif not emulated:
            changes = sampled_changes(values, len(by_case))
        cases.append(CaseHistory(key, tuple(places), values, changes, len(sure) < len(values)))
    return tuple(cases)


def slim(run: RunData, machine: Machine) -> RunData:
    """Returns what a history shows of a run besides its levels: when it began, its commit, labels
    and unit. All runs of a history are of one machine."""
    header = run.header and structs.replace(run.header, asked=None)
    return RunData(run.file, machine, header)


def events(
    runs: Sequence[RunData],
    cases: Sequence[CaseHistory],
    whole_of: Callable[[RunData], RunData] = lambda run: run,
) -> tuple[tuple[int, tuple[Change, ...]], ...]:
    """Returns the index of each run at which levels begin, with the changes of its cases; the last
    run comes first. `whole_of` returns a run with its samples."""
    rows = []
    for number in sorted({line.runs[at] for line in cases for at in line.changes}, reverse=True):
        run = whole_of(runs[number])
        measured, pairs = readings(run), []
        for line in cases:
            if number not in line.runs[1:]:
                continue
            at = line.runs.index(number)
            before, after = (
                next(level for begin, end, level in line.levels() if begin <= place < end)
                for place in (at - 1, at)
            )
            verdict: Verdict = "same"
            if at in line.changes:
                verdict = "worse" if after > before else "better"
            difference = measured[line.case].difference(exactly(before), exactly(after))
            exact = run.icount and difference.work is not None
            pairs.append(replace(difference, verdict=verdict, exact=exact))
        whole = Comparison(runs[number - 1], run, tuple(shifted(pairs)), (), ())
        rows.append((number, changes(whole)))
    return tuple(rows)


def exact_changes(values: Sequence[float], allowed: Sequence[float]) -> tuple[int, ...]:
    """Returns the indices where a value leaves the level before it by more than `allowed` there. A
    value that the next run takes back doesn't count: one boot of about forty takes more
    instructions than the others."""
    places, level = [], values[0] if values else 0.0
    for place, value in enumerate(values):
        last = place + 1 == len(values)
        if abs(value - level) > allowed[place] and (
            last or abs(values[place + 1] - level) > allowed[place + 1]
        ):
            places.append(place)
            level = value
    return tuple(places)


def sampled_changes(values: Sequence[float], cases: int = 1) -> tuple[int, ...]:
    """Returns the indices where the level changes in one of `cases` histories; () for too few runs.
    Needs the package ruptures."""
    import ruptures

    count = len(values)
    if count < FEWEST or min(values) <= 0:
        return ()
    logs = np.log(np.asarray(values, dtype=np.float64))
    steps = np.abs(np.diff(logs))
    place = int(np.argmax(steps)) + 1
    if np.count_nonzero(steps) < 2:  # Values that repeat, but for one step at most
        return (place,) if steps.any() and 2 <= place <= count - 2 else ()
    # Values that repeat would have no scatter: it is at least their smallest step, and that of all
    # differences but the two largest.
    steps.sort()
    scatter = max(
        float(np.median(steps)) / _NORMAL * (1 + 2 / count),
        min(float(steps[steps > 0][0]), COARSE),
        float(np.sqrt((steps[:-2] ** 2).mean() / 2)),
    )
    penalty = PENALTY * math.log(count) + 2 * math.log(cases)
    signal = (logs / scatter).reshape(-1, 1)
    # PELT for the mean, as Pelt(model="l2"), in C: a thousand runs take 2 ms instead of 8 s.
    pelt = ruptures.KernelCPD(kernel="linear", min_size=2).fit(signal)
    return tuple(int(place) for place in pelt.predict(pen=penalty)[:-1])


def by_chance(runs: int, cases: int) -> tuple[int, int]:
    """Returns about how many of `cases` unchanged cases show a change by chance, at most: first for
    normal scatter, then for scatter with far outliers."""
    shares = BY_CHANCE[max(least for least in BY_CHANCE if least <= max(runs, FEWEST))]
    return math.ceil(shares[0] * cases), math.ceil(shares[1] * cases)
