# SPDX-License-Identifier: BSD-2-Clause
"""The JSON of github-action-benchmark for `tool: customSmallerIsBetter`: one median per case that
was measured as asked."""

import json

from teemark.model.models import whole_cases
from teemark.run.reader import RunData


def render(run: RunData) -> str:
    entries = []
    for stats in whole_cases(run):
        entry: dict[str, str | float] = {
            "name": stats.key,
            "unit": stats.unit,
            "value": stats.time.median,
        }
        interval = stats.time.interval
        if interval is not None and interval.width > 0:
            entry["range"] = f"± {interval.width / 2:.1f}"
        origin = (f"{name} {value}" for name, value in run.origin.items())
        entry["extra"] = ", ".join((run.name, f"{stats.time.count} samples", *origin))
        entries.append(entry)
    return json.dumps(entries, indent=1) + "\n"
