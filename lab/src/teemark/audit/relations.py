# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: RUF001, RUF002 (the signs of arithmetic)
"""Rules on figures that follow from each other: rates, factors, times per call, equations."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, permutations

from teemark.audit.figure import Printed
from teemark.audit.numbers import Number, numbers
from teemark.audit.rule import (
    MANY,
    Group,
    Rule,
    Tested,
    Values,
    amount,
    fits,
    follows,
    is_spread,
    loose,
    quotients,
    sizes_in,
    statistic,
)
from teemark.reference.span import Span, evaluated, exact
from teemark.reference.units import EXACT

_PARALLEL = re.compile(r"thread|parallel|concurren|client|worker|queue|pipelin|jobs|cores", re.I)
_WHOLE = re.compile(
    r"\b(?:total|elapsed|wall|overall|duration|sum|took|takes?|altogether)\b|^real$|\bin$"
)
_TAKEN = re.compile(r"\b(?:in|took|take|takes|taking|within|for|over|needs|needed|lasted)$")
_NOT_THE_WORK = re.compile(
    r"overhead|set-?up|open|boot|wait|switch|\bcpu\b|\buser\b|\bsys\b|delta|asked|mapping|"
    r"\bper\b|\bcalls?\b|session|empty|latency|i/o|\bread\b|\bree\b|timeout"
)
_MEMORY = re.compile(
    r"memory|heap|stack|\bram\b|buffer|chunk|cache|limit|peak|code|state|footprint"
)
_PER = re.compile(r"^(?:for )?(?:per|each|a|an|every)\b(?: ([a-z-]+(?: [a-z-]+)?))?")
_THAT_IS = re.compile(r"[,;(]? ?(?:i\.e\.|that is|which is|or)(?: |\Z)")
_SAVED = re.compile(r"\b(?:reduction|reduced|saving|saves?|smaller|shorter|lower)\b")
_IN_LABEL = re.compile(r"\bper ([a-z-]+(?: [a-z-]+)?)|\b(latency)\b")
_COMPARES = re.compile(
    r"faster|slower|quicker|more|less|higher|lower|smaller|larger|longer|shorter|better|worse|"
    r"speed-?up|improve|reduc|sav(?:e|ing)|gain|increase|decrease|change|\bdiff|delta|Δ|over\b|"
    r"margin|analysis|factor|overhead|saved|\bvs\b"
)
_SHRINKS = re.compile(
    r"shr[aiu]nk|reduc|smaller|larger|grew|grow|footprint|drop|fell|rose|sav", re.I
)

_SCALES = re.compile(r"factor|improve|speed-?up|gain|scaling|acceleration|ratio")


def rates(group: Group) -> Iterator[Tested]:
    """Checks that a rate is size ÷ time, or messages per second × their size."""
    times = group.above_zero("time")
    counts = [(1.0, "")] + [(count.span.mid, f"{count.text} × ") for count in group.of("count")]
    often = [frequency for frequency in group.of("frequency") if frequency.unit == "/s"]
    sure = often or any(_of_the_work(group, time) for time in times)
    for rate in group.of("rate") if sure else ():
        own = rate.form == "cell" and group.of("size") and sizes_in(rate.column)
        if own or is_spread(group.label(rate)):  # its heading names its size
            continue
        sizes = _sizes(group, rate)
        values: Values = [
            (size / time.span * n, f"{n_text}{text} ÷ {time.text}")
            for n, n_text in counts for text, size in sizes for time in times
        ]  # fmt: skip
        values += [(size * s.span, f"{text} × {s.text}") for text, size in sizes for s in often]
        yield from follows(rate, values)


def _sizes(group: Group, rate: Printed) -> list[tuple[str, Span]]:
    """Returns the sizes that a rate may be of: the group's, if not all of memory, else a
    heading's."""
    sizes = group.of("size")
    if sizes:
        memory = all(_MEMORY.search(group.label(size)) for size in sizes)
        return [] if memory else [(size.text, loose(size)) for size in sizes]
    headings = map(sizes_in, (rate.row, rate.column, rate.table))
    named = next(filter(None, headings), ())
    return [(size.text, loose(size)) for size in named] if len(named) == 1 else []


def _of_the_work(group: Group, time: Printed) -> bool:
    """Returns true if a time is that of the work itself, not of set-up, waiting and the like."""
    label = group.label(time)
    if group.kind == "sentence":
        return bool(_TAKEN.search(time.row.lower())) and not _NOT_THE_WORK.search(label[-30:])
    return not _NOT_THE_WORK.search(label) and not is_spread(label)


def per_second(group: Group) -> Iterator[Tested]:
    """Checks that operations per second are count ÷ time, or 1 ÷ the time of one operation."""
    times, counts, sentence = group.above_zero("time"), group.of("count"), group.kind == "sentence"
    words = " ".join(map(group.label, group.figures))
    for frequency in group.of("frequency"):
        if frequency.unit != "/s" or _PARALLEL.search(f"{frequency.table} {words}"):
            continue
        noun = _stem(re.split(r" per | a |/", group.label(frequency))[0] or frequency.column)
        named = noun in [_stem(count.column or count.row) for count in counts]
        each: Values = [
            (exact(1) / time.span, f"1 ÷ {time.text}")
            for time in times
            if _PER.search(time.column.lower())
            or (time.row.endswith("takes") and _THAT_IS.match(time.column))
            or (not sentence and not is_spread(group.label(time)))
        ]
        many = quotients(counts, times)
        if (each and group.kind in ("sentence", "row")) or (many and (sentence or named)):
            yield from follows(frequency, each + many, 0.01)


def per_call(group: Group) -> Iterator[Tested]:
    """Checks that the time of one call is the total time ÷ the number of calls."""
    counts = [count for count in group.of("count") if count.span.mid > 1]
    for time in group.of("time") if counts else ():
        label = group.label(time)
        match = _PER.match(time.column.lower()) if time.form == "line" else None
        if not match and not (match := _IN_LABEL.search(label)):
            continue
        latency = match.re is _IN_LABEL and not match[1]
        nouns = {"call"} if latency else {_stem(word) for word in (match[1] or "").split()}
        fitting = [c for c in counts if {_stem(c.column), _stem(c.row)} & nouns]
        fitting = fitting or (counts if not nouns and len(counts) == 1 else [])
        totals = [
            total for total in group.of("time")
            if total is not time and not _IN_LABEL.search(group.label(total))
            and ("overhead" in group.label(total)) == ("overhead" in label)
        ]  # fmt: skip
        if any(_WHOLE.search(group.label(total)) for total in totals):
            yield from follows(time, quotients(totals, fitting))


def _stem(noun: str) -> str:
    """Returns the last word of a noun in the singular, "operation" for "hash operations"."""
    words = noun.lower().split()
    return words[-1].strip(".,;:()").removesuffix("s") if words else ""


def cycles(group: Group) -> Iterator[Tested]:
    """Checks that cycles per byte are clock ÷ rate, and that cycles are clock × time. The clock is
    the group's, otherwise the one that the document names."""
    hertz = group.reading.clock_hz
    named = [Printed(f"{hertz / 1e9:g} GHz", exact(hertz), "GHz")] if hertz else []
    clocks = [clock for clock in group.of("frequency") if clock.unit != "/s"] or named
    slopes, per_s = group.of("cycles per byte"), group.of("rate")
    by_time = [
        (clock.span * time.span, f"{clock.text} × {time.text}")
        for clock in clocks for time in group.above_zero("time")
    ]  # fmt: skip
    for slope in slopes if len(slopes) >= len(per_s) else ():
        yield from follows(slope, quotients(clocks, per_s), 0.03)
    for count in group.of("cycles"):
        yield from follows(count, by_time, 0.03)


# -- factors ---------------------------------------------------------------------------------------


def is_factor(figure: Printed, label: str) -> bool:
    """Returns true if a figure compares two others; `label` is the heading of a cell."""
    words = f"{figure.row[-30:]} {figure.column[:30]}".lower()
    if figure.form == "cell":
        if "…" in figure.column or figure.column == "times":  # an interval's end, or a count
            return False
        words = label.replace("overhead", "")  # a table's overhead may be a share
    compares = figure.text[0] == "+" or bool(_COMPARES.search(words))
    return figure.dimension == "factor" or (figure.dimension == "share" and compares)


Pairs = list[tuple[Printed, Printed]]


def factors_in_tables(table: Group) -> Iterator[Tested]:
    """Checks that a factor or percentage follows from two figures of its row, or from its row and
    the base row, whose factor is 1 or whose percentage is 0."""
    groups = [
        Group("row", row, table.reading, table.reference)
        for row in table.rows().values() if len(row) <= MANY
    ]  # fmt: skip
    bases: dict[tuple[str, float], Group] = {}
    for group in groups:
        for figure in group.figures:
            bases.setdefault((figure.column, figure.span.mid), group)
    for group in groups:
        for factor in group.figures:
            if is_factor(factor, group.label(factor)):
                mine = _comparable(group, factor)
                base = bases.get((factor.column, float(factor.dimension == "factor")), group)
                its = _comparable(base, factor) if base is not group else []
                yield from _compared(factor, _pairs(mine) + [
                    (a, b) for a in mine for b in its
                    if (a.column, a.dimension) == (b.column, b.dimension)
                ])  # fmt: skip


def factors_in_text(block: Group) -> Iterator[Tested]:
    """Checks that a factor or percentage follows from two figures of its sentence. A list's line is
    also compared with the first line; a factor that stands alone, with the figures before it."""
    for number, figures in block.rows().items():
        line = Group("sentence", figures, block.reading, block.reference)
        for factor in figures:
            if not is_factor(factor, ""):
                continue
            own = _comparable(line, factor)
            pairs = _pairs(own)
            if not pairs and factor.block:
                before = [f for f in _comparable(block, factor) if f.sentence < number]
                row = factor.row.lower()
                if own:  # a long sentence is compared with itself only
                    before = before if factor.start <= 80 else []
                    pairs = [(own[0], b) for b in before if b.dimension == own[0].dimension][:1]
                elif "vs" in factor.row or not row or "ratio" in row:
                    pairs = _pairs(before)
            yield from _compared(factor, pairs)


def _comparable(group: Group, factor: Printed) -> list[Printed]:
    """Returns the figures that a factor may compare; in text, sizes only if they shrink."""
    chosen = group.of("time", "rate", "time per byte", "cycles", "cycles per byte", "power")
    if group.kind == "row":
        counts = group.of("count")
        chosen += group.of("size")
        chosen += counts if len(counts) == 2 and _SCALES.search(group.label(factor)) else []
        if "ratio" in group.label(factor):
            chosen += [f for f in group.of("factor") if "ratio" not in group.label(f)]
    chosen = [f for f in chosen if statistic(group.label(f)) != "sd"]
    if not chosen and _SHRINKS.search(factor.words):
        chosen = group.of("size")
    return [f for f in chosen if f is not factor and f.span.low > 0]


def _pairs(figures: list[Printed]) -> Pairs:
    """Returns the pairs of one dimension, except a figure and a range that contains it."""
    return [
        (a, b) for a, b in permutations(figures, 2)
        if a.dimension == b.dimension
        and not (" to " in a.text + b.text and a.span.overlaps(b.span))
    ]  # fmt: skip


def _compared(factor: Printed, pairs: Pairs) -> Iterator[Tested]:
    """Checks that one of the pairs gives the factor; without pairs nothing is tested."""
    if pairs:
        ratios = [a.span / b.span for a, b in pairs]
        ways = list(ratios)
        more = _COMPARES.search(factor.column.lower()) and "scaling" not in factor.column.lower()
        if factor.dimension == "share" or more:
            ways += [exact(1) - ratio for ratio in ratios]
            if factor.form == "cell" or not _SAVED.search(factor.words):  # 75 of 100 saves 25 %
                ways += [ratio - 1 for ratio in ratios]
        span = factor.span * (-1 if factor.span.mid < 0 else 1)
        a, b = max(pairs, key=lambda pair: pair[0].span.mid / pair[1].span.mid)
        value = amount(a.span / b.span - (factor.dimension == "share"), factor.dimension)
        wrong = f"{factor.name}: {factor.text} is printed, but {a.text} and {b.text} differ by "
        yield Tested(factor, any(fits(way, span) for way in ways), f"{wrong}{value}.")


# -- what is written out ---------------------------------------------------------------------------


def percent_of(group: Group) -> Iterator[Tested]:
    """Checks a share in brackets: "0.2 ms (8.3 % of 2.4 ms)"."""
    ordered = group.figures
    for part, share, whole in zip(ordered, ordered[1:], ordered[2:], strict=False):
        of = share.dimension == "share" and share.column.strip() == "of"
        if of and part.dimension == whole.dimension:
            yield from follows(share, quotients([part], [whole]))


def conversions(group: Group) -> Iterator[Tested]:
    """Checks a quantity that is given in two units: "262144 KB (256 MB)"."""
    for outer, inner in pairwise(group.figures):
        same = outer.dimension == inner.dimension and outer.unit != inner.unit
        if same and outer.column.strip(" ~") == "(" and not inner.row and inner.column[:1] == ")":
            decimal = {outer.unit.partition("/")[0], inner.unit.partition("/")[0]} & _DECIMAL
            scales = [1.024**k for k in range(-3, 4)] if decimal else [1.0]
            good = any(fits(_sharp(outer) * scale, _sharp(inner), 0.0005) for scale in scales)
            # "12 % of the 3.5 s (410 ms)" has the part in brackets.
            good |= any(fits(outer.span * of.span, inner.span) for of in group.of("share"))
            wrong = f"{outer.text} are {amount(outer.span, outer.dimension)}, and the "
            yield Tested(inner, good, f"{wrong}brackets behind it say {inner.text}.")


_DECIMAL = {"kB", "KB", "MB", "GB"}


def _sharp(figure: Printed) -> Span:
    """Returns the values that a printed figure may stand for. A size without decimals is exact: 512
    KiB can't be 512.4."""
    whole = figure.dimension == "size" and "." not in figure.digits
    return exact(figure.span.mid) if whole else figure.span


_CHAIN = re.compile(r"(\(*n\d+(?:\)*[-+*/]\(*n\d+)+\)*)(?:=(?=n(\d+)))?")
"""A formula, and its result behind "=": n3 stands for the fourth number of a sentence."""
_SIGNS = str.maketrans("×x÷", "**/")


def equations(text: Group) -> Iterator[Tested]:
    """Checks the formulas that a sentence writes out, with the result behind "=". Numbers count
    with their units, or as bare digits in the result's unit."""
    for sentence, line in text.reading.said:
        named = numbers(sentence) if "=" in sentence else []
        ends = [0, *(number.end for number in named)]
        gaps = [sentence[end : number.start] for end, number in zip(ends, named, strict=False)]
        written = "".join(f"{_signs(gap)}n{index}" for index, gap in enumerate(gaps))
        spans = [number.figure().span for number in named], [_bare(number) for number in named]
        for formula, place in (pair for pair in _CHAIN.findall(written) if pair[1]):
            first, result = named[int(re.findall(r"\d+", formula)[0])], named[int(place)]
            try:
                (whole, digits) = (_computed(formula, of) for of in spans)
            except (SyntaxError, ZeroDivisionError, RecursionError):
                continue
            good = fits(whole, spans[0][int(place)]) or fits(digits, spans[1][int(place)])
            shown = f"“{sentence[first.start : result.end]}”"
            wrong = f"{shown}: it is {amount(digits, '')} {result.unit}".rstrip()
            figure = replace(result.figure(line=line), text=shown)
            yield Tested(figure, good, f"{wrong}.")


def _signs(gap: str) -> str:
    """Returns the arithmetic signs between two numbers; a semicolon, which ends a formula, if more
    than three words stand between them."""
    words = re.findall("[A-Za-z]+", gap)
    signs = re.sub(r"[A-Za-z%~≈]{2,}|[^()+\-×x*÷/=]", "", gap).translate(_SIGNS)
    return signs if len(words) <= 3 else ";"


def _bare(number: Number) -> Span:
    """Returns the range of a number without its unit; a count is exact."""
    unit = "count" if number.unit in ("", *EXACT) else "ratio"
    return replace(number, unit=unit).figure().span


def _computed(formula: str, spans: list[Span]) -> Span:
    body = ast.parse(formula, mode="eval").body
    value: Span = evaluated(body, lambda leaf: spans[int(ast.unparse(leaf)[1:])])
    return value


RULES: tuple[Rule, ...] = (
    Rule("rate", rates, ("row", "column", "block", "sentence")),
    Rule("per-second", per_second, ("row", "column", "block", "sentence")),
    Rule("per-call", per_call, ("list", "sentence", "row", "column")),
    Rule("cycles", cycles, ("row", "sentence", "column")),
    Rule("factor", factors_in_tables, ("table",), linear=True),
    Rule("factor", factors_in_text, ("list", "sentence")),
    Rule("percent-of", percent_of, ("sentence",)),
    Rule("conversion", conversions, ("sentence",)),
    Rule("equation", equations, ("document",), linear=True),
)
