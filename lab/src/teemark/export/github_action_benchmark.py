# SPDX-License-Identifier: BSD-2-Clause
"""The JSON of github-action-benchmark for `tool: customSmallerIsBetter`: a median a case."""

from __future__ import annotations

import json

from teemark.model.models import sampling_of
from teemark.model.stats import case_stats
from teemark.run.reader import RunData


def render(run: RunData) -> str:
    sampling = sampling_of(run)
    entries = []
    for case in run.sound:
        stats = case_stats(case, sampling)
        if stats is None:
            continue
        entry: dict[str, str | float] = {
            "name": case.case.case,
            "unit": run.unit,
            "value": stats.time.median,
        }
        interval = stats.time.interval
        if interval is not None and interval.width > 0:
            entry["range"] = f"± {interval.width / 2:.1f}"
        entry["extra"] = f"{run.name}, {stats.time.count} samples"
        entries.append(entry)
    return json.dumps(entries, indent=1) + "\n"
