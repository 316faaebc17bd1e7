# SPDX-License-Identifier: BSD-2-Clause
"""The ground on which rules judge a run, and functions that make findings from their results."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from teemark.base.finding import Figure, Finding, Share, Status, Topic
from teemark.base.work import EMPTY_CALL, SHM, Workload
from teemark.model.breakdown import Breakdown, breakdowns
from teemark.model.decide import Answer, Side, above, samples_needed, within
from teemark.model.models import Cost, Models, build
from teemark.model.stats import CaseStats, Estimate
from teemark.run.reader import RunData
from teemark.trace.profile import Trace
from teemark.wording import fmt

SAME = 1.05
"""Two costs are the same if the whole interval of their ratio is within this factor either way."""

WAYS = ("in", "inout", "out")  # Directions of a buffer; all plans measure the first

KNOWN = 0.10  # Relative half-width of an interval above which a figure is uncertain

EXPLAIN = "teemark run --plan explain --trace-events"
QUICK = "teemark run --plan quick"  # Commands that measure what a finding lacks

STATUS: dict[Answer, Status] = {"yes": "found", "no": "ruled out", "undecided": "undecided"}


Unit = Literal["cost", "times", "share", ""]


@dataclass(frozen=True, slots=True)
class Ground:
    run: RunData
    models: Models
    breakdowns: tuple[Breakdown, ...] = ()
    trace: Trace | None = None

    @classmethod
    def of(cls, run: RunData, trace: Trace | None = None) -> "Ground":
        models = build(run)
        return cls(run, models, breakdowns(run, models), trace)

    @property
    def optee(self) -> str:
        """Returns the option that traces the OP-TEE that was measured: Debian's on an emulated
        board, elsewhere a source tree of the board's version."""
        images = self.run.header.firmware if self.run.header is not None else ()
        from_tree = any(image.name == "OP-TEE" and image.commit is not None for image in images)
        return "--optee TREE" if from_tree or not self.run.emulated else "--optee source"

    @property
    def trace_core(self) -> str:
        """Returns the command that shows where OP-TEE's core spends an empty call."""
        return f"teemark trace {EMPTY_CALL} {self.optee}"

    def by_size(
        self, workload: Workload, algorithm: str, backend: str, direction: str = WAYS[0]
    ) -> dict[int, CaseStats]:
        """Returns a workload's cases by bytes, the smallest first; buffers only in one
        `direction`."""
        cases = {
            case.bytes: case
            for case in self.models.stats
            if (case.work.row, case.algorithm, case.backend) == (workload, algorithm, backend)
            and case.bytes is not None
            and (workload is not SHM or case.work.direction == direction)
        }
        return dict(sorted(cases.items()))

    def direction(self, memory: str) -> str:
        """Returns the direction of buffers by which a kind of memory is judged: the first in which
        the run has both this kind and allocated memory."""
        kinds = (memory, "allocated")
        both = (way for way in WAYS if all(self.by_size(SHM, kind, "tee", way) for kind in kinds))
        return next(both, WAYS[0])

    def main_algorithm(self, *backends: str) -> str | None:
        """Returns SHA-256 if all these backends have it, otherwise the first shared algorithm."""
        names = (cost.algorithm for cost in self.models.costs)
        shared = [name for name in names if all(self.models.cost(name, by) for by in backends)]
        return "sha256" if "sha256" in shared else next(iter(shared), None)

    def rates(self, backend: str, over: str) -> "Rates | None":
        """Compares the cost of a byte by two backends, for an algorithm that both have."""
        algorithm = self.main_algorithm(backend, over)
        first = self.models.cost(algorithm, backend) if algorithm else None
        second = self.models.cost(algorithm, over) if algorithm else None
        if first is None or second is None or first.slope.value <= 0 or second.slope.value <= 0:
            return None
        if first.fit.fits and second.fit.fits:
            return Rates(self, first, second, first.byte, second.byte)
        # No model holds: what the largest message takes that both measured says it for that one.
        at = [{int(p.x): p.measured for p in cost.fit.points if p.x} for cost in (first, second)]
        size = max(at[0].keys() & at[1].keys(), default=0)
        if not size:
            return None
        one, other = (costs[size].scaled(1 / size) for costs in at)
        return Rates(self, first, second, one, other, f" of a message of {fmt.size(size)}")

    def per_byte(self, byte: Estimate) -> str:
        text = f"{fmt.digits(byte.value)} {self.run.unit} a byte"
        return text + fmt.interval_in_brackets(self.run, byte, fmt.span(byte.interval))

    def title(self, backend: str) -> str:
        return self.run.backend(backend).title

    def times(self, ratio: Estimate) -> str:
        """Writes `33 times`, with the interval unless both of its ends are written alike."""

        def short(value: float) -> str:
            return fmt.digits(value, 2 if value < 99.5 else 3)

        return f"{short(ratio.value)} times{self.interval_in_brackets(ratio, short)}"

    def interval_in_brackets(self, figure: Estimate, written: Callable[[float], str]) -> str:
        """Writes a figure's interval in brackets; nothing if its ends look like the figure."""
        interval = figure.interval
        ends = [written(max(end, 0.0)) for end in (interval.low, interval.high)] if interval else []
        if ends == [written(figure.value)] * 2:
            return ""
        return fmt.interval_in_brackets(self.run, figure, fmt.TO.join(ends))

    def more_samples(self, ratio: Estimate, thresholds: Sequence[float], samples: int) -> str:
        """Says how many more samples, or starts, would decide an undecided question."""
        starts = self.run.starts_a_case
        return fmt.more_samples(ratio, samples_needed(ratio, thresholds, samples), starts)

    def both(self, first: CaseStats, second: CaseStats) -> str:
        """Writes the costs of two cases, both as counts or both as times."""
        timed = self.run.icount and not (first.estimate.counted and second.estimate.counted)
        left, right = (
            fmt.duration(stats.time.median) if timed else fmt.cost(self.run, stats.estimate)
            for stats in (first, second)
        )
        unit = " instructions"
        return f"{left.removesuffix(unit) if right.endswith(unit) else left} against {right}"

    def figure(self, what: str, value: Estimate, unit: Unit = "cost") -> Figure:
        """Returns a cost with its unit: instructions if it was counted, otherwise nanoseconds."""
        counted = "instructions" if self.run.icount and value.counted else "ns"
        unit = counted if unit == "cost" else unit  # type: ignore[assignment]
        cases = tuple(sorted(value.cases))
        return Figure(what, value.value, unit, value.interval, cases, value.meaningless)


Rule = Callable[[Ground], Finding | Iterable[Finding] | None]


def is_known(figure: Estimate | Figure) -> bool:
    """Returns true if the half-width of the interval is at most KNOWN times the figure."""
    interval = figure.interval
    return interval is not None and interval.width <= 2 * KNOWN * abs(figure.value)


def sure(*quantities: Estimate | Cost | CaseStats) -> bool:
    """Returns true if each is known and not `meaningless`; a Cost stands for its cost of a byte."""
    for quantity in quantities:
        figure = quantity.byte if isinstance(quantity, Cost) else quantity
        figure = figure.estimate if isinstance(figure, CaseStats) else figure
        if figure.meaningless or not is_known(figure):
            return False
    return True


@dataclass(frozen=True, slots=True)
class Rates:
    """The cost of a byte by two backends: by the models, for any long message. If a model doesn't
    fit, it is the measured cost of one message, which `scope` names."""

    ground: Ground
    one: Cost
    other: Cost
    one_byte: Estimate
    other_byte: Estimate
    scope: str = ""

    @property
    def ratio(self) -> Estimate:
        return self.one_byte / self.other_byte

    @property
    def name(self) -> str:
        return self.ground.run.title(self.one.algorithm)

    @property
    def side(self) -> Side:
        """Says whether `one` costs more than `other` (slower), less (faster) or the same."""
        if within(self.ratio, 1 / SAME, SAME) == "yes":
            return "same"
        if above(self.ratio, SAME) == "yes":
            return "slower"
        return "faster" if above(self.ratio, 1 / SAME) == "no" else "undecided"

    @property
    def evidence(self) -> str:
        costs = ((self.one, self.one_byte), (self.other, self.other_byte))
        both = (
            f"“{self.ground.title(cost.backend)}” takes {self.ground.per_byte(byte)}{self.scope}"
            for cost, byte in costs
        )
        return f"{', '.join(both)}."

    def finding(self, key: str, topic: Topic, claim: str, **more: Any) -> Finding:
        """Makes a finding of the comparison; if undecided, it says how many samples would
        decide."""
        undecided = self.side == "undecided"
        if undecided:
            samples = min(self.one.samples, self.other.samples)
            more |= {"remedy": self.ground.more_samples(self.ratio, (1 / SAME, SAME), samples)}
            more |= {"status": "undecided"}
        what = f"a byte{self.scope}, {self.one.backend} over {self.other.backend}"
        return Finding(
            key=key,
            topic=topic,
            claim=claim,
            figures=(self.ground.figure(what, self.ratio, "times"),),
            sure=not undecided and sure(self.one_byte, self.other_byte, self.ratio),
            **more,
        )


def written(figure: Figure) -> str:
    """Writes a figure with its interval: `a page: 189 instructions (exact)`."""
    interval = figure.interval
    spread = interval is not None and interval.width > 0
    match figure.unit:
        case "instructions":
            text = f"{fmt.instructions(figure.value)} instructions (exact)"
        case "ns":
            text = f"{fmt.duration(figure.value)} ({fmt.duration_interval(interval)})"
        case "times":
            text = fmt.factor(figure.value)
            if interval is None:
                text += " (too few samples for an interval)"
            elif spread:
                text += f" ({fmt.LEVEL} interval {fmt.span(interval.of_shares(figure.value))})"
        case "share":
            text = fmt.percent(figure.value)
            if interval is not None and spread:
                text += f" ({fmt.shares(interval.of_shares(figure.value))})"
        case _:
            text = fmt.digits(figure.value)
    return f"{figure.what}: {text}"


def not_checked(key: str, lacks: str, by: str = "", claim: str = "") -> Finding:
    """Makes a finding that a cause wasn't checked; `by` is the command that would check it."""
    finding = Finding(key=key, topic="cause", status="not checked", sure=False)
    return replace(finding, claim=claim, lacks=lacks, remedy=by)


def missing(*needs: tuple[object, str]) -> str:
    """Returns the names of the needs that are empty, joined by "and"; "" if none is."""
    return " and ".join(what for need, what in needs if not need)


def cause(
    key: str,
    status: Status | tuple[Estimate, float],
    shown: Sequence[Figure] = (),
    *,
    claim: str,
    remedy: str = "",
    facts: Sequence[str] = (),
    costs: Share | None = None,
    saves: Share | None = None,
    topic: Topic = "cause",
    certain: bool = True,
) -> Finding:
    """Makes a finding of a cause from a status, or from a ratio and the bound above which the cause
    is found. `claim`, `remedy` and the costs are given only for a found cause."""
    if isinstance(status, tuple):
        status = STATUS[above(*status)]
    doubts = tuple(dict.fromkeys(figure.doubt for figure in shown if figure.doubt))
    if doubts and status == "found":
        status = "undecided"
    is_found = status == "found"
    if is_found and costs is not None and saves != costs:
        facts = (*facts, f"costs {costs.words}")
    return Finding(
        key=key,
        topic=topic,
        status=status,
        claim=claim if is_found else "",
        evidence="; ".join((*map(written, shown), *facts, *doubts)),
        remedy=remedy if is_found else "",
        figures=tuple(shown),
        costs=costs if is_found else None,
        saves=saves if is_found else None,
        sure=certain and status != "undecided" and (not is_found or all(map(is_known, shown))),
    )


def share_of(extra: Estimate, whole: CaseStats, what: str) -> Share | None:
    """Returns `extra` as a share of a call's cost; None if it isn't positive."""
    if whole.time.median <= 0 or extra.value <= 0 or (extra / whole.estimate).meaningless:
        return None
    return Share(min(extra.value / whole.time.median, 1.0), what)
