# SPDX-License-Identifier: BSD-2-Clause
"""An audit of anybody's figures, in layers; each layer uses only those before it:

figure, numbers   what a printed number is, and how numbers are read, compared and written
programs          outputs of named programs, by the table relations.toml
text              tables and lists; it makes a Reading of a text
relations         what the rows, columns and lists of a text must satisfy
"""

from dataclasses import dataclass

from teemark.audit import relations
from teemark.audit.figure import Printed, PrintedRow, PrintedTable, Reading, Tested
from teemark.base.finding import Finding, Place
from teemark.reference.data import Reference
from teemark.wording import fmt

SHOWN = 5  # Lines that weren't read which a summary names


@dataclass(frozen=True, slots=True)
class Audited:
    """The outcome of an audit: the figures read, those that a rule could test, and the findings."""

    file: str
    figures: int
    lines: int
    tested: int  # Number of figures that a rule could compare with others; the rest is untested
    unknown: tuple[tuple[str, int], ...]
    """Lines and cells with numbers that weren't read, each with its line number."""
    findings: tuple[Finding, ...]

    @property
    def summary(self) -> str:
        """Returns a sentence on how much was read, tested and not read."""
        figures, lines = fmt.plural(self.figures, "figure"), fmt.plural(self.lines, "line")
        findings = fmt.plural(len(self.findings), "finding")
        text = f"{self.file}: read {figures} in {lines}; {self.tested} could be tested: {findings}"
        left = sorted({line for _, line in self.unknown})
        if left:
            more = ", …" if len(left) > SHOWN else ""
            text += f"; not read: {fmt.plural(len(left), 'line')} with numbers "
            text += f"({', '.join(map(str, left[:SHOWN]))}{more})"
        return f"{text}."


def audit(reading: Reading) -> Audited:
    """Returns the contradictions within a text."""
    tested = dict[tuple[int, str, str], Tested]()
    for result in (*reading.tested, *relations.results(reading)):
        if (key := result.figure.key) not in tested or tested[key].good:
            tested[key] = result
    findings = [
        Finding(key=one.rule, topic="document", severity=one.severity, claim=one.wrong,
                place=Place(reading.file, one.figure.line, one.figure.table))
        for _, one in sorted(tested.items(), key=lambda item: item[0][0]) if not one.good
    ]  # fmt: skip
    lines = {line for line, *_ in tested}
    read = lines | {one.line for one in reading.figures}
    unread = tuple(one for one in reading.unread if one[1] not in lines)
    figures = len(reading.figures) + len(tested.keys() - {one.key for one in reading.figures})
    return Audited(reading.file, figures, len(read), len(tested), unread, tuple(findings))


def audit_published(reference: Reference, document: str) -> tuple[Finding, ...]:
    """Returns the contradictions within a document of reference/, by its figures as printed."""
    reading = Reading(document)
    tables: dict[str, dict[str, dict[str, Printed]]] = {}
    for one in reference.figures.values():
        if one.document.id != document or one.value is None:
            continue
        cells = tables.setdefault(one.table, {}).setdefault(one.row, {})
        cells[one.column] = Printed(
            one.published, one.span, one.unit, one.table, one.row, one.column, digits=one.text
        )
    for title, named in tables.items():
        head = tuple(dict.fromkeys(column for cells in named.values() for column in cells))
        rows = tuple(
            PrintedRow(name, 0, (), {head.index(column): cell for column, cell in cells.items()})
            for name, cells in named.items()
        )
        reading.tables.append(PrintedTable(title, head, rows))
    return audit(reading).findings
