# SPDX-License-Identifier: BSD-2-Clause
"""The broker TA's commands as a state machine, all of its states up to a depth: who may not read
gets no copy, no nonce comes twice under a key, a revoked reader stays revoked, and a message is
accepted once. The normal world calls whatever it likes, repeats, reorders and loses what it
recorded, has an order refused, ends the instance and cuts the power, also between two writes.

Below it is the key agreement: whoever enrols gives any orders, and may tell the client any key for
the TA's. An agreed key stays unknown to it.

Each step of the TA that a property rests on can be left out: then the search has to find it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from itertools import product

import pytest

ORDERS = {1: ("enrol", "k1"), 2: ("revoke", ""), 3: ("enrol", "k2"), 4: ("alice again", "")}
"""The administrator's orders, by their counter: about bob, whose key is another at each enrolment,
and one that enrols alice once more with the key that she has."""

MESSAGES = (1, 2)
"""Counters of alice's messages. Bob may read them, carol may not; nobody else is known."""

POWER_CUTS = 1
DEPTH = 9


@dataclass(frozen=True, slots=True)
class Steps:
    """Holds what the TA does; each may be left out to see that it is missed."""

    order_once: bool = True
    """An order that was obeyed is refused."""
    order_rises: bool = True
    """An order whose number isn't larger than the last one's is refused. Without this the TA has a
    window of numbers that it took, as it had until 5b123c88."""
    window_restored: bool = True
    """After a refused order that window is what it was; it wasn't until 5b123c88."""
    refused_changes_nothing: bool = True
    """An order that storage refuses isn't obeyed in memory either."""
    counter_with_change: bool = True
    """The order's counter is stored by the same write as its change."""
    keep_seen: bool = True
    """Who is enrolled once more with the same key keeps what was seen of it."""
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
    orders: int = -1
    """The window of orders, as bits: bit i is set if order `memory.ordered - i` came."""
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
        orders=-1,
        salt=state.salt + steps.new_salt,
        nonces=0,
    )


def _refuses(state: State, number: int, steps: Steps) -> bool:
    """Whether the TA takes the order for one that came before."""
    back = state.memory.ordered - number
    if not steps.order_once or back < 0:
        return False
    return steps.order_rises or bool(state.orders >> back & 1)


def _orders(state: State, number: int, steps: Steps) -> int:
    """Returns the window of orders with this one in it."""
    ahead = number - state.memory.ordered
    if steps.order_rises:
        return state.orders
    return state.orders << ahead | 1 if ahead > 0 else state.orders | 1 << -ahead


def _refuse(state: State, number: int, steps: Steps) -> State:
    """An order that the TA doesn't obey, for what it says or as its storage is full."""
    if _refuses(state, number, steps):
        return state
    new = state
    if not steps.window_restored:
        new = replace(new, orders=_orders(state, number, steps))
    if not steps.refused_changes_nothing:
        new = replace(new, memory=replace(state.memory, bob=ORDERS[number][1]), cached="")
    return new


def _obey(state: State, number: int, steps: Steps, *, writes: int) -> State:
    """An order, of whose writes so many are done before the power fails; 2 is all."""
    if _refuses(state, number, steps):
        return state
    state = replace(state, orders=_orders(state, number, steps))
    kind, key = ORDERS[number]
    forgets = kind == "alice again" and not steps.keep_seen
    if kind == "alice again":
        changed = replace(state.memory, seen=0) if forgets else state.memory
    else:
        changed = replace(state.memory, bob=key)
    last = max(number, changed.ordered)
    done = replace(changed, ordered=last)
    first = done if steps.counter_with_change else changed
    disk = (state.disk, first, done)[writes]
    new = replace(
        state,
        disk=disk,
        memory=done,
        cached="" if steps.drop_cached else state.cached,
        window=frozenset() if forgets else state.window,
    )
    if kind == "alice again":
        return new
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


def successors(state: State, steps: Steps, *, reorders: bool = True) -> Iterator[State]:
    """Yields what the normal world can do next. Unless it `reorders`, an order that comes for the
    first time comes after all that came."""
    for number in ORDERS:
        if not reorders and number < max(state.obeyed, default=0) and number not in state.obeyed:
            continue
        yield _obey(state, number, steps, writes=2)
        yield _refuse(state, number, steps)
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


def search(steps: Steps, depth: int = DEPTH, *, reorders: bool = True) -> tuple[str, int]:
    """The first property that some sequence of calls breaks ("": none does), and how many states
    were looked at."""
    level, known = {State()}, {State()}
    for _ in range(depth):
        level = {new for old in level for new in successors(old, steps, reorders=reorders)}
        level -= known
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
        ("order_rises", "a copy for a reader who was revoked"),
        ("refused_changes_nothing", "a copy for a reader who was revoked"),
        ("counter_with_change", "a copy for a reader who was revoked"),
        ("keep_seen", "a message twice"),
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


def test_a_window_of_orders_that_a_refused_one_shifts_lets_others_come_again() -> None:
    """The TA had this fault until 5b123c88, even where orders came in their sequence."""
    old = replace(Steps(), order_rises=False, window_restored=False)
    assert search(old, reorders=False)[0] == "a copy for a reader who was revoked"
    restored = replace(old, window_restored=True)
    assert search(restored, depth=7, reorders=False)[0] == ""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Holds what client and TA do to agree on a key; each may be left out, too."""

    client_checks_the_ta: bool = True
    """The client compares the TA's key with what the board printed."""
    refuse_small_order: bool = True
    order_in_info: bool = True
    """A key that wraps is another than one that is agreed on."""
    points_in_info: bool = True
    id_in_info: bool = True


OWNERS = {"C": "client", "C'": "client", "T": "TA", "E": "enroller"}
"""Whose secret a public half belongs to. C' is another encoding of C, and "0" nobody's: a point of
small order."""

Key = tuple[object, ...]


def _key(steps: Agreement, order: str, name: str, own: str, points: tuple[str, str]) -> Key:
    """The key that `own` derives. The first point is the client's half, the second the TA's."""
    other = points[0] if own == "TA" else points[1]
    secret = frozenset({own, OWNERS[other]}) if other in OWNERS else frozenset[str]()
    seen = (order if steps.order_in_info else "", points if steps.points_in_info else ())
    return (secret, *seen, name if steps.id_in_info else "")


def _known(key: Key, *owners: str) -> bool:
    """X25519 of a point of small order is 0, which everybody knows."""
    secret = key[0]
    assert isinstance(secret, frozenset)
    return not secret or bool(secret & set(owners))


def _broken(steps: Agreement, told: str, orders: tuple[tuple[str, str, str], ...]) -> str:
    """The property that is broken where the client was told this key of the TA's, and the TA was
    given these orders: letter, id, and the point in it."""
    if steps.client_checks_the_ta and told != "T":
        return ""  # it makes no key
    own = _key(steps, "A", "client", "client", ("C", told))
    if _known(own, "enroller"):
        return "the client's key is known to whoever enrols"
    held: dict[tuple[str, str], Key] = {}
    for order, name, point in orders:
        if point == "0" and steps.refuse_small_order:
            continue
        key = _key(steps, order, name, "TA", (point, "T"))
        if order == "A" and _known(key):
            return "a client's key is known to all"
        if order == "E" and key == own:
            return "the client's key wraps"
        if order == "A":
            held[name, point] = key
    if held.get(("client", "C"), own) != own:
        return "both ends have other keys"
    twice = len(set(held.values())) < len(held)
    return "a key of two clients, or of two points" if twice else ""


def _agreements(steps: Agreement) -> tuple[set[str], int]:
    """Returns the properties that some pair of orders breaks, whichever key the client is told."""
    orders = list(product("AE", ("client", "other"), ("C", "C'", "E", "0")))
    found = [_broken(steps, told, pair) for told in "TE0" for pair in product(orders, repeat=2)]
    return {wrong for wrong in found if wrong}, len(found)


def test_an_agreed_key_is_unknown_to_whoever_enrols() -> None:
    assert _agreements(Agreement()) == (set(), 3 * 16 * 16)


@pytest.mark.parametrize(
    ("left_out", "wrong"),
    [
        ("client_checks_the_ta", "the client's key is known to whoever enrols"),
        ("refuse_small_order", "a client's key is known to all"),
        ("order_in_info", "the client's key wraps"),
        ("points_in_info", "a key of two clients, or of two points"),
        ("id_in_info", "a key of two clients, or of two points"),
    ],
)
def test_each_step_of_the_agreement_is_missed(left_out: str, wrong: str) -> None:
    assert left_out in {one.name for one in fields(Agreement)}
    assert _agreements(replace(Agreement(), **{left_out: False}))[0] == {wrong}
