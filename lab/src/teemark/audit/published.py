# SPDX-License-Identifier: BSD-2-Clause
"""The documents of reference/ as sheets, figure by figure as they were printed."""

from __future__ import annotations

from teemark.audit.sheet import Cell, Sheet, measure
from teemark.reference.data import Reference


def sheet(reference: Reference, document: str) -> Sheet:
    about = reference.documents[document]
    made = Sheet(file=document, title=about.title)
    made.say(about.system, 0)
    made.emulated = "emulated" in about.system
    for figure in reference.figures.values():
        if figure.document.id != document:
            continue
        if figure.value is None:
            made.say(f"{figure.row}, {figure.column}: {figure.text}", 0)
            continue
        text = f"{figure.relation.strip('=')}{figure.text}"
        if figure.upper is not None:
            text += f" to {figure.upper}"
        printed = measure(text, figure.unit)
        assert printed is not None, figure.key
        made.cells.append(
            Cell(figure.table, figure.row, figure.column, printed, 0, inferred=figure.inferred)
        )
    return made
