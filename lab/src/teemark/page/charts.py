# SPDX-License-Identifier: BSD-2-Clause
"""Charts as inline SVG, the same bytes for the same figures.

Colours are CSS variables of the page (matplotlib is given stand-ins, which are replaced
afterwards), so that a chart follows the light or dark theme. Text stays text in the page's font.
"""

import contextlib
import io
import math
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from teemark.base import fmt
from teemark.run.records import Backend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#010101"
MUTED = "#020202"
GRID = "#030303"
WORSE = "#040404"
BETTER = "#050505"
MARKERS = "osDsDo^"
"""Marks of backends, by their place in the run, as the page's colours --c-0, --c-1, …"""

OTHER = "other"
STAND_INS = {
    name: f"#0000{index:02x}"
    for index, name in enumerate((*map(str, range(len(MARKERS))), OTHER), start=0x10)
}


def colour(place: int) -> str:
    """Returns the name of a backend's colour."""
    return str(place) if place < len(MARKERS) else OTHER


def known(name: str) -> str:
    """Returns the name of a colour that the page has; never a word of the board's own."""
    return name if name in STAND_INS or name in ("worse", "better") else OTHER


@dataclass(frozen=True, slots=True)
class Shape:
    """Size in CSS pixels; `label` is the room to the right for names of series."""

    name: str
    width: int
    height: int
    label: int
    font: float


WIDE = Shape("wide", 900, 430, 200, 13.0)
NARROW = Shape("narrow", 350, 360, 66, 11.5)


@dataclass(frozen=True, slots=True)
class Series:
    backend: Backend
    points: tuple[tuple[float, float], ...]
    low_high: tuple[tuple[float, float] | None, ...] = ()
    place: int = len(MARKERS)  # Of the backend in the run

    @property
    def stand_in(self) -> str:
        return STAND_INS[colour(self.place)]

    @property
    def marker(self) -> str:
        return MARKERS[self.place] if self.place < len(MARKERS) else "o"


VARIABLES = {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    GRID: "var(--rule)",
    WORSE: "var(--c-worse)",
    BETTER: "var(--c-better)",
    **{stand_in: f"var(--c-{name})" for name, stand_in in STAND_INS.items()},
}
"""Stand-in colours and what they become."""


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Returns places moved apart until neighbours are `gap` apart; order kept. A pair that is too
    near moves by as much in both directions, again and again."""
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
    found = fine[min(first, last - 2) : last + 1]
    return found if len(found) <= 6 else [10.0**power for power in range(least, most + 1)]


def levels(low: float, high: float) -> list[float]:
    """Returns the ticks of a logarithmic axis that needs to show these values: those near them, if
    these are three at least."""
    ticks = log_ticks(low, high)
    near = [tick for tick in ticks if low / 1.4 <= tick <= high * 1.4]
    return near if len(near) >= 3 else ticks


@contextlib.contextmanager
def _figure(key: str, shape: Shape, height: float) -> Iterator[Any]:
    """Yields an empty figure of this height, pixels, whose text stays text."""
    import matplotlib
    from matplotlib.figure import Figure

    style: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": f"teemark-{key}-{shape.name}",
        "font.size": shape.font,
        "text.parse_math": False,  # a name with dollars in it is no formula
        "path.simplify": False,
    }
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(shape.width / 72, height / 72), dpi=72)
        figure.patch.set_alpha(0)
        yield figure


def _axes(figure: Any, box: tuple[float, float, float, float], font: float, grid: str) -> "Axes":
    """Adds axes in this part of the figure: left, bottom, width and height, pixels."""
    wide, tall = figure.get_size_inches() * 72
    axes: Axes = figure.add_axes((box[0] / wide, box[1] / tall, box[2] / wide, box[3] / tall))
    axes.patch.set_alpha(0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(MUTED)
    axes.tick_params(which="both", colors=MUTED, labelcolor=MUTED, labelsize=font, length=0)
    axes.grid(which="major", axis=grid, color=GRID, linewidth=1)  # type: ignore[arg-type]
    axes.set_axisbelow(True)
    return axes


@dataclass(frozen=True, slots=True)
class Course:
    """The values of a case, by the number of their run, and its levels: the first point of each,
    where it ends, and how high it is."""

    title: str
    points: tuple[tuple[int, float], ...]
    levels: tuple[tuple[int, int, float], ...]


SMALL_HEIGHT = 118  # Of one of several small charts, CSS pixels


def history(
    key: str, courses: Sequence[Course], runs: Sequence[str], unit: str, shape: Shape
) -> str:
    """Draws one chart of a case, or several small ones over the same axis. `runs` names each run in
    two lines: its day and its commit."""
    single, font = len(courses) == 1, shape.font
    columns = 1 if single or shape is NARROW else 2
    rows = -(-len(courses) // columns)
    height = shape.height if single else SMALL_HEIGHT * rows + 60
    left, gap = 4.8 * font, font * 6
    wide = (shape.width - left - font * 2 - gap * (columns - 1)) / columns
    tall = (height - 74) / rows
    with _figure(key, shape, height) as figure:
        for number, course in enumerate(courses):
            row, column = divmod(number, columns)
            bottom = 48 + (rows - 1 - row) * tall
            place = (left + column * (wide + gap), bottom, wide, tall - (30 if rows > 1 else 0))
            axes = _axes(figure, place, font, "y")
            _course(axes, course, font, small=not single)
            _run_axis(axes, runs, wide, font, named=number + columns >= len(courses))
            axes.annotate(
                unit if single else course.title,
                xy=(0, 1),
                xytext=(0, 6),
                xycoords="axes fraction",
                textcoords="offset points",
                color=MUTED,
                fontsize=font,
            )
        return _svg(figure)


def _course(axes: "Axes", course: Course, font: float, *, small: bool) -> None:
    """Draws values as points, levels as lines, and beside each new level its change."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    numbers = [number for number, _ in course.points]
    values = [value for _, value in course.points]
    line = STAND_INS[colour(3)]
    axes.plot(numbers, values, color=line, marker="o", markersize=4, linewidth=0, zorder=3)
    before = None
    for begin, end, level in course.levels:
        axes.plot((numbers[begin], numbers[end - 1]), (level, level), color=INK, linewidth=2)
        if before:
            sign = f"▲ +{fmt.percent(level / before - 1)}" if level > before else ""
            axes.annotate(
                sign or f"▼ {fmt.MINUS}{fmt.percent(1 - level / before)}",
                xy=(numbers[begin], level),
                xytext=(0, 5),
                textcoords="offset points",
                color=WORSE if sign else BETTER,
                fontsize=font,
                ha="left" if begin < len(numbers) * 0.7 else "right",
            )
        before = level
    low, high = min(values), max(values)
    room = max(high - low, 0.01 * high) * 0.45
    axes.set_ylim(low - room, high + room)
    axes.yaxis.set_major_locator(MaxNLocator(3 if small else 5, min_n_ticks=3))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: _tick(y)))


def _run_axis(axes: "Axes", runs: Sequence[str], wide: float, font: float, *, named: bool) -> None:
    """Marks each run, and names as many as there is room for, from the last one on at equal
    distances."""
    from matplotlib.ticker import FixedLocator

    axes.set_xlim(-0.4, len(runs) - 0.6)
    axes.xaxis.set_minor_locator(FixedLocator(list(range(len(runs)))))
    axes.tick_params(which="major", axis="x", length=4)
    axes.tick_params(which="minor", axis="x", length=3, color=MUTED)
    most = max(2, int(wide / (font * 7)))
    stride = max(1, -(-(len(runs) - 1) // (most - 1)))
    places = list(range(len(runs) - 1, -1, -stride)) if named else []
    axes.set_xticks(places, [runs[place] for place in places])


def throughput(key: str, series: Sequence[Series], shape: Shape, unit: str = "MiB/s") -> str:
    """Draws values in `unit` against the bytes of one call, both logarithmic, each line named at
    its end."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    left = 4.8 * shape.font
    room = (left, 50, shape.width - left - shape.label, shape.height - 74)
    with _figure(key, shape, shape.height) as figure:
        axes = _axes(figure, room, shape.font, "y")
        axes.tick_params(which="major", axis="x", length=4)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        for one in series:
            secure = one.backend.secure
            axes.plot(
                [x for x, _ in one.points],
                [y for _, y in one.points],
                color=one.stand_in,
                linewidth=2.2 if secure else 1.5,
                linestyle="-" if secure else (0, (5, 2.5)),
                marker=one.marker,
                markersize=4.5,
                markeredgewidth=0,
                clip_on=False,
                zorder=3 if secure else 2,
            )
            for (x, _), bounds in zip(one.points, one.low_high, strict=False):
                if bounds is not None and bounds[1] > bounds[0] * 1.02:
                    axes.plot((x, x), bounds, color=one.stand_in, linewidth=1.2, alpha=0.6)
        all_y = [y for one in series for _, y in one.points]
        ticks = levels(min(all_y), max(all_y))
        axes.set_ylim(min(min(all_y) / 1.4, ticks[0]), max(max(all_y) * 1.4, ticks[-1]))
        all_x = sorted({x for one in series for x, _ in one.points})
        axes.set_xlim(all_x[0] / 1.25, all_x[-1] * 1.1)
        places = [float(axes.transData.transform((x, 1.0))[0]) for x in all_x]
        axes.xaxis.set_major_locator(FixedLocator(legible(all_x, places, shape.font)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_locator(FixedLocator(ticks))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: _size(x)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: _tick(y)))
        axes.set_xlabel("bytes in one call", color=MUTED, fontsize=shape.font)
        axes.text(0, 1.03, unit, transform=axes.transAxes, color=MUTED, fontsize=shape.font)
        _name_lines(axes, series, shape)
        return _svg(figure)


def _size(number: float) -> str:
    return fmt.size(round(number)).replace("\N{NO-BREAK SPACE}", " ")


def legible(sizes: Sequence[float], places: Sequence[float], font: float) -> list[float]:
    """Returns the sizes whose names have room on the axis, at their places in pixels. The last and
    the first come first, then the rounder ones: 64 before 55."""

    def half(index: int) -> float:
        return (len(_size(sizes[index])) + 1.5) * font * 0.6 / 2

    def roundness(size: float) -> int:
        whole = round(size)
        return whole & -whole

    inner = sorted(range(1, len(sizes) - 1), key=lambda i: -roundness(sizes[i]))
    kept: list[int] = []
    for index in dict.fromkeys((len(sizes) - 1, 0, *inner)):
        if all(abs(places[index] - places[k]) >= half(index) + half(k) for k in kept):
            kept.append(index)
    return [sizes[index] for index in sorted(kept)]


def _name_lines(axes: "Axes", series: Sequence[Series], shape: Shape) -> None:
    """Names at the right ends, moved apart, in the colour of their lines."""
    ends = [one.points[-1] for one in series]
    pixels = [float(axes.transData.transform(end)[1]) for end in ends]
    right = axes.get_position().x1 * shape.width
    places = spread(pixels, shape.font + 4)
    # All move up or down together where they would touch the axis or leave the picture.
    floor = axes.get_position().y0 * shape.height + shape.font / 2
    lift = max(0.0, floor - min(places)) - max(0.0, max(places) - (shape.height - shape.font))
    leader = {"arrowstyle": "-", "linewidth": 0.8, "shrinkA": 0, "relpos": (0, 0.5)}
    for one, end, place, wanted in zip(series, ends, pixels, places, strict=True):
        moved = wanted + lift
        name = one.backend.name
        if shape is WIDE and one.backend.title.lower() != name:
            name = f"{name} · {one.backend.title}"
        axes.annotate(
            name,
            xy=end,
            xytext=(right + 10, moved),
            textcoords="figure pixels",
            color=one.stand_in,
            fontsize=shape.font,
            va="center",
            ha="left",
            annotation_clip=False,
            arrowprops=leader | {"color": one.stand_in} if abs(place - moved) > 2 else None,
        )


_UNWANTED = (
    r"<metadata>.*?</metadata>\s*|<!--.*?-->\s*|<defs>\s*<style.*?</style>\s*</defs>\s*"
    r'| id="[a-zA-Z0-9_.]+_\d+"| font-family: [^;]*;| transform="rotate\(-0 [^"]*\)"'
)


def _svg(figure: Any) -> str:
    out = io.StringIO()
    with warnings.catch_warnings():
        # Text stays text: it is the page's font that must have the letters of a name.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure.savefig(
            out,
            format="svg",
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
            transparent=True,
        )
    return clean(out.getvalue())


def clean(svg: str) -> str:
    """Returns matplotlib's SVG fit for a page: no prolog, no fixed size, page colours and font."""
    svg = svg[svg.index("<svg") :]
    for size in ("height", "width"):
        svg = re.sub(rf'(<svg[^>]*?) {size}="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(_UNWANTED, "", svg, flags=re.S)
    svg = re.sub(r"(\d+\.\d)\d+", r"\1", svg)
    for stand_in, variable in VARIABLES.items():
        svg = svg.replace(stand_in, variable)
    return re.sub(r"\n\s*", "\n", svg).strip()
