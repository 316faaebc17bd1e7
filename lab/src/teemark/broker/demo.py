# SPDX-License-Identifier: BSD-2-Clause
"""A demo of MQTT-TZ: a broker, three clients, and what each of the clients sees of a message."""

from collections.abc import Callable
from dataclasses import dataclass

from teemark.broker.mosquitto import PLACE, Mosquitto

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


def send(mosquitto: Mosquitto) -> Seen:
    """Sends the secret from alice to bob and mallory, and searches the broker's memory for it."""
    listeners = [mosquitto.subscribe(name, TOPIC) for name in ("bob", "mallory")]
    mosquitto.publish("alice", TOPIC, mosquitto.seal("alice", TOPIC, SECRET))
    hits, searched = mosquitto.search(SECRET.decode())
    for listener in listeners:
        mosquitto.end(listener)
    messages = mosquitto.received("bob")
    payload = messages[-1][2] if messages else b""
    return Seen(
        bob=mosquitto.opened("bob", TOPIC, payload) if payload else None,
        bob_payload=payload,
        mallory=len(mosquitto.received("mallory")),
        mallory_opens=bool(payload) and mosquitto.opened("mallory", TOPIC, payload) is not None,
        hits=hits,
        searched=searched,
    )


def _round(mosquitto: Mosquitto, say: Callable[[str], None], keys: str | None = None) -> Seen:
    """Sends the secret through a broker, prints the outcome and returns it. `keys` is a folder with
    all keys for the broker; None: only the TA has keys."""
    mosquitto.start({"keys": keys} if keys else None)
    seen = send(mosquitto)
    mosquitto.stop()
    opened = "nothing" if seen.bob is None else f'"{seen.bob.decode()}"'
    say(f"  bob, who may read, got {seen.bob_payload[:20].hex()}… and opened it: {opened}")
    say(f"  mallory, who has no key at the TA, got {seen.mallory} messages")
    say(f"  bob's copy opens with another key: {'yes' if seen.mallory_opens else 'no'}")
    megabytes = seen.searched / 1e6
    say(f"  the {megabytes:.0f} MB that the broker can write hold the plaintext {seen.hits} times")
    return seen


def show(mosquitto: Mosquitto, say: Callable[[str], None]) -> bool:
    """Runs the demo and prints each step; returns true if every outcome was as expected."""
    mosquitto.claim()
    mosquitto.enrol(CLIENTS)
    mosquitto.teemq("key", "mallory", "mallory", check=False)
    say(f'alice publishes "{SECRET.decode()}" on {TOPIC}, sealed for the TA')
    say("\nMQTT-TZ, mosquitto 2.1: the TA seals a copy for each reader")
    trusted = _round(mosquitto, say)
    say(
        "\nThe same without a TEE: the plugin has all keys, and no rules. The search has to find it"
    )
    control = _round(mosquitto, say, keys=PLACE)

    say("\nbob is revoked, and alice publishes again")
    mosquitto.start()
    mosquitto.teemq("revoke", "admin", "bob")
    revoked = send(mosquitto)
    mosquitto.stop()
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
