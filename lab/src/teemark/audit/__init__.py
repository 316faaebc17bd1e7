# SPDX-License-Identifier: BSD-2-Clause
"""An audit of anybody's figures. In layers, each of which knows those before it only:

figure, numbers   what a printed number is, and how one is found in a text
text, formats/    readers: they make a Reading of a text
rule              which figures belong together, and what a rule is
relations, parts, world   the rules
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from teemark.audit import parts, relations, world
from teemark.audit.figure import Figure, Reading
from teemark.audit.rule import Case, Rule
from teemark.base import fmt
from teemark.base.finding import Finding, Place
from teemark.reference.data import Document, Reference

RULES: tuple[Rule, ...] = (*relations.RULES, *parts.RULES, *world.RULES)


@dataclass(frozen=True, slots=True)
class Audited:
    """What was read, how much of it some rule could test, and what was found."""

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
        """One sentence: what was read, tested and not understood."""
        figures, lines = fmt.plural(self.figures, "figure"), fmt.plural(self.lines, "line")
        read = f"{self.file}: read {figures} in {lines}"
        tested = f"{self.tested} could be tested"
        found = fmt.plural(len(self.findings), "finding")
        text = f"{read}; {tested}: {found}"
        if self.unknown:
            shown = ", ".join(f"line {line}: {value}" for value, line in self.unknown[:5])
            more = ", …" if len(self.unknown) > 5 else ""
            text += f"; {fmt.plural(len(self.unknown), 'number')} not understood ({shown}{more})"
        return f"{text}."


def audit(
    readings: Sequence[Reading], reference: Reference, core: str = "", clock_hz: float = 0.0
) -> tuple[Audited, ...]:
    """What each reading says against itself. `core` and `clock_hz` (hertz) are for those that don't
    say; what the caller knows comes first."""
    for reading in readings:
        world.place(reading, reference, core, clock_hz)
    return tuple(_audit(Case(reading, readings, reference)) for reading in readings)


def _audit(case: Case) -> Audited:
    reading = case.reading
    tested: set[int] = set()
    found: dict[tuple[str, int, str], Finding] = {}
    for rule in RULES:
        for one in rule.look(case):
            figure = one.figure
            line = one.line or (figure.line if figure is not None else 0)
            table = figure.table if figure is not None else ""
            tested.add(id(figure) if figure is not None else -line)
            if one.wrong:
                place = Place(reading.file, line, table)
                made = Finding(key=rule.name, topic="document", severity=rule.severity,
                               claim=one.wrong, place=place)  # fmt: skip
                found.setdefault((rule.name, line, figure.text if figure else one.wrong), made)
    lines = len({one.line for one in reading.figures})
    return Audited(
        reading.file, len(reading.figures), lines, len(tested), tuple(reading.unknown),
        tuple(sorted(found.values(), key=lambda one: one.place.line if one.place else 0)),
    )  # fmt: skip


def audit_published(reference: Reference, document: str) -> tuple[Finding, ...]:
    """What a document of reference/ says against itself, by the same rules."""
    (made,) = audit([reading_of(reference, reference.documents[document])], reference)
    return made.findings


def reading_of(reference: Reference, about: Document) -> Reading:
    """The figures of a document of reference/, as they were printed."""
    made = Reading(about.id, about.title)
    made.said.append((about.system, 0))
    rows: dict[tuple[str, str], int] = {}
    for figure in reference.figures.values():
        if figure.document.id != about.id:
            continue
        if figure.value is None:
            made.said.append((f"{figure.row}, {figure.column}: {figure.text}", 0))
            continue
        sentence = rows.setdefault((figure.table, figure.row), len(rows) + 1)
        made.figures.append(
            Figure(figure.published, figure.span * figure.printed_factor, figure.unit, figure.table,
                   figure.row, figure.column, 0, sentence=sentence, digits=figure.text)
        )  # fmt: skip
    return made
