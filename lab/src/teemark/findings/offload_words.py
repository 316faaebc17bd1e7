# SPDX-License-Identifier: BSD-2-Clause
"""Verdicts on who did the work, with what reference/ knows of drivers and cores."""

from __future__ import annotations

from functools import cache

from teemark.base.errors import ConfigError
from teemark.findings.offload import Knowledge, KnownCycles, KnownDriver, Offload, Outcome, offloads
from teemark.model.models import Models
from teemark.reference.data import load
from teemark.run.reader import RunData

WORDS: dict[Outcome, str] = {
    "accelerator": "accelerator",
    "cpu-instructions": "CPU instructions",
    "software": "software",
    "mixed": "mixed",
    "unknown": "unknown",
}
PROVEN: dict[Outcome, str] = WORDS | {"accelerator": "an accelerator"}


@cache
def knowledge() -> Knowledge:
    """What reference/ has of drivers and cores; nothing outside a checkout."""
    try:
        reference = load()
    except ConfigError:
        return Knowledge()
    return Knowledge(
        tuple(
            KnownDriver(row.driver, row.kind, row.fallback_below, row.source)
            for row in reference.drivers
        ),
        tuple(
            KnownCycles(row.core, row.algorithm, row.implementation, float(row.cycles), row.source)
            for row in reference.cycles
        ),
    )


def judged(run: RunData, models: Models) -> tuple[Offload, ...]:
    return offloads(run, models, knowledge())
