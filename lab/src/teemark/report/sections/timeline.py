# SPDX-License-Identifier: BSD-2-Clause
"""When teehash had a CPU, step by step: a picture of its context switches, and their sums."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from html import escape

from teemark.base import fmt
from teemark.findings.subject import Part, Subject
from teemark.model.timeline import Span, StepCost, Told, told
from teemark.page.blocks import Block, Chart, Column, Paragraph, Table, Text
from teemark.run.records import Timeline

Amount = Callable[[int], str]

WIDE, NARROW = 900, 350
FONT = 12.0
ROW, GAP, LABEL = 24, 8, 18
NARROWEST = 1.0
"""Pixels: what is shorter is drawn as wide as this, so that a short gap is seen."""
LANES = 6
"""Threads that have a row of their own in the picture."""

INTRO = (
    "One run of teehash more, in no other figure, with the kernel's record of when each of its "
    "threads got a CPU and left it. Time in the TEE is time on the CPU: the kernel sees no "
    "difference, unless the TEE is interrupted or asks for something. “Waiting”: no thread of "
    "teehash could go on. “Ready”: one could, and the CPU was somebody else's."
)

NAMES: dict[str, str] = {
    "open": "open the session",
    "read": "read the file",
    "wait": "wait for the reader thread",
    "hash": "hash, in calls",
    "between": "between the steps",
    "report": "for the report",
    "close": "close the session",
}
COLOURS: dict[str, str] = {
    "open": "5",
    "read": "3",
    "wait": "other",
    "hash": "0",
    "report": "1",
    "close": "4",
}
_STATES: dict[str, str] = {"on": "on a CPU", "preempt": "ready, another ran", "wait": "waiting"}
OFF: tuple[str, ...] = ("preempt", "wait")
_FILLS: dict[str, str] = {
    "on": "var(--c-6)",
    "preempt": "var(--warn-edge)",
    "wait": "var(--paper)",
}


def _of(subject: Subject) -> list[Block]:
    return [_one(record, subject) for record in subject.run.timelines]


def _amount(subject: Subject) -> Amount:
    return fmt.count if subject.icount else fmt.duration


def _one(record: Timeline, subject: Subject) -> Block:
    found = told(record)
    if not found.ns:
        return Paragraph((f"{record.case}: the kernel recorded nothing of this run.",))
    amount = _amount(subject)
    return Chart(
        title=record.case,
        caption=_caption(record, found, subject),
        wide=render(found, record.case, WIDE, amount),
        narrow=render(found, record.case, NARROW, amount),
        data=_table(found, record.case, subject),
    )


def _caption(record: Timeline, found: Told, subject: Subject) -> Text:
    amount = _amount(subject)
    unit = " instructions" if subject.icount else ""
    total = found.total()
    said = (
        f"A CPU for {amount(total.on)} of {amount(found.ns)}{unit} "
        f"({fmt.percent(total.on / found.ns)}), in "
        f"{fmt.plural(total.switches, 'switch', 'switches')} away from it; the longest gap is "
        f"{amount(total.gap)}{unit}. Gaps shorter than a pixel are drawn a pixel wide."
    )
    if record.switches_left_out or record.whole_until_ns < record.ns:
        said += f" The first {amount(found.ns)} of {amount(record.ns)}{unit} are shown"
        if record.switches_left_out:
            left = fmt.plural(record.switches_left_out, "switch", "switches")
            said += f": {left} after that had no room"
        said += "."
    if record.steps_left_out:
        said += f" {fmt.plural(record.steps_left_out, 'step')} had no room: counted as between."
    return (said, *subject.remark)


def _table(found: Told, case: str, subject: Subject) -> Table:
    amount = _amount(subject)

    def row(name: str, cost: StepCost) -> tuple[str, ...]:
        spent = map(amount, (cost.ns, cost.on, cost.waited, cost.preempted, cost.gap))
        return (name, fmt.count(cost.times), *spent, fmt.count(cost.switches))

    unit = "instructions" if subject.icount else ""
    spent = ("takes", "on a CPU", "waiting", "ready", "longest gap")
    return Table(
        (
            *(Column("step", "left"), Column("times")),
            *(Column(name, unit=unit) for name in spent),
            Column("switches"),
        ),
        (
            *(row(NAMES[cost.step], cost) for cost in found.costs),
            row("all", found.total()),
        ),
        caption=f"Steps of {case}",
    )


# -- the picture -----------------------------------------------------------------------------


def render(found: Told, case: str, width: int, amount: Amount = fmt.duration) -> str:
    """The steps above, a row for each thread below, and the time. The words in it are our own, but
    for the case."""
    picture = _Picture(width, width / found.ns, amount)
    picture.label("step")
    for step, colour in COLOURS.items():
        spans = [one for one in found.steps if one.what == step]
        picture.bars(spans, f"var(--c-{colour})", NAMES[step])
    picture.y += ROW + GAP
    for number, (thread, states) in enumerate(found.threads[:LANES]):
        picture.label("thread that hashes" if number == 0 else f"thread {thread}")
        picture.box(0, width, _FILLS["on"])
        for state in OFF:
            off = [one for one in states if one.what == state]
            picture.bars(off, _FILLS[state], _STATES[state], 1.0)
        picture.frame()
        picture.y += ROW + GAP
    picture.text(0, "0")
    picture.text(width, amount(found.ns), "end")
    picture.y += LABEL + GAP
    present = {one.what for one in found.steps}
    entries = [(f"var(--c-{of})", NAMES[step]) for step, of in COLOURS.items() if step in present]
    picture.legend([*entries, *((_FILLS[state], name) for state, name in _STATES.items())])
    total = found.total()
    spoken = (
        f"{', '.join(f'{NAMES[one.step]}: {amount(one.ns)}' for one in found.costs)}. "
        f"On a CPU {amount(total.on)}, ready {amount(total.preempted)}, waiting "
        f"{amount(total.waited)}."
    )
    label = escape(f"{case}, on the CPU and off it. {spoken}")
    return (
        f'<svg viewBox="0 0 {width} {picture.y:.0f}" xmlns="http://www.w3.org/2000/svg" '
        f'role="img" aria-label="{label}">{"".join(picture.made)}</svg>'
    )


@dataclass(slots=True)
class _Picture:
    """Drawn from the top down: `y` is where the next row begins."""

    width: int
    scale: float  # pixels a nanosecond
    amount: Amount
    y: float = 0.0
    made: list[str] = field(default_factory=list)

    def text(self, x: float, said: str, anchor: str = "start", ink: str = "muted") -> None:
        self.made.append(
            f'<text x="{x:.1f}" y="{self.y + FONT:.1f}" font-size="{FONT}" '
            f'text-anchor="{anchor}" fill="var(--{ink})">{escape(said)}</text>'
        )

    def label(self, said: str) -> None:
        self.text(0, said)
        self.y += LABEL

    def box(self, x: float, width: float, fill: str, opacity: float = 0.75, name: str = "") -> None:
        title = f"<title>{escape(name)}</title>" if name else ""
        self.made.append(
            f'<rect x="{x:.1f}" y="{self.y:.1f}" width="{width:.1f}" height="{ROW}" '
            f'fill="{fill}" fill-opacity="{opacity:g}">{title}</rect>'
        )

    def frame(self) -> None:
        self.made.append(
            f'<rect x="0" y="{self.y:.1f}" width="{self.width}" height="{ROW}" fill="none" '
            'stroke="var(--rule)"/>'
        )

    def bars(self, spans: Iterable[Span], fill: str, name: str, opacity: float = 0.75) -> None:
        """One rectangle, as wide as they all are, for those that lie within a pixel."""
        for pixel in _close(spans, self.scale):
            spent = sum(one.ns for one in pixel)
            said = f"{name}: {self.amount(spent)}"
            if len(pixel) > 1:
                said += f", {len(pixel)} times"
            wide = max(spent * self.scale, NARROWEST)
            self.box(pixel[0].begin * self.scale, wide, fill, opacity, said)

    def legend(self, entries: Iterable[tuple[str, str]]) -> None:
        """What the colours are, in as many lines as it takes."""
        x = 0.0
        for fill, name in entries:
            room = 18 + len(name) * FONT * 0.56 + 12
            if x and x + room > self.width:
                x = 0.0
                self.y += LABEL
            self.made.append(
                f'<rect x="{x + 0.5:.1f}" y="{self.y + 2:.1f}" width="12" height="12" '
                f'fill="{fill}" stroke="var(--muted)" stroke-width="0.7"/>'
            )
            self.text(x + 18, name, ink="ink")
            x += room
        self.y += LABEL


def _close(spans: Iterable[Span], scale: float) -> list[list[Span]]:
    """Those that lie within a pixel, together."""
    made: list[list[Span]] = []
    for one in spans:
        if made and (one.end - made[-1][0].begin) * scale < NARROWEST:
            made[-1].append(one)
        else:
            made.append([one])
    return made


timeline = Part(
    "timeline",
    "On the CPU and off it",
    _of,
    INTRO,
    "who ran on each CPU while files were hashed",
)
