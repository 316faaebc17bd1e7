# SPDX-License-Identifier: BSD-2-Clause
"""A traced case on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from teemark.base import fmt
from teemark.base.console import paragraph, terminal
from teemark.trace.difference import changes
from teemark.trace.profile import LEVELS, CaseTrace, Cost, Trace

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

HOW_TO_NAMES = (
    "Debian's OP-TEE has no symbols, so its core is one block. For names: --optee source, or "
    "--optee FOLDER with a build of your own."
)


def share(count: int, of: int) -> str:
    return fmt.share(count / of, 3) if of else ""


def remarks(case: CaseTrace) -> Iterator[str]:
    """What a reader must know of a case."""
    counts = sorted({sample.instructions for sample in case.samples})
    if len(counts) > 1:
        least, most = fmt.count(counts[0]), fmt.count(counts[-1])
        yield (
            f"{len(case.samples)} calls took {least} to {most} instructions; "
            "the one in the middle is shown."
        )
    interrupts, instructions = case.interrupts()
    if interrupts:
        yield (
            f"{fmt.plural(interrupts, 'interrupt')} inside, timer ticks as a rule: "
            f"{fmt.count(instructions)} instructions ({share(instructions, case.instructions)})."
        )
    for name, count in case.others():
        yield (
            f"Another process ran inside: {name}, {fmt.count(count)} instructions "
            f"({share(count, case.instructions)}); its side is a tree of its own."
        )
    if case.slept:
        yield "The guest slept inside: its clock went on without instructions."
    elif not case.clock_agrees():
        said = ", ".join(
            f"{fmt.count(s.instructions)} and {fmt.count(s.clock_ns)} ns"
            for s in case.samples
            if s.clock_ns is not None
        )
        yield f"The guest's clock doesn't say the same as the instructions: {said}."
    if case.core_nameless:
        yield HOW_TO_NAMES
    nameless = case.nameless - case.core_nameless
    if nameless:
        worst = ", ".join(
            f"{u.module} {u.address} ({fmt.count(u.instructions)})" for u in case.unnamed
        )
        yield (
            f"Without a name: {fmt.count(nameless)} instructions "
            f"({share(nameless, case.instructions)}): {_cut(worst, 160)}."
        )
    if case.lost:
        count = sum(lost.count for lost in case.lost)
        yield (
            f"{fmt.plural(count, 'return')} to a place that nothing called from: "
            + ", ".join(f"{lost.origin} → {lost.target}" for lost in case.lost[:4])
            + "."
        )


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[:length].rsplit(",", 1)[0] + ", …"


def by_self(case: CaseTrace) -> list[Cost]:
    return sorted(case.costs.values(), key=lambda c: (-c.self, c.function.name))


def by_total(case: CaseTrace) -> list[Cost]:
    """The functions that take most with what they call; other threads' roots left out."""
    costs = [cost for cost in case.costs.values() if cost.function.level]
    return sorted(costs, key=lambda c: (-c.total, c.function.name))


def show(trace: Trace, *, top: int = 12, against: Trace | None = None) -> None:
    """To stdout, plain where that is no terminal."""
    console = terminal(120)
    paragraph(console, trace.optee)
    console.print()
    if len(trace.cases) > 1:
        console.print(_overview(trace))
    for case in trace.cases:
        before = against.case(case.case) if against is not None else None
        if before is not None:
            _compare(console, before, case, top)
        elif len(trace.cases) <= 3:
            _one(console, case, top)


def _compare(console: Console, before: CaseTrace, after: CaseTrace, top: int) -> None:
    more = after.instructions - before.instructions
    paragraph(
        console,
        f"{after.case}: {fmt.count(before.instructions)} before, "
        f"{fmt.count(after.instructions)} now: {fmt.change(more)} instructions "
        f"({fmt.signed(more / before.instructions, 3)})",
    )
    table = _columns("level", "function", "component", "before", "now", "difference")
    found = changes(before, after)
    for change in found[:top]:
        _row(
            table,
            change.function.level,
            change.function.name,
            change.function.component,
            fmt.count(change.before),
            fmt.count(change.after),
            fmt.change(change.more),
        )
    rest = found[top:]
    if rest:
        total = fmt.change(sum(change.more for change in rest))
        _row(table, "", f"{fmt.plural(len(rest), 'function')} more", "", "", "", total)
    console.print(table)


def _columns(*titles: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in titles:
        left = title in ("case", "level", "component", "function", "inside")
        table.add_column(
            title,
            justify="left" if left else "right",
            no_wrap=not left,
            overflow="fold" if title == "case" else "ellipsis",
        )
    return table


def _row(table: Table, *cells: str) -> None:
    """As they are: what a name looks like is no markup."""
    from rich.text import Text

    table.add_row(*map(Text, cells))


def _overview(trace: Trace) -> Table:
    table = _columns("case", "instructions", *LEVELS, "inside")
    for case in trace.cases:
        levels = case.levels()
        inside = []
        if case.interrupts()[0]:
            inside.append("tick")
        inside += [name.strip("[]") for name, _ in case.others()]
        _row(
            table,
            case.case,
            fmt.count(case.instructions),
            *(fmt.count(levels[level]) if level in levels else "" for level in LEVELS),
            ", ".join(inside),
        )
    return table


def _one(console: Console, case: CaseTrace, top: int) -> None:
    clocks = {sample.clock_ns for sample in case.samples if sample.clock_ns is not None}
    clock = " or ".join(map(fmt.count, sorted(clocks)[:3]))
    paragraph(
        console,
        f"{case.case}: {fmt.count(case.instructions)} instructions"
        + (f"; the guest's clock: {clock} ns" if clock else ""),
    )
    for remark in remarks(case):
        paragraph(console, f"  {remark}", indent="    ")
    console.print(_split(case))
    for title, costs in (("by itself", by_self(case)), ("with all it calls", by_total(case))):
        console.print(_functions(case, title, costs[:top]))


def _split(case: CaseTrace) -> Table:
    table = _columns("level", "component", "instructions", "share")
    for level, count in case.levels().items():
        _row(table, level, "", fmt.count(count), share(count, case.instructions))
        for its, component, part in case.components():
            if its == level and part != count:
                _row(table, "", component, fmt.count(part), share(part, case.instructions))
    return table


def _functions(case: CaseTrace, title: str, costs: Sequence[Cost]) -> Table:
    table = _columns("level", "function", "component", title, "share", "calls")
    for cost in costs:
        count = cost.self if title == "by itself" else cost.total
        _row(
            table,
            cost.function.level,
            cost.function.name,
            cost.function.component,
            fmt.count(count),
            share(count, case.instructions),
            fmt.count(cost.calls),
        )
    return table
