# SPDX-License-Identifier: BSD-2-Clause
"""Blocks of a report on a terminal: those that commands show."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from teemark.console import paragraph
from teemark.report.blocks import (
    Bar,
    Block,
    Bullets,
    Cell,
    Finding,
    Findings,
    Fold,
    Paragraph,
    Table,
    Text,
)

if TYPE_CHECKING:
    from rich.console import Console


def show(console: Console, blocks: Iterable[Block]) -> None:
    """Charts are left out: a command draws its own."""
    for block in blocks:
        match block:
            case Table():
                _table(console, block)
            case Findings():
                for one in block.items:
                    _finding(console, one)
            case Bullets():
                for item in block.items:
                    paragraph(console, f"• {plain(item)}")
            case Paragraph():
                paragraph(console, plain(block.text))
            case Fold():
                paragraph(console, f"{block.title}:")
                show(console, block.blocks)
            case _:
                pass


def plain(text: Text) -> str:
    return "".join(part if isinstance(part, str) else part.text for part in text)


def _finding(console: Console, one: Finding) -> None:
    unsure = " (uncertain)" if one.unsure else ""
    paragraph(console, f"{'!' if one.caution else '•'} {plain(one.claim)}{unsure}")
    if one.evidence:
        paragraph(console, f"  by: {plain(one.evidence)}")
    if one.advice:
        paragraph(console, f"  → {plain(one.advice)}")


def _table(console: Console, table: Table) -> None:
    from rich import box
    from rich import table as rich
    from rich.text import Text as Line

    made = rich.Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(table.columns):
        made.add_column(
            column.unit or column.title,
            justify=column.align,
            no_wrap=number < len(table.columns) - 1,
            overflow="fold",
        )
    for row in table.rows:
        made.add_row(*(Line(_cell(cell)) for cell in row))
    console.print(made)


def _cell(cell: Cell) -> str:
    match cell:
        case str():
            return cell
        case Bar():
            return cell.text
        case _:
            return plain(cell)
