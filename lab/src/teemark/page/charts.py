# SPDX-License-Identifier: BSD-2-Clause
"""Charts over axes as inline SVG: rates over sizes, and figures over runs. Colours are variables of
the page, so that a chart follows the light or dark theme."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from teemark.model.history import CaseHistory
from teemark.page import bars
from teemark.page.bars import FONT, box, label, picture
from teemark.run.records import Backend
from teemark.wording import fmt

DOT, SQUARE, DIAMOND, TRIANGLE = (12, 0.0), (4, 0.5), (4, 0.0), (3, 0.0)
MARKERS = (DOT, SQUARE, DIAMOND, SQUARE, DIAMOND, DOT, TRIANGLE)
"""The shape of a backend's points, by its place in the run, as the page's colours --c-0, --c-1, …:
the number of corners, and their turn as a share of the angle between two corners."""

OTHER = "other"
COLOURS = (*map(str, range(len(MARKERS))), OTHER)


def colour(place: int) -> str:
    """Returns the name of the colour of the backend with this place in the run."""
    return str(place) if place < len(MARKERS) else OTHER


def is_palette_name(name: str) -> str:
    """Returns `name` if the page has that colour, otherwise `other`: never a text of a board's."""
    return name if name in (*COLOURS, "worse", "better") else OTHER


@dataclass(frozen=True, slots=True)
class Shape:
    """A chart's size in CSS pixels; `label` is the room for the series' names at the right."""

    width: int
    height: int
    label: int


WIDE = Shape(bars.WIDE, 430, 216)
NARROW = Shape(bars.NARROW, 360, 76)
SHAPES = {shape.width: shape for shape in (WIDE, NARROW)}
LEFT = 4.8 * FONT  # Room for the ticks of the vertical axis


@dataclass(frozen=True, slots=True)
class Series:
    backend: Backend
    points: tuple[tuple[float, float], ...]
    low_high: tuple[tuple[float, float] | None, ...] = ()
    place: int = len(MARKERS)  # The backend's place in the run

    @property
    def ink(self) -> str:
        return f"c-{colour(self.place)}"


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Returns places in the same order, moved until neighbours are `gap` apart. The two places of a
    pair that is too near move by the same amount, again and again."""
    moved = list(places)
    order = sorted(range(len(places)), key=places.__getitem__)
    for _ in range(500):
        for low, high in pairwise(order):
            lacking = max(0.0, gap - (moved[high] - moved[low])) / 2
            moved[low], moved[high] = moved[low] - lacking, moved[high] + lacking
    return moved


def _tick(value: float) -> str:
    if value >= 1e6:
        return f"{fmt.digits(value / 1e6, 4)} M"
    return fmt.grouped(f"{value:.10g}") if value >= 1 else f"{value:g}"


def log_ticks(low: float, high: float) -> list[float]:
    """Returns three ticks or more, the first at most `low` and the last at least `high`."""
    least, most = math.floor(math.log10(low)), math.ceil(math.log10(high))
    fine = [step * 10.0**power for power in range(least - 1, most + 2) for step in (1, 2, 5)]
    first = max(at for at, tick in enumerate(fine) if tick <= low)
    last = min(at for at, tick in enumerate(fine) if tick >= high)
    ticks = fine[min(first, last - 2) : last + 1]
    return ticks if len(ticks) <= 6 else [10.0**power for power in range(least, most + 1)]


def levels(low: float, high: float) -> list[float]:
    """Returns the ticks of a logarithmic axis for values from `low` to `high`. Ticks far outside
    are left out if at least three remain."""
    ticks = log_ticks(low, high)
    near = [tick for tick in ticks if low / 1.4 <= tick <= high * 1.4]
    return near if len(near) >= 3 else ticks


def even_ticks(low: float, high: float, least: int) -> list[float]:
    """Returns round values from `low` to `high` at equal distances: usually three to five, and
    never fewer than `least`."""
    power = 10.0 ** math.floor(math.log10(high - low))
    steps = (n * power for n in (5, 2, 1, 0.5, 0.25, 0.2, 0.1))
    rows = ([s * n for n in range(math.ceil(low / s), math.floor(high / s) + 1)] for s in steps)
    return next(row for row in rows if len(row) >= least)


Place = Callable[[float], float]


def axis(
    ends: tuple[float, float], room: tuple[float, float], scale: Callable[[float], float] = float
) -> Place:
    """Returns a function from a value to its place on an axis; `ends` lie at the ends of `room`."""
    low, high = map(scale, ends)
    return lambda value: room[0] + (scale(value) - low) / (high - low) * (room[1] - room[0])


def _path(points: Sequence[tuple[float, float]], ink: str, width: float, dashes: str = "") -> str:
    data = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<path d="M{data}" fill="none" stroke="var(--{ink})" stroke-width="{width:g}"{dashed}/>'


def _marker(kind: tuple[int, float], x: float, y: float, ink: str) -> str:
    corners, turned = kind
    angles = [math.tau * (corner + turned) / corners for corner in range(corners)]
    points = " ".join(f"{x + 3 * math.sin(a):.1f},{y - 3 * math.cos(a):.1f}" for a in angles)
    return f'<polygon points="{points}" fill="var(--{ink})"/>'


def _levels(ticks: Sequence[float], y: Place, left: float, right: float) -> Iterator[str]:
    for tick in ticks:
        yield box(left, y(tick), right - left, 1, "var(--rule)")
        yield label(left - 6, y(tick) - FONT * 0.65, _tick(tick), "end")


SMALL_HEIGHT = 118  # Height of a small chart, CSS pixels


def history(lines: Sequence[CaseHistory], runs: Sequence[str], unit: str, width: int) -> str:
    """Draws one chart of a case, or several small ones over the same runs. `runs` has two lines for
    each run: its day and its commit."""
    shape, single = SHAPES[width], len(lines) == 1
    columns = 1 if single or shape is NARROW else 2
    rows, gap = -(-len(lines) // columns), FONT * 6
    height = shape.height if single else SMALL_HEIGHT * rows + 60
    wide = (shape.width - LEFT - FONT * 2 - gap * (columns - 1)) / columns
    tall = (height - 74) / rows
    svg: list[str] = []
    for number, line in enumerate(lines):
        row, column = divmod(number, columns)
        left, top = LEFT + column * (wide + gap), 26 + row * tall
        bottom = top + tall - (30 if rows > 1 else 0)
        x = axis((-0.4, len(runs) - 0.6), (left, left + wide))
        svg.append(label(left, top - FONT - 8, unit if single else line.case))
        svg += _course(line, x, (left, left + wide), (bottom, top), small=not single)
        named = runs if number + columns >= len(lines) else ()
        svg += _run_axis(len(runs), named, x, (left, left + wide), bottom)
    return picture(shape.width, height, svg)


def _course(
    line: CaseHistory,
    x: Place,
    sides: tuple[float, float],
    room: tuple[float, float],
    *,
    small: bool,
) -> Iterator[str]:
    low, high = min(line.values), max(line.values)
    more = max(high - low, 0.01 * high) * 0.45
    y = axis((low - more, high + more), room)
    yield from _levels(even_ticks(low - more, high + more, 3 if small else 4), y, *sides)
    before = None
    for begin, end, level in line.levels():
        first, last = (x(line.runs[place]) for place in (begin, end - 1))
        yield _path([(first, y(level)), (last, y(level))], "ink", 2)
        if before:
            ink = "c-worse" if level > before else "c-better"
            sign = "▲ +" if level > before else "▼ "
            change = f"{sign}{fmt.percent(level / before - 1)}"
            anchor = "start" if begin < len(line.runs) * 0.7 else "end"
            yield label(first, y(level) - FONT - 5, change, anchor, ink)
        before = level
    for number, value in zip(line.runs, line.values, strict=True):
        yield _marker(DOT, x(number), y(value), "c-3")


def _run_axis(
    count: int, names: Sequence[str], x: Place, sides: tuple[float, float], bottom: float
) -> Iterator[str]:
    yield box(sides[0], bottom, sides[1] - sides[0], 1, "var(--muted)")
    yield from (box(x(number), bottom, 1, 4, "var(--muted)") for number in range(count))
    stride = max(1, math.ceil(FONT * 5.5 * count / (sides[1] - sides[0])))
    for place in range(len(names) - 1, -1, -stride):
        for line, text in enumerate(names[place].split("\n")):
            yield label(x(place), bottom + 6 + line * bars.LINE, text, "middle")


def throughput(series: Sequence[Series], width: int, unit: str = "MiB/s") -> str:
    """Draws values in `unit` against the bytes of one call. Both axes are logarithmic, and each
    line has its name at its end."""
    shape, xs = SHAPES[width], sorted({x for curve in series for x, _ in curve.points})
    ys = [y for curve in series for _, y in curve.points]
    ticks = levels(min(ys), max(ys))
    right, top, bottom = shape.width - shape.label, 26.0, shape.height - 50.0
    x = axis((xs[0] / 1.25, xs[-1] * 1.1), (LEFT, right), math.log)
    ends = min(min(ys) / 1.4, ticks[0]), max(max(ys) * 1.4, ticks[-1])
    y = axis(ends, (bottom, top), math.log)
    svg = [label(LEFT, 0, unit), *_levels(ticks, y, LEFT, right)]
    svg.append(box(LEFT, bottom, right - LEFT, 1, "var(--muted)"))
    for size in legible(xs, [x(length) for length in xs], FONT):
        svg += [box(x(size), bottom, 1, 4, "var(--muted)")]
        svg += [label(x(size), bottom + 5, _size(size), "middle")]
    svg.append(label((LEFT + right) / 2, bottom + 26, "bytes in one call", "middle"))
    for curve in sorted(series, key=lambda curve: curve.backend.secure):
        places = [(x(size), y(value)) for size, value in curve.points]
        thick, dashes = (2.2, "") if curve.backend.secure else (1.5, "7.5 3.75")
        svg.append(_path(places, curve.ink, thick, dashes))
        svg += [_marker(MARKERS[curve.place % len(MARKERS)], *at, curve.ink) for at in places]
        for (at, _), bounds in zip(places, curve.low_high, strict=False):
            if bounds is not None and bounds[1] > bounds[0] * 1.02:
                # The axis fits the points: an interval that exceeds it is cut off.
                low, high = (min(max(y(end), top), bottom) for end in bounds)
                svg.append(box(at - 0.6, high, 1.2, low - high, f"var(--{curve.ink})"))
    names = _names(
        series, [(x(curve.points[-1][0]), y(curve.points[-1][1])) for curve in series], shape
    )
    return picture(shape.width, shape.height, [*svg, *names])


def _size(number: float) -> str:
    return fmt.size(round(number)).replace("\N{NO-BREAK SPACE}", " ")


def legible(sizes: Sequence[float], places: Sequence[float], font: float) -> list[float]:
    """Returns the sizes whose labels have room on the axis; `places` are their pixels. The last and
    the first have precedence, then the rounder ones: 64 before 55."""

    def half(index: int) -> float:
        return (len(_size(sizes[index])) + 1.5) * font * 0.6 / 2

    whole = [round(size) for size in sizes]
    inner = sorted(range(1, len(sizes) - 1), key=lambda i: -(whole[i] & -whole[i]))
    kept: list[int] = []
    for index in dict.fromkeys((len(sizes) - 1, 0, *inner)):
        if all(abs(places[index] - places[k]) >= half(index) + half(k) for k in kept):
            kept.append(index)
    return [sizes[index] for index in sorted(kept)]


def _names(
    series: Sequence[Series], ends: Sequence[tuple[float, float]], shape: Shape
) -> Iterator[str]:
    places = spread([y for _, y in ends], FONT + 4)
    # All names move together if one would touch the axis or leave the picture.
    floor = shape.height - 50 - FONT / 2
    lift = max(0.0, max(places) - floor) - max(0.0, FONT - min(places))
    at = shape.width - shape.label + 10
    em = 0.52 if shape is WIDE else 0.6  # mean width of a letter, with room for wide letters
    letters = int((shape.label - 10) / (FONT * em))
    for curve, (x, y), place in zip(series, ends, places, strict=True):
        who = curve.backend
        name = who.title if len(who.title) <= letters else who.name
        if len(name) > letters:  # drivers differ at their ends
            name = f"…{name[2 - letters :]}"
        if abs(place - lift - y) > 2:
            yield _path([(x, y), (at - 2, place - lift)], curve.ink, 0.8)
        yield label(at, place - lift - FONT * 0.65, name, ink=curve.ink)
