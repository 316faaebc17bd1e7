# SPDX-License-Identifier: BSD-2-Clause
"""Formulas compute the value of a cell from a run, in a small part of Python's syntax.

The functions are the methods of Lookup; docs/published-figures.md has examples. There are two more:

    teehash(STEP, FORMULA)   the formula for each run of a step, over the names of its report
    max(…)                   the largest argument, of those whose value is known

Numbers and functions can be joined by + - * /.
"""

import ast
import inspect
import math
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

from teemark.base.errors import ConfigError
from teemark.model.stats import Unlike
from teemark.reference.data import Reference
from teemark.reference.span import Span, evaluated, exact
from teemark.studies.measured import Lookup, NotKnown, TeehashReport, Value, exact_value, metric

FUNCTIONS = tuple(
    name for name in vars(Lookup) if name[0] != "_" and name not in ("absent", "teehash")
)


@dataclass(frozen=True, slots=True)
class Formula:
    text: str
    body: ast.expr

    @classmethod
    def parse(cls, text: str, where: str) -> "Formula":
        """Reads a formula; raises a ConfigError that begins with `where` if the text isn't one."""
        try:
            body = ast.parse(text, mode="eval").body
            evaluated(body, _check)
        except (SyntaxError, TypeError, ValueError):
            hint = "there are numbers, + - * / teehash max " + " ".join(FUNCTIONS)
            raise ConfigError(f"{where}: {text}: that is no formula", hint=hint) from None
        return cls(text, body)

    def __call__(self, lookup: Lookup) -> Value | str:
        """Returns the formula's value in a run; raises NotKnown, with a reason, if it has none."""
        try:
            value = evaluated(self.body, lambda node: _asked(lookup, node))
        except ZeroDivisionError:
            raise NotKnown("it would be divided by zero") from None
        except Unlike as why:
            raise NotKnown(str(why)) from None
        return exact_value(value) if isinstance(value, int | float) else value

    def printed(self, reference: Reference, document: str) -> Span:
        """Returns the formula's value by a document's printed figures, with their rounding. Raises
        AttributeError for functions other than published() and constant()."""
        functions = SimpleNamespace(
            published=lambda *key: reference.get(document, *key).base,
            constant=lambda name: exact(reference.constant(name)),
        )
        value: Span = evaluated(self.body, lambda node: _asked(functions, node))
        return value


def _check(leaf: ast.expr, *, in_report: bool = False) -> float:
    """Checks a leaf of a formula, which must be a number or something that can be asked of a run or
    a report; raises SyntaxError, ValueError or TypeError if not. Returns NaN for its value."""
    match leaf:
        case ast.Constant(value=int() | float()):
            return math.nan
        case ast.Name() | ast.Attribute(value=ast.Name()) if in_report:
            return math.nan
        case ast.Call(func=ast.Name(name), args=args, keywords=[]) if not in_report:
            match name, args:
                case "max", [_, *_]:
                    return max(float(evaluated(arg, _check)) for arg in args)
                case "teehash", [ast.Constant(str()), figure]:
                    return float(evaluated(figure, partial(_check, in_report=True)))
                case _ if name in FUNCTIONS:
                    words = map(ast.literal_eval, args)
                    inspect.signature(getattr(Lookup, name)).bind(None, *words)
                    return math.nan
    raise SyntaxError


def _asked(lookup: Lookup | SimpleNamespace, node: ast.expr) -> Any:
    if not isinstance(node, ast.Call):
        value = ast.literal_eval(node)
        return value if isinstance(lookup, Lookup) else exact(value)
    name = ast.unparse(node.func)
    if name == "teehash" and isinstance(lookup, Lookup):
        step, figure = node.args
        title = ast.unparse(figure)
        return lookup.teehash(ast.literal_eval(step), title, lambda report: _figure(report, figure))
    if name != "max":
        return getattr(lookup, name)(*map(ast.literal_eval, node.args))
    values: list[Value] = []
    reasons: list[NotKnown] = []
    for arg in node.args:
        try:
            values.append(evaluated(arg, lambda inner: _asked(lookup, inner)))
        except NotKnown as why:
            reasons.append(why)
    if not values:
        raise reasons[0]
    return max(values, key=lambda value: value.median)


def _figure(report: TeehashReport, node: ast.expr) -> float:
    def named(leaf: ast.expr) -> float:
        if isinstance(leaf, ast.Constant):
            return float(leaf.value)  # type: ignore[arg-type]
        group, _, name = ast.unparse(leaf).partition(".")
        value = report.get(group)
        return float(value) if isinstance(value, int | float) else metric(report, group, name)

    return float(evaluated(node, named))
