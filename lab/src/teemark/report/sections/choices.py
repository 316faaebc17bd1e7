# SPDX-License-Identifier: BSD-2-Clause
"""What to choose, by what was measured."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.model.advice import advise
from teemark.report.advice import sentence
from teemark.report.blocks import Block, Bullets, Paragraph, Section
from teemark.report.subject import Subject, each


def choices(subjects: Sequence[Subject]) -> Section | None:
    blocks = each(subjects, _choices_of)
    if not blocks:
        return None
    intro = Paragraph(
        (
            "Only sizes that were measured are compared, and nothing is advised where intervals "
            "overlap. “teemark predict” gives a figure for sizes in between.",
        )
    )
    return Section("choices", "What to choose", (intro, *blocks))


def _choices_of(subject: Subject) -> list[Block]:
    found = advise(subject.run, subject.models)
    return [Bullets(tuple((sentence(subject.run, one),) for one in found))] if found else []
