# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: RUF001 (the signs of arithmetic)
"""Rules on parts and wholes, on statistics of one thing, and on what no figure can be."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from teemark.audit.figure import Figure
from teemark.audit.relations import follows, is_factor
from teemark.audit.rule import Case, Group, Rule, Tested, amount, fits, listed, tested
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
_DIFFERENCE = re.compile(r"change|delta|diff|overhead|Δ|offset")
_CORES = re.compile(
    r"\b(one|single|dual|two|quad|four|six|octa|eight|\d{1,3})[- ]"
    r"(?:[\w-]{1,20} )?(?:cores?|cpus?)\b",
    re.I,
)
_CORES_IN_WORDS = {
    "one": 1, "single": 1, "dual": 2, "two": 2, "quad": 4, "four": 4, "six": 6, "octa": 8,
    "eight": 8,
}  # fmt: skip


def _sum(figures: Sequence[Figure]) -> Span:
    return sum((one.span for one in figures), exact(0))


# -- sums ------------------------------------------------------------------------------------------


def sums(case: Case) -> Iterator[Tested]:
    """A row or column "total" is the sum of the others."""
    shares = _share_columns(case)
    for group in (*case.of_kind("row", "column"), *case.long):
        begin = 0
        for index, total in enumerate(group.figures):
            if not _TOTAL.match(group.label(total).strip()):
                continue
            same = (total, *group.figures[begin:index])
            parts = [one for one in same[1:] if one.dimension == total.dimension]
            begin = index + 1
            none = any(_RANKS.search(f"{one.words} {one.table.lower()}") for one in (total, *parts))
            none |= any(is_factor(group, one) for one in parts)
            if none or len(parts) < 2 or total.dimension not in _ADDITIVE or total in shares:
                continue
            value = _sum(parts)
            room = 0.03 if re.search(r"mean|avg|average", total.words) else 0.001
            wrong = f"{total.name}: {total.text} is printed, and the {len(parts)} parts are "
            wrong += f"{amount(value, total.dimension)} together."
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
            and not _RANKS.search(one.words)
        ]
        of = f"the {whole.text} of “{whole.name}”."
        for one in parts:
            small = one.span.low <= whole.span.high * 1.001
            yield tested(one, small, f"{one.name}: {one.text} is more than {of}")
        phases: list[Figure] = []
        for pattern in _PHASES:
            found = [one for one in parts if re.search(pattern, group.label(one))]
            found = [one for one in found if one.span.low <= whole.span.high]
            phases += [one for one in found if len(found) == 1 and one not in phases]
        if len(phases) > 1:
            value = _sum(phases)
            shown = " + ".join(f"{one.text} ({one.name})" for one in phases)
            wrong = f"{shown} are {amount(value, 'time')}, more than {of}"
            yield tested(whole, value.low <= whole.span.high * 1.02, wrong)


def of_which(case: Case) -> Iterator[Tested]:
    """ "400 µs, of which 120 µs …", "2.0 ms in total: 1.6 ms … and 0.9 ms", shares of a time."""
    for group in case.of_kind("sentence"):
        ordered = sorted(group.figures, key=lambda one: one.start)
        for index, (whole, after) in enumerate(pairwise(ordered)):
            starts = whole.row.lower() in ("of", "out of")
            starts |= "of which" in f"{whole.column} {after.row}"
            if starts or re.match(r"in total|altogether|together", whole.column.lower()):
                parts = [one for one in ordered[index + 1 :] if one.dimension == whole.dimension]
                if parts and whole.dimension != "count":
                    value = _sum(parts)
                    wrong = f"{listed([one.text for one in parts])} are "
                    wrong += f"{amount(value, whole.dimension)}, more than the {whole.text} "
                    wrong += "that they are part of."
                    yield tested(whole, value.low <= whole.span.high * 1.001, wrong)
                break
        shares = [one for one in group.of("share") if not is_factor(group, one)]
        words = " ".join(one.words for one in ordered)
        if len(shares) > 2 and _OF_ONE_TIME.search(words):
            value = _sum(shares)
            said = f"{listed([one.text for one in shares])} are {amount(value, 'share')} of one "
            yield tested(shares[-1], value.low <= 1.0, f"{said}whole.")


def _share_columns(case: Case) -> dict[Figure, str]:
    """Shares in a column that are of another column's sum or total, with what is wrong of each."""
    pairs: dict[tuple[str, object, str], list[tuple[Figure, Figure]]] = {}
    for group in case.of_kind("row", "sentence"):
        for share in group.of("share"):
            alone = share.form == "cell" or (not share.row and share.column[:1] in (")", ""))
            if is_factor(group, share) or not alone:
                continue
            for one in group.of("time", "size", "count", "cycles"):
                line = (one.table, one.block, one.dimension)
                where = (one.table, share.column, one.column) if one.form == "cell" else line
                pairs.setdefault(where, []).append((one, share))
    made: dict[Figure, str] = {}
    for found in pairs.values():
        parts = [(one, share) for one, share in found if not _is_total(one, share)]
        if len(parts) < 3:
            continue
        wholes = [_sum([one for one, _ in parts])]
        wholes += [one.span for one, share in found if _is_total(one, share)]
        tried = [_shares_of(whole, parts) for whole in wholes if whole.low > 0]
        good, wrong = max(tried, key=lambda one: one[0], default=(0, {}))
        if good >= max(2, 0.6 * len(parts)):
            made |= {share: wrong.get(share, "") for _, share in found}
    return made


def _shares_of(whole: Span, parts: list[tuple[Figure, Figure]]) -> tuple[int, dict[Figure, str]]:
    """How many of the shares fit that whole, and what is wrong with those that are far off."""
    good, wrong = 0, {}
    for one, share in parts:
        value = one.span / whole
        good += (right := fits(value, share.span, 0.01))
        if not right and not fits(value, share.span, 0.1):
            of = f"{amount(value, 'share')} of {amount(whole, one.dimension)}"
            wrong[share] = f"{share.name}: {share.text} is printed, and {one.text} are {of}."
    return good, wrong


def _is_total(one: Figure, share: Figure) -> bool:
    return bool(_TOTAL.match(one.row.lower())) or share.span.mid == 1.0


def shares(case: Case) -> Iterator[Tested]:
    """A share is its part ÷ the whole."""
    return (Tested(share, wrong) for share, wrong in _share_columns(case).items())


def opposites(case: Case) -> Iterator[Tested]:
    """Voluntary and involuntary switches are all; hits ÷ (hits + misses) is the hit rate."""
    for group in case.of_kind("block", "column"):
        for pair in _OPPOSITES:
            halves = [
                group.having(re.compile(rf"\b{word}\b"), "count", "size", "time") for word in pair
            ]
            if not all(halves) or halves[0][0].dimension != halves[1][0].dimension:
                continue
            one, other = (found[0] for found in halves)
            rest = group.label(one).replace(pair[0], "").split()
            both = _sum([one, other])
            shown = amount(both, one.dimension)
            for whole in group.figures:
                words = group.label(whole).split()
                left = re.sub(r"\b(?:total|all)\b", "", group.label(whole)).split()
                if whole.dimension == one.dimension and left == rest and rest:
                    wrong = f"{one.text} ({one.name}) + {other.text} ({other.name}) = {shown}, "
                    wrong += f"and “{whole.name}” is {whole.text}."
                    yield tested(other, fits(both, whole.span, 0.002), wrong)
                rate = "rate" in words or "ratio" in words
                named = rate and pair[0].removesuffix("s") in words
                if whole.dimension == "share" and both.low > 0 and named:
                    yield follows(whole, [(one.span / both, f"{one.text} ÷ {shown}")], 0.01)


def utilisation(case: Case) -> Iterator[Tested]:
    """CPU time ÷ total time, of one CPU or of several."""
    for group in case.of_kind("block", "row", "column"):
        busy, wholes = group.having(_CPU_TIME, "time"), group.having(_WHOLE, "time")
        values = [
            (a.span / b.span / n, f"{a.text} ÷ {b.text}")
            for a in busy for b in wholes for n in range(1, 9) if b.span.low > 0
        ]  # fmt: skip
        for share in group.of("share") if busy and wholes else ():
            beside = share.form == "line" and any(one.line == share.line for one in busy)
            if beside or _CPU_LOAD.search(group.label(share)):
                yield follows(share, values)


# -- statistics ------------------------------------------------------------------------------------

_ORDER = (
    r"\bmin", r"\bp0?[15]\b", r"\bmedian|\bp50", r"\bp75", r"\bp90", r"\bp95", r"\bp99\b",
    r"\bp99\.?9", r"\bmax",
)  # fmt: skip
_MEAN = r"\b(?:mean|avg|average)\b"
_SD = r"\bst(?:andar)?d?[. ]*dev\w*|\bsd\b|\bstddev|\bdeviation|σ"
_CV = r"\bcv\b|coefficient of variation|relative (?:standard )?deviation"
_STATS = re.compile("|".join((*_ORDER, _MEAN, _SD, _CV)))
_RUN = re.compile(
    r"\b(?:run|trial|sample|measurement|repetition|rep|try|round|attempt)s? ?#?\d+|^#?\d+$"
)


class _Series:
    """Statistics of one thing: what is left of their labels is the same."""

    def __init__(self, group: Group, figures: list[Figure]) -> None:
        self.group = group
        self.figures = figures

    def only(self, pattern: str) -> Figure | None:
        """The one figure whose label has the pattern; None if there are several."""
        which = [one for one in self.figures if re.search(pattern, self.group.label(one))]
        return which[0] if len(which) == 1 else None


def _series(case: Case) -> Iterator[_Series]:
    for group in case.of_kind("row", "block", "sentence", "column"):
        subjects: dict[str, list[Figure]] = {}
        for one in group.figures:
            label = group.label(one)
            if (one.form == "cell" and one.size is not None) or _STATS.search(label):
                rest = re.sub(r"\W+", " ", _STATS.sub("", label, count=1)).strip()
                rest = re.sub(r"\(.*|\b(ns|us|µs|ms|s)\b", "", rest).strip()
                subjects.setdefault("" if group.kind == "sentence" else rest, []).append(one)
        yield from (_Series(group, found) for found in subjects.values() if len(found) > 1)


def order(case: Case) -> Iterator[Tested]:
    """Minimum ≤ median ≤ 95th percentile ≤ maximum, and the mean between the ends."""
    for series in _series(case):
        ranked = [one for one in map(series.only, _ORDER) if one is not None]
        ends = (series.only(_ORDER[0]), series.only(_MEAN), series.only(_ORDER[-1]))
        for low, high in (*pairwise(ranked), *pairwise(ends)):
            if low is not None and high is not None and low.dimension == high.dimension:
                over = low.span.low > high.span.high
                if low.unit == high.unit and _decimals(low) == _decimals(high):
                    over = low.span.mid > high.span.mid  # rounded alike, they keep their order
                last = max(low, high, key=lambda one: (one.line, one.start))
                wrong = f"{low.text} ({low.name}) is above {high.text} ({high.name})."
                yield tested(last, not over, wrong)


def _decimals(one: Figure) -> int:
    return len(one.digits.partition(".")[2])


def spread(case: Case) -> Iterator[Tested]:
    """A deviation is less than the range, and ÷ mean it is the coefficient of variation."""
    for series in _series(case):
        group = series.group
        cvs = group.having(re.compile(_CV), "share")
        rest = [one for one in series.figures if not re.search(_CV, group.label(one))]
        sd, mean, low, high = map(_Series(group, rest).only, (_SD, _MEAN, _ORDER[0], _ORDER[-1]))
        if sd is None or sd.dimension == "share":
            continue
        if low is not None and high is not None and low.dimension == sd.dimension == high.dimension:
            wrong = f"{sd.name}: {sd.text} is more than all of the range from {low.text} to "
            small = sd.span.low <= high.span.high - low.span.low
            yield tested(sd, small, f"{wrong}{high.text}.")
        if mean is not None and mean.dimension == sd.dimension and mean.span.low > 0:
            for cv in cvs:
                yield follows(cv, [(sd.span / mean.span, f"{sd.text} ÷ {mean.text}")])


def repeats(case: Case) -> Iterator[Tested]:
    """The mean and the deviation of values that are listed."""
    for group in (*case.of_kind("row", "column", "sentence"), *case.long):
        for target in group.figures:
            label = group.label(target)
            is_mean = bool(re.search(_MEAN, label))
            if not is_mean and (not re.search(_SD, label) or re.search(_CV, label)):
                continue
            values = [
                one.span
                for one in group.of(target.dimension)
                if (
                    one.start < target.start
                    and not _STATS.search(one.row.lower())
                    and re.fullmatch(r"and|[,;.].*", one.column.strip() or ",")
                    if group.kind == "sentence"
                    else _RUN.search(group.label(one))
                )
            ]
            if len(values) < 3:
                continue
            mids = [one.mid for one in values]
            room = sum(one.high - one.low for one in values) / len(values) / 2
            kinds = (statistics.stdev, statistics.pstdev)
            results = [statistics.mean(mids)] if is_mean else [of(mids) for of in kinds]
            good = any(fits(Span(v - room, v, v + room), target.span) for v in results)
            wrong = f"{target.name}: {target.text} is printed, and the "
            wrong += f"{'mean' if is_mean else 'standard deviation'} of {len(mids)} listed values "
            yield tested(target, good, f"{wrong}is {amount(results[0], target.dimension)}.")


# -- bounds, units, copies -------------------------------------------------------------------------


def percent(case: Case) -> Iterator[Tested]:
    """Shares above 100 %, CPU loads above what the named CPUs can carry, negative times."""
    for group in case.of_kind("row", "sentence"):
        for one in group.figures:
            label = f"{group.label(one)} {one.row[-60:]} {one.column[:25]}".lower()
            label = label if one.form == "line" else f"{label} {one.row.lower()}"
            if one.dimension == "share" and _OF_A_WHOLE.search(label) and not is_factor(group, one):
                cores = _cores(case) if _LOAD.search(label) else 1
                more = f" on {cores} CPUs" if cores > 1 else ""
                wrong = f"{one.name}: {one.text} is more than the whole{more}."
                yield tested(one, one.span.low <= cores * 1.0001, wrong)
            physical = one.dimension in ("time", "rate", "size")
            if physical and one.span.high < 0 and not _DIFFERENCE.search(label):
                yield Tested(one, f"{one.name}: {one.text} is less than nothing.")


def _cores(case: Case) -> int:
    """The most CPUs that the text names; 1 where it names none."""
    words = [match[1].lower() for text, _ in case.reading.said for match in _CORES.finditer(text)]
    known = _CORES_IN_WORDS
    return max((int(word) if word.isdecimal() else known[word] for word in words), default=1)


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
        wrong = f"{len(squared)} standard deviations are headed “{one.unit}”, the unit of a "
        wrong += f"variance: as one, {one.text} would be a deviation of {root}. A deviation has "
        yield Tested(one, f"{wrong}the unit of its mean.", one.head)
    for group in case.of_kind("row", "block"):
        labels = [group.label(one) for one in group.figures]
        for one, label in zip(group.figures, labels, strict=True):
            for pattern, wanted, others in _ASKED:
                named = pattern.search(label) and not re.search(r" at | for |per |by ", label)
                if named and one.dimension in others and labels.count(label) == 1:
                    said = f"{one.text} is a {one.dimension}, and a {wanted} is named."
                    yield Tested(one, f"{one.name}: {said}")


def mixed_units(case: Case) -> Iterator[Tested]:
    """One rate in two units of a row, of which 1000 of the one make 1 of the other."""
    wrong: dict[tuple[str, str], tuple[Figure, list[str]]] = {}
    for group in case.of_kind("row"):
        for small, large in combinations(group.of("rate", "size"), 2):
            heads = {
                re.sub(r"\(?\b[kKM]B(?:/s)?\)?", "", one.column).strip() for one in (small, large)
            }
            decimal = (small.unit.lower(), large.unit) in (("kb/s", "MB/s"), ("kb", "MB"))
            if not decimal or len(heads) > 1:
                continue
            if fits(small.span, large.span, 0.0005):
                yield Tested(large)
            else:
                said = f"{small.text} are {amount(small.span, small.dimension)}, not {large.text}"
                wrong.setdefault((large.table, large.column), (large, []))[1].append(said)
    for one, shown in wrong.values():
        yield Tested(one, f"{one.name}: {'; '.join(shown)}; of decimal units, 1000 make the next.")


def pasted(case: Case) -> Iterator[Tested]:
    """Rows of one table with the same digits throughout."""
    tables: dict[str, dict[tuple[str, int], list[Figure]]] = {}
    for one in case.reading.figures:
        if one.form == "cell" and one.dimension in ("time", "rate", "time per byte") and one.digits:
            rows = tables.setdefault(one.table, {})
            rows.setdefault((one.row, one.sentence), []).append(one)
    for rows in tables.values():
        shown: list[tuple[str, Figure]] = []
        first: dict[tuple[tuple[str, str], ...], Figure] = {}
        for cells in rows.values():
            digits = tuple((one.column, one.digits) for one in cells)
            known = sum(len(text.replace(".", "").strip("0")) for _, text in digits)
            if len(cells) > 1 and known >= MANY_DIGITS:
                before, cell = first.setdefault(digits, cells[0]), cells[0]
                if cell is not before:
                    names = " = ".join(one.row or f"line {one.line}" for one in (before, cell))
                    shown.append((f"{names} ({cell.text})", cell))
        if shown:
            said = "Rows were pasted, their digits are the same in all columns: "
            yield Tested(shown[0][1], f"{said}{'; '.join(text for text, _ in shown)}.")


RULES: tuple[Rule, ...] = (
    Rule("sum", "error", sums),
    Rule("part-above-whole", "error", inside),
    Rule("of-which", "error", of_which),
    Rule("share", "error", shares),
    Rule("opposites", "error", opposites),
    Rule("utilisation", "error", utilisation),
    Rule("order", "error", order),
    Rule("spread", "error", spread),
    Rule("mean-of-list", "error", repeats),
    Rule("percent", "error", percent),
    Rule("impossible-unit", "error", units),
    Rule("mixed-units", "error", mixed_units),
    Rule("pasted-rows", "error", pasted),
)
