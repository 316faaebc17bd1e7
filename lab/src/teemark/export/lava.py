# SPDX-License-Identifier: BSD-2-Clause
"""LAVA's signals: what `lava-test-case NAME --result … --measurement … --units …` says on a
device's console. A test shell that prints them has a result for each case."""

from __future__ import annotations

import re

from teemark.model.models import sampling_of
from teemark.model.stats import case_stats
from teemark.run.reader import RunData

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]")


def _signal(case: str, result: str, more: str = "") -> str:
    """A name of LAVA's becomes a part of an address: slashes become dots."""
    name = _NOT_IN_NAMES.sub("_", case.replace("/", "."))
    return f"<LAVA_SIGNAL_TESTCASE TEST_CASE_ID={name} RESULT={result}{more}>"


def render(run: RunData) -> str:
    """A case that failed, or that a broken-off run lacks, fails; one that can't run is skipped."""
    sampling = sampling_of(run)
    units = "instructions" if run.run is not None and run.run.icount else "ns"
    lines = []
    short = {case.case for case in run.missing}
    for case in run.sound:
        stats = case_stats(case, sampling)
        if stats is not None and case.case.case not in short:
            measured = f" UNITS={units} MEASUREMENT={stats.time.median:.3f}"
            lines.append(_signal(case.case.case, "pass", measured))
    lines += [_signal(fail.case, "fail") for fail in run.fails]
    lines += [_signal(case, "fail") for case in sorted(short)]
    lines += [_signal(skip.case, "skip") for skip in run.skips if skip.case not in run.cases]
    return "\n".join(lines) + "\n"
