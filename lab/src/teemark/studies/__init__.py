# SPDX-License-Identifier: BSD-2-Clause
"""A section for runs of a seed plan: the published tables, measured again, and the audit."""

from functools import cache

from teemark.audit import audit_published
from teemark.base.errors import ConfigError
from teemark.base.finding import Finding
from teemark.findings.subject import Subject
from teemark.page.blocks import Block, Bullets, Heading, Paragraph
from teemark.page.section import RunSection
from teemark.reference.data import load
from teemark.studies import declared
from teemark.studies.answers import mistaken
from teemark.studies.declared import SEED_PLANS
from teemark.studies.measured import Lookup
from teemark.studies.table import blocks, bullet

_INTRO = (
    "Each table has the rows and columns of the document. A cell shows this run first: the median "
    "with its 95 % interval, mean and standard deviation; where the document gives means, the mean "
    "stands above the median. The published figure is beside it, in its right unit. Below each "
    "table stand the contradictions among the document's own figures."
)

_reference = cache(load)


def _of(subject: Subject) -> list[Block]:
    plan = subject.run.plan
    if plan not in SEED_PLANS:
        return []
    try:
        reference = _reference()
    except ConfigError as error:
        return [Paragraph((f"The published figures can't be shown: {error.message}.",))]
    lookup, body = Lookup(subject), list[Block]()
    findings: dict[str, list[Finding]] = {}
    for finding in (*audit_published(reference, plan), *mistaken(reference, plan)):
        findings.setdefault(finding.place.table if finding.place else "", []).append(finding)
    for table in declared.load(plan):
        body += blocks(table, lookup, reference, findings.pop(table.table, []))
    left = [finding for elsewhere in findings.values() for finding in elsewhere]
    if left:
        body += [Heading("Elsewhere in the document"), Bullets(tuple(map(bullet, left)))]
    return body


seed_tables = RunSection("published", "The published tables, measured again", _of, _INTRO)
