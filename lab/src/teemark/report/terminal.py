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

NARROWEST = 12
"""Columns of a terminal for a column of words."""


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
    """No figure in it is broken or cut: where a terminal is too narrow for that, each row is a
    paragraph."""
    from rich import box
    from rich import table as rich
    from rich.cells import cell_len
    from rich.text import Text as Line

    titles = [column.unit or column.title for column in table.columns]
    rows = [[_cell(cell) for cell in row] for row in table.rows]
    made = rich.Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column, *cells in zip(table.columns, titles, *rows, strict=True):
        wide = max(map(cell_len, cells))
        figure = column.align == "right"
        made.add_column(
            cells[0],
            justify=column.align,
            no_wrap=figure,
            overflow="fold",
            min_width=wide if figure else min(wide, NARROWEST),
        )
    for row in rows:
        made.add_row(*map(Line, row))
    between = 3 * len(made.columns) - 2
    if sum(column.min_width or 0 for column in made.columns) + between <= console.width:
        console.print(made)
        return
    for first, *others in rows:
        pairs = zip(titles[1:], others, strict=True)
        said = "; ".join(f"{title}: {cell}" for title, cell in pairs if cell)
        paragraph(console, f"  {first}: {said}", indent="    ")


def _cell(cell: Cell) -> str:
    match cell:
        case str():
            return cell
        case Bar():
            return cell.text
        case _:
            return plain(cell)
