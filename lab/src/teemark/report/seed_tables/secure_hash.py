# SPDX-License-Identifier: BSD-2-Clause
"""rpi3-secure-hash: chunked and single-shot hashing of files, by teehash."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from teemark.report.seed_tables.measured import (
    Lookup,
    Measured,
    TeehashReport,
    calls,
    hashing,
    metric,
    metric_of,
    overhead,
    quotient,
    reading,
    total,
)
from teemark.report.seed_tables.table import SeedTable, Source
from teemark.teehash import Step

DOC = "rpi3-secure-hash"

STEPS = {
    "4.5MB cold": Step(4488896, cache="cold"),
    "4.5MB warm": Step(4488896),
    "40MB": Step(42822485),
    "100MB": Step(107058724),
    "4.8MB JSON": Step(4780000),
    "6.2MB PDF": Step(6240000),
    "Medium File": Step(4780000, mode="oneshot"),
    "Medium File, cold": Step(4780000, mode="oneshot", cache="cold"),
}
"""What the plan runs. The published single-shot file isn't known; it is the 4.78 MB one here."""

_ALSO = {"40MB File": "40MB", "100MB File": "100MB"}


def chunk_size(report: TeehashReport) -> float:
    value = report.get("chunk")
    return float(value) if isinstance(value, int | float) else 0.0


METRICS = {
    "File Size": metric_of("tee", "hashed_bytes"),
    "Chunk Size": chunk_size,
    "File Read I/O Time": reading,
    "Context Switches": metric_of("host", "context_switches"),
    "Voluntary Context Switches": metric_of("host", "voluntary_context_switches"),
    "Involuntary Context Switches": metric_of("host", "involuntary_context_switches"),
    "Total Time": total,
    "CPU Time": metric_of("host", "cpu_time"),
    "Memory Peak": metric_of("host", "peak_memory"),
    "IPC Calls": calls,
    "RPC Count": metric_of("tee", "rpc_count"),
    "Secure Storage Access": metric_of("tee", "secure_storage_accesses"),
    "TEE Stack Usage": metric_of("tee", "ta_stack_high_water"),
    "Hash Operations": metric_of("tee", "hash_operations"),
    "Hash Compute Time": hashing,
    "TEE Time Delta": metric_of("tee", "tee_time"),
    "REE Time Delta": metric_of("tee", "tee_clock_delta"),
    "Average time per hash operation": metric_of("derived", "time_per_operation"),
    "Average IPC latency": metric_of("derived", "latency_per_call"),
    "CPU Utilization": metric_of("derived", "cpu_utilization"),
    "I/O vs Compute Time Ratio": metric_of("derived", "io_to_compute_ratio"),
    "Involuntary Switches": metric_of("host", "involuntary_context_switches"),
}


def _key(column: str) -> str:
    return STEPS[_ALSO.get(column, column)].key


def _of(row: str, column: str, lookup: Lookup) -> Measured:
    return lookup.teehash(_key(column), METRICS[row])


def _scaling(row: str, one: str, other: str, lookup: Lookup) -> Measured:
    return quotient(_of(row, other, lookup), _of(row, one, lookup))


def _cells(rows: tuple[str, ...], columns: tuple[str, ...]) -> dict[tuple[str, str], Source]:
    return {(row, column): partial(_of, row, column) for row in rows for column in columns}


_RUN_ROWS = tuple(row for row in METRICS if row != "Involuntary Switches")
_RUN_COLUMNS = ("4.5MB cold", "4.5MB warm", "40MB", "100MB")
_LARGE = (
    "File Size",
    "Total Time",
    "Hash Compute Time",
    "File Read I/O Time",
    "IPC Calls",
    "Involuntary Switches",
)


def _scaled(table: str, title: str, rows: tuple[str, ...], one: str, other: str) -> SeedTable:
    cells = _cells(rows, (one, other))
    for row in rows:
        cells[row, "Scaling Factor"] = partial(_scaling, row, one, other)
    return SeedTable(DOC, table, title, rows, (one, other, "Scaling Factor"), cells)


def _per_call(report: TeehashReport) -> float:
    return overhead(report) / calls(report)


def _share(part: str, report: TeehashReport) -> float:
    parts = {"Hashing": hashing, "Overhead": overhead, "I/O": reading}
    return parts[part](report) / total(report)


def _teehash(column: str, figure: Callable[[TeehashReport], float], lookup: Lookup) -> Measured:
    return lookup.teehash(_key(column), figure)


_FILES = ("40MB File", "100MB File", "4.8MB JSON", "6.2MB PDF")

_OVERHEAD = SeedTable(
    DOC,
    "overhead",
    "Finding 2: overhead of a call",
    _FILES,
    ("Total Overhead", "Average per Call"),
    {
        (row, column): partial(_teehash, row, figure)
        for row in _FILES
        for column, figure in (("Total Overhead", overhead), ("Average per Call", _per_call))
    },
    units={"Total Overhead": "µs"},
    note="Overhead is the document's: total − reading − hashing, so it holds the opening of the "  # noqa: RUF001
    "session and the start of the program too.",
    first="file",
)

_PROFILE = SeedTable(
    DOC,
    "profile",
    "Finding 3: where the time goes",
    ("40MB File", "100MB File"),
    ("Hashing", "Overhead", "I/O"),
    {
        (row, column): partial(_teehash, row, partial(_share, column))
        for row in ("40MB File", "100MB File")
        for column in ("Hashing", "Overhead", "I/O")
    },
    first="file",
)


def _tee_overhead(report: TeehashReport) -> float:
    return metric(report, "tee", "tee_time") - hashing(report)


_SINGLE_ROWS = {
    "File Read I/O": reading,
    "Total Execution Time": total,
    "Time in TEE": metric_of("tee", "tee_time"),
    "Hash Compute Time": hashing,
    "Overhead in TEE": _tee_overhead,
}

_SINGLE = SeedTable(
    DOC,
    "single-shot",
    "Finding 4: single-shot",
    tuple(_SINGLE_ROWS),
    ("Medium File", "Medium File, cold"),
    {
        (row, column): partial(_teehash, column, figure)
        for row, figure in _SINGLE_ROWS.items()
        for column in ("Medium File", "Medium File, cold")
    },
    units=dict.fromkeys(("Medium File", "Medium File, cold"), "µs"),
    note="Here it is the file of 4.78 MB, in one call, from a warm and from a cold cache.",
)


def _method(row: str, column: str, lookup: Lookup) -> Measured:
    single = column == "Single-Shot Hashing"
    file = "Medium File" if single else "4.8MB JSON"
    if row == "Memory Usage":
        return lookup.teehash(_key(file), metric_of("host", "buffer_memory"))
    if row == "TEE Overhead":
        return lookup.teehash(_key(file), _tee_overhead if single else _call_overhead)
    raise KeyError(row)


def _call_overhead(report: TeehashReport) -> float:
    return _tee_overhead(report) / calls(report)


_METHOD = SeedTable(
    DOC,
    "method-comparison",
    "Finding 4: both methods",
    ("Memory Usage", "TEE Overhead"),
    ("Chunked Hashing", "Single-Shot Hashing"),
    {
        (row, column): partial(_method, row, column)
        for row in ("Memory Usage", "TEE Overhead")
        for column in ("Chunked Hashing", "Single-Shot Hashing")
    },
    units={"Memory Usage": "KiB"},
    note="Both methods on the same file of 4.78 MB from a warm cache, and by one formula: time in "
    "calls less computing, for a call.",
)

TABLES: tuple[SeedTable, ...] = (
    SeedTable(
        DOC,
        "runs",
        "Logs: a report of each run",
        _RUN_ROWS,
        _RUN_COLUMNS,
        _cells(_RUN_ROWS, _RUN_COLUMNS),
        tall=True,
        note="Here TEE Time Delta is the time in calls, without what happens between them; Average "
        "IPC latency is that per call; Hash Compute Time is the slope of repeats inside the TA.",
    ),
    _scaled(
        "large-files",
        "Finding 1: large files",
        _LARGE,
        "40MB File",
        "100MB File",
    ),
    _scaled(
        "medium-files",
        "Finding 1: medium files",
        _LARGE[:3],
        "4.8MB JSON",
        "6.2MB PDF",
    ),
    _OVERHEAD,
    _PROFILE,
    _SINGLE,
    _METHOD,
)
