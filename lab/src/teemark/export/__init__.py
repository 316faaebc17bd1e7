# SPDX-License-Identifier: BSD-2-Clause
"""Exports: a run in the format that another tool reads. To add one: a pure function
`(run: RunData) -> str`, and a row in FORMATS."""

from collections.abc import Callable
from typing import NamedTuple

from teemark.export import junit, medians, tidy_csv
from teemark.run.reader import RunData


class Format(NamedTuple):
    name: str
    help: str
    render: Callable[[RunData], str]


FORMATS = (
    Format("csv", "tidy CSV: one row for each raw sample", tidy_csv.render),
    Format("junit", "JUnit XML, for CI: one test for each case", junit.render),
    Format("bmf", "Bencher Metric Format: medians with their intervals", medians.bmf),
    Format(
        "github-action-benchmark",
        "its JSON for customSmallerIsBetter: medians",
        medians.github_action_benchmark,
    ),
    Format("openmetrics", "OpenMetrics text, for Prometheus: medians", medians.openmetrics),
    Format("lava", "LAVA's test-case signals: medians", medians.lava),
)
