# SPDX-License-Identifier: BSD-2-Clause
"""teemark board list"""

from typing import Any

import click

from teemark.base import console
from teemark.base.errors import ConfigError
from teemark.boards import BoardFile, config, instances
from teemark.cli.common import option, put_json, subcommand


@click.group("board")
def command() -> None:
    """List the boards.

    A board is one TOML file: in boards/ of the checkout, or in ~/.config/teemark/boards; or name
    the file itself. docs/boards.md says what goes into it.
    """


def _facts(name: str, board: BoardFile | ConfigError, default: str) -> dict[str, Any]:
    facts: dict[str, Any] = dict.fromkeys(("kind", "up", "address", "file", "description", "error"))
    facts = {"name": name, "default": name == default} | facts
    if isinstance(board, ConfigError):
        return facts | {"error": board.message}
    facts |= {"kind": board.config.kind, "file": str(board.path)}
    facts["description"] = board.config.description or None
    if isinstance(board.config, config.SshConfig):
        return facts | {"address": board.config.address}
    kept = instances.running_kept(name)
    return facts | {"up": kept is not None, "address": f"127.0.0.1:{kept.port}" if kept else None}


@subcommand("list", command)
def list_boards(as_json: bool = option("--json", "One JSON array, for scripts.")) -> int:
    """List the boards, their kind, and whether a virtual one is up.

    A * marks the board that `teemark run` takes by default; `board = "NAME"` in
    ~/.config/teemark/config.toml chooses another.

    Whether a board over ssh is up isn't known without trying: `teemark exec BOARD -- true`.
    """
    default = config.default_board()
    rows = [_facts(name, board, default) for name, board in config.available().items()]
    if as_json:
        put_json(rows)
    else:
        console.rows([("NAME", "KIND", "UP", "WHERE", "WHAT"), *map(_row, rows)], head=True)
    return 1 if any(row["error"] for row in rows) else 0


def _row(board: dict[str, Any]) -> tuple[str, ...]:
    up = {True: "up", False: "-", None: "?"}[board["up"]]
    what = f"wrong: {board['error']}" if board["error"] else board["description"] or ""
    name = board["name"] + " *" * board["default"]
    return name, board["kind"] or "?", up, board["address"] or "-", what
