# SPDX-License-Identifier: BSD-2-Clause
"""Writes charts of a report to a file: SVG, or PNG and PDF by the package cairosvg."""

import csv
import io
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Literal

from teemark.base.console import plain as ungrouped
from teemark.base.errors import MissingOutput
from teemark.base.sanitize import harmless_cell
from teemark.page.bars import FONT, LINE, NARROW, WIDE, label
from teemark.page.blocks import Chart, cell_text, plain

Kind = Literal["svg", "png", "pdf"]
EDGE = 24
COLUMN_MM = 120.0  # Figures up to this width are drawn for a column of a page
_PNG_DPI, _DPI = 300, 96  # Pixels an inch of a PNG whose width is in mm, and of SVG


def colours() -> dict[str, str]:
    """Returns the colours of the page's light theme, by their names."""
    css = files("teemark.page").joinpath("templates/report.css").read_text(encoding="utf-8")
    return dict(re.findall(r"--([\w-]+): (#\w+);", css[: css.index("}")]))


@dataclass(frozen=True, slots=True)
class Look:
    """The look of a figure: its title ("" for none), its width in mm (None: as on a page, in
    pixels), and its font."""

    title: str
    width_mm: float | None = None
    font: str = "sans-serif"

    @property
    def drawn(self) -> int:
        """Returns the width in pixels at which charts are drawn: in a narrow figure as on a phone,
        so that their words stay legible."""
        return WIDE if self.width_mm is None or self.width_mm > COLUMN_MM else NARROW


def svg(charts: Sequence[Chart], look: Look) -> str:
    """Returns an SVG with the charts below each other, under their own titles and captions."""
    title = look.title
    drawn, y, width = [label(0, 0, title, ink="ink").replace(f'"{FONT}"', '"18"')], 2.0 * LINE, 0.0
    if not title:
        drawn, y = [], 0.0
    for chart in charts:
        drawing = chart.draw(look.drawn)
        size = re.search(r'viewBox="\S+ \S+ (\S+) ([^" ]+)"', drawing)
        assert size is not None
        wide, high = map(float, size.groups())
        place = f'<svg x="0" y="{y + LINE + 6:.1f}" width="{wide:g}" height="{high:g}"'
        drawn += [label(0, y, chart.title, ink="ink"), drawing.replace("<svg", place, 1)]
        y, width = y + LINE + 6 + high + 4, max(width, wide)
        for line in textwrap.wrap(plain(chart.caption), int(wide / (FONT * 0.6))):
            drawn.append(label(0, y, line))
            y += LINE
        y += LINE
    whole = width + 2 * EDGE, y + 2 * EDGE
    sides = [f"{side:.0f}" for side in whole]
    if look.width_mm is not None:
        sides = [f"{side * look.width_mm / whole[0]:.2f}mm" for side in whole]
    text = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{sides[0]}" height="{sides[1]}" '
        f'viewBox="{-EDGE} {-EDGE} {whole[0]:.0f} {whole[1]:.0f}" '
        f'font-family="{escape(look.font)}" '
        f'role="img" aria-label="{escape(title)}"><rect x="{-EDGE}" y="{-EDGE}" width="100%" '
        f'height="100%" fill="var(--sheet)"/>{"".join(drawn)}</svg>\n'
    )
    palette = colours()
    text = text.replace("ui-monospace,Menlo,Consolas,monospace", "monospace")
    return re.sub(r"var\(--([\w-]+)(?:,[^)]*)?\)", lambda name: palette[name[1]], text)


def render(charts: Sequence[Chart], look: Look, kind: Kind) -> str | bytes:
    """Returns the file's content; raises MissingOutput if PNG or PDF lack the package cairosvg."""
    text = svg(charts, look)
    if kind == "svg":
        return text
    try:
        import cairosvg
    except (ImportError, OSError) as error:
        raise MissingOutput(
            f"cairosvg can't be loaded, which writes {kind.upper()}: {error}",
            hint="install the extra plot (`make venv-dev` has it), or write an .svg file",
        ) from None
    make = {"png": cairosvg.svg2png, "pdf": cairosvg.svg2pdf}[kind]
    scale = 1 if kind == "pdf" else 2 if look.width_mm is None else _PNG_DPI / _DPI
    image: bytes = make(bytestring=text.encode(), scale=scale)
    return image


def table(charts: Sequence[Chart]) -> str:
    """Returns the figures that the charts show as CSV: a line for each row of their tables, behind
    the chart's title; numbers without groups."""
    file = io.StringIO()
    lines = csv.writer(file, lineterminator="\n")
    for chart in charts:
        if chart.data is None:
            continue
        heads = [f"{c.title} ({c.unit})" if c.unit else c.title for c in chart.data.columns]
        lines.writerow(["chart", *heads])
        for row in chart.data.rows:
            cells = (chart.title, *map(cell_text, row))
            lines.writerow(map(harmless_cell, map(ungrouped, cells)))
    return file.getvalue()
