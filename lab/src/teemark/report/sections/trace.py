# SPDX-License-Identifier: BSD-2-Clause
"""Traced calls: where every instruction went."""

from teemark.base import fmt
from teemark.findings.subject import Part, Subject
from teemark.page.blocks import Block, Bullets, Chart, Fold, Paragraph, Strong
from teemark.trace import flame, table
from teemark.trace.profile import CaseTrace

WIDE = 900
NARROW = 350
TOP = 20
FIRST = 5

INTRO = (
    "Every instruction of one call, from the program through the kernel, TF-A and OP-TEE into the "
    "TA and back. Instructions are counted, not time: caches, memory and pipelines of real cores "
    "aren't in it."
)
HOW_TO_READ = (
    "The caller is above, what it calls below, as wide as it takes instructions. Point at a frame "
    "for its figures."
)
HOW_TO_COMPARE = (
    "Widths are this trace's; red takes more than in the other one, blue less. What is gone "
    "altogether is in the table."
)


def _cases_of(subject: Subject) -> list[Block]:
    if subject.trace is None:
        return []
    blocks: list[Block] = [Paragraph((f"Traced with {subject.trace.optee}.",))]
    for number, case in enumerate(subject.trace.cases):
        before = subject.against.case(case.case) if subject.against is not None else None
        blocks.append(
            Fold(
                case.case,
                f"{fmt.count(case.instructions)} instructions",
                tuple(case_blocks(case, before)),
                open=number == 0,
            )
        )
    return blocks


def chart(case: CaseTrace) -> Chart:
    """Draws the flame graph of a call."""
    return Chart(
        title=case.case,
        caption=(HOW_TO_READ,),
        wide=flame.render(case, WIDE),
        narrow=flame.render(case, NARROW),
        data=table.components(case),
    )


def case_blocks(case: CaseTrace, before: CaseTrace | None) -> list[Block]:
    """Shows a call, and how it differs from `before`."""
    blocks: list[Block] = [Paragraph((Strong(table.dearest(case)),))]
    blocks.append(chart(case))
    if before is not None:
        blocks.append(
            Chart(
                title=f"{case.case}: the difference",
                caption=(HOW_TO_COMPARE,),
                wide=flame.render(case, WIDE, before),
                narrow=flame.render(case, NARROW, before),
                data=table.differences(before, case, 2 * TOP),
            )
        )
    blocks.append(table.functions(case, "by itself", FIRST))
    said = tuple((remark,) for remark in table.remarks(case))
    blocks += [Bullets(said)] if said else []
    rankings = tuple(table.functions(case, ranking, TOP) for ranking in table.RANKINGS)
    return [*blocks, Fold("More functions", f"the first {TOP} of each ranking", rankings)]


traced = Part("trace", "Instruction by instruction", _cases_of, INTRO)
