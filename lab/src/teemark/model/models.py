# SPDX-License-Identifier: BSD-2-Clause
"""Everything that is fitted to a run, in one value: what sections and verdicts are made from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from teemark.model.counter import Counted, counted_cases
from teemark.model.line import Line, fit_line
from teemark.model.stats import CaseStats, call_times, case_stats
from teemark.run.reader import MeasuredCase, RunData
from teemark.run.records import Case


@dataclass(frozen=True, slots=True)
class CostLine:
    """t = call + bytes * rate, for one algorithm in one backend; nanoseconds."""

    workload: str
    algorithm: str
    backend: str
    line: Line

    @property
    def call_ns(self) -> float:
        return self.line.intercept

    @property
    def ns_per_byte(self) -> float:
        return self.line.slope


@dataclass(frozen=True, slots=True)
class RepeatLine:
    """t(n) = crossing + n * operation, for n operations inside one call; nanoseconds."""

    key: str
    algorithm: str
    backend: str
    bytes: int | None
    line: Line

    @property
    def crossing_ns(self) -> float:
        return self.line.intercept

    @property
    def operation_ns(self) -> float:
        return self.line.slope


@dataclass(frozen=True, slots=True)
class Models:
    """All of one run. Order: as in the run's plan."""

    stats: tuple[CaseStats, ...] = ()
    costs: tuple[CostLine, ...] = ()
    repeats: tuple[RepeatLine, ...] = ()
    counted: tuple[Counted, ...] = ()

    def case(self, key: str) -> CaseStats | None:
        return next((stats for stats in self.stats if stats.key == key), None)

    def cost(self, algorithm: str, backend: str, workload: str = "oneshot") -> CostLine | None:
        for cost in self.costs:
            if (cost.workload, cost.algorithm, cost.backend) == (workload, algorithm, backend):
                return cost
        return None


def by_size(case: Case) -> str | None:
    """What a case is but for its size: `oneshot`, or `cipher enc` for `cipher/…/enc/4096`. None
    where the key doesn't end with the size."""
    words, _, last = case.parameters.rpartition("/")
    if last != str(case.bytes):
        return None
    return f"{case.workload} {words.replace('/', ' ')}" if words else case.workload


def cost_lines(cases: Sequence[MeasuredCase]) -> tuple[CostLine, ...]:
    """A line over sizes for every workload, algorithm and backend with three sizes or more."""
    groups: dict[tuple[str, str, str], dict[float, list[float]]] = defaultdict(dict)
    for measured in cases:
        case = measured.case
        times = call_times(measured.samples)
        name = by_size(case)
        if times and case.bytes is not None and name is not None:
            groups[name, case.algorithm, case.backend][float(case.bytes)] = times
    return tuple(
        CostLine(*key, line)
        for key, samples in groups.items()
        if (line := fit_line(samples)) is not None
    )


def repeat_lines(cases: Sequence[MeasuredCase]) -> tuple[RepeatLine, ...]:
    """A line over the repetitions inside one call, for every case that has three or more."""
    lines = []
    for measured in cases:
        case = measured.case
        counts = {sample.repeat for sample in measured.samples}
        line = fit_line({n: call_times(measured.samples, n) for n in counts})
        if line is not None:
            lines.append(RepeatLine(case.case, case.algorithm, case.backend, case.bytes, line))
    return tuple(lines)


def build(run: RunData) -> Models:
    cases = run.sound
    return Models(
        stats=tuple(stats for case in cases if (stats := case_stats(case)) is not None),
        costs=cost_lines(cases),
        repeats=repeat_lines(cases),
        counted=counted_cases(cases),
    )
