# SPDX-License-Identifier: BSD-2-Clause
"""MQTT-TZ on the real OP-TEE, with mosquitto 2.0 and 2.1: who gets what, and the traps of both."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from teemark.base import paths
from teemark.base.errors import MissingOutput
from teemark.boards import VirtualBoard
from teemark.boards.virtual import free_port
from teemark.broker import demo
from teemark.broker.desk import PLACE, PORT, Desk

pytestmark = [pytest.mark.board, pytest.mark.long(200), pytest.mark.timeout(600)]

TOPIC = "tz/c"
CLIENTS = {"alice": ["w:tz/#"], "bob": ["r:tz/#"], "carol": ["r:tz/c"]}


@pytest.fixture(scope="module", params=["2.1", pytest.param("2.0", marks=pytest.mark.exhaustive)])
def desk(request: pytest.FixtureRequest, qemu_v8: VirtualBoard) -> Desk:
    desk = Desk(qemu_v8, request.param)
    try:
        desk.install()
    except MissingOutput as error:
        pytest.skip(str(error))
    desk.claim()
    desk.enrol(CLIENTS)
    return desk


@pytest.fixture
def running(desk: Desk) -> Iterator[Desk]:
    """With a window of 20 messages under way for a client, as is mosquitto's own."""
    desk.board.script(f"rm -f {PLACE}/mosquitto.db")
    desk.start(lines=["persistence true", "max_inflight_messages 20"])
    yield desk
    desk.stop()


def opened(desk: Desk, name: str, topic: str = TOPIC) -> list[bytes | None]:
    return [desk.opened(name, topic, payload) for _, _, payload in desk.received(name)]


def send(desk: Desk, text: bytes, *argv: str, topic: str = TOPIC) -> bytes:
    payload = desk.seal("alice", topic, text)
    desk.publish("alice", topic, payload, *argv)
    return payload


def test_a_message_is_opened_by_its_reader_and_no_plaintext_is_in_the_broker(desk: Desk) -> None:
    """The demo sends it so, which also shows that the search finds what is there."""
    desk.teemq("key", "mallory", "mallory", check=False)
    desk.start()
    seen = demo.send(desk)
    desk.stop()
    assert seen.bob == demo.SECRET
    assert (seen.mallory, seen.hits) == (0, 0)
    assert seen.searched > 1_000_000


@pytest.mark.exhaustive
def test_demo_shows_who_sees_what_and_finds_no_plaintext_in_the_broker(desk: Desk) -> None:
    said: list[str] = []
    assert demo.show(desk, said.append), "\n".join(said)
    desk.enrol(CLIENTS)  # bob was revoked


def test_messages_wait_for_a_reader_who_is_away_also_over_a_restart(running: Desk) -> None:
    stay = ("-c", "-q", "1")
    running.end(running.subscribe("bob", TOPIC, *stay))
    send(running, b"one", "-q", "1")
    send(running, b"two", "-q", "1")
    running.stop()
    running.start(lines=["persistence true"])
    running.subscribe("bob", TOPIC, *stay, count=2).wait()
    assert opened(running, "bob") == [b"one", b"two"]


@pytest.mark.exhaustive
def test_junk_and_what_a_reader_may_not_have_leave_room_for_what_he_may(running: Desk) -> None:
    """22 of each at QoS 1: more than the client's window holds."""
    reader = running.subscribe("carol", "tz/#", "-q", "1", count=1, seconds=200)
    lines = running.client("pub", "-i", "junk", "-t", TOPIC, "-q", "1", "-l")
    running.board.capture(lines, stdin=b"junk\n" * 22, check=False)
    for number in range(22):
        send(running, b"%d" % number, "-q", "1", topic="tz/secret")
    send(running, b"for carol", "-q", "1")
    reader.wait()
    assert opened(running, "carol") == [b"for carol"]


def test_a_message_that_is_sent_again_comes_once(running: Desk) -> None:
    reader = running.subscribe("bob", TOPIC, count=2)
    payload = send(running, b"once")
    running.publish("mallory", TOPIC, payload)
    running.publish("alice", TOPIC, payload[:-1] + bytes([payload[-1] ^ 1]))
    send(running, b"end")
    reader.wait()
    assert opened(running, "bob") == [b"once", b"end"]


def test_retained_messages_and_quality_of_service(running: Desk) -> None:
    """docs/broker.md says what 2.0 can't keep: 2.1 keeps all of it."""
    new = running.version == "2.1"
    send(running, b"kept", "-r")
    running.subscribe("carol", TOPIC, count=1).wait()
    assert opened(running, "carol") == [b"kept"]
    assert running.received("carol")[0][1] == new
    running.publish("alice", TOPIC, b"", "-r")
    reader = running.subscribe("bob", TOPIC, "-q", "0", count=1)
    send(running, b"quality", "-q", "1")
    reader.wait()
    assert opened(running, "bob") == [b"quality"]
    assert running.received("bob")[0][0] == (0 if new else 1)


@pytest.mark.exhaustive
def test_overlapping_and_shared_subscriptions(running: Desk) -> None:
    both = running.subscribe("bob", TOPIC, "-t", "tz/#", count=4)
    one = running.subscribe("carol", f"$share/group/{TOPIC}", count=2)
    send(running, b"a")
    send(running, b"b")
    both.wait()
    one.wait()
    assert sorted(filter(None, opened(running, "bob"))) == [b"a", b"a", b"b", b"b"]
    assert sorted(filter(None, opened(running, "carol"))) == [b"a", b"b"]


def test_a_broker_that_is_killed_leaves_what_was_seen_in_the_ta(running: Desk) -> None:
    payload = send(running, b"before")
    running.stop("KILL")
    running.start(lines=["persistence true"])
    reader = running.subscribe("bob", TOPIC, count=1)
    running.publish("alice", TOPIC, payload)
    send(running, b"after")
    reader.wait()
    assert opened(running, "bob") == [b"after"]


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
    for _ in range(600):
        if len(got) >= count:
            return
        time.sleep(0.05)
    sys.exit(f"only {got} came")
until(1)
writer = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id="alice")
writer.connect("127.0.0.1", port)
writer.loop_start()
writer.publish(topic, alice.seal(topic, b"from paho")).wait_for_publish(30)
until(2)
print(got[1])
"""


def until_it_listens(port: int) -> None:
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail("ssh forwards no port")


def test_paho_on_the_workstation_only_wraps_its_payloads(running: Desk, tmp_path: Path) -> None:
    pytest.importorskip("paho.mqtt.client")
    root = paths.root()
    subprocess.run(["make", "-s", "-C", str(root / "broker"), "ARCH=native"], check=True)
    for name in ("alice", "bob"):
        running.board.pull(f"{PLACE}/{name}", tmp_path)
    where = running.board.endpoint
    port = free_port()
    options = {
        "HostKeyAlias": where.host_alias,
        "UserKnownHostsFile": where.known_hosts,
        "ExitOnForwardFailure": "yes",
    }
    line = ["ssh", "-N", "-i", str(where.identity), "-p", str(where.port)]
    line += [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    line += ["-L", f"127.0.0.1:{port}:127.0.0.1:{PORT}", f"{where.user}@{where.address}"]
    forward = subprocess.Popen(line)
    try:
        until_it_listens(port)
        done = subprocess.run(
            [sys.executable, "-c", PAHO, str(port), TOPIC],
            cwd=tmp_path,
            env={
                "PYTHONPATH": str(root / "broker"),
                "TEEMQ_LIBRARY": str(root / "build/broker/native/libteemq.so"),
            },
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        forward.terminate()
        forward.wait()
    assert done.stdout.strip() == "(b'from paho', 'alice', False)", done.stderr
    # The epoch of alice's file went on here.
    running.board.push(tmp_path / "alice", f"{PLACE}/alice")
