# SPDX-License-Identifier: BSD-2-Clause
"""rpi3-small-messages: the floor for tiny messages and the rate for large ones."""

from __future__ import annotations

from functools import partial

from teemark.report.seed_tables.measured import (
    Absent,
    Lookup,
    Measured,
    Value,
    exactly,
    metric_of,
    quotient,
)
from teemark.report.seed_tables.table import SeedTable, Source
from teemark.teehash import Step

DOC = "rpi3-small-messages"
EMPTY = "invoke/none/tee/none"
CHUNK = 1 << 20

SIZES = (0, 1, 16, 64, 100, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20)
STEP = Step(52428800)
WHOLE = Step(104857600)


def _message(size: int) -> str:
    return f"oneshot/sha256/tee/{size}"


def _time(key: str, lookup: Lookup) -> Measured:
    return lookup.time(key)


def _peak(lookup: Lookup) -> Measured:
    rates = [(lookup.rate(_message(size)), size) for size in SIZES if size]
    known = [value for value, _ in rates if isinstance(value, Value)]
    return max(known, key=lambda value: value.median) if known else lookup.absent(_message(CHUNK))


def _per_byte(size: int, key: str, lookup: Lookup) -> Measured:
    value = lookup.time(key)
    return value if isinstance(value, Absent) else value.scaled(1 / size)


def _slope(lookup: Lookup) -> Measured:
    return lookup.per_byte("sha256", "tee")


def _efficiency(lookup: Lookup) -> Measured:
    """Hashing's share of a call of 1 MiB: its rate over sizes, times the bytes."""
    slope = _slope(lookup)
    if isinstance(slope, Absent):
        return slope
    return quotient(slope.scaled(CHUNK), lookup.time(_message(CHUNK)))


def _frequency(lookup: Lookup) -> Measured:
    """Of the counter that a TA reads: the document's clock."""
    hz = lookup.subject.run.machine.ta_counter.hz
    return lookup.unknown("ta_counter.hz") if hz is None else exactly(hz)


def _buffers(step: Step, lookup: Lookup) -> Measured:
    return lookup.teehash(step.key, metric_of("host", "buffer_memory"))


def _hashed(step: Step, lookup: Lookup) -> Measured:
    return lookup.teehash(step.key, metric_of("tee", "hashed_bytes"))


_METRICS: dict[str, Source] = {
    "Base Initialization Cost": partial(_time, _message(0)),
    "Context Switch Overhead": partial(_time, EMPTY),
    "Max Throughput": _peak,
    "Hardware Frequency": _frequency,
    "Overhead per byte, tiny messages": partial(_per_byte, 1, EMPTY),
    "Overhead per byte, large files": partial(_per_byte, CHUNK, EMPTY),
    "Overhead per operation": partial(_time, EMPTY),
    "Hashing efficiency": _efficiency,
}

_FLOOR_ROWS = tuple(f"{size} B" for size in SIZES if size <= 4096)

TABLES: tuple[SeedTable, ...] = (
    SeedTable(
        DOC,
        "memory",
        "Host memory",
        ("Host Memory Usage", "Hashed file"),
        ("Original Behavior", "Fixed Behavior"),
        {
            ("Host Memory Usage", "Fixed Behavior"): partial(_buffers, STEP),
            ("Hashed file", "Fixed Behavior"): partial(_hashed, STEP),
        },
        note="Measured: teehash's buffers.",
    ),
    SeedTable(
        DOC,
        "floor",
        "A. The floor",
        ("Minimum execution time", *_FLOOR_ROWS),
        ("value",),
        {
            ("Minimum execution time", "value"): partial(_time, _message(1)),
            **{
                (f"{size} B", "value"): partial(_time, _message(size))
                for size in SIZES
                if size <= 4096
            },
        },
        units={"value": "µs"},
        note="The time of a whole call with a message of so many bytes; the first row is 1 B.",
        first="message",
        tall=True,
    ),
    SeedTable(
        DOC,
        "scalability",
        "B. The rate",
        ("Time per byte",),
        ("value",),
        {("Time per byte", "value"): _slope},
        tall=True,
        note="Measured: the slope over all sizes, without the call.",
    ),
    SeedTable(
        DOC,
        "metrics",
        "Metric analysis: overhead",
        tuple(_METRICS),
        ("Value",),
        {(row, "Value"): source for row, source in _METRICS.items()},
        tall=True,
        note="Overhead per operation is here an empty call; mapping what a call carries comes on "
        "top of it.",
    ),
)
