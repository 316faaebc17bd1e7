# SPDX-License-Identifier: BSD-2-Clause
"""speedscope's file format (https://www.speedscope.app): a profile of weighted stacks a case."""

from __future__ import annotations

import json

from teemark.trace.folded import frame
from teemark.trace.profile import Function, Trace
from teemark.version import __version__

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def render(trace: Trace) -> str:
    numbers: dict[Function, int] = {}
    profiles = []
    for case in trace.cases:
        samples, weights = [], []
        for stack, count in case.stacks():
            samples.append([numbers.setdefault(function, len(numbers)) for function in stack])
            weights.append(count)
        profiles.append(
            {
                "type": "sampled",
                "name": f"{case.case} (instructions)",
                "unit": "none",
                "startValue": 0,
                "endValue": case.instructions,
                "samples": samples,
                "weights": weights,
            }
        )
    document = {
        "$schema": _SCHEMA,
        "exporter": f"teemark {__version__}",
        "name": trace.optee,
        "activeProfileIndex": 0,
        "shared": {
            "frames": [
                {"name": frame(function), "file": function.component} for function in numbers
            ]
        },
        "profiles": profiles,
    }
    return json.dumps(document, ensure_ascii=False) + "\n"
