# SPDX-License-Identifier: BSD-2-Clause
"""A serial console that a server such as ser2net offers over TCP: it is read, never written."""

import contextlib
import re
import socket
import subprocess
import threading
from collections.abc import Callable
from typing import IO

from teemark.boards.ssh import guarded

_KEPT = 1 << 20
_LINES, _WIDTH = 12, 200
_TELNET = re.compile(rb"\xff(?:[\xfb-\xfe].|\xfa.*?\xff\xf0|[^\xff]|(\xff))", re.S)
"""Matches telnet's commands, and a doubled byte 255, which stands for a single one."""


def last_lines(title: str, output: bytes) -> str:
    """Returns a console's last lines under a title; an empty string if it said nothing."""
    lines = output.decode(errors="replace").replace("\r", "").splitlines()
    last = "\n".join(line[:_WIDTH] for line in lines[-_LINES:])
    return f"-- {title}:\n{last}" if last else ""


class Console:
    """Reads the console at host:port from now on, through a jump host if `jump` names one."""

    def __init__(self, host: str, port: int, jump: str | None) -> None:
        self._place, self._wrong, self._said = f"{host}:{port}", "", bytearray()
        self._gone = 0  # bytes that came before those that are kept
        self._stop: Callable[[], object] = bool
        threading.Thread(target=self._read, args=(host, port, jump), daemon=True).start()

    def _read(self, host: str, port: int, jump: str | None) -> None:
        try:
            if jump:
                argv = ["ssh", "-o", "BatchMode=yes", "-W", f"{host}:{port}", "--", jump]
                pipe = subprocess.PIPE
                with subprocess.Popen(guarded(argv), stdin=pipe, stdout=pipe) as process:
                    assert process.stdout is not None
                    self._stop = process.kill
                    self._take(process.stdout)
            else:
                with socket.create_connection((host, port), 20) as link, link.makefile("rb") as out:
                    link.settimeout(None)
                    self._stop = lambda: link.shutdown(socket.SHUT_RDWR)
                    self._take(out)
            self._wrong = " (closed since)"
        except OSError as error:
            self._wrong = f" can't be read: {error.strerror or error}"

    def _take(self, stream: IO[bytes]) -> None:
        while data := stream.read1(4096):  # type: ignore[attr-defined]
            self._said += data
            self._gone += max(0, len(self._said) - _KEPT)
            del self._said[:-_KEPT]

    def close(self) -> None:
        """Stops reading the console, so that others can."""
        with contextlib.suppress(OSError):
            self._stop()

    def after(self, place: int) -> tuple[int, bytes]:
        """Returns how many bytes came, and those kept ones that came after the first `place`."""
        data, gone = bytes(self._said), self._gone
        return gone + len(data), _TELNET.sub(rb"\1", data[max(0, place - gone) :])

    def last(self) -> str:
        """Returns the console's last lines, or a line which says that there are none."""
        output = _TELNET.sub(rb"\1", bytes(self._said))
        title = f"console {self._place}"
        shown = last_lines(f"{title}{self._wrong}, last lines", output)
        return shown or f"-- {title}{self._wrong or ' says nothing'}"
