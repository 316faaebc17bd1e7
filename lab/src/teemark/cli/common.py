# SPDX-License-Identifier: BSD-2-Clause
"""One file a subcommand; the table is in teemark/cli.py."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teemark.boards import Board
    from teemark.model.compare import Limit
    from teemark.run.reader import RunData


@contextlib.contextmanager
def reached(name: str) -> Iterator[Board]:
    """The board; on a virtual one is what we install."""
    from teemark.base.console import working
    from teemark.boards import VirtualConfig, ensure_installed, open_board

    target = open_board(name)
    with contextlib.ExitStack() as stack:
        with working(f"reaching {target.name} …"):
            stack.enter_context(target)
            if isinstance(target.config, VirtualConfig):
                ensure_installed(target)
        yield target


def warn(run: RunData) -> None:
    """On stderr, what a run lacks: all that is said of it must be read with that in mind."""
    from teemark.base.console import say
    from teemark.findings.notices import notices

    for notice in notices(run):
        say(f"teemark: {run.file}: {notice.plain}")
    for fail in run.fails:
        say(f"teemark: {run.file}: failed: {fail.case}: {fail.reason}")


def parse_limit(text: str) -> Limit:
    """`5%` or `1000i`; UsageMistake for anything else."""
    from teemark.base.errors import UsageMistake
    from teemark.model.compare import Limit

    match = re.fullmatch(r"(\d+(?:\.\d+)?)(%|i)", text.strip())
    if match is None:
        raise UsageMistake(
            f"--fail-on {text} is no limit", hint="a share such as 5%, or instructions: 1000i"
        )
    number = float(match[1])
    return Limit(share=number / 100) if match[2] == "%" else Limit(instructions=number)
