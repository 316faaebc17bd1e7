# SPDX-License-Identifier: BSD-2-Clause
"""Draws a call as one stacked bar: inline SVG in the page's colours, and a line of blocks for
terminals.

A part is also drawn for the difference between the call and the sum of its parts. A negative part
has no width.
"""

from collections.abc import Sequence
from html import escape

from teemark.model.breakdown import Breakdown, Part
from teemark.wording import fmt

WIDE = 900
NARROW = 350
HEIGHT = 26
FONT = 12.0
LINE = 18  # Height of a line of a legend or title

LEAST = 0.005  # Smallest share of a call with a place of its own in a bar

OPACITY = "0.75"  # Fill of a call's parts
_FILLS = "█▓▒░"


def widths(breakdown: Breakdown) -> list[tuple[Part, float]]:
    """Returns the parts with a positive cost, each with its share of the bar."""
    parts = [(part, value.value) for part, value in breakdown.known_parts if value.value > 0]
    total = sum(value for _, value in parts)
    return [(part, value / total) for part, value in parts]


def box(
    x: float, y: float, width: float, height: float, fill: str, *, name: str = "", **more: str
) -> str:
    """Returns an SVG rectangle; `name` is its tooltip, `more` are further attributes."""
    attributes = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in more.items())
    title = f"<title>{escape(name)}</title>" if name else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:g}" '
        f'fill="{fill}"{attributes}>{title}</rect>'
    )


def label(x: float, y: float, text: str, anchor: str = "start", ink: str = "muted") -> str:
    """Returns text in SVG, with its baseline FONT pixels below `y`."""
    return (
        f'<text x="{x:.1f}" y="{y + FONT:.1f}" font-size="{FONT}" text-anchor="{anchor}" '
        f'fill="var(--{ink})">{escape(text)}</text>'
    )


def picture(width: int, height: float, parts: Sequence[str], spoken: str = "") -> str:
    """Returns the parts as one SVG drawing; `spoken` is its text for screen readers."""
    role = f' role="img" aria-label="{escape(spoken)}"' if spoken else ""
    head = f'<svg viewBox="0 0 {width} {height:.0f}" xmlns="http://www.w3.org/2000/svg"{role}>'
    return f"{head}{''.join(parts)}</svg>"


def legend(
    entries: Sequence[tuple[str, str]], width: int, y: float, opacity: str = "1"
) -> tuple[list[str], float]:
    """Draws fills with their names, in as many lines as needed; returns the SVG and the y below it.
    `opacity` is that of the fills in the picture."""
    svg, x = [], 0.0
    for fill, name in entries:
        room = 18 + len(name) * FONT * 0.6 + 12
        if x and x + room > width:
            x, y = 0.0, y + LINE
        svg.append(box(x + 0.5, y + 2, 12, 12, fill, stroke="var(--muted)", fill_opacity=opacity))
        svg.append(label(x + 18, y, name, ink="ink"))
        x += room
    return svg, y + LINE


def render(calls: Sequence[tuple[str, str, Breakdown]], width: int) -> str:
    """Draws calls, each with a title, its cost in words, a bar of its parts, and their names."""
    svg: list[str] = []
    y = 0.0
    for title, cost, breakdown in calls:
        parts = [(part, share) for part, share in widths(breakdown) if share >= LEAST]
        svg += [label(0, y, title, ink="ink"), label(width, y, cost, "end")]
        if len(title) + len(cost) > width / (FONT * 0.6):
            svg[-1] = label(width, y + LINE, cost, "end")
            y += LINE
        y += LINE + 4
        at = 0.0
        for part, share in parts:
            name = f"{part.title}: {fmt.percent(share)}"
            drawn = {"fill_opacity": OPACITY, "stroke": "var(--paper)"}
            svg.append(
                box(at, y, share * width, HEIGHT, f"var(--c-{part.colour})", name=name, **drawn)
            )
            at += share * width
        y += HEIGHT + 6
        entries = [
            (f"var(--c-{p.colour})", f"{p.title} {fmt.percent(share)}") for p, share in parts
        ]
        if (rest := 1 - sum(share for _, share in parts)) >= LEAST:
            entries.append(("var(--paper)", f"rest {fmt.percent(rest)}"))
        named, y = legend(entries, width, y, OPACITY)
        svg += named
        y += LINE
    return picture(width, y, svg, "; ".join(f"{title}: {cost}" for title, cost, _ in calls))


def line(breakdown: Breakdown, cells: int) -> Sequence[tuple[Part, str]]:
    """Returns the bar for a terminal, at most `cells` wide. Neighbours have different shades, and
    each part has at least one cell, as long as there are enough."""
    parts = widths(breakdown)[:cells]
    wide = [max(1, round(share * cells)) for _, share in parts]
    while sum(wide) > max(cells, len(wide)):  # takes back what was added to the smallest parts
        wide[wide.index(max(wide))] -= 1
    return [
        (part, _FILLS[index % len(_FILLS)] * wide[index]) for index, (part, _) in enumerate(parts)
    ]
