# SPDX-License-Identifier: BSD-2-Clause
"""What to choose, by what was measured."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.findings.advice import advise
from teemark.findings.advice_words import sentence
from teemark.findings.subject import Subject, section
from teemark.page.blocks import Block, Bullets, Section


def choices(subjects: Sequence[Subject]) -> Section | None:
    return section(
        "choices",
        "What to choose",
        "Only sizes that were measured are compared, and nothing is advised where intervals "
        "overlap. “teemark predict” gives a figure for sizes in between.",
        subjects,
        _choices_of,
    )


def _choices_of(subject: Subject) -> list[Block]:
    found = advise(subject.run, subject.models)
    return [Bullets(tuple((sentence(subject.run, one),) for one in found))] if found else []
