# SPDX-License-Identifier: BSD-2-Clause
"""The words of a comparison: for the terminal, the report and a merge request alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from teemark.base import fmt
from teemark.findings.subject import Subject
from teemark.model.compare import (
    ALPHA,
    EMULATED,
    FEW_STARTS,
    MARGIN,
    SCATTERED,
    Comparison,
    Difference,
    Explanation,
    Limit,
    compare,
    explain,
    starts_needed,
)
from teemark.page import figures
from teemark.run.reader import RunData
from teemark.trace.difference import Change, changes
from teemark.trace.profile import CaseTrace

FUNCTIONS = 3
"""Named for a case."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Two subjects, what differs, and why."""

    base: Subject
    other: Subject
    found: Comparison
    explanations: tuple[Explanation, ...]
    traces: tuple[tuple[CaseTrace, CaseTrace], ...]
    """Of the cases of which both have one, and which differ."""


def compared(base: Subject, other: Subject) -> Compared:
    found = compare(base.run, other.run)
    traces = []
    for case in other.trace.cases if other.trace is not None else ():
        before = base.trace.case(case.case) if base.trace is not None else None
        if before is not None and changes(before, case):
            traces.append((before, case))
    return Compared(base, other, found, explain(found, base.models, other.models), tuple(traces))


def names(run: RunData) -> str:
    """Which run that is."""
    if run.run is None:
        return run.file
    return f"{run.run.plan} on {run.run.board}, {run.run.started} ({run.file})"


def failures(found: Comparison, limit: Limit) -> list[str]:
    """Why a comparison fails: cases that are worse by the limit, and cases that are gone."""
    said = [
        f"{one.name}: {change(one)} ({added(found.second, one.added)} a call)"
        for one in found.worst_first
        if limit.broken(one)
    ]
    return said + [f"{case}: not measured any more" for case in found.lost]


def result(found: Comparison, limit: Limit) -> str:
    """Pass or fail, a sentence."""
    failed = failures(found, limit)
    if failed:
        return f"FAIL: {fmt.plural(len(failed), 'case')} worse by {limit} or more, or gone."
    if found.of("undecided"):
        sampled = found.sampled
        few = any(one.least_p > ALPHA / len(sampled) for one in sampled)
        return (
            f"PASS: no case is known to be worse by {limit} or more; "
            f"{len(found.of('undecided'))} undecided{f': {_alone(found)}' if few else ''}."
        )
    return f"PASS: no case is worse by {limit} or more."


def change(one: Difference) -> str:
    """How much more or less, relative; with half its interval where there is one."""
    if one.exact:
        return "0" if one.identical else signed(one.change)
    interval = one.ratio.interval
    if interval is None:
        return f"{signed(one.change)} ±?"
    return f"{signed(one.change)} ±{fmt.digits(50 * interval.width, 2)}"


def signed(value: float) -> str:
    """A relative difference to three digits, as far as a hundredth of a per cent."""
    sign = "+" if value > 0 else fmt.MINUS
    share = abs(value) * 100
    digits = 3 if share >= 1 else 2 if share >= 0.1 else 1
    return f"{sign}{fmt.digits(share, digits)}{fmt.THIN}%" if value else f"0{fmt.THIN}%"


def added(run: RunData, ns: float) -> str:
    """A difference in instructions or time, with its sign and unit."""
    sign = "+" if ns > 0 else fmt.MINUS
    if run.icount:
        return f"{sign}{figures.instructions(abs(ns))} instructions"
    return f"{sign}{fmt.duration(abs(ns))}"


def judgement(one: Difference) -> str:
    """The verdict in a word, or in the few that a decision takes."""
    if one.verdict == "same" and one.exact and not one.identical:
        return "same (boots)"
    return one.verdict


def outcome(found: Comparison) -> str:
    """How many cases became what."""
    counts = [
        f"{len(found.of(verdict))} {verdict}"
        for verdict in ("worse", "better", "same", "undecided")
    ]
    return f"{fmt.plural(len(found.pairs), 'case')} compared: {', '.join(counts)}."


def remarks(found: Comparison) -> list[str]:
    """What a reader must know of how it was judged."""
    said = []
    if found.exact:
        close = [one for one in found.of("same") if not one.identical]
        if close:
            worst = max(close, key=lambda one: abs(one.change))
            said.append(
                f"{fmt.plural(len(close), 'case')} of those that are the same "
                f"{'is' if len(close) == 1 else 'are'} apart by at most "
                f"{fmt.percent(abs(worst.change))}, as two boots of one build are: "
                f"{worst.name}: {worst.reason}."
            )
    elif found.blind is not None:
        said.append(f"Nothing is called better or worse: {found.blind}; {remedy(found)}.")
    else:
        said.append(
            f"± is half of the 95{fmt.THIN}% interval. Better and worse: the interval leaves 0 "
            f"out, and a rank test (Mann and Whitney) of the starts says so; its levels are "
            "corrected for the number of cases (Benjamini and Hochberg), so that of all that is "
            f"called better or worse 5{fmt.THIN}% may be chance. Same: the whole interval is "
            f"within {fmt.percent(MARGIN)}. The starts of a run follow each other: what differs "
            "from day to day isn't in their interval."
        )
        undecided = found.of("undecided")
        if undecided:
            known = [one.more for one in undecided if one.more is not None]
            if known:
                said.append(
                    f"Undecided: about {fmt.plural(max(known), 'start')} more of each run would "
                    "decide "
                    + (
                        "all of them."
                        if len(known) == len(undecided)
                        else f"{len(known)} of {len(undecided)}; the others are too near to 1 %, "
                        "or to a time of 0."
                    )
                )
    for what, cases in (("the first", found.lost), ("the second", found.new)):
        if cases:
            said.append(
                f"Only {what} run measured {fmt.plural(len(cases), 'case')}: {_some(cases)}."
            )
    return said


def remedy(found: Comparison) -> str:
    """What to do where nothing is decided."""
    if found.blind == EMULATED:
        return "measure on qemu-v8-icount, which counts instructions, or on hardware"
    if found.blind == SCATTERED:
        return "measure cases that don't wait, too"
    starts = starts_needed(len(found.sampled))
    return f"measure both with `teemark run --rounds {starts}`: {_alone(found)}"


def _alone(found: Comparison) -> str:
    cases = len(found.sampled)
    return f"a case that changes alone, of {cases}, shows from {starts_needed(cases)} starts on"


def never_fails(found: Comparison) -> str | None:
    """Why a limit on some case, or on all of them, has no meaning."""
    if found.blind is not None:
        return f"--fail-on could never fail: {found.blind}"
    if found.too_few:
        names = _some([one.name for one in found.too_few])
        return f"--fail-on could never fail for {names}: {FEW_STARTS}"
    return None


def _some(names: Sequence[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def reasons(of: Compared) -> list[str]:
    """Why cases changed: by the models, and by functions where both runs were traced."""
    return explained(of) + [functions(before, after) for before, after in of.traces]


def explained(of: Compared) -> list[str]:
    """Which term of the models changed: a sentence for each workload, algorithm and backend, and
    one for all whose calls changed by the same."""
    run = of.other.run
    said = []
    groups: list[list[Explanation]] = []
    for one in of.explanations:
        like = next((group for group in groups if _alike(group[0], one)), None)
        if like is None:
            groups.append([one])
        else:
            like.append(one)
    for group in groups:
        parts = []
        for term in group[0].changed:
            dear = "dearer" if term.added.value > 0 else "cheaper"
            what = "a call" if term.term == "call" else "a byte"
            part = f"{what} got {dear} by {added(run, term.added.value)[1:]}"
            if len(group) == 1:
                before, after = (
                    figures.instructions(value) if run.icount else fmt.duration(value)
                    for value in (term.first.value, term.second.value)
                )
                if before != after:  # to the digits that are shown
                    part += f" ({before} → {after})"
            parts.append(part)
        text = f"{_some([one.name for one in group])}: {', '.join(parts)}"
        if group[0].unchanged:
            terms = " and ".join(f"the {_TERMS[term]}" for term in group[0].unchanged)
            text += f"; {terms} didn't change"
        if group[0].like_empty_call:
            text += "; an empty call changed by as much"
        said.append(f"{text}.")
    return said


def _alike(one: Explanation, other: Explanation) -> bool:
    """Only the call changed, by the same to a hundredth."""
    if one.like_empty_call != other.like_empty_call:
        return False
    changed = [term for of_one in (one, other) for term in of_one.changed]
    if [term.term for term in changed] != ["call", "call"]:
        return False
    first, second = (term.added.value for term in changed)
    return abs(first - second) <= 0.01 * abs(first)


_TERMS = {"call": "cost of a call", "byte": "rate"}


def functions(before: CaseTrace, after: CaseTrace) -> str:
    """Which functions make the difference, the largest first."""
    return f"{after.case}: {said_of(changes(before, after))}."


def said_of(found: Sequence[Change]) -> str:
    shown = [
        f"{one.function.name} ({one.function.level}) "
        f"{'+' if one.more > 0 else fmt.MINUS}{fmt.count(abs(one.more))}"
        for one in found[:FUNCTIONS]
    ]
    rest = found[FUNCTIONS:]
    if rest:
        total = sum(one.more for one in rest)
        sign = "+" if total >= 0 else fmt.MINUS
        shown.append(f"{fmt.plural(len(rest), 'function')} more {sign}{fmt.count(abs(total))}")
    return ", ".join(shown)
