# SPDX-License-Identifier: BSD-2-Clause
"""The words of a page: each backend and cause, with the slug that JSON and commands have for it."""

from collections.abc import Sequence

from teemark.findings.names import CAUSES
from teemark.findings.subject import Subject
from teemark.page.blocks import Section, Table, Term, left


def words(subjects: Sequence[Subject]) -> Section | None:
    """Returns the section with an entry for each slug to which the other sections lead."""
    means = {case.work.backend: "" for subject in subjects for case in subject.run.sound}
    means |= {b.name: b.title for subject in subjects for b in subject.run.machine.backends}
    rows = [((Term(slug, slug, entry=True),), text) for slug, text in (means | CAUSES).items()]
    table = Table(left("slug", "meaning"), rows)
    return Section("words", "Words", (table,), "the slugs of JSON and commands")
