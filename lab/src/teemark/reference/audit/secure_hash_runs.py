# SPDX-License-Identifier: BSD-2-Clause
"""rpi3-secure-hash: looking up its logged runs."""

from __future__ import annotations

from teemark.reference.data import Reference
from teemark.reference.span import Span

DOC = "rpi3-secure-hash"
RUNS = ("4.5MB cold", "4.5MB warm", "40MB", "100MB")


def in_run(reference: Reference, row: str, run: str) -> Span:
    return reference.get(DOC, "runs", row, run).span


def mid(reference: Reference, row: str, run: str) -> float:
    return in_run(reference, row, run).mid


def overhead_of(reference: Reference, run: str) -> Span:
    """The document's own formula: total time without file reading and hashing, µs."""
    return (
        in_run(reference, "Total Time", run)
        - in_run(reference, "File Read I/O Time", run)
        - in_run(reference, "Hash Compute Time", run)
    )


def bytes_per_second(reference: Reference, run: str) -> float:
    return mid(reference, "File Size", run) / mid(reference, "Hash Compute Time", run) * 1e6
