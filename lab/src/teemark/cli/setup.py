# SPDX-License-Identifier: BSD-2-Clause
"""teemark setup BOARD"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click

from teemark.cli import complete

if TYPE_CHECKING:
    from teemark.boards import Board


@click.command("setup")
@click.argument("board", shell_complete=complete.boards)
@click.option("--remove", is_flag=True, help="Take away again all that was put there.")
@click.option("--json", "as_json", is_flag=True, help="What was installed or removed, as JSON.")
def command(board: str, remove: bool, as_json: bool) -> int:
    """Install teebench, teehash and the Trusted Applications on a board, unless it has the same.

    Then open a session with each Trusted Application, and say what came back.

    Exit status: 0 fine; 1 if the board's TEE can't be used; 2 for a mistake on the command line.
    """
    from teemark.base.console import json_text, say, working
    from teemark.base.errors import NoTee, TaRefused
    from teemark.boards import ensure_installed, open_board, tas

    target = open_board(board)
    if remove:
        return _remove(target, as_json)
    problem: NoTee | TaRefused | None = None
    answers: dict[tas.Ta, tas.Answer] = {}
    with contextlib.ExitStack() as stack:
        with working(f"reaching {target.name} …"):
            stack.enter_context(target)
        with working(f"looking at {target.name} …") as tell:
            installed = ensure_installed(target, require=True, tell=tell)
        try:
            target.require_tee()
            with working("opening a session with each TA …"):
                answers = tas.open_each(target)
            problem = tas.refused(target, answers)
        except NoTee as error:
            problem = error
    if as_json:
        state = {"message": problem.message, "hint": problem.hint} if problem else None
        document = {
            "installed": [item.target for item in installed],
            "tee": state is None,
            "tas": [
                {
                    "uuid": ta.uuid,
                    "name": ta.name,
                    "opened": answer.opened,
                    "reason": answer.reason,
                }
                for ta, answer in answers.items()
            ],
            "problem": state,
        }
        click.echo(json_text(document), nl=False)
        return 1 if problem else 0
    for item in installed:
        say(f"installed {item.target}")
    if not installed:
        say(f"{target.name}: everything was in place")
    for ta, answer in answers.items():
        came = "a session was opened" if answer.opened else f"{answer.reason}"
        say(f"TA {ta.uuid} ({ta.name}): {came}")
    if problem:
        raise problem
    return 0


def _remove(target: Board, as_json: bool) -> int:
    from teemark.base.console import json_text, say, working
    from teemark.boards import install

    with working(f"removing what is ours from {target.name} …"), target:
        removed = install.remove(target)
    if as_json:
        click.echo(json_text({"removed": removed}), nl=False)
        return 0
    for item in removed:
        say(f"removed {item}")
    if not removed:
        say(f"{target.name}: nothing of ours was there")
    return 0
