# SPDX-License-Identifier: BSD-2-Clause
"""teemark board list, teemark board show"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from teemark.base.console import table_row, terminal
from teemark.base.errors import ConfigError
from teemark.base.harmless import harmless
from teemark.boards import BoardFile, config, instances, open_board, settings
from teemark.cli.options import board_argument, json_option, picked, put_json


@click.group("board")
def command() -> None:
    """List the boards, or show the settings of one.

    A board is one TOML file: in boards/ of the checkout, or in ~/.config/teemark/boards; or name
    the file itself. docs/boards.md says what goes into it.
    """


def _facts(name: str, board: BoardFile | ConfigError) -> dict[str, Any]:
    known: dict[str, Any] = dict.fromkeys(("kind", "up", "address", "file", "description", "error"))
    known = {"name": name} | known
    if isinstance(board, ConfigError):
        return known | {"error": board.message}
    known |= {"kind": board.config.kind, "file": str(board.path)}
    known["description"] = board.config.description or None
    if isinstance(board.config, config.SshConfig):
        return known | {"address": board.config.address}
    kept = instances.running_kept(name)
    return known | {"up": kept is not None, "address": f"127.0.0.1:{kept.port}" if kept else None}


@command.command("list")
@json_option("One JSON array, for scripts.")
def list_boards(as_json: bool) -> int:
    """List the boards, their kind, and whether a virtual one is up.

    Whether a board over ssh is up isn't known without trying: `teemark exec BOARD -- true`.
    """
    rows = [_facts(name, board) for name, board in config.available().items()]
    if as_json:
        put_json(rows)
    else:
        _table([("NAME", "KIND", "UP", "WHERE", "WHAT"), *map(_row, rows)])
    return 1 if any(row["error"] for row in rows) else 0


def _row(board: dict[str, Any]) -> tuple[str, ...]:
    up = {True: "up", False: "-", None: "?"}[board["up"]]
    what = f"wrong: {board['error']}" if board["error"] else board["description"] or ""
    return board["name"], board["kind"] or "?", up, board["address"] or "-", what


@command.command("show")
@board_argument
@json_option("One JSON object, for scripts.")
def show(board: str, as_json: bool) -> None:
    """Show every setting of a board, and where it comes from.

    That is the board file, teemark's default or, for what a board file leaves to ssh, your ssh
    configuration (`ssh -G`). The board itself isn't asked.
    """
    file = config.find(board)
    rows = settings.of(file, open_board(board))
    if as_json:
        told = [picked(row, "name", "value", "source") for row in rows]
        put_json({"name": file.name, "file": str(file.path), "settings": told})
        return
    table_row(terminal(), f"{file.name}: {file.path}", indent="  ")
    _table([("", row.name, row.shown, row.source) for row in rows], bold=False)


def _table(rows: Sequence[tuple[str, ...]], *, bold: bool = True) -> None:
    """Shows a line for each, the columns below each other; the last may be long. `bold` marks the
    first line."""
    console = terminal()
    rows = [tuple(map(harmless, row)) for row in rows]
    widths = [min(44, max(map(len, column))) for column in list(zip(*rows, strict=True))[:-1]]
    indent = " " * min(sum(widths) + 2 * len(widths), console.width // 2)
    for number, row in enumerate(rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        text = "  ".join([*cells, row[-1]]).rstrip()
        table_row(console, text, "bold" if bold and not number else None, indent=indent)
