# SPDX-License-Identifier: BSD-2-Clause
"""A call as one stacked bar: inline SVG in the page's colours, and a line of blocks for terminals.

What the parts exceed the call by, or lack, is drawn too: a part that is negative has no width.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from teemark.base import fmt
from teemark.model.breakdown import Breakdown, Part

WIDE = 900
NARROW = 350
HEIGHT = 34
FONT = 12.0

_FILLS = "█▓▒░"


def widths(one: Breakdown) -> list[tuple[Part, float]]:
    """Returns the parts that have a width, with their share of the bar."""
    found = [(part, value.value) for part, value in one.known if value.value > 0]
    total = sum(value for _, value in found)
    return [(part, value / total) for part, value in found]


def box(
    x: float, y: float, width: float, height: float, fill: str, *, name: str = "", **more: str
) -> str:
    """Draws a rectangle; `name` shows when one points at it, `more` are attributes of SVG."""
    said = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in more.items())
    title = f"<title>{escape(name)}</title>" if name else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:g}" '
        f'fill="{fill}"{said}>{title}</rect>'
    )


def label(x: float, y: float, said: str, anchor: str = "start", ink: str = "muted") -> str:
    """Writes text whose first baseline lies a line below `y`."""
    return (
        f'<text x="{x:.1f}" y="{y + FONT:.1f}" font-size="{FONT}" text-anchor="{anchor}" '
        f'fill="var(--{ink})">{escape(said)}</text>'
    )


def picture(width: int, height: float, parts: Sequence[str], spoken: str = "") -> str:
    """Returns the parts as one drawing; `spoken` is what it says to whoever can't see it."""
    role = f' role="img" aria-label="{escape(spoken)}"' if spoken else ""
    head = f'<svg viewBox="0 0 {width} {height:.0f}" xmlns="http://www.w3.org/2000/svg"{role}>'
    return f"{head}{''.join(parts)}</svg>"


def render(one: Breakdown, width: int) -> str:
    """Draws the parts of a call side by side. The words in it are our own."""
    pieces, at = [], 0.0
    for part, share in widths(one):
        wide, fill = share * width, f"var(--c-{part.colour})"
        name = f"{part.title}: {fmt.percent(share)}"
        drawn = {"fill_opacity": "0.75", "stroke": "var(--paper)"}
        pieces.append(box(at, 0, wide, HEIGHT, fill, name=name, **drawn))
        if len(part.title) * FONT * 0.55 + 8 < wide:
            pieces.append(label(at + 6, HEIGHT / 2 - FONT * 2 / 3, part.title, ink="ink"))
        at += wide
    return picture(width, HEIGHT, pieces)


def line(one: Breakdown, cells: int) -> Sequence[tuple[Part, str]]:
    """Returns the bar for a terminal, no longer than `cells`: neighbours have different shades, and
    each part has a cell, as far as there are any."""
    found = widths(one)[:cells]
    wide = [max(1, round(share * cells)) for _, share in found]
    while sum(wide) > max(cells, len(wide)):  # what the smallest have too much
        wide[wide.index(max(wide))] -= 1
    return [
        (part, _FILLS[index % len(_FILLS)] * wide[index]) for index, (part, _) in enumerate(found)
    ]
