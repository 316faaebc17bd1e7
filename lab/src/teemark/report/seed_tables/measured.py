# SPDX-License-Identifier: BSD-2-Clause
"""What a run has to say to a cell of a published table: a value with its spread, or why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from teemark.model.stats import Interval, Summary, summarize
from teemark.report.subject import Subject


@dataclass(frozen=True, slots=True)
class Value:
    """In base units: seconds, bytes, bytes a second, or a plain number."""

    median: float
    interval: Interval | None = None
    mean: float | None = None
    sd: float | None = None
    count: int | None = None

    @classmethod
    def of(cls, summary: Summary, factor: float = 1.0) -> Value:
        return cls(
            summary.median * factor,
            summary.interval.scaled(factor) if summary.interval else None,
            summary.mean * factor,
            summary.sd * factor if summary.sd is not None else None,
            summary.count,
        )

    def per(self, other: Value) -> Value:
        """A quotient of two medians; its interval holds with those of both."""
        interval = None
        if self.interval and other.interval and other.interval.low > 0:
            level = max(0.0, self.interval.level + other.interval.level - 1)
            interval = Interval(
                self.interval.low / other.interval.high,
                self.interval.high / other.interval.low,
                level,
            )
        return Value(self.median / other.median, interval)

    def scaled(self, factor: float) -> Value:
        return replace(
            self,
            median=self.median * factor,
            interval=self.interval.scaled(factor) if self.interval else None,
            mean=self.mean * factor if self.mean is not None else None,
            sd=self.sd * factor if self.sd is not None else None,
        )

    def plus(self, number: float) -> Value:
        """Moved; the standard deviation stays."""
        interval = self.interval
        if interval is not None:
            interval = Interval(interval.low + number, interval.high + number, interval.level)
        mean = self.mean + number if self.mean is not None else None
        return replace(self, median=self.median + number, interval=interval, mean=mean)


def exactly(number: float) -> Value:
    """Not measured but known."""
    return Value(number, Interval(number, number, 1.0))


@dataclass(frozen=True, slots=True)
class Absent:
    """Nothing was measured, and this is why: a sentence without its full stop."""

    reason: str


@dataclass(frozen=True, slots=True)
class Words:
    """A fact of the machine that is no number."""

    text: str


Measured = Value | Absent

TeehashReport = Mapping[str, object]


class NotKnown(Exception):
    """A figure of a teehash report is null; the text says why."""


def metric(report: TeehashReport, group: str, name: str) -> float:
    """A figure of one teehash report in base units; NotKnown with its own reason."""
    figures = report.get(group)
    figure = figures.get(name) if isinstance(figures, dict) else None
    if not isinstance(figure, dict):
        raise NotKnown(f"this teehash doesn't report {name.replace('_', ' ')}")
    value = figure.get("value")
    if not isinstance(value, int | float):
        raise NotKnown(str(figure.get("reason") or "not known"))
    return float(value) * {"ns": 1e-9, "percent": 0.01}.get(str(figure.get("unit")), 1.0)


def total(report: TeehashReport) -> float:
    return metric(report, "host", "total_time")


def reading(report: TeehashReport) -> float:
    return metric(report, "host", "file_read_time")


def hashing(report: TeehashReport) -> float:
    return metric(report, "tee", "hash_compute_time")


def calls(report: TeehashReport) -> float:
    return metric(report, "tee", "invoke_count")


def overhead(report: TeehashReport) -> float:
    """As rpi3-secure-hash defines it: what is neither reading nor hashing."""
    return total(report) - reading(report) - hashing(report)


class Lookup:
    """A run, asked for cases and for teehash steps by key."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self._reports: dict[str, list[TeehashReport]] = {}
        for record in subject.run.teehash:
            self._reports.setdefault(record.case, []).append(record.report)

    def absent(self, key: str) -> Absent:
        """Why there is nothing of a case."""
        for skip in self.subject.run.skips:
            if skip.case == key:
                return Absent(skip.reason.rstrip("."))
        for fail in self.subject.run.fails:
            if fail.case == key:
                return Absent(f"it failed: {fail.reason.rstrip('.')}")
        if self.subject.run.incomplete:
            return Absent(f"the run is incomplete: {self.subject.run.incomplete}")
        return Absent("this run has nothing of it: its plan doesn't ask, or it was cut off")

    def unknown(self, fact: str) -> Absent:
        """Why a fact of the machine is null."""
        reason = self.subject.run.machine.reasons.get(fact)
        return Absent((reason or f"the machine didn't tell {fact}").rstrip("."))

    def time(self, key: str) -> Measured:
        """Seconds of one call."""
        stats = self.subject.models.case(key)
        return self.absent(key) if stats is None else Value.of(stats.time, 1e-9)

    def rate(self, key: str) -> Measured:
        """Bytes a second."""
        stats = self.subject.models.case(key)
        if stats is None:
            return self.absent(key)
        if stats.throughput is None:
            return Absent(f"{key} moves no bytes")
        return Value(stats.throughput, stats.throughput_interval, count=stats.time.count)

    def inside(self, key: str) -> Measured:
        """Seconds of one operation inside the TA, without the crossing: the slope over repeats."""
        for line in self.subject.models.repeats:
            if line.key == key:
                return Value(line.operation.value, line.operation.interval).scaled(1e-9)
        absent = self.absent(key)
        if self.subject.models.case(key) is not None:
            return Absent(f"{key} wasn't repeated inside a call often enough for a slope")
        return absent

    def per_byte(self, algorithm: str, backend: str) -> Measured:
        """Seconds of a byte: the slope over sizes."""
        cost = self.subject.models.cost(algorithm, backend)
        if cost is None:
            return Absent(f"no line over sizes could be fitted to oneshot/{algorithm}/{backend}")
        return Value(cost.ns_per_byte, cost.byte.interval).scaled(1e-9)

    def teehash(self, key: str, figure: Callable[[TeehashReport], float]) -> Measured:
        """A figure of every run of a step, as one value."""
        reports = self._reports.get(key)
        if not reports:
            return self.absent(key)
        try:
            return Value.of(summarize([figure(report) for report in reports]))
        except NotKnown as why:
            return Absent(str(why).rstrip("."))
        except ZeroDivisionError:
            return Absent("it would be divided by zero")


def metric_of(group: str, name: str) -> Callable[[TeehashReport], float]:
    return lambda report: metric(report, group, name)


def quotient(one: Measured, other: Measured) -> Measured:
    """Absent when either is, or when the divisor's median isn't positive."""
    if isinstance(one, Absent):
        return one
    if isinstance(other, Absent):
        return other
    return one.per(other) if other.median > 0 else Absent("it would be divided by zero")
