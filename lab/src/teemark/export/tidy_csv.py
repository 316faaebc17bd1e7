# SPDX-License-Identifier: BSD-2-Clause
"""Tidy CSV: one row per raw sample, in the order in which they were taken. `seq` counts over all
starts; `ns` is by the client's clock, `ta_ns` by the TA's for the same calls, both in `unit`. A
case that wasn't measured has a row without a sample, and the reason in `not_measured`."""

import csv
import io
from collections.abc import Iterator
from typing import Any

from teemark.base.sanitize import harmless_cell
from teemark.base.work import Work
from teemark.model.models import stats_of
from teemark.run.reader import RunData

OF_SAMPLE = (
    *("seq", "repeat", "loops", "ns", "source"),
    *("user_us", "sys_us", "nvcsw", "nivcsw", "runq_ns"),
)
"""Columns that are fields of a sample."""

_OF_CASE = ("workload", "algorithm", "backend", "parameters")
COLUMNS = (
    *("board", "plan", "commit", "branch", "changes", "emulated", "case", *_OF_CASE, "bytes"),
    *("start", *OF_SAMPLE, "unit", "ta_ns", "not_measured"),
)


def render(run: RunData) -> str:
    """Returns a run as a CSV table; unknown values are empty. Labels are the last columns, each
    called `label_KEY`."""
    out = io.StringIO()
    names = (*COLUMNS, *(name for name in run.origin if name not in COLUMNS))
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    cells = ({name: harmless_cell(value) for name, value in row.items()} for row in rows(run))
    writer.writerows(cells)
    return out.getvalue()


def rows(run: RunData) -> Iterator[dict[str, Any]]:
    """Yields a row per sample, by column, then one per case that wasn't measured; None stands for
    an unknown value."""
    unknown: dict[str, Any] = dict.fromkeys(COLUMNS)
    of_run = unknown | {"board": run.name, "plan": run.plan or None, "unit": run.unit} | run.origin
    if run.header is not None:
        of_run["emulated"] = int(run.header.emulated)
    counted = {
        (key, sample.seq): sample.ns
        for key, measured in run.cases.items()
        for sample in measured.ta_samples
    }
    waited = {stats.key for stats in stats_of(run) if stats.unit == "ns"}
    cases = run.cases.values()
    samples = [(sample, case.record) for case in cases for sample in case.samples]
    samples.sort(key=lambda pair: pair[0].seq)
    for sample, case in samples:
        start = next(start.number for start in run.starts if sample.seq in start.seqs)
        yield of_run | {
            "case": case.case,
            **{name: getattr(case, name) for name in (*_OF_CASE, "bytes")},
            "start": start,
            **{name: getattr(sample, name) for name in OF_SAMPLE},
            "unit": "ns" if case.case in waited else run.unit,
            "ta_ns": counted.get((case.case, sample.seq)),
        }
    for case_key, reason in run.unmeasured.items():
        work = Work.of(case_key)
        yield of_run | {
            "case": case_key,
            **{name: getattr(work, name) for name in _OF_CASE},
            "not_measured": reason,
        }
