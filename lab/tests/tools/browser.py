# SPDX-License-Identifier: BSD-2-Clause
"""A page in headless Chromium, by its DevTools protocol over a pipe."""

import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from teemark.base import paths
from waiting import PATIENCE_S, status_of

NODE_MODULES = paths.build() / "node" / "node_modules"
AXE = NODE_MODULES / "axe-core" / "axe.min.js"
SPEEDSCOPE = NODE_MODULES / "speedscope" / "dist" / "release"


def missing() -> str | None:
    """Why pages can't be looked at here; None when they can."""
    if shutil.which("chromium") is None:
        return "there is no chromium (`make test-deps` installs it)"
    if not AXE.exists():
        return "there is no axe-core (`make test-deps` installs it, with npm)"
    return None


class Browser:
    """One Chromium with one page."""

    def __init__(self, profile: str) -> None:
        to_browser, ours_out = os.pipe()
        ours_in, from_browser = os.pipe()
        command = [
            "bash",  # dash knows no descriptors of two digits
            "-c",  # the protocol's pipe is at 3 and 4
            f'exec 3<&{to_browser} 4>&{from_browser}; exec "$@"',
            "sh",
            "chromium",
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--disable-component-update",
            "--no-first-run",
            "--hide-scrollbars",
            f"--user-data-dir={profile}",
            "--remote-debugging-pipe",
        ]
        self._process = subprocess.Popen(
            command,
            pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._out, self._in = ours_out, ours_in
        self._numbers = itertools.count(1)
        self._read = b""
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._read:
            ready, _, _ = select.select([self._in], [], [], PATIENCE_S)
            data = os.read(self._in, 1 << 20) if ready else b""
            assert data, "chromium says nothing"
            self._read += data
        text, _, self._read = self._read.partition(b"\0")
        found: dict[str, Any] = json.loads(text)
        return found

    def show(self, page: Path, *, width: int, dark: bool = False, fragment: str = "") -> None:
        """Load a file, as on a screen so wide."""
        self.events.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=page.as_uri() + fragment)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._message())

    def evaluate(self, script: str) -> Any:
        made = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in made, made["exceptionDetails"]
        return made["result"].get("value")

    def axe(self) -> list[str]:
        """Returns what axe-core objects to, an element a line."""
        self.evaluate(AXE.read_text(encoding="utf-8"))
        violations = self.evaluate("axe.run().then(found => found.violations)")
        return [
            f"{one['id']}: {node['html']}: {node.get('failureSummary', '')}"
            for one in violations
            for node in one["nodes"]
        ]

    @property
    def requests(self) -> list[str]:
        """Every address that was asked for since the page was loaded, its own included, but not
        what the page's content security policy stopped."""
        params = [(event["method"], event["params"]) for event in self.events]
        stopped = {
            one["requestId"]
            for method, one in params
            if method == "Network.loadingFailed" and one.get("blockedReason") == "csp"
        }
        return [
            one["request"]["url"]
            for method, one in params
            if method == "Network.requestWillBeSent" and one["requestId"] not in stopped
        ]

    @property
    def complaints(self) -> list[str]:
        """Returns what the page wrote to the console, and what the browser logged about it."""
        said = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [str(event["params"]) for event in self.events if event["method"] in said]

    def close(self) -> None:
        os.close(self._out)
        os.close(self._in)
        self._process.terminate()
        status_of(self._process)


@contextmanager
def browser() -> Iterator[Browser]:
    with tempfile.TemporaryDirectory(prefix="teemark-", ignore_cleanup_errors=True) as profile:
        opened = Browser(profile)
        try:
            yield opened
        finally:
            opened.close()
