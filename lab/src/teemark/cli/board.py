# SPDX-License-Identifier: BSD-2-Clause
"""teemark board list, teemark board show"""

from __future__ import annotations

from typing import Any

import click

from teemark.base.console import json_text, table_row, terminal
from teemark.base.harmless import harmless
from teemark.cli import complete


@click.group("board")
def command() -> None:
    """List the boards, or show the settings of one.

    A board is one TOML file: in boards/ of the checkout, or in ~/.config/teemark/boards; or name
    the file itself. docs/boards.md says what goes into it.
    """


def _facts() -> list[dict[str, Any]]:
    from teemark.base.errors import ConfigError
    from teemark.boards import config, instances

    rows: list[dict[str, Any]] = []
    for name, board in config.available().items():
        row: dict[str, Any] = {"name": name, "kind": None, "up": None, "address": None}
        row |= {"file": None, "description": None, "error": None}
        if isinstance(board, ConfigError):
            row["error"] = board.message
        else:
            row |= {"kind": board.config.kind, "file": str(board.path)}
            row["description"] = board.config.description or None
            if isinstance(board.config, config.SshConfig):
                row["address"] = board.config.address
            else:
                kept = instances.running_kept(name)
                row["up"] = kept is not None
                row["address"] = f"127.0.0.1:{kept.port}" if kept else None
        rows.append(row)
    return rows


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON array, for scripts.")
def list_boards(as_json: bool) -> int:
    """List the boards, their kind, and whether a virtual one is up.

    Whether a board over ssh is up isn't known without trying: `teemark exec BOARD -- true`.
    """
    rows = _facts()
    wrong = [row for row in rows if row["error"]]
    if as_json:
        click.echo(json_text(rows), nl=False)
        return 1 if wrong else 0
    table = [("NAME", "KIND", "UP", "WHERE", "WHAT")]
    for row in rows:
        up = {True: "up", False: "-", None: "?"}[row["up"]]
        what = f"wrong: {row['error']}" if row["error"] else row["description"] or ""
        table.append((row["name"], row["kind"] or "?", up, row["address"] or "-", what))
    widths = [max(len(line[column]) for line in table) for column in range(4)]
    console = terminal()
    indent = " " * min(sum(widths) + 2 * len(widths), console.width // 2)
    for number, line in enumerate(table):
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=False)]
        text = harmless("  ".join([*cells, line[4]]).rstrip())
        table_row(console, text, None if number else "bold", indent=indent)
    return 1 if wrong else 0


@command.command("show")
@click.argument("board", shell_complete=complete.boards)
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for scripts.")
def show(board: str, as_json: bool) -> None:
    """Show every setting of a board, and where it comes from.

    That is the board file, teemark's default or, for what a board file leaves to ssh, your ssh
    configuration (`ssh -G`). The board itself isn't asked.
    """
    from teemark.boards import config, open_board, settings

    file = config.find(board)
    rows = settings.of(file, open_board(board))
    if as_json:
        document = {
            "name": file.name,
            "file": str(file.path),
            "settings": [
                {"name": row.name, "value": row.value, "source": row.source} for row in rows
            ],
        }
        click.echo(json_text(document), nl=False)
        return
    console = terminal()
    table_row(console, f"{file.name}: {file.path}", indent="  ")
    wide = max(len(row.name) for row in rows)
    values = [harmless(row.shown) for row in rows]
    room = min(44, max(map(len, values)))
    for row, value in zip(rows, values, strict=True):
        text = f"  {row.name.ljust(wide)}  {value.ljust(room)}  {row.source}"
        table_row(console, text, indent=" " * (wide + 4))
