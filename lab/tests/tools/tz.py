# SPDX-License-Identifier: BSD-2-Clause
"""Tests of the broker share this: fixtures, its clients, and an MQTT client that says whatever it
likes. A module of tests names it in `pytest_plugins`."""

import socket
import struct
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Self

import pytest

from teemark.base.errors import MissingOutput
from teemark.boards import Board, VirtualBoard
from teemark.boards.virtual import free_port
from teemark.broker.mosquitto import PLACE, PORT, Mosquitto
from waiting import until

TOPIC = "tz/c"
CLIENTS = {"alice": ["w:tz/#"], "bob": ["r:tz/#"], "carol": ["r:tz/c"]}


@pytest.fixture(scope="session")
def mosquitto(qemu_v8: VirtualBoard) -> Iterator[Mosquitto]:
    """Installed, with its clients enrolled, and not started."""
    mosquitto = Mosquitto(qemu_v8)
    try:
        mosquitto.install()
    except MissingOutput as error:
        pytest.skip(str(error))
    mosquitto.claim()
    mosquitto.enrol(CLIENTS)
    yield mosquitto
    mosquitto.clear()


@pytest.fixture
def running(mosquitto: Mosquitto) -> Iterator[Mosquitto]:
    """With a window of 20 messages under way for a client, as is mosquitto's own."""
    mosquitto.board.script(f"rm -f {PLACE}/mosquitto.db")
    mosquitto.start(lines=["persistence true", "max_inflight_messages 20"])
    yield mosquitto
    mosquitto.stop()


def opened(mosquitto: Mosquitto, name: str, topic: str = TOPIC) -> list[bytes | None]:
    return [mosquitto.opened(name, topic, payload) for _, _, payload in mosquitto.received(name)]


def send(mosquitto: Mosquitto, text: bytes, *argv: str, topic: str = TOPIC) -> bytes:
    payload = mosquitto.seal("alice", topic, text)
    mosquitto.publish("alice", topic, payload, *argv)
    return payload


@contextmanager
def forwarded(board: Board, port: int = PORT) -> Iterator[int]:
    """Yields a port of this machine that leads to the board's `port`."""
    where, here = board.endpoint, free_port()
    options = {
        "HostKeyAlias": where.host_alias,
        "UserKnownHostsFile": where.known_hosts,
        "ExitOnForwardFailure": "yes",
    }
    line = ["ssh", "-N", "-i", str(where.identity), "-p", str(where.port)]
    line += [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    line += ["-L", f"127.0.0.1:{here}:127.0.0.1:{port}", f"{where.user}@{where.address}"]
    forward = subprocess.Popen(line)
    try:

        def listens() -> bool:
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", here)) == 0

        until("ssh to forward its port", listens)
        yield here
    finally:
        forward.terminate()
        forward.wait()


def _text(text: str | bytes) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    return struct.pack(">H", len(data)) + data


def _number(value: int) -> bytes:
    """Returns MQTT's form of a length: seven bits a byte."""
    out = bytearray()
    while True:
        value, low = divmod(value, 128)
        out.append(low | (128 if value else 0))
        if not value:
            return bytes(out)


class Mqtt:
    """A connection of MQTT 5 by hand, so that a test can send what no library would."""

    def __init__(
        self,
        port: int,
        name: str,
        *,
        will: tuple[str, bytes] | None = None,
        delay: int = 0,
    ) -> None:
        """A `will` is a topic and a payload; it is retained, of QoS 1, and sent `delay` seconds
        after the end."""
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._mid = 0
        flags = 2 | (4 | 8 | 32 if will else 0)
        session = struct.pack(">BI", 0x11, 600) if delay else b""
        body = _text("MQTT") + bytes([5, flags]) + struct.pack(">H", 600)
        body += _number(len(session)) + session + _text(name)
        if will:
            wait = struct.pack(">BI", 0x18, delay) if delay else b""
            body += _number(len(wait)) + wait + _text(will[0]) + _text(will[1])
        self._send(0x10, body)
        self.accepted = self.packet(0x20)[1] == 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Breaks the connection off, so that the broker sends the will."""
        self._socket.close()

    def _send(self, first: int, body: bytes) -> None:
        self._socket.sendall(bytes([first]) + _number(len(body)) + body)

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self._socket.recv(size - len(data))
            if not more:
                raise ConnectionError("the broker closed the connection")
            data += more
        return data

    def packet(self, kind: int) -> bytes:
        """Returns the body of the next packet of that kind; what else comes is dropped."""
        while True:
            first = self._read(1)[0]
            size = shift = 0
            while True:
                byte = self._read(1)[0]
                size |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
            body = self._read(size)
            if first & 0xF0 == kind:
                return body

    def subscribe(self, *filters: str) -> list[int]:
        """Subscribes with QoS 1, and returns the broker's codes: 1 is granted, 135 denied."""
        self._mid += 1
        body = struct.pack(">H", self._mid) + b"\0"
        body += b"".join(_text(text) + b"\1" for text in filters)
        self._send(0x82, body)
        return list(self.packet(0x90)[-len(filters) :])

    def publish(
        self, topic: str, payload: bytes, *, retain: bool = False, properties: bytes = b""
    ) -> int:
        """Publishes with QoS 1, and returns the broker's code: 0 is accepted, 16 accepted without a
        subscriber, 135 denied."""
        self._mid += 1
        body = _text(topic) + struct.pack(">H", self._mid)
        self._send(0x32 | retain, body + _number(len(properties)) + properties + payload)
        answer = self.packet(0x40)
        return answer[2] if len(answer) > 2 else 0

    def received(self, count: int, seconds: float = 60) -> list[bytes]:
        """Returns the payloads of up to `count` messages that come within that time."""
        got: list[bytes] = []
        self._socket.settimeout(seconds)
        try:
            while len(got) < count:
                body = self.packet(0x30)
                size = struct.unpack(">H", body[:2])[0]
                self._send(0x40, body[2 + size : 4 + size])
                rest = body[4 + size :]
                got.append(rest[1 + rest[0] :])
        except TimeoutError:
            pass
        return got


def numbers(lines: Sequence[str]) -> list[bytes]:
    """Returns the bytes of lines of hexadecimal digits."""
    return [bytes.fromhex(line) for line in lines]
