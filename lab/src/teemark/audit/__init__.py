# SPDX-License-Identifier: BSD-2-Clause
"""An audit of anybody's figures. In layers, each of which knows those before it only:

sheet       cells and statements of a text        formats/    the parsers that make sheets
figures     cells with a meaning, in records      machine     core and clock of a document
finding     what a rule is and gives              arithmetic, bounds   the rules
"""

from __future__ import annotations

from collections.abc import Sequence

from teemark.audit import arithmetic, bounds, machine, published
from teemark.audit.figures import papers
from teemark.audit.finding import Case, Finding, Rule
from teemark.audit.sheet import Sheet
from teemark.reference.data import Reference

RULES: tuple[Rule, ...] = (*bounds.RULES, *arithmetic.RULES)


def audit(
    sheets: Sequence[Sheet], reference: Reference, core: str = "", clock_hz: float = 0.0
) -> tuple[Finding, ...]:
    """Every finding, by document and rule. `core` and `clock_hz` are for those that don't say."""
    made = [papers(sheet) for sheet in sheets]
    for paper in made:
        machine.place(paper, reference, core, clock_hz)
    case = Case(made, reference)
    return tuple(f for paper in made for rule in RULES for f in rule.findings(paper, case))


def audit_published(reference: Reference, document: str) -> tuple[Finding, ...]:
    """What is wrong with a document of reference/, seen together with the others."""
    sheets = [published.sheet(reference, name) for name in reference.documents]
    return tuple(one for one in audit(sheets, reference) if one.file == document)
