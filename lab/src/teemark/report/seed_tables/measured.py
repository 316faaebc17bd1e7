# SPDX-License-Identifier: BSD-2-Clause
"""What a run has to say to a cell of a published table: a value with its spread, or why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from teemark.model.stats import Interval, Summary, summarize
from teemark.report.subject import Subject

TeehashReport = Mapping[str, object]


class NotKnown(Exception):
    """Nothing was measured. The text says why, a sentence without its full stop."""


@dataclass(frozen=True, slots=True)
class Value:
    """In base units: seconds, bytes, bytes a second, or a plain number."""

    median: float
    interval: Interval | None = None
    mean: float | None = None
    sd: float | None = None

    @classmethod
    def of(cls, summary: Summary) -> Value:
        return cls(summary.median, summary.interval, summary.mean, summary.sd)

    def __mul__(self, factor: float) -> Value:
        return Value(
            self.median * factor,
            self.interval.scaled(factor) if self.interval else None,
            self.mean * factor if self.mean is not None else None,
            self.sd * factor if self.sd is not None else None,
        )

    def __truediv__(self, other: Value | float) -> Value:
        """A quotient of two medians; its interval holds with those of both."""
        if not isinstance(other, Value):
            return self * (1 / other)
        if other.median <= 0:
            raise ZeroDivisionError
        interval = None
        if self.interval and other.interval and other.interval.low > 0:
            level = max(0.0, self.interval.level + other.interval.level - 1)
            low, high = self.interval.low / other.interval.high, other.interval.low
            interval = Interval(low, self.interval.high / high, level)
        return Value(self.median / other.median, interval)

    def __rtruediv__(self, number: float) -> Value:
        return exactly(number) / self

    def __add__(self, number: float) -> Value:
        """Moved; the standard deviation stays."""
        interval = self.interval
        if interval is not None:
            interval = Interval(interval.low + number, interval.high + number, interval.level)
        mean = self.mean + number if self.mean is not None else None
        return Value(self.median + number, interval, mean, self.sd)

    def __sub__(self, number: float) -> Value:
        return self + -number


def exactly(number: float) -> Value:
    """Not measured but known."""
    return Value(number, Interval(number, number, 1.0))


def metric(report: TeehashReport, group: str, name: str) -> float:
    """A figure of one teehash report in base units."""
    figures = report.get(group)
    figure = figures.get(name) if isinstance(figures, dict) else None
    if not isinstance(figure, dict):
        raise NotKnown(f"this teehash doesn't report {name.replace('_', ' ')}")
    value = figure.get("value")
    if not isinstance(value, int | float):
        raise NotKnown(str(figure.get("reason") or "not known").rstrip("."))
    return float(value) * {"ns": 1e-9, "percent": 0.01}.get(str(figure.get("unit")), 1.0)


class Lookup:
    """A run, asked for cases, for teehash steps and for facts. What isn't there is NotKnown."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.machine = subject.run.machine
        self._reports: dict[str, list[TeehashReport]] = {}
        for record in subject.run.teehash:
            self._reports.setdefault(record.case, []).append(record.report)

    def absent(self, key: str) -> NotKnown:
        """Why there is nothing of a case."""
        for skip in self.subject.run.skips:
            if skip.case == key:
                return NotKnown(skip.reason.rstrip("."))
        for fail in self.subject.run.fails:
            if fail.case == key:
                return NotKnown(f"it failed: {fail.reason.rstrip('.')}")
        if self.subject.run.incomplete:
            return NotKnown(f"the run is incomplete: {self.subject.run.incomplete}")
        return NotKnown("this run has nothing of it: its plan doesn't ask, or it was cut off")

    def time(self, key: str) -> Value:
        """Seconds of one call."""
        stats = self.subject.models.case(key)
        if stats is None:
            raise self.absent(key)
        return Value.of(stats.time) * 1e-9

    def rate(self, key: str) -> Value:
        """Bytes a second."""
        stats = self.subject.models.case(key)
        if stats is None:
            raise self.absent(key)
        if stats.throughput is None:
            raise NotKnown(f"{key} moves no bytes")
        return Value(stats.throughput, stats.throughput_interval)

    def size(self, key: str) -> Value:
        """Bytes of one call."""
        stats = self.subject.models.case(key)
        if stats is None:
            raise self.absent(key)
        return exactly(stats.bytes or 0)

    def inside(self, key: str) -> Value:
        """Seconds of one operation inside the TA, without the crossing: the slope over repeats."""
        for line in self.subject.models.repeats:
            if line.key == key:
                return Value(line.line.slope, line.line.slope_interval) * 1e-9
        if self.subject.models.case(key) is None:
            raise self.absent(key)
        raise NotKnown(f"{key} wasn't repeated inside a call often enough for a slope")

    def per_byte(self, algorithm: str, backend: str) -> Value:
        """Seconds of one more byte: the slope over sizes."""
        cost = self.subject.models.cost(algorithm, backend)
        if cost is None:
            raise NotKnown(f"no line over sizes could be fitted to oneshot/{algorithm}/{backend}")
        return Value(cost.ns_per_byte, cost.line.slope_interval) * 1e-9

    def teehash(self, key: str, figure: Callable[[TeehashReport], float]) -> Value:
        """A figure of every run of a step, as one value."""
        reports = self._reports.get(key)
        if not reports:
            raise self.absent(key)
        return Value.of(summarize([figure(report) for report in reports]))

    def fact(self, name: str) -> Value | str:
        """A fact of the machine record, such as ta_counter.hz."""
        group, _, key = name.partition(".")
        found = getattr(getattr(self.machine, group), key)
        if found is None:
            raise self._unknown(name)
        if isinstance(found, bool):
            return "yes" if found else "no"
        return exactly(found) if isinstance(found, int | float) else str(found)

    def option(self, name: str) -> str:
        """How an option of the kernel's configuration is set."""
        if self.machine.kernel.options is None:
            raise self._unknown("kernel.options")
        for line in self.machine.kernel.options:
            key, _, value = line.partition("=")
            if key == name:
                return "not set" if value == "n" else value
        raise NotKnown("teebench doesn't record this option")

    def driver(self, algorithm: str, what: str, kind: str = "") -> Value | str:
        """`name` or `priority` of the driver that the kernel prefers; with `kind`, among those
        that have it in their names."""
        if self.machine.crypto.kernel_drivers is None:
            raise self._unknown("crypto.kernel_drivers")
        found = []
        for line in self.machine.crypto.kernel_drivers:
            words = line.split()
            if words[:1] == [algorithm] and words[2:3] == ["priority"] and kind in words[1]:
                found += [
                    (int(priority), words[1]) for priority in words[3:4] if priority.isdigit()
                ]
        if not found:
            named = f"{kind} driver".strip()
            raise NotKnown(
                f"the kernel lists no {named} for {algorithm}; modules are loaded on first use"
            )
        priority, name = max(found)
        return exactly(priority) if what == "priority" else name

    def _unknown(self, fact: str) -> NotKnown:
        """Why a fact of the machine is null."""
        reason = self.machine.reasons.get(fact)
        return NotKnown((reason or f"the machine didn't tell {fact}").rstrip("."))
