# SPDX-License-Identifier: BSD-2-Clause
"""A program under test."""

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from waiting import PATIENCE_S

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
        timeout: float = PATIENCE_S,
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

    def with_arguments(self, *arguments: Argument) -> "Program":
        return Program(self.path, (*self.arguments, *arguments), self.env)
