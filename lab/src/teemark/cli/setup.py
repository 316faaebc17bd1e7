# SPDX-License-Identifier: BSD-2-Clause
"""teemark setup BOARD"""

from teemark.base.console import say, working
from teemark.boards import Board, ensure_installed, install, open_board, own_ta, tas
from teemark.cli.common import board_argument, option, picked, put_json, subcommand


@subcommand("setup")
def command(
    board: str = board_argument,
    remove: bool = option("--remove", "Take away again all that was put there."),
    as_json: bool = option("--json", "What was installed or removed, as JSON."),
) -> int:
    """Install teebench, teehash and the Trusted Applications on a board, unless it has the same.

    Then open a session with each Trusted Application, and say what came back. On a board without a
    TEE the programs alone are installed.

    Exit status: 0 fine; 1 if the board's TEE can't be used.
    """
    target = open_board(board)
    if remove:
        return _remove(target, as_json)
    with own_ta.ready_board(target, install=False):
        with working(f"looking at {target.name} …") as tell:
            installed = ensure_installed(target, require=True, tell=tell)
        with working("opening a session with each TA …"):
            opened = tas.open_each(target)
    absent = tas.absent(opened)
    problem = tas.refused(target, opened) if absent is None else None
    if as_json:
        put_json(
            {
                "installed": [item.target for item in installed],
                "tee": problem is None and absent is None,
                "no_tee": absent,
                "tas": [picked(ta, "uuid", "name", "opened", "reason") for ta in opened],
                "problem": picked(problem, "message", "hint") if problem else None,
            }
        )
        return 1 if problem else 0
    for item in installed:
        say(f"installed {item.target}")
    if any(item.replaces and item.target.endswith(".ta") for item in installed):
        say("a TA that is in use stays the old one until its last session ends; one that has")
        say("TA_FLAG_INSTANCE_KEEP_ALIVE, as none of teemark's, until a reboot")
    if not installed:
        say(f"{target.name}: everything was in place")
    if absent is not None:
        say(f"{target.name}: {absent}")
        say(f"`teemark run --board {target.name}` measures what needs no TEE, and skips the rest")
        return 0
    for ta in opened:
        came = "a session was opened" if ta.opened else ta.reason
        say(f"TA {ta.uuid} ({ta.name}): {came}")
    if problem:
        raise problem
    return 0


def _remove(target: Board, as_json: bool) -> int:
    with working(f"removing what is ours from {target.name} …"), target:
        removed, error = install.remove(target)
    if as_json:
        problem = picked(error, "message", "hint") if error else None
        put_json({"removed": removed, "problem": problem})
        return 1 if error else 0
    for item in removed:
        say(f"removed {item}")
    if error:
        raise error
    if not removed:
        say(f"{target.name}: nothing of ours was there")
    return 0
