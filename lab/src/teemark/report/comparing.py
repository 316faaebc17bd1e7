# SPDX-License-Identifier: BSD-2-Clause
"""Compares runs in words: for the terminal, a report, a page of its own and a merge request."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from statistics import median

from teemark.base.work import NONE, ONESHOT
from teemark.findings.subject import Subject
from teemark.model.changes import Change, changes
from teemark.model.compare import (
    DAY,
    EMULATED,
    FEW_STARTS,
    GRAVEST_FIRST,
    MARGIN,
    SCATTERED,
    Comparison,
    Difference,
    Limit,
    Verdict,
    compare,
    obstacles,
    other_machines,
)
from teemark.model.power import ALPHA, POWER
from teemark.page import blocks as page
from teemark.page import dots, html, markdown
from teemark.report.heading import days, footer
from teemark.run.reader import RunData
from teemark.trace.difference import changes as function_changes
from teemark.trace.difference import in_words
from teemark.wording import fmt

NAMED = 3  # Most functions that are named for a case
SHOWN = 10  # Most cases in a table, unless all are asked for
SOME = 4  # Most names in a sentence
FUNCTIONS = page.left("functions", optional=True)

SIGN: dict[Verdict, str] = {"worse": "▲", "better": "▼", "same": "=", "undecided": "?"}


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """The comparison of two runs, its changes, and the functions behind them."""

    comparison: Comparison
    changes: tuple[Change, ...]
    functions: dict[str, str]
    """The functions that make the difference, in words, by the case that both runs traced."""


def compared(base: Subject, new: Subject) -> ComparedRuns:
    comparison = compare(base.run, new.run)
    functions = {}
    for case in new.trace.cases if new.trace is not None else ():
        before = base.trace.case(case.case) if base.trace is not None else None
        if before is not None and (differing := function_changes(before, case)):
            functions[case.case] = in_words(differing, NAMED)
    return ComparedRuns(comparison, changes(comparison), functions)


# -- names ---------------------------------------------------------------------------------------


def name(run: RunData) -> str:
    """Returns a short name of a run: its commit, else its labels, else its folder if the user named
    it, else the time when it began."""
    if run.commit is not None:
        return run.commit.short
    if run.labels:
        return ", ".join(f"{key}={value}" for key, value in run.labels.items())
    folder = Path(run.file).parent.name
    return when(run) if re.match(r"\d{8}T\d{6}Z-", folder) else folder or run.file


def pair_names(base: RunData, new: RunData) -> tuple[str, str]:
    """Returns names that tell two runs apart: their boards, or short names if those are equal."""
    names = (base.name, new.name) if base.name != new.name else (name(base), name(new))
    if names[0] != names[1]:
        return names
    whens = (when(base), when(new))
    first, second = whens if whens[0] != whens[1] else ("base", "new")
    return f"{names[0]} ({first})", f"{names[1]} ({second})"


def when(run: RunData) -> str:
    """Returns the day and minute (UTC) at which the run began; its file if this is unknown."""
    if run.header is None:
        return run.file
    try:
        return f"{datetime.fromisoformat(run.header.started):%Y-%m-%d %H:%M}"
    except ValueError:
        return run.header.started


def names(run: RunData) -> str:
    """Returns a run's plan, board, time, commit, labels and file, in a line."""
    return f"{', '.join(origin(run))} ({run.file})" if run.header is not None else run.file


def origin(run: RunData) -> list[str]:
    """Returns a run's plan and board, when it began, its commit and labels."""
    facts = [when(run)]
    if run.header is not None:
        facts = [f"{run.header.plan} on {run.header.board}", f"{when(run)} UTC"]
    if run.commit is not None:
        branch = f" of {run.commit.branch}" if run.commit.branch else ""
        facts.append(f"commit {run.commit.short}{branch}")
    return facts + [f"{key}={value}" for key, value in run.labels.items()]


# -- the answer ----------------------------------------------------------------------------------


def verdict(comparison: Comparison) -> Verdict:
    """Returns the verdict on the whole: the gravest verdict of its cases."""
    return next((grave for grave in GRAVEST_FIRST if comparison.of(grave)), "same")


def headline(diff: ComparedRuns) -> page.Text:
    """Returns the answer in a line: the verdict, and the number of cases with each verdict."""
    grave = verdict(diff.comparison)
    words = (
        "WORSE AND BETTER" if grave == "worse" and diff.comparison.of("better") else grave.upper()
    )
    open_ = [case for case in diff.comparison.pairs if case.reason is not None]
    why = f" Undecided: {_some([case.name for case in open_])}: {open_[0].reason}." if open_ else ""
    return (page.Mark(f"{SIGN[grave]} {words}", grave), f"  {outcome(diff.comparison)}{why}")


def caveat(comparison: Comparison) -> str:
    """Says what the verdicts on sampled times don't contain, and whether almost all cases moved
    alike; an empty string where nothing is judged."""
    if comparison.exact or comparison.blind is not None:
        return ""
    text, moved = "", comparison.together
    if moved is not None:
        ends = f"{signed(moved.low - 1)}{fmt.TO}{signed(moved.high - 1)}"
        text = f"Almost all cases moved alike: by {ends}. "
    return (
        f"{text}The starts of a run follow each other, so intervals don't hold what differs from "
        f"day to day: a shift of all cases by up to {fmt.percent(DAY, 1)} may be a day's as well "
        "as the code's. Several runs of both, by turns, tell the two apart."
    )


def outcome(comparison: Comparison) -> str:
    """Returns a sentence with the number of cases for each verdict."""
    counts = [
        f"{count} {verdict}"
        for verdict in SIGN
        if (count := len(comparison.of(verdict))) or verdict in ("worse", "better")
    ]
    return f"{fmt.plural(len(comparison.verdicts()), 'case')} compared: {', '.join(counts)}."


def change_table(diff: ComparedRuns) -> list[page.Block]:
    """Returns a table of the changes that cases share, with the functions behind them; an empty
    list if nothing changed."""
    rows = []
    for change in diff.changes:
        words = (diff.functions[pair.case] for pair in change.cases if pair.case in diff.functions)
        rows.append((*change_cells(diff.comparison.second, change), next(words, "")))
    columns = (*page.left("what changed", "by"), *FUNCTIONS)
    return [page.Table(columns, rows, stacked=True)] if rows else []


def change_cells(run: RunData, change: Change) -> tuple[page.Cell, page.Cell]:
    """Returns the changed cases, with the sign of the verdict, and the amount of the change."""
    verdict: Verdict = "worse" if change.worse else "better"
    return (page.Mark(SIGN[verdict], verdict), f" {subject(run, change)}"), amount(run, change)


def subject(run: RunData, change: Change) -> str:
    """Returns the name of a change's cases: `all 20 SHA-256 cases by tee`."""
    count = len({pair.case for pair in change.cases})
    if change.of_all is not None:
        where = {"tee": "into the TEE", "program": "in the program", "kernel": "into the kernel"}
        tells = min(change.cases, key=lambda pair: pair.first.value).name
        return f"{fmt.plural(count, 'call')} {where[change.of_all]} (measured by {tells})"
    if count == 1:
        return change.cases[0].case
    workloads, algorithms, backends = (
        list(dict.fromkeys(family[place] for family in change.families)) for place in range(3)
    )
    titles = [run.title(name) for name in algorithms if name != NONE]
    words = [] if workloads == [ONESHOT.name] else [_some(workloads)]
    words += [_some(titles)] if titles and len(workloads) == 1 else []
    every = "all " if change.whole else ""
    return f"{every}{count} {' '.join(words)} cases by {_some(backends)}"


def amount(run: RunData, change: Change) -> str:
    """Says how much more or less the cases of a change cost."""
    parts = []
    if change.byte is not None:
        parts.append(f"{added(run, change.byte)} a byte")
    if change.call is not None:
        parts.append(f"{added(run, change.call)} a call")
    if change.share is not None:
        shares = sorted(pair.change for pair in change.cases)
        wide = run.icount and shares[-1] - shares[0] > 0.1 * abs(change.share)
        parts.append(
            f"{signed(shares[0])} to {signed(shares[-1])}" if wide else signed(change.share)
        )
    return " and ".join(parts)


# -- tables --------------------------------------------------------------------------------------


def case_table(diff: ComparedRuns, pairs: Sequence[Difference]) -> page.Table:
    """Returns a table with a row for each case: both figures under the runs' names, the change, the
    verdict, the functions."""
    base, new = pair_names(diff.comparison.first, diff.comparison.second)
    largest = max((abs(pair.change) for pair in pairs), default=0.0) or 1.0
    rows = [
        (
            (page.Code(pair.name),),
            *both(diff, pair),
            page.Bar(change(pair), abs(pair.change) / largest, pair.verdict)
            if pair.moved
            else change(pair),
            (page.Mark(f"{SIGN[pair.verdict]} {pair.verdict}", pair.verdict),),
            diff.functions.get(pair.case, ""),
        )
        for pair in pairs
    ]
    head = page.left("case (instructions a call)" if diff.comparison.exact else "case")
    columns = (*head, *page.right(base, new, "change"), *page.left("verdict"), *FUNCTIONS)
    return page.Table(columns, rows, stacked=True)


def chart(diff: ComparedRuns) -> page.Chart | None:
    """Draws the cases of `rows_of`, each with its change around 0; None if nothing changed."""
    rows = []
    for pair in rows_of(diff.comparison):
        words = f"{' → '.join(both(diff, pair))}, {change(pair)} {SIGN[pair.verdict]}"
        rows.append(dots.DotRow(pair.name, (dots.Dot(pair.change, pair.verdict, words),), words))
    if not rows:
        return None
    draw = partial(
        dots.render,
        rows,
        write=lambda tick: signed(tick) if tick else "0",
        around_0=True,
        title="change of a call's cost",
    )
    title = " → ".join(pair_names(diff.comparison.first, diff.comparison.second))
    unit = "Instructions a call. " if diff.comparison.exact else ""
    return page.Chart(title, (unit, outcome(diff.comparison)), draw)


def both(diff: ComparedRuns, pair: Difference) -> tuple[str, str]:
    """Returns both figures; in a changed case they have enough digits to differ."""
    sides = ((diff.comparison.first, pair.first), (diff.comparison.second, pair.second))
    first, second = (fmt.cost_cell(run, figure) for run, figure in sides)
    write = fmt.digits if diff.comparison.second.icount else fmt.duration
    for significant in range(4, 8):
        if first != second or not pair.moved:
            break
        first, second = (write(figure.value, significant) for _, figure in sides)
    return first, second


def change(pair: Difference) -> str:
    """Returns the relative change, with half its interval; no digits if the case is the same."""
    if pair.verdict == "same":
        return ("0" if pair.added == 0 else "as boots differ") if pair.exact else "within 1 %"
    if pair.exact:
        return signed(pair.change)
    if pair.interval is None:
        return f"{signed(pair.change)} ±?"
    return f"{signed(pair.change)} ±{fmt.digits(50 * pair.interval.width, 2)}"


def signed(value: float) -> str:
    """Returns a relative difference in per cent, with up to three digits and two decimals."""
    share = 100 * value
    digits = 3 if abs(share) >= 1 else 2 if abs(share) >= 0.1 else 1
    return f"{'+' * (value > 0)}{fmt.digits(share, digits)}{fmt.THIN}%"


def added(run: RunData, cost: float) -> str:
    """Returns a difference in instructions or time, with its sign and unit."""
    text = f"{fmt.instructions(cost)} instructions" if run.icount else fmt.duration(cost)
    return "+" * (cost > 0) + text


def rows_of(comparison: Comparison, *, everything: bool = False) -> tuple[Difference, ...]:
    """Returns the changed cases, the largest change first: about as many better cases as worse
    ones. With `everything`, returns all cases."""
    moved = tuple(pair for pair in comparison.worst_first if pair.moved or everything)
    if everything or len(moved) <= SHOWN:
        return moved
    worse, better = (
        tuple(pair for pair in moved if pair.verdict == side) for side in ("worse", "better")
    )
    take = max(SHOWN // 2, SHOWN - len(better))
    return (*worse[:take], *better[: SHOWN - min(take, len(worse))])


# -- how much could have been seen ---------------------------------------------------------------


def visible(comparison: Comparison, limit: Limit | None = None) -> str:
    """Says which change would have been seen, and which would break the limit; an empty string
    if nothing is judged."""
    seen = comparison.visible
    if not seen or comparison.blind is not None:
        return ""
    half, all_ = fmt.percent(median(seen)), fmt.percent(seen[-1])
    if comparison.exact:
        text = f"of {half} in half of the cases, of {all_} in every case."
        calls = [pair for pair in comparison.pairs if pair.world == "tee" and pair.visible < 1]
        if calls:
            best = min(calls, key=lambda pair: pair.visible * pair.first.value)
            least = fmt.count(max(1, round(best.visible * best.first.value)))
            text = f"of {least} instructions in {best.name}, {text}"
        return f"Smallest change that would have been seen: {text}"
    text = (
        f"A case that takes {half} more would have been called worse in {100 * POWER:.0f} of 100 "
        f"such pairs of runs; half of the cases show less, all of them {all_}."
    )
    if limit is None or not limit.share:
        return text
    fails = (1 + limit.share) * (1 + median(seen)) - 1
    return (
        f"{text} To fail, that is to be known to be worse by {limit} or more, it must take "
        f"{fmt.percent(fails)} more."
    )


def failures(comparison: Comparison, limit: Limit) -> list[str]:
    """Lists why a comparison fails: cases worse by the limit, and cases that are missing."""
    dearer = [
        f"{pair.name}: {change(pair)} ({added(comparison.second, pair.added)} a call)"
        for pair in comparison.worst_first
        if limit.broken(pair)
    ]
    return dearer + [f"{case}: not measured any more" for case in comparison.lost]


def result(comparison: Comparison, limit: Limit) -> str:
    """Returns PASS or FAIL in a sentence; PASS also counts cases that may yet be worse."""
    broken = {pair.case for pair in comparison.pairs if limit.broken(pair)}
    if broken or comparison.lost:
        gone = f", {len(comparison.lost)} gone" if comparison.lost else ""
        return f"FAIL: {fmt.plural(len(broken), 'case')} worse by {limit} or more{gone}."
    unsure = {pair.case for pair in comparison.pairs if limit.possible(pair)}
    if unsure:
        return (
            f"PASS: no case is known to be worse by {limit} or more; of "
            f"{len(comparison.verdicts())}, {len(unsure)} may be."
        )
    return f"PASS: no case is worse by {limit} or more."


# -- how it was judged ---------------------------------------------------------------------------


def method(diff: ComparedRuns) -> list[str]:
    """Returns sentences on how the runs were judged, as far as a reader must know it."""
    comparison, sentences = diff.comparison, []
    if comparison.exact:
        if any(change.of_all is not None for change in diff.changes) and comparison.starts < 2:
            sentences.append(
                "One boot of about forty takes more in all its calls than the others: "
                "`teemark run --boots 2` shows whether this is a change."
            )
    elif comparison.blind is not None:
        sentences.append(
            f"Nothing is called better or worse: {comparison.blind}; {remedy(comparison)}."
        )
    else:
        sentences.append(
            "± is half of the interval. The changes of all cases lie in theirs together: of "
            f"{fmt.count(round(1 / ALPHA))} comparisons of one build with itself, one calls a case "
            "better or worse. It is Student's, of the starts' medians. Worse and better: it leaves "
            f"0 out. Same: it is within {fmt.percent(MARGIN)}."
        )
    if machines := other_machines(comparison.first, comparison.second):
        sentences.append(f"Not only the code may differ: {'; '.join(machines)}.")
    pair = pair_names(comparison.first, comparison.second)
    for run, cases in zip(pair, (comparison.lost, comparison.new), strict=True):
        if cases:
            sentences.append(f"Only {run} has {fmt.plural(len(cases), 'case')}: {_some(cases)}.")
    return sentences


def remedy(comparison: Comparison) -> str:
    """Says which measurement would decide a comparison that decides nothing."""
    return {
        EMULATED: "measure on qemu-v8-icount, which counts instructions, or on hardware",
        SCATTERED: "measure cases that don't wait, too",
    }.get(comparison.blind or "", "measure both with `teemark run --rounds 8`")


def never_fails(comparison: Comparison) -> str | None:
    """Says why --fail-on can't work for some cases, or for all; None if it can."""
    if comparison.blind is not None:
        return f"--fail-on could never fail: {comparison.blind}"
    if comparison.too_few:
        cases = _some([pair.name for pair in comparison.too_few])
        return f"--fail-on could never fail for {cases}: {FEW_STARTS}"
    return None


def _some(names: Sequence[str]) -> str:
    more = len(names) - SOME
    return fmt.listed((*names[:SOME], f"{more} more") if more > 0 else names)


# -- all of it -----------------------------------------------------------------------------------


def blocks(
    diff: ComparedRuns, limit: Limit | None, rest: str, *, everything: bool = False
) -> list[page.Block]:
    """Returns the answer, the changes, the cases, and what would have been seen. `rest` says where
    a reader finds the cases that are left out."""
    shown: list[page.Block] = [page.Paragraph(headline(diff))]
    if limit is not None:
        text = result(diff.comparison, limit)
        mark = page.Mark(text, "worse" if text.startswith("FAIL") else "same")
        shown.append(page.Paragraph((mark,)))
    shown += [page.Paragraph((text,))] if (text := caveat(diff.comparison)) else []
    shown += change_table(diff)
    rows = rows_of(diff.comparison, everything=everything)
    if rows:
        shown.append(case_table(diff, rows))
        hidden = {pair.case for pair in diff.comparison.pairs if pair.moved} - {
            pair.case for pair in rows
        }
        more = (page.Quiet(f"{len(hidden)} more changed: {rest}."),)
        shown += [page.Paragraph(more)] if hidden else []
    named = {pair.case for change in diff.changes for pair in change.cases}
    for case, why in diff.functions.items():
        if case not in named:
            shown.append(page.Paragraph((page.Code(case), f" as traced: {why}.")))
    seen = visible(diff.comparison, limit)
    return [*shown, page.Paragraph((seen,))] if seen else shown


# -- as a section, and as a page -----------------------------------------------------------------


def comparison_section(subjects: Sequence[Subject]) -> page.Section | None:
    """Returns the section that compares every other run with the first; None for a single run."""
    shown: list[page.Block] = []
    for new in subjects[1:]:
        shown.append(page.Heading(f"{new.label} against {subjects[0].label}"))
        words = "; ".join(obstacles(subjects[0].run, new.run))
        for word, labelled in (("BASE", subjects[0]), ("NEW", new)):
            words = words.replace(word, labelled.label)
        not_compared = page.Paragraph((page.Strong("Not compared"), f": {words}."))
        shown += [not_compared] if words else _verdicts(compared(subjects[0], new))
    return page.Section("comparison", "Side by side", tuple(shown)) if shown else None


def _verdicts(diff: ComparedRuns, limit: Limit | None = None) -> list[page.Block]:
    shown = blocks(diff, limit, "see “Every case”")
    if diff.comparison.pairs:
        cases = fmt.plural(len(diff.comparison.verdicts()), "case")
        table = case_table(diff, diff.comparison.worst_first)
        shown.append(page.Fold("Every case", f"{cases}, the worst first", (table,)))
    comparison = page.Bullets(tuple((sentence,) for sentence in method(diff)))
    return (
        [*shown, page.Fold("How this was judged", "", (comparison,))] if comparison.items else shown
    )


def render(
    diffs: Sequence[ComparedRuns], forced: Sequence[str], limit: Limit | None, form: str
) -> str:
    """Returns a page of comparisons, in `html` or `markdown`. `forced` names the reasons against
    these comparisons, which the user overruled."""
    pairs = [(diff.comparison.first, diff.comparison.second) for diff in diffs]
    titles = [" → ".join(pair_names(*pair)) for pair in pairs]
    sections = []
    for number, (diff, title, pair) in enumerate(zip(diffs, titles, pairs, strict=True), 1):
        runs = zip(("base", "new"), pair, strict=True)
        facts = page.Facts(tuple((word, (names(run),)) for word, run in runs))
        head = "What changed" if len(diffs) == 1 else title
        blocks = (*_verdicts(diff, limit), facts)
        sections.append(page.Section(f"comparison-{number}", head, blocks))
    run = pairs[0][0].header
    what = titles[0] if len(diffs) == 1 else f"since {name(pairs[0][0])}"
    where = "" if titles[0].startswith(pairs[0][0].name) else f" on {pairs[0][0].name}"
    every = [pairs[0][0], *(pair[1] for pair in pairs)]
    title = f"What changed{where}: {what}, {days(every)}"
    subtitle = f"{run.plan} on {run.board}" if run is not None else ""
    banners = [page.Banner("Compared by force", (f"{why}.",)) for why in forced]
    how = html.render if form == "html" else markdown.render
    return how(title, subtitle, sections, footer(title, every), banners)


# -- for scripts ---------------------------------------------------------------------------------


def case_data(pair: Difference) -> dict[str, object]:
    """Returns the JSON for a case."""
    return {
        "case": pair.case,
        "repeat": pair.repeat,
        "verdict": pair.verdict,
        "base": pair.first.value,
        "new": pair.second.value,
        "difference": pair.added,
        "ratio": pair.ratio,
        "ratio_low": pair.interval.low if pair.interval else None,
        "ratio_high": pair.interval.high if pair.interval else None,
        "p": pair.p,
        "starts": pair.have or None,
        "visible": pair.visible if math.isfinite(pair.visible) else None,
        "reason": pair.reason,
    }


def change_data(run: RunData, change: Change) -> dict[str, object]:
    """Returns the JSON for a change that cases share."""
    cases = [pair.name for pair in change.cases]
    words = {"what": subject(run, change), "by": amount(run, change)}
    return {**words, "worse": change.worse, "cases": cases}
