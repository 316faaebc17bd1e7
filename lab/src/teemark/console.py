# SPDX-License-Identifier: BSD-2-Clause
"""What a person at a terminal sees while something takes time; silence for everybody else."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from teemark.harmless import harmless


@contextlib.contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Show `what` with a spinner on stderr while the block runs, if stderr is a terminal; the
    block may change the words."""
    if not sys.stderr.isatty():
        yield lambda _what: None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(what)) as status:
        yield lambda now: status.update(Text(now))


def say(text: str) -> None:
    """A line on stderr, so that stdout stays for data."""
    sys.stderr.write(harmless(text) + "\n")


class _Asked:
    more = False


def say_more() -> None:
    """From now on, `detail` says what it is told."""
    _Asked.more = True


def detail(text: str) -> None:
    """Lines on stderr for those who asked for more (teemark --verbose)."""
    if _Asked.more:
        for line in text.splitlines():
            say(line)
