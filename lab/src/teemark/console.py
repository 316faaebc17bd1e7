# SPDX-License-Identifier: BSD-2-Clause
"""What a person at a terminal sees while something takes time; silence for everybody else."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def working(what: str) -> Iterator[None]:
    """Show `what` with a spinner on stderr while the block runs, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def say(text: str) -> None:
    """A line on stderr, so that stdout stays for data."""
    sys.stderr.write(text + "\n")
