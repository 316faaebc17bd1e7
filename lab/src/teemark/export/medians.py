# SPDX-License-Identifier: BSD-2-Clause
"""Formats that take a median of each case that was measured as asked: Bencher's, the JSON of
github-action-benchmark, OpenMetrics, and LAVA's signals."""

import json
import re
from collections.abc import Mapping

from teemark.model.models import whole_cases
from teemark.model.stats import CaseStats
from teemark.run.reader import RunData


def _with_ends(stats: CaseStats, *names: str) -> dict[str, float]:
    """Returns the median by the first name and, if its 95 % interval is known, the ends by the
    others."""
    interval = stats.time.interval
    ends = (interval.low, interval.high) if interval is not None else ()
    return dict(zip(names, (stats.time.median, *ends), strict=False))


def bmf(run: RunData) -> str:
    """Returns a run as Bencher Metric Format, in the measures `instructions` or `latency` (ns),
    which Bencher knows; on a board that counts, a case that waited has a latency."""
    measures = {"instructions": "instructions", "ns": "latency"}
    benchmarks = {
        stats.key: {measures[stats.unit]: _with_ends(stats, "value", "lower_value", "upper_value")}
        for stats in whole_cases(run)
    }
    return json.dumps(benchmarks, indent=1) + "\n"


def github_action_benchmark(run: RunData) -> str:
    """Returns a run as JSON of github-action-benchmark for `tool: customSmallerIsBetter`."""
    entries = []
    for stats in whole_cases(run):
        entry = {"name": stats.key, "unit": stats.unit, "value": stats.time.median}
        interval = stats.time.interval
        if interval is not None and interval.width > 0:
            entry["range"] = f"± {interval.width / 2:.1f}"
        origin = (f"{name} {value}" for name, value in run.origin.items())
        entry["extra"] = ", ".join((run.name, f"{stats.time.count} samples", *origin))
        entries.append(entry)
    return json.dumps(entries, indent=1) + "\n"


_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]")


def _signal(case: str, result: str, more: str = "") -> str:
    """Returns a test case's signal. LAVA uses its name in an address, so slashes become dots."""
    name = _NOT_IN_NAMES.sub("_", case.replace("/", "."))
    return f"<LAVA_SIGNAL_TESTCASE TEST_CASE_ID={name} RESULT={result}{more}>"


def lava(run: RunData) -> str:
    """Returns a run as the lines that `lava-test-case NAME --result … --measurement … --units …`
    prints on a device's console. A case fails if it failed or an incomplete run lacks it, and is
    skipped if it can't run. LAVA's results have no field for a commit, so commit and labels are
    test cases that pass, with the value in their names."""
    lines = [_signal(f"run/{name}/{value}", "pass") for name, value in run.origin.items()]
    for stats in whole_cases(run):
        measured = f" UNITS={stats.unit} MEASUREMENT={stats.time.median:.3f}"
        lines.append(_signal(stats.key, "pass", measured))
    lines += [_signal(fail.case, "fail") for fail in run.fails]
    lines += [_signal(case, "fail") for case in sorted({case.case for case in run.missing})]
    lines += [_signal(skip.case, "skip") for skip in run.skips if skip.case not in run.cases]
    return "\n".join(lines) + "\n"


_HELP = {
    "": "Median of one call.",
    "_low": "Lower end of the 95 % interval of the median.",
    "_high": "Upper end of the 95 % interval of the median.",
}


def _labels(labels: Mapping[str, str]) -> str:
    escapes = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})
    return (
        "{" + ",".join(f'{name}="{text.translate(escapes)}"' for name, text in labels.items()) + "}"
    )


def openmetrics(run: RunData) -> str:
    """Returns a run as OpenMetrics text, in instructions, or in seconds, as Prometheus asks for.
    Commit and labels are in the gauge `teemark_run_info`, so that a new commit doesn't begin new
    series of each case. Push gateways don't know OpenMetrics' own info type."""
    rows: dict[tuple[str, str], list[str]] = {}
    about = {"board": run.name, "plan": run.plan}
    for stats in whole_cases(run):
        counted = stats.unit == "instructions"
        unit, factor = ("instructions", 1.0) if counted else ("seconds", 1e-9)
        labels = _labels(about | {"case": stats.key})
        for name, value in _with_ends(stats, *_HELP).items():
            samples = rows.setdefault((name, unit), [])
            samples.append(f"teemark_call{name}_{unit}{labels} {value * factor!r}")
    lines = ["# TYPE teemark_run_info gauge", "# HELP teemark_run_info What was measured."]
    lines.append(f"teemark_run_info{_labels(about | run.origin)} 1")
    for (name, unit), samples in rows.items():
        metric = f"teemark_call{name}_{unit}"
        lines += [f"# TYPE {metric} gauge", f"# UNIT {metric} {unit}"]
        lines += [f"# HELP {metric} {_HELP[name]}", *samples]
    return "\n".join([*lines, "# EOF"]) + "\n"
