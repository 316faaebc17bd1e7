# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: RUF001 (the signs of arithmetic)
"""Relations between figures that a table or a list binds together: by row, by column, by name."""

import re
from collections.abc import Collection, Iterator, Sequence

from teemark.audit import numbers, programs
from teemark.audit.figure import Kind, Named, Printed, PrintedRow, PrintedTable, Reading, Tested
from teemark.audit.numbers import related
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
SPREAD = ("min <= mean", "mean <= max", "sd <= max - min")
RANKED = ("min", "median", "p75", "p90", "p95", "p99", "p999", "max")
"""Statistics in rising order: none is smaller than those before it."""
COST = ("time", "rate", "time per byte", "cycles", "cycles per byte", "size", "frequency")
ADDITIVE = ("time", "size", "count", "cycles")

_FACTOR = re.compile(r"factor|speed-?up|\bratio|relative$")
_CHANGE = re.compile(r"\bdelta\b|\bdiff(?:erence)?\b|\bchange\b|Δ|δ")
_NO_PART = re.compile(r"limit|peak|per |last|total|free|avail|n/a|skip|which")
_AT_ONCE = re.compile(
    r"thread|parallel|concurren|client|worker|queue|jobs|cores|depth|batch|\bconn|stream|session"
)
_MORE = re.compile(r"analysis|faster|slower|improve|gain|reduc|saving|overhead")


def _compares(heading: str, dimensions: Collection[str]) -> bool:
    """Says whether figures compare two others, by their heading in lower case and dimensions."""
    words = _CHANGE.search(heading) or _FACTOR.search(heading) or "factor" in dimensions
    more = "share" in dimensions and _MORE.search(heading)
    return len(dimensions) < 2 and bool(words or more)


def statistic(label: str) -> str:
    """Returns the name of the statistic in a label; "" if there is none."""
    named = STATISTIC.search(label)
    return str(named.lastgroup) if named else ""


# -- rows, columns and lists -----------------------------------------------------------------------


def records(kind: Kind, head: Sequence[str], figures: Named) -> Results:
    """Tests the records of relations.toml: a field is the only figure that it fits."""
    words = " ".join((*head, *(one.row for _, one in figures[:1]))).lower()
    for record in programs.relations().record:
        if kind not in record.kinds or (record.serial and _AT_ONCE.search(words)):
            continue
        named: dict[str, Printed] = {}
        for key, field in record.fields.items():
            dimension, _, label = field.partition(": ")
            alike = [(text, one) for text, one in figures if one.dimension == dimension]
            fitting = [one for text, one in alike if re.fullmatch(label, text)
                       if statistic(text) in ("", "mean")]  # fmt: skip
            named |= {key: fitting[0]} if len(fitting) == 1 else {}
        if set(record.fields) - set(named) <= set(re.findall(r"\w+", " ".join(record.relations))):
            yield from record.tested(named)


def quotients(figures: Named) -> Results:
    """Checks a figure that is named of two others, such as “Score/MHz”, by their digits."""
    named = {re.sub(r" ?[(\[].*", "", label): one for label, one in figures}
    named = {one.unit.lower(): one for one in named.values() if one.unit.endswith("Hz")} | named
    for label, one in named.items():
        a, b = (named.get(part.strip()) for part in (*label.split("/"), "")[:2])
        if label.count("/") == 1 and a and b:
            bare = {"c": numbers.rounded(one), "a": numbers.rounded(a), "b": numbers.rounded(b)}
            yield from related(("quotient: c = a / b",), bare)


def spread(kind: Kind, figures: Named) -> Results:
    """Checks the statistics of one quantity, whose labels are alike otherwise: they are in order,
    the mean is between min and max, the deviation is within the range. In a column of two, or of
    others, "Min" may be an operation that was timed."""
    found = {statistic(label) for label, _ in figures}
    if kind == "column" and ("" in found or len(found) < 3):
        return
    subjects: dict[tuple[str, str], dict[str, list[Printed]]] = {}
    signed = any(one.dimension == "share" and one.signed for _, one in figures)
    for label, one in figures:
        if (signed and one.dimension == "share") or _compares(one.column.lower(), {one.dimension}):
            continue  # two statistics are compared
        words = re.findall(r"\w+", STATISTIC.sub(" ", label, count=1))
        subject = " ".join(word for word in words if word not in UNITS)
        named = subjects.setdefault((subject, one.dimension), {})
        named.setdefault(statistic(label), []).append(one)
    for (_, dimension), named in subjects.items():
        single = {name: alike[0] for name, alike in named.items() if len(alike) == 1}
        # some programs count the percentiles of rates from the top
        ranked = ("min", "max") if dimension in ("rate", "frequency") else RANKED
        rules = (" <= ".join(name for name in ranked if name in single), *SPREAD)
        yield from related([f"spread: {rule}" for rule in rules], single)


def indented(table: PrintedTable) -> Results:
    """Checks that parts that are indented below their whole aren't more than it. More than twice
    the whole aren't its parts, nor are those after an empty line, or one column further in."""
    for at, whole in enumerate(table.rows):
        rest = table.rows[at + 1 :]
        ends = (place for place, row in enumerate(rest) if row.indent <= whole.indent
                or row.line > whole.line + place + 1)  # fmt: skip
        parts = [row for row in rest[: next(ends, len(rest))] if row.name]
        level = min((part.indent for part in parts), default=0)
        figures = [part.cells[0] for part in parts if part.indent == level and part.cells]
        words = " ".join(part.name.lower() for part in parts)
        kinds = {figure.dimension for figure in (*whole.cells.values(), *figures)}
        others = statistic(words) or _NO_PART.search(words)
        near = level < whole.indent + 2  # of right-aligned names, one may be a letter shorter
        if not whole.cells or len(figures) < 2 or len(kinds) > 1 or others or near:
            continue
        plausible = sum(figure.span.mid for figure in figures) <= 2 * whole.cells[0].span.mid
        if kinds & set(ADDITIVE) and plausible:
            named = {f"p{number}": figure for number, figure in enumerate(figures)}
            rule = f"part-above-whole: {' + '.join(named)} <= whole"
            yield from related((rule,), {**named, "whole": whole.cells[0]}, 0.001)


def derived(table: PrintedTable) -> Results:
    """Checks a column of factors or changes by columns before it: by the two that end with its own
    words, or the only two of one dimension; by one such column and the row that is the baseline."""
    heads = [re.sub(r"\s*[\[(].*?[\])]", "", head).strip().lower() for head in table.head]
    kinds = [{one.dimension for _, one in table.column(index)} for index in range(len(heads))]
    changes = [index for index, kind in enumerate(kinds) if _compares(heads[index], kind)]
    compared = next((one for one in ("mean", "median", "max") if one in map(statistic, heads)), "")
    for index in filter(heads.__getitem__, changes):
        subject = _CHANGE.sub("", heads[index]).split()[-1:]
        inputs = [
            other
            for other, head in enumerate(heads[:index])
            if other not in changes and len(kinds[other] & set(COST)) == 1
            if statistic(head) in ("", compared)  # one of several statistics
        ]
        named = [other for other in inputs if subject and heads[other].split()[-1:] == subject]
        inputs = named if len(named) == 2 or (len(changes) > 1 and subject) else inputs
        changed = list(_changes(table, index))
        for dimension in {one.dimension: 0 for _, one in changed}:
            alike = [(row, one) for row, one in changed if one.dimension == dimension]
            trials = zip(*filter(None, _trials(table, index, alike, inputs)), strict=False)
            best = max(trials, key=lambda trial: sum(test.good for test in trial), default=())
            if 2 * sum(test.good for test in best) >= len(best) or len(best) == 1:
                yield from best


def _trials(
    table: PrintedTable, index: int, changed: list[tuple[PrintedRow, Printed]], inputs: list[int]
) -> Iterator[tuple[Tested, ...]]:
    """Yields of each figure of a column the results of all formulas. Figures without signs may
    count from the larger to the smaller, whichever column that is in."""
    bases = [row for row in table.rows if _is_baseline(row, index)]
    factors = [one.span.mid for _, one in changed if one.dimension in ("factor", "count")]
    unsigned = not any(one.signed for _, one in changed) and min(factors, default=1.0) >= 1
    for row, one in changed:
        named = [at for at in row.cells if one.note and table.head[at].startswith(one.note)]
        columns = named or inputs
        cells = [row.cells[other] for other in columns if other in row.cells]
        if len(cells) == len(bases) == 1 and row not in bases and columns[0] in bases[0].cells:
            labels = zip(row.texts[: columns[0]], bases[0].texts, strict=False)
            if named or sum(a != b for a, b in labels) < 2:  # else another group's baseline
                cells.insert(0, bases[0].cells[columns[0]])
        if unsigned:
            cells.sort(key=lambda cell: cell.span.mid, reverse=True)
        # the figure may be made of a number that isn't read
        unread = [text for at, text in enumerate(row.texts) if at not in {0, index, *row.cells}]
        kinds = {cell.dimension for cell in cells}
        alike = len(cells) == 2 > len(kinds) and not kinds & {"factor", "share"}
        # a row of means may have means of factors; "5x fewer copies" has no times
        other = re.search("mean|average|avg|fewer", f"{row.name} {one.note}".lower())
        bound = not (other or any(re.match(r"\W*\d", text) for text in unread))
        if alike and bound and min(cell.span.low for cell in cells) > 0:
            yield tuple(_compared(one, *cells))


def _is_baseline(row: PrintedRow, index: int) -> bool:
    """Says whether a row's factor is 1, or its change 0 or none."""
    if one := row.cells.get(index):
        return one.span.mid == (one.dimension in ("factor", "count"))
    return bool(re.fullmatch(r"[—-]+|baseline|n/a", "".join(row.texts[index : index + 1]).lower()))


def _changes(table: PrintedTable, index: int) -> Iterator[tuple[PrintedRow, Printed]]:
    """Yields a column's figures. A cell may have several, each with the beginning of its column's
    heading as its note: "+9 KB .text, +12 KB .ta"."""
    yield from table.column(index)
    for row in table.rows:
        for text in "".join(row.texts[index : index + 1]).split(", "):
            one = numbers.figure(text, row=row.name, column=table.head[index], line=row.line)
            if index not in row.cells and one and one.note:
                yield row, one


_COMPARED = {
    "factor": ("factor: c = a / b", "factor: c = b / a"),
    "share": [f"change: c = ({x} - {y}) / {z}" for x, y in ("ab", "ba") for z in "ab"],
    "": ("change: c = a - b", "change: c = b - a"),
}
"""Formulas by which a column may follow from two others, by the column's dimension."""


def _compared(one: Printed, a: Printed, b: Printed) -> Results:
    kind = "factor" if one.dimension == "count" else one.dimension
    shown = numbers.rounded(one) if kind == "factor" else one
    if kind in _COMPARED or kind == a.dimension or (kind, a.dimension) == ("size", "count"):
        slack = 0.01 if kind in _COMPARED else 0.001
        named = {"c": shown, "a": a, "b": b}
        yield from related(_COMPARED.get(kind, _COMPARED[""]), named, slack, wide=True)


# -- lines that say what they are the sum or the mean of -------------------------------------------

_UNIT = r"([µmn]?s\b|%|MB/s)?"
_COUNTED = re.compile(r"[\s*-]*(\d+) [\w -]{1,40}: ((?:[^(),:]{1,40}\(\d+\)(?:, | and )?){2,})\.?")
_MEAN = re.compile(rf"\bmean (\S+) ?= ?([+-]?[\d.]+ ?{_UNIT})")
_AGAIN = re.compile(
    rf"\b[Mm]ean (?:reduction|increase|change|difference|gain) (?:of |is )?([+-]?\d[\d.]* ?{_UNIT})"
)


def lines(reading: Reading) -> Results:
    """Checks counts against the sum of their parts, and means that the text repeats."""
    heading, means = "", list[tuple[Printed, set[str]]]()
    heads = [text for _, text in reading.lines if text.startswith("#")]
    for line, text in reading.lines:
        heading = text if text.startswith("#") else heading
        if counted := _COUNTED.fullmatch(text):
            parts = " + ".join(re.findall(r"\((\d+)\)", counted[2]))
            whole = numbers.figure(counted[1], row=text.split(":")[0].strip(), line=line)
            yield from related((f"sum: whole = {parts}",), {"whole": whole} if whole else {}, 0)
        for match in _MEAN.finditer(text):
            if one := numbers.figure(match[2], row=f"mean {match[1]}", line=line):
                # the words that tell this mean from those under other headings
                others = _words(*(head for head in heads if head != heading)) if heading else set()
                means.append((one, _words(text[: match.start()], heading) - others))
    for line, text in reading.lines if means else ():
        for match in _AGAIN.finditer(text):
            one = numbers.figure(match[1], row="the mean", line=line)
            bound = [mean for mean, words in means if words and words <= _words(text)
                     if mean.line != line]  # fmt: skip
            if one and [mean.dimension for mean in bound] == [one.dimension]:
                low, high = ((abs(mean.span.low), abs(mean.span.high)) for mean in (one, *bound))
                good = min(low) <= max(high) and min(high) <= max(low)
                wrong = f"{match[0]} is said, and line {bound[0].line} has "
                yield Tested("mean", one, good, f"{wrong}{bound[0].text} ({bound[0].name}).")


def _words(*texts: str) -> set[str]:
    return set(re.findall(r"\w+", " ".join(texts).lower()))


def results(reading: Reading) -> Results:
    """Yields the results of all relations in a text."""
    for table in reading.tables:
        for kind, named in table.groups():
            yield from (*records(kind, table.head, named), *quotients(named), *spread(kind, named))
        yield from (*indented(table), *derived(table))
    yield from lines(reading)
