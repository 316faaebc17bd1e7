# SPDX-License-Identifier: BSD-2-Clause
"""Traced calls: a flame graph and tables of their instructions."""

from functools import partial

from teemark.findings.subject import Subject
from teemark.page import flame, trace_table
from teemark.page.blocks import Block, Bullets, Chart, Fold, Paragraph, Strong
from teemark.page.section import RunSection
from teemark.trace.profile import CaseTrace, Trace
from teemark.wording import fmt

TOP = 20
FIRST = 5

INTRO = (
    "Every instruction of one call, from the program through the kernel, TF-A and OP-TEE into the "
    "TA and back. Instructions are counted, not time: caches, memory and pipelines of real cores "
    "aren't in it."
)
HOW_TO_READ = (
    "The caller is above, what it calls below, as wide as it takes instructions. Point at a frame, "
    "or tap it, for its figures."
)
HOW_TO_COMPARE = (
    "Widths are this trace's; red takes more than in the other one, blue less. What is gone "
    "altogether is in the table."
)


def _of(subject: Subject) -> list[Block]:
    return calls(subject.trace, subject.against) if subject.trace is not None else []


def calls(trace: Trace, against: Trace | None = None, top: int = TOP) -> list[Block]:
    """Returns the OP-TEE that was traced, and for each call where its instructions went and how it
    differs from that in the trace `against`. Only the first call explains how to read this."""
    blocks: list[Block] = [Paragraph((f"Traced with {trace.optee}.",))]
    shown: set[str] = set()
    for number, case in enumerate(trace.cases):
        before = against.case(case.case) if against is not None else None
        cost, inside = (
            f"{fmt.count(case.instructions)} instructions",
            _call(case, before, top, shown),
        )
        blocks.append(Fold(case.case, cost, tuple(inside), open=number == 0))
    return blocks


def _once(text: str, shown: set[str]) -> tuple[str, ...]:
    new = () if text in shown else (text,)
    shown.add(text)
    return new


def chart(case: CaseTrace, caption: tuple[str, ...] = (HOW_TO_READ,)) -> Chart:
    """Draws the flame graph of a call."""
    return Chart(case.case, caption, partial(flame.render, case), trace_table.components(case))


def _call(case: CaseTrace, before: CaseTrace | None, top: int, shown: set[str]) -> list[Block]:
    blocks: list[Block] = [Paragraph((Strong(trace_table.dearest(case)),))]
    blocks.append(chart(case, _once(HOW_TO_READ, shown)))
    if before is not None:
        blocks.append(Paragraph((trace_table.moved(before, case),)))
        title, caption = f"{case.case}: the difference", _once(HOW_TO_COMPARE, shown)
        draw = partial(flame.render, case, against=before)
        blocks.append(Chart(title, caption, draw, trace_table.differences(before, case, 2 * top)))
    blocks.append(trace_table.functions(case, "by itself", FIRST))
    general = (trace_table.HOW_TO_NAMES, trace_table.HOW_TO_DOUBT)
    remarks = (
        _once(text, shown) if text in general else (text,) for text in trace_table.remarks(case)
    )
    bullets = tuple(filter(None, remarks))
    blocks += [Bullets(bullets)] if bullets else []
    if sentence := trace_table.held_sentence(case):
        blocks.append(Fold("Interrupts held off", sentence, tuple(trace_table.held(case))))
    rankings = tuple(trace_table.functions(case, ranking, top) for ranking in trace_table.RANKINGS)
    return [*blocks, Fold("More functions", f"the first {top} of each ranking", rankings)]


trace = RunSection("trace", "Instruction by instruction", _of, INTRO)
