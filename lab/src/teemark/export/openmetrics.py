# SPDX-License-Identifier: BSD-2-Clause
"""OpenMetrics text for Prometheus: gauges with the median of each case and the ends of its 95 %
interval. Commit and labels are in the gauge `teemark_run_info`, so that a new commit doesn't begin
new series of each case. Push gateways don't know OpenMetrics' own info type."""

from collections.abc import Mapping

from teemark.model.models import whole_cases
from teemark.run.reader import RunData

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


def render(run: RunData) -> str:
    """Returns a run as OpenMetrics: in instructions, or in seconds, as Prometheus asks for."""
    rows: dict[tuple[str, str], list[str]] = {}
    for stats in whole_cases(run):
        counted = stats.unit == "instructions"
        unit, factor = ("instructions", 1.0) if counted else ("seconds", 1e-9)
        values = {"": stats.time.median}
        if stats.time.interval is not None:
            values |= {"_low": stats.time.interval.low, "_high": stats.time.interval.high}
        labels = _labels({"board": run.name, "plan": run.plan, "case": stats.key})
        for name, value in values.items():
            samples = rows.setdefault((name, unit), [])
            samples.append(f"teemark_call{name}_{unit}{labels} {value * factor!r}")
    lines = ["# TYPE teemark_run_info gauge", "# HELP teemark_run_info What was measured."]
    about = _labels({"board": run.name, "plan": run.plan} | run.origin)
    lines.append(f"teemark_run_info{about} 1")
    for (name, unit), samples in rows.items():
        metric = f"teemark_call{name}_{unit}"
        lines += [f"# TYPE {metric} gauge", f"# UNIT {metric} {unit}"]
        lines += [f"# HELP {metric} {_HELP[name]}", *samples]
    return "\n".join([*lines, "# EOF"]) + "\n"
