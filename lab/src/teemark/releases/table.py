# SPDX-License-Identifier: BSD-2-Clause
"""The versions' figures in words: for the terminal, as Markdown, and for machines."""

from collections.abc import Sequence
from typing import Any

import msgspec

from teemark.page.blocks import (
    Block,
    Bullets,
    Cell,
    Code,
    Mark,
    Paragraph,
    Strong,
    Table,
    Text,
    left,
    right,
)
from teemark.releases.jumps import Bisected, Jump, cases
from teemark.releases.points import Kept, as_data, whole
from teemark.report.comparing import SIGN, signed
from teemark.wording import fmt


def figure(value: float | None) -> str:
    return fmt.NONE if value is None else fmt.count(round(value))


def cell(kept: Kept, case: str) -> str:
    """Returns a version's instructions of a case; with ~ the least, if its samples differ."""
    reading = kept.readings.get(case)
    if reading is None:
        return fmt.NONE
    return ("" if reading.steady else "~") + fmt.count(round(reading.least))


def answer(points: Sequence[Kept], found: Sequence[Jump]) -> str:
    """Returns the answer in a sentence or two: how many versions, and the largest jump."""
    measured = whole(points)
    if not measured:
        return f"None of {fmt.plural(len(points), 'version')} could be measured."
    count, ends = len(measured), (measured[0].name, measured[-1].name)
    span = f"OP-TEE {' to '.join(ends)}" if count > 1 else f"OP-TEE {ends[0]}"
    words = f"{span}, {fmt.plural(count, 'version')} measured in instructions"
    if len(points) > count:
        words += f", {len(points) - count} not"
    if not found:
        return f"{words}: no call changed by as much as the threshold from one to the next."
    top = found[0]
    dearer = "dearer" if top.pair.added > 0 else "cheaper"
    many = max(top.pair.change, top.pair.first.value / top.pair.second.value - 1) + 1
    return (
        f"{words}: {fmt.plural(len(found), 'jump')}. The largest: {top.pair.case} is "
        f"{fmt.digits(many)} times {dearer} with {top.after.name}."
    )


def jump_table(found: Sequence[Jump]) -> list[Block]:
    """Returns a table of the jumps in the order given, and their commits, each once; an empty list
    if there is no jump."""
    if not found:
        return []
    rows = [
        (
            (Code(jump.pair.case),),
            jump.after.name,
            figure(jump.pair.first.value),
            figure(jump.pair.second.value),
            (Mark(f"{SIGN[jump.pair.verdict]} {signed(jump.pair.change)}", jump.pair.verdict),),
            "" if jump.bisected is None else _hash(jump.bisected),
        )
        for jump in found
    ]
    heads = *left("call", "since"), *right("before", detail=True), *right("after", "change")
    # One commit may make several jumps, and functions were compared for some of them.
    commits: dict[str, str] = {}
    for one in filter(None, (jump.bisected for jump in found)):
        commits[_hash(one)] = max(commit(one), commits.get(_hash(one), ""), key=len)
    bullets: list[Text] = [(words,) for words in commits.values()]
    if any(jump.bisected is None for jump in found):
        bullets.append(
            ("Where no commit stands, ", Code("--optee-git DIR --bisect CALL"), " finds it.")
        )
    return [
        Table((*heads, *left("commit", optional=True)), rows, stacked=True),
        Bullets(tuple(bullets)),
    ]


def _hash(one: Bisected) -> str:
    first, last = one.found[0].commit[:9], one.found[-1].commit[:9]
    return first if first == last else f"{first} to {last}"


def commit(one: Bisected | None) -> str:
    """Returns a bisection's commit, date and title, and the functions that changed; "" for None."""
    if one is None:
        return ""
    if len(one.found) > 1:
        return f"one of {len(one.found)} commits, {_hash(one)}, that can't be measured one by one"
    found = one.found[0]
    words = f"{found.commit[:9]} ({found.date}) {found.title}"
    if abs(one.share - 1) > 0.1:
        words += f"; {fmt.percent(one.share)} of the change"
    return words + (f": {one.functions}" if one.functions else "")


def whole_table(points: Sequence[Kept]) -> Table:
    """Returns each case's instructions in each version that was measured."""
    measured = whole(points)
    rows: list[tuple[Cell, ...]] = [
        ((Code(case),), *(cell(kept, case) for kept in measured)) for case in cases(points)
    ]
    return Table((*left("instructions a call"), *right(*(kept.name for kept in measured))), rows)


def notes(points: Sequence[Kept]) -> list[str]:
    """Returns what is the same for all versions, and what is particular about some."""
    lines = []
    for compiler in dict.fromkeys(kept.point.compiler for kept in points):
        lines.append(f"compiler: {compiler}")
    for options in dict.fromkeys(kept.point.options for kept in points):
        if options:
            lines.append(f"options beyond vboard/scripts/optee: {' '.join(options)}")
    unread: dict[str, list[str]] = {}
    for kept in points:
        for option in kept.point.unread:
            unread.setdefault(option, []).append(kept.name)
        if kept.point.reason:
            lines.append(f"{kept.name}: {kept.point.reason}")
    for option, names in unread.items():
        lines.append(f"{option} is unknown to {', '.join(names)}: dropped or renamed there")
    return lines


def blocks(points: Sequence[Kept], found: Sequence[Jump], *, everything: bool) -> list[Block]:
    """Returns the answer, the jumps, the whole table if asked for, and notes."""
    shown: list[Block] = [Paragraph((Strong(answer(points, found)),)), *jump_table(found)]
    if everything:
        shown.append(whole_table(points))
    return [*shown, Bullets(tuple((line,) for line in notes(points)))]


def data(
    points: Sequence[Kept], found: Sequence[Jump], bisections: Sequence[Bisected]
) -> dict[str, Any]:
    """Returns everything for machines."""
    versions = [
        as_data(kept) | {"instructions": {case: kept.cost(case) for case in cases(points)}}
        for kept in points
    ]
    jumps = list[dict[str, Any]]()
    for jump in found:
        one, pair = jump.bisected, jump.pair
        about = {"case": pair.case, "before": jump.before.name, "after": jump.after.name}
        commit = one.found[0].commit if one is not None and len(one.found) == 1 else None
        judged = {"verdict": pair.verdict, "change": pair.change, "commit": commit}
        jumps.append(about | judged)
    return {
        "unit": "instructions a call",
        "versions": versions,
        "jumps": jumps,
        "bisections": msgspec.to_builtins(list(bisections)),
    }
