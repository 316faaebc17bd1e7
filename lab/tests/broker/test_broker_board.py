# SPDX-License-Identifier: BSD-2-Clause
"""MQTT-TZ on the real OP-TEE, with mosquitto: who gets what, and its traps."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from teemark.base import paths
from teemark.broker import demo
from teemark.broker import mosquitto as broker
from teemark.broker.mosquitto import PLACE, PORT, Mosquitto, installed
from tz import CLIENTS, TOPIC, forwarded, opened, send
from waiting import PATIENCE_S, until

pytest_plugins = ["tz"]
pytestmark = [pytest.mark.board, pytest.mark.long(200)]

TA = "3d8e61f7-50ba-4c2d-917e-b20c6af418d5.ta"

QUIET = """\
spent() { for place; do cut -d' ' -f14,15 "/proc/$(cat "$place/pid")/stat"; done; }
same=0
while [ $same -lt 10 ]; do
  before=$(spent "$@"); sleep 0.2
  if [ "$(spent "$@")" = "$before" ]; then same=$((same + 1)); else same=0; fi
done
"""


def until_quiet(*brokers: Mosquitto) -> None:
    """Returns once these brokers have computed nothing in ten looks: all that came to them is where
    it may go."""
    brokers[0].board.script(QUIET, *(broker.place for broker in brokers), timeout=PATIENCE_S)


def test_a_message_is_opened_by_its_reader_and_no_plaintext_is_in_the_broker(
    mosquitto: Mosquitto,
) -> None:
    """The demo sends it so, which also shows that the search finds what is there."""
    mosquitto.teemq("key", "mallory", "mallory", check=False)
    mosquitto.start()
    seen = demo.send(mosquitto)
    mosquitto.stop()
    assert seen.bob == demo.SECRET
    assert (seen.mallory, seen.hits) == (0, 0)
    assert seen.searched > 1_000_000


@pytest.mark.exhaustive
def test_demo_shows_who_sees_what_and_finds_no_plaintext_in_the_broker(
    mosquitto: Mosquitto,
) -> None:
    said: list[str] = []
    assert demo.show(mosquitto, said.append), "\n".join(said)
    mosquitto.enrol(CLIENTS)  # bob was revoked


RUNS = "grep -lsa '/data/mqtt-t[z]/mosquitto/bin' /proc/[0-9]*/cmdline || true"


def test_what_was_started_ends_with_a_command_that_is_interrupted(
    mosquitto: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After Ctrl-C, broker and clients are gone. The next command ends those that an earlier one
    could not."""
    board = mosquitto.board

    def interrupted() -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Mosquitto, "install", Mosquitto.clear)  # its files are there
            with installed(board) as first:
                first.start()
                first.subscribe("bob", TOPIC)
                assert len(board.script(RUNS).text.split()) >= 2
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert board.script(RUNS).text == ""
    mosquitto.start()
    mosquitto.subscribe("bob", TOPIC)
    monkeypatch.setattr(broker, "_stage", lambda *_: None)  # the files of mosquitto are there
    with installed(board) as second:
        assert board.script(RUNS).text == ""
        second.start()
        assert second.teemq("list").status == 0


def test_messages_wait_for_a_reader_who_is_away_also_over_a_restart(running: Mosquitto) -> None:
    stay = ("-c", "-q", "1")
    running.end(running.subscribe("bob", TOPIC, *stay))
    send(running, b"one", "-q", "1")
    send(running, b"two", "-q", "1")
    running.stop()
    running.start(lines=["persistence true"])
    running.subscribe("bob", TOPIC, *stay, count=2).wait()
    assert opened(running, "bob") == [b"one", b"two"]


@pytest.mark.exhaustive
def test_junk_and_what_a_reader_may_not_have_leave_room_for_what_he_may(running: Mosquitto) -> None:
    """22 of each at QoS 1: more than the client's window holds."""
    reader = running.subscribe("carol", "tz/#", "-q", "1", count=1, seconds=200)
    lines = running.client("pub", "-i", "junk", "-t", TOPIC, "-q", "1", "-l")
    running.board.capture(lines, stdin=b"junk\n" * 22, check=False)
    for number in range(22):
        send(running, b"%d" % number, "-q", "1", topic="tz/secret")
    send(running, b"for carol", "-q", "1")
    reader.wait()
    assert opened(running, "carol") == [b"for carol"]


def test_a_message_that_is_sent_again_comes_once(running: Mosquitto) -> None:
    reader = running.subscribe("bob", TOPIC, count=2)
    payload = send(running, b"once")
    running.publish("mallory", TOPIC, payload)
    running.publish("alice", TOPIC, payload[:-1] + bytes([payload[-1] ^ 1]))
    send(running, b"end")
    reader.wait()
    assert opened(running, "bob") == [b"once", b"end"]


def test_retained_messages_and_quality_of_service(running: Mosquitto) -> None:
    send(running, b"kept", "-r")
    running.subscribe("carol", TOPIC, count=1).wait()
    assert opened(running, "carol") == [b"kept"]
    assert running.received("carol")[0][1]
    reader = running.subscribe("bob", TOPIC, "-q", "0", count=2)
    send(running, b"quality", "-q", "1")
    reader.wait()
    assert opened(running, "bob") == [b"kept", b"quality"]
    assert running.received("bob")[1][0] == 0


def test_properties_and_expiry(running: Mosquitto) -> None:
    """The rest of an expiry is less than what was asked for."""
    reader = running.subscribe("bob", TOPIC, "-V", "5", "-F", "%q %r %x %E %P", count=1)
    five = ("-V", "5", "-D", "PUBLISH", "user-property", "unit", "kelvin")
    send(running, b"290", *five, "-D", "PUBLISH", "message-expiry-interval", "1000")
    reader.wait()
    assert opened(running, "bob") == [b"290"]
    words = running.board.capture(["cat", f"{PLACE}/bob.got"]).text.split()[3:]
    assert 900 < int(words[0]) <= 1000
    assert words[1:] == ["unit:kelvin"]


def test_a_copy_is_no_message(running: Mosquitto) -> None:
    """A reader's copy passes to readers alone: published again, it is refused."""
    reader = running.subscribe("bob", TOPIC, count=2)
    other = running.subscribe("carol", TOPIC, count=2)
    send(running, b"one")
    got = until("bob's message", lambda: running.received("bob"), 0.2)
    for name in ("mallory", "alice", "bob2"):
        running.publish(name, TOPIC, got[0][2])
    send(running, b"end")
    reader.wait()
    other.wait()
    assert opened(running, "bob") == opened(running, "carol") == [b"one", b"end"]


@pytest.mark.exhaustive
def test_overlapping_subscriptions(running: Mosquitto) -> None:
    both = running.subscribe("bob", TOPIC, "-t", "tz/#", count=4)
    send(running, b"a")
    send(running, b"b")
    both.wait()
    assert sorted(filter(None, opened(running, "bob"))) == [b"a", b"a", b"b", b"b"]


def test_a_broker_that_is_killed_leaves_what_was_seen_in_the_ta(running: Mosquitto) -> None:
    payload = send(running, b"before")
    running.stop("KILL")
    running.start(lines=["persistence true"])
    reader = running.subscribe("bob", TOPIC, count=1)
    running.publish("alice", TOPIC, payload)
    send(running, b"after")
    reader.wait()
    assert opened(running, "bob") == [b"after"]


def test_a_new_file_of_the_ta_is_loaded_with_the_next_broker(running: Mosquitto) -> None:
    """It isn't kept alive: a broker's session keeps it, and then the file is read anew. One that
    isn't signed shows which of both is used."""
    board, ta = running.board, f"{running.board.ta_directory}/{TA}"
    board.script('cp "$1" "$1.kept" && chmod u+w "$1" && echo junk >"$1"', ta)
    try:
        assert running.teemq("list", check=False).status == 0
        running.stop()
        assert running.teemq("list", check=False).status == 1
    finally:
        board.script('mv -f "$1.kept" "$1"', ta)
    running.start()
    assert running.teemq("list").status == 0


SMALL_ORDER = (
    "00" * 32,
    "01" + "00" * 31,
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "ec" + "ff" * 30 + "7f",
    "ed" + "ff" * 31,
)
"""Points with which X25519 gives 0 (Wycheproof has them), one with the bit that doesn't count."""


def opened_so_far(mosquitto: Mosquitto) -> int:
    text = mosquitto.teemq("statistics").text
    return int(next(line.split()[-1] for line in text.splitlines() if "opened" in line))


def publish_as_reader(
    mosquitto: Mosquitto, name: str, topic: str, payload: bytes, times: int
) -> None:
    """Publishes by the id of a client that reads TOPIC, which ends that connection; waits until it
    has subscribed again, for the `times`-th time."""
    mosquitto.publish(name, topic, payload, "-q", "1")
    line = f": {name} 1 {TOPIC}"
    until(f"{name} to subscribe again", lambda: mosquitto.log().count(line) >= times, 0.2)


def test_a_client_that_agreed_on_its_key_with_the_ta(running: Mosquitto) -> None:
    """It sends to and gets from clients whose keys were wrapped, and may be revoked. With another's
    public half it gets and sends nothing; the TA refuses points of small order, and lives on."""
    running.board.script('cd "$1" && rm -f dora* eve*', PLACE)
    identity = running.teemq("identity").text.strip()
    for name in ("dora", "eve"):
        running.teemq("key", name, name, identity)
    running.teemq("enrol", "admin", "dora.pub", "r:tz/c", "w:tz/d")
    bob = running.subscribe("bob", "tz/#", "-q", "1", count=3)
    dora = running.subscribe("dora", TOPIC, "-q", "1")
    send(running, b"from alice", "-q", "1")
    publish_as_reader(running, "dora", "tz/d", running.seal("dora", "tz/d", b"from dora"), 2)
    until("bob's two messages", lambda: len(running.received("bob")) >= 2, 0.2)
    before = opened_so_far(running)
    assert before >= 2
    lines = running.board.capture(["cat", f"{PLACE}/dora.pub"]).text.splitlines()
    for point in SMALL_ORDER:
        lines[2] = f"public {point}"
        file = ("\n".join(lines) + "\n").encode()
        running.board.script('cat >"$1"', f"{PLACE}/dora.small", stdin=file)
        refused = running.teemq("enrol", "admin", "dora.small", "r:#", check=False)
        assert "TEE_ERROR_BAD_FORMAT" in refused.complaint
    assert opened_so_far(running) == before, "the TA ended"
    script = 'cd "$1" && sed "s/^public.*/$(grep ^public eve.pub)/" dora.pub >dora.wrong'
    running.board.script(script, PLACE)
    running.teemq("enrol", "admin", "dora.wrong", "r:tz/c", "w:tz/d")
    send(running, b"not for dora", "-q", "1")
    publish_as_reader(running, "dora", "tz/d", running.seal("dora", "tz/d", b"forged"), 3)
    bob.wait()
    running.teemq("enrol", "admin", "dora.pub", "r:tz/c")
    send(running, b"for dora again", "-q", "1")
    running.teemq("revoke", "admin", "dora")
    carol = running.subscribe("carol", TOPIC, count=1)
    send(running, b"after", "-q", "1")
    carol.wait()  # dora would have it by then
    until("what dora may read", lambda: len(running.received("dora")) >= 3, 0.2)
    running.end(dora)
    topics = (TOPIC, "tz/d", TOPIC)
    got = zip(topics, running.received("bob"), strict=True)
    texts = [running.opened("bob", topic, payload) for topic, (_, _, payload) in got]
    assert texts == [b"from alice", b"from dora", b"not for dora"]
    assert opened(running, "dora") == [b"from alice", None, b"for dora again"]


@contextmanager
def bridged(
    mosquitto: Mosquitto, name: str, topic: str, *, tz: bool = False
) -> Iterator[Mosquitto]:
    """A second broker on the board, without the plugin unless `tz`, with a bridge to the first: it
    connects there as the client `name`. The edge of a network looks so, where no TEE is."""
    edge = Mosquitto(mosquitto.board, 1884, f"{PLACE}/edge")
    links = 'mkdir -p "$1/edge" && cd "$1/edge" && ln -sf ../*.so ../teemq ../alice ../bob .'
    mosquitto.board.script(links, PLACE)
    lines = ["connection up", f"address 127.0.0.1:{PORT}", f"remote_clientid {name}"]
    lines += ["notifications false", "restart_timeout 1", "cleansession true", f"topic {topic}"]
    edge.start(lines=lines, tz=tz)
    try:
        until("the bridge", lambda: f" as {name} " in mosquitto.log(), 0.2)
        until_quiet(mosquitto, edge)  # it has subscribed
        yield edge
    finally:
        edge.stop()


@pytest.mark.exhaustive
def test_a_bridge_brings_messages_of_an_edge_that_has_no_tee(running: Mosquitto) -> None:
    """The edge passes on what alice sealed for the TA, and can't open it. The TA takes it once."""
    with bridged(running, "edge", f"{TOPIC} out 1") as edge:
        spy = edge.subscribe("spy", TOPIC)
        reader = running.subscribe("bob", TOPIC, count=2)
        sealed = running.seal("alice", TOPIC, b"from the edge")
        edge.publish("alice", TOPIC, sealed, "-q", "1")
        edge.publish("alice", TOPIC, sealed, "-q", "1")
        edge.publish("alice", TOPIC, running.seal("alice", TOPIC, b"end"), "-q", "1")
        reader.wait()
        edge.end(spy)
        seen = [payload for _, _, payload in edge.received("spy")]
    assert opened(running, "bob") == [b"from the edge", b"end"]
    assert seen[:2] == [sealed, sealed]
    assert [running.opened("bob", TOPIC, payload) for payload in seen] == [None] * 3


@pytest.mark.exhaustive
def test_a_bridge_gets_what_its_client_id_may_read(running: Mosquitto) -> None:
    """A copy is sealed for the bridge's id alone: whoever has that key opens it behind the bridge.
    An id that isn't enrolled gets nothing."""
    for name, expected in (("nobody", []), ("bob", [b"hello"])):
        with bridged(running, name, f"{TOPIC} in 1") as edge:
            reader = edge.subscribe("reader", TOPIC)
            send(running, b"hello", "-q", "1")
            until_quiet(running, edge)
            edge.end(reader)
            seen = [payload for _, _, payload in edge.received("reader")]
        assert [running.opened("bob", TOPIC, payload) for payload in seen] == expected
        assert [running.opened("carol", TOPIC, payload) for payload in seen] == [None] * len(seen)


@pytest.mark.exhaustive
def test_a_copy_that_a_bridge_brings_is_not_sealed_again(running: Mosquitto) -> None:
    """Behind a bridge is another broker with the plugin: it takes no copy for a message."""
    with bridged(running, "bob", f"{TOPIC} in 1", tz=True) as edge:
        reader = edge.subscribe("carol", TOPIC)
        first = running.subscribe("bob2", TOPIC)
        send(running, b"hello", "-q", "1")
        until_quiet(running, edge)
        edge.end(reader)
        running.end(first)
        seen = [payload for _, _, payload in edge.received("carol")]
    assert seen == []


@pytest.mark.exhaustive
def test_what_a_broker_with_the_plugin_gives_its_own_bridge_stays_sealed(
    running: Mosquitto,
) -> None:
    """Its bridge is no client with a key: it gets what alice sealed."""
    with bridged(running, "up", f"{TOPIC} out 1", tz=True) as edge:
        running.stop()
        running.start(tz=False)
        until("the bridge to connect anew", lambda: " as up " in running.log(), 0.2)
        until_quiet(running, edge)
        reader = running.subscribe("bob", TOPIC)
        sealed = running.seal("alice", TOPIC, b"hello")
        edge.publish("alice", TOPIC, sealed, "-q", "1")
        until_quiet(running, edge)
        running.end(reader)
    seen = [payload for _, _, payload in running.received("bob")]
    assert seen == [sealed]
    assert running.opened("bob", TOPIC, sealed) is None


@pytest.mark.exhaustive
def test_sealed_messages_leave_room_in_a_bridge_for_other_topics(running: Mosquitto) -> None:
    """22 sealed messages at QoS 1 are more than the window of messages under way holds."""
    with bridged(running, "up", "# out 1", tz=True) as edge:
        for number in range(22):
            edge.publish("alice", TOPIC, running.seal("alice", TOPIC, b"%d" % number), "-q", "1")
        reader = running.subscribe("dora", "plain/x", "-q", "1", count=1, seconds=30)
        edge.publish("alice", "plain/x", b"open to all", "-q", "1")
        reader.wait()
    assert [payload for _, _, payload in running.received("dora")] == [b"open to all"]


@pytest.mark.exhaustive
def test_what_waits_for_a_client_who_is_revoked(running: Mosquitto) -> None:
    """It gets nothing of it. Enrolled again, it gets what comes: 22 messages at QoS 1 didn't fill
    its window."""
    stay = ("-c", "-q", "1")
    running.end(running.subscribe("bob", TOPIC, *stay))
    for number in range(22):
        send(running, b"%d" % number, "-q", "1")
    running.teemq("revoke", "admin", "bob")
    try:
        reader = running.subscribe("bob", TOPIC, *stay)
        until_quiet(running)
        running.end(reader)
        got = opened(running, "bob")
    finally:
        running.enrol(CLIENTS)
    assert got == []
    reader = running.subscribe("bob", TOPIC, *stay, count=1)
    send(running, b"end", "-q", "1")
    reader.wait()
    assert opened(running, "bob") == [b"end"]


PAHO = """
import sys, time
import paho.mqtt.client as paho
import teemq

port, topic, got = int(sys.argv[1]), sys.argv[2], []
alice, bob = teemq.Client("alice"), teemq.Client("bob")
reader = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id="bob")
reader.on_connect = lambda client, *_: client.subscribe(topic)
reader.on_subscribe = lambda *_: got.append("ready")
reader.on_message = lambda client, user, m: got.append(bob.open(m.topic, m.payload))
reader.connect("127.0.0.1", port)
reader.loop_start()
def until(count):
    for _ in range(6000):
        if len(got) >= count:
            return
        time.sleep(0.05)
    sys.exit(f"only {got} came")
until(1)
writer = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id="alice")
writer.connect("127.0.0.1", port)
writer.loop_start()
writer.publish(topic, alice.seal(topic, b"from paho")).wait_for_publish(300)
until(2)
print(got[1])
"""


def test_paho_on_the_workstation_only_wraps_its_payloads(
    running: Mosquitto, tmp_path: Path
) -> None:
    pytest.importorskip("paho.mqtt.client")
    root = paths.root()
    subprocess.run(["make", "-s", "-C", str(root / "broker"), "ARCH=native"], check=True)
    for name in ("alice", "bob"):
        running.board.pull(f"{PLACE}/{name}", tmp_path)
    with forwarded(running.board) as port:
        done = subprocess.run(
            [sys.executable, "-c", PAHO, str(port), TOPIC],
            cwd=tmp_path,
            env={
                "PYTHONPATH": str(root / "broker"),
                "TEEMQ_LIBRARY": str(root / "build/broker/native/libteemq.so"),
            },
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    assert done.stdout.strip() == "(b'from paho', 'alice', False)", done.stderr
    # The epoch of alice's file went on here.
    running.board.push(tmp_path / "alice", f"{PLACE}/alice")
