# SPDX-License-Identifier: BSD-2-Clause
"""docs/broker.md's table of threats, row by row, on the real OP-TEE: whoever is in the row tries.

root has the machine and the keys of any number of clients; a stranger has the network alone. Each
of these attacks succeeded before its remedy was there (5b123c88), or the table names it as open.
"""

import struct
import time
from collections.abc import Iterator

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from conftest import often
from teemark.base import paths
from teemark.broker.mosquitto import PLACE, Mosquitto
from tz import CLIENTS, TOPIC, Mqtt, forwarded, numbers, send
from waiting import until

pytest_plugins = ["tz"]
pytestmark = [pytest.mark.board, pytest.mark.long(200)]

FORGED, REPLAYED = "0xffff3071", "TEE_ERROR_ACCESS_CONFLICT"
DENIED = 135


@pytest.fixture(scope="module", autouse=True)
def attack(mosquitto: Mosquitto) -> None:
    built = paths.root() / "build/broker/aarch64/tz_attack"
    mosquitto.board.push(built, f"{PLACE}/tz_attack")


def attacks(mosquitto: Mosquitto, *argv: str, stdin: bytes = b"") -> list[str]:
    """Returns the lines of tz_attack."""
    script = 'cd "$1" && shift && exec ./tz_attack "$@"'
    return mosquitto.board.script(script, PLACE, *argv, stdin=stdin).text.splitlines()


def key_of(mosquitto: Mosquitto, name: str) -> bytes:
    lines = mosquitto.board.capture(["cat", f"{PLACE}/{name}"]).text.splitlines()
    return bytes.fromhex(next(line for line in lines if line.startswith("key ")).split()[1])


def without_tag(key: bytes, nonce: bytes, sealed: bytes) -> bytes:
    """Decrypts AES-GCM as its receiver can who doesn't look at the tag."""
    counter = nonce + struct.pack(">I", 2)
    return Cipher(algorithms.AES(key), modes.CTR(counter)).decryptor().update(sealed)


# -- root, with the key of a client that may not read --------------------------------------------


def test_a_message_for_another_topic_leaves_nothing_that_a_readers_key_opens(
    running: Mosquitto,
) -> None:
    """It is handed over as one for a topic that carol may read. She decrypts what lies in shared
    memory by the nonce of the next copy; the broker's session keeps the TA between the calls."""
    secret = b"for bob alone: " + b"the key lies under the third stone, " * 8
    before = running.seal("alice", TOPIC, secret)
    result, copy = attacks(running, "forward", TOPIC, "carol", stdin=before)
    head, key = 25 + len("alice"), key_of(running, "carol")
    nonce, made = bytes.fromhex(copy)[12:24], bytes.fromhex(copy)[head : head + len(secret)]
    assert result == "0x00000000"
    assert without_tag(key, nonce, made) == secret, "the oracle can't read what carol may"
    for size in (len(secret), 15):
        sealed = running.seal("alice", "tz/secret", secret[:size])
        result, out = attacks(running, "forward", TOPIC, "carol,bob", stdin=sealed)
        left = bytes.fromhex(out)
        for later in range(1, 9):
            counter = struct.unpack(">I", nonce[8:])[0] + later
            following = nonce[:8] + struct.pack(">I", counter)
            assert without_tag(key, following, left[head : head + size]) != secret[:size]
        assert result == FORGED
        assert set(left) == {0xEE}, "a call that failed wrote to its output"


def test_orders_come_once_and_in_their_sequence(running: Mosquitto) -> None:
    """Six of one start of the administrator; the fifth is refused for what it says. None that was
    obeyed, or passed over, is obeyed afterwards. The broker's session keeps the TA meanwhile."""
    orders = numbers(attacks(running, "orders", "admin", "carol", "6"))

    def refused(number: int) -> str:
        done = running.teemq("submit", stdin=orders[number], check=False)
        return done.complaint if done.status else ""

    try:
        assert refused(1) == ""
        assert REPLAYED in refused(0)
        assert refused(2) == ""
        assert "TEE_ERROR_BAD_FORMAT" in refused(4)
        assert [number for number in (0, 1, 2) if REPLAYED not in refused(number)] == []
        assert refused(5) == ""
        assert [number for number in range(6) if REPLAYED not in refused(number)] == []
    finally:
        running.enrol(CLIENTS)


STORED = "cd /data/tee && find . -type f -exec wc -c {} +"

FLIP = """\
cd /data/tee && byte=$(dd if="$1" bs=1 skip="$2" count=1 2>/dev/null | od -An -tu1)
printf "\\\\$(printf %o $((byte ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
"""


@pytest.fixture
def stored(mosquitto: Mosquitto) -> Iterator[str]:
    """A copy of the board's secure storage, which is put back afterwards."""
    copy = f"{PLACE}/tee.tar"
    mosquitto.board.script('tar -cf "$1" -C /data tee', copy)
    yield copy
    put_back(mosquitto, copy)


def put_back(mosquitto: Mosquitto, copy: str) -> None:
    mosquitto.board.script('rm -rf /data/tee && tar -xf "$1" -C /data', copy)


def test_a_changed_byte_of_the_storage_never_leaves_the_enrolment_key_without_its_owner(
    mosquitto: Mosquitto, stored: str
) -> None:
    """A byte is changed at some places of each file: either the TA still has all of its clients,
    or it is another TA, with another enrolment key."""
    identity, clients = mosquitto.teemq("identity").text, mosquitto.teemq("list").text
    lines = (line.split() for line in mosquitto.board.script(STORED).text.splitlines())
    files = [(int(size), name) for size, name in lines if name != "total"]
    gone, places = 0, often(1, 4)
    assert len(files) >= 2
    for number, (size, name) in enumerate(files):
        for place in range(places):  # the first byte of every other file is the middle one
            at = size * (2 * place + number % 2) // (2 * places)
            mosquitto.board.script(FLIP, name, str(at))
            mosquitto.teemq("list", check=False)
            now = mosquitto.teemq("identity", check=False).text
            listed = mosquitto.teemq("list", check=False)
            kept = listed.status == 0 and listed.text == clients
            assert kept or now != identity, f"{name} at {place}/{places}: {now} without its owner"
            gone += not kept
            put_back(mosquitto, stored)
    assert gone >= places, "hardly a change was noticed"
    assert mosquitto.teemq("list").text == clients


def test_a_recorded_claim_and_an_agreed_key_are_worth_nothing_after_the_storage_was_lost(
    mosquitto: Mosquitto, stored: str
) -> None:
    """root takes the whole storage away, claims the TA and enrols a client by its public half: the
    TA comes to another key than the client has."""
    identity = mosquitto.teemq("identity").text.strip()
    mosquitto.board.script('cd "$1" && rm -f dora* root*', PLACE)
    mosquitto.teemq("key", "dora", "dora", identity)
    mosquitto.board.script("rm -rf /data/tee/*")
    assert attacks(mosquitto, "claim", "admin", identity) == [FORGED]
    done = mosquitto.teemq("claim", "admin", check=False)
    assert done.status == 1
    assert "isn't the TA that admin claimed" in done.complaint
    mosquitto.teemq("key", "root", "root")
    mosquitto.teemq("claim", "root")
    other = mosquitto.teemq("identity").text.strip()
    assert other != identity
    swap = 'cd "$1" && sed "s/$2/$3/" dora.pub >dora.other'
    mosquitto.board.script(swap, PLACE, identity, other)
    mosquitto.teemq("enrol", "root", "dora.other", "w:tz/#")
    sealed = mosquitto.seal("dora", TOPIC, b"for the old TA")
    assert attacks(mosquitto, "forward", TOPIC, "dora", stdin=sealed)[0] == FORGED


def test_an_older_storage_as_a_whole_is_taken_without_rpmb(
    mosquitto: Mosquitto, stored: str
) -> None:
    """The table says so: who was revoked in between is back."""
    mosquitto.teemq("revoke", "admin", "bob")
    assert "\nbob" not in mosquitto.teemq("list").text
    put_back(mosquitto, stored)
    assert "\nbob" in mosquitto.teemq("list").text


def test_the_longest_message_for_32_readers_is_one_bounded_call(running: Mosquitto) -> None:
    result, milliseconds = attacks(running, "longest", "alice", TOPIC, ",".join(["bob"] * 32))
    print(f"the longest call took {milliseconds} ms")
    assert result == "0x00000000"
    too_long = b"TZ\1\1" + bytes([0, 0, 0, 1] * 2) + bytes(12) + b"\5alice" + bytes(70_000)
    assert attacks(running, "forward", TOPIC, "bob", stdin=too_long)[0] == "0xffff0005"


# -- a stranger on the network, without any key --------------------------------------------------


@pytest.fixture
def port(running: Mosquitto) -> Iterator[int]:
    with forwarded(running.board) as port:
        yield port


def test_a_shared_subscription_takes_no_message_from_its_readers(
    running: Mosquitto, port: int
) -> None:
    """Nor by a wildcard. Other topics may be shared."""
    filters = (f"$share/g/{TOPIC}", "$share/g/#", "$share/g/+/c", "$share/g/tz/#", "$share/g/tz/+")
    with Mqtt(port, "mallory") as stranger, Mqtt(port, "bob") as bob:
        assert stranger.subscribe(*filters) == [DENIED] * 5
        assert stranger.subscribe("$share/g/plain/#", "$share/g/tzx") == [1, 1]
        assert bob.subscribe(f"$share/g/{TOPIC}", TOPIC) == [DENIED, 1]
        for number in range(4):
            send(running, b"%d" % number, "-q", "1")
        got = [running.opened("bob", TOPIC, payload) for payload in bob.received(4)]
    assert got == [b"0", b"1", b"2", b"3"]


def test_an_empty_message_deletes_nothing(running: Mosquitto, port: int) -> None:
    """Neither by a stranger nor by a client: a sealed empty text in its place says so instead."""
    send(running, b"kept", "-r", "-q", "1")
    with Mqtt(port, "mallory") as stranger:
        assert stranger.publish(TOPIC, b"", retain=True) == DENIED
        assert stranger.publish(TOPIC, b"junk", retain=True) == DENIED
    with Mqtt(port, "bob") as bob:
        bob.subscribe(TOPIC)
        assert [running.opened("bob", TOPIC, got) for got in bob.received(1)] == [b"kept"]
    send(running, b"", "-r", "-q", "1")
    with Mqtt(port, "bob") as bob:
        bob.subscribe(TOPIC)
        assert [running.opened("bob", TOPIC, got) for got in bob.received(1)] == [b""]


@pytest.mark.parametrize("delay", [0, 1])
def test_a_will_is_checked_like_a_message(running: Mosquitto, port: int, delay: int) -> None:
    """One that is empty, unsealed or a message that was recorded replaces nothing that is retained
    and reaches nobody; alice's own is delivered, once."""
    recorded = send(running, b"old", "-q", "1")
    send(running, b"kept", "-r", "-q", "1")
    own = running.seal("alice", TOPIC, b"the last will")
    with Mqtt(port, "bob") as bob:
        bob.subscribe(TOPIC)
        assert len(bob.received(1)) == 1
        for payload in (b"", b"junk", recorded, own, own):
            with Mqtt(port, "mallory", will=(TOPIC, payload), delay=delay) as stranger:
                assert stranger.accepted
            time.sleep(2 * delay)
        got = bob.received(1)
        lost = "Client mallory ["
        until("each will's sender to be lost", lambda: running.log().count(lost) >= 5, 0.2)
        send(running, b"end", "-q", "1")
        got += bob.received(1)
    assert [running.opened("bob", TOPIC, one) for one in got] == [b"the last will", b"end"]


def test_a_topic_alias_leads_to_the_same_check(running: Mosquitto, port: int) -> None:
    alias = struct.pack(">BH", 0x23, 1)
    with Mqtt(port, "bob") as bob, Mqtt(port, "alice") as alice:
        bob.subscribe(TOPIC)
        assert alice.publish(TOPIC, b"junk", properties=alias) == DENIED
        assert alice.publish("", b"junk", properties=alias) == DENIED
        sealed = running.seal("alice", TOPIC, b"by its alias")
        assert alice.publish("", sealed, properties=alias) == 0
        assert alice.publish("", sealed, properties=alias) == DENIED
        send(running, b"end", "-q", "1")
        got = [running.opened("bob", TOPIC, payload) for payload in bob.received(2)]
    assert got == [b"by its alias", b"end"]


def test_who_takes_a_readers_id_gets_sealed_copies_and_ends_its_connection(
    running: Mosquitto, port: int
) -> None:
    """The table says so: ids are MQTT's. What is taken can't be opened with another's key."""
    with Mqtt(port, "bob") as bob, Mqtt(port, "bob") as stranger:
        stranger.subscribe("#")
        send(running, b"for bob", "-q", "1")
        (taken,) = stranger.received(1)
        with pytest.raises(ConnectionError):
            bob.packet(0x30)
    assert running.opened("carol", TOPIC, taken) is None
    assert running.opened("bob", TOPIC, taken) == b"for bob"


def test_system_topics_tell_counts_and_take_nothing(running: Mosquitto, port: int) -> None:
    """The table says so: whoever connects reads how much is sent, but none of it."""
    with Mqtt(port, "mallory") as stranger:
        assert stranger.subscribe("$SYS/broker/version", "$SYS/#") == [1, 1]
        assert stranger.received(1)[0].startswith(b"mosquitto version 2.1")
        assert stranger.publish("$SYS/broker/version", b"9", retain=True) == DENIED


def test_a_flood_of_subscriptions_leaves_the_readers_their_messages(
    running: Mosquitto, port: int
) -> None:
    """The table says so: it costs the broker memory, and each message the time to deny it."""
    with Mqtt(port, "mallory") as stranger, Mqtt(port, "bob") as bob:
        for block in range(20):
            filters = [f"tz/{block}/{number}/#" for number in range(250)]
            assert set(stranger.subscribe(*filters)) == {1}
        stranger.subscribe("tz/#", TOPIC, "#")
        bob.subscribe(TOPIC)
        send(running, b"through", "-q", "1")
        assert [running.opened("bob", TOPIC, got) for got in bob.received(1)] == [b"through"]
        running.publish("alice", "plain/x", b"open to all", "-q", "1")
        assert stranger.received(1) == [b"open to all"]


def test_properties_are_what_whoever_publishes_says(running: Mosquitto, port: int) -> None:
    """The table says so: they are neither sealed nor checked. Half a megabyte passes; more than
    mosquitto's max_packet_size ends the connection, and the broker lives on."""
    pair = b"\x26" + struct.pack(">H", 4) + b"unit" + struct.pack(">H", 60_000) + b"x" * 60_000
    sealed = running.seal("alice", TOPIC, b"with properties")
    with Mqtt(port, "bob") as bob, Mqtt(port, "mallory") as stranger:
        bob.subscribe(TOPIC)
        assert stranger.publish(TOPIC, sealed, properties=pair * 8) == 0
        with pytest.raises(ConnectionError):
            stranger.publish(TOPIC, sealed, properties=pair * 40)
    with Mqtt(port, "carol") as carol:
        carol.subscribe(TOPIC)
        send(running, b"still there", "-q", "1")
        assert [running.opened("carol", TOPIC, got) for got in carol.received(1)] == [
            b"still there"
        ]
