# SPDX-License-Identifier: BSD-2-Clause
"""An audit of anybody's figures, in layers; each layer uses only those before it:

figure, numbers   what a printed number is, and how one is found in a text
programs, text    readers: they make a Reading of a text
rule              which figures belong together, and what a rule is
relations, parts, world   the rules
"""

from dataclasses import dataclass

from teemark.audit import parts, relations, world
from teemark.audit.figure import Printed, Reading
from teemark.audit.rule import Rule, groups
from teemark.base.finding import Finding, Place
from teemark.reference.data import Reference
from teemark.wording import fmt

RULES: tuple[Rule, ...] = (*relations.RULES, *parts.RULES, *world.RULES)


@dataclass(frozen=True, slots=True)
class Audited:
    """The outcome of an audit: the figures read, those that a rule could test, and the findings."""

    file: str
    figures: int
    lines: int
    tested: int
    """Number of figures that a rule could compare with others; the rest is untested."""
    unknown: tuple[tuple[str, int], ...]
    """Numbers whose meaning wasn't found, each with its line number."""
    findings: tuple[Finding, ...]

    @property
    def summary(self) -> str:
        """Returns a sentence on how much was read, tested and not understood."""
        figures, lines = fmt.plural(self.figures, "figure"), fmt.plural(self.lines, "line")
        findings = fmt.plural(len(self.findings), "finding")
        text = f"{self.file}: read {figures} in {lines}; {self.tested} could be tested: {findings}"
        if self.unknown:
            shown = ", ".join(f"line {line}: {value}" for value, line in self.unknown[:5])
            more = ", …" if len(self.unknown) > 5 else ""
            text += f"; {fmt.plural(len(self.unknown), 'number')} not understood ({shown}{more})"
        return f"{text}."


def audit(reading: Reading, reference: Reference, core: str = "", clock_hz: float = 0.0) -> Audited:
    """Returns the contradictions within a text. `core` and `clock_hz` (hertz) override what the
    text says of the machine."""
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
    in_order = sorted(
        findings.values(), key=lambda finding: finding.place.line if finding.place else 0
    )
    return Audited(reading.file, len(reading.figures), lines, len(tested), tuple(reading.unknown),
                   tuple(in_order))  # fmt: skip


def audit_published(reference: Reference, document: str) -> tuple[Finding, ...]:
    """Returns the contradictions within a document of reference/, by its figures as printed."""
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
