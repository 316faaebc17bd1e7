# SPDX-License-Identifier: BSD-2-Clause
"""When teehash had a CPU, step by step: a picture of its context switches, and their totals."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from teemark.findings.subject import Subject
from teemark.model.timeline import StateSpan, Told, told
from teemark.page import bars
from teemark.page.blocks import Block, Chart, Paragraph, Table, left, right
from teemark.page.section import RunSection, remark
from teemark.run.records import Timeline
from teemark.wording import fmt

Amount = Callable[[int], str]

ROW, GAP, LABEL = 24, 8, 18
NARROWEST = 1.0  # Smallest width in pixels, so that a short gap is seen

STEPS: dict[str, tuple[str, str]] = {
    "open": ("5", "open the session"),
    "read": ("3", "read the file"),
    "wait": ("other", "wait for the reader thread"),
    "hash": ("0", "hash, in calls"),
    "report": ("1", "for the report"),
    "close": ("4", "close the session"),
    "between": ("", "between the steps"),
}
"""Colour and name of each step; the time between steps isn't drawn."""
STATES: dict[str, tuple[str, str]] = {
    "on": ("var(--c-6)", "on a CPU"),
    "preempt": ("var(--warn-edge)", "ready, another ran"),
    "wait": ("var(--paper)", "waiting"),
}


def _of(subject: Subject) -> list[Block]:
    return [_one(record, subject) for record in subject.run.timelines]


def _one(record: Timeline, subject: Subject) -> Block:
    course = told(record)
    if not course.ns:
        return Paragraph((f"{record.case}: the kernel recorded nothing of this run.",))
    amount: Amount = fmt.count if subject.run.icount else fmt.duration
    draw = partial(render, course, record.case, amount=amount)
    caption = (_caption(record, course, subject, amount), *remark(subject))
    return Chart(record.case, caption, draw, _table(course, subject, amount))


def _caption(record: Timeline, course: Told, subject: Subject, amount: Amount) -> str:
    unit = " instructions" if subject.run.icount else ""
    total = course.total()
    text = (
        f"A CPU for {amount(total.on)} of {amount(course.ns)}{unit} "
        f"({fmt.percent(total.on / course.ns)}), in "
        f"{fmt.plural(total.switches, 'switch', 'switches')} away from it; the longest gap is "
        f"{amount(total.gap)}{unit}. Gaps shorter than a pixel are drawn a pixel wide."
    )
    if record.whole_until_ns < record.ns:
        text += f" The first {amount(course.ns)} of {amount(record.ns)}{unit} are shown: what came "
        text += "after had no room."
    return text


def _table(course: Told, subject: Subject, amount: Amount) -> Table:
    rows = []
    for name, cost in (*((STEPS[c.step][1], c) for c in course.costs), ("all", course.total())):
        spent = map(amount, (cost.ns, cost.on, cost.waited, cost.preempted, cost.gap))
        rows.append((name, fmt.count(cost.times), *spent, fmt.count(cost.switches)))
    unit = "instructions" if subject.run.icount else ""
    spent_ = right("takes", "on a CPU", "waiting", "ready", "longest gap", unit=unit)
    return Table((*left("step"), *right("times"), *spent_, *right("switches")), rows)


# -- the picture -----------------------------------------------------------------------------


def render(course: Told, case: str, width: int, amount: Amount = fmt.duration) -> str:
    """Draws the steps above, the threads' states below, and the time axis. Only `case` is text from
    the run; all other words are our own."""
    scale = width / course.ns
    drawn = {step: colour for step, (colour, _) in STEPS.items() if colour}
    made, y = [bars.label(0, 0, "step")], float(LABEL)

    def draw(spans: Iterable[StateSpan], fill: str, name: str, opacity: str = "0.75") -> None:
        for x, spent, times in _pixels(spans, scale):
            text = f"{name}: {amount(spent)}" + (f", {times} times" if times > 1 else "")
            wide = max(spent * scale, NARROWEST)
            made.append(bars.box(x, y, wide, ROW, fill, name=text, fill_opacity=opacity))

    for step, colour in drawn.items():
        spans = [span for span in course.steps if span.what == step]
        draw(spans, f"var(--c-{colour})", STEPS[step][1])
    y += ROW + GAP
    made.append(bars.label(0, y, "threads of teehash"))
    y += LABEL
    made.append(bars.box(0, y, width, ROW, STATES["on"][0], fill_opacity="0.75"))
    for state in ("preempt", "wait"):
        draw([span for span in course.states if span.what == state], *STATES[state], opacity="1")
    made.append(bars.box(0, y, width, ROW, "none", stroke="var(--rule)"))
    y += ROW + GAP
    made += [bars.label(0, y, "0"), bars.label(width, y, amount(course.ns), "end")]
    y += LABEL + GAP
    present = {span.what for span in course.steps}
    entries = [(f"var(--c-{of})", STEPS[step][1]) for step, of in drawn.items() if step in present]
    named, y = bars.legend((*entries, *STATES.values()), width, y)
    total = course.total()
    spoken = (
        f"{case}, on the CPU and off it. "
        f"{', '.join(f'{STEPS[cost.step][1]}: {amount(cost.ns)}' for cost in course.costs)}. "
        f"On a CPU {amount(total.on)}, ready {amount(total.preempted)}, waiting "
        f"{amount(total.waited)}."
    )
    return bars.picture(width, y, [*made, *named], spoken)


def _pixels(spans: Iterable[StateSpan], scale: float) -> Iterator[tuple[float, int, int]]:
    """Yields the start of each rectangle in pixels, the time of its spans and their number. Spans
    that begin within one pixel share a rectangle."""
    pixels: list[list[StateSpan]] = []
    for span in spans:
        if pixels and (span.end - pixels[-1][0].begin) * scale < NARROWEST:
            pixels[-1].append(span)
        else:
            pixels.append([span])
    for pixel in pixels:
        yield pixel[0].begin * scale, sum(span.ns for span in pixel), len(pixel)


timeline = RunSection(
    "timeline",
    "On the CPU and off it",
    _of,
    "One run of teehash more, in no other figure, with the kernel's record of when each of its "
    "threads got a CPU and left it. Time in the TEE is time on the CPU: the kernel sees no "
    "difference, unless the TEE is interrupted or asks for something. “Waiting”: no thread of "
    "teehash could go on. “Ready”: one could, and the CPU was somebody else's.",
    "who ran on each CPU while files were hashed",
)
