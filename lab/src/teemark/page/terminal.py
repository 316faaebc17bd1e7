# SPDX-License-Identifier: BSD-2-Clause
"""Shows the blocks of a report on a terminal, for the output of commands."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from teemark.base.console import paragraph, wrapped
from teemark.base.finding import Finding
from teemark.page import blocks as kind

if TYPE_CHECKING:
    from rich.console import Console

STYLES = {"worse": "bold red", "better": "bold green", "same": "", "undecided": ""}

NARROWEST = 11  # Smallest width of a column of words, in characters
WHOLE = 24  # A row's name of up to so many characters isn't broken within a word
LONGEST = 40  # The same, if the table still has details to leave out


def show(console: "Console", blocks: Iterable[kind.Block]) -> None:
    """Shows blocks; a chart is shown as the table of its figures, if it has one."""
    for block in blocks:
        match block:
            case kind.Table():
                _table(console, block)
            case kind.Findings():
                for finding in block.items:
                    _finding(console, finding)
            case kind.Bullets():
                for item in block.items:
                    paragraph(console, f"• {kind.plain(item)}")
            case kind.Heading():
                paragraph(console, block.text, "bold")
            case kind.Paragraph():
                _paragraph(console, block.text)
            case kind.Chart(data=kind.Table() as data):
                _table(console, data)
            case kind.Fold():
                paragraph(console, f"{block.title}: {block.note}".rstrip())
                show(console, block.blocks)
            case _:
                pass


def _paragraph(console: "Console", text: kind.Text) -> None:
    from rich.text import Text as Line

    first = text[0] if text else ""
    if not isinstance(first, kind.Mark):
        paragraph(console, kind.plain(text), "dim" if isinstance(first, kind.Quiet) else None)
        return
    line = Line(wrapped(kind.plain(text), console.width, "  "))
    line.stylize(STYLES[first.verdict], 0, len(first.text))
    console.print(line, soft_wrap=True)


def _verdict(cell: kind.Cell) -> str:
    if isinstance(cell, kind.Bar):
        return cell.series
    return cell[0].verdict if isinstance(cell, tuple) and isinstance(cell[0], kind.Mark) else ""


def _finding(console: "Console", finding: Finding) -> None:
    mark = "•" if finding.severity == "note" else "!"
    paragraph(console, f"{mark} {finding.headline}")
    if finding.evidence:
        paragraph(console, f"  by: {finding.evidence}")
    if finding.advice:
        paragraph(console, f"  → {finding.advice}")


def _table(console: "Console", table: kind.Table) -> None:
    """Shows a table without breaking figures. If it is too wide, the columns that are details are
    left out, the last first; if that isn't enough, each row is a paragraph."""
    from rich import box
    from rich import table as rich
    from rich.text import Text as Line

    if table.caption:
        paragraph(console, f"{table.caption}:")
    titles = [column.unit or column.title for column in table.columns]
    rows = [[kind.cell_text(cell) for cell in row] for row in table.rows]
    places = list(range(len(titles)))
    spare = [place for place in places if table.columns[place].detail]

    def fitted() -> list[int] | None:
        kept = [[line[place] for place in places] for line in (titles, *rows)]
        columns = [table.columns[place] for place in places]
        return _widths(columns, kept[0], kept[1:], console.width, LONGEST if spare else WHOLE)

    while (widths := fitted()) is None and spare:
        places.remove(spare.pop())
    if widths is None:
        for first, *others in rows:
            pairs = zip(titles[1:], others, strict=True)
            details = "; ".join(f"{title}: {cell}" for title, cell in pairs if cell)
            paragraph(console, f"  {first}{': ' if details else ''}{details}", indent="    ")
        return
    grid = rich.Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, width in zip(places, widths, strict=True):
        align = table.columns[place].align
        grid.add_column(titles[place], justify=align, overflow="fold", width=width)
    for texts, row in zip(rows, table.rows, strict=True):
        grid.add_row(*(Line(texts[at], STYLES.get(_verdict(row[at]), "")) for at in places))
    console.print(grid)
    if len(places) < len(titles):
        hidden = ", ".join(titles[at] for at in range(len(titles)) if at not in places)
        paragraph(console, f"A wider terminal also shows {hidden}.", "dim")


def _widths(
    columns: Sequence[kind.Column],
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    room: int,
    longest: int,
) -> list[int] | None:
    """Returns the widths of the columns. To fit into `room` it breaks headings over figures first,
    then words, the widest column first, but never a figure, nor a row's name of up to `longest`
    characters. None if that isn't enough."""
    from rich.cells import cell_len

    widths: list[int] = []
    least: list[int] = []
    for column, title, *cells in zip(columns, titles, *rows, strict=True):
        wide, word = (max(map(cell_len, texts), default=0) for texts in (cells, title.split()))
        widths.append(max(wide, cell_len(title)))
        figure = column.align == "right"
        whole = max((cell_len(word) for cell in cells for word in cell.split()), default=0)
        name = whole if not least and whole <= longest else NARROWEST
        least.append(max(wide, word) if figure else min(widths[-1], max(NARROWEST, name)))
    room -= 3 * len(columns) - 1  # the gaps between columns
    if sum(least) > room:
        return None
    while sum(widths) > room:
        wider = [number for number, low in enumerate(least) if widths[number] > low]
        over = [number for number in wider if columns[number].align == "right"]
        wider = over or wider
        widths[max(wider, key=widths.__getitem__)] -= 1
    return widths
