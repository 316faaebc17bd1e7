# SPDX-License-Identifier: BSD-2-Clause
"""A demo of MQTT-TZ: a broker, three clients, and what each of the clients sees of a message."""

from collections.abc import Callable
from dataclasses import dataclass

from teemark.broker.desk import PLACE, Desk

TOPIC = "tz/demo"
SECRET = b"the spare key lies under the third stone"

CLIENTS = {"alice": ["w:tz/#"], "bob": ["r:tz/#"]}
"""The clients that are enrolled, with their rules; mallory subscribes without being enrolled."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The outcome of one message."""

    bob: bytes | None  # The plaintext that bob opened; None if he could open nothing
    bob_payload: bytes
    mallory: int  # Messages that mallory got
    mallory_opens: bool  # Whether bob's copy opens with another client's key
    hits: int  # Places in the broker's memory that hold the plaintext
    searched: int  # Bytes of its memory that were looked through


def send(desk: Desk) -> Seen:
    """Sends the secret from alice to bob and mallory, and searches the broker's memory for it."""
    listeners = [desk.subscribe(name, TOPIC) for name in ("bob", "mallory")]
    desk.publish("alice", TOPIC, desk.seal("alice", TOPIC, SECRET))
    hits, searched = desk.search(SECRET.decode())
    for listener in listeners:
        desk.end(listener)
    got = desk.received("bob")
    payload = got[-1][2] if got else b""
    return Seen(
        bob=desk.opened("bob", TOPIC, payload) if payload else None,
        bob_payload=payload,
        mallory=len(desk.received("mallory")),
        mallory_opens=bool(payload) and desk.opened("mallory", TOPIC, payload) is not None,
        hits=hits,
        searched=searched,
    )


def _round(desk: Desk, say: Callable[[str], None], keys: str | None = None) -> Seen:
    """Sends the secret through a broker, prints the outcome and returns it. `keys` is a folder with
    all keys for the broker; None: only the TA has keys."""
    desk.start({"keys": keys} if keys else None)
    seen = send(desk)
    desk.stop()
    opened = "nothing" if seen.bob is None else f'"{seen.bob.decode()}"'
    say(f"  bob, who may read, got {seen.bob_payload[:20].hex()}… and opened it: {opened}")
    say(f"  mallory, who has no key at the TA, got {seen.mallory} messages")
    say(f"  bob's copy opens with another key: {'yes' if seen.mallory_opens else 'no'}")
    megabytes = seen.searched / 1e6
    say(f"  the {megabytes:.0f} MB that the broker can write hold the plaintext {seen.hits} times")
    return seen


def show(desk: Desk, say: Callable[[str], None]) -> bool:
    """Runs the demo and prints each step; returns true if every outcome was as expected."""
    desk.claim()
    desk.enrol(CLIENTS)
    desk.teemq("key", "mallory", "mallory", check=False)
    say(f'alice publishes "{SECRET.decode()}" on {TOPIC}, sealed for the TA')
    say(f"\nMQTT-TZ, mosquitto {desk.version}: the TA seals a copy for each reader")
    trusted = _round(desk, say)
    say(
        "\nThe same without a TEE: the plugin has all keys, and no rules. The search has to find it"
    )
    control = _round(desk, say, keys=PLACE)

    say("\nbob is revoked, and alice publishes again")
    desk.start()
    desk.teemq("revoke", "admin", "bob")
    revoked = send(desk)
    desk.stop()
    say(f"  bob got {'a message' if revoked.bob_payload else 'nothing'}")

    right = (
        trusted.bob == SECRET
        and not trusted.mallory
        and not trusted.mallory_opens
        and trusted.hits == 0
        and control.hits > 0
        and not revoked.bob_payload
    )
    say("\nAs it should be." if right else "\nNot as it should be: see above.")
    return right
