# SPDX-License-Identifier: BSD-2-Clause
"""Bencher Metric Format: the median of each case that was measured as asked, with the ends of its
95 % interval."""

import json

from teemark.model.models import whole_cases
from teemark.run.reader import RunData


def render(run: RunData) -> str:
    """Returns a run as BMF, in the measures `instructions` or `latency` (ns), which Bencher knows;
    on a board that counts, a case that waited has a latency."""
    benchmarks: dict[str, dict[str, dict[str, float]]] = {}
    for stats in whole_cases(run):
        value = {"value": stats.time.median}
        if stats.time.interval is not None:
            value |= {
                "lower_value": stats.time.interval.low,
                "upper_value": stats.time.interval.high,
            }
        measure = "instructions" if stats.unit == "instructions" else "latency"
        benchmarks[stats.key] = {measure: value}
    return json.dumps(benchmarks, indent=1) + "\n"
