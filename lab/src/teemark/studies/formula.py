# SPDX-License-Identifier: BSD-2-Clause
"""Formulas: which value of a run stands in a cell, in a small part of Python's syntax.

    time(CASE)  rate(CASE)  size(CASE)   of one call: seconds, bytes a second, bytes
    inside(CASE)                         seconds of one operation inside the TA
    per_byte(ALGORITHM, BACKEND)         seconds of one more byte
    teehash(STEP, FORMULA)               of each run of a step; the names are those of its report
    ran(STEP)                            yes or no: whether teehash did what a step asks
    samples(CASE)                        how many were taken
    verified(CASE)                       "verified", of a case that was measured
    fact(NAME)  option(NAME)             of the machine; of its kernel's configuration
    driver(ALGORITHM, WHAT, KIND)        of the kernel: `name` or `priority`
    done_by(CASE)                        who did the work, by the evidence
    rate_by(OUTCOME, WORK, PARAMETERS)   of the kernel's fastest driver proven to be that
    driver_by(OUTCOME, WORK, PARAMETERS, WHAT)   its `name` or `priority`
    timeline(STEP, WHAT)                 of one recorded pass without opening and closing: `cpu` and
                                         `elapsed` seconds, their quotient `share`, or `switches`
    published(TABLE, ROW, COLUMN)        what the document printed, its unit put right
    constant(NAME)                       a number of reference/constants.csv
    max(…)                               the largest of those that are known

and numbers with + - * / between them.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from teemark.base.errors import ConfigError
from teemark.reference.data import Reference
from teemark.reference.span import SIGNS, Span, exact, on_spans
from teemark.studies.measured import Lookup, NotKnown, TeehashReport, Value, exactly, metric

_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "time": Lookup.time,
    "rate": Lookup.rate,
    "size": Lookup.size,
    "inside": Lookup.inside,
    "per_byte": Lookup.per_byte,
    "ran": Lookup.ran,
    "samples": Lookup.samples,
    "verified": Lookup.verified,
    "fact": Lookup.fact,
    "option": Lookup.option,
    "driver": Lookup.driver,
    "done_by": Lookup.done_by,
    "rate_by": Lookup.rate_by,
    "driver_by": Lookup.driver_by,
    "timeline": Lookup.timeline,
    "published": Lookup.published,
    "constant": Lookup.constant,
}

_TIMED = re.compile(
    r"\b(?:time|rate|inside|per_byte|rate_by|timeline)\(|_time\b|\bfirst\.|utilization|latency|"
    r"run_queue|hash_rate|empty_call|io_to_compute"
)
"""Formulas that have this are of times; all others are of counts, sizes and facts."""


@dataclass(frozen=True, slots=True)
class Formula:
    text: str
    body: ast.expr

    @property
    def timed(self) -> bool:
        """Whether it is of times, which on an emulated board are the emulator's."""
        return bool(_TIMED.search(self.text))

    @classmethod
    def parse(cls, text: str, where: str) -> Formula:
        """A ConfigError, which begins with `where`, if it isn't one."""
        try:
            body = ast.parse(text, mode="eval").body
        except SyntaxError:
            body = ast.expr()
        if not _is_formula(body):
            raise ConfigError(
                f"{where}: {text}: that is no formula",
                hint="there are numbers, + - * / teehash max " + " ".join(_FUNCTIONS),
            )
        return cls(text, body)

    def __call__(self, lookup: Lookup) -> Value | str:
        """NotKnown says why there is none."""
        try:
            value: Value | str | float = _evaluate(self.body, lambda call: _asked(lookup, call))
        except ZeroDivisionError:
            raise NotKnown("it would be divided by zero") from None
        return exactly(value) if isinstance(value, int | float) else value

    def printed(self, reference: Reference, document: str) -> Span:
        """Its value by what a document printed, with the rounding of all its figures. It may have
        published(), constant() and numbers only; KeyError for anything else."""

        def leaf(node: ast.expr) -> Span:
            match node:
                case ast.Constant(value=int() | float() as value):
                    return exact(value)
                case ast.Call(func=ast.Name("published"), args=args):
                    return reference.get(document, *map(ast.literal_eval, args)).base
                case ast.Call(func=ast.Name("constant"), args=[ast.Constant(str(name))]):
                    return exact(reference.constant(name))
            raise KeyError(self.text)

        return on_spans(self.body, leaf)


def _is_formula(node: ast.expr, *, in_report: bool = False) -> bool:
    fits = False
    match node:
        case ast.BinOp(left, sign, right):
            sides = (_is_formula(side, in_report=in_report) for side in (left, right))
            fits = type(sign) in SIGNS and all(sides)
        case ast.Constant(value=int() | float()):
            fits = True
        case ast.Name() | ast.Attribute(value=ast.Name()):
            fits = in_report
        case ast.Call(func=ast.Name("max"), args=[_, *_] as args):
            fits = not in_report and all(map(_is_formula, args))
        case ast.Call(func=ast.Name("teehash"), args=[ast.Constant(str()), figure]):
            fits = not in_report and _is_formula(figure, in_report=True)
        case ast.Call(func=ast.Name(name), args=args, keywords=[]) if name in _FUNCTIONS:
            words = [arg.value for arg in args if isinstance(arg, ast.Constant)]
            fits = not in_report and len(words) == len(args) and _takes(name, words)
    return fits


def _takes(name: str, words: list[Any]) -> bool:
    try:
        inspect.signature(_FUNCTIONS[name]).bind(None, *words)
    except TypeError:
        return False
    return True


def _evaluate(node: ast.expr, leaf: Callable[[ast.expr], Any]) -> Any:
    if isinstance(node, ast.BinOp):
        sides = _evaluate(node.left, leaf), _evaluate(node.right, leaf)
        return SIGNS[type(node.op)](*sides)
    return node.value if isinstance(node, ast.Constant) else leaf(node)


def _asked(lookup: Lookup, call: ast.expr) -> Any:
    """What a function gives."""
    assert isinstance(call, ast.Call)
    name = ast.unparse(call.func)
    if name == "teehash":
        step, figure = call.args
        name = ast.unparse(figure)
        return lookup.teehash(ast.literal_eval(step), name, lambda one: _figure(one, figure))
    if name != "max":
        return _FUNCTIONS[name](lookup, *map(ast.literal_eval, call.args))
    known: list[Value] = []
    reasons: list[NotKnown] = []
    for arg in call.args:
        try:
            known.append(_evaluate(arg, lambda inner: _asked(lookup, inner)))
        except NotKnown as why:
            reasons.append(why)
    if not known:
        raise reasons[0]
    return max(known, key=lambda value: value.median)


def _figure(report: TeehashReport, node: ast.expr) -> float:
    """What one report of teehash gives."""

    def named(leaf: ast.expr) -> float:
        group, _, name = ast.unparse(leaf).partition(".")
        value = report.get(group)
        return float(value) if isinstance(value, int | float) else metric(report, group, name)

    return float(_evaluate(node, named))
