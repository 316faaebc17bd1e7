# SPDX-License-Identifier: BSD-2-Clause
"""Sections of a report, which are made of the report's subjects."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from teemark.findings.subject import Subject
from teemark.page.blocks import Block, Heading, Paragraph, Section, Strong, Text


def remark(subject: Subject) -> Text:
    """Returns the subject's caveat as a sentence behind the caption of a chart."""
    return (Strong(f" {subject.caveat}."),) if subject.caveat else ()


SectionFunction = Callable[[Sequence[Subject]], Section | None]


@dataclass(frozen=True, slots=True)
class RunSection:
    """A section of a report. `blocks` makes the blocks of one run. `intro` comes before them: a
    text, or a function of all runs. `lead` says what is inside while the section is closed."""

    key: str
    title: str
    blocks: Callable[[Subject], Sequence[Block]]
    intro: str | Callable[[Sequence[Subject]], Block] = ""
    lead: str = ""

    def __call__(self, subjects: Sequence[Subject]) -> Section | None:
        """Returns the section with the blocks of every subject, under its name if there are
        several; None if no subject has any."""
        blocks: list[Block] = []
        for subject in subjects:
            its = self.blocks(subject)
            if its and len(subjects) > 1:
                blocks.append(Heading(subject.label))
            blocks += its
        if blocks and self.intro:
            intro = self.intro
            blocks.insert(0, Paragraph((intro,)) if isinstance(intro, str) else intro(subjects))
        return Section(self.key, self.title, tuple(blocks), self.lead) if blocks else None
