# SPDX-License-Identifier: BSD-2-Clause
"""A program under test."""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

Argument = str | bytes | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Done:
    status: int
    out: bytes
    err: bytes

    @property
    def said(self) -> str:
        return self.err.decode(errors="backslashreplace")


@dataclass(frozen=True, slots=True)
class Program:
    path: str
    arguments: tuple[Argument, ...] = ()
    env: dict[str, str] = field(default_factory=dict)

    def __call__(
        self,
        *arguments: Argument,
        cwd: Path | None = None,
        stdin: bytes = b"",
        timeout: float = 60,
        **env: str,
    ) -> Done:
        done = subprocess.run(
            [self.path, *self.arguments, *arguments],
            input=stdin,
            capture_output=True,
            cwd=cwd,
            timeout=timeout,
            check=False,
            env={**os.environ, "LC_ALL": "C.UTF-8", **self.env, **env},
        )
        # A sanitizer's finding is never what a test is after.
        assert b"Sanitizer" not in done.stderr, done.stderr.decode(errors="replace")
        assert b"runtime error" not in done.stderr, done.stderr.decode(errors="replace")
        return Done(done.returncode, done.stdout, done.stderr)

    def with_arguments(self, *arguments: Argument) -> Program:
        return Program(self.path, (*self.arguments, *arguments), self.env)


def until_it_settles(process: subprocess.Popen[bytes]) -> None:
    """Returns once all threads of a program wait for something, five looks long, or it has computed
    for half a second: it has begun, however busy the machine is."""
    calm = ticks = 0
    while process.poll() is None and calm < 5:
        time.sleep(0.05)
        stats = []
        for path in Path(f"/proc/{process.pid}/task").glob("*/stat"):
            with suppress(OSError):  # a thread that just ended
                stats.append(path.read_text().rpartition(")")[2].split())
        before, ticks = ticks, sum(int(stat[11]) + int(stat[12]) for stat in stats)
        if ticks >= os.sysconf("SC_CLK_TCK") / 2:
            return
        calm = calm + 1 if ticks == before and {stat[0] for stat in stats} == {"S"} else 0
