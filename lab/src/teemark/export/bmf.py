# SPDX-License-Identifier: BSD-2-Clause
"""Bencher Metric Format: the median of each case, with the ends of its 95 % interval."""

import json

from teemark.model.models import stats_of
from teemark.run.reader import RunData


def render(run: RunData) -> str:
    """Returns a run as BMF, in the measures `latency` (ns) or `instructions`, which Bencher
    knows."""
    measure = "instructions" if run.icount else "latency"
    benchmarks: dict[str, dict[str, dict[str, float]]] = {}
    for stats in stats_of(run):
        value = {"value": stats.time.median}
        if stats.time.interval is not None:
            value |= {
                "lower_value": stats.time.interval.low,
                "upper_value": stats.time.interval.high,
            }
        benchmarks[stats.key] = {measure: value}
    return json.dumps(benchmarks, indent=1) + "\n"
