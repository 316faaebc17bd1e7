# SPDX-License-Identifier: BSD-2-Clause
"""Tidy CSV: a row a raw sample, in the order in which they were taken.

`seq` counts over all starts; `ns` is by the client's clock; `ta_ns` is what the TA counted in the
same calls, where it did. A case that wasn't measured has a row without a sample, and in
`not_measured` why."""

from __future__ import annotations

import csv
import io

from teemark.run.reader import RunData

COLUMNS = (
    "board",
    "emulated",
    "case",
    "workload",
    "algorithm",
    "backend",
    "parameters",
    "bytes",
    "start",
    "seq",
    "repeat",
    "loops",
    "ns",
    "source",
    "user_us",
    "sys_us",
    "nvcsw",
    "nivcsw",
    "runq_ns",
    "ta_ns",
    "not_measured",
)


def render(run: RunData) -> str:
    """Empty fields are unknown values."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    emulated = "" if run.run is None else int(run.run.emulated)
    counted = {
        (key, sample.seq): sample.ns
        for key, measured in run.cases.items()
        for sample in measured.ta_samples
    }
    rows = sorted(
        ((sample, measured.case) for measured in run.cases.values() for sample in measured.samples),
        key=lambda row: row[0].seq,
    )
    for sample, case in rows:
        writer.writerow(
            (
                run.name,
                emulated,
                case.case,
                case.workload,
                case.algorithm,
                case.backend,
                case.parameters,
                case.bytes,
                next(start.number for start in run.starts if sample.seq in start.seqs),
                sample.seq,
                sample.repeat,
                sample.loops,
                sample.ns,
                sample.source,
                sample.user_us,
                sample.sys_us,
                sample.nvcsw,
                sample.nivcsw,
                sample.runq_ns,
                counted.get((case.case, sample.seq)),
                None,
            )
        )
    for one in run.unmeasured:
        words = one.case.split("/", 3)
        blank = [None] * (len(COLUMNS) - 4 - len(words))
        writer.writerow((run.name, emulated, one.case, *words, *blank, one.why))
    return out.getvalue()
