# SPDX-License-Identifier: BSD-2-Clause
"""What to choose, and what a choice costs."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.findings.subject import Subject, section
from teemark.page.blocks import Block, Findings, Section


def choices(subjects: Sequence[Subject]) -> Section | None:
    return section(
        "choices",
        "What to choose",
        "Memory and backends are compared at sizes that were measured, pieces of a message by the "
        "models; nothing is advised that isn't better by 1 %. “teemark predict” gives a figure for "
        "sizes in between.",
        subjects,
        _choices_of,
    )


def _choices_of(subject: Subject) -> list[Block]:
    found = subject.found("choice")
    return [Findings(found)] if found else []
