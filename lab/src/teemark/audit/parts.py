# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: RUF001 (the signs of arithmetic)
"""Rules on parts and wholes, on statistics of one thing, and on what no figure can be."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations, pairwise

from teemark.audit.figure import Figure
from teemark.audit.relations import follows, is_factor
from teemark.audit.rule import Case, Group, Rule, Tested, fits, quotient, tested
from teemark.audit.words import amount, listed
from teemark.reference.span import Span, exact

MANY_DIGITS = 10
"""Digits in all that two rows must share: one pair in ten thousand million by chance."""

_TOTAL = re.compile(r"(?:grand )?(?:total|sum|in total|altogether)(?: \(.*\))?\Z")
_WHOLE = re.compile(r"\b(?:total|elapsed|wall)(?: execution| run)?(?: time)?\Z|\A(?:real|wall)\Z")
_ADDITIVE = ("time", "size", "count", "share", "cycles")
_RANKS = re.compile(r"median|\bp\d\d|\bmin|\bmax|st\w*dev|\bsd\b|95|interval|deviation")
_NO_PART = re.compile(
    r"timeout|limit|deadline|uptime|interval|since|budget|expected|estimated|baseline|before|"
    r"previous|old|asked|\bcpu\b|\buser\b|\bsys|total|elapsed|wall|\bper\b|average|mean|\bmax"
)
_PHASES = (
    re.compile(r"\bread|\bi/o\b|\bload|\binput\b"),
    re.compile(r"hash|comput|crypt|\bsign|\bsha|\baes"),
    re.compile(r"\bwrit|\bsend|\bstore|network|transfer|\boutput\b"),
    re.compile(r"\bset-?up|\binit|\bopen"),
)
_OVERLAP = re.compile(r"overlap|parallel|async|pipelin|thread", re.I)
_OPPOSITES = (
    ("voluntary", "involuntary"),
    ("user", "system"),
    ("hits", "misses"),
    ("used", "free"),
    ("passed", "failed"),
    ("sent", "received"),
    ("reads", "writes"),
)
_LOAD = re.compile(r"utili[sz]ation|\bload\b|\busage\b|\bcpu\b")
_OF_A_WHOLE = re.compile(
    r"utili[sz]ation|\bload\b|usage|share|efficien|hit rate|\brate\b|duty|coverage|idle|busy|"
    r"probab|loss|of (?:the |all )?(?:time|total)|hashing|success|\bcpu\b"
)
_CPU_TIME = re.compile(r"\bcpu time|\bbusy\b")
_CPU_LOAD = re.compile(r"utili[sz]ation|cpu load|cpu usage")
_DIFFERENCE = re.compile(r"change|delta|diff|overhead|Δ|offset")
_CORES = re.compile(
    r"\b(one|single|dual|two|quad|four|six|octa|eight|\d{1,3})[- ]"
    r"(?:[\w-]{1,20} )?(?:cores?|cpus?)\b",
    re.I,
)
_WORDS = {
    "one": 1, "single": 1, "dual": 2, "two": 2, "quad": 4, "four": 4, "six": 6, "octa": 8,
    "eight": 8,
}  # fmt: skip


def _sum(spans: Sequence[Span]) -> Span:
    total = exact(0)
    for span in spans:
        total += span
    return total


# -- sums ------------------------------------------------------------------------------------------


def sums(case: Case) -> Iterator[Tested]:
    """A row or column "total" is the sum of the others."""
    shares = {id(one) for one in _share_columns(case)}
    for group in (*case.of_kind("row", "column"), *case.long):
        last = 0
        for index, total in enumerate(group.figures):
            if not _TOTAL.match(group.label(total).strip()):
                continue
            parts = [
                one
                for one in group.figures[last:index]
                if one.dimension == total.dimension and not _TOTAL.match(group.label(one).strip())
            ]
            last = index + 1
            ranks = any(
                _RANKS.search(f"{one.words} {one.table.lower()}") for one in (total, *parts)
            )
            if len(parts) < 2 or total.dimension not in _ADDITIVE or ranks or id(total) in shares:
                continue
            if any(is_factor(group, one) for one in parts):
                continue
            value = _sum([one.span for one in parts])
            room = 0.03 if re.search(r"mean|avg|average", total.words) else 0.001
            wrong = (
                f"{total.name}: {total.text} is printed, and the {len(parts)} parts are "
                f"{amount(value, total.dimension)} together."
            )
            yield tested(total, fits(value, total.span, room), wrong)


def inside(case: Case) -> Iterator[Tested]:
    """No part of a list exceeds its total, nor do its phases together."""
    for group in case.of_kind("block", "row", "column"):
        wholes = group.having(_WHOLE, "time")
        if len(wholes) != 1 or any(_OVERLAP.search(one.words) for one in group.figures):
            continue
        (whole,) = wholes
        parts = [
            one
            for one in group.of("time")
            if one is not whole
            and not _NO_PART.search(group.label(one))
            and not _RANKS.search(f"{one.words}")
        ]
        for one in parts:
            over = one.span.low > whole.span.high * 1.001
            yield tested(
                one,
                not over,
                f"{one.name}: {one.text} is more than the {whole.text} of “{whole.name}”.",
            )
        phases = []
        for pattern in _PHASES:
            found = [one for one in parts if pattern.search(group.label(one))]
            found = [one for one in found if one.span.low <= whole.span.high]
            if len(found) == 1 and found[0] not in phases:
                phases.append(found[0])
        if len(phases) > 1:
            value = _sum([one.span for one in phases])
            over = value.low > whole.span.high * 1.02
            shown = " + ".join(f"{one.text} ({one.name})" for one in phases)
            yield tested(
                whole,
                not over,
                f"{shown} are {amount(value, 'time')}, more than the {whole.text} "
                f"of “{whole.name}”.",
            )


def of_which(case: Case) -> Iterator[Tested]:
    """ "400 µs, of which 120 µs …", "2.0 ms in total: 1.6 ms … and 0.9 ms", shares of a time."""
    for group in case.of_kind("sentence"):
        ordered = sorted(group.figures, key=lambda one: one.start)
        words = " ".join(f"{one.row} {one.column}" for one in ordered).lower()
        for whole, after in pairwise(ordered):
            starts = (
                whole.row.lower() in ("of", "out of") or "of which" in f"{whole.column} {after.row}"
            )
            if starts or re.match(r"in total|altogether|together", whole.column.lower()):
                parts = [one for one in ordered if one.start > whole.start]
                parts = [one for one in parts if one.dimension == whole.dimension != "count"]
                value = _sum([one.span for one in parts])
                if parts:
                    over = value.low > whole.span.high * 1.001
                    yield tested(
                        whole,
                        not over,
                        f"{listed([one.text for one in parts])} are "
                        f"{amount(value, whole.dimension)}, more than the {whole.text} "
                        "that they are part of.",
                    )
                break
        shares = [one for one in group.of("share") if not is_factor(group, one)]
        whole_of = re.search(
            r"of the (?:\w+ )?time|of the total|\bspent?\b|breakdown|profile", words
        )
        if len(shares) > 2 and whole_of:
            yield _of_one_whole(shares)


def _of_one_whole(parts: Sequence[Figure]) -> Tested:
    """Shares of one thing are no more than all of it."""
    value = _sum([one.span for one in parts])
    said = f"{listed([one.text for one in parts])} are {amount(value, 'share')} of one whole."
    return tested(parts[-1], value.low <= 1.0, said)


def _share_columns(case: Case) -> dict[Figure, str]:
    """Shares in a column that are of another column's sum or total, with what is wrong of each."""
    made: dict[Figure, str] = {}
    rows = list(case.of_kind("row", "sentence"))
    pairs: dict[tuple[str, str, str], list[tuple[Figure, Figure]]] = {}
    for group in rows:
        for share in group.of("share"):
            alone = share.form == "cell" or (not share.row and share.column[:1] in (")", ""))
            if is_factor(group, share) or not alone:
                continue
            for one in group.of("time", "size", "count", "cycles"):
                where = (
                    (one.table, share.column, one.column)
                    if one.form == "cell"
                    else (one.table, f"block {one.block}", one.dimension)
                )
                pairs.setdefault(where, []).append((one, share))
    for found in pairs.values():
        parts = [(one, share) for one, share in found if not _is_total(one, share)]
        totals = [one.span for one, share in found if _is_total(one, share)]
        if len(parts) < 3:
            continue
        heading = [span for _, span in _in_heading(found[0][0])]
        best: list[Figure] = []
        wrong: dict[Figure, str] = {}
        for whole in [_sum([one.span for one, _ in parts]), *totals, *heading]:
            good = (
                [s for one, s in parts if fits(one.span / whole, s.span, 0.01)]
                if whole.low > 0
                else []
            )
            if len(good) > len(best):
                best = good
                wrong = {
                    s: f"{s.name}: {s.text} is printed, and {one.text} are "
                    f"{amount(one.span / whole, 'share')} of {amount(whole, one.dimension)}."
                    for one, s in parts
                    if s not in good and not fits(one.span / whole, s.span, 0.1)
                }
        if len(best) >= max(2, 0.6 * len(parts)):
            made.update({share: wrong.get(share, "") for _, share in parts})
            made.update({share: "" for one, share in found if _is_total(one, share)})
    return made


def _is_total(one: Figure, share: Figure) -> bool:
    return bool(_TOTAL.match(one.row.lower())) or share.span.mid == 1.0


def _in_heading(one: Figure) -> list[tuple[str, Span]]:
    """Values of the figure's dimension that the heading of its list names."""
    from teemark.audit.numbers import numbers
    from teemark.reference.units import UNITS

    found = [number for number in numbers(one.table) if number.unit]
    return [number.printed for number in found if UNITS[number.unit][0] == one.dimension]


def shares(case: Case) -> Iterator[Tested]:
    """A share is its part ÷ the whole; shares of one column aren't more than the whole."""
    known = _share_columns(case)
    for share, wrong in known.items():
        yield Tested(share, wrong)
    for group in case.of_kind("column", "block"):
        label = (
            group.figures[0].column.lower() if group.kind == "column" else group.figures[0].table
        )
        named = re.search(
            r"share|breakdown|portion|of total|of time|% of|percentage|profile", label.lower()
        )
        parts = [one for one in group.of("share") if not _is_total(one, one)]
        if named and len(parts) > 2 and not any(one in known for one in parts):
            yield _of_one_whole(parts)


def opposites(case: Case) -> Iterator[Tested]:
    """Voluntary and involuntary switches are all; hits ÷ (hits + misses) is the hit rate."""
    for group in case.of_kind("block", "column"):
        for first, second in _OPPOSITES:
            halves = [
                group.having(re.compile(rf"\b{word}\b"), "count", "size", "time")
                for word in (first, second)
            ]
            if not all(halves) or halves[0][0].dimension != halves[1][0].dimension:
                continue
            one, other = (found[0] for found in halves)
            rest = " ".join(group.label(one).replace(first, "").split())
            both = _sum([one.span, other.span])
            for whole in group.figures:
                label = " ".join(re.sub(r"\b(?:total|all)\b", "", group.label(whole)).split())
                if whole.dimension == one.dimension and label == rest and rest:
                    yield tested(
                        other,
                        fits(both, whole.span, 0.002),
                        f"{one.text} ({one.name}) + {other.text} ({other.name}) = "
                        f"{amount(both, one.dimension)}, and “{whole.name}” is {whole.text}.",
                    )
                named = stem_in(first, group.label(whole))
                if whole.dimension == "share" and both.low > 0 and named:
                    formula = f"{one.text} ÷ {amount(both, one.dimension)}"
                    yield follows(whole, [(one.span / both, formula)], 0.01)


def stem_in(word: str, label: str) -> bool:
    return word.removesuffix("s") in label.split() and ("rate" in label or "ratio" in label)


def utilisation(case: Case) -> Iterator[Tested]:
    """CPU time ÷ total time, of one CPU or of several."""
    for group in case.of_kind("block", "row", "column"):
        busy, wholes = group.having(_CPU_TIME, "time"), group.having(_WHOLE, "time")
        for share in group.of("share"):
            beside = share.form == "line" and any(one.line == share.line for one in busy)
            if busy and wholes and (beside or _CPU_LOAD.search(group.label(share))):
                yield follows(share, [
                    (value / exact(n), f"{a.text} ÷ {b.text}")
                    for a in busy for b in wholes for n in range(1, 9)
                    if (value := quotient(a.span, b.span))
                ])  # fmt: skip


# -- statistics ------------------------------------------------------------------------------------

_ORDER = (
    r"\bmin", r"\bp0?[15]\b", r"\bmedian|\bp50", r"\bp75", r"\bp90", r"\bp95", r"\bp99\b",
    r"\bp99\.?9", r"\bmax",
)  # fmt: skip
_MEAN = re.compile(r"\b(?:mean|avg|average)\b")
_SD = re.compile(r"\bst(?:andar)?d?[. ]*dev\w*|\bsd\b|\bstddev|\bdeviation|σ")
_CV = re.compile(r"\bcv\b|coefficient of variation|relative (?:standard )?deviation")
_STATS = re.compile("|".join((*_ORDER, _MEAN.pattern, _SD.pattern, _CV.pattern)))


def _series(case: Case) -> Iterator[tuple[Group, list[Figure]]]:
    """Statistics of one thing: what is left of their labels is the same."""
    for group in case.of_kind("row", "block", "sentence", "column"):
        subjects: dict[str, list[Figure]] = {}
        for one in group.figures:
            label = group.label(one)
            if (one.form == "cell" and one.size is not None) or _STATS.search(label):
                rest = re.sub(r"\W+", " ", _STATS.sub("", label, count=1)).strip()
                rest = (
                    ""
                    if group.kind == "sentence"
                    else re.sub(r"\(.*|\b(ns|us|µs|ms|s)\b", "", rest).strip()
                )
                subjects.setdefault(rest, []).append(one)
        for found in subjects.values():
            if len(found) > 1:
                yield group, found


def order(case: Case) -> Iterator[Tested]:
    """Minimum ≤ median ≤ 95th percentile ≤ maximum, and the mean between the ends."""
    for group, found in _series(case):
        ranked = []
        for pattern in _ORDER:
            which = [one for one in found if re.search(pattern, group.label(one))]
            ranked += which[:1] if len(which) == 1 else []
        means = [one for one in found if _MEAN.search(group.label(one))]
        pairs = list(pairwise(ranked))
        if len(means) == 1 and ranked and re.search(_ORDER[0], group.label(ranked[0])):
            pairs.append((ranked[0], means[0]))
        if len(means) == 1 and ranked and re.search(_ORDER[-1], group.label(ranked[-1])):
            pairs.append((means[0], ranked[-1]))
        for low, high in pairs:
            if low.dimension == high.dimension:
                over = low.span.low > high.span.high
                if low.unit == high.unit and _decimals(low) == _decimals(high):
                    over = low.span.mid > high.span.mid  # rounded alike, they keep their order
                last = max(low, high, key=lambda one: (one.line, one.start))
                yield tested(
                    last, not over, f"{low.text} ({low.name}) is above {high.text} ({high.name})."
                )


def _decimals(one: Figure) -> int:
    return len(one.digits.partition(".")[2])


def _only(group: Group, figures: Sequence[Figure], pattern: re.Pattern[str]) -> Figure | None:
    """The one figure whose label has the pattern; None if there are several."""
    which = [one for one in figures if pattern.search(group.label(one))]
    return which[0] if len(which) == 1 else None


def spread(case: Case) -> Iterator[Tested]:
    """A deviation is less than the range, and ÷ mean it is the coefficient of variation."""
    for group, found in _series(case):
        one_of = partial(_only, group, [one for one in found if not _CV.search(group.label(one))])
        sd, mean = one_of(_SD), one_of(_MEAN)
        low, high = one_of(re.compile(_ORDER[0])), one_of(re.compile(_ORDER[-1]))
        if sd is None or (sd.dimension == "share"):
            continue
        if low is not None and high is not None and low.dimension == sd.dimension == high.dimension:
            over = sd.span.low > high.span.high - low.span.low
            yield tested(
                sd,
                not over,
                f"{sd.name}: {sd.text} is more than all of the range from {low.text} to "
                f"{high.text}.",
            )
        if mean is None or mean.dimension != sd.dimension or mean.span.low <= 0:
            continue
        for cv in group.having(_CV, "share"):
            yield follows(cv, [(sd.span / mean.span, f"{sd.text} ÷ {mean.text}")])


def wide(case: Case) -> Iterator[Tested]:
    """Times are never negative, so a deviation above the mean is made by a few of them."""
    seen: set[str] = set()
    for group, found in _series(case):
        means = [one for one in found if _MEAN.search(group.label(one))]
        sds = [one for one in found if _SD.search(group.label(one)) and one.dimension == "time"]
        if len(means) == 1 and len(sds) == 1 and means[0].dimension == "time":
            over = sds[0].span.low > means[0].span.high > 0 and sds[0].table not in seen
            if over:
                seen.add(sds[0].table)
            yield tested(
                sds[0],
                not over,
                f"{sds[0].name}: a deviation of {sds[0].text} is above the mean, "
                f"{means[0].text}, and no time is below zero: a few outliers make the "
                "mean. Give the median.",
            )


_RUN = re.compile(
    r"\b(?:run|trial|sample|measurement|repetition|rep|try|round|attempt)s? ?#?\d+|^#?\d+$"
)


def repeats(case: Case) -> Iterator[Tested]:
    """The mean and the deviation of values that are listed."""
    for group in (*case.of_kind("row", "column", "sentence"), *case.long):
        for target in group.figures:
            label = group.label(target)
            is_mean, is_sd = (
                bool(_MEAN.search(label)),
                bool(_SD.search(label)) and not _CV.search(label),
            )
            if not is_mean and not is_sd:
                continue
            if group.kind == "sentence":
                values = [
                    one
                    for one in group.of(target.dimension)
                    if one.start < target.start
                    and not _STATS.search(one.row.lower())
                    and re.fullmatch(r"and|[,;.].*", one.column.strip() or ",")
                ]
            else:
                values = [
                    one for one in group.of(target.dimension) if _RUN.search(group.label(one))
                ]
            if len(values) < 3:
                continue
            mids = [one.span.mid for one in values]
            room = sum(one.span.high - one.span.low for one in values) / len(values) / 2
            sample = statistics.stdev(mids)
            results = [statistics.mean(mids)] if is_mean else [sample, statistics.pstdev(mids)]
            spans = [Span(value - room, value, value + room) for value in results]
            what = "mean" if is_mean else "standard deviation"
            yield tested(
                target,
                any(fits(span, target.span) for span in spans),
                f"{target.name}: {target.text} is printed, and the {what} of {len(mids)} "
                f"listed values is {amount(results[0], target.dimension)}.",
            )


# -- bounds, units, copies -------------------------------------------------------------------------


def percent(case: Case) -> Iterator[Tested]:
    """Shares above 100 %, CPU loads above what the named CPUs can carry, negative times."""
    for group in case.of_kind("row", "sentence"):
        for one in group.figures:
            label = f"{group.label(one)} {one.row[-60:]} {one.column[:25]}".lower()
            label = label if one.form == "line" else f"{label} {one.row.lower()}"
            if one.dimension == "share" and _OF_A_WHOLE.search(label) and not is_factor(group, one):
                cores = _cores(case) if _LOAD.search(label) else 1
                over = one.span.low > cores * 1.0001
                more = f" on {cores} CPUs" if cores > 1 else ""
                yield tested(one, not over, f"{one.name}: {one.text} is more than the whole{more}.")
            physical = one.dimension in ("time", "rate", "size")
            if physical and one.span.high < 0 and not _DIFFERENCE.search(label):
                yield Tested(one, f"{one.name}: {one.text} is less than nothing.")


def _cores(case: Case) -> int:
    """The most CPUs that the text names; 1 where it names none."""
    found = [1]
    for text, _ in case.reading.said:
        for match in _CORES.finditer(text):
            word = match[1].lower()
            found.append(_WORDS.get(word, int(word) if word.isdecimal() else 1))
    return max(found)


_ASKED = (
    (re.compile(r"throughput|bandwidth|data rate"), "rate", ("time", "size")),
    (re.compile(r"duration|latency|\btime\b(?! per| share)"), "time", ("rate", "size")),
)


def units(case: Case) -> Iterator[Tested]:
    """Units that can't be those of what is named."""
    squared = [one for one in case.reading.figures if one.unit.endswith("^2")]
    if squared:
        one = squared[0]
        root = amount(math.sqrt(abs(one.span.mid) * 1e3) * 1e-3, "time")
        yield Tested(
            one,
            f"{len(squared)} standard deviations are headed “{one.unit}”, the unit of a "
            f"variance: as one, {one.text} would be a deviation of {root}. A deviation has "
            "the unit of its mean.",
            one.head,
        )
    for group in case.of_kind("row", "block"):
        for one in group.figures:
            for pattern, wanted, wrong in _ASKED:
                if pattern.search(group.label(one)) and not re.search(
                    r" at | for |per |by ", group.label(one)
                ):
                    same = [f for f in group.figures if group.label(f) == group.label(one)]
                    if one.dimension in wrong and len(same) == 1:
                        said = f"{one.text} is a {one.dimension}, and a {wanted} is named."
                        yield Tested(one, f"{one.name}: {said}")


def mixed_units(case: Case) -> Iterator[Tested]:
    """One rate in two units of a row, of which 1000 of the one make 1 of the other."""
    rows: dict[tuple[str, str], list[str]] = {}
    figures: dict[tuple[str, str], Figure] = {}
    for group in case.of_kind("row"):
        for small, large in combinations(group.of("rate", "size"), 2):
            decimal = small.unit in ("kB/s", "KB/s", "kB", "KB") and large.unit in ("MB/s", "MB")
            heads = [
                re.sub(r"\(?\b[kKM]B(?:/s)?\)?", "", one.column).strip() for one in (small, large)
            ]
            if not decimal or small.dimension != large.dimension or heads[0] != heads[1]:
                continue
            if fits(small.span, large.span, 0.0005):
                yield Tested(large)
            else:
                where = (large.table, large.column)
                figures.setdefault(where, large)
                rows.setdefault(where, []).append(
                    f"{small.text} are {amount(small.span, small.dimension)}, not {large.text}"
                )
    for where, shown in rows.items():
        yield Tested(
            figures[where],
            f"{figures[where].name}: {'; '.join(shown)}; of decimal units, 1000 make the next.",
        )


def pasted(case: Case) -> Iterator[Tested]:
    """Rows of one table with the same digits throughout."""
    tables: dict[str, dict[tuple[str, int], list[Figure]]] = {}
    for one in case.reading.figures:
        if one.form == "cell" and one.dimension in ("time", "rate", "time per byte") and one.digits:
            rows = tables.setdefault(one.table, {})
            rows.setdefault((one.row, one.sentence), []).append(one)
    for rows in tables.values():
        shown = []
        first: dict[tuple[tuple[str, str], ...], tuple[str, Figure]] = {}
        for (name, _), cells in rows.items():
            digits = tuple((one.column, one.digits) for one in cells)
            known = sum(len(text.replace(".", "").strip("0")) for _, text in digits)
            if len(cells) > 1 and known >= MANY_DIGITS:
                before, cell = first.setdefault(digits, (name, cells[0]))
                if cell is not cells[0]:
                    names = f"{before or f'line {cell.line}'} = {name or f'line {cells[0].line}'}"
                    shown.append((f"{names} ({cells[0].text})", cells[0]))
        if shown:
            yield Tested(
                shown[0][1],
                "Rows were pasted, their digits are the same in all columns: "
                + "; ".join(text for text, _ in shown)
                + ".",
            )


RULES: tuple[Rule, ...] = (
    Rule("sum", "error", sums),
    Rule("part-above-whole", "error", inside),
    Rule("of-which", "error", of_which),
    Rule("share", "error", shares),
    Rule("opposites", "error", opposites),
    Rule("utilisation", "error", utilisation),
    Rule("order", "error", order),
    Rule("spread", "error", spread),
    Rule("deviation-above-mean", "caution", wide),
    Rule("mean-of-list", "error", repeats),
    Rule("percent", "error", percent),
    Rule("impossible-unit", "error", units),
    Rule("mixed-units", "error", mixed_units),
    Rule("pasted-rows", "error", pasted),
)
