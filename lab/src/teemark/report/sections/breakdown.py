# SPDX-License-Identifier: BSD-2-Clause
"""Where the time of one call goes: a bar and a table of its parts, and the unknown parts."""

from collections.abc import Sequence
from functools import partial

from teemark.findings.subject import Subject
from teemark.model.breakdown import TOLERANCE, Breakdown, CrossCheck, shown
from teemark.model.stats import Estimate
from teemark.page import bars
from teemark.page import blocks as page
from teemark.page.section import RunSection, remark
from teemark.wording import fmt
from teemark.wording.interval import Interval

COUNTED = ("run-queue",)  # Parts that are counted during the call itself


def _of(subject: Subject) -> list[page.Block]:
    calls = shown(subject.breakdowns)
    if not calls:
        return []
    folds = (
        page.Fold(
            subject.run.words(call.key), "its parts, and how each is known", parts_of(subject, call)
        )
        for call in calls
    )
    return [chart(subject, calls), *folds, *untold(calls)]


def chart(subject: Subject, breakdowns: Sequence[Breakdown]) -> page.Chart:
    """Draws calls as bars, one under the other, each as wide as the page."""
    calls = [
        (subject.run.words(call.key), fmt.cost(subject.run, call.total), call)
        for call in breakdowns
    ]
    title = "Each call, and the shares of its parts"
    return page.Chart(title, remark(subject), partial(bars.render, calls))


def parts_of(subject: Subject, call: Breakdown) -> tuple[page.Block, ...]:
    """Returns the table of a call's parts; if two sources give a part, also whether they agree."""
    # A call that waits isn't counted, even on a board that counts instructions.
    unit = "ns" if subject.run.icount and not call.total.exact else fmt.cost_unit(subject.run)
    blocks: list[page.Block] = [_table(subject, call, unit)]
    if call.checks:
        blocks.append(page.Bullets(tuple(_said(subject, check, unit) for check in call.checks)))
    return tuple(blocks)


def untold(shown: Sequence[Breakdown]) -> list[page.Block]:
    """Returns the parts of calls whose cost is unknown, by reason. Calls are named if others know
    the part."""
    reasons: dict[tuple[str | None, str | None], dict[str, list[str]]] = {}
    for call in shown:
        for part in call.parts:
            if part.value is None:
                parts = reasons.setdefault((part.reason, part.measure), {})
                parts.setdefault(part.title, []).append(call.key)
    items: list[page.Text] = []
    for (reason, measure), parts in reasons.items():
        some = {title: f" ({', '.join(keys)})" for title, keys in parts.items()}
        names = (title + some[title] * (len(parts[title]) < len(shown)) for title in parts)
        items.append((page.Strong("; ".join(names)), f": {reason}. To know it: {measure}."))
    number = fmt.plural(len(items), "reason")
    return [page.Fold("What can't be told", number, (page.Bullets(tuple(items)),))] if items else []


def _table(subject: Subject, call: Breakdown, unit: str) -> page.Table:
    run = subject.run
    rows: list[tuple[page.Cell, ...]] = []
    for part, value in call.known_parts:
        # A difference of exact counts isn't exact: the calls may differ in more than the part.
        interval = fmt.cost_interval(run, value)
        if interval == fmt.EXACT and value.value and part.name not in COUNTED:
            interval = "difference"
        share = _share(value, call.total.value)
        amount = fmt.part_cell(run, value)
        rows.append((part.title, amount, (page.Quiet(interval),), share, part.source or ""))
    whole = (
        (page.Strong("the message" if call.kind == "message" else "the call"),),
        (page.Strong(fmt.part_cell(run, call.total)),),
        (page.Quiet(fmt.cost_interval(run, call.total)),),
        fmt.percent(1.0, 3),
        "CPU time: median" if call.kind == "message" else "client clock: median",
    )
    columns = (
        *page.left("part"),
        *page.right("takes", unit=unit),
        *page.right(fmt.LEVEL, "share"),
        *page.left("known from"),
    )
    caption = f"The parts of {subject.run.words(call.key)} ({call.key})"
    return page.Table(columns, [*rows, whole], caption=caption, note=subject.caveat)


def _share(part: Estimate, total: float) -> str:
    """Returns a part's share of a call. A part that may be 0 has the share's interval: 2 ± 5918 of
    57 000 isn't below 0.01 %."""
    interval = part.interval
    if not total:
        return fmt.percent(0.0)
    if interval is not None and interval.width and 0 in interval:
        return fmt.shares(Interval(interval.low / total, interval.high / total))
    return fmt.signed(part.value / total).lstrip("+")


def _said(subject: Subject, check: CrossCheck, unit: str) -> page.Text:
    left, right = (fmt.part_cell(subject.run, value) for value in (check.one, check.other))
    bound = fmt.percent(TOLERANCE, 1)
    words = {
        "yes": f"agree to within {bound}",
        "no": f"differ by more than {bound}",
        "undecided": f"agree or not to within {bound}: undecided",
    }
    return (
        page.Strong("! ") if check.answer == "no" else "",
        page.Strong(f"{check.what}, {unit}" if unit else check.what),
        f": {left} ({check.one_source}) and {right} ({check.other_source}) {words[check.answer]}.",
    )


breakdown = RunSection(
    "explain",
    "Where the time of a call goes",
    _of,
    "Each part is measured by itself. The rest of the call is shown as unexplained; it isn't "
    "spread over the parts.",
    "each part of a call, and how it is known",
)
