# SPDX-License-Identifier: BSD-2-Clause
"""teemark setup BOARD"""

from __future__ import annotations

import json

import click


@click.command("setup")
@click.argument("board")
@click.option("--json", "as_json", is_flag=True, help="What was installed, as JSON.")
def command(board: str, as_json: bool) -> int:
    """Install teebench, teehash and the Trusted Applications on a board, where they differ.

    Then look whether its TEE can be used, and say what is missing: exit status 1.
    """
    from teemark.boards import ensure_installed, open_board
    from teemark.console import say, working
    from teemark.errors import NoTee

    target = open_board(board)
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
