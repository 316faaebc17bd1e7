# SPDX-License-Identifier: BSD-2-Clause
"""Rows of dots over one scale, as inline SVG: boards beside each other, or cases that changed."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from teemark.page.bars import LINE, box, label, legend, picture
from teemark.page.charts import axis, log_ticks

RADIUS = 5


class Dot(NamedTuple):
    value: float
    fill: str  # A name of a colour of the page
    name: str  # Its tooltip


class DotRow(NamedTuple):
    label: str
    dots: tuple[Dot, ...]
    note: str = ""  # At the end of the label's line


def level_ticks(furthest: float) -> list[float]:
    """Returns five ticks, symmetric around 0; the last is at least `furthest`."""
    power = 10.0 ** math.floor(math.log10(furthest or 1.0))
    end = next(step * power for step in (1, 2, 5, 10) if step * power >= furthest)
    return [end * share for share in (-1, -0.5, 0, 0.5, 1)]


def render(
    rows: Sequence[DotRow],
    width: int,
    write: Callable[[float], str],
    *,
    fills: Sequence[tuple[str, str]] = (),
    around_0: bool = False,
    title: str = "",
) -> str:
    """Draws each row's name, with its dots below. The scale is logarithmic; with `around_0` it is
    linear, with a bar from 0 to each dot. `write` formats a tick, `title` names the axis; `fills`
    are the colours of the legend with their meanings."""
    values = [dot.value for row in rows for dot in row.dots]
    least, most = min(values), max(values)
    ticks = level_ticks(max(-least, most)) if around_0 else log_ticks(least, most)
    edge = 30  # Room for half of a tick's text
    scale = float if around_0 else math.log
    place = axis((ticks[0], ticks[-1]), (edge, width - edge), scale)
    top, height = LINE + 8, 2 * LINE + 8
    bottom: float = top + len(rows) * height
    svg: list[str] = []
    for tick in ticks:
        svg.append(label(place(tick), 0, write(tick), "middle"))
    for number, row in enumerate(rows):
        y = top + number * height
        svg += [label(0, y, row.label, ink="ink"), label(width, y, row.note, "end")]
        middle = y + LINE + LINE / 2
        svg.append(box(edge, middle, width - 2 * edge, 1, "var(--muted)", fill_opacity="0.4"))
        svg += [box(place(tick), middle - 4, 1, 9, "var(--muted)") for tick in ticks]
        for dot in row.dots:
            at, fill = place(dot.value), f"var(--c-{dot.fill})"
            if around_0:
                left, right = sorted((at, place(0.0)))
                svg.append(box(left, middle - 3, right - left, 7, fill))
            spot = (at - RADIUS, middle - RADIUS + 0.5, 2 * RADIUS, 2 * RADIUS, fill)
            svg.append(box(*spot, name=dot.name, rx=str(RADIUS), stroke="var(--paper)"))
    if title:
        svg.append(label(width / 2, bottom, title, "middle"))
        bottom += LINE
    if fills:
        entries = [(f"var(--c-{fill})", name) for fill, name in fills]
        named, bottom = legend(entries, width, bottom + 4)
        svg += named
    return picture(width, bottom, svg, "; ".join(f"{row.label} {row.note}" for row in rows))
