# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: RUF001 (the signs of arithmetic)
"""Rules that need the figures alone: what follows from what, and what can't be together."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import combinations, permutations

from teemark.audit.figures import (
    SAME_THING,
    SUMMARY,
    Figure,
    Paper,
    Record,
    algorithm_in,
    dimension_of,
)
from teemark.audit.finding import OTHER_TABLE, Case, Rule, Said, Shown, together
from teemark.audit.sheet import Cell
from teemark.audit.words import amount, listed, number
from teemark.reference.span import Span, exact

SIGMAS = 4
"""Standard errors that a difference of means must have: 1 in 30,000 by chance."""
MANY_DIGITS = 10
"""Digits in all that two rows must share: one pair in ten thousand million by chance."""
BINARY = 2**20 / 10**6
"""A megabyte is printed for a mebibyte everywhere."""

IDENTITIES: tuple[tuple[str, str], ...] = (
    ("utilisation", "CPU time ÷ total"),
    ("io ratio", "reading ÷ hashing"),
    ("switches", "voluntary + involuntary"),
    ("chunks", "size ÷ chunk, rounded up"),
    ("per operation", "total ÷ operations"),
    ("per call", "overhead ÷ calls"),
    ("hashing share", "hashing ÷ total"),
    ("reading share", "reading ÷ total"),
    ("overhead share", "overhead ÷ total"),
    ("rate", "operations × size ÷ time"),
    ("rate", "operations × size ÷ mean"),
    ("rate", "size ÷ hashing"),
    ("rate", "size ÷ time"),
    ("rate", "size ÷ mean"),
    ("rate", "1 ÷ per byte"),
    ("cv", "deviation ÷ mean"),
    ("bytes done", "operations × size"),
    ("per second", "1 ÷ time"),
    ("tiny overhead", "per call ÷ smallest"),
    ("large overhead", "per call ÷ chunk"),
)
"""Quantities that follow from others: computed from left to right, the first that applies."""

OVERHEADS = ("total − reading − hashing", "TEE time − hashing")
"""What documents call overhead."""

_SIGN = re.compile(r" ([÷×+−]) ")


def _computed(
    paper: Paper, record: Record, formula: str, near: Cell | None = None, *, loose: bool = True
) -> tuple[Span, list[Figure]] | None:
    """None if an input isn't there, or may be nothing and is divided by."""
    terms = _SIGN.split(formula.removesuffix(", rounded up"))
    value: Span | None = None
    inputs = []
    for sign, term in zip(["", *terms[1::2]], terms[::2], strict=True):
        if term == "1":
            value = exact(1)
            continue
        figure = _size(paper, record, near) if term == "size" else record.get(term, near)
        if figure is None:
            return None
        inputs.append(figure)
        span = _loose(figure, near) if loose else figure.span
        if value is None:
            value = span
        elif sign == "÷" and span.low <= 0:
            return None
        else:
            value = {
                "÷": lambda a, b: a / b, "×": lambda a, b: a * b,
                "+": lambda a, b: a + b, "−": lambda a, b: a - b,
            }[sign](value, span)  # fmt: skip
    if value is not None and formula.endswith("up"):
        value = exact(math.ceil(value.mid))
    return None if value is None else (value, inputs)


def _size(paper: Paper, record: Record, near: Cell | None) -> Figure | None:
    """Of the record, or the one size that the table or the document names for all."""
    named = paper.records.get(("", None))
    common = named.figures.get("size", []) if named is not None else []
    here = [one for one in common if near and one.cell.table == near.table] or common
    return record.get("size", near) or (here[0] if len(here) == 1 else None)


def _loose(figure: Figure, near: Cell | None) -> Span:
    """With room for a binary megabyte, and for another run if it is of another table."""
    span, dimension = figure.span, figure.measure.dimension
    if dimension == "size" and figure.measure.unit in ("kB", "KB", "MB", "GB"):
        return Span(span.low, span.mid, span.high * BINARY)
    if (near is None or figure.cell.table != near.table) and dimension not in ("count", "size"):
        room = OTHER_TABLE * abs(span.mid)
        return Span(span.low - room, span.mid, span.high + room)
    return span


def derived(paper: Paper, _case: Case) -> Iterator[Said]:
    """Each figure that follows from others, recomputed with the rounding of all of them."""
    for record in paper.records.values():
        for target in record:
            found = [
                (formula, computed)
                for quantity, formula in IDENTITIES
                if quantity == target.quantity
                and (computed := _computed(paper, record, formula, target.cell))
            ]
            if found and not found[0][1][0].overlaps(target.span):
                formula, (value, inputs) = found[0]
                shown = listed([f"{one.text} ({one.name})" for one in inputs])
                yield (
                    f"{target.name}: {target.text} is printed, but {formula} = "
                    f"{amount(value, target.measure.dimension)}, from {shown}.",
                    target,
                )


def factors(paper: Paper, _case: Case) -> Iterator[Said]:
    """A column of factors or percentages compares two others of its row."""
    rows: dict[tuple[str, str], list[Figure]] = {}
    for one in paper.figures:
        rows.setdefault((one.cell.table, one.cell.row), []).append(one)
    for row in rows.values():
        pairs = [
            (one, other)
            for one, other in permutations([one for one in row if one.span.low > 0], 2)
            if one.measure.dimension == other.measure.dimension != "factor"
        ]
        for figure in [one for one in row if one.quantity == "factor"] if pairs else []:
            less = 1 if figure.measure.dimension == "share" else 0
            fits = [(one.span / other.span - less).overlaps(figure.span) for one, other in pairs]
            if not any(fits):
                one, other = max(pairs, key=lambda pair: pair[0].span.mid / pair[1].span.mid)
                ratio = one.span / other.span - less
                yield (
                    f"{figure.name}: {figure.text} is printed, but {one.text} and {other.text} "
                    f"of its row differ by {amount(ratio, figure.measure.dimension)}.",
                    figure,
                )


def two_formulas(paper: Paper, _case: Case) -> Iterator[Said]:
    """Overhead is a difference: is it the same difference everywhere?"""
    fitting: dict[str, tuple[Figure, str]] = {}
    for record in paper.records.values():
        for figure in record.figures.get("overhead", []):
            values: dict[str, Span] = {}
            fits: list[str] = []
            for loose in (False, True):  # as printed; only if that doesn't do, with noise
                if not fits:
                    values = {
                        formula: computed[0]
                        for formula in OVERHEADS
                        if (computed := _computed(paper, record, formula, loose=loose))
                    }
                    fits = [name for name, span in values.items() if span.overlaps(figure.span)]
            others = [
                f"{name} = {amount(value, 'time')}"
                for name, value in values.items()
                if name not in fits
            ]
            if values and not fits:
                yield f"{figure.name}: {figure.text} is printed, but {listed(others)}.", figure
            elif len(fits) == 1 and others:
                text = f"{figure.text} ({figure.name}) is {fits[0]}, where {others[0]}"
                fitting.setdefault(fits[0], (figure, text))
    if len(fitting) > 1:
        shown = "; ".join(text for _, text in fitting.values())
        yield f"One word, two formulas: {shown}.", list(fitting.values())[-1][0]


def latency(paper: Paper, _case: Case) -> Iterator[Said]:
    shown: Shown = []
    for record in paper.records.values():
        figure, compute = record.get("latency"), record.get("hashing")
        computed = _computed(paper, record, "total ÷ calls")
        calls = record.get("calls")
        if figure is None or computed is None or calls is None or calls.span.mid < 2:
            continue
        if computed[0].overlaps(figure.span):
            text = f"{' ÷ '.join(one.text for one in computed[1])} = {figure.text}"
            if compute is not None:
                text += f", of which {amount(compute.span / calls.span, 'time')} is hashing"
            shown.append((text, figure))
    yield from together(
        "The latency of a call is the total time divided by the number of calls, so it grows with "
        "what a call carries: ",
        shown,
    )


PARTS: tuple[tuple[str, str], ...] = (
    ("reading + TEE time", "total"),
    ("reading + hashing", "total"),
    ("hashing", "TEE time"),
    ("hashing share + overhead share + reading share", ""),
    ("min", "mean"),
    ("mean", "max"),
)


def parts(paper: Paper, case: Case) -> Iterator[Said]:
    step = case.reference.constant("tee-clock-step") * 1e-6
    tables: dict[str, Shown] = {}
    for record in paper.records.values():
        for formula, whole in PARTS:
            of = record.get(whole)
            computed = _computed(paper, record, formula, of.cell if of else None)
            if computed is None or (whole and of is None):
                continue
            value, pieces = computed
            limit = of.span.high if of is not None else 1.0
            room = step if "hashing" in formula or "TEE time" in formula else 0.0
            if value.low > limit * (1 + 1e-9) + room:
                text = " + ".join(f"{one.text} ({one.name})" for one in pieces)
                if len(pieces) > 1:
                    text += f" = {amount(value, pieces[0].measure.dimension)}"
                text += f" > {of.text} ({of.name})" if of is not None else " > 100 %"
                tables.setdefault(pieces[0].cell.table, []).append((text, pieces[0]))
                break
    for shown in tables.values():
        yield from together("Parts exceed their whole, or one contains the other: ", shown)
    yield from together(
        "A call alone exceeds the call with what leads to it: ", list(_brackets(paper))
    )


def _brackets(paper: Paper) -> Iterator[Said]:
    """Rows "x (all)" and "x (inv)": all contains the other; means may cross by noise."""
    runs = paper.common("runs")
    n = max(runs.span.mid, 1.0) if runs is not None else 1.0
    for record in paper.records.values():
        part = paper.records.get((record.name.replace("(all)", "(inv)"), record.size))
        if "(all)" not in record.name or part is None:
            continue
        whole, mean = record.get("mean"), part.get("mean")
        sds = [
            one.span.mid
            for one in (record.get("deviation"), part.get("deviation"))
            if one is not None
        ]
        if whole is None or mean is None or len(sds) < 2:
            continue
        apart = (mean.span.low - whole.span.high) / max(math.hypot(*sds) / math.sqrt(n), 1e-15)
        if apart > SIGMAS:
            yield (
                f"{mean.name} {mean.text} > {whole.text}, {number(apart, 2)} standard errors",
                mean,
            )


def pasted(paper: Paper, _case: Case) -> Iterator[Said]:
    """Rows of one table with the same digits throughout."""
    tables: dict[str, dict[str, list[Figure]]] = {}
    for figure in paper.figures:
        if figure.measure.dimension in ("time", "rate", "time per byte"):
            tables.setdefault(figure.cell.table, {}).setdefault(figure.cell.row, []).append(figure)
    for rows in tables.values():
        shown: Shown = []
        for (one, cells), (other, others) in combinations(rows.items(), 2):
            digits = [(figure.cell.column, figure.measure.digits) for figure in cells]
            if digits == [(figure.cell.column, figure.measure.digits) for figure in others]:
                known = sum(len(text.replace(".", "").strip("0")) for _, text in digits)
                if len(cells) > 1 and known >= MANY_DIGITS:
                    shown.append((f"{one} = {other} ({cells[0].text})", cells[0]))
        yield from together("Rows were pasted, their digits are the same in all columns: ", shown)


_PHYSICAL = ("time", "rate", "size")


def units(paper: Paper, _case: Case) -> Iterator[Said]:
    squared = [one for one in paper.figures if one.measure.unit.endswith("^2")]
    if squared:
        one = squared[0]
        yield (
            f"{len(squared)} standard deviations are headed “{one.measure.unit}”, the unit of a "
            f"variance: as one, {one.text} would be a deviation of "
            f"{amount(math.sqrt(one.span.mid * 1e3) * 1e-3, 'time')}. A deviation has the unit of "
            "its mean.",
            one,
        )
    for figure in paper.figures:
        wanted, has = dimension_of(figure.quantity), figure.measure.dimension
        if wanted in _PHYSICAL and has in _PHYSICAL and wanted != has:
            yield f"{figure.name}: {figure.text} is a {has}, and a {wanted} is asked for.", figure
        elif has in _PHYSICAL and figure.span.high < 0 and figure.quantity != "overhead":
            yield f"{figure.name}: {figure.text} is less than nothing.", figure


def deviations(paper: Paper, _case: Case) -> Iterator[Said]:
    """Times are never negative, so a deviation above the mean is made by a few of them."""
    count = paper.common("runs")
    tables: dict[str, Shown] = {}
    for record in paper.records.values():
        mean, sd = record.get("mean"), record.get("deviation")
        if mean is None or sd is None or sd.span.low <= mean.span.high:
            continue
        text = f"{mean.name} {mean.text} ± {sd.text}"
        if count is not None and (n := count.span.mid) > 1:
            one = mean.span.mid + sd.span.mid * (n - 1) / math.sqrt(n)
            text += f", as one of {number(n)} at {amount(one, 'time', 3)} would give"
        tables.setdefault(mean.cell.table, []).append((text, mean))
    for shown in tables.values():
        yield from together(
            "A deviation above its mean, so a few values carry the mean and a median would show "
            "the rest: ",
            shown,
        )


def mixed_units(paper: Paper, _case: Case) -> Iterator[Said]:
    """One figure in two units that differ by 1024 where the units say 1000."""
    shown: Shown = []
    for record in paper.records.values():
        for one, other in combinations(record.figures.get("rate", []), 2):
            small, large = sorted((one, other), key=lambda figure: figure.measure.step)
            if one.cell.table != other.cell.table or small.span.overlaps(large.span):
                continue
            if (small.span * (1000 / 1024)).overlaps(large.span):
                mega, mebi = number(small.span.mid / 1e6, 6), number(small.span.mid / 2**20, 5)
                text = f"{small.text} is {mega} MB/s or {mebi} MiB/s, not {large.text}"
                shown.append((f"{large.cell.row}: {text}", large))
    yield from together("Thousands were divided by 1024: ", shown)


def two_figures(paper: Paper, case: Case) -> Iterator[Said]:
    """One thing, given twice and not alike: in this document, or in another of the same core."""
    for record in paper.records.values():
        for quantity, (one, *others) in record.figures.items():
            for other in others if record.name and quantity not in ("", "factor") else []:
                room = SAME_THING * abs(one.span.mid) * (one.measure.dimension != "count")
                if one.cell.table == other.cell.table:
                    room = 0.03 * abs(one.span.mid) * (quantity == "rate")  # mixed_units' part
                    again = (one.cell.row, one.cell.column) == (other.cell.row, other.cell.column)
                else:
                    again = not SUMMARY.search(one.cell.table + other.cell.table)
                if again:  # another measurement
                    continue
                if not Span(one.span.low - room, 0, one.span.high + room).overlaps(other.span):
                    yield (
                        f"One thing, two figures: {one.text} ({one.name}, {one.cell.table}) and "
                        f"{other.text} ({other.name}, {other.cell.table}).",
                        other,
                    )
    for said, dimension, apart in ((_per_call, "time", 5.0), (_lost, "share", 5.0)):
        for rival in case.papers:
            ours, theirs = said(paper), said(rival)
            if rival is paper or not paper.core or rival.core != paper.core:
                continue
            if ours is None or theirs is None or min(ours[0].high, theirs[0].high) <= 0:
                continue
            ratio = max(ours[0].low / theirs[0].high, theirs[0].low / ours[0].high)
            if ratio > apart:
                yield (
                    f"{ours[1]} is {amount(ours[0], dimension)} here, and "
                    f"{amount(theirs[0], dimension)} in “{rival.sheet.title}” on the same core: "
                    f"at least {number(ratio, 2)} times apart.",
                    ours[2],
                )


def _per_call(paper: Paper) -> tuple[Span, str, Figure] | None:
    """What a call costs beside the hashing: as said, or from share, time and calls."""
    for record in paper.records.values():
        if (figure := record.get("per call")) is not None:
            return figure.span, "The overhead of a call", figure
    for record in paper.records.values():
        share = record.get("overhead share")
        computed = _computed(paper, record, "hashing × overhead share ÷ calls")
        if share is not None and computed is not None and share.span.high < 1:
            words = f"The overhead of a call, {' × '.join(one.text for one in computed[1][:2])} of "
            words += f"the total ÷ {computed[1][2].text} calls,"
            return computed[0] / (exact(1) - share.span), words, share
    return None


def _lost(paper: Paper) -> tuple[Span, str, Figure] | None:
    """The part of the time that isn't hashing."""
    for record in paper.records.values():
        if (figure := record.get("efficiency")) is not None:
            lost = Span(0.0, 1 - figure.span.mid, max(1 - figure.span.low, 1e-9))
            return lost, f"What is left by an efficiency of {figure.text}", figure
        if (figure := record.get("overhead share")) is not None:
            return figure.span, "The overhead's share", figure
    return None


def clock_step(paper: Paper, case: Case) -> Iterator[Said]:
    """Times that are all multiples of a coarser step than they are printed in."""
    step = case.reference.constant("tee-clock-step") * 1e-6
    times = [
        one
        for one in paper.figures
        if one.quantity in ("hashing", "TEE time", "ree") and one.measure.step * 10 <= step
    ]
    if len(times) < 3 or not all(_is_multiple(one.span.mid, step) for one in times):
        return
    for figure in [one for one in paper.figures if one.quantity == "overhead"]:
        value = figure.span.mid
        if _is_multiple(value, step) and 0 < value < 20 * step:
            yield (
                f"All {len(times)} times of the TEE are multiples of {amount(step, 'time')}, its "
                f"clock's step. {figure.name}: {figure.text} is a difference of two of them, known "
                f"to ± {amount(2 * step, 'time')}, {number(200 * step / value, 2)} % of itself.",
                figure,
            )
            return


def _is_multiple(value: float, step: float) -> bool:
    return abs(value / step - round(value / step)) < 1e-6


def counts(paper: Paper, case: Case) -> Iterator[Said]:
    """Calls and RPCs that were counted by hand."""
    needed = case.reference.constant("ree-time-readings")
    calls: Shown = []
    rpcs: Shown = []
    for record in paper.records.values():
        counted, log = record.get("calls"), record.get("commands")
        if counted is not None and log is not None and log.span.mid > counted.span.mid:
            text = f"{record.name}: {counted.text} counted, {log.text} in the log"
            calls.append((text, counted))
        rpc, ree = record.get("rpcs"), record.get("ree")
        if rpc is not None and ree is not None and rpc.span.mid < needed:
            text = f"{rpc.text} for {ree.name}, a difference of {number(needed)} times, each an RPC"
            rpcs.append((text, rpc))
    yield from together("Calls are left out: ", calls)
    yield from together("RPCs are left out, and those of loading the TA: ", rpcs)


def _kind(figure: Figure) -> tuple[str, str, str]:
    return figure.quantity, figure.cell.table, algorithm_in(figure.name)


def few_runs(paper: Paper, case: Case) -> Iterator[Said]:
    """Is a difference shown that so few runs can't bear?"""
    needed = case.reference.constant("samples-for-interval")
    runs = paper.common("runs")
    if runs is None or runs.span.mid >= needed:
        return
    times = [one for one in paper.figures if one.quantity in ("hashing", "time", "total")]
    for one, other in combinations(times, 2):
        alike = _kind(one) == _kind(other)
        apart = abs(one.span.mid / other.span.mid - 1) if other.span.mid > 0 else 1.0
        if alike and apart < SAME_THING:
            inferred = f" (inferred: {runs.cell.inferred})" if runs.cell.inferred else ""
            yield (
                f"{one.text} ({one.name}) and {other.text} ({other.name}) differ by "
                f"{number(100 * apart, 2)} % and rest on {runs.text} run of each{inferred}. Below "
                f"{number(needed)} runs the median has no 95 % interval, so chance isn't ruled "
                "out.",
                one,
            )
            return


RULES: tuple[Rule, ...] = (
    Rule("derived", "error", derived),
    Rule("factor", "error", factors),
    Rule("two-formulas", "error", two_formulas),
    Rule("mean-called-latency", "warning", latency),
    Rule("part-above-whole", "error", parts),
    Rule("pasted-rows", "error", pasted),
    Rule("impossible-unit", "error", units),
    Rule("deviation-above-mean", "warning", deviations),
    Rule("mixed-units", "error", mixed_units),
    Rule("two-figures", "error", two_figures),
    Rule("clock-step", "warning", clock_step),
    Rule("left-out", "error", counts),
    Rule("few-runs", "warning", few_runs),
)
