# SPDX-License-Identifier: BSD-2-Clause
"""Advice on a watched program's calls: repeated work that the program could do once. Each saving is
computed from the program's own calls on that board, or not given. Pure."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace

from teemark.base.finding import Figure, Finding, Share, ranked
from teemark.base.results import SHORT_BUFFER, TARGET_DEAD
from teemark.trace.calls import TeeCall, WatchedCalls, name_of
from teemark.trace.names import Names
from teemark.wording import fmt

Cost = Callable[[float], str]

FEW = 3  # Fewest calls of a kind that are worth advice
SMALL = 4096  # Pieces up to this many bytes are small: a page


def advice(watched: WatchedCalls, names: Names, *, exact: bool = False) -> tuple[Finding, ...]:
    """Returns findings on a program's calls, the dearest first; none for a program with few calls.
    With `exact`, times are instructions. Only calls that succeeded or asked for a size count, and
    no session whose TA died: its end has to be mended first."""
    dead = {call.session for call in watched.calls if call.result == TARGET_DEAD}
    expected = (call for call in watched.calls if call.result in (0, SHORT_BUFFER))
    well = (call for call in expected if not call.session or call.session not in dead)
    watched = replace(watched, calls=tuple(well))
    if not watched.inside:
        return ()

    def cost(ns: float) -> str:
        return f"{fmt.count(round(ns))} instructions" if exact else fmt.duration(ns)

    rules = (_sessions, _temporary, _pieces, _memory, _dearest)
    return ranked(tuple(finding for rule in rules for finding in rule(watched, names, cost)))


def _share(ns: float, watched: WatchedCalls, *, at_most: bool = False) -> Share:
    return Share(ns / watched.inside, "the time in calls", at_most)


def _sessions(watched: WatchedCalls, names: Names, cost: Cost) -> Iterator[Finding]:
    by_ta: dict[tuple[int, str], dict[str, list[TeeCall]]] = defaultdict(lambda: defaultdict(list))
    for call in watched.calls:
        if call.ta:
            by_ta[call.process, call.ta][call.function].append(call)
    for (_, ta), calls in by_ta.items():
        opened, invoked = calls["open"], calls["invoke"]
        if len(opened) < FEW or len(invoked) > 2 * len(opened):
            continue
        around = [*opened[1:], *calls["close"][1:]]
        yield Finding(
            key="program-session-per-call",
            topic="choice",
            claim=f"{names.ta(ta)}: {len(opened)} sessions are opened for "
            f"{fmt.plural(len(invoked), 'command')}.",
            evidence=f"Opening takes {cost(sum(c.ns for c in opened) / len(opened))}.",
            remedy="Open one session and keep it; a TA with TA_FLAG_INSTANCE_KEEP_ALIVE stays "
            "loaded between sessions.",
            saves=_share(sum(call.ns for call in around), watched),
            figures=(Figure("sessions", len(opened)), Figure("commands", len(invoked))),
        )


def _temporary(watched: WatchedCalls, names: Names, _cost: Cost) -> Iterator[Finding]:
    by_name: dict[str, list[TeeCall]] = defaultdict(list)
    for call in watched.calls:
        if call.function == "invoke" and any(p.kind.startswith("temporary") for p in call.params):
            by_name[name_of(call, names)].append(call)
    for name, calls in by_name.items():
        if len(calls) < FEW:
            continue
        sizes = [p.size or 0 for c in calls for p in c.params if p.kind.startswith("temporary")]
        yield Finding(
            key="program-temporary-memory",
            topic="choice",
            claim=f"{name}: {len(calls)} calls pass temporary memory, up to "
            f"{fmt.size(max(sizes))}.",
            evidence="Each is registered with the TEE for the call, and released behind it.",
            remedy="Allocate shared memory once (TEEC_AllocateSharedMemory) and pass parts of it. "
            "What that saves on this board, `teemark explain --choices` says of a run of "
            "`--plan explain`.",
            costs=_share(sum(call.ns for call in calls), watched),
            figures=(Figure("calls", len(calls)),),
        )


def _pieces(watched: WatchedCalls, names: Names, cost: Cost) -> Iterator[Finding]:
    by_session: dict[tuple[int, str], list[TeeCall]] = defaultdict(list)
    for call in watched.calls:
        sizes = [p.size or 0 for p in call.params if p.size is not None and "in" in p.kind]
        if call.function == "invoke" and call.session and 0 < max(sizes, default=0) <= SMALL:
            by_session[call.session, name_of(call, names)].append(call)
    for (_, name), calls in by_session.items():
        if len(calls) < 16:
            continue
        cheapest = min(call.ns for call in calls)
        total = sum(p.size or 0 for c in calls for p in c.params if p.size and "in" in p.kind)
        fewer = max(1, -(-total // (16 * SMALL)))
        yield Finding(
            key="program-small-pieces",
            topic="choice",
            claim=f"{name}: {len(calls)} calls of one session carry {fmt.size(total)} in all.",
            evidence=f"The cheapest of them takes {cost(cheapest)}.",
            remedy="If they are pieces of one message, pass larger ones: with 64 KiB a call there "
            f"would be {fewer}.",
            saves=_share((len(calls) - fewer) * cheapest, watched, at_most=True),
            figures=(Figure("calls", len(calls)),),
        )


def _memory(watched: WatchedCalls, _names: Names, _cost: Cost) -> Iterator[Finding]:
    areas = [call for call in watched.calls if call.function in ("register", "allocate")]
    gone = [call for call in watched.calls if call.function == "release"]
    invoked = sum(call.function == "invoke" for call in watched.calls)
    if len(areas) >= FEW and 2 * len(areas) >= invoked:
        yield Finding(
            key="program-memory-per-call",
            topic="choice",
            claim=f"Shared memory is made {len(areas)} times for {fmt.plural(invoked, 'command')}.",
            remedy="Make it once, as large as the largest call needs, and pass parts of it.",
            saves=_share(sum(call.ns for call in (*areas[1:], *gone[1:])), watched),
            figures=(Figure("made", len(areas)), Figure("commands", invoked)),
        )


def _dearest(watched: WatchedCalls, names: Names, cost: Cost) -> Iterator[Finding]:
    kinds = [kind for kind in watched.kinds(names) if kind.calls[0].function == "invoke"]
    cheapest = min((kind.median for kind in kinds), default=0.0)
    for kind in kinds:
        each = kind.total / len(kind.calls)
        if kind.total < watched.inside / 2 or each < 10 * cheapest:
            continue
        saves = Share(each / watched.inside, "the time in calls with each call less")
        yield Finding(
            key="program-dearest-command",
            topic="choice",
            claim=f"{kind.name} takes {fmt.share(kind.total / watched.inside)} of the time in "
            f"calls, {cost(each)} each time.",
            evidence=f"The cheapest command takes {cost(cheapest)}: this one computes long.",
            remedy="Call it less often: keep what it gave, as a TLS server that resumes sessions; "
            "or let it do less: `--plan asymmetric` has what other keys take on this board, "
            "`teemark what-if CASE` what other builds of OP-TEE take.",
            costs=_share(kind.total, watched),
            saves=saves if len(kind.calls) >= FEW else None,
            figures=(Figure("calls", len(kind.calls)),),
        )
