# SPDX-License-Identifier: BSD-2-Clause
"""The section that says who did the work of the kernel's and OpenSSL's cases, with evidence."""

from teemark.findings.offload import WORDS, Offload, Outcome, offloads, reached_drivers
from teemark.findings.subject import Subject
from teemark.page.blocks import Block, Bullets, Code, Fold, Strong, Table, left
from teemark.page.section import RunSection
from teemark.wording import fmt


def _of(subject: Subject) -> list[Block]:
    """Returns a table with a row for each backend and outcome. The evidence is folded: it is that
    of the longest message for each algorithm and outcome."""
    groups: dict[tuple[str, str], list[Offload]] = {}
    judged = offloads(subject.run, subject.models)
    for case in judged:
        work = subject.run.cases[case.key].work
        groups.setdefault((work.backend, work.algorithm), []).append(case)
    if not groups:
        return []
    rows: dict[tuple[str, Outcome], list[str]] = {}
    why = []
    for (backend, algorithm), group in groups.items():
        outcomes = {case.outcome for case in group}
        for outcome in sorted(outcomes):
            these = [case for case in group if case.outcome == outcome]
            longest = max(these, key=lambda case: _bytes(subject, case))
            where = subject.run.title(algorithm)
            if len(outcomes) > 1:
                where += f" {_span({_bytes(subject, case) for case in these})}"
            rows.setdefault((backend, outcome), []).append(where)
            why.append((Code(longest.key), " ", Strong(WORDS[outcome]), f": {longest.sentence}"))
    table = Table(
        left("by", "done by", "algorithm (for all sizes, if none is named)"),
        [
            ((Code(backend),), (Strong(WORDS[outcome]),), ", ".join(where))
            for (backend, outcome), where in sorted(
                rows.items(), key=lambda row: (subject.run.place(row[0][0]), row[0])
            )
        ],
        note=subject.caveat,
    )
    number = fmt.plural(len(why), "longest message")
    devices = reached_drivers(subject.run, judged)
    blocks: list[Block] = [
        table,
        *([Bullets(tuple((device,) for device in devices))] if devices else []),
    ]
    return [*blocks, Fold("Evidence", number, (Bullets(tuple(why)),))]


def _bytes(subject: Subject, case: Offload) -> int:
    return subject.run.cases[case.key].record.bytes or 0


def _span(sizes: set[int]) -> str:
    low, high = fmt.size(min(sizes)), fmt.size(max(sizes))
    return f"at {low}" if low == high else f"from {low} to {high}"


offload = RunSection(
    "offload",
    "Who did the work",
    _of,
    "An accelerator is recognised by its interrupts during the calls, or by time in which no CPU "
    "works. The CPU's crypto instructions are recognised by the driver that is bound, by fewer "
    "cycles than software takes, or by what it costs to hide them. A driver's priority says "
    "nothing. “Unknown”: the evidence is too thin or contradicts itself.",
    "CPU, its crypto instructions or an accelerator, for each algorithm and backend",
)
