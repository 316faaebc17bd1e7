# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: RUF001 (the signs of arithmetic)
"""Tests relations between figures: "rule: field = formula", "rule: low <= high"."""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import pairwise
from pathlib import Path

from msgspec import Struct, convert

from teemark.audit.figure import Kind, Printed, Tested
from teemark.audit.numbers import SLACK, amount, follows, in_order, loose
from teemark.reference.span import Span, evaluated, exact

Figures = Mapping[str, Printed]

_PARTS = {"N": r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", "U": "ps|ns|µs|us|ms|s|min|m"}
_PART = re.compile(r"(?<=>)[NU](?=\))|(?<=\()N|(?<=\.)N(?=M)")


class Relations(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Figures that belong together, and their relations; relations.toml describes the fields."""

    relations: tuple[str, ...] = ()
    slack: float = SLACK
    wide: bool = False

    def tested(self, figures: Figures) -> Iterator[Tested]:
        return related(self.relations, figures, self.slack, wide=self.wide)


class ProgramLine(Relations, frozen=True):
    """A line that a program prints."""

    program: str
    pattern: str
    figures: dict[str, str] = {}
    keep: bool = False
    begins: bool = False
    cut: bool = False
    reader: str = ""

    @property
    def title(self) -> str:
        """Returns the program's name without the version."""
        return re.sub(r" \(.*| \d$", "", self.program)

    def compiled(self) -> re.Pattern[str]:
        text = self.pattern.replace(r"[\d.]+", r"\d+(?:\.\d+)?")
        text = text.replace(r"[\d.,]+", r"\d+(?:[.,]\d+)?")
        return re.compile(_PART.sub(lambda name: _PARTS[name[0]], text))


class BoundRecord(Relations, frozen=True):
    """Figures of a row, a column or a list, found by dimension and label."""

    kinds: tuple[Kind, ...]
    fields: dict[str, str]
    but: str = "(?!)"


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    line: tuple[ProgramLine, ...]
    record: tuple[BoundRecord, ...]


@cache
def relations() -> _File:
    path = Path(__file__).with_name("relations.toml")
    return convert(tomllib.loads(path.read_text(encoding="utf-8")), _File)


def related(
    relations: Sequence[str], figures: Figures, slack: float = SLACK, *, wide: bool = False
) -> Iterator[Tested]:
    """Tests those relations whose fields are all there; `wide` lets megabytes be binary."""
    for relation in relations:
        rule, _, formula = relation.partition(": ")
        if set(re.findall(r"[a-z]\w*", formula)) - set(figures):
            continue
        spans = {key: loose(one) if wide else one.span for key, one in figures.items()}
        ends, (target, _, value) = formula.split(" <= "), formula.partition(" = ")
        if rule == "spread" and not re.search(r" [-=] ", formula):
            yield from (in_order(rule, figures[a], figures[b]) for a, b in pairwise(ends))
        elif len(ends) > 1:
            low, high = (_value(end, spans) for end in ends)
            names = re.findall(r"[a-z]\w*", ends[0])
            one = max((figures[name] for name in names), key=lambda figure: figure.line)
            sums = f" = {amount(low, one.dimension)}" * (len(names) > 1)
            wrong = f"{_words(ends[0], figures, names=True)}{sums} is more than "
            good = low.low <= high.high * (1 + slack)
            yield Tested(rule, one, good, f"{wrong}{_words(ends[1], figures, names=True)}.")
        else:
            with suppress(ZeroDivisionError):
                follow = _value(value, spans), _words(value, figures), slack or 1e-9
                yield follows(rule, figures[target], *follow, wide=wide)


def _value(formula: str, spans: Mapping[str, Span]) -> Span:
    def leaf(node: ast.expr) -> Span:
        return spans[node.id] if isinstance(node, ast.Name) else exact(float(ast.unparse(node)))

    value: Span = evaluated(ast.parse(formula, mode="eval").body, leaf)
    return value


def _words(formula: str, figures: Figures, *, names: bool = False) -> str:
    shown = {
        name: f"{one.text} ({one.name})" if names else one.text for name, one in figures.items()
    }
    text = re.sub(r"[a-z]\w*", lambda name: shown[name[0]], formula)
    return text.replace(" * ", " × ").replace(" / ", " ÷ ")
