# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: RUF001 (the signs of arithmetic)
"""Relations between figures that a table or a list binds together: by row, by column, by name."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise, takewhile

from teemark.audit import formulas, numbers
from teemark.audit.figure import (
    Group,
    Printed,
    PrintedRow,
    PrintedTable,
    Reading,
    Tested,
)
from teemark.audit.numbers import amount, fits, follows, in_order
from teemark.reference.span import exact
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
            alike = [(text, one) for text, one in group.figures if one.dimension == kind]
            fitting = [one for text, one in alike if re.fullmatch(label, text)
                       if statistic(text) in ("", "mean")]  # fmt: skip
            named |= {key: numbers.whole(fitting[0])} if len(fitting) == 1 else {}
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
            value = spans[0] / spans[1]
            wrong = f"{one.name}: {one.text} is printed, but {a.text} ÷ {b.text} = "
            wrong += f"{numbers.number(value.mid)}."
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


def _is_below(whole: PrintedRow, row: PrintedRow) -> bool:
    return row.indent > whole.indent


def indented(table: PrintedTable) -> Results:
    """Checks that parts that are indented below their whole aren't more than it."""
    for at, whole in enumerate(table.rows):
        parts = list(takewhile(partial(_is_below, whole), table.rows[at + 1 :]))
        level = min((part.indent for part in parts), default=0)
        figures = [part.cells[0] for part in parts if part.indent == level and part.cells]
        words = " ".join(part.name.lower() for part in parts)
        kinds = {figure.dimension for figure in (*whole.cells.values(), *figures)}
        if not whole.cells or len(figures) < 2 or len(kinds) > 1 or statistic(words):
            continue
        if kinds & set(ADDITIVE) and not re.search(r"limit|peak|per |last|total|free|avail", words):
            yield _within(whole.cells[0], figures)


def in_brackets(table: PrintedTable) -> Results:
    """Checks what stands in brackets behind a value: a share of a named value, or the same value
    in another unit."""
    figures = [row.cells[0] for row in table.rows if 0 in row.cells]
    named = {one.row.lower(): one for one in figures}
    for one in figures:
        inner = re.match(r"\(([^()]*)\)", one.note)
        if inner is None:
            continue
        share = re.fullmatch(r"~?([\d.]+ ?%) of (?:the )?(.+)", inner[1])
        whole = named.get(share[2].lower()) if share else None
        made = numbers.figure(share[1] if share else inner[1], row=one.row, line=one.line)
        if made and whole and whole.dimension == one.dimension and whole.span.low > 0:
            yield follows("percent-of", made, one.span / whole.span, f"{one.text} ÷ {whole.text}")
        elif made and made.dimension == one.dimension != "count" and not made.note:
            most = 3 if one.dimension in ("size", "rate") else 0
            scales = (1024.0**power for power in range(-most, most + 1))
            good = any(fits(one.span * scale, made.span, 0.0005) for scale in scales)
            wrong = f"{one.text} = {amount(one.span, one.dimension)}, and the brackets behind it "
            yield Tested("conversion", made, good, f"{wrong}say {made.text}.")


# -- tables ----------------------------------------------------------------------------------------


def last_row(table: PrintedTable) -> Results:
    """Checks the last row of a table if it is called total or mean. Only where a column shows that
    the total is of all rows, or the rows exceed it, the others are held against it."""
    last, rows = (table.rows or (PrintedRow("", 0, (), {}),))[-1], table.rows[:-1]
    kind = re.fullmatch(r"(grand total|total|sum)|mean|average|avg", last.name.strip("* :").lower())
    sums: list[tuple[Tested, bool]] = []
    listed = table.kind == "list"
    for index, one in last.cells.items() if kind and len(rows) > 1 and not listed else ():
        values = [row.cells[index] for row in rows if index in row.cells]
        alike = {value.dimension for value in values} == {one.dimension}
        if len(values) < len(rows) or not alike or statistic(table.head[index].lower()):
            continue
        value = sum((value.span for value in values), exact(0))
        words = f"the {{}} of the {len(rows)} rows above"
        if kind and kind[1] and one.dimension in ADDITIVE:
            tested = follows("sum", one, value, words.format("sum"), 0.001)
            sums.append((tested, value.low > one.span.high * 1.001))
        elif kind and not kind[1]:
            yield follows("mean", one, value * (1 / len(rows)), words.format(last.name))
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
        neutral = kind in ("factor", "count")
        base = next((row for row, one in table.column(index) if one.span.mid == neutral), None)
        tests: list[tuple[Tested, ...]] = []
        for row, one in table.column(index):
            cells = [row.cells[other] for other in inputs if other in row.cells]
            if len(cells) == 1 and base and row is not base and inputs[0] in base.cells:
                cells.insert(0, base.cells[inputs[0]])
            alike = len(cells) == 2 and cells[0].dimension == cells[1].dimension
            if alike and min(cell.span.low for cell in cells) > 0:
                tests.append(tuple(_compared(one, *cells)))
        ways = zip(*tests, strict=False)
        best = max(ways, key=lambda way: sum(result.good for result in way), default=())
        if 2 * sum(result.good for result in best) >= len(best) or len(best) == 1:
            yield from best


def _compared(one: Printed, a: Printed, b: Printed) -> Results:
    for x, y in ((a, b), (b, a)):
        if one.dimension in ("factor", "count"):
            shown = numbers.rounded(one)
            yield follows("factor", shown, x.span / y.span, f"{x.text} ÷ {y.text}", 0.01)
        elif one.dimension == "share":
            for under in (x, y):
                value = (x.span - y.span) / under.span
                yield follows("change", one, value, f"({x.text} - {y.text}) ÷ {under.text}", 0.01)
        elif one.dimension == a.dimension:
            yield follows("change", one, x.span - y.span, f"{x.text} - {y.text}", 0.001)


_BASELINE = re.compile(r"[—-]+|baseline|n/a")
_PART = re.compile(r"([+-] ?\d[\d.,]* ?(%|[kKM]i?B|B|bytes)?) ?(\.?\w[\w. ]*)?")


def deltas(table: PrintedTable) -> Results:
    """Checks cells such as "+9 KB .text, +12 KB .ta" against the row that has none, the baseline;
    1000 or 1024 bytes make a kilobyte."""
    for index, head in enumerate(table.head):
        cells = [(row, row.texts[index] if index < len(row.texts) else "") for row in table.rows]
        base = [row.cells for row, text in cells if _BASELINE.fullmatch(text.lower())]
        if len(base) != 1 or not re.search(r"delta|change|\bvs|diff|Δ", head.lower()):
            continue
        parts = ((row, part.strip()) for row, text in cells for part in text.split(","))
        for row, part in parts:
            match = _PART.fullmatch(part)
            made = numbers.figure(match[1], column=head, line=row.line) if match else None
            name, unit = ((match[3] or "").strip(), match[2]) if match else ("", "")
            columns = [other for other in row.cells.keys() & base[0].keys() - {index}
                       if table.head[other].startswith(name)]  # fmt: skip
            if made is None or len(columns) != 1:
                continue
            here, there = (of[columns[0]] for of in (row.cells, base[0]))
            change, shown = here.span - there.span, f"{here.text} - {there.text}"
            if unit == "%":
                change, shown = change / there.span, f"({shown}) ÷ {there.text}"
            span = made.span * (1.0 if unit else UNITS[here.unit][1])
            good = any(fits(change, span * k, 0.001) for k in (1, 1.024, 1.048576))
            value = amount(change, made.dimension if unit else here.dimension)
            wrong = f"{row.name}, {head}: {part} is printed, but {shown} = {value}."
            yield Tested("change", made, good, wrong)


# -- lines that say what they are the sum or the mean of -------------------------------------------

_UNIT = r"([µmn]?s\b|%|MB/s)?"
_COUNTED = re.compile(r"[\s*-]*(\d+) [\w -]{1,40}: ((?:[^(),:]{1,40}\(\d+\)(?:, | and )?){2,})\.?")
_MEAN = re.compile(rf"\bmean (\S+) ?= ?([+-]?[\d.]+ ?{_UNIT})")
_AGAIN = re.compile(
    rf"\b[Mm]ean (?:reduction|increase|change|difference|gain) (?:of |is )?([+-]?\d[\d.]* ?{_UNIT})"
)


def lines(reading: Reading) -> Results:
    """Checks counts with their parts, and means with their column and with what is said again."""
    heading, said = "", list[tuple[Printed, set[str]]]()
    heads = [text.lstrip("# ") for _, text in reading.lines if text.startswith("#")]
    for line, text in reading.lines:
        heading = text.lstrip("# ") if text.startswith("#") else heading
        if counted := _COUNTED.fullmatch(text):
            parts = re.findall(r"\((\d+)\)", counted[2])
            whole = numbers.figure(counted[1], row=text.split(":")[0].strip(), line=line)
            if whole:
                value = exact(float(sum(map(int, parts))))
                yield follows("sum", whole, value, " + ".join(parts), 1e-9)
        for match in _MEAN.finditer(text):
            if one := numbers.figure(match[2], row=f"mean {match[1]}", line=line):
                # the words that tell this mean from those under other headings
                others = _words(*(head for head in heads if head != heading)) if heading else set()
                said.append((one, _words(text[: match.start()], heading) - others))
                yield from _column_mean(reading, one, match[1], heading)
    for line, text in reading.lines if said else ():
        for match in _AGAIN.finditer(text):
            one = numbers.figure(match[1], row="the mean", line=line)
            bound = [mean for mean, words in said if words and words <= _words(text)
                     if mean.line != line]  # fmt: skip
            if one and [mean.dimension for mean in bound] == [one.dimension]:
                low, high = ((abs(mean.span.low), abs(mean.span.high)) for mean in (one, *bound))
                good = min(low) <= max(high) and min(high) <= max(low)
                wrong = f"{match[0]} is said, and line {bound[0].line} has "
                yield Tested("mean", one, good, f"{wrong}{bound[0].text} ({bound[0].name}).")


def _words(*texts: str) -> set[str]:
    return set(re.findall(r"\w+", " ".join(texts).lower()))


def _column_mean(reading: Reading, mean: Printed, name: str, heading: str) -> Results:
    """Checks a mean against the table's column of that name under the same heading."""
    below = [one for one in reading.tables if heading and one.title.startswith(f"{heading} (line")]
    for table, index in ((one, index) for one in below for index in range(len(one.head))):
        values = [one.span.mid for _, one in table.column(index) if one.dimension == mean.dimension]
        if re.sub(r"\s*[\[(].*", "", table.head[index]) == name and len(values) > 1:
            formula = f"the mean of the {len(values)} rows of “{name}”"
            yield follows("mean", mean, exact(sum(values) / len(values)), formula)


GROUPS: tuple[Callable[[Group], Results], ...] = (records, quotients, spread)
TABLES: tuple[Callable[[PrintedTable], Results], ...] = (
    *(indented, in_brackets),  # of lists
    *(last_row, derived, deltas),
)


def results(reading: Reading) -> Results:
    """Yields the results of all relations in a text."""
    groups = [group for table in reading.tables for group in table.groups()]
    yield from (result for rule in GROUPS for group in groups for result in rule(group))
    yield from (result for rule in TABLES for one in reading.tables for result in rule(one))
    yield from lines(reading)
