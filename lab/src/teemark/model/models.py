# SPDX-License-Identifier: BSD-2-Clause
"""All models that are fitted to a run, in one value: the basis of report sections and verdicts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from teemark.base import work
from teemark.base.work import EMPTY_CALL
from teemark.model.counter import Counted, counted_cases
from teemark.model.drift import Drift, drift
from teemark.model.fit import Fit, fit, line
from teemark.model.forms import AFALG_REQUEST, PAGE_TABLE, Form
from teemark.model.stats import (
    CaseStats,
    Dependence,
    Estimate,
    Kind,
    Sampling,
    added,
    case_stats,
    exactly,
)
from teemark.run.reader import MeasuredCase, RunData

LATE = 0.02
"""Between the two largest sizes, a byte that differs by at most this share from the model's is no
sign that its cost changes there."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of calls that differ only in their size, in the run's unit."""

    workload: str  # As `Work.curve`: `oneshot`, `cipher enc`
    algorithm: str
    backend: str
    fit: Fit
    form: Form
    crossing: Fit | None = None  # Way in and out, by the TA's counter: terms `call` and `page`
    samples: int = 0  # Number of samples of the size with the fewest
    rpcs: tuple[float | None, ...] = ()  # RPCs per call at each of `fit.points`

    def at(self, size: int) -> Estimate:
        """Returns the fitted cost of a message of `size` bytes."""
        base, candidates = self.form.row(size, self._rpcs_at(size))
        return self.fit.at({"page": self.form.pages(size), **base, **candidates})

    def _rpcs_at(self, size: int) -> float | None:
        points = zip(self.fit.points, self.rpcs, strict=False)
        counted = [(point.x, rpcs) for point, rpcs in points if rpcs is not None]
        xs, ys = zip(*counted, strict=True) if counted else ((), ())
        return float(np.interp(size, xs, ys)) if counted else None

    @property
    def call(self) -> Estimate:
        """Returns the cost per call, with the error of the model."""
        call = self.fit.terms["call"]
        return call.widened(self.fit.off(lambda _: call.value), f"{self.name} call")

    @property
    def byte(self) -> Estimate:
        """Returns the cost per byte of a long message, with the error of the model, or with twice
        what the two largest sizes differ from it: the cost may change anywhere between them."""
        slope, last = self.slope, self.last_byte
        off = self.fit.off(lambda size: slope.value * size)
        if off is not None and last is not None and slope.value > 0:
            off = max(off, 2 * abs(last.value / slope.value - 1))
        return slope.widened(off, f"{self.name} byte")

    @property
    def last_byte(self) -> Estimate | None:
        """Returns the measured cost of a byte between the two largest sizes, if it differs by more
        than LATE and scatter from what the model says there; else None."""
        *_, small, large = self.fit.points
        step, modelled = large.measured - small.measured, large.fitted - small.fitted
        near = modelled <= 0 or abs(step.value / modelled - 1) <= LATE
        if near or step.interval is None or modelled in step.interval:
            return None
        return step.scaled(1 / (large.x - small.x))

    @property
    def least_byte(self) -> float | None:
        """Returns the lower bound of the cost per byte of a long message: no measured size is
        cheaper. None if the error of the model isn't known."""
        interval = self.byte.interval
        if interval is None:
            return None
        each = [point.measured.value / point.x for point in self.fit.points if point.x]
        return max(0.0, min([interval.low, *each]))

    @property
    def name(self) -> str:
        return f"{self.workload}/{self.algorithm}/{self.backend}"

    @property
    def slope(self) -> Estimate:
        """Returns the fitted cost per byte of a long message, without the error of the model."""
        parts = [
            term.scaled(share)
            for name, share in self.form.bytes_of.items()
            if (term := self.fit.terms.get(name)) is not None
        ]
        return added(parts) if parts else Estimate(0.0)


@dataclass(frozen=True, slots=True)
class Streamed:
    """The cost of a message in pieces: as predicted from whole messages, and as measured."""

    measured: CaseStats
    predicted: Estimate | None  # None if no measurement gives the cost of a piece

    @property
    def off(self) -> float | None:
        if self.predicted is None:
            return None
        return self.predicted.value / self.measured.time.median - 1


@dataclass(frozen=True, slots=True)
class Models:
    """The models of one run; cases are in the order of the run's plan."""

    stats: tuple[CaseStats, ...] = ()
    costs: tuple[Cost, ...] = ()
    repeats: Mapping[str, Fit] = field(default_factory=dict)
    """A line over the operations in a call, by case: terms `call` and `operation`."""
    counted: Mapping[str, Counted] = field(default_factory=dict)
    streams: tuple[Streamed, ...] = ()
    lines: Fit | None = None  # A call that writes to the TEE's console: terms `call` and `line`
    drift: Drift | None = None  # How the level of all cases changed over the run
    references: Fit | None = None  # Empty call with references: terms `call` and `reference`
    sampling: Sampling = field(default_factory=Sampling, repr=False)
    _by_key: dict[str, CaseStats] = field(default_factory=dict, repr=False, compare=False)

    def case(self, key: str) -> CaseStats | None:
        return self._by_key.get(key)

    def cost(self, algorithm: str, backend: str, workload: str = work.ONESHOT.name) -> Cost | None:
        name = f"{workload}/{algorithm}/{backend}"
        return next((cost for cost in self.costs if cost.name == name), None)


def sampling_of(run: RunData) -> Sampling:
    cases: list[tuple[list[int], list[float]]] = []
    if not run.icount:
        for measured in run.sound:
            for repeat in measured.repeats:
                of_it = [sample for sample in measured.starts[0] if sample.repeat == repeat]
                cases.append(([sample.seq for sample in of_it], measured.times(repeat)[0]))
    kind: Kind = "counted" if run.icount else "emulated" if run.emulated else "timed"
    return Sampling(kind, run.resolution, Dependence(cases))


def stats_of(run: RunData, sampling: Sampling | None = None) -> tuple[CaseStats, ...]:
    """Returns the statistics of every sound case with samples of one operation per call."""
    settings = sampling or sampling_of(run)
    return tuple(stats for case in run.sound if (stats := case_stats(case, settings)) is not None)


def whole_cases(run: RunData) -> tuple[CaseStats, ...]:
    """Returns the statistics of the cases that were measured as asked: what a run that was cut off
    has only a part of is no figure for others to keep."""
    short = {case.case for case in run.missing}
    return tuple(stats for stats in stats_of(run) if stats.key not in short)


def in_tee(run: RunData, measured: MeasuredCase) -> bool:
    """Returns true if a TA does the work, by teebench's record of the backend or the case."""
    secure = run.backend(measured.work.backend).secure
    return secure or measured.record.ta_counter is not None


def costs_of(
    run: RunData, stats: Iterable[CaseStats], counted: Mapping[str, Counted]
) -> tuple[Cost, ...]:
    """Returns the fitted costs of each workload, algorithm and backend that has enough sizes."""
    by_key = {call.key: call for call in stats}
    ways = {key: count.crossing for key, count in counted.items() if count.crossing is not None}
    groups: dict[tuple[str, str, str], list[MeasuredCase]] = {}
    for measured in run.sound:
        case = measured.work
        if measured.curve is not None and case.size is not None and measured.key in by_key:
            name = (measured.curve, case.algorithm, case.backend)
            groups.setdefault(name, []).append(measured)
    fitted_costs: dict[tuple[str, str, str], Cost] = {}
    # Calls that only carry a buffer come first: they give the cost of a page.
    for name in sorted(groups, key=lambda name: groups[name][0].work.row is not work.SHM):
        group = sorted(groups[name], key=lambda measured: measured.work.size or 0)
        algorithm = run.algorithm(group[0].work.algorithm)
        form = Form.of(group[0].work, algorithm, in_tee=in_tee(run, group[0]))
        sizes = [measured.work.size or 0 for measured in group]
        here = [by_key[measured.key] for measured in group]
        pages = [float(form.pages(size)) for size in sizes]
        crossing = None
        if all(measured.key in ways for measured in group):
            crossing = fit(
                sizes,
                [ways[measured.key] for measured in group],
                {"call": [1.0] * len(group)},
                {"page": pages, "table": [float(size // PAGE_TABLE) for size in sizes]},
            )
        rpcs = tuple(measured.record.rpcs_per_call for measured in group)
        base, candidates = form.columns(sizes, rpcs)
        page = _page(form, crossing, fitted_costs.values())
        apart = {"page": (page, pages)} if page is not None else {}
        fitted = fit(sizes, [call.estimate for call in here], base, candidates, apart)
        if fitted is not None:
            fitted_costs[name] = Cost(
                *name, fitted, form, crossing, min(call.time.count for call in here), rpcs
            )
    return tuple(fitted_costs[name] for name in groups if name in fitted_costs)


_CARRIED = work.SHM.work("allocated", work.TEE, "in", 0)  # Its curve gives the cost of a page


def _page(form: Form, crossing: Fit | None, costs: Iterable[Cost]) -> Estimate | None:
    """Returns the cost of mapping a page into the TEE, if the TA's counter or calls that only carry
    a buffer separate it from the work; else None."""
    if not form.mapped:
        return None
    if crossing is not None:
        return crossing.terms.get("page")
    carried = [
        cost.fit.terms["page"]
        for cost in costs
        if (cost.workload, cost.algorithm) == (_CARRIED.curve, _CARRIED.algorithm)
    ]
    return carried[0] if carried else None


def repeat_lines(cases: Sequence[MeasuredCase], sampling: Sampling) -> dict[str, Fit]:
    """Fits a line over the operations per call, for every case with three or more such numbers."""
    lines = {}
    for measured in cases:
        key, counts = measured.key, measured.repeats
        if len(counts) < 3:
            continue
        times = [
            sampling.estimate(measured.times(n), f"{key} x{n}", measured.loops(n)) for n in counts
        ]
        fitted = line(counts, times, "operation")
        if fitted is not None:
            lines[key] = fitted
    return lines


def operation(repeats: Mapping[str, Fit], key: str) -> Estimate | None:
    """Returns the cost of one operation inside a call, with the error of the line, since the first
    one may cost more than the others. None for a case without a line."""
    if key not in repeats:
        return None
    return repeats[key].terms["operation"].widened(repeats[key].misfit, f"{key} operation")


def in_pieces(models: Models, cost: Cost, size: int, chunk: int) -> Estimate | None:
    """Returns the predicted cost of a message in pieces of `chunk` bytes: that of a whole message;
    in the TEE also an empty call to begin, and for each piece but the last a call with a memory
    reference. None if these calls' cost is unknown, or if AF_ALG splits a piece (at 64 KiB)."""
    pieces = max(1, -(-size // chunk))
    if cost.form.by_kernel and pieces > 1 and chunk % AFALG_REQUEST:
        return None
    predicted = cost.at(size)
    if not cost.form.in_tee:
        return predicted
    empty, reference = models.case(EMPTY_CALL), _reference(models, cost)
    if empty is None or reference is None:
        return None
    predicted += empty.estimate + (empty.estimate + reference).scaled(pieces - 1)
    page = cost.fit.terms.get("page")
    more = pieces * cost.form.pages(chunk) - cost.form.pages(size)
    return predicted + page.scaled(more) if page is not None and more > 0 else predicted


def _reference(models: Models, cost: Cost) -> Estimate | None:
    """Returns the cost that a memory reference adds to an empty call: by calls with references,
    else half of what the two references of a whole message add."""
    if models.references is not None:
        return models.references.terms.get("reference") or exactly(0.0)
    empty = models.case(EMPTY_CALL)
    if cost.crossing is None or empty is None:
        return None
    return (cost.crossing.terms["call"] - empty.estimate).scaled(0.5)


def streamed(models: Models) -> tuple[Streamed, ...]:
    streams = []
    for stats in models.stats:
        chunk = stats.work.chunk
        if stats.work.row is not work.STREAM or stats.bytes is None or not chunk:
            continue
        cost = models.cost(stats.algorithm, stats.backend)
        predicted = in_pieces(models, cost, stats.bytes, chunk) if cost else None
        if predicted is not None or (cost and cost.form.by_kernel):
            streams.append(Streamed(stats, predicted))
    return tuple(streams)


def references_of(stats: Iterable[CaseStats]) -> Fit | None:
    empty = [(case, case.work.calls()) for case in stats if case.work.row is work.INVOKE]
    measured = [(case.estimate, calls.references) for case, calls in empty if calls is not None]
    return fit(
        range(len(measured)),
        [time for time, _ in measured],
        {"call": [1.0] * len(measured)},
        {"reference": [float(len(references)) for _, references in measured]},
    )


def lines_of(stats: Iterable[CaseStats]) -> Fit | None:
    calls = sorted(
        (case.work.count or 0, case.estimate) for case in stats if case.work.row is work.LOG
    )
    return line([count for count, _ in calls], [time for _, time in calls], "line")


def build(run: RunData) -> Models:
    cases = run.sound
    sampling = sampling_of(run)
    stats = stats_of(run, sampling)
    counted = counted_cases(cases, sampling)
    models = Models(
        stats=stats,
        costs=costs_of(run, stats, counted),
        repeats=repeat_lines(cases, sampling),
        counted=counted,
        lines=lines_of(stats),
        references=references_of(stats),
        drift=None if run.icount else drift(cases, sampling),
        sampling=sampling,
        _by_key={case.key: case for case in stats},
    )
    return replace(models, streams=streamed(models))
