# SPDX-License-Identifier: BSD-2-Clause
"""A call as one stacked bar: inline SVG in the page's colours, and a line of blocks for terminals.

What the parts exceed the call by, or lack, is drawn too: a part that is negative has no width.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from teemark.base import fmt
from teemark.model.breakdown import Breakdown, Name, Part

WIDE = 900
NARROW = 350
HEIGHT = 34
FONT = 12.0

COLOURS: dict[Name, str] = {
    "client": "0",
    "client-switch": "0",
    "client-switch-entry": "0",
    "switch": "1",
    "ta-entry": "2",
    "mapping": "3",
    "setup": "4",
    "compute": "5",
    "rpcs": "6",
    "console": "6",
    "run-queue": "other",
    "unexplained": "other",
}

_FILLS = "█▓▒░"


def widths(one: Breakdown) -> list[tuple[Part, float]]:
    """The parts that have a width, with their share of the bar."""
    found = [(part, part.value.value) for part in one.known if part.value and part.value.value > 0]
    total = sum(value for _, value in found)
    return [(part, value / total) for part, value in found] if total > 0 else []


def render(one: Breakdown, width: int) -> str:
    """The words in it are our own."""
    pieces = []
    at = 0.0
    for part, share in widths(one):
        wide = share * width
        name = f"{part.title}: {fmt.percent(share)}"
        fill = f"var(--c-{COLOURS[part.name]})"
        pieces.append(
            f'<g><title>{escape(name)}</title><rect x="{at:.1f}" y="0" width="{wide:.1f}" '
            f'height="{HEIGHT}" fill="{fill}" fill-opacity="0.75" stroke="var(--paper)"/>'
        )
        label = part.title
        if len(label) * FONT * 0.55 + 8 < wide:
            pieces.append(
                f'<text x="{at + 6:.1f}" y="{HEIGHT / 2 + FONT / 3:.1f}" font-size="{FONT}" '
                f'fill="var(--ink)">{escape(label)}</text>'
            )
        pieces.append("</g>")
        at += wide
    head = f'<svg viewBox="0 0 {width} {HEIGHT}" xmlns="http://www.w3.org/2000/svg">'
    return head + "".join(pieces) + "</svg>"


def line(one: Breakdown, cells: int) -> Sequence[tuple[Part, str]]:
    """For a terminal, no longer than `cells`: neighbours have different shades, and what has a
    share has a cell, as far as there are any."""
    found = widths(one)[:cells]
    wide = [max(1, round(share * cells)) for _, share in found]
    while sum(wide) > max(cells, len(wide)):  # what the smallest have too much
        wide[wide.index(max(wide))] -= 1
    return [
        (part, _FILLS[index % len(_FILLS)] * wide[index]) for index, (part, _) in enumerate(found)
    ]
