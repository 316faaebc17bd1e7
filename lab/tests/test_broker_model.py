# SPDX-License-Identifier: BSD-2-Clause
"""The broker TA's commands as a state machine, all of its states up to a depth: who may not read
gets no copy, no nonce comes twice under a key, a revoked reader stays revoked, and a message is
accepted once. The normal world calls whatever it likes, repeats what it recorded, ends the
instance and cuts the power, also between two writes.

Each step of the TA that a property rests on can be left out: then the search has to find it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

ORDERS = {1: ("enrol", "k1"), 2: ("revoke", ""), 3: ("enrol", "k2")}
"""The administrator's orders about bob, by their counter; a key is another at each enrolment."""

MESSAGES = (1, 2)
"""Counters of alice's messages. Bob may read them, carol may not; nobody else is known."""

POWER_CUTS = 1
DEPTH = 9


@dataclass(frozen=True, slots=True)
class Steps:
    """Holds what the TA does; each may be left out to see that it is missed."""

    order_once: bool = True
    """An order whose counter isn't larger than the last one's is refused."""
    counter_with_change: bool = True
    """The order's counter is stored by the same write as its change."""
    drop_cached: bool = True
    """A change forgets the reader's cached key."""
    check_rule: bool = True
    remember: bool = True
    """A message that came is remembered."""
    all_seen_at_start: bool = True
    """After a start nothing up to the stored counter is accepted."""
    new_salt: bool = True
    """Each instance draws a salt of its own."""
    salt_of_instance: bool = True
    """The nonces' counter is the instance's, not the cached key's."""


@dataclass(frozen=True, slots=True)
class Stored:
    bob: str = ""
    """His key; empty: he is no client."""
    ordered: int = 0
    seen: int = 0
    """The largest counter of alice that was stored."""


@dataclass(frozen=True, slots=True)
class State:
    disk: Stored = Stored()
    memory: Stored = Stored()
    cached: str = ""
    window: frozenset[int] = frozenset()
    """Alice's counters that this instance accepted."""
    salt: int = 0
    nonces: int = 0
    cuts: int = 0
    # The truth, which no step of the TA looks at.
    truth: str = ""
    """Bob's key by the orders that were given, each counted once."""
    obeyed: frozenset[int] = frozenset()
    used: frozenset[tuple[str, int, int]] = frozenset()
    """Key, salt and counter of every copy."""
    accepted: tuple[tuple[int, int], ...] = ()
    """Message, and power cuts before it was accepted."""
    wrong: str = field(default="", compare=True)


def start(state: State, steps: Steps) -> State:
    """A new instance, from what is stored."""
    seen = range(1, state.disk.seen + 1) if steps.all_seen_at_start else ()
    return replace(
        state,
        memory=state.disk,
        cached="",
        window=frozenset(seen),
        salt=state.salt + steps.new_salt,
        nonces=0,
    )


def _obey(state: State, number: int, steps: Steps, *, writes: int) -> State:
    """An order, of whose writes so many are done before the power fails; 2 is all."""
    if steps.order_once and number <= state.memory.ordered:
        return state
    kind, key = ORDERS[number]
    changed = replace(state.memory, bob=key if kind == "enrol" else "")
    last = max(number, changed.ordered)
    done = replace(changed, ordered=last)
    first = done if steps.counter_with_change else changed
    disk = (state.disk, first, done)[writes]
    new = replace(
        state,
        disk=disk,
        memory=done,
        cached="" if steps.drop_cached else state.cached,
    )
    if disk != state.disk and number not in state.obeyed:
        newer = number > max(state.obeyed, default=0)
        new = replace(
            new,
            obeyed=state.obeyed | {number},
            truth=changed.bob if newer else state.truth,
        )
    return new


def _copy(state: State, reader: str, steps: Steps) -> State:
    """A copy for a reader who asked."""
    if reader == "carol":
        return state if steps.check_rule else replace(state, wrong="a plaintext for carol")
    key = state.cached or state.memory.bob
    if not key:
        return replace(state, cached="")
    fresh_counter = not steps.salt_of_instance and not state.cached
    nonces = 1 if fresh_counter else state.nonces + 1
    nonce = (key, state.salt, nonces)
    wrong = ""
    if nonce in state.used:
        wrong = "a nonce twice"
    elif key != state.truth:
        wrong = "a copy for a reader who was revoked"
    return replace(state, cached=key, nonces=nonces, used=state.used | {nonce}, wrong=wrong)


def _forward(state: State, message: int, reader: str, steps: Steps, *, fresh: bool) -> State:
    if not fresh:
        return _copy(state, reader, steps)
    if message in state.window:
        return state
    new = replace(state, accepted=(*state.accepted, (message, state.cuts)))
    if steps.remember:
        seen = max(message, state.memory.seen)
        new = replace(
            new,
            window=state.window | {message},
            memory=replace(state.memory, seen=seen),
        )
    if (message, state.cuts) in state.accepted:
        return replace(new, wrong="a message twice")
    return _copy(new, reader, steps)


def successors(state: State, steps: Steps) -> Iterator[State]:
    """Yields what the normal world can do next."""
    for number in ORDERS:
        yield _obey(state, number, steps, writes=2)
        if state.cuts < POWER_CUTS:
            for writes in (0, 1):
                cut = _obey(state, number, steps, writes=writes)
                yield start(replace(cut, cuts=state.cuts + 1), steps)
    for message in MESSAGES:
        yield _forward(state, message, "bob", steps, fresh=True)
    yield _forward(state, 1, "bob", steps, fresh=False)
    yield _forward(state, 1, "carol", steps, fresh=False)
    yield replace(state, cached="")  # evicted
    yield start(replace(state, disk=state.memory), steps)  # the last session ended
    if state.cuts < POWER_CUTS:
        yield start(replace(state, cuts=state.cuts + 1), steps)


def search(steps: Steps, depth: int = DEPTH) -> tuple[str, int]:
    """The first property that some sequence of calls breaks ("": none does), and how many states
    were looked at."""
    level, known = {State()}, {State()}
    for _ in range(depth):
        level = {new for state in level for new in successors(state, steps)} - known
        for state in level:
            if state.wrong:
                return state.wrong, len(known)
        # Copies need not be told apart by how many there were before.
        level = {state for state in level if len(state.used) <= 3}
        known |= level
    return "", len(known)


def test_no_sequence_of_calls_breaks_a_property() -> None:
    wrong, states = search(Steps(), depth=7)
    assert wrong == ""
    assert states > 10_000


@pytest.mark.parametrize(
    ("left_out", "wrong"),
    [
        ("order_once", "a copy for a reader who was revoked"),
        ("counter_with_change", "a copy for a reader who was revoked"),
        ("drop_cached", "a copy for a reader who was revoked"),
        ("check_rule", "a plaintext for carol"),
        ("remember", "a message twice"),
        ("all_seen_at_start", "a message twice"),
        ("new_salt", "a nonce twice"),
        ("salt_of_instance", "a nonce twice"),
    ],
)
def test_each_step_of_the_ta_is_missed(left_out: str, wrong: str) -> None:
    assert search(replace(Steps(), **{left_out: False}))[0] == wrong
