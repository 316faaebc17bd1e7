# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: RUF001 (the signs of arithmetic)
"""rpi3-secure-hash: every figure that follows from others."""

from __future__ import annotations

import math
from collections.abc import Callable

from teemark.reference.audit.base import Derived
from teemark.reference.audit.secure_hash_runs import DOC, RUNS, in_run, mid, overhead_of
from teemark.reference.data import Key, Reference
from teemark.reference.span import Span, exact

_FILES = {"40MB File": "40MB", "100MB File": "100MB"}


def _quotient(one: Key, other: Key, scale: float = 1) -> Callable[[Reference], Span]:
    def value(reference: Reference) -> Span:
        return reference.get(*one).span / reference.get(*other).span * scale

    return value


def _in_log(row: str, run: str) -> Key:
    return (DOC, "runs", row, run)


def _derived_of_run(run: str) -> list[Derived]:
    def switches(reference: Reference) -> Span:
        return in_run(reference, "Voluntary Context Switches", run) + in_run(
            reference, "Involuntary Context Switches", run
        )

    def chunks(reference: Reference) -> Span:
        return exact(
            math.ceil(mid(reference, "File Size", run) / mid(reference, "Chunk Size", run))
        )

    def calls(reference: Reference) -> Span:
        return in_run(reference, "Chunks", run) + 2

    total, cpu = _in_log("Total Time", run), _in_log("CPU Time", run)
    read, hashing = _in_log("File Read I/O Time", run), _in_log("Hash Compute Time", run)
    once = _in_log("Hash Operations", run)
    quotients = (
        ("CPU Utilization", "CPU Time ÷ Total Time", _quotient(cpu, total, 100)),
        ("I/O vs Compute Time Ratio", "reading ÷ hashing", _quotient(read, hashing)),
        ("Average time per hash operation", "total ÷ operations", _quotient(total, once)),
        ("Context Switches", "voluntary + involuntary", switches),
        ("Chunks", "file size ÷ chunk size, rounded up", chunks),
        ("IPC Calls", "chunks + first + last", calls),
    )
    return [Derived("runs", row, run, formula, value) for row, formula, value in quotients]


def _derived_of_tables() -> list[Derived]:
    derived = []
    rows = {
        "large-files": ("40MB File", "100MB File"),
        "medium-files": ("4.8MB JSON", "6.2MB PDF"),
    }
    names = ("File Size", "Total Time", "Hash Compute Time")
    more = ("File Read I/O Time", "IPC Calls", "Involuntary Switches")
    for table, (one, other) in rows.items():
        for row in names + (more if table == "large-files" else ()):
            value = _quotient((DOC, table, row, other), (DOC, table, row, one))
            derived.append(Derived(table, row, "Scaling Factor", f"{other} ÷ {one}", value))
    for column, run in _FILES.items():
        for row, scale in (
            ("File Size", 1e-6),
            *((name, 1.0) for name in ("Total Time", "Hash Compute Time", *more[:2])),
        ):
            derived.append(_copied("large-files", row, column, _in_log(row, run), scale))
        involuntary = _in_log("Involuntary Context Switches", run)
        derived.append(_copied("large-files", "Involuntary Switches", column, involuntary))
    return derived


def _copied(table: str, row: str, column: str, origin: Key, scale: float = 1) -> Derived:
    def value(reference: Reference) -> Span:
        return reference.get(*origin).span * scale

    return Derived(table, row, column, f"{origin[2]} in the log", value)


def _derived_overheads() -> list[Derived]:
    def total(run: str) -> Callable[[Reference], Span]:
        return lambda reference: overhead_of(reference, run)

    def per_call(run: str, scale: float = 1) -> Callable[[Reference], Span]:
        return lambda reference: (
            overhead_of(reference, run) / in_run(reference, "IPC Calls", run) * scale
        )

    def share(run: str, part: str | None) -> Callable[[Reference], Span]:
        def value(reference: Reference) -> Span:
            top = overhead_of(reference, run) if part is None else in_run(reference, part, run)
            return top / in_run(reference, "Total Time", run) * 100

        return value

    formula = "total − reading − hashing"
    derived = [
        Derived(
            "overhead-notes",
            "Total Overhead",
            "4.5MB warm",
            formula,
            lambda reference: overhead_of(reference, "4.5MB warm") / 1000,
        ),
        Derived(
            "overhead-notes",
            "Average Overhead per IPC call",
            "4.5MB warm",
            f"({formula}) ÷ calls",
            per_call("4.5MB warm", 1e-3),
        ),
    ]
    for row, run in _FILES.items():
        derived += [
            Derived("overhead", row, "Total Overhead", formula, total(run)),
            Derived("overhead", row, "Average per Call", f"({formula}) ÷ calls", per_call(run)),
            Derived("profile", row, "Hashing", "hashing ÷ total", share(run, "Hash Compute Time")),
            Derived("profile", row, "Overhead", f"({formula}) ÷ total", share(run, None)),
            Derived("profile", row, "I/O", "reading ÷ total", share(run, "File Read I/O Time")),
        ]
    return derived


def _single_shot_overhead(reference: Reference) -> Span:
    def get(row: str) -> Span:
        return reference.get(DOC, "single-shot", row, "Medium File").span

    return get("Time in TEE") - get("Hash Compute Time")


def _medium_hashing(reference: Reference) -> Span:
    spans = [
        reference.get(DOC, "medium-files", "Hash Compute Time", column).span
        / reference.get(DOC, "medium-files", "Total Time", column).span
        * 100
        for column in ("4.8MB JSON", "6.2MB PDF")
    ]
    low, high = min(one.low for one in spans), max(one.high for one in spans)
    return Span(low, (low + high) / 2, high)


DERIVED: tuple[Derived, ...] = (
    *(one for run in RUNS for one in _derived_of_run(run)),
    *_derived_of_tables(),
    *_derived_overheads(),
    Derived(
        "single-shot",
        "Overhead in TEE",
        "Medium File",
        "time in TEE − hashing",
        _single_shot_overhead,
    ),
    Derived(
        "profile",
        "4.8MB JSON and 6.2MB PDF",
        "Hashing",
        "hashing ÷ total",
        _medium_hashing,
    ),
)
