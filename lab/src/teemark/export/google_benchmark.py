# SPDX-License-Identifier: BSD-2-Clause
"""The JSON of Google Benchmark, an entry for every sample: what its compare.py and the services
that read it (Bencher, github-action-benchmark) expect."""

from __future__ import annotations

import json
from typing import Any

from teemark.run.reader import MeasuredCase, RunData
from teemark.run.records import Sample


def _entry(
    run: RunData, measured: MeasuredCase, sample: Sample, index: int, count: int
) -> dict[str, Any]:
    calls = sample.loops
    cpu_us = None
    if sample.user_us is not None and sample.sys_us is not None:
        cpu_us = sample.user_us + sample.sys_us
    real = sample.ns / calls
    entry: dict[str, Any] = {
        "name": measured.case.case,
        "run_name": measured.case.case,
        "run_type": "iteration",
        "repetitions": count,
        "repetition_index": index,
        "threads": 1,
        "iterations": calls,
        "real_time": real,
        # Google Benchmark knows no null here; without a CPU time the wall clock stands in.
        "cpu_time": real if cpu_us is None else cpu_us * 1000 / calls,
        "time_unit": "ns",
    }
    size = measured.case.bytes
    if run.icount:  # the format has units of time only: a counter says what it is
        entry |= {"label": "instructions, not time", "instructions": real}
    elif size and sample.ns:
        entry["bytes_per_second"] = size * calls * 1e9 / sample.ns
    return entry


def render(run: RunData) -> str:
    """One call is one iteration; samples with several operations in a call are left out. A case
    that wasn't measured is an entry with an error, as that of a benchmark that gave up."""
    entries = []
    for measured in run.sound:
        samples = [sample for sample in measured.samples if sample.repeat == 1]
        entries += [
            _entry(run, measured, sample, index, len(samples))
            for index, sample in enumerate(samples)
        ]
    entries += [
        {
            "name": case.case,
            "run_name": case.case,
            "run_type": "iteration",
            "error_occurred": True,
            "error_message": case.reason,
        }
        for case in run.unmeasured
    ]
    context: dict[str, Any] = {"executable": "teebench", "host_name": run.name}
    if run.run is not None:
        context |= {
            "date": run.run.started,
            "teemark_plan": run.run.plan,
            "teemark_emulated": run.run.emulated,
            "teemark_unit": run.unit,
        }
    context |= {f"teemark_{name}": value for name, value in run.origin.items()}
    return json.dumps({"context": context, "benchmarks": entries}, indent=1) + "\n"
