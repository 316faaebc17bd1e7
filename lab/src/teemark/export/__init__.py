# SPDX-License-Identifier: BSD-2-Clause
"""Exports: a run in the format that another tool reads. Each format is one file.

To add a format: a file with a pure `def render(run: RunData) -> str`, and a row in FORMATS."""

from collections.abc import Callable
from typing import NamedTuple

from teemark.export import bmf, github_action_benchmark, junit, lava, openmetrics, push, tidy_csv
from teemark.run.reader import RunData


class Format(NamedTuple):
    name: str
    help: str
    render: Callable[[RunData], str]
    push: Callable[[str, RunData, str], None] | None = None  # sends `render`'s text to an address


FORMATS: tuple[Format, ...] = (
    Format("csv", "tidy CSV: one row for each raw sample", tidy_csv.render),
    Format("junit", "JUnit XML, for CI: one test for each case", junit.render),
    Format(
        "bmf", "Bencher Metric Format: medians with their intervals", bmf.render, push.to_bencher
    ),
    Format(
        "github-action-benchmark",
        "its JSON for customSmallerIsBetter: medians",
        github_action_benchmark.render,
    ),
    Format(
        "openmetrics",
        "OpenMetrics text, for Prometheus: medians",
        openmetrics.render,
        push.to_gateway,
    ),
    Format("lava", "LAVA's test-case signals: medians", lava.render),
)
