# SPDX-License-Identifier: BSD-2-Clause
"""When teehash had a CPU, step by step: a picture of its context switches, and the same in numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape

from teemark import fmt
from teemark.model.timeline import Cost, Span, StateSpan, Step, Told, told
from teemark.report.blocks import Block, Chart, Column, Paragraph, Section, Strong, Table, Text
from teemark.report.sections.throughput import caveat
from teemark.report.subject import Subject, each
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

NAMES: dict[Step, str] = {
    "open": "open the session",
    "read": "read the file",
    "wait": "wait for the reader thread",
    "hash": "hash, in calls",
    "between": "between the steps",
    "close": "close the session",
}
COLOURS: dict[Step, str] = {
    "open": "5",
    "read": "3",
    "wait": "other",
    "hash": "0",
    "close": "4",
}
_STATES = {"on": "on a CPU", "preempt": "ready, another ran", "wait": "waiting"}


def timeline(subjects: Sequence[Subject]) -> Section | None:
    blocks = each(subjects, _of)
    if not blocks:
        return None
    return Section("timeline", "On the CPU and off it", (Paragraph((INTRO,)), *blocks))


def _of(subject: Subject) -> list[Block]:
    return [
        block
        for number, record in enumerate(subject.run.timelines)
        for block in _one(record, number, subject)
    ]


def _one(record: Timeline, number: int, subject: Subject) -> Sequence[Block]:
    found = told(record)
    if not found.ns:
        return (Paragraph((f"{record.case}: the kernel recorded nothing of this run.",)),)
    amount: Amount = fmt.count if subject.icount else fmt.duration
    table = _table(found, record.case, subject)
    chart = Chart(
        key=f"timeline-{number}",
        title=record.case,
        caption=_caption(record, found, subject),
        wide=render(found, record.case, WIDE, f"{number}-wide", amount),
        narrow=render(found, record.case, NARROW, f"{number}-narrow", amount),
        data=table,
    )
    return (chart,)


def _caption(record: Timeline, found: Told, subject: Subject) -> Text:
    amount: Amount = fmt.count if subject.icount else fmt.duration
    unit = " instructions" if subject.icount else ""
    total = found.total()
    said = (
        f"A CPU for {amount(total.on)} of {amount(found.ns)}{unit} "
        f"({fmt.percent(total.on / found.ns)}), in "
        f"{fmt.plural(total.switches, 'switch', 'switches')} away from it; the longest gap is "
        f"{amount(total.gap)}{unit}. Gaps shorter than a pixel are drawn a pixel wide."
    )
    if record.switches_left_out or record.whole_until_ns < record.ns:
        said += (
            f" The first {amount(found.ns)} of {amount(record.ns)}{unit} are shown: "
            f"{fmt.plural(record.switches_left_out, 'switch', 'switches')} after that had no room."
        )
    if record.steps_left_out:
        said += f" {fmt.count(record.steps_left_out)} steps had no room and count as between."
    warning = caveat(subject)
    return (said, Strong(f" {warning}.")) if warning else (said,)


def _table(found: Told, case: str, subject: Subject) -> Table:
    def amount(ns: int) -> str:
        return fmt.count(ns) if subject.icount else fmt.duration(ns)

    def row(name: str, cost: Cost) -> tuple[str, ...]:
        return (
            name,
            fmt.count(cost.times),
            amount(cost.ns),
            amount(cost.on),
            amount(cost.waited),
            amount(cost.preempted),
            fmt.count(cost.switches),
            amount(cost.gap),
        )

    unit = "instructions" if subject.icount else ""
    return Table(
        (
            Column("step", "left"),
            Column("times"),
            Column("takes", unit=unit),
            Column("on a CPU", unit=unit),
            Column("waiting", unit=unit),
            Column("ready", unit=unit),
            Column("switches"),
            Column("longest gap", unit=unit),
        ),
        (
            *(row(NAMES[cost.step], cost) for cost in found.costs),
            row("all", found.total()),
        ),
        caption=f"Steps of {case}",
    )


# -- the picture -----------------------------------------------------------------------------


def render(found: Told, case: str, width: int, key: str, amount: Amount = fmt.duration) -> str:
    """The steps above, a row for each thread below, and the time. The words in it are our own, but
    for the case."""
    scale = width / found.ns
    y = 0.0
    rows: list[str] = []

    def label(text: str) -> None:
        nonlocal y
        rows.append(
            f'<text x="0" y="{y + FONT:.1f}" font-size="{FONT}" fill="var(--muted)">'
            f"{escape(text)}</text>"
        )
        y += LABEL

    label("step")
    for step, name in NAMES.items():
        if step in COLOURS:
            spans = [one for one in found.steps if one.step == step]
            rows += _bars(spans, scale, y, f"var(--c-{COLOURS[step]})", name, amount)
    y += ROW + GAP
    for number, (thread, states) in enumerate(found.threads[:LANES]):
        label("thread that hashes" if number == 0 else f"thread {thread}")
        rows.append(_box(0, width, y, "var(--c-6)", 0.75))
        rows += _gaps(states, "preempt", scale, y, "var(--warn-edge)", amount)
        rows += _gaps(states, "wait", scale, y, "var(--paper)", amount)
        rows.append(
            f'<rect x="0" y="{y:.1f}" width="{width}" height="{ROW}" fill="none" '
            'stroke="var(--rule)"/>'
        )
        y += ROW + GAP
    rows.append(
        f'<text x="0" y="{y + FONT:.1f}" font-size="{FONT}" fill="var(--muted)">0</text>'
        f'<text x="{width}" y="{y + FONT:.1f}" font-size="{FONT}" text-anchor="end" '
        f'fill="var(--muted)">{escape(amount(found.ns))}</text>'
    )
    y += LABEL
    legend, y = _legend(found, width, y)
    total = found.total()
    spoken = (
        f"{', '.join(f'{NAMES[one.step]}: {amount(one.ns)}' for one in found.costs)}. "
        f"On a CPU {amount(total.on)}, ready {amount(total.preempted)}, waiting "
        f"{amount(total.waited)}."
    )
    return (
        f'<svg viewBox="0 0 {width} {y:.0f}" xmlns="http://www.w3.org/2000/svg" role="img" '
        f'aria-labelledby="timeline-{key}-title timeline-{key}-desc">'
        f'<title id="timeline-{key}-title">{escape(case)}, on the CPU and off it</title>'
        f'<desc id="timeline-{key}-desc">{escape(spoken)}</desc>' + "".join(rows) + legend + "</svg>"
    )


def _box(x: float, width: float, y: float, fill: str, opacity: float = 1.0, name: str = "") -> str:
    title = f"<title>{escape(name)}</title>" if name else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{ROW}" fill="{fill}" '
        f'fill-opacity="{opacity:g}">{title}</rect>'
    )


def _bars(
    spans: Iterable[Span], scale: float, y: float, fill: str, name: str, amount: Amount
) -> list[str]:
    """One rectangle, as wide as they all are, for those that lie within a pixel."""
    made = []
    for pixel in _close(spans, scale):
        spent = sum(one.ns for one in pixel)
        text = f"{name}: {amount(spent)}"
        if len(pixel) > 1:
            text += f", {len(pixel)} times"
        made.append(_box(pixel[0].begin * scale, max(spent * scale, NARROWEST), y, fill, 0.75, text))
    return made


def _gaps(
    states: Sequence[StateSpan], state: str, scale: float, y: float, fill: str, amount: Amount
) -> list[str]:
    spans = [one for one in states if one.state == state]
    made = _bars(spans, scale, y, fill, _STATES[state], amount)
    return [one.replace('fill-opacity="0.75"', 'fill-opacity="1"') for one in made]


def _close(spans: Iterable[Span], scale: float) -> list[list[Span]]:
    """Those that lie within a pixel, together."""
    made: list[list[Span]] = []
    for one in spans:
        if made and (one.end - made[-1][0].begin) * scale < NARROWEST:
            made[-1].append(one)
        else:
            made.append([one])
    return made


def _legend(found: Told, width: int, y: float) -> tuple[str, float]:
    """What the colours are, in as many lines as it takes."""
    present = {one.step for one in found.steps}
    entries = [
        (f"var(--c-{colour})", NAMES[step]) for step, colour in COLOURS.items() if step in present
    ]
    entries += [
        ("var(--c-6)", _STATES["on"]),
        ("var(--warn-edge)", _STATES["preempt"]),
        ("var(--paper)", _STATES["wait"]),
    ]
    made = []
    x = 0.0
    y += GAP
    for fill, name in entries:
        room = 18 + len(name) * FONT * 0.56 + 12
        if x and x + room > width:
            x = 0.0
            y += LABEL
        made.append(
            f'<rect x="{x + 0.5:.1f}" y="{y:.1f}" width="12" height="12" fill="{fill}" '
            f'stroke="var(--muted)" stroke-width="0.7"/><text x="{x + 18:.1f}" '
            f'y="{y + FONT - 2:.1f}" font-size="{FONT}" fill="var(--ink)">{escape(name)}</text>'
        )
        x += room
    return "".join(made), y + LABEL


