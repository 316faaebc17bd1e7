# SPDX-License-Identifier: BSD-2-Clause
"""LAVA's signals: the lines that `lava-test-case NAME --result … --measurement … --units …` prints
on a device's console. LAVA reads each as the result of a test case."""

import re

from teemark.model.models import whole_cases
from teemark.run.reader import RunData

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]")


def _signal(case: str, result: str, more: str = "") -> str:
    """Returns a test case's signal. LAVA uses its name in an address, so slashes become dots."""
    name = _NOT_IN_NAMES.sub("_", case.replace("/", "."))
    return f"<LAVA_SIGNAL_TESTCASE TEST_CASE_ID={name} RESULT={result}{more}>"


def render(run: RunData) -> str:
    """Returns a run as LAVA's signals. A case fails if it failed or an incomplete run lacks it, and
    is skipped if it can't run. LAVA's results have no field for a commit, so commit and labels are
    test cases that pass, with the value in their names."""
    lines = [_signal(f"run/{name}/{value}", "pass") for name, value in run.origin.items()]
    short = {case.case for case in run.missing}
    for stats in whole_cases(run):
        measured = f" UNITS={stats.unit} MEASUREMENT={stats.time.median:.3f}"
        lines.append(_signal(stats.key, "pass", measured))
    lines += [_signal(fail.case, "fail") for fail in run.fails]
    lines += [_signal(case, "fail") for case in sorted(short)]
    lines += [_signal(skip.case, "skip") for skip in run.skips if skip.case not in run.cases]
    return "\n".join(lines) + "\n"
