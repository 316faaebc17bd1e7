# SPDX-License-Identifier: BSD-2-Clause
"""What a program called in the TEE: the answer, its calls by TA and command, what to change, and
who called. For a terminal and for a page."""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from teemark.base import fmt
from teemark.base.files import write_whole
from teemark.findings.program import advice
from teemark.measure.watching import Leg, Ran
from teemark.page import html, markdown
from teemark.page.blocks import (
    Bar,
    Block,
    Bullets,
    Cell,
    Column,
    Findings,
    Fold,
    Paragraph,
    Section,
    Table,
)
from teemark.report.sections.trace import case_blocks
from teemark.trace.calls import Call, Kind, name_of
from teemark.trace.names import Names
from teemark.trace.profile import Trace, together
from teemark.version import __version__

TIMELINE = "timeline.json"


def sections(ran: Ran, names: Names, *, exact: bool, title: str) -> list[Section]:
    kinds = ran.watched.kinds(names)
    legs = _by_call(ran)
    found = [
        Section("answer", title, tuple(_answer(ran, kinds, names, exact=exact))),
        Section("calls", "Calls by TA and command", (_kinds(ran, kinds, legs, exact=exact),)),
    ]
    said = advice(ran.watched, names, exact=exact)
    if said:
        found.append(Section("advice", "What to change", (Findings(said),)))
    found.append(Section("sizes", "What crosses", (_params(kinds),)))
    found.append(Section("spread", "How long calls take", (_histogram(ran, exact=exact),)))
    found.append(Section("callers", "Who calls", (_callers(ran, names),)))
    return found


def _cost(ns: float, *, exact: bool) -> str:
    return fmt.count(round(ns)) if exact else fmt.duration(ns)


def _answer(ran: Ran, kinds: Sequence[Kind], names: Names, *, exact: bool) -> Iterator[Block]:
    watched = ran.watched
    if not kinds:
        yield Paragraph(("It called nothing in the TEE.",))
        return
    whole = watched.seconds * 1e9
    dearest = kinds[0]
    unit = " instructions" if exact else ""
    yield Paragraph(
        (
            f"{fmt.plural(len(watched.calls), 'call')} of libteec took "
            f"{_cost(watched.inside, exact=exact)}{unit}, "
            f"{fmt.share(watched.inside / whole if whole else 0)} of the time from the first to "
            f"the last; {fmt.share(dearest.total / watched.inside if watched.inside else 0)} of "
            f"that is {dearest.name}.",
        )
    )
    notes = [f"Watching adds {_cost(watched.own_ns, exact=exact)}{unit} to each call."]
    invokes = [call.ns for call in watched.calls if call.function == "invoke"]
    if invokes:
        share = fmt.share(watched.own_ns / min(invokes)) if min(invokes) else "?"
        notes[0] = f"{notes[0][:-1]}, {share} of the cheapest command."
    if watched.lost:
        notes.append(
            f"{fmt.plural(watched.lost, 'call')} more found no room, or never ended: the table has "
            f"the first {fmt.count(len(watched.calls))}."
        )
    if watched.processes > 1:
        notes.append(f"{watched.processes} processes loaded libteec's watcher; all are in it.")
    failed = [call for call in watched.calls if call.result]
    if failed:
        codes = Counter(f"0x{call.result:08x}" for call in failed)
        worst = ", ".join(f"{code} {count} times" for code, count in codes.most_common(4))
        notes.append(f"{fmt.plural(len(failed), 'call')} failed: {worst}.")
    nameless = sorted({call.ta for call in watched.calls if call.ta} - set(names.tas))
    if nameless:
        notes.append(f"Without names (--names gives them): {', '.join(nameless)}.")
    notes.append(_against_the_kernel(ran, exact=exact))
    yield Bullets(tuple((note,) for note in notes if note))


def _against_the_kernel(ran: Ran, *, exact: bool) -> str:
    if ran.legs is None and exact:
        return ""
    if ran.legs is None:
        return (
            "The kernel's tracepoints can't be used here (no root, or no tracefs): nothing to hold "
            "the counts against."
        )
    sessions = [c for c in ran.watched.calls if c.function in ("open", "close", "invoke")]
    mine = _by_call(ran)
    inside = sum(leg.complete for call in sessions for leg in mine.get(call, ()))
    elsewhere = sum(leg.complete for leg in ran.legs) - inside
    said = (
        f"The kernel's tracepoints count {fmt.plural(inside, 'complete call')} within the "
        f"{len(sessions)} calls of sessions"
    )
    said += ", as many" if inside == len(sessions) else f": {inside - len(sessions):+d}"
    said += f"; {elsewhere} more are shared memory's and others'."
    return said + (f" {ran.overrun} events found no room." if ran.overrun else "")


def _by_call(ran: Ran) -> dict[Call, list[Leg]]:
    """The ways into the secure world of each call."""
    by_thread: dict[int, list[Call]] = defaultdict(list)
    for call in ran.watched.calls:
        by_thread[call.thread].append(call)
    found: dict[Call, list[Leg]] = defaultdict(list)
    for leg in ran.legs or ():
        mine = by_thread.get(leg.thread, [])
        at = bisect_right(mine, leg.begin + 1000, key=lambda call: call.begin) - 1
        if at >= 0 and leg.end <= mine[at].end + 1000:
            found[mine[at]].append(leg)
    return found


def _kinds(ran: Ran, kinds: Sequence[Kind], legs: dict[Call, list[Leg]], *, exact: bool) -> Table:
    whole = ran.watched.inside
    columns = [Column("call", "left"), Column("calls"), Column("total"), Column("share")]
    columns += [Column("first"), Column("median"), Column("dearest")]
    if ran.legs is not None:
        columns += [Column("in the TEE"), Column("RPCs")]
    rows: list[tuple[Cell, ...]] = []
    for kind in kinds:
        costs = (kind.total, kind.calls[0].ns, kind.median, kind.dearest)
        total, first, median, dearest = (_cost(cost, exact=exact) for cost in costs)
        row = [kind.name, fmt.count(len(kind.calls)), total]
        row += [fmt.share(kind.total / whole) if whole else "", first, median, dearest]
        if ran.legs is not None:
            mine = [leg for call in kind.calls for leg in legs.get(call, ())]
            rpcs = Counter(leg.rpc for leg in mine if leg.rpc)
            row.append(_cost(sum(leg.end - leg.begin for leg in mine), exact=exact))
            row.append(", ".join(f"{count} {what}" for what, count in rpcs.most_common()))
        rows.append(tuple(row))
    return Table(tuple(columns), tuple(rows), note="instructions" if exact else "")


def _params(kinds: Sequence[Kind]) -> Table:
    """Kinds of parameters and their sizes; what is in a buffer is never recorded."""
    rows: list[tuple[Cell, ...]] = []
    for kind in kinds:
        found: dict[str, list[int | None]] = defaultdict(list)
        for call in kind.calls:
            if call.size:
                found["memory"].append(call.size)
            for param in call.params:
                found[param.kind].append(param.size)
        for what, sizes in found.items():
            known = [size for size in sizes if size is not None]
            span = ""
            if known:
                span = fmt.size(min(known))
                span += f"{fmt.TO}{fmt.size(max(known))}" if min(known) != max(known) else ""
            rows.append((kind.name, what, fmt.count(len(sizes)), span))
    columns = (Column("call", "left"), Column("parameter", "left"), Column("times"), Column("size"))
    return Table(columns, tuple(rows))


def _histogram(ran: Ran, *, exact: bool) -> Table:
    """By powers of two."""
    found = Counter(int(math.log2(max(call.ns, 1))) for call in ran.watched.calls)
    most = max(found.values(), default=1)
    rows: list[tuple[Cell, ...]] = [
        (
            f"{_cost(2**power, exact=exact)}{fmt.TO}{_cost(2 ** (power + 1), exact=exact)}",
            Bar(fmt.count(found[power]), found[power] / most),
        )
        for power in range(min(found, default=0), max(found, default=-1) + 1)
    ]
    return Table((Column("a call takes"), Column("calls", "left")), tuple(rows))


def _callers(ran: Ran, names: Names) -> Table:
    found: dict[tuple[str, str], list[Call]] = defaultdict(list)
    for call in ran.watched.calls:
        maps = ran.maps.get(call.process)
        at = maps.find(call.caller) if maps is not None else None
        where = f"{Path(at[0]).name}+0x{at[1]:x}" if at is not None else f"0x{call.caller:x}"
        found[where, name_of(call, names)].append(call)
    rows = sorted(found.items(), key=lambda item: -sum(call.ns for call in item[1]))
    shown = tuple((where, what, fmt.count(len(calls))) for (where, what), calls in rows[:30])
    return Table((Column("from", "left"), Column("call", "left"), Column("calls")), shown)


def traced(trace: Trace, subtests: Sequence[tuple[str, int, int]]) -> list[Section]:
    """Flame graphs of all traced calls together and of each, and xtest's subtests."""
    found = []
    if subtests:
        rows = tuple((name, fmt.count(calls), fmt.count(ns)) for name, calls, ns in subtests)
        columns = (Column("subtest", "left"), Column("calls"), Column("instructions"))
        found.append(Section("subtests", "Subtests", (Table(columns, rows),)))
    blocks: list[Block] = [Paragraph((f"Traced with {trace.optee}.",))]
    cases = [together(trace.cases), *trace.cases] if len(trace.cases) > 1 else trace.cases
    for case in cases:
        note = f"{fmt.count(case.instructions)} instructions"
        blocks.append(Fold(case.case, note, tuple(case_blocks(case, None)), open=case is cases[0]))
    return [*found, Section("trace", "Instruction by instruction", tuple(blocks))]


def timeline(ran: Ran, names: Names) -> str:
    """Chrome's trace events, as Perfetto reads them; times in µs."""
    start = min((call.begin for call in ran.watched.calls), default=0)
    events = []
    for call in ran.watched.calls:
        event = {"name": name_of(call, names), "cat": call.function, "ph": "X"}
        place = {"pid": call.process, "tid": call.thread, "ts": (call.begin - start) / 1000}
        params = [f"{p.kind} {p.size}" if p.size is not None else p.kind for p in call.params]
        details = {"result": f"0x{call.result:08x}", "parameters": params}
        events.append({**event, **place, "dur": call.ns / 1000, "args": details})
    for leg in ran.legs or ():
        events.append(
            {
                "name": "secure world" if leg.complete else f"until an RPC: {leg.rpc}",
                "cat": "leg",
                "ph": "X",
                "pid": next((c.process for c in ran.watched.calls if c.thread == leg.thread), 0),
                "tid": leg.thread,
                "ts": (leg.begin - start) / 1000,
                "dur": (leg.end - leg.begin) / 1000,
                "args": {},
            }
        )
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns"}) + "\n"


def write(made: Sequence[Section], title: str, subtitle: str, directory: Path) -> Path:
    """report.html and report.md; returns the HTML's path."""
    generator = f"Made by teemark {__version__} from calls.bin."
    write_whole(directory / "report.md", markdown.render(title, subtitle, made, generator))
    page = directory / "report.html"
    write_whole(page, html.render(title, subtitle, made, generator))
    return page
