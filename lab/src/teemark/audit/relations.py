# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: RUF001 (the signs of arithmetic)
"""Relations between figures that a table or a list binds together: by row, by column, by name."""

import ast
import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from teemark.audit import formulas, numbers
from teemark.audit.figure import (
    Group,
    ListedItem,
    Printed,
    PrintedRow,
    PrintedTable,
    Reading,
    Tested,
)
from teemark.audit.numbers import amount, fits, follows, in_order
from teemark.reference.span import Span, evaluated, exact
from teemark.reference.units import UNITS

Results = Iterator[Tested]

STATISTIC = re.compile(
    r"(?P<cv>\bcv\b|coefficient of variation|relative (?:standard )?deviation)|"
    r"(?P<interval>\b95 ?%|interval|confidence)|(?P<min>\bmin(?:imum)?(?![a-z]))|"
    r"(?P<median>\bmedian|\bp50)|(?P<p75>\bp75)|(?P<p90>\bp90)|(?P<p95>\bp95)|(?P<p999>\bp99\.?9)|"
    r"(?P<p99>\bp99)|(?P<max>\bmax(?:imum)?(?![a-z]))|(?P<mean>\b(?:mean|avg|average)\b)|"
    r"(?P<other>\bp\d\d?)|(?P<sd>\bst(?:andar)?d?[. -]*dev\w*|\bsd\b|\bdeviation|σ)"
)
"""Matches a statistic's words, in lower case; the group that matches has the statistic's name."""
RANKED = ("min", "median", "p75", "p90", "p95", "p99", "p999", "max")
"""Statistics in rising order: none is smaller than those before it."""
COST = ("time", "rate", "time per byte", "cycles", "cycles per byte", "size", "frequency")
ADDITIVE = ("time", "size", "count", "cycles")

_FACTOR = re.compile(r"factor|speed-?up|ratio|relative$")
_CHANGE = re.compile(r"\bdelta\b|\bdiff(?:erence)?\b|\bchange\b|Δ|δ")
_MORE = re.compile(r"analysis|faster|slower|improve|gain|reduc|saving")
_OPPOSITES = ({"voluntary", "involuntary"}, {"hits", "misses"}, {"passed", "failed"})


def statistic(label: str) -> str:
    """Returns the name of the statistic in a label; "" if there is none."""
    named = STATISTIC.search(label)
    return str(named.lastgroup) if named else ""


# -- rows, columns and lists -----------------------------------------------------------------------


def records(group: Group) -> Results:
    """Tests the records of relations.toml: a field is the group's only figure that it fits."""
    for record in formulas.relations().record:
        if group.kind not in record.kinds or re.search(record.but, group.words):
            continue
        named: dict[str, Printed] = {}
        for key, field in record.fields.items():
            kind, _, label = field.partition(": ")
            fitting = [
                one
                for text, one in group.figures
                if one.dimension == kind and re.fullmatch(label, text)
                if statistic(text) in ("", "mean")
            ]
            named |= {key: fitting[0]} if len(fitting) == 1 else {}
        used = re.findall(r"\w+", " ".join(record.relations))
        if set(record.fields) - set(named) <= set(used):
            yield from formulas.related(record, named)


def quotients(group: Group) -> Results:
    """Checks a figure that is named of two others, such as “Score/MHz”, by their digits."""
    named = {re.sub(r" ?[(\[].*", "", label): one for label, one in group.figures}
    named = {one.unit.lower(): one for one in named.values() if one.unit.endswith("Hz")} | named
    for label, one in named.items():
        a, b = (named.get(part.strip()) for part in (*label.split("/"), "")[:2])
        if label.count("/") == 1 and a and b and b.span.low > 0:
            spans = [each.span * (1 / UNITS[each.unit][1]) for each in (a, b, one)]
            value, wrong = (
                spans[0] / spans[1],
                f"{one.name}: {one.text} is printed, but {a.text} ÷ ",
            )
            wrong += f"{b.text} = {numbers.number(value.mid)}."
            yield Tested("quotient", one, fits(value, spans[2]), wrong)


def spread(group: Group) -> Results:
    """Checks the statistics of one quantity, whose labels are alike otherwise: they are in order,
    the mean is between min and max, the deviation is within the range, cv is deviation ÷ mean."""
    subjects: dict[tuple[str, str], dict[str, list[Printed]]] = {}
    for label, one in group.figures:
        words = re.findall(r"\w+", STATISTIC.sub(" ", label, count=1))
        subject = " ".join(word for word in words if word not in UNITS)
        named = subjects.setdefault((subject, one.dimension), {})
        named.setdefault(statistic(label), []).append(one)
    for (_, kind), named in subjects.items():
        single = {name: figures[0] for name, figures in named.items() if len(figures) == 1}
        least, mean, most, sd = map(single.get, ("min", "mean", "max", "sd"))
        ranked = [single[name] for name in RANKED if name in single]
        if kind in ("rate", "frequency"):  # some programs count their percentiles from the top
            ranked = [one for one in (least, most) if one]
        for low, high in (*pairwise(ranked), (least, mean), (mean, most)):
            if low and high:
                yield in_order("spread", low, high)
        if sd and least and most:
            wrong = f"{sd.name}: {sd.text} is more than all of the range from {least.text} to "
            small = sd.span.low <= most.span.high - least.span.low
            yield Tested("spread", sd, small, f"{wrong}{most.text}.")


def _within(whole: Printed, parts: Sequence[Printed]) -> Tested:
    value = sum((part.span for part in parts), exact(0))
    shown = " + ".join(f"{part.text} ({part.name})" for part in parts)
    wrong = f"{shown} = {amount(value, whole.dimension)}, more than the {whole.text} of "
    last = max(parts, key=lambda part: part.line)
    good = value.low <= whole.span.high * 1.001
    return Tested("part-above-whole", last, good, f"{wrong}“{whole.name}”.")


# -- lists -----------------------------------------------------------------------------------------


def indented(items: list[ListedItem]) -> Results:
    """Checks that parts that are indented below their whole aren't more than it."""
    for at, whole in enumerate(items):
        parts: list[ListedItem] = []
        for item in items[at + 1 :]:
            if item.indent <= whole.indent:
                break
            parts.append(item)
        level = min((part.indent for part in parts), default=0)
        figures = [part.figure for part in parts if part.indent == level and part.figure]
        one, words = whole.figure, " ".join(part.name.lower() for part in parts)
        if one is None or len(figures) < 2 or one.dimension not in ADDITIVE or statistic(words):
            continue
        same = {figure.dimension for figure in figures} == {one.dimension}
        if same and not re.search(r"limit|peak|per |last|total|free|avail", words):
            yield _within(one, figures)


def in_brackets(items: list[ListedItem]) -> Results:
    """Checks what stands in brackets behind a value: a share of a named value, the same in another
    unit, counts of opposites."""
    named = {item.name.lower(): item.figure for item in items if item.figure}
    for item in items:
        one = item.figure
        inner = re.match(r"\(([^()]*)\)", one.note) if one else None
        if one is None or inner is None:
            continue
        share = re.fullmatch(r"~?([\d.]+ ?%) of (?:the )?(.+)", inner[1])
        whole = named.get(share[2].lower()) if share else None
        made = numbers.figure(share[1] if share else inner[1], row=item.name, line=one.line)
        if made and whole and whole.dimension == one.dimension and whole.span.low > 0:
            yield follows("percent-of", made, one.span / whole.span, f"{one.text} ÷ {whole.text}")
        elif made and made.dimension == one.dimension != "count" and not made.note:
            scales = (
                [1024.0**k for k in range(-3, 4)] if one.dimension in ("size", "rate") else [1.0]
            )
            good = any(fits(one.span * scale, made.span, 0.0005) for scale in scales)
            wrong = (
                f"{one.text} = {amount(one.span, one.dimension)}, and the brackets behind it say "
            )
            yield Tested("conversion", made, good, f"{wrong}{made.text}.")
        counts = dict(re.findall(r"(\w+): (\d+)", inner[1].lower()))
        if set(counts) in _OPPOSITES and one.dimension == "count":
            value = exact(float(sum(map(int, counts.values()))))
            yield follows("sum", one, value, " + ".join(counts.values()), 1e-9)


# -- tables ----------------------------------------------------------------------------------------


def last_row(table: PrintedTable) -> Results:
    """Checks the last row of a table if it is called total or mean. Only where a column shows that
    the total is of all rows, or the rows exceed it, the others are held against it."""
    if len(table.rows) < 3:
        return
    last, rows = table.rows[-1], table.rows[:-1]
    kind = re.fullmatch(
        r"(?:grand )?(total|sum|mean|average|avg|geo-?mean)", last.name.strip("* :").lower()
    )
    sums: list[tuple[Tested, bool]] = []
    for index, one in last.cells.items() if kind else ():
        values = [row.cells[index] for row in rows if index in row.cells]
        mids = [value.span.mid for value in values]
        words = f"the {{}} of the {len(rows)} rows above"
        if len(values) < len(rows) or {value.dimension for value in values} != {one.dimension}:
            continue
        if kind and kind[1] in ("total", "sum"):
            value = sum((value.span for value in values), exact(0))
            tested = follows("sum", one, value, words.format("sum"), 0.001)
            additive = one.dimension in ADDITIVE and not statistic(table.head[index].lower())
            sums += [(tested, value.low > one.span.high * 1.001)] * additive
        elif kind and not statistic(table.head[index].lower()) and min(mids) > 0:
            geometric = kind[1].startswith("geo")
            mean = statistics.geometric_mean(mids) if geometric else statistics.mean(mids)
            room = max(value.span.high - value.span.low for value in values) / 2
            yield follows(
                "mean", one, Span(mean - room, mean, mean + room), words.format(last.name)
            )
    agree = any(tested.good for tested, _ in sums)
    yield from (tested for tested, above in sums if tested.good or agree or above)


def derived(table: PrintedTable) -> Results:
    """Checks a column of factors or changes: of the two columns that end with its own words, or of
    the only two of one dimension; with one such column, of the row whose factor is 1 or change 0.
    """
    heads = [re.sub(r"\s*[\[(].*?[\])]", "", head).strip().lower() for head in table.head]
    kinds = [{one.dimension for _, one in table.column(index)} for index in range(len(heads))]

    def compares(index: int) -> bool:
        words = _CHANGE.search(heads[index]) or _FACTOR.search(heads[index])
        return bool(words) or kinds[index] == {"factor"} or (
            kinds[index] == {"share"} and bool(_MORE.search(heads[index])))  # fmt: skip

    made = [index for index, kind in enumerate(kinds) if len(kind) == 1 and compares(index)]
    for index in made:
        (kind,), subject = kinds[index], _CHANGE.sub("", heads[index]).split()[-1:]
        inputs = [
            other
            for other, head in enumerate(heads)
            if other not in made and len(kinds[other] & set(COST)) == 1
            if statistic(head) in ("", "mean", "median", "max")
        ]
        named = [other for other in inputs if subject and heads[other].split()[-1:] == subject]
        inputs = named if len(named) == 2 or (len(made) > 1 and subject) else inputs
        base = next(
            (
                row
                for row, one in table.column(index)
                if one.span.mid == (kind in ("factor", "count"))
            ),
            None,
        )
        ways: dict[int, list[Tested]] = {}
        for row, one in table.column(index):
            cells = [row.cells[other] for other in inputs if other in row.cells]
            if len(cells) == 1 and base and row is not base and inputs[0] in base.cells:
                cells.insert(0, base.cells[inputs[0]])
            if (
                len(cells) == 2
                and cells[0].dimension == cells[1].dimension
                and min(c.span.low for c in cells) > 0
            ):
                for way, result in enumerate(_compared(one, *cells)):
                    ways.setdefault(way, []).append(result)
        best = max(ways.values(), key=lambda way: sum(result.good for result in way), default=[])
        if 2 * sum(result.good for result in best) >= len(best) or len(best) == 1:
            yield from best


def _compared(one: Printed, a: Printed, b: Printed) -> Results:
    """Yields what a factor or a change would have to be, each way round."""
    for x, y in ((a, b), (b, a)):
        if one.dimension in ("factor", "count"):
            yield follows(
                "factor", numbers.rounded(one), x.span / y.span, f"{x.text} ÷ {y.text}", 0.01
            )
        elif one.dimension == "share":
            for under in (x, y):
                value = (x.span - y.span) / under.span
                yield follows("change", one, value, f"({x.text} - {y.text}) ÷ {under.text}", 0.01)
        elif one.dimension == a.dimension:
            yield follows("change", one, x.span - y.span, f"{x.text} - {y.text}", 0.001)


_PART = re.compile(r"([+-] ?\d[\d.,]* ?(%|[kKM]i?B|B|bytes)?) ?(\.?\w[\w. ]*)?")


def deltas(table: PrintedTable) -> Results:
    """Checks cells such as "+9 KB .text, +12 KB .ta" against the row that has none, the baseline;
    1000 or 1024 bytes make a kilobyte."""
    for index, head in enumerate(table.head):
        base = [
            row
            for row in table.rows
            if re.fullmatch(r"[—-]+|baseline|n/a", _cell(row, index).lower())
        ]
        if len(base) != 1 or not re.search(r"delta|change|\bvs|diff|Δ", head.lower()):
            continue
        parts = [(row, part) for row in table.rows for part in _cell(row, index).split(",")]
        for row, part in parts:
            match = _PART.fullmatch(part.strip())
            name, unit = ((match[3] or "").strip(), match[2] or "") if match else ("", "")
            columns = [i for i in row.cells if i != index and i in base[0].cells
                       and table.head[i].startswith(name)]  # fmt: skip
            made = (
                numbers.figure(match[1], row=row.name, column=head, line=row.line)
                if match
                else None
            )
            if made is None or len(columns) != 1:
                continue
            here, there = row.cells[columns[0]], base[0].cells[columns[0]]
            change, shown = here.span - there.span, f"{here.text} - {there.text}"
            if unit == "%":
                change, shown = change / there.span, f"({shown}) ÷ {there.text}"
            scale = UNITS[here.unit][1] if not unit else 1.0
            good = any(fits(change, made.span * scale * k, 0.001) for k in (1, 1.024, 1.048576))
            value = amount(change, made.dimension if unit else here.dimension)
            wrong = f"{row.name}, {head}: {part.strip()} is printed, but {shown} = {value}."
            yield Tested("change", made, good, wrong)


def _cell(row: PrintedRow, index: int) -> str:
    return row.texts[index] if index < len(row.texts) else ""


def mixed_units(table: PrintedTable) -> Results:
    """Checks columns that give a value both in kB and in MB: the factor must be 1000."""
    heads = [re.sub(r"\(?\b[kKM]B(?:/s)?\)?", "", head).strip() for head in table.head]
    for a, b in (
        (a, b) for a in range(len(heads)) for b in range(len(heads)) if heads[a] == heads[b]
    ):
        pairs = [(row.cells[a], row.cells[b]) for row in table.rows if {a, b} <= set(row.cells)]
        pairs = [(x, y) for x, y in pairs if (x.unit.lower()[:2], y.unit[:2]) == ("kb", "MB")]
        unlike = [(x, y) for x, y in pairs if not fits(x.span, y.span, 0.0005)]
        shown = "; ".join(
            f"{x.text} = {amount(x.span, x.dimension)}, not {y.text}" for x, y in unlike
        )
        wrong = f"{table.head[b]}: {shown}; of decimal units, 1000 make the next."
        yield from (Tested("mixed-units", y, not unlike, wrong) for _, y in (unlike or pairs)[:1])


# -- lines that say what they are the sum, the mean or the result of -------------------------------

_UNIT = r"([µmn]?s\b|%|MB/s)?"
_COUNTED = re.compile(r"[\s*-]*(\d+) [\w -]{1,40}: ((?:[^(),:]{1,40}\(\d+\)(?:, | and )?){2,})\.?")
_MEAN = re.compile(rf"\bmean (\S+) ?= ?([+-]?[\d.]+ ?{_UNIT})")
_AGAIN = re.compile(
    rf"\b[Mm]ean (?:reduction|increase|change|difference|gain) (?:of |is )?([+-]?\d[\d.]* ?{_UNIT})"
)
_SIGN = r" ?(?:\) ?)*[-+*/×÷] ?(?:\( ?)*"
_FORMULA = re.compile(
    rf"(?<![\w.)*/+-])((?:\( ?)*\d[\d.]*(?:{_SIGN}\d[\d.]*)+(?: ?\))*) ?= ?~?(\d[\d.]*) ?([\w%/]*)"
)


def lines(reading: Reading) -> Results:
    """Checks counts with their parts, formulas with their result, and means with their column."""
    heading, said = "", list[tuple[Printed, str, str]]()
    heads = [text.lstrip("# ") for _, text in reading.lines if text.startswith("#")]
    for line, text in reading.lines:
        heading = text.lstrip("# ") if text.startswith("#") else heading
        if counted := _COUNTED.fullmatch(text):
            parts = re.findall(r"\((\d+)\)", counted[2])
            whole = numbers.figure(counted[1], row=text.split(":")[0].strip(), line=line)
            if whole:
                yield follows(
                    "sum", whole, exact(float(sum(map(int, parts)))), " + ".join(parts), 1e-9
                )
        for match in _MEAN.finditer(text):
            one = numbers.figure(match[2], row=f"mean {match[1]}", line=line)
            if one:
                said.append((one, f"{text[: match.start()]} {heading}", heading))
                yield from _column_mean(reading, one, match[1], heading)
        yield from _formulas(line, text)
    for line, text in reading.lines if said else ():
        for match in _AGAIN.finditer(text):
            one = numbers.figure(match[1], row="the mean", line=line)
            bound = [mean for mean, words, under in said if _about(text, words, under, heads)]
            if (
                one
                and len(bound) == 1
                and bound[0].dimension == one.dimension
                and bound[0].line != line
            ):
                ends = [sorted((abs(x.span.low), abs(x.span.high))) for x in (one, bound[0])]
                good = ends[0][0] <= ends[1][1] and ends[1][0] <= ends[0][1]
                wrong = f"{match[0]} is said, and line {bound[0].line} has "
                yield Tested("mean", one, good, f"{wrong}{bound[0].text} ({bound[0].name}).")


def _about(text: str, words: str, heading: str, heads: list[str]) -> bool:
    """Returns true if a line has all words that tell a mean from the others: those before it, and
    those of its heading that no other heading has."""
    others = {
        word for head in heads if head != heading for word in re.findall(r"\w+", head.lower())
    }
    mine = set(re.findall(r"\w+", words.lower())) - (others if heading else set())
    return bool(mine) and mine <= set(re.findall(r"\w+", text.lower()))


def _column_mean(reading: Reading, mean: Printed, name: str, heading: str) -> Results:
    """Checks a mean against the table's column of that name under the same heading."""
    below = [one for one in reading.tables if heading and one.title.startswith(f"{heading} (line")]
    for table, index in ((one, index) for one in below for index in range(len(one.head))):
        values = [one.span.mid for _, one in table.column(index) if one.dimension == mean.dimension]
        if re.sub(r"\s*[\[(].*", "", table.head[index]) == name and len(values) > 1:
            formula = f"the mean of the {len(values)} rows of “{name}”"
            yield follows("mean", mean, exact(statistics.mean(values)), formula)


def _formulas(line: int, text: str) -> Results:
    """Checks a formula of digits with its result behind "=". A result may be cut off, and its unit
    may stand for a power of 1000 or 1024."""
    for match in _FORMULA.finditer(text) if "=" in text else ():
        before, unit = text[max(0, match.start() - 20) : match.start()], match[3]
        single = re.search(r"[\w%)*/+×÷(.^-] ?$", before) and not re.search(r"[a-z]{3,} $", before)
        if single or unit[:1] == "/" or not re.search(r"[*/+×÷]| - ", match[1]):
            continue
        formula = match[1].replace("×", "*").replace("÷", "/").strip()
        try:
            value = evaluated(
                ast.parse(formula, mode="eval").body, lambda leaf: float(ast.unparse(leaf))
            )
        except (SyntaxError, ZeroDivisionError, RecursionError, ValueError, MemoryError):
            continue
        one = numbers.figure(match[2], row=formula, line=line)
        room, shown = 10.0 ** -len(match[2].partition(".")[2]), float(match[2].rstrip("."))
        powers = (
            (1e3, 1e6, 1e9, 1024.0, 1024.0**2, 1024.0**3, 1e-3, 1e-6, 1e-9, 0.01) if unit else ()
        )
        good = any(-0.5001 <= (value / k - shown) / room <= 1.0001 for k in (1.0, *powers))
        if one:
            wrong = f"“{match[0].strip()}”: it is {numbers.number(value)}."
            yield Tested("equation", one, good, wrong)


GROUPS: tuple[Callable[[Group], Results], ...] = (records, quotients, spread)
LISTS: tuple[Callable[[list[ListedItem]], Results], ...] = (indented, in_brackets)
TABLES: tuple[Callable[[PrintedTable], Results], ...] = (last_row, derived, deltas, mixed_units)


def results(reading: Reading) -> Results:
    """Yields the results of all relations in a text."""
    groups = [group for table in reading.tables for group in table.groups()]
    groups += [
        Group("list", "", tuple((item.name.lower(), item.figure) for item in items if item.figure))
        for items in reading.lists
    ]
    yield from (result for rule in GROUPS for group in groups for result in rule(group))
    yield from (result for table in TABLES for one in reading.tables for result in table(one))
    yield from (result for rule in LISTS for items in reading.lists for result in rule(items))
    yield from lines(reading)
