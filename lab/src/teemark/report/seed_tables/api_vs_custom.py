# SPDX-License-Identifier: BSD-2-Clause
"""api-vs-custom: SHA-256 by the TEE API and by portable C in the TA, in 16 calls."""

from __future__ import annotations

from functools import partial

from teemark.report.seed_tables.measured import (
    Absent,
    Lookup,
    Measured,
    TeehashReport,
    calls,
    exactly,
    hashing,
    metric_of,
    quotient,
    total,
)
from teemark.report.seed_tables.table import SeedTable
from teemark.teehash import Step

DOC = "api-vs-custom"
API, CUSTOM = "TEE Internal API", "Custom C Code"
BACKENDS = {API: "tee", CUSTOM: "ta-c"}
SIZE = 42822485
CHUNK = 2859008  # 15 updates and the last call: 16
MIB = 1 << 20
STEPS = {column: Step(SIZE, backend=name, chunk=CHUNK) for column, name in BACKENDS.items()}


def _inside(column: str) -> str:
    return f"oneshot/sha256/{BACKENDS[column]}/{MIB}"


def _hash_time(column: str, lookup: Lookup) -> Measured:
    value = lookup.inside(_inside(column))
    return value if isinstance(value, Absent) else value.scaled(SIZE / MIB)


def _rate(column: str, lookup: Lookup) -> Measured:
    return quotient(exactly(MIB), lookup.inside(_inside(column)))


def _faster(lookup: Lookup) -> Measured:
    ratio = quotient(_hash_time(CUSTOM, lookup), _hash_time(API, lookup))
    return ratio if isinstance(ratio, Absent) else ratio.plus(-1)


def _share(report: TeehashReport) -> float:
    return 1 - hashing(report) / total(report)


def _of_step(column: str, figure: str, lookup: Lookup) -> Measured:
    figures = {
        "IPC Calls": calls,
        "Total Overhead": _share,
        "TEE Stack Usage": metric_of("tee", "ta_stack_high_water"),
    }
    return lookup.teehash(STEPS[column].key, figures[figure])


_BOTH = (API, CUSTOM)

TABLES: tuple[SeedTable, ...] = (
    SeedTable(
        DOC,
        "hash",
        "Hash computation",
        ("Pure Hash Time", "Hash Throughput"),
        (*_BOTH, "Analysis"),
        {
            **{("Pure Hash Time", column): partial(_hash_time, column) for column in _BOTH},
            **{("Hash Throughput", column): partial(_rate, column) for column in _BOTH},
            ("Pure Hash Time", "Analysis"): _faster,
        },
        note=f"Measured inside the TA, as the slope over repeats of 1 MiB, for {SIZE:,} bytes. "
        "“Analysis” is how much longer the custom code takes.",
    ),
    SeedTable(
        DOC,
        "overhead",
        "Overhead",
        ("IPC Calls", "Total Overhead"),
        _BOTH,
        {
            (row, column): partial(_of_step, column, row)
            for row in ("IPC Calls", "Total Overhead")
            for column in _BOTH
        },
        note="Measured: all that isn't hashing inside the TA, as a share of the total.",
    ),
    SeedTable(
        DOC,
        "memory",
        "Memory",
        ("TEE Stack Usage",),
        _BOTH,
        {
            ("TEE Stack Usage", column): partial(_of_step, column, "TEE Stack Usage")
            for column in _BOTH
        },
        note="Measured: how far the TA's painted stack was ever used.",
    ),
)
