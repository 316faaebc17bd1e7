# SPDX-License-Identifier: BSD-2-Clause
"""An audit of anybody's figures. In layers, each of which knows those before it only:

figure, numbers   what a printed number is, and how one is found in a text
text, formats     readers: they make a Reading of a text
rule              which figures belong together, and what a rule is
relations, parts, world   the rules
"""

from collections.abc import Sequence
from dataclasses import dataclass

from teemark.audit import parts, relations, world
from teemark.audit.figure import Printed, Reading
from teemark.audit.rule import Rule, groups
from teemark.base import fmt
from teemark.base.finding import Finding, Place
from teemark.reference.data import Reference
from teemark.reference.units import UNITS

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


def audit(
    readings: Sequence[Reading], reference: Reference, core: str = "", clock_hz: float = 0.0
) -> tuple[Audited, ...]:
    """Finds what each reading says against itself. `core` and `clock_hz` (hertz) go before what a
    reading says of them."""
    for reading in readings:
        world.place(reading, reference, core, clock_hz)
    return tuple(_audit(reading, reference) for reading in readings)


def _audit(reading: Reading, reference: Reference) -> Audited:
    tested: set[object] = set()
    found: dict[tuple[str, int, str], Finding] = {}
    known = tuple(groups(reading, reference))
    for rule in RULES:
        for one in (one for group in known if rule.takes(group) for one in rule.look(group)):
            figure = one.figure
            line = one.line or (figure.line if figure is not None else 0)
            tested.add(id(figure) if figure is not None else -line)
            if one.wrong:
                place = Place(reading.file, line, figure.table if figure is not None else "")
                key = (rule.name, line, figure.text if figure is not None else one.wrong)
                made = Finding(key=rule.name, topic="document", severity=rule.severity,
                               claim=one.wrong, place=place)  # fmt: skip
                found.setdefault(key, made)
    lines = len({one.line for one in reading.figures})
    findings = sorted(found.values(), key=lambda one: one.place.line if one.place else 0)
    return Audited(reading.file, len(reading.figures), lines, len(tested), tuple(reading.unknown),
                   tuple(findings))  # fmt: skip


def audit_published(reference: Reference, document: str) -> tuple[Finding, ...]:
    """Finds what a document of reference/, as it was printed, says against itself."""
    about = reference.documents[document]
    reading = Reading(about.id, about.title)
    reading.said.append((about.system, 0))
    rows: dict[tuple[str, str], int] = {}
    for one in reference.figures.values():
        if one.document.id == document and one.value is None:
            reading.said.append((f"{one.row}, {one.column}: {one.text}", 0))
        elif one.document.id == document:
            sentence = rows.setdefault((one.table, one.row), len(rows) + 1)
            span = one.span * UNITS[one.unit][1]
            place = (one.table, one.row, one.column, 0)
            made = Printed(
                one.published, span, one.unit, *place, sentence=sentence, digits=one.text
            )
            reading.figures.append(made)
    (audited,) = audit([reading], reference)
    return audited.findings
