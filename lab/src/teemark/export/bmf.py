# SPDX-License-Identifier: BSD-2-Clause
"""Bencher Metric Format: the median of each case, with the ends of its 95 % interval."""

from __future__ import annotations

import json

from teemark.model.models import sampling_of
from teemark.model.stats import case_stats
from teemark.run.reader import RunData


def render(run: RunData) -> str:
    """`latency` in nanoseconds and `instructions` are measures that Bencher knows."""
    measure = "instructions" if run.run is not None and run.run.icount else "latency"
    sampling = sampling_of(run)
    found: dict[str, dict[str, dict[str, float]]] = {}
    for case in run.sound:
        stats = case_stats(case, sampling)
        if stats is None:
            continue
        value = {"value": stats.time.median}
        if stats.time.interval is not None:
            value |= {
                "lower_value": stats.time.interval.low,
                "upper_value": stats.time.interval.high,
            }
        found[case.case.case] = {measure: value}
    return json.dumps(found, indent=1) + "\n"
