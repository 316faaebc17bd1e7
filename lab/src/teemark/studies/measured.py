# SPDX-License-Identifier: BSD-2-Clause
"""Looks up a cell of a published table in a run: a value with its spread, or why there is none."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from teemark.findings.offload import PROVEN, WORDS, Outcome, ghz, offloads
from teemark.findings.subject import Subject
from teemark.model import stats
from teemark.model.models import operation
from teemark.model.stats import Estimate, Kind, Summary, summarize
from teemark.reference.data import Published, load
from teemark.reference.units import UNITS
from teemark.wording.interval import Interval

TeehashReport = Mapping[str, object]

_TIMED = re.compile(
    r"_time\b|\bfirst\.|utilization|latency|run_queue|hash_rate|empty_call|io_to_compute"
)
"""A figure of teehash's report with one of these words is a time, or made of times."""

TRIED = "teehash-failed"  # Code of the skip of a step that teehash tried and couldn't do


class NotKnown(Exception):
    """Nothing was measured. The message is a sentence that says why, without its full stop."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value in base units: seconds, bytes, bytes per second, or a plain number."""

    estimate: Estimate
    mean: float | None = None
    sd: float | None = None

    @classmethod
    def of(cls, summary: Summary) -> "Value":
        return cls(summary.estimate, summary.mean, summary.sd)

    @property
    def median(self) -> float:
        return self.estimate.value

    @property
    def interval(self) -> Interval | None:
        return self.estimate.interval

    def __mul__(self, factor: float) -> "Value":
        return Value(
            self.estimate.scaled(factor),
            self.mean * factor if self.mean is not None else None,
            self.sd * factor if self.sd is not None else None,
        )

    def __truediv__(self, divisor: "Value | float") -> "Value":
        """Returns the quotient of two medians, without mean and standard deviation. Raises Unlike
        for quantities that have none, NotKnown for one that nothing follows from."""
        if not isinstance(divisor, Value):
            return self * (1 / divisor)
        if divisor.median <= 0:
            raise ZeroDivisionError
        quotient = self.estimate / divisor.estimate
        if quotient.meaningless:
            raise NotKnown(quotient.meaningless)
        return Value(quotient)

    def __rtruediv__(self, number: float) -> "Value":
        return exact_value(number) / self

    def __add__(self, term: "Value | float") -> "Value":
        """Returns the sum of two medians. Adding a number shifts median and mean, and keeps the
        standard deviation."""
        if isinstance(term, Value):
            return Value(self.estimate + term.estimate)
        mean = self.mean + term if self.mean is not None else None
        return Value(self.estimate + stats.exactly(term), mean, self.sd)

    def __sub__(self, term: "Value | float") -> "Value":
        return self + term * -1

    def __rsub__(self, number: float) -> "Value":
        return self * -1 + number


def exact_value(number: float) -> Value:
    """Returns a value that is known, not measured."""
    return Value(stats.exactly(number))


def published(figure: Published) -> Value:
    """Returns a document's figure, its unit corrected; a time or a rate is of the kind of clock
    that the document's system has."""
    timed = UNITS[figure.corrected_unit][0] in ("time", "rate", "time per byte")
    kind: Kind = "number" if not timed else "emulated" if figure.document.emulated else "timed"
    return Value(replace(stats.exactly(figure.base.mid), kind=kind))


def metric(report: TeehashReport, group: str, name: str) -> float:
    """Returns a figure of a teehash report, in base units; NotKnown if the report lacks it."""
    figures = report.get(group)
    figure = figures.get(name) if isinstance(figures, dict) else None
    if not isinstance(figure, dict):
        raise NotKnown(f"this teehash doesn't report {name.replace('_', ' ')}")
    value = figure.get("value")
    if not isinstance(value, int | float):
        raise NotKnown(str(figure.get("reason") or "not known").rstrip("."))
    return float(value) * {"ns": 1e-9, "percent": 0.01}.get(str(figure.get("unit")), 1.0)


class Lookup:
    """Looks up cases, teehash steps and facts in a run; raises NotKnown for what is missing."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.machine = subject.run.machine
        self._reports: dict[str, list[TeehashReport]] = {}
        for record in subject.run.teehash:
            self._reports.setdefault(record.case, []).append(record.report)

    def absent(self, key: str) -> NotKnown:
        """Returns an exception that says why a case has no values."""
        run = self.subject.run
        why = next((skip.reason for skip in run.skips if skip.case == key), "")
        why = why or next((f"it failed: {f.reason}" for f in run.fails if f.case == key), "")
        if not why and run.incomplete:
            why = f"the run is incomplete: {run.incomplete}"
        why = why or "this run didn't measure it: it isn't in the plan, or the run was cut off"
        return NotKnown(why.rstrip("."))

    def _case(self, key: str) -> stats.CaseStats:
        case = self.subject.models.case(key)
        if case is None:
            raise self.absent(key)
        return case

    def time(self, key: str) -> Value:
        """Returns the time of one call, in seconds."""
        return Value.of(self._case(key).time) * 1e-9

    def rate(self, key: str) -> Value:
        """Returns the throughput in bytes per second."""
        case = self._case(key)
        if case.throughput is None:
            raise NotKnown(f"{key} moves no bytes")
        return (case.bytes or 0) / (Value(case.estimate) * 1e-9)

    def size(self, key: str) -> Value:
        """Returns the number of bytes that one call works on."""
        return exact_value(self._case(key).bytes or 0)

    def inside(self, key: str) -> Value:
        """Returns the seconds of one operation inside the TA, without the crossing: the slope over
        repetitions in a call."""
        if (slope := operation(self.subject.models.repeats, key)) is not None:
            return Value(slope) * 1e-9
        if self.subject.models.case(key) is None:
            raise self.absent(key)
        raise NotKnown(f"{key} wasn't repeated inside a call often enough for a slope")

    def cycles(self, key: str) -> Value:
        """Returns the cycles for a byte inside the TA, at the CPU's highest clock."""
        if (clock := ghz(self.subject.run)) is None:
            raise NotKnown("the CPU's clock isn't known")
        return self.inside(key) * (1e9 * clock) / self.size(key)

    def per_byte(self, algorithm: str, backend: str) -> Value:
        """Returns the seconds per further byte: the slope over sizes."""
        cost = self.subject.models.cost(algorithm, backend)
        if cost is None:
            raise NotKnown(f"no line over sizes could be fitted to oneshot/{algorithm}/{backend}")
        return Value(cost.byte) * 1e-9

    def teehash(self, key: str, name: str, figure: Callable[[TeehashReport], float]) -> Value:
        """Returns the median of `figure` over all reports of a step; `name` names the figure."""
        reports = self._reports.get(key)
        if not reports:
            raise self.absent(key)
        values = [figure(report) for report in reports]
        middle = stats.estimate((values,), f"{key} {name}")
        if _TIMED.search(name):
            middle = replace(middle, kind=self._clock(stats.steady(values)))
        return Value.of(summarize(values, middle))

    def _clock(self, steady: bool = True) -> Kind:
        kind = self.subject.models.sampling.kind
        return kind if steady or kind != "counted" else "waited"

    def ran(self, key: str) -> str:
        """Returns "yes" if teehash did this step, "no" if it tried and said why it can't, "crashed"
        if a signal ended it, as where memory ran out."""
        if key in self._reports:
            return "yes"
        for skip in self.subject.run.skips:
            if skip.case == key and skip.code == TRIED:
                by_signal = re.search(r"ended with status (1[2-9]|2\d)\d\b", skip.reason)
                return "crashed" if by_signal else "no"
        raise self.absent(key)

    def samples(self, key: str) -> Value:
        """Returns the number of samples of a case."""
        return exact_value(self._case(key).time.count)

    def verified(self, key: str) -> str:
        """Returns whether the output was verified; teebench never times a wrong output."""
        self._case(key)
        return "verified" if self.subject.run.cases[key].record.verified else "not verified"

    def fact(self, name: str) -> Value | str:
        """Returns a fact of the machine record, such as ta_counter.hz."""
        group, _, key = name.partition(".")
        fact = getattr(getattr(self.machine, group), key)
        if fact is None:
            raise self._unknown(name)
        if isinstance(fact, bool):
            return "yes" if fact else "no"
        if isinstance(fact, tuple):
            return "; ".join(fact) if fact else "none"
        return exact_value(fact) if isinstance(fact, int | float) else str(fact)

    def has(self, name: str, word: str) -> str:
        """Returns whether a list of the machine record, such as cpu.features, has that word."""
        return "yes" if word in str(self.fact(name)).split("; ") else "no"

    def drift(self) -> Value:
        """Returns the largest ratio of the levels of two quarters of the run."""
        drift = self.subject.models.drift
        if drift is None:
            raise NotKnown("no level of the whole run is known: it counts, or has too few samples")
        return Value(drift.most)

    def option(self, name: str) -> str:
        """Returns the setting of an option in the kernel's configuration."""
        if self.machine.kernel.options is None:
            raise self._unknown("kernel.options")
        for line in self.machine.kernel.options:
            key, _, value = line.partition("=")
            if key == name:
                return "not set" if value == "n" else value
        raise NotKnown("teebench doesn't record this option")

    def driver(self, algorithm: str, what: str, kind: str = "") -> Value | str:
        """Returns `name` or `priority` of the driver that the kernel prefers; `kind` restricts the
        choice to drivers whose names contain it."""
        if self.machine.crypto.kernel_drivers is None:
            raise self._unknown("crypto.kernel_drivers")
        pattern = re.compile(rf"{re.escape(algorithm)}\s+(\S*)\s+priority\s+(\d+)(?!\S)")
        lines = filter(None, map(pattern.match, self.machine.crypto.kernel_drivers))
        drivers = [(int(line[2]), line[1]) for line in lines if kind in line[1]]
        if not drivers:
            why = f"the kernel lists no {kind} driver for {algorithm}".replace("  ", " ")
            raise NotKnown(f"{why}; modules are loaded on first use")
        priority, name = max(drivers)
        return exact_value(priority) if what == "priority" else name

    def done_by(self, key: str) -> str:
        """Returns who did the work of a case by the evidence, such as an accelerator or the CPU's
        instructions."""
        self._case(key)
        for offload in offloads(self.subject.run, self.subject.models):
            if offload.key == key:
                return WORDS[offload.outcome] + (f" ({offload.driver})" if offload.driver else "")
        raise NotKnown("this run wasn't watched: it is of an older teebench")

    def rate_by(self, outcome: Outcome, work: str, parameters: str) -> Value:
        """Returns the bytes per second of the fastest kernel driver that is proven to have this
        `outcome`."""
        return self.rate(self._fastest(outcome, work, parameters))

    def driver_by(self, outcome: Outcome, work: str, parameters: str, what: str) -> Value | str:
        """Returns `name` or `priority` of the driver that `rate_by` finds."""
        key = self._fastest(outcome, work, parameters)
        driver = self.subject.run.cases[key].record.kernel_driver
        assert driver is not None
        if what == "name":
            return driver.name
        if driver.priority is None:
            raise NotKnown(f"/proc/crypto names no priority of {driver.name}")
        return exact_value(driver.priority)

    def _fastest(self, outcome: Outcome, work: str, parameters: str) -> str:
        """Returns the case of the fastest kernel driver that is proven to have this `outcome`."""
        measured = []
        for offload in offloads(self.subject.run, self.subject.models):
            case = self.subject.run.cases[offload.key].record
            mine = (f"{case.workload}/{case.algorithm}", case.parameters) == (work, parameters)
            if mine and offload.driver is not None:
                measured.append(offload)
        if not measured:
            raise NotKnown("no driver of the kernel was measured")
        fitting = [offload.key for offload in measured if offload.outcome == outcome]
        if not fitting:
            are = sorted({f"{case.driver} is {WORDS[case.outcome]}" for case in measured})
            raise NotKnown(f"no driver here is proven to be {PROVEN[outcome]}: {', '.join(are)}")
        return max(fitting, key=lambda key: self.rate(key).median)

    def published(self, table: str, row: str, column: str) -> Value:
        """Returns a figure of the document of the run's plan, with its unit corrected."""
        figure = load().get(self.subject.run.plan or "", table, row, column)
        if figure.value is None:
            raise NotKnown(f"{row} is no number in the document")
        return published(figure)

    def constant(self, name: str) -> Value:
        return exact_value(load().constant(name))

    def _unknown(self, fact: str) -> NotKnown:
        """Returns the exception that says why a fact of the machine is null."""
        reason = self.machine.reasons.get(fact)
        return NotKnown((reason or f"the machine didn't tell {fact}").rstrip("."))
