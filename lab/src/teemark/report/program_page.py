# SPDX-License-Identifier: BSD-2-Clause
"""A program's calls into the TEE by TA and command, with advice and the callers; for a terminal and
for a page."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from teemark.base.files import write_whole
from teemark.base.results import SHORT_BUFFER, TARGET_DEAD
from teemark.findings.program import Cost, advice
from teemark.measure.memory import MemoryUse
from teemark.measure.origin import command
from teemark.measure.watching import Leg, Ran, Wait
from teemark.page import blocks as page
from teemark.page import html, markdown
from teemark.report import memory_page
from teemark.report.heading import day, footer
from teemark.report.sections.trace import calls
from teemark.trace.calls import CallKind, TeeCall, name_of
from teemark.trace.names import Names, origin, result
from teemark.trace.profile import Trace, together
from teemark.trace.symbols import Elf
from teemark.wording import fmt

_Span = TypeVar("_Span", Leg, Wait)


def sections(
    ran: Ran, names: Names, *, exact: bool, elfs: Mapping[str, Elf] | None = None
) -> list[page.Section]:
    """Returns the sections, the answer first; with `exact`, times are instructions. `elfs` are the
    known files of TAs by UUID, with the names of their functions."""
    kinds, legs = ran.watched.kinds(names), _by_call(ran, ran.legs or ())

    def cost(ns: float) -> str:
        return fmt.count(round(ns)) if exact else fmt.duration(ns)

    pools = any(step.pools for step in ran.memory)
    memory = (memory_page.pools((MemoryUse("all", ran.memory),), "program"),) if pools else ()
    findings = advice(ran.watched, names, exact=exact)
    answer = _attached(ran, cost) if ran.attached else _answer(ran, kinds, names, cost, exact=exact)
    parts = (
        ("answer", "In short", tuple(answer)),
        ("failed", "Which calls failed", tuple(_failed(ran, names, elfs))),
        ("calls", "Calls by TA and command", (_kinds(ran, kinds, legs, cost, exact=exact),)),
        ("waits", "What calls wait for", tuple(_waits(ran, cost))),
        ("advice", "What to change", (page.Findings(findings),) if findings else ()),
        ("sizes", "What crosses", (_params(kinds),)),
        ("memory", "Memory", memory),
        ("callers", "Who calls", (_callers(ran, names),)),
    )
    shown = parts if kinds else parts[:1]
    unknown = ("sizes", "callers") if ran.attached else ()
    return [page.Section(*part) for part in shown if part[2] and part[0] not in unknown]


def _answer(
    ran: Ran, kinds: Sequence[CallKind], names: Names, cost: Cost, *, exact: bool
) -> Iterator[page.Block]:
    watched = ran.watched
    if not kinds:
        yield page.Paragraph((_unseen(ran),))
        return
    unit = " instructions" if exact else ""
    whole, inside = watched.seconds * 1e9, watched.inside
    yield page.Paragraph(
        (
            f"{fmt.plural(len(watched.calls), 'call')} of libteec took {cost(inside)}{unit}, "
            f"{fmt.share(inside / whole if whole else 0)} of the time from the first to the last; "
            f"{fmt.share(kinds[0].total / inside if inside else 0)} of that is {kinds[0].name}.",
        )
    )
    least = min((call.ns for call in watched.calls if call.function == "invoke"), default=0)
    in_least = f", {fmt.share(watched.own_ns / least)} of the cheapest command" if least else ""
    notes = [f"Watching adds {cost(watched.own_ns)}{unit} to each call{in_least}."]
    if watched.lost:
        notes.append(
            f"{fmt.plural(watched.lost, 'call')} more found no room, or never ended: the table has "
            f"the first {fmt.count(len(watched.calls))}."
        )
    if watched.processes > 1:
        notes.append(f"{watched.processes} processes loaded libteec's watcher; all are in it.")
    failed = [call for call in watched.calls if call.result and call.result != SHORT_BUFFER]
    if failed:
        notes.append(f"{fmt.plural(len(failed), 'call')} failed: see below.")
    size_queries = sum(call.result == SHORT_BUFFER for call in watched.calls)
    if size_queries:
        only = "only asked for a size (TEE_ERROR_SHORT_BUFFER), which is no failure"
        notes.append(f"{fmt.plural(size_queries, 'call')} {only}.")
    nameless = sorted({call.ta for call in watched.calls if call.ta} - set(names.tas))
    if nameless:
        notes.append(f"Without names (--names gives them): {', '.join(nameless)}.")
    notes.append(_against_the_kernel(ran, exact=exact))
    yield page.Bullets(tuple((note,) for note in notes if note))


def _unseen(ran: Ran) -> str:
    """Returns what the kernel counted where the preloaded library saw no call."""
    if ran.legs is None:
        return "No call of libteec was seen, and the kernel's tracepoints were not read."
    counted = Counter(leg.program for leg in ran.legs if leg.complete)
    if not counted and (ran.legs or ran.overrun):
        return "No call of libteec was seen, and none was traced whole by the kernel's tracepoints."
    if not counted:
        return "It called nothing in the TEE: the kernel's tracepoints count no call, either."
    by = ", ".join(f"{fmt.count(n)} by {program}" for program, n in counted.most_common(4))
    words = f"the kernel's tracepoints count {fmt.plural(counted.total(), 'call')} into the TEE"
    return f"No call of libteec was seen, but {words} meanwhile: {by}."


def _attached(ran: Ran, cost: Cost) -> Iterator[page.Block]:
    watched, by_call = ran.watched, _by_call(ran, ran.legs or ())
    legs = [leg for mine in by_call.values() for leg in mine]
    inside = sum(leg.end - leg.begin for leg in legs)
    rpcs = fmt.plural(sum(not leg.complete for leg in legs), "RPC")
    text = f"Process {ran.attached}: {fmt.plural(len(watched.calls), 'call')} into the TEE took "
    text += f"{cost(watched.inside)}: {cost(inside)} in the secure world, the rest for {rpcs}."
    yield page.Paragraph((text,))
    unknown = (
        "Not known without the library that `teemark watch -- PROGRAM` preloads: TA, command, what "
        "crosses, who calls. Opening a session and registering memory are calls, too."
    )
    lost = f"{fmt.plural(watched.lost, 'call')} hadn't ended; {ran.overrun} events found no room."
    yield page.Bullets(((unknown,), (lost,)))


def _against_the_kernel(ran: Ran, *, exact: bool) -> str:
    if ran.legs is None:
        why = "The kernel's tracepoints can't be used here (no root, or no tracefs)"
        return "" if exact else f"{why}: nothing to compare the counts with."
    sessions = [c for c in ran.watched.calls if c.function in ("open", "close", "invoke")]
    mine = _by_call(ran, ran.legs)
    inside = sum(leg.complete for call in sessions for leg in mine.get(call, ()))
    ids = {id(leg) for legs in mine.values() for leg in legs}
    others = Counter(leg.program for leg in ran.legs if leg.complete and id(leg) not in ids)
    memory = sum(leg.complete for legs in mine.values() for leg in legs) - inside
    apart = ", as many" if inside == len(sessions) else f": {inside - len(sessions):+d}"
    params = (param for call in sessions for param in call.params if param.size)
    temporary = sum(param.kind.startswith("temporary") for param in params)
    if temporary and inside != len(sessions):
        buffers = fmt.plural(temporary, "temporary buffer")
        apart += f" ({buffers}: libteec registers each for the call, and releases it behind it)"
    more = [f"{memory} in calls for shared memory"] * bool(memory)
    more += [f"{count} by {program}" for program, count in others.most_common(4)]
    return (
        f"The kernel's tracepoints count {fmt.plural(inside, 'complete call')} within the "
        f"{len(sessions)} calls of sessions{apart}; besides {', '.join(more) or 'none'}."
    ) + (f" {ran.overrun} events found no room." if ran.overrun else "")


def _failed(ran: Ran, names: Names, elfs: Mapping[str, Elf] | None) -> Iterator[page.Block]:
    results = Counter[tuple[str, str, str]]()
    dead = set[tuple[int, int]]()
    for call in ran.watched.calls:
        if call.result in (0, SHORT_BUFFER):
            continue
        what = result(call.result)
        if call.result == TARGET_DEAD:
            before = call.session and (call.process, call.session) in dead
            what += ": the TA had ended before" if before else ": it ended the TA"
            dead.add((call.process, call.session))
        results[name_of(call, names), what, origin(call.origin)] += 1
    if results:
        rows = [(*row, fmt.count(count)) for row, count in results.most_common()]
        yield page.Table((*page.left("call", "result", "said by"), *page.right("times")), rows)
    stacks = Counter((d.ta, d.why, d.frames(elfs or {})) for d in ran.deaths)
    lines = [
        f"{names.ta(ta)}, {fmt.plural(count, 'time')}: {why}{stack and ', in '}{stack}"
        for (ta, why, stack), count in stacks.most_common(8)
    ]
    if lines:
        yield page.Paragraph(("How TAs ended, by the secure console (innermost function first):",))
        yield page.Bullets(tuple((line,) for line in lines))
    elif dead:
        yield page.Paragraph(
            ("Why a TA ended stands on the secure console, which isn't read here.",)
        )


def _by_call(ran: Ran, spans: Sequence[_Span]) -> dict[TeeCall, list[_Span]]:
    by_thread: dict[int, list[TeeCall]] = defaultdict(list)
    for call in ran.watched.calls:
        by_thread[call.thread].append(call)
    legs: dict[TeeCall, list[_Span]] = defaultdict(list)
    for leg in spans:
        mine = by_thread.get(leg.thread, [])
        at = bisect_right(mine, leg.begin + 1000, key=lambda call: call.begin) - 1
        if at >= 0 and leg.end <= mine[at].end + 1000:
            legs[mine[at]].append(leg)
    return legs


def _kinds(
    ran: Ran, kinds: Sequence[CallKind], legs: dict[TeeCall, list[Leg]], cost: Cost, *, exact: bool
) -> page.Table:
    rows = []
    for kind in kinds:
        mine = [leg for call in kind.calls for leg in legs.get(call, ())]
        rpcs = Counter(leg.rpc for leg in mine if leg.rpc).most_common()
        rows.append(
            (
                kind.name,
                fmt.count(len(kind.calls)),
                cost(kind.total),
                fmt.share(kind.total / ran.watched.inside) if ran.watched.inside else "",
                *(cost(ns) for ns in (kind.calls[0].ns, kind.median, kind.dearest)),
                cost(sum(leg.end - leg.begin for leg in mine)) if ran.legs is not None else "",
                ", ".join(f"{count} {what}" for what, count in rpcs),
            )
        )
    figures = page.right("calls", "total", "share", "first", "median", "dearest")
    columns = (*page.left("call"), *figures, *page.right("in the TEE", "RPCs", optional=True))
    return page.Table(columns, rows, note="instructions" if exact else "")


_WAITS = {
    "thread": ("a thread of OP-TEE", "more of them: CFG_NUM_THREADS"),
    "supplicant": ("tee-supplicant", "fewer calls that need storage, or load TAs"),
    "lock": ("a lock in the TEE", ""),
    "session": ("another call of the session", "a session for each thread"),
    "instance": (
        "the TA's only instance, or another lock",
        "where TA_FLAG_SINGLE_INSTANCE is set: a TA without it",
    ),
}
"""Words for each thing that threads wait for, and a change that shortens the wait."""


def _lock(session: Sequence[TeeCall], longest: int, call: TeeCall, wait: Wait, since: int) -> str:
    """Returns whether a call waited for another one of its session, or for the TA's instance or
    another lock. The calls of the session are in the order of their beginnings, and take at most
    `longest` ns. `since` is when this call began, or its wait before ended: what held the lock may
    have returned before the kernel heard of the wait."""
    ends = (since - longest, wait.end)
    first, last = (bisect_left(session, ns, key=lambda other: other.begin) for ns in ends)
    beside = (other for other in session[first:last] if other is not call)
    return "session" if any(other.end > since for other in beside) else "instance"


def waiting(ran: Ran) -> dict[str, list[int]]:
    """Returns how long each wait within a call took, in ns, by its cause: a key of _WAITS."""
    found: dict[str, list[int]] = defaultdict(list)
    sessions: dict[tuple[int, int], list[TeeCall]] = defaultdict(list)
    for call in ran.watched.calls if ran.waits else ():
        sessions[call.process, call.session].append(call)
    longest = {key: max(call.ns for call in calls) for key, calls in sessions.items()}
    for call, waits in _by_call(ran, ran.waits).items():
        key = call.process, call.session
        since = call.begin
        for wait in waits:
            locked = wait.what == "lock" and call.session
            what = _lock(sessions[key], longest[key], call, wait, since) if locked else wait.what
            found[what].append(wait.end - wait.begin)
            since = wait.end
    return found


def _waits(ran: Ran, cost: Cost) -> Iterator[page.Block]:
    """Yields a table of where the time of the calls went, if a call waited."""
    rows = []
    for what, ns in sorted(waiting(ran).items(), key=lambda item: -sum(item[1])):
        share = fmt.share(sum(ns) / ran.watched.inside)
        rows.append((_WAITS[what][0], fmt.count(len(ns)), cost(sum(ns)), share, _WAITS[what][1]))
    columns = (*page.left("for"), *page.right("times", "in all", "share of the time in calls"))
    if rows:
        yield page.Table((*columns, *page.left("what makes it shorter")), rows)


def _params(kinds: Sequence[CallKind]) -> page.Table:
    by_param: dict[tuple[str, str], list[int | None]] = defaultdict(list)
    for kind in kinds:
        for call in kind.calls:
            if call.size:
                by_param[kind.name, "memory"].append(call.size)
            for param in call.params:
                by_param[kind.name, param.kind].append(param.size)
    rows = []
    for (name, what), sizes in by_param.items():
        ends = sorted({size for size in sizes if size is not None})
        span = fmt.TO.join(map(fmt.size, dict.fromkeys((ends[0], ends[-1])))) if ends else ""
        rows.append((name, what, fmt.count(len(sizes)), span))
    columns = (*page.left("call", "parameter"), *page.right("times", "size"))
    return page.Table(columns, rows, stacked=True)


def _callers(ran: Ran, names: Names) -> page.Table:
    by_caller: dict[tuple[str, str], list[int]] = defaultdict(list)
    for call in ran.watched.calls:
        maps = ran.maps.get(call.process)
        at = maps.find(call.caller) if maps is not None else None
        where = f"{Path(at[0]).name}+0x{at[1]:x}" if at is not None else f"0x{call.caller:x}"
        by_caller[where, name_of(call, names)].append(call.ns)
    dearest = sorted(by_caller.items(), key=lambda item: -sum(item[1]))[:30]
    rows = [(where, what, fmt.count(len(calls))) for (where, what), calls in dearest]
    return page.Table((*page.left("from", "call"), *page.right("calls")), rows)


def traced(trace: Trace, subtests: Sequence[tuple[str, int, int]]) -> list[page.Section]:
    """Returns xtest's subtests, and flame graphs of all traced calls together and of each call."""
    xtest = []
    if subtests:
        rows = [(name, fmt.count(calls), fmt.count(ns)) for name, calls, ns in subtests]
        columns = (*page.left("subtest"), *page.right("calls", "instructions"))
        xtest.append(page.Section("subtests", "Subtests", (page.Table(columns, rows),)))
    cases = (together(trace.cases), *trace.cases) if len(trace.cases) > 1 else trace.cases
    blocks = tuple(calls(replace(trace, cases=cases)))
    return [*xtest, page.Section("trace", "Instruction by instruction", blocks)]


def write(
    parts: Sequence[page.Section], what: str, board: str, directory: Path, subtitle: str = ""
) -> Path:
    """Writes report.html and report.md on `what`, a program or message; returns the HTML's path."""
    title = f"What {what} spends in the TEE of {board}, {day(datetime.now(UTC).isoformat())}"
    foot = footer(title, again=command(board), source="calls.bin")
    write_whole(directory / "report.md", markdown.render(title, subtitle, parts, foot))
    page = directory / "report.html"
    write_whole(page, html.render(title, subtitle, parts, foot))
    return page
