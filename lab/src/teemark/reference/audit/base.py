# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: RUF001 (the signs of arithmetic)
"""What a check gives, and the words that checks share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from teemark.reference.data import Figure, Reference
from teemark.reference.span import Span

Kind = Literal[
    "impossible",  # no machine could have given these figures
    "contradiction",  # two figures, or a figure and a statement, can't both be right
    "copied",  # a row or figure that belongs elsewhere
    "mislabelled",  # the figure isn't what its name or unit says
    "unsupported",  # nothing published bears out the statement
]


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, with its arithmetic. `tables` says under which tables it belongs."""

    check: str
    document: str
    tables: tuple[str, ...]
    kind: Kind
    sentence: str


@dataclass(frozen=True, slots=True)
class Check:
    """A question put to the published figures: the docstring of `run`, which gives the sentences
    to say, or none."""

    name: str
    document: str
    tables: tuple[str, ...]
    kind: Kind
    run: Callable[[Reference], list[str]]

    def findings(self, reference: Reference) -> list[Finding]:
        return [
            Finding(self.name, self.document, self.tables, self.kind, sentence)
            for sentence in self.run(reference)
        ]


def checks(
    document: str, *rows: tuple[Kind, str, Callable[[Reference], list[str]]]
) -> tuple[Check, ...]:
    """Each named for its function. The tables are words."""
    return tuple(
        Check(run.__name__.replace("_", "-"), document, tuple(tables.split()), kind, run)
        for kind, tables, run in rows
    )


@dataclass(frozen=True, slots=True)
class Derived:
    """A published figure that follows from others, recomputed with the rounding of all of them.

    `formula` is shown; `value` is the result in the unit in which the figure is printed.
    """

    table: str
    row: str
    column: str
    formula: str
    value: Callable[[Reference], Span]


def misfits(reference: Reference, document: str, derived: tuple[Derived, ...]) -> list[str]:
    """A sentence for every derived figure that its own sources don't give."""
    sentences = []
    for one in derived:
        figure = reference.get(document, one.table, one.row, one.column)
        value = one.value(reference)
        if not value.overlaps(figure.span):
            sentences.append(
                f"{one.row}, {one.column}: {figure.published} is printed, but {one.formula} = "
                f"{number(value.mid)}{plain_unit(figure)}."
            )
    return sentences


def plain_unit(figure: Figure) -> str:
    unit = figure.unit.replace("μ s", "µs").replace("us", "µs")
    if unit in ("count", "errno", "text"):
        return ""
    return unit if unit in ("%", "x") else f" {unit}"


def number(value: float, digits: int = 4) -> str:
    """With so many significant digits, and thousands set apart: 85,043.71 or 0.0759."""
    if value == 0:
        return "0"
    if value < 0:
        return "−" + number(-value, digits)
    size = value
    if size >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    places = digits - 1
    while size < 1 and places < 12:
        size *= 10
        places += 1
    while size >= 10 and places > 0:
        size /= 10
        places -= 1
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def microseconds(seconds: float) -> str:
    """In the unit that reads best."""
    if abs(seconds) >= 1:
        return f"{number(seconds)} s"
    if abs(seconds) >= 1e-3:
        return f"{number(seconds * 1e3)} ms"
    if abs(seconds) >= 1e-6:
        return f"{number(seconds * 1e6)} µs"
    return f"{number(seconds * 1e9)} ns"


def listed(items: list[str]) -> str:
    """a, b and c"""
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]


def core_name(core: str) -> str:
    """cortex-a53 is a Cortex-A53."""
    maker, _, model = core.partition("-")
    return f"{maker.capitalize()}-{model.upper()}"
