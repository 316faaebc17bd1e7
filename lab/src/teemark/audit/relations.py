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
    fits,
    loose,
    sizes_in,
    stem,
    tested,
)
from teemark.audit.words import amount, listed
from teemark.reference.span import Span, exact, on_spans

STATISTIC = re.compile(
    r"\b(?:min|max|minimum|maximum|median|p\d\d|st(?:andar)?d?[. -]*dev\w*|sd|deviation|cv)\b"
)
WHOLE = re.compile(
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


def _nearest(values: list[tuple[Span, str]], wanted: Span) -> tuple[Span, str]:
    return min(values, key=lambda one: abs(one[0].mid - wanted.mid))


def follows(figure: Figure, values: list[tuple[Span, str]], slack: float = 0.005) -> Tested:
    """One of the values, each with its formula, has to be the figure's."""
    if not values or any(fits(value, loose(figure), slack) for value, _ in values):
        return Tested(figure)
    value, formula = _nearest(values, figure.span)
    return Tested(
        figure,
        f"{figure.name}: {figure.text} is printed, but {formula} = "
        f"{amount(value, figure.dimension)}.",
    )


def _proper_time(group: Group, one: Figure) -> bool:
    label = group.label(one)
    if group.kind == "sentence":
        return bool(_TAKEN.search(one.row.lower())) and not _NOT_THE_WORK.search(label[-30:])
    return not _NOT_THE_WORK.search(label) and not STATISTIC.search(label)


def rates(case: Case) -> Iterator[Tested]:
    """Size ÷ time, and messages a second × their size."""
    size = _of_document(case)
    for group in case.of_kind("row", "column", "block", "sentence"):
        for rate in group.of("rate"):
            if STATISTIC.search(group.label(rate)):
                continue
            values, sure = _rates(group, rate)
            if values and sure:
                yield follows(rate, values)
            elif size is not None and group.kind in ("row", "column") and not group.of("size"):
                times = [one for one in group.of("time") if _proper_time(group, one)]
                values = [(size[1] / one.span, f"{size[0]} ÷ {one.text}") for one in times]
                if values:
                    yield follows(rate, values, ROUGHLY)


ROUGHLY = 0.1
"""Share by which the one file that a text speaks of may differ from the size that names it."""


def _of_document(case: Case) -> tuple[str, Span] | None:
    """The size of the file, where the whole text speaks of files of one size."""
    found = {}
    for text, _ in case.reading.said:
        for match in re.finditer(r"\b\d[\d.,]{0,12} ?[KMG]i?B(?= file)", text):
            for shown, span, _ in sizes_in(match[0]):
                found[shown] = Span(span.mid, span.mid, span.mid)
    return found.popitem() if len(found) == 1 else None


def _rates(group: Group, rate: Figure) -> tuple[list[tuple[Span, str]], bool]:
    """What the rate may follow from, and whether it must be one of these."""
    found = [(one.text, loose(one), _MEMORY.search(group.label(one))) for one in group.of("size")]
    if not found:
        headings = (rate.row, rate.column, rate.table) if rate.form == "cell" else (rate.table,)
        heading = next((sizes for text in headings if (sizes := sizes_in(text))), ())
        if len(heading) == 1:
            ((text, span, unit),) = heading
            wide = BINARY if unit == "MB" else 1.0
            found = [(text, Span(span.low, span.mid, span.high * wide), None)]
    times = [one for one in group.of("time") if one.span.low > 0 and one.column != "asked"]
    counts = [(1.0, "")] + [(one.span.mid, f"{one.text} × ") for one in group.of("count")]
    values = [
        (exact(n) * size / time.span, f"{n_text}{text} ÷ {time.text}")
        for n, n_text in counts
        for text, size, _ in found
        for time in times
    ]
    per_second = [one for one in group.of("frequency") if one.unit == "/s"]
    values += [
        (size * one.span, f"{text} × {one.text}") for text, size, _ in found for one in per_second
    ]
    sure = any(not memory for _, _, memory in found) and (
        bool(per_second) or any(_proper_time(group, one) for one in times)
    )
    return values, sure


def per_second(case: Case) -> Iterator[Tested]:
    """Operations a second are their number ÷ time, or 1 ÷ the time of one."""
    for group in case.of_kind("row", "column", "block", "sentence"):
        times = [one for one in group.of("time") if one.span.low > 0]
        counts = group.of("count")
        for one in group.of("frequency"):
            words = " ".join((one.table, *(group.label(other) for other in group.figures)))
            if one.unit != "/s" or _PARALLEL.search(words):
                continue
            noun = stem(re.split(r" per | a |/", group.label(one))[0] or one.column)
            each = [
                (exact(1) / time.span, f"1 ÷ {time.text}")
                for time in times
                if (group.kind != "sentence" and not STATISTIC.search(group.label(time)))
                or _PER.search(time.column.lower())
            ]
            many = [
                (count.span / time.span, f"{count.text} ÷ {time.text}")
                for count in counts
                for time in times
            ]
            named = [stem(count.column or count.row) for count in counts]
            if each and group.kind == "row":
                yield follows(one, each + many, 0.01)
            elif many and (group.kind == "sentence" or noun in named):
                yield follows(one, many + each, 0.01)
            elif each and group.kind == "sentence":
                yield follows(one, each, 0.01)


def per_call(case: Case) -> Iterator[Tested]:
    """The time of one call is that of all ÷ their number."""
    for group in case.of_kind("list", "sentence", "row", "column"):
        counts = [one for one in group.of("count") if one.span.mid > 1]
        for one in group.of("time"):
            label = group.label(one)
            found = _PER.match(one.column.lower()) if one.form == "line" else None
            if not found and (found := _IN_LABEL.search(label)) and not found[1]:
                nouns = {"call"}
            elif found:
                nouns = {stem(word) for word in (found[1] or "").split()}
            else:
                continue
            fitting = [c for c in counts if {stem(c.column), stem(c.row)} & nouns]
            fitting = fitting or (counts if not nouns and len(counts) == 1 else [])
            totals = [
                other for other in group.of("time")
                if other is not one and not _IN_LABEL.search(group.label(other))
                and ("overhead" in group.label(other)) == ("overhead" in label)
            ]  # fmt: skip
            sure = any(WHOLE.search(group.label(total)) for total in totals)
            if fitting and totals and sure:
                values = [
                    (total.span / count.span, f"{total.text} ÷ {count.text}")
                    for total in totals
                    for count in fitting
                ]
                yield follows(one, values)


def cycles(case: Case) -> Iterator[Tested]:
    """Cycles a byte are clock ÷ rate, and cycles are clock × time."""
    for group in case.of_kind("row", "sentence", "column"):
        clocks = case.clock(group)
        if not clocks:
            continue
        slopes, rates_ = group.of("cycles per byte"), group.of("rate")
        for slope in slopes:
            if rates_ and len(slopes) >= len(rates_):
                yield follows(slope, [
                    (clock / rate.span, f"{amount(clock, 'frequency')} ÷ {rate.text}")
                    for clock in clocks for rate in rates_ if rate.span.low > 0
                ], 0.03)  # fmt: skip
        for count in group.of("cycles"):
            times = [one for one in group.of("time") if one.span.low > 0]
            if times:
                yield follows(count, [
                    (clock * time.span, f"{amount(clock, 'frequency')} × {time.text}")
                    for clock in clocks for time in times
                ], 0.03)  # fmt: skip


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
    for rows in tables.values():
        for group in rows:
            for one in group.figures:
                if is_factor(group, one):
                    pairs = _pairs(_comparable(group, one)) + _to_baseline(rows, group, one)
                    yield from _compared(one, pairs)
    blocks = {one.block: group for group in case.of_kind("list") for one in group.figures}
    for group in case.of_kind("sentence"):
        for one in group.figures:
            if is_factor(group, one) and one.dimension in ("factor", "share"):
                pairs = _pairs(_comparable(group, one))
                if not pairs and one.block in blocks:
                    pairs = _in_list(blocks[one.block], group, one)
                yield from _compared(one, pairs)


Pairs = list[tuple[Figure, Figure]]


def _comparable(group: Group, factor: Figure) -> list[Figure]:
    """Figures that a factor may be of: no clocks; sizes where something shrinks."""
    known = ["time", "rate", "time per byte", "cycles", "cycles per byte", "power"]
    if group.kind == "row":
        known.append("size")
    counts = group.of("count")
    if group.kind == "row" and len(counts) == 2 and _ROOT.search(group.label(factor)):
        known.append("count")
    chosen = [
        one for one in group.of(*known) if not re.search(r"st\w*dev|\bsd\b", group.label(one))
    ]
    if not chosen and any(_SHRINKS.search(f"{one.row} {one.column}") for one in group.figures):
        chosen = group.of("size")
    return [one for one in chosen if one is not factor and one.span.low > 0]


def _pairs(figures: list[Figure]) -> Pairs:
    return [(a, b) for a, b in permutations(figures, 2) if a.dimension == b.dimension]


def _to_baseline(rows: list[Group], group: Group, factor: Figure) -> Pairs:
    """The same columns of the row that has the factor 1, or of the first row."""
    base = next(
        (
            row
            for row in rows
            for one in row.figures
            if one.column == factor.column and one.span.mid == (factor.dimension == "factor")
        ),
        None,
    )
    if base is None or base is group:
        return []
    return [
        (a, b)
        for a in _comparable(group, factor)
        for b in _comparable(base, factor)
        if a.column == b.column and a.dimension == b.dimension
    ]


def _in_list(block: Group, line: Group, factor: Figure) -> Pairs:
    """A line of a list is compared with the list's first line; a factor that stands alone, with
    what comes before it."""
    own = _comparable(line, factor)
    before = [one for one in _comparable(block, factor) if one.sentence < factor.sentence]
    if own:
        first = next((one for one in before if one.dimension == own[0].dimension), None)
        return [(own[0], first)] if first is not None else []
    return (
        _pairs(before)
        if "vs" in factor.row or not factor.row or "ratio" in factor.row.lower()
        else []
    )


def _compared(factor: Figure, pairs: Pairs) -> Iterator[Tested]:
    if not pairs:
        return
    ways = []
    for a, b in pairs:
        ratio = a.span / b.span
        ways.append((ratio, (a, b)))
        if factor.dimension == "share" or _COMPARES.search(factor.column.lower()):
            ways += [(ratio - 1, (a, b)), (exact(1) - ratio, (a, b))]
    span = factor.span
    if span.mid < 0:
        span = Span(-span.high, -span.mid, -span.low)
    if any(fits(value, span) for value, _ in ways):
        yield Tested(factor)
        return
    a, b = max(pairs, key=lambda pair: pair[0].span.mid / pair[1].span.mid)
    less = 1 if factor.dimension == "share" else 0
    value = amount(a.span / b.span - less, factor.dimension)
    yield Tested(
        factor,
        f"{factor.name}: {factor.text} is printed, but {a.text} and {b.text} differ by {value}.",
    )


_ROOT = re.compile(r"factor|improve\w*|speed-?up|gain|scaling|acceleration")


def claims(case: Case) -> Iterator[Tested]:
    """A range of factors that is claimed for what a table lists."""
    columns: dict[str, list[Figure]] = {}
    for group in case.of_kind("column"):
        found = _ROOT.search(group.figures[0].column.lower())
        if found:
            columns.setdefault(found[0][:6], []).extend(group.of("factor"))
    for group in case.of_kind("sentence"):
        for one in group.of("factor"):
            found = _ROOT.search(f"{one.row} {one.column}".lower())
            listed_ = columns.get(found[0][:6], []) if found else []
            if len(listed_) < 2 or " to " not in one.text:
                continue
            low = min(float(f.digits) for f in listed_)
            high = max(float(f.text.rpartition("to ")[2].rstrip(" x")) for f in listed_)
            claimed = float(one.text.rpartition("to ")[2].rstrip(" x"))
            if float(one.digits) > low * 1.2 or claimed < high / 1.2:
                shown = listed([f.text for f in listed_])
                yield Tested(one, f"{one.text} is claimed, and the table has {shown}.")
            else:
                yield Tested(one)


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
                yield tested(
                    other,
                    good,
                    f"{one.text} are {amount(one.span, one.dimension)}, and the "
                    f"brackets behind it say {other.text}.",
                )


_DECIMAL = {"kB", "KB", "MB", "GB"}


def _sharp(one: Figure) -> Span:
    """A size printed whole is one: 512 KiB are no 512.4."""
    whole = one.dimension == "size" and "." not in one.digits
    return exact(one.span.mid) if whole else one.span


_SIGNS = {"+": "+", "-": "-", "×": "*", "x": "*", "*": "*", "÷": "/", "/": "/"}


def equations(case: Case) -> Iterator[Tested]:
    """Sums and quotients that a sentence writes out, with their result behind "="."""
    for text, line in case.reading.said:
        if "=" in text:
            found = numbers(text)
            for index, one in enumerate(found[1:], 1):
                between = text[found[index - 1].end : one.start]
                if between.rstrip(" ~≈").endswith("=") and not _letters(between):
                    yield from _equation(text, line, found[:index], one)


def _letters(text: str) -> bool:
    """More than three words stand between two numbers of an equation only by accident."""
    return len(re.findall(r"[A-Za-z]+", text)) > 3


def _equation(text: str, line: int, left: list[Number], result: Number) -> Iterator[Tested]:
    """The longest chain of numbers with signs between them that ends before the "="."""
    first = len(left) - 1
    while first > 0:
        gap = text[left[first - 1].end : left[first].start]
        signs = [c for c in re.sub(r"[A-Za-z]{2,}", "", gap) if c in _SIGNS]
        if len(signs) != 1 or "=" in gap or _letters(gap):
            break
        first -= 1
    if first == len(left) - 1:
        return
    opening = text[: left[first].start].rstrip("~ ")
    formula = _formula(text, left[first:], result, opening)
    if formula is None:
        return
    unit = result.unit
    for scaled in (True, False):  # with the units of all, or as bare digits in the result's unit
        spans = [one.printed[1] if scaled else _bare(one) for one in left[first:]]
        try:
            value = on_spans(formula, lambda node, spans=spans: spans[_number(node)])  # type: ignore[misc]
        except (ZeroDivisionError, ValueError):
            return
        wanted = result.printed[1] if scaled else _bare(result)
        if fits(value, wanted):
            yield Tested(None, line=line)
            return
    shown = text[left[first].start : result.end]
    yield Tested(None, f"“{shown}”: it is {amount(value, '')}{f' {unit}' if unit else ''}.", line)


def _number(node: ast.expr) -> int:
    """The place of n0, n1, …; ValueError for anything else."""
    return int(ast.unparse(node).removeprefix("n"))


def _bare(one: Number) -> Span:
    value, printed = one.printed[1], float(one.value)
    scale = printed / value.mid if value.mid and not one.upper else 1.0
    return value * abs(scale)


def _formula(text: str, left: list[Number], result: Number, opening: str) -> ast.expr | None:
    """The equation's left side as an expression of n0, n1, …; None if it is none."""
    written = ""
    at = left[0].start - (len(opening) - len(opening.rstrip("(")))
    for index, one in enumerate(left):
        gap = text[at : one.start]
        written += "".join(
            _SIGNS.get(c, c) for c in re.sub(r"[A-Za-z%~≈]{2,}|[^()+\-×x*÷/]", "", gap)
        )
        written += f"n{index}"
        at = one.end
    written += ")" * text[at : result.start].count(")")
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
    Rule("claimed-range", "error", claims),
    Rule("percent-of", "error", percent_of),
    Rule("conversion", "error", conversions),
    Rule("equation", "error", equations),
)
