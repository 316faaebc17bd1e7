# SPDX-License-Identifier: BSD-2-Clause
"""Writes charts of a report to a file: SVG, or PNG and PDF by the package cairosvg."""

import re
import textwrap
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Literal

from teemark.base.errors import MissingOutput
from teemark.page.bars import FONT, LINE, WIDE, label
from teemark.page.blocks import Chart, plain

Kind = Literal["svg", "png", "pdf"]
EDGE = 24
_TEXT = 128  # Letters in a line of a caption


def colours() -> dict[str, str]:
    """Returns the colours of the page's light theme, by their names."""
    css = files("teemark.page").joinpath("templates/report.css").read_text(encoding="utf-8")
    return dict(re.findall(r"--([\w-]+): (#\w+);", css[: css.index("}")]))


def svg(charts: Sequence[Chart], title: str) -> str:
    """Returns an SVG with the charts below each other, under their own titles and captions."""
    drawn, y, width = [label(0, 0, title, ink="ink").replace(f'"{FONT}"', '"18"')], 2.0 * LINE, 0.0
    for chart in charts:
        drawing = chart.draw(WIDE)
        size = re.search(r'viewBox="\S+ \S+ (\S+) ([^" ]+)"', drawing)
        assert size is not None
        wide, high = map(float, size.groups())
        place = f'<svg x="0" y="{y + LINE + 6:.1f}" width="{wide:g}" height="{high:g}"'
        drawn += [label(0, y, chart.title, ink="ink"), drawing.replace("<svg", place, 1)]
        y, width = y + LINE + 6 + high + 4, max(width, wide)
        for line in textwrap.wrap(plain(chart.caption), _TEXT):
            drawn.append(label(0, y, line))
            y += LINE
        y += LINE
    whole = width + 2 * EDGE, y + 2 * EDGE
    text = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole[0]:.0f}" height="{whole[1]:.0f}" '
        f'viewBox="{-EDGE} {-EDGE} {whole[0]:.0f} {whole[1]:.0f}" font-family="sans-serif" '
        f'role="img" aria-label="{escape(title)}"><rect x="{-EDGE}" y="{-EDGE}" width="100%" '
        f'height="100%" fill="var(--sheet)"/>{"".join(drawn)}</svg>\n'
    )
    palette = colours()
    text = text.replace("ui-monospace,Menlo,Consolas,monospace", "monospace")
    return re.sub(r"var\(--([\w-]+)(?:,[^)]*)?\)", lambda name: palette[name[1]], text)


def render(charts: Sequence[Chart], title: str, kind: Kind) -> str | bytes:
    """Returns the file's content; raises MissingOutput if PNG or PDF lack the package cairosvg."""
    text = svg(charts, title)
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
    image: bytes = make(bytestring=text.encode(), scale=2 if kind == "png" else 1)
    return image
