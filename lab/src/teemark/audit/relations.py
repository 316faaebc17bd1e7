# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: RUF001, RUF002 (the signs of arithmetic)
"""Rules on figures that follow from one another: rates, factors, means of calls, equations."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise, permutations

from teemark.audit.figure import Figure
from teemark.audit.numbers import Number, numbers
from teemark.audit.rule import (
    BINARY,
    Case,
    Group,
    Rule,
    Tested,
    amount,
    fits,
    loose,
    sizes_in,
    stem,
    tested,
)
from teemark.reference.span import Span, evaluated, exact

STATISTIC = re.compile(
    r"\b(?:min|max|minimum|maximum|median|p\d\d|st(?:andar)?d?[. -]*dev\w*|sd|deviation|cv)\b"
)
_WHOLE = re.compile(
    r"\b(?:total|elapsed|wall|overall|duration|sum|took|takes|altogether)\b|^real$|\bin$"
)
_TAKEN = re.compile(r"\b(?:in|took|take|takes|taking|within|for|over|needs|needed|lasted)$")
_NOT_THE_WORK = re.compile(
    r"overhead|set-?up|open|boot|wait|switch|\bcpu\b|\buser\b|\bsys\b|delta|asked|mapping|"
    r"\bper\b|\bcalls?\b|session|empty|latency|i/o|\bread\b|\bree\b|timeout"
)
_MEMORY = re.compile(
    r"memory|heap|stack|\bram\b|buffer|chunk|cache|limit|peak|code|state|footprint"
)
_PARALLEL = re.compile(r"thread|parallel|concurren|client|worker|queue|pipelin|jobs|cores", re.I)
_PER = re.compile(r"^(?:for )?(?:per|each|a|an|every)\b(?: ([a-z-]+(?: [a-z-]+)?))?")
_IN_LABEL = re.compile(r"\bper ([a-z-]+(?: [a-z-]+)?)|\b(latency)\b")
_COMPARES = re.compile(
    r"faster|slower|quicker|more|less|higher|lower|smaller|larger|longer|shorter|better|worse|"
    r"speed-?up|improve|reduc|sav(?:e|ing)|gain|increase|decrease|change|\bdiff|delta|Δ|over\b|"
    r"margin|analysis|factor|overhead|saved|\bvs\b"
)
_SHRINKS = re.compile(
    r"shr[aiu]nk|reduc|smaller|larger|grew|grow|footprint|drop|fell|rose|sav", re.I
)

_SCALES = re.compile(r"factor|improve|speed-?up|gain|scaling|acceleration")

Values = list[tuple[Span, str]]
"""What a figure may be, each with the formula that gives it."""


def follows(figure: Figure, values: Values, slack: float = 0.005) -> Tested:
    """One of the values has to be the figure's."""
    if not values or any(fits(value, loose(figure), slack) for value, _ in values):
        return Tested(figure)
    value, formula = min(values, key=lambda one: abs(one[0].mid - figure.span.mid))
    wrong = f"{figure.name}: {figure.text} is printed, but {formula} = "
    return Tested(figure, f"{wrong}{amount(value, figure.dimension)}.")


def _positive(group: Group, *dimensions: str) -> list[Figure]:
    return [one for one in group.of(*dimensions) if one.span.low > 0]


def _of_the_work(group: Group, one: Figure) -> bool:
    """Whether a time is that of the work itself."""
    label = group.label(one)
    if group.kind == "sentence":
        return bool(_TAKEN.search(one.row.lower())) and not _NOT_THE_WORK.search(label[-30:])
    return not _NOT_THE_WORK.search(label) and not STATISTIC.search(label)


def rates(case: Case) -> Iterator[Tested]:
    """Size ÷ time, and messages a second × their size."""
    for group in case.of_kind("row", "column", "block", "sentence"):
        for rate in group.of("rate"):
            values, sure = _rates(group, rate)
            if values and sure and not STATISTIC.search(group.label(rate)):
                yield follows(rate, values)


def _rates(group: Group, rate: Figure) -> tuple[Values, bool]:
    """What the rate may follow from, and whether it must be one of these."""
    found = [(one.text, loose(one), _MEMORY.search(group.label(one))) for one in group.of("size")]
    if not found:
        headings = (rate.row, rate.column, rate.table) if rate.form == "cell" else (rate.table,)
        heading = next((sizes for text in headings if (sizes := sizes_in(text))), ())
        if len(heading) == 1:
            ((text, span, unit),) = heading
            wide = BINARY if unit == "MB" else 1.0
            found = [(text, Span(span.low, span.mid, span.high * wide), None)]
    times = [one for one in _positive(group, "time") if one.column != "asked"]
    counts = [(1.0, "")] + [(one.span.mid, f"{one.text} × ") for one in group.of("count")]
    per_second = [one for one in group.of("frequency") if one.unit == "/s"]
    values = [
        (size / time.span * n, f"{n_text}{text} ÷ {time.text}")
        for n, n_text in counts
        for text, size, _ in found
        for time in times
    ]
    values += [
        (size * one.span, f"{text} × {one.text}") for text, size, _ in found for one in per_second
    ]
    given = bool(per_second) or any(_of_the_work(group, one) for one in times)
    return values, given and not all(memory for _, _, memory in found)


def per_second(case: Case) -> Iterator[Tested]:
    """Operations a second are their number ÷ time, or 1 ÷ the time of one."""
    for group in case.of_kind("row", "column", "block", "sentence"):
        times, counts, sentence = (
            _positive(group, "time"),
            group.of("count"),
            group.kind == "sentence",
        )
        words = " ".join(group.label(other) for other in group.figures)
        for one in group.of("frequency"):
            if one.unit != "/s" or _PARALLEL.search(f"{one.table} {words}"):
                continue
            noun = stem(re.split(r" per | a |/", group.label(one))[0] or one.column)
            each: Values = [
                (exact(1) / time.span, f"1 ÷ {time.text}")
                for time in times
                if (not sentence and not STATISTIC.search(group.label(time)))
                or _PER.search(time.column.lower())
            ]
            many: Values = [
                (count.span / time.span, f"{count.text} ÷ {time.text}")
                for count in counts
                for time in times
            ]
            named = noun in [stem(count.column or count.row) for count in counts]
            if (each and (sentence or group.kind == "row")) or (many and (sentence or named)):
                yield follows(one, each + many, 0.01)


def per_call(case: Case) -> Iterator[Tested]:
    """The time of one call is that of all ÷ their number."""
    for group in case.of_kind("list", "sentence", "row", "column"):
        counts = [one for one in group.of("count") if one.span.mid > 1]
        for one in group.of("time") if counts else ():
            label = group.label(one)
            found = _PER.match(one.column.lower()) if one.form == "line" else None
            if not found and not (found := _IN_LABEL.search(label)):
                continue
            latency = found.re is _IN_LABEL and not found[1]
            nouns = {"call"} if latency else {stem(word) for word in (found[1] or "").split()}
            fitting = [c for c in counts if {stem(c.column), stem(c.row)} & nouns]
            fitting = fitting or (counts if not nouns and len(counts) == 1 else [])
            totals = [
                other for other in group.of("time")
                if other is not one and not _IN_LABEL.search(group.label(other))
                and ("overhead" in group.label(other)) == ("overhead" in label)
            ]  # fmt: skip
            if fitting and any(_WHOLE.search(group.label(total)) for total in totals):
                yield follows(one, [
                    (total.span / count.span, f"{total.text} ÷ {count.text}")
                    for total in totals for count in fitting
                ])  # fmt: skip


def cycles(case: Case) -> Iterator[Tested]:
    """Cycles a byte are clock ÷ rate, and cycles are clock × time."""
    for group in case.of_kind("row", "sentence", "column"):
        clocks = [(clock, amount(clock, "frequency")) for clock in case.clock(group)]
        slopes, rates_ = group.of("cycles per byte"), _positive(group, "rate")
        times = _positive(group, "time")
        by_rate = [(c / one.span, f"{text} ÷ {one.text}") for c, text in clocks for one in rates_]
        by_time = [(c * one.span, f"{text} × {one.text}") for c, text in clocks for one in times]
        for slope in slopes if by_rate and len(slopes) >= len(rates_) else ():
            yield follows(slope, by_rate, 0.03)
        for count in group.of("cycles") if by_time else ():
            yield follows(count, by_time, 0.03)


# -- factors ---------------------------------------------------------------------------------------


def is_factor(group: Group, one: Figure) -> bool:
    """Whether a figure compares two others."""
    if one.dimension == "factor":
        return True
    words = f"{one.row[-30:]} {one.column[:30]}".lower()
    if one.form == "cell":
        words = group.label(one).replace("overhead", "")  # in a table it may be a share
    return one.dimension == "share" and (one.text[0] == "+" or bool(_COMPARES.search(words)))


def factors(case: Case) -> Iterator[Tested]:
    """A factor or a percentage is that of two figures beside it."""
    tables: dict[str, list[Group]] = {}
    for group in case.of_kind("row"):
        tables.setdefault(group.figures[0].table, []).append(group)
    blocks = {one.block: group for group in case.of_kind("list") for one in group.figures}
    for group in case.of_kind("row", "sentence"):
        for one in group.figures:
            if not is_factor(group, one):
                continue
            pairs = _pairs(_comparable(group, one))
            if group.kind == "row":
                pairs += _to_baseline(tables[one.table], group, one)
            elif not pairs and one.block in blocks:
                pairs = _in_list(blocks[one.block], group, one)
            if pairs:
                yield _compared(one, pairs)


Pairs = list[tuple[Figure, Figure]]


def _comparable(group: Group, factor: Figure) -> list[Figure]:
    """Figures that a factor may be of: no clocks; sizes where something shrinks."""
    chosen = group.of("time", "rate", "time per byte", "cycles", "cycles per byte", "power")
    chosen += group.of("size") if group.kind == "row" else []
    counts = group.of("count") if group.kind == "row" else []
    chosen += counts if len(counts) == 2 and _SCALES.search(group.label(factor)) else []
    chosen = [one for one in chosen if not re.search(r"st\w*dev|\bsd\b", group.label(one))]
    if not chosen and any(_SHRINKS.search(one.words) for one in group.figures):
        chosen = group.of("size")
    return [one for one in chosen if one is not factor and one.span.low > 0]


def _pairs(figures: list[Figure]) -> Pairs:
    return [(a, b) for a, b in permutations(figures, 2) if a.dimension == b.dimension]


def _to_baseline(rows: list[Group], group: Group, factor: Figure) -> Pairs:
    """The same columns of the row that has the factor 1, or that is no % more."""
    none = float(factor.dimension == "factor")
    of_base = (
        row
        for row in rows
        if any(one.column == factor.column and one.span.mid == none for one in row.figures)
    )
    base = next(of_base, group)
    mine, its = _comparable(group, factor), _comparable(base, factor)
    return [
        (a, b)
        for a in (mine if base is not group else ())
        for b in its
        if (a.column, a.dimension) == (b.column, b.dimension)
    ]


def _in_list(block: Group, line: Group, factor: Figure) -> Pairs:
    """A line of a list is compared with the list's first line; a factor that stands alone, with
    what comes before it."""
    own = _comparable(line, factor)
    before = [one for one in _comparable(block, factor) if one.sentence < factor.sentence]
    if own:
        return [(own[0], one) for one in before if one.dimension == own[0].dimension][:1]
    row = factor.row.lower()
    return _pairs(before) if "vs" in factor.row or not row or "ratio" in row else []


def _compared(factor: Figure, pairs: Pairs) -> Tested:
    ratios = [a.span / b.span for a, b in pairs]
    ways = list(ratios)
    if factor.dimension == "share" or _COMPARES.search(factor.column.lower()):
        ways += [way for ratio in ratios for way in (ratio - 1, exact(1) - ratio)]
    span = factor.span * (-1 if factor.span.mid < 0 else 1)
    a, b = max(pairs, key=lambda pair: pair[0].span.mid / pair[1].span.mid)
    value = amount(a.span / b.span - (factor.dimension == "share"), factor.dimension)
    wrong = f"{factor.name}: {factor.text} is printed, but {a.text} and {b.text} differ by {value}."
    return tested(factor, any(fits(value, span) for value in ways), wrong)


# -- what is written out ---------------------------------------------------------------------------


def percent_of(case: Case) -> Iterator[Tested]:
    """ "0.2 ms (8.3 % of 2.4 ms)"."""
    for group in case.of_kind("sentence"):
        ordered = sorted(group.figures, key=lambda one: one.start)
        for part, share, whole in zip(ordered, ordered[1:], ordered[2:], strict=False):
            of = share.dimension == "share" and share.column.strip() == "of"
            if of and part.dimension == whole.dimension and whole.span.low > 0:
                yield follows(share, [(part.span / whole.span, f"{part.text} ÷ {whole.text}")])


def conversions(case: Case) -> Iterator[Tested]:
    """ "262144 KB (256 MB)": one thing in two units."""
    for group in case.of_kind("sentence"):
        ordered = sorted(group.figures, key=lambda one: one.start)
        for one, other in pairwise(ordered):
            same = one.dimension == other.dimension and one.unit != other.unit
            if same and one.column.strip() == "(" and not other.row and other.column[:1] == ")":
                decimal = {one.unit.partition("/")[0], other.unit.partition("/")[0]} & _DECIMAL
                scales = [1.024**k for k in range(-3, 4)] if decimal else [1.0]
                good = any(fits(_sharp(one) * scale, _sharp(other), 0.0005) for scale in scales)
                wrong = f"{one.text} are {amount(one.span, one.dimension)}, and the "
                yield tested(other, good, f"{wrong}brackets behind it say {other.text}.")


_DECIMAL = {"kB", "KB", "MB", "GB"}


def _sharp(one: Figure) -> Span:
    """A size printed whole is one: 512 KiB are no 512.4."""
    whole = one.dimension == "size" and "." not in one.digits
    return exact(one.span.mid) if whole else one.span


_SIGNS = str.maketrans("×x÷", "**/")


def equations(case: Case) -> Iterator[Tested]:
    """Sums and quotients that a sentence writes out, with their result behind "="."""
    for text, line in case.reading.said:
        found = numbers(text) if "=" in text else []
        for index, one in enumerate(found[1:], 1):
            between = text[found[index - 1].end : one.start]
            if between.rstrip(" ~≈").endswith("=") and len(re.findall("[A-Za-z]+", between)) <= 3:
                yield from _equation(text, line, found[:index], one)


def _equation(text: str, line: int, left: list[Number], result: Number) -> Iterator[Tested]:
    """The longest chain of numbers with signs between them that ends before the "=". More than
    three words stand between two numbers of an equation only by accident."""
    first = len(left) - 1
    while first > 0:
        gap = text[left[first - 1].end : left[first].start]
        signs = re.findall(r"[+\-×x*÷/]", re.sub(r"[A-Za-z]{2,}", "", gap))
        if len(signs) != 1 or "=" in gap or len(re.findall("[A-Za-z]+", gap)) > 3:
            break
        first -= 1
    chain = left[first:]
    formula = _formula(text, chain, result) if len(chain) > 1 else None
    if formula is None:
        return
    for scaled in (True, False):  # with the units of all, or as bare digits in the result's unit
        spans = [one.printed[1] if scaled else _bare(one) for one in chain]
        try:
            value = evaluated(formula, lambda node: spans[int(ast.unparse(node)[1:])])  # noqa: B023
        except (ZeroDivisionError, ValueError):
            return
        if fits(value, result.printed[1] if scaled else _bare(result)):
            yield Tested(None, line=line)
            return
    shown, unit = text[chain[0].start : result.end], result.unit
    yield Tested(None, f"“{shown}”: it is {amount(value, '')}{f' {unit}' if unit else ''}.", line)


def _bare(one: Number) -> Span:
    value, printed = one.printed[1], float(one.value)
    return value * abs(printed / value.mid if value.mid and not one.upper else 1.0)


def _formula(text: str, left: list[Number], result: Number) -> ast.expr | None:
    """The equation's left side as an expression of n0, n1, …; None if it is none."""
    before = text[: left[0].start].rstrip("~ ")
    written = "(" * (len(before) - len(before.rstrip("(")))
    for index, (one, after) in enumerate(pairwise((*left, result))):
        gap = re.sub(r"[A-Za-z%~≈]{2,}|[^()+\-×x*÷/]", "", text[one.end : after.start])
        kept = gap if after is not result else ")" * gap.count(")")
        written += f"n{index}{kept.translate(_SIGNS)}"
    try:
        return ast.parse(written, mode="eval").body
    except SyntaxError:
        return None


RULES: tuple[Rule, ...] = (
    Rule("rate", "error", rates),
    Rule("per-second", "error", per_second),
    Rule("per-call", "error", per_call),
    Rule("cycles", "error", cycles),
    Rule("factor", "error", factors),
    Rule("percent-of", "error", percent_of),
    Rule("conversion", "error", conversions),
    Rule("equation", "error", equations),
)
