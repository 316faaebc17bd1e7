# SPDX-License-Identifier: BSD-2-Clause
"""An audit of anybody's figures. In layers, each of which knows those before it only:

figure, numbers   what a printed number is, and how one is found in a text
programs, text    readers: they make a Reading of a text
rule              which figures belong together, and what a rule is
relations, parts, world   the rules
"""

from dataclasses import dataclass

from teemark.audit import parts, relations, world
from teemark.audit.figure import Printed, Reading
from teemark.audit.rule import Rule, groups
from teemark.base import fmt
from teemark.base.finding import Finding, Place
from teemark.reference.data import Reference

RULES: tuple[Rule, ...] = (*relations.RULES, *parts.RULES, *world.RULES)


@dataclass(frozen=True, slots=True)
class Audited:
    """The outcome: how much was read, how much some rule could test, and the findings."""

    file: str
    figures: int
    lines: int
    tested: int
    """Figures that a rule could hold against others; nothing can be said of the rest."""
    unknown: tuple[tuple[str, int], ...]
    """Numbers whose meaning stayed unknown, with their lines."""
    findings: tuple[Finding, ...]

    @property
    def summary(self) -> str:
        """Returns one sentence: what was read, tested and not understood."""
        figures, lines = fmt.plural(self.figures, "figure"), fmt.plural(self.lines, "line")
        found = fmt.plural(len(self.findings), "finding")
        text = f"{self.file}: read {figures} in {lines}; {self.tested} could be tested: {found}"
        if self.unknown:
            shown = ", ".join(f"line {line}: {value}" for value, line in self.unknown[:5])
            more = ", …" if len(self.unknown) > 5 else ""
            text += f"; {fmt.plural(len(self.unknown), 'number')} not understood ({shown}{more})"
        return f"{text}."


def audit(reading: Reading, reference: Reference, core: str = "", clock_hz: float = 0.0) -> Audited:
    """Finds what a reading says against itself. `core` and `clock_hz` (hertz) go before what it
    says of them."""
    world.place(reading, reference, core, clock_hz)
    tested: dict[int, Printed] = {}
    findings: dict[tuple[str, int, str], Finding] = {}
    together = tuple(groups(reading, reference))
    for rule in RULES:
        for group in filter(rule.takes, together):
            for result in rule.look(group):
                figure = result.figure
                tested[id(figure)] = figure
                if not result.good:
                    place = Place(reading.file, figure.line, figure.table)
                    made = Finding(key=rule.name, topic="document", severity=rule.severity,
                                   claim=result.wrong, place=place)  # fmt: skip
                    findings.setdefault((rule.name, figure.line, figure.text), made)
    lines = len({figure.line for figure in reading.figures})
    in_order = sorted(findings.values(), key=lambda one: one.place.line if one.place else 0)
    return Audited(reading.file, len(reading.figures), lines, len(tested), tuple(reading.unknown),
                   tuple(in_order))  # fmt: skip


def audit_published(reference: Reference, document: str) -> tuple[Finding, ...]:
    """Finds what a document of reference/, as it was printed, says against itself."""
    about = reference.documents[document]
    reading = Reading(about.id, about.title)
    reading.said.append((about.system, 0))
    rows: dict[tuple[str, str], int] = {}
    for figure in reference.figures.values():
        if figure.document.id != document:
            continue
        if figure.value is None:
            reading.said.append((f"{figure.row}, {figure.column}: {figure.text}", 0))
            continue
        row = rows.setdefault((figure.table, figure.row), len(rows) + 1)
        place = (figure.table, figure.row, figure.column)
        shown, unit, digits = figure.published, figure.unit, figure.text
        made = Printed(shown, figure.span, unit, *place, sentence=row, digits=digits)
        reading.figures.append(made)
    return audit(reading, reference).findings
