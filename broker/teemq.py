# SPDX-License-Identifier: BSD-2-Clause
"""MQTT-TZ for Python: wrap it round what an MQTT library publishes and receives.

    me = teemq.Client("sensor.key")               # a file of `teemq key`
    paho.publish(topic, me.seal(topic, b"21.5"))
    plain, sender, repeated = me.open(message.topic, message.payload)

It is client.h through ctypes: libteemq.so beside this file, or where TEEMQ_LIBRARY says. A Client
serves one thread at a time.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_HEAD = 25
_TAG = 16
_ID_MAX = 32


class Error(Exception):
    """A message that can't be opened, or a key file that can't be read."""


class _Error(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_int),
        ("tee_result", ctypes.c_uint32),
        ("tee_origin", ctypes.c_uint32),
        ("skip", ctypes.c_char_p),
        ("what", ctypes.c_char * 224),
        ("hint", ctypes.c_char * 224),
    ]


class _Opened(ctypes.Structure):
    _fields_ = [
        ("sender", ctypes.c_char * (_ID_MAX + 1)),
        ("len", ctypes.c_size_t),
        ("repeated", ctypes.c_bool),
    ]


class Client:
    """The client whose key a file holds. With a `name` the file is new: `identity`, the 64 digits
    of `teemq identity`, is the TA with which the key is agreed; then FILE.pub enrols the client."""

    def __init__(
        self, file: str | os.PathLike[str], name: str = "", identity: str | None = None
    ) -> None:
        beside = Path(__file__).with_name("libteemq.so")
        self._library = ctypes.CDLL(os.environ.get("TEEMQ_LIBRARY", str(beside)))
        self._library.tz_client_size.restype = ctypes.c_size_t
        self._client = ctypes.create_string_buffer(self._library.tz_client_size())
        if name:
            ta = identity and identity.encode()
            self._call("tz_client_make", name.encode(), os.fsencode(file), ta)
        else:
            self._call("tz_client_load", os.fsencode(file))

    def _call(self, name: str, *arguments: object) -> None:
        error = _Error()
        if getattr(self._library, name)(self._client, *arguments, ctypes.byref(error)):
            raise Error(error.what.decode(errors="replace"))

    def seal(self, topic: str, plain: bytes) -> bytes:
        """Returns the payload to publish on that topic."""
        out = ctypes.create_string_buffer(len(plain) + _HEAD + _ID_MAX + _TAG)
        self._call("tz_seal", topic.encode(), plain, ctypes.c_size_t(len(plain)), out)
        return out.raw[: _HEAD + out.raw[_HEAD - 1] + len(plain) + _TAG]

    def open(self, topic: str, payload: bytes) -> tuple[bytes, str, bool]:
        """Returns the plaintext, the sender's id, and whether this client opened it before."""
        out = ctypes.create_string_buffer(len(payload) + 1)
        opened = _Opened()
        size = ctypes.c_size_t(len(payload))
        self._call("tz_open", topic.encode(), payload, size, out, ctypes.byref(opened))
        return out.raw[: opened.len], opened.sender.decode(errors="replace"), opened.repeated
