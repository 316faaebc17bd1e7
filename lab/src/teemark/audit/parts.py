# SPDX-License-Identifier: BSD-2-Clause
"""Rules on parts and wholes, on statistics of one quantity, and on impossible figures."""

import math
import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, pairwise

from teemark.audit.figure import Printed
from teemark.audit.numbers import NUMERALS
from teemark.audit.relations import is_factor
from teemark.audit.rule import (
    RANKED,
    STATISTIC,
    Group,
    Rule,
    Tested,
    amount,
    fits,
    follows,
    is_spread,
    quotients,
    statistic,
)
from teemark.reference.span import Span, exact
from teemark.reference.units import UNITS
from teemark.wording import fmt

MANY_DIGITS = 10
"""Digits that two rows must have in common; one pair in ten thousand million does by chance."""

_TOTAL = re.compile(r"(?:grand )?(?:total|sum|in total|altogether)(?: \(.*\))?\Z")
_WHOLE = re.compile(r"\b(?:total|elapsed|wall)(?: execution| run)?(?: time)?\Z|\A(?:real|wall)\Z")
_ADDITIVE = ("time", "size", "count", "share", "cycles")
_NO_PART = re.compile(
    r"timeout|limit|deadline|uptime|interval|since|budget|expected|estimated|baseline|before|"
    r"previous|old|asked|\bcpu\b|\buser\b|\bsys|total|elapsed|wall|\bper\b|average|mean|\bmax"
)
_PHASES = (
    r"\bread|\bi/o\b|\bload|\binput\b",
    r"hash|comput|crypt|\bsign|\bsha|\baes",
    r"\bwrit|\bsend|\bstore|network|transfer|\boutput\b",
    r"\bset-?up|\binit|\bopen",
)
_OVERLAP = re.compile(r"overlap|parallel|async|pipelin|thread", re.I)
_OPPOSITES = (
    ("voluntary", "involuntary"), ("user", "system"), ("hits", "misses"), ("used", "free"),
    ("passed", "failed"), ("sent", "received"), ("reads", "writes"),
)  # fmt: skip
_OF_ONE_TIME = re.compile(r"of the (?:\w+ )?time|of the total|\bspent?\b|breakdown|profile")
_LOAD = re.compile(r"utili[sz]ation|\bload\b|\busage\b|\bcpu\b")
_OF_A_WHOLE = re.compile(
    r"utili[sz]ation|\bload\b|usage|share|efficien|hit rate|\brate\b|duty|coverage|idle|busy|"
    r"probab|loss|of (?:the |all )?(?:time|total)|hashing|success|\bcpu\b"
)
_CPU_TIME = re.compile(r"\bcpu time|\bbusy\b")
_CPU_LOAD = re.compile(r"utili[sz]ation|cpu load|cpu usage")
_DIFFERENCE = re.compile(r"change|delta|diff|overhead|Δ|offset|unexplained|less than no")
_CORES = re.compile(
    r"\b(one|single|dual|two|quad|four|six|octa|eight|\d{1,3})[- ]"
    r"(?:[\w-]{1,20} )?(?:cores?|cpus?)\b",
    re.I,
)
_CORES_IN_WORDS = NUMERALS | {"one": 1, "single": 1, "dual": 2, "quad": 4, "octa": 8}


def _sum(figures: Sequence[Printed]) -> Span:
    return sum((figure.span for figure in figures), exact(0))


# -- sums ------------------------------------------------------------------------------------------


def sums(group: Group) -> Iterator[Tested]:
    """Checks that a "total" in a row or column is the sum of the others. The rule `share` checks a
    total of 100 %."""
    begin = 0
    for index, total in enumerate(group.figures):
        if not _TOTAL.match(group.label(total).strip()):
            continue
        parts = [part for part in group.figures[begin:index] if part.dimension == total.dimension]
        begin = index + 1
        words = [f"{figure.words} {figure.table.lower()}" for figure in (total, *parts)]
        if any(map(is_spread, words)) or any(is_factor(part, group.label(part)) for part in parts):
            continue
        if len(parts) > 1 and total.dimension in _ADDITIVE and total.text != "100 %":
            value = _sum(parts)
            wrong = f"{total.name}: {total.text} is printed, and the {len(parts)} parts are "
            wrong += f"{amount(value, total.dimension)} together."
            room = 0.03 if statistic(total.words) == "mean" else 0.001
            yield Tested(total, fits(value, total.span, room), wrong)


def inside(group: Group) -> Iterator[Tested]:
    """Checks that neither a part of a list nor the sum of its phases exceeds the list's total."""
    wholes = group.having(_WHOLE, "time")
    if len(wholes) != 1 or any(_OVERLAP.search(figure.words) for figure in group.figures):
        return
    (whole,) = wholes
    of = f"the {whole.text} of “{whole.name}”"
    phases: dict[str, list[Printed]] = {}
    for part in group.of("time"):
        if part is whole or _NO_PART.search(group.label(part)) or is_spread(part.words):
            continue
        small = part.span.low <= whole.span.high * 1.001
        yield Tested(part, small, f"{part.name}: {part.text} is more than {of}.")
        phase = next((pattern for pattern in _PHASES if re.search(pattern, group.label(part))), "")
        if small and phase:
            phases.setdefault(phase, []).append(part)
    parts = [named[0] for named in phases.values() if len(named) == 1]
    if len(parts) > 1:
        shown = " + ".join(f"{part.text} ({part.name})" for part in parts)
        yield _within(whole, parts, shown, 1.02 * whole.span.high, of)


def of_which(group: Group) -> Iterator[Tested]:
    """Checks that parts named in a sentence don't exceed the whole: "400 µs, of which 120 µs …",
    "2.0 ms in total: 1.6 ms … and 0.9 ms", shares of a time."""
    ordered = group.figures
    for index, (whole, after) in enumerate(pairwise(ordered)):
        starts = whole.row.lower() in ("of", "out of")
        starts |= "of which" in f"{whole.column} {after.row}"
        if starts or re.match(r"in total|altogether|together", whole.column.lower()):
            parts = [part for part in ordered[index + 1 :] if part.dimension == whole.dimension]
            if parts and whole.dimension != "count":
                of = f"the {whole.text} that they are of"
                yield _within(whole, parts, _texts(parts), whole.span.high, of)
            break
    shares = [share for share in group.of("share") if not is_factor(share, "")]
    words = " ".join(figure.words for figure in ordered)
    if len(shares) > 2 and _OF_ONE_TIME.search(words) and not re.search(r"\bholds\b", words):
        yield _within(shares[-1], shares, _texts(shares), 1.0, "the whole")


def _texts(figures: Sequence[Printed]) -> str:
    return fmt.listed([figure.text for figure in figures])


def _within(
    result: Printed, parts: Sequence[Printed], shown: str, most: float, whole: str
) -> Tested:
    value = _sum(parts)
    wrong = f"{shown} are {amount(value, parts[0].dimension)}, more than {whole}."
    return Tested(result, value.low <= most * 1.001, wrong)


def shares(group: Group) -> Iterator[Tested]:
    """Checks that a share in a table or list is its part ÷ the sum of all parts, or ÷ their
    total."""
    values: dict[tuple[int, str], list[Printed]] = {}
    pairs: dict[tuple[str, str, str], list[tuple[Printed, Printed]]] = {}
    for part in group.of("time", "size", "count", "cycles"):
        values.setdefault((part.sentence, part.table), []).append(part)
    for share in (figure for figure in group.of("share") if not is_spread(figure.column.lower())):
        cell = share.form == "cell"
        stands = cell or (not share.row and share.column[:1] in (")", ""))
        if stands and not is_factor(share, share.column.lower()):
            for part in values.get((share.sentence, share.table), ()):
                where = (share.column, part.column, "") if cell else ("", "", part.dimension)
                pairs.setdefault(where, []).append((part, share))
    for beside in pairs.values():
        parts = [pair for pair in beside if not _is_total(*pair)]
        wholes = [_sum([part for part, _ in parts])]
        wholes += [part.span for part, share in beside if _is_total(part, share)]
        whole = max(wholes, key=partial(_fitting, parts))
        if len(parts) > 2 and _fitting(parts, whole) >= max(2, 0.6 * len(parts)):
            for part, share in parts:
                value = part.span / whole
                of = f"{amount(value, 'share')} of {amount(whole, part.dimension)}"
                wrong = f"{share.name}: {share.text} is printed, and {part.text} are {of}."
                # a share that is slightly off may have been computed from unrounded parts
                yield Tested(share, fits(value, share.span, 0.1), wrong)


def _fitting(parts: list[tuple[Printed, Printed]], whole: Span) -> int:
    """Returns the number of shares that agree with this whole."""
    if whole.low <= 0:
        return 0
    return sum(fits(part.span / whole, share.span, 0.01) for part, share in parts)


def _is_total(part: Printed, share: Printed) -> bool:
    return bool(_TOTAL.match(part.row.lower())) or share.span.mid == 1.0


def opposites(group: Group) -> Iterator[Tested]:
    """Checks that opposites add up to their total (voluntary and involuntary switches), and that
    the hit rate is hits ÷ (hits + misses)."""
    for pair in _OPPOSITES:
        halves = [group.having(rf"\b{word}\b", "count", "size", "time") for word in pair]
        if not all(halves) or halves[0][0].dimension != halves[1][0].dimension:
            continue
        first, second = (figures[0] for figures in halves)
        rest = group.label(first).replace(pair[0], "").split()
        both = _sum([first, second])
        shown = amount(both, first.dimension)
        for whole in group.figures:
            words = group.label(whole).split()
            left = [word for word in words if word not in ("total", "all")]
            if whole.dimension == first.dimension and left == rest and rest:
                wrong = f"{first.text} ({first.name}) + {second.text} ({second.name}) = {shown}, "
                wrong += f"and “{whole.name}” is {whole.text}."
                yield Tested(second, fits(both, whole.span, 0.002), wrong)
            rate = {"rate", "ratio"} & {*words} and pair[0].removesuffix("s") in words
            if whole.dimension == "share" and both.low > 0 and rate:
                yield from follows(whole, [(first.span / both, f"{first.text} ÷ {shown}")], 0.01)


def utilisation(group: Group) -> Iterator[Tested]:
    """Checks that a utilisation is CPU time ÷ total time, on one CPU or on up to eight."""
    busy, wholes = group.having(_CPU_TIME, "time"), group.having(_WHOLE, "time")
    values = [(value / n, text) for value, text in quotients(busy, wholes) for n in range(1, 9)]
    for share in group.of("share"):
        beside = share.form == "line" and any(time.line == share.line for time in busy)
        if beside or _CPU_LOAD.search(group.label(share)):
            yield from follows(share, values)


# -- statistics ------------------------------------------------------------------------------------

_COMPUTED: dict[str, tuple[str, list[Callable[[list[float]], float]]]] = {
    "mean": ("mean", [statistics.mean]),
    "sd": ("standard deviation", [statistics.stdev, statistics.pstdev]),
}
_RUN = re.compile(
    r"\b(?:run|trial|sample|measurement|repetition|rep|try|round|attempt)s? ?#?\d+|^#?\d+$"
)


def spread(group: Group) -> Iterator[Tested]:
    """Checks the statistics of one quantity (labels are alike otherwise): they are in order, the
    mean lies between min and max, a standard deviation is less than the range, and the coefficient
    of variation is deviation ÷ mean."""
    subjects: dict[str, dict[str, list[Printed]]] = {}
    for figure in group.figures:
        label = group.label(figure)
        words = re.findall(r"\w+", STATISTIC.sub(" ", label, count=1))
        subject = " ".join(word for word in words if word not in UNITS)
        named = subjects.setdefault("" if group.kind == "sentence" else subject, {})
        named.setdefault(statistic(label), []).append(figure)
    for named in subjects.values():
        alone = {name: figures[0] for name, figures in named.items() if len(figures) == 1}
        least, mean, most, sd = map(alone.get, ("min", "mean", "max", "sd"))
        ranked = [alone[name] for name in RANKED if name in alone]
        for low, high in (*pairwise(ranked), (least, mean), (mean, most)):
            if low is not None and high is not None and low.dimension == high.dimension:
                yield _in_order(low, high)
        if sd is None or sd.dimension == "share":
            continue
        if least is not None and most is not None and least.dimension == sd.dimension:
            wrong = f"{sd.name}: {sd.text} is more than all of the range from {least.text} to "
            small = sd.span.low <= most.span.high - least.span.low
            yield Tested(sd, small, f"{wrong}{most.text}.")
        if mean is not None and mean.dimension == sd.dimension:
            for cv in (share for share in named.get("cv", ()) if share.dimension == "share"):
                yield from follows(cv, quotients([sd], [mean]))


def _in_order(low: Printed, high: Printed) -> Tested:
    """Checks that two figures are in order, as far as their rounding tells."""
    decimals = {len(figure.digits.partition(".")[2]) for figure in (low, high)}
    alike = low.unit == high.unit and len(decimals) == 1
    good = low.span.mid <= high.span.mid if alike else low.span.low <= high.span.high
    last = max(low, high, key=lambda figure: (figure.line, figure.start))
    return Tested(last, good, f"{low.text} ({low.name}) is above {high.text} ({high.name}).")


def repeats(group: Group) -> Iterator[Tested]:
    """Checks the mean and the standard deviation of values that are listed."""
    for target in (f for f in group.figures if statistic(group.label(f)) in _COMPUTED):
        what, kinds = _COMPUTED[statistic(group.label(target))]
        values = [
            figure.span
            for figure in group.of(target.dimension)
            if (
                figure.start < target.start
                and not statistic(figure.row.lower())
                and re.fullmatch(r"and|[,;.].*", figure.column.strip() or ",")
                if group.kind == "sentence"
                else _RUN.search(group.label(figure))
            )
        ]
        if len(values) > 2:
            mids = [span.mid for span in values]
            room = sum(span.high - span.low for span in values) / len(values) / 2
            results = [exact(kind(mids)) + Span(-room, 0, room) for kind in kinds]
            formula = f"the {what} of {len(mids)} listed values"
            yield from follows(target, [(value, formula) for value in results])


# -- bounds, units, copies -------------------------------------------------------------------------


def bounds(group: Group) -> Iterator[Tested]:
    """Finds shares above 100 %, CPU loads above what the named CPUs can carry, negative times."""
    for figure in group.figures:
        label = (
            f"{figure.row} {figure.column[:25] if figure.form == 'line' else figure.column}".lower()
        )
        # A row with a column "takes" has measured parts, whose shares may exceed 100 %.
        measured = "takes" in {f.column for f in group.figures}
        share = (
            figure.dimension == "share"
            and not measured
            and not is_factor(figure, group.label(figure))
        )
        if share and _OF_A_WHOLE.search(label):
            cores = _cores(group) if _LOAD.search(label) else 1
            more = f" on {cores} CPUs" if cores > 1 else ""
            wrong = f"{figure.name}: {figure.text} is more than the whole{more}."
            yield Tested(figure, figure.span.low <= cores * 1.0001, wrong)
        physical = figure.dimension in ("time", "rate", "size") and not _DIFFERENCE.search(label)
        if physical and figure.span.high < 0 and "…" not in figure.column:
            yield Tested(figure, False, f"{figure.name}: {figure.text} is less than nothing.")


def _cores(group: Group) -> int:
    """Returns the largest number of CPUs that the text names; 1 if it names none."""
    words = (match[1].lower() for text, _ in group.reading.said for match in _CORES.finditer(text))
    return max((_CORES_IN_WORDS.get(word) or int(word) for word in words), default=1)


_ASKED = (
    (re.compile(r"throughput|bandwidth|data rate"), "rate", ("time", "size")),
    (re.compile(r"duration|latency|\btime\b(?! per| share)"), "time", ("rate", "size")),
)


def units(group: Group) -> Iterator[Tested]:
    """Finds units that can't be those of the quantity that is named."""
    labels = [group.label(figure) for figure in group.figures]
    for figure, label in zip(group.figures, labels, strict=True):
        for pattern, wanted, others in _ASKED:
            named = pattern.search(label) and not re.search(r" at | for |per |by ", label)
            if named and figure.dimension in others and labels.count(label) == 1:
                wrong = f"{figure.text} is a {figure.dimension}, and a {wanted} is named."
                yield Tested(figure, False, f"{figure.name}: {wrong}")


def squares(group: Group) -> Iterator[Tested]:
    """Checks that a standard deviation has the unit of its mean, not of a variance."""
    squared = [f for f in group.figures if f.unit.endswith("^2")]
    squared = [f for f in squared if f.form == "cell" or statistic(f.row.lower()) == "sd"]
    if squared:
        figure = squared[0]
        root = amount(math.sqrt(abs(figure.span.mid) * 1e3) * 1e-3, "time")
        wrong = f"{len(squared)} standard deviations are headed “{figure.unit}”, the unit of a "
        wrong += f"variance: as one, {figure.text} would be a deviation of {root}. A deviation has "
        yield Tested(replace(figure, line=figure.head), False, f"{wrong}the unit of its mean.")


def mixed_units(table: Group) -> Iterator[Tested]:
    """Checks values that a row gives both in kB and in MB: the factor must be 1000."""
    unlike: dict[str, tuple[Printed, list[str]]] = {}
    rows = table.rows("rate", "size").values()
    for small, large in (pair for row in rows for pair in combinations(row[:9], 2)):
        decimal = (small.unit.lower(), large.unit) in (("kb/s", "MB/s"), ("kb", "MB"))
        heads = {re.sub(r"\(?\b[kKM]B(?:/s)?\)?", "", f.column).strip() for f in (small, large)}
        if decimal and len(heads) == 1:
            if fits(small.span, large.span, 0.0005):
                yield Tested(large, True)
            else:
                text = f"{small.text} are {amount(small.span, small.dimension)}, not {large.text}"
                unlike.setdefault(large.column, (large, []))[1].append(text)
    for figure, shown in unlike.values():
        wrong = f"{figure.name}: {'; '.join(shown)}; of decimal units, 1000 make the next."
        yield Tested(figure, False, wrong)


def pasted(table: Group) -> Iterator[Tested]:
    """Finds rows of one table whose digits are the same in all columns."""
    shown: list[tuple[str, Printed]] = []
    first: dict[tuple[tuple[str, str], ...], Printed] = {}
    for cells in table.rows("time", "rate", "time per byte").values():
        digits = tuple((figure.column, figure.digits) for figure in cells)
        count = sum(len(text.replace(".", "").strip("0")) for _, text in digits)
        if len(cells) > 1 and count >= MANY_DIGITS:
            before, cell = first.setdefault(digits, cells[0]), cells[0]
            if cell is not before:
                names = " = ".join(figure.row or f"line {figure.line}" for figure in (before, cell))
                shown.append((f"{names} ({cell.text})", cell))
    if shown:
        wrong = "Rows were pasted, their digits are the same in all columns: "
        yield Tested(shown[0][1], False, f"{wrong}{'; '.join(text for text, _ in shown)}.")


RULES: tuple[Rule, ...] = (
    Rule("sum", sums, ("row", "column"), linear=True),
    Rule("part-above-whole", inside, ("block", "row", "column")),
    Rule("of-which", of_which, ("sentence",)),
    Rule("share", shares, ("table", "list"), linear=True),
    Rule("opposites", opposites, ("block", "column")),
    Rule("utilisation", utilisation, ("block", "row", "column")),
    Rule("spread", spread, ("row", "block", "sentence", "column")),
    Rule("mean-of-list", repeats, ("row", "column", "sentence"), linear=True),
    Rule("percent", bounds, ("row", "sentence")),
    Rule("impossible-unit", units, ("row", "block")),
    Rule("impossible-unit", squares, ("document",), linear=True),
    Rule("mixed-units", mixed_units, ("table",), linear=True),
    Rule("pasted-rows", pasted, ("table",), linear=True),
)
