# SPDX-License-Identifier: BSD-2-Clause
"""`--ta DIR`, of every subcommand that measures: a Trusted Application of the user's, and its plan.

@ta_option
def command(..., ta_path: Path | None, ...):
    own, asked = load(ta_path, plan_word)
    ready = build(own, asked, board)
    with board, on_board(ready, board, tell):
        ...
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from teemark.boards.own_ta import OwnTa
    from teemark.plan.plan import Plan

ta_option = click.option(
    "--ta",
    "ta_path",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="A Trusted Application of your own: its folder, or its signed UUID.ta (docs/own-ta.md).",
)


def load(ta_path: Path | None, plan_word: str | None) -> tuple[OwnTa | None, Plan]:
    """The TA and the plan that a command line names; without a plan it is the TA's own."""
    from teemark.base.errors import UsageMistake
    from teemark.boards import own_ta
    from teemark.plan import plan

    if ta_path is None:
        if plan_word is None:
            raise UsageMistake("no plan", hint="name one by --plan")
        return None, plan.load(plan_word)
    own = own_ta.find(ta_path)
    beside = ta_path if ta_path.is_dir() else ta_path.parent
    if plan_word is None and not (beside / plan.BENCH).is_file():
        raise UsageMistake(
            f"{ta_path} has no {plan.BENCH}", hint="write one (docs/own-ta.md), or name a --plan"
        )
    asked = plan.load(plan_word or str(beside / plan.BENCH))
    if asked.ta is None:
        raise UsageMistake(
            f"plan {asked.name} calls no Trusted Application of yours",
            hint="it needs [ta] and [[call]]: docs/own-ta.md",
        )
    return own, asked
