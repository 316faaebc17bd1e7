# SPDX-License-Identifier: BSD-2-Clause
"""The separately measured costs from which a call's breakdown is made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import msgspec

from teemark.base import work
from teemark.base.work import DIGEST_BYTES, DIRECT_CALL, EMPTY_CALL, REFUSED_CALL, Work
from teemark.model.fit import Fit, FitPoint, fit
from teemark.model.forms import Form
from teemark.model.legs import traced_calls
from teemark.model.models import Models, operation, repeat_lines
from teemark.model.stats import CaseStats, Estimate, case_stats
from teemark.run.reader import MeasuredCase, RunData

SPREAD = 10  # A line needs more than this ratio of blocks, longest to shortest message


Sourced = tuple[Estimate, str]  # A cost, and the name of its source


@dataclass(frozen=True, slots=True)
class Hashing:
    """The cost of hashing messages inside a call."""

    line: Fit
    form: Form
    source: str
    outside: Estimate | None = None  # Cost of the way in and out, if `line` includes it

    def _at(self, size: int) -> dict[str, float]:
        base, candidates = self.form.row(size)
        row = base | candidates
        return {name: row.get(name, 0.0) for name in self.line.terms}

    def _wide(self, row: Mapping[str, float], label: str) -> Estimate:
        cost = self.line.at(row) if self.outside is None else self.line.at(row) - self.outside
        left_out = any(point.left_out is not None for point in self.line.points)
        return cost.widened(self.line.misfit if left_out else None, f"{self.source} {label}")

    def setup(self, size: int) -> Estimate:
        """Returns the set-up, which is all but the cost per block, with the error of the line."""
        return self._wide({**self._at(size), "block": 0.0}, "setup")

    def all_of(self, size: int) -> Estimate:
        return self._wide(self._at(size), "all")


class Sources:
    """The costs that a run measured separately, in the run's unit."""

    def __init__(self, run: RunData, models: Models) -> None:
        self.run = run
        self.models = models
        self.traced = traced_calls(run, models.sampling)
        self._hashing: dict[tuple[str, str], Hashing | None] = {}

    @cached_property
    def event(self) -> Estimate | None:
        """Returns the cost of a leg's two events: a call of one leg, traced less untraced."""
        for key in (REFUSED_CALL, EMPTY_CALL):
            traced, plain = self.traced.get(key), self.models.case(key)
            if traced is not None and plain is not None:
                return traced.event(plain.estimate)
        return None

    @cached_property
    def empty(self) -> Estimate | None:
        return self.time(EMPTY_CALL)

    @cached_property
    def entry(self) -> Estimate | None:
        """Returns the cost of the TA's session and entry in an empty call."""
        direct, refused = self.time(DIRECT_CALL), self.time(REFUSED_CALL)
        return None if direct is None or refused is None else direct - refused

    @cached_property
    def _repeats(self) -> Mapping[str, Fit]:
        if not self._net:
            return self.models.repeats
        cases = [self._net.get(case.key, case) for case in self.run.sound]
        return repeat_lines(cases, self.models.sampling)

    @cached_property
    def _net(self) -> Mapping[str, MeasuredCase]:
        return {
            case.key: _without_wait(case)
            for case in self.run.sound
            if any(sample.waited_ns for sample in case.samples)
        }

    def time(self, key: str) -> Estimate | None:
        """Returns the time of a call without its process's wait for a CPU; None for a case that the
        run lacks."""
        stats = self.models.case(key)
        net = self._net.get(key)
        if stats is not None and net is not None:
            stats = case_stats(net, self.models.sampling)
        return stats.estimate if stats is not None else None

    def waited(self, stats: CaseStats) -> Estimate | None:
        """Returns the time per call that the process waited for a CPU; None if unknown."""
        if any(sample.runq_ns is None for sample in self.run.cases[stats.key].samples):
            return None
        rest = self.time(stats.key)
        assert rest is not None
        # Both estimates have the same draws.
        return stats.estimate - rest

    def mapping(self, memory: str, direction: str, size: int) -> Sourced | None:
        """Returns the cost that one memory reference adds to an empty call, and its source."""
        empty = self.empty
        if empty is None:
            return None
        names = [buffer(memory, choice, size) for choice in (direction, "in", "inout", "out")]
        if memory == "allocated" and size <= DIGEST_BYTES:
            names.append(work.INVOKE.key(f"memref-{direction}"))
            names += [buffer(memory, "in", n) for n in (64, 4096)]
        for name in names:
            call = self.time(name)
            if call is not None:
                return call - empty, name
        like = work.SHM.work(memory, work.TEE, "in", size)
        cost = self.models.cost(memory, work.TEE, like.curve or "")
        if cost is None or not cost.fit.fits:
            return None
        return cost.at(size) - empty, f"the model of {like.key}"

    # Inside the TA -------------------------------------------------------------------

    def operation(self, case: Work) -> Sourced | None:
        """Returns the cost of an operation inside a call, by repetitions or by the TA's counter."""
        by_slope = operation(self._repeats, case.key)
        if by_slope is not None:
            return by_slope, "slope over repetitions"
        counted = self.models.counted.get(case.key)
        if counted is None or counted.inside is None:
            return None
        return counted.inside, "the TA's counter"

    def whole(self, case: Work) -> dict[int, Sourced]:
        """Returns whole messages' operations of the same algorithm and backend, by rising size."""
        like = (work.ONESHOT, case.algorithm, case.backend)
        cases = (stats.work for stats in self.models.stats)
        alike = [whole for whole in cases if (whole.row, whole.algorithm, whole.backend) == like]
        operations = {whole.size or 0: self.operation(whole) for whole in alike}
        return {size: cost for size, cost in sorted(operations.items()) if cost is not None}

    def hashing(self, case: Work) -> Hashing | None:
        """Returns the cost of hashing for an algorithm and backend: by a line over operations
        inside a call, else by the model of whole calls. None if neither separates the set-up from
        the blocks."""
        name = case.algorithm, case.backend
        if name not in self._hashing:
            self._hashing[name] = self._hashing_by(case)
        return self._hashing[name]

    def _hashing_by(self, case: Work) -> Hashing | None:
        algorithm = self.run.algorithm(case.algorithm)
        if not algorithm.block_bytes:
            return None
        form = Form("message", algorithm.block_bytes, algorithm.pad_bytes or 0)
        by_size = self.whole(case)
        first, last = min(by_size, default=0), max(by_size, default=0)
        if by_size and form.blocks(last) > SPREAD * form.blocks(first):
            line = _line(form, list(by_size), [value for value, _ in by_size.values()])
            if line is not None:
                to = "and" if len(by_size) == 2 else "to"
                return Hashing(line, form, f"{by_size[last][1]}, {first} {to} {last} bytes")
        cost = self.models.cost(case.algorithm, case.backend)
        reference = self.mapping("allocated", "in", DIGEST_BYTES)
        fits = cost is not None and cost.fit.fits and "block" in cost.fit.terms
        if cost is None or not fits or self.empty is None or reference is None:
            return None
        outside = self.empty + reference[0].scaled(2)
        return Hashing(cost.fit, form, f"the model of {cost.name}", outside)


def _line(form: Form, sizes: Sequence[int], values: Sequence[Estimate]) -> Fit | None:
    """Fits operations over sizes; too few sizes give a line through the outermost two."""
    base, candidates = form.columns(sizes, [None] * len(sizes))
    line = fit(sizes, values, base, candidates)
    if line is not None or len(sizes) > len(base):
        return line
    few, many = (base["block"][place] for place in (0, -1))
    block = (values[-1] - values[0]).scaled(1 / (many - few))
    ends = tuple(
        FitPoint(size, value, value.value, None) for size, value in zip(sizes, values, strict=True)
    )
    return Fit({"call": values[0] - block.scaled(few), "block": block}, ends)


def buffer(memory: str, direction: str, size: int) -> str:
    """Returns the key of the case whose call only carries this buffer."""
    return work.SHM.key(memory, work.TEE, direction, size)


def _without_wait(measured: MeasuredCase) -> MeasuredCase:
    starts = (
        tuple(msgspec.structs.replace(sample, ns=sample.ns - sample.waited_ns) for sample in start)
        for start in measured.starts
    )
    return replace(measured, starts=tuple(starts))
