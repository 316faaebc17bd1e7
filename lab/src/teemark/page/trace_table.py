# SPDX-License-Identifier: BSD-2-Clause
"""Describes a traced call in words and tables, for a terminal and for a report."""

from collections import Counter
from collections.abc import Iterator
from typing import Literal, get_args

from teemark.base.errors import UsageMistake
from teemark.page.blocks import Block, Cell, Paragraph, Table, left, right
from teemark.trace.difference import changes
from teemark.trace.profile import LEVELS, CaseTrace, Function, FunctionCost, Stretch, Trace
from teemark.wording import fmt

HOW_TO_NAMES = (
    "Debian's OP-TEE has no symbols, so its core is one block. For names: --optee source, or "
    "--optee FOLDER with a build of your own."
)
HOW_TO_DOUBT = (
    "After such a return a figure with a question mark may hold calls that aren't the function's "
    "own, or lack some; what functions take by themselves is exact."
)

Ranking = Literal["by itself", "with all it calls"]
RANKINGS: tuple[Ranking, ...] = get_args(Ranking)


def share(count: int, whole: int) -> str:
    return fmt.share(count / whole, 3) if whole else ""


def remarks(case: CaseTrace) -> Iterator[str]:
    """Yields the sentences that a reader must know before the call's figures."""
    counts = sorted({sample.instructions for sample in case.samples})
    if len(counts) > 1:
        least, most = fmt.count(counts[0]), fmt.count(counts[-1])
        yield (
            f"{len(case.samples)} calls took {least} to {most} instructions; "
            "the one in the middle is shown."
        )
    if case.instructions < counts[0]:
        yield (
            f"Only the beginning is shown, {fmt.count(case.instructions)} instructions "
            f"({share(case.instructions, counts[0])}): the rest wasn't recorded."
        )
    interrupts, instructions = case.interrupts()
    if interrupts:
        yield (
            f"{fmt.plural(interrupts, 'interrupt')} inside, timer ticks as a rule: "
            f"{fmt.count(instructions)} instructions ({share(instructions, case.instructions)})."
        )
    legs = sum(leg.count for leg in case.passes if (leg.origin, leg.target) == ("EL1", "EL3"))
    if legs > 1:
        yield f"OP-TEE is entered {legs} times: for the call, and after each interrupt and RPC."
    for name, count in case.others():
        yield (
            f"Another process ran inside: {name}, {fmt.count(count)} instructions "
            f"({share(count, case.instructions)}); its calls are a separate tree."
        )
    if case.slept:
        yield "The guest slept inside: its clock went on without instructions."
    elif not case.clock_agrees():
        clocks = ", ".join(
            f"{fmt.count(s.instructions)} and {fmt.count(s.clock_ns)} ns"
            for s in case.samples
            if s.clock_ns is not None
        )
        yield f"The guest's clock doesn't say the same as the instructions: {clocks}."
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
            f"{', '.join(f'{lost.origin} → {lost.target}' for lost in case.lost[:4])}."
        )
        yield HOW_TO_DOUBT


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[:length].rsplit(",", 1)[0] + " and others"


def _place(function: Function) -> tuple[str, str, str]:
    return function.name, function.level, function.component


_PLACE = ("function", "level", "component")
_FIGURES = ("instructions", "share", "calls")


def dearest(case: CaseTrace) -> str:
    """Returns a sentence on the function with the most instructions of its own."""
    cost = max(case.costs.values(), key=lambda cost: (cost.self, cost.function.name))
    name, level, component = _place(cost.function)
    # a component without symbols is a single function named [COMPONENT]
    who = f"{component} ({level})" if name == f"[{component}]" else f"{name} ({level}, {component})"
    return (
        f"{who} takes most by itself: {fmt.count(cost.self)} of "
        f"{fmt.count(case.instructions)} instructions, {share(cost.self, case.instructions)}."
    )


def _doubt(*costs: FunctionCost) -> str:
    return " ?" if any(cost.unsure for cost in costs) else ""


def functions(case: CaseTrace, ranking: Ranking, top: int) -> Table:
    """Returns a table of the functions with the most instructions. The roots of other threads have
    no total, so they only appear in the ranking "by itself"."""
    alone = ranking == "by itself"
    costs = [
        (cost, cost.self if alone else cost.total)
        for cost in case.costs.values()
        if alone or cost.function.level
    ]
    costs.sort(key=lambda pair: (-pair[1], pair[0].function.name))
    rows = tuple(
        (
            cost.function.name,
            fmt.count(count) + ("" if alone else _doubt(cost)),
            share(count, case.instructions),
            fmt.count(cost.calls),
            cost.function.level,
            cost.function.component,
        )
        for cost, count in costs[:top]
    )
    note = "" if alone else "a tail call is below the function that jumped"
    columns = (*left("function"), *right(*_FIGURES), *left(*_PLACE[1:]))
    caption = f"Functions {ranking.replace('itself', 'themselves')}"
    return Table(columns, rows, caption, note, stacked=True)


def components(case: CaseTrace) -> Table:
    rows = tuple(
        (level, component, fmt.count(count), share(count, case.instructions))
        for level, component, count in case.components()
    )
    heads = (*left("level", "component"), *right(*_FIGURES[:2]))
    return Table(heads, rows, caption="By level and component")


_HISTOGRAM = 64  # Shorter stretches are counted in one row


def held_sentence(case: CaseTrace) -> str | None:
    """Returns the longest stretch in which the normal world's interrupts are held off, in words;
    None if that isn't known."""
    if case.held is None or not case.held.longest:
        return None
    longest = case.held.longest[0]
    return (
        "The secure world holds off the normal world's interrupts for up to "
        f"{fmt.count(longest.instructions)} instructions at a time, in {_holder(case, longest)}; "
        f"{fmt.plural(case.held.number, 'stretch', 'stretches')} take "
        f"{fmt.count(case.held.instructions)} ({share(case.held.instructions, case.instructions)})."
    )


def held(case: CaseTrace) -> list[Block]:
    """Returns the longest of those stretches, and how many there are of each length."""
    if case.held is None:
        return []
    rows = []
    for stretch in case.held.longest:
        ends = (_name(case, node) for node in (stretch.begins, stretch.ends))
        count, path = fmt.count(stretch.instructions), _path(case, stretch.above)
        rows.append((_holder(case, stretch), count, *ends, path))
    columns = (*left("held by"), *right("instructions"), *left("from", "to", "called by"))
    lengths: dict[int, list[int]] = {}
    for log2, number, instructions in case.held.sizes:
        least = 1 << log2 if 1 << log2 >= _HISTOGRAM else 0
        sums = lengths.setdefault(least, [0, 0])
        sums[:] = sums[0] + number, sums[1] + instructions
    sizes = []
    for least, sums in sorted(lengths.items()):
        most = 2 * least - 1 if least else _HISTOGRAM - 1
        sizes.append((fmt.TO.join(map(fmt.count, (least, most))), *map(fmt.count, sums)))
    return [
        Table(columns, rows, caption="Longest stretches with interrupts held off", stacked=True),
        Table(right("length", "stretches", "instructions"), sizes, caption="All stretches"),
    ]


def _name(case: CaseTrace, node: int) -> str:
    return case.stacks[node][-1].name if node >= 0 else ""


def _holder(case: CaseTrace, stretch: Stretch) -> str:
    """Returns the function that all of a stretch is below; for one that begins in TF-A, that it is
    the way into OP-TEE or back."""
    if stretch.above < 0:
        return "different threads"
    function = case.stacks[stretch.above][-1]
    return "the way through TF-A" if function.level == "EL3" else function.name


_CALLERS = 4  # Callers that a path shows, the nearest last


def _path(case: CaseTrace, node: int) -> str:
    above = [function.name for function in case.stacks[node][:-1]] if node >= 0 else []
    return " → ".join((["…"] if len(above) > _CALLERS else []) + above[-_CALLERS:])


def differences(before: CaseTrace, after: CaseTrace, top: int) -> Table:
    changed = changes(before, after)
    rows: list[tuple[Cell, ...]] = [
        (*_place(c.function), fmt.count(c.before), fmt.count(c.after), fmt.change(c.growth))
        for c in changed[:top]
    ]
    if rest := changed[top:]:
        total = fmt.change(sum(change.growth for change in rest))
        rows.append((f"{fmt.plural(len(rest), 'function')} more", "", "", "", "", total))
    return Table(
        (*left(*_PLACE), *right("before", "now", "difference")),
        tuple(rows),
        caption="Functions that make the difference",
        note=f"{fmt.plural(len(changed), 'function')} in all",
    )


def neighbours(case: CaseTrace, name: str, top: int) -> list[Block]:
    """Returns the callers of the functions called `name`, and the functions that they call, each
    with its total instructions. Raises UsageMistake if the call has no such function."""
    costs = [cost for function, cost in case.costs.items() if function.name == name]
    if not costs:
        near = sorted(f.name for f in case.functions if name.lower() in f.name.lower())[:8]
        raise UsageMistake(
            f"{case.case}: no function {name} was executed",
            hint=f"there are: {', '.join(near)}" if near else "`--format folded` lists all",
        )
    totals: dict[str, Counter[Function]] = {"called by": Counter(), "it calls": Counter()}
    calls: Counter[tuple[str, Function]] = Counter()
    for stack, node, whole in zip(case.stacks, case.nodes, case.totals, strict=True):
        if node.parent < 0:
            continue
        caller, function = stack[-2:]
        if (caller.name == name) != (function.name == name):
            which, peer = ("it calls", function) if caller.name == name else ("called by", caller)
            totals[which][peer] += whole
            calls[which, peer] += node.calls
    total, alone = sum(cost.total for cost in costs), sum(cost.self for cost in costs)
    doubt = _doubt(*costs)
    sentence = (
        f"{case.case}: {name} takes {fmt.count(total)}{doubt} instructions "
        f"({share(total, case.instructions)}) with all it calls, {fmt.count(alone)} by itself, in "
        f"{fmt.plural(sum(cost.calls for cost in costs), 'call')}."
    )
    blocks: list[Block] = [Paragraph((sentence,))]
    for which, counts in totals.items():
        rows = tuple(
            (*_place(f), fmt.count(count), share(count, total), fmt.count(calls[which, f]))
            for f, count in counts.most_common(top)
        )
        if rows:
            blocks.append(Table((*left(which, *_PLACE[1:]), *right(*_FIGURES)), rows))
    lines = [line for line in case.lines if case.functions[line.function].name == name]
    if lines:
        cells = tuple(
            (x.place, fmt.count(x.instructions), share(x.instructions, alone)) for x in lines
        )
        blocks.append(Table((*left("its dearest source lines"), *right(*_FIGURES[:2])), cells))
    return blocks


def moved(before: CaseTrace, after: CaseTrace) -> str:
    """Returns the change of a call's instructions in words."""
    more = after.instructions - before.instructions
    return (
        f"{fmt.count(before.instructions)} before, {fmt.count(after.instructions)} now: "
        f"{fmt.change(more)} instructions ({fmt.signed(more / before.instructions, 3)})."
    )


def overview(trace: Trace) -> Table:
    """Returns a table with a row per call."""
    rows: list[tuple[Cell, ...]] = []
    for case in trace.cases:
        levels = case.levels()
        inside = ["tick"] if case.interrupts()[0] else []
        inside += [name.strip("[]") for name, _ in case.others()] + ["sleep"] * case.slept
        counts = (fmt.count(levels[level]) if level in levels else "" for level in LEVELS)
        most = fmt.count(case.longest_held) if case.longest_held else ""
        rows.append((case.case, ", ".join(inside), fmt.count(case.instructions), *counts, most))
    columns = (*left("case", "inside"), *right("instructions", *LEVELS))
    return Table((*columns, *right("interrupts held", optional=True)), tuple(rows))
