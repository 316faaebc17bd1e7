# SPDX-License-Identifier: BSD-2-Clause
"""`teemark pr`: what a change to OP-TEE costs or saves, as one comment."""

import shlex
from pathlib import Path

import click

from teemark.base.console import say
from teemark.base.errors import UsageMistake
from teemark.boards import config
from teemark.cli import common
from teemark.cli.common import argument, option, subcommand
from teemark.exact import pull_request, record
from teemark.page import markdown
from teemark.run.writer import directory_for
from teemark.trace import store


@subcommand("pr")
def command(
    *,
    base: str = argument("[BASE]", default="HEAD~1"),
    head: str = argument("[HEAD]", default="HEAD"),
    cases: tuple[str, ...] = argument(nargs=-1, metavar="[CASE]..."),
    tree: Path = option(
        "--optee TREE",
        "A git tree of OP-TEE's source. Nothing is built or written in it.",
        kind=common.TREE,
        default=".",
    ),
    fail_on: str = option(
        "--fail-on LIMIT", "Exit with 1 where a call takes so much more: 0.2%.", default="0.1%"
    ),
    release: bool = option("--release", "Hold HEAD against the last release before BASE as well."),
    board: str = common.exact_board_option,
    out: Path | None = common.out_option("runs/TIME-BOARD-pr, with a folder for each commit"),
    as_json: bool = option("--json", "Both commits' calls and functions, as JSON."),
) -> int:
    """Build the commits BASE and HEAD of OP-TEE, trace each CASE with both, and print a comment
    for the pull request: which calls changed, in which functions, and how to repeat it. Without
    commits, the last one of TREE is compared with the one before it.

    Without a CASE: an empty call, opening a session, a digest, and reading from storage. What was
    built once is kept by the contents of its source.

    Exit status: 0 fine; 1 if a call takes more than --fail-on more, holds interrupts off for so
    much longer, or wasn't measured on both.
    """
    limit = common.parse_limit(fail_on)
    if limit.share is None:
        raise UsageMistake(f"{fail_on} is no share", hint="write a limit as 0.2%")
    file = config.find(board)
    directory = directory_for(out, file.name, "pr")
    keys = cases or pull_request.CASES
    tree = tree.absolute()
    pull_request.check(tree, keys)
    commits = (base, *((pull_request.last_release(tree, base),) if release else ()), head)
    say(record.ahead(len(commits), len(keys), file))
    try:
        measured = pull_request.measure(file, tree, commits, keys, directory)
    except (KeyboardInterrupt, SystemExit):
        folders = (file.parent.name for file in directory.glob(f"*/{store.FILE}"))
        done = sum(not name.endswith(record.ASIDE) for name in folders)
        say(common.kept(done, len(commits), "trace", directory))
        raise
    if as_json:
        kinds = ("base", "head", "cells", "verdicts", "gone", "settings", "built")
        common.put_json(
            [common.picked(one, *kinds) | {"dearer": one.dearer(limit.share)} for one in measured]
        )
    for one in measured * (not as_json):
        again = ["teemark", "pr", "--optee", "TREE", one.base, one.head, *cases]
        blocks = pull_request.blocks(one, limit.share, shlex.join(again))
        click.echo("\n\n".join(markdown.block(block, 2) for block in blocks) + "\n")
    worse = measured[0].dearer(limit.share) or measured[0].held_longer(limit.share)
    return 1 if worse or any(one.gone for one in measured) else 0
