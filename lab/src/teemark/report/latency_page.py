# SPDX-License-Identifier: BSD-2-Clause
"""The page that says how late wake-ups are beside calls into the TEE."""

from collections.abc import Callable, Iterator, Sequence

from teemark.measure.latency import Delays
from teemark.page.blocks import Block, Paragraph, Table, left, right
from teemark.wording import fmt

EMPTY_LOOP = "an empty loop"
_EVENTS = 12  # Lines of the kernel's trace that are shown


def blocks(delays: Sequence[Delays], *, exact: bool) -> Iterator[Block]:
    """Yields the answer first; the first of the delays are the baseline's."""

    def cost(ns: int) -> str:
        return fmt.count(ns) if exact else fmt.duration(ns)

    base, *others = delays
    unit = " instructions" if exact else ""
    for load in others:
        yield Paragraph((_answer(base, load, cost, unit),))
    rows = []
    for load in delays:
        figures = (*(load.quantile(share) for share in (0.5, 0.99, 0.999)), load.most)
        rows.append((load.load, fmt.count(len(load.late)), *map(cost, figures)))
    columns = (*left("beside"), *right("wake-ups", "median", "99 %", "99.9 %", "at most"))
    note = "instructions" if exact else "the most of few wake-ups is less than the most there is"
    yield Table(columns, rows, "How late a thread of the highest priority wakes up", note)
    for load in others:
        if load.stopped and load.events:
            lines = load.events.strip().splitlines()[-_EVENTS:]
            yield Paragraph(("The kernel's trace before the late wake-up: " + "; ".join(lines),))


def _answer(base: Delays, load: Delays, cost: Callable[[int], str], unit: str) -> str:
    more = load.most - base.most
    against = f"beside {base.load} it is {cost(base.most)}"
    sentence = f"Beside {load.load} a wake-up is up to {cost(load.most)}{unit} late; {against}"
    sentence += f", so the calls add {cost(more)}." if more > 0 else ": no later."
    if load.stopped:
        late = f"Stopped at the first wake-up beyond the limit, number {len(load.late)}"
        sentence += f" {late}{f': {load.culprit} was in the TEE last' if load.culprit else ''}."
    return sentence
