# SPDX-License-Identifier: BSD-2-Clause
"""A flame graph as inline SVG: each caller above the functions that it calls, widths by
instructions; readable without JavaScript, in both themes, by mouse and by touch. With a second
trace, widths are the new trace's, and colours show growth (red) or shrinking (blue)."""

import textwrap
from dataclasses import dataclass, field
from html import escape

from teemark.page import bars
from teemark.trace.profile import CaseTrace, Function, FunctionCost
from teemark.wording import fmt

_LEVELS = {
    "EL0": ("#a8d88f", "EL0 programs"),
    "EL1": ("#f5cb6f", "EL1 kernel"),
    "EL3": ("#ccaee6", "EL3 TF-A"),
    "S-EL1": ("#f2998a", "S-EL1 OP-TEE's core"),
    "S-EL0": ("#93c3ee", "S-EL0 TAs"),
    "": ("#c9c9c9", "another process"),
}
"""The colour and the name of each level."""

_HELD = ("#8c1d18", "the part with interrupts held off")
"""The colour and the name of a strip at the bottom of a frame."""

_ROW = 18
_FONTS = "ui-monospace,Menlo,Consolas,monospace"
_LETTER = 6.65  # Width of the widest font's letter, pixels at size 11
_THIN = 0.4  # Frames narrower than this, in pixels, are invisible and left out
_TOUCHED = 5.0  # Frames at least so wide, in pixels, tell their figures above the graph if touched
_TOLD = 3  # Lines above the graph for that


@dataclass(slots=True)
class _Frame(FunctionCost):
    before: int = 0
    held: int = 0  # of `total`, with interrupts held off
    below: "dict[Function, _Frame]" = field(default_factory=dict)


def _merge(root: _Frame, case: CaseTrace, *, before: bool) -> None:
    frames: list[_Frame] = []
    for index, node in enumerate(case.nodes):
        above = frames[node.parent] if node.parent >= 0 else root
        function = case.functions[node.function]
        frame = above.below.setdefault(function, _Frame(function))
        frames.append(frame)
        if before:
            frame.before += case.totals[index]
        else:
            frame.self += node.self
            frame.total += case.totals[index]
            frame.held += case.held_totals[index]
            frame.calls += node.calls


def render(case: CaseTrace, width: int, against: CaseTrace | None = None) -> str:
    root = _Frame(Function("", "", case.case))
    if against is not None:
        _merge(root, against, before=True)
        root.before = against.instructions
    _merge(root, case, before=False)
    whole = root.total = case.instructions
    differs, scale = against is not None, width / whole if whole else 0.0
    named, head = bars.legend(_colours(case, differs), width, 2)
    parts = [*named, f'<g font-family="{_FONTS}" font-size="11">']

    def caption(title: str) -> str:
        lines = textwrap.wrap(title, int(width / _LETTER))[:_TOLD]
        spans = (f'<tspan x="0" dy="{_ROW - 3}">{escape(line)}</tspan>' for line in lines)
        return f'<text class="told" display="none" y="{head}">{"".join(spans)}</text>'

    def draw(frame: _Frame, x: float, y: float) -> float:
        """Draws a frame and the frames below; returns the y at which the last row ends."""
        wide, name = frame.total * scale, frame.function.name
        colour = _difference_colour(frame) if differs else _LEVELS[frame.function.level][0]
        room = int((wide - 5) / _LETTER)
        shown = name if len(name) <= room else name[: room - 1] + "…"
        text = f'<text x="{x + 3:.1f}" y="{y + 13}" fill="#1b1b1b">{escape(shown)}</text>'
        dark = 0.0 if differs or not frame.total else wide * frame.held / frame.total
        held = bars.box(x, y + _ROW - 4, dark, 3, _HELD[0]) if dark >= _THIN else ""
        title = _title(frame, whole, differs)
        touched = caption(title) if wide >= _TOUCHED else ""
        focus = ' tabindex="-1"' if touched else ""
        parts.append(
            f"<g{focus}><title>{escape(title)}</title>{touched}"
            f'<rect x="{x:.2f}" y="{y}" width="{max(wide - 0.3, 0.3):.2f}" '
            f'height="{_ROW - 1}" fill="{colour}"/>{held}{text if room >= 3 else ""}</g>'
        )
        end = y + _ROW
        for child in sorted(
            frame.below.values(), key=lambda f: (-f.total, f.function.level, f.function.name)
        ):
            if child.total * scale >= _THIN:
                end = max(end, draw(child, x, y + _ROW))
            x += child.total * scale
        return end

    height = draw(root, 0.0, head + 6 + _TOLD * (_ROW - 3))
    return bars.picture(width, height, [*parts, "</g>"], f"Flame graph of {case.case}")


def _colours(case: CaseTrace, differs: bool) -> list[tuple[str, str]]:
    if differs:
        return [("#e8705f", "more than before"), ("#6fa3dd", "less"), ("#d9d9d9", "the same")]
    levels = {*case.levels(), *("" for _ in case.others())}
    used = [entry for level, entry in _LEVELS.items() if level in levels]
    return [*used, _HELD] if any(node.held for node in case.nodes) else used


def _title(frame: _Frame, whole: int, differs: bool) -> str:
    function = frame.function
    place = f" ({function.level}, {function.component})" if function.level else ""
    title = f"{function.name}{place}: {fmt.count(frame.total)} instructions"
    if whole:
        title += f" ({fmt.share(frame.total / whole, 3)})"
    if frame.self != frame.total:
        title += f", {fmt.count(frame.self)} by itself"
    if frame.held:
        title += f", {fmt.count(frame.held)} with interrupts held off"
    if frame.calls:
        title += f", {fmt.plural(frame.calls, 'call')}"
    return title + (f"; before: {fmt.count(frame.before)}" if differs else "")


def _difference_colour(frame: _Frame) -> str:
    more = frame.total - frame.before
    share = more / max(frame.total, frame.before, 1)
    mix = 0.25 + 0.75 * abs(share) if more else 0.0
    target = (232, 112, 95) if more > 0 else (111, 163, 221)
    return "#" + "".join(f"{round(217 + (t - 217) * mix):02x}" for t in target)
