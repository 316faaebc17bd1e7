# SPDX-License-Identifier: BSD-2-Clause
"""teemark setup BOARD"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from teemark.boards import Board


@click.command("setup")
@click.argument("board")
@click.option("--remove", is_flag=True, help="Take away again all that was put there.")
@click.option("--json", "as_json", is_flag=True, help="What was installed or removed, as JSON.")
def command(board: str, remove: bool, as_json: bool) -> int:
    """Install teebench, teehash and the Trusted Applications on a board, where they differ.

    Then look whether its TEE can be used, and say what is missing: exit status 1.
    """
    from teemark.boards import ensure_installed, open_board
    from teemark.console import say, working
    from teemark.errors import NoTee

    target = open_board(board)
    if remove:
        return _remove(target, as_json)
    problem: NoTee | None = None
    with working(f"setting up {target.name} …"), target:
        installed = ensure_installed(target, require=True)
        try:
            target.require_tee()
        except NoTee as error:
            problem = error
    if as_json:
        files = [item.target for item in installed]
        state = {"message": problem.message, "hint": problem.hint} if problem else None
        click.echo(json.dumps({"installed": files, "tee": state is None, "problem": state}))
        return 1 if problem else 0
    for item in installed:
        say(f"installed {item.target}")
    if not installed:
        say(f"{target.name}: everything was in place")
    if problem:
        raise problem
    return 0


def _remove(target: Board, as_json: bool) -> int:
    from teemark.boards import install
    from teemark.console import say, working

    with working(f"removing what is ours from {target.name} …"), target:
        removed = install.remove(target)
    if as_json:
        click.echo(json.dumps({"removed": removed}))
        return 0
    for item in removed:
        say(f"removed {item}")
    if not removed:
        say(f"{target.name}: nothing of ours was there")
    return 0
