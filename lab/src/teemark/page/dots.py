# SPDX-License-Identifier: BSD-2-Clause
"""Rows of dots around 0, as inline SVG: cases that changed."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from teemark.page.bars import LINE, box, label, picture
from teemark.page.charts import axis

RADIUS = 5


class DotRow(NamedTuple):
    label: str
    value: float
    fill: str  # A name of a colour of the page
    said: str  # At the end of the label's line, and the dot's tooltip


def level_ticks(furthest: float) -> list[float]:
    """Returns five ticks, symmetric around 0, of which the last is at least `furthest`."""
    power = 10.0 ** math.floor(math.log10(furthest or 1.0))
    end = next(step * power for step in (1, 2, 5, 10) if step * power >= furthest)
    return [end * share for share in (-1, -0.5, 0, 0.5, 1)]


def render(rows: Sequence[DotRow], width: int, write: Callable[[float], str], title: str) -> str:
    """Draws each row's name, with its dot below and a bar from 0 to the dot. `write` formats a
    tick, `title` names the axis."""
    ticks = level_ticks(max(abs(row.value) for row in rows))
    edge = 30  # Room for half of a tick's text
    place = axis((ticks[0], ticks[-1]), (edge, width - edge), float)
    top, height = LINE + 8, 2 * LINE + 8
    bottom = top + len(rows) * height
    svg: list[str] = []
    for tick in ticks:
        svg.append(label(place(tick), 0, write(tick), "middle"))
    for number, row in enumerate(rows):
        y = top + number * height
        svg += [label(0, y, row.label, ink="ink"), label(width, y, row.said, "end")]
        middle = y + LINE + LINE / 2
        svg.append(box(edge, middle, width - 2 * edge, 1, "var(--muted)", fill_opacity="0.4"))
        svg += [box(place(tick), middle - 4, 1, 9, "var(--muted)") for tick in ticks]
        at, fill = place(row.value), f"var(--c-{row.fill})"
        left, right = sorted((at, place(0.0)))
        svg.append(box(left, middle - 3, right - left, 7, fill))
        spot = (at - RADIUS, middle - RADIUS + 0.5, 2 * RADIUS, 2 * RADIUS, fill)
        svg.append(box(*spot, name=row.said, rx=str(RADIUS), stroke="var(--paper)"))
    svg.append(label(width / 2, bottom, title, "middle"))
    return picture(width, bottom + LINE, svg, "; ".join(f"{row.label} {row.said}" for row in rows))
