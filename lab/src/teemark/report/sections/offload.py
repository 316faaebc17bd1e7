# SPDX-License-Identifier: BSD-2-Clause
"""Who did the work of the kernel's and OpenSSL's cases, and by what one knows."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.base import fmt
from teemark.findings.offload import WORDS, Offload, offloads
from teemark.findings.subject import Subject, section
from teemark.page.blocks import Block, Bullets, Cell, Code, Column, Fold, Section, Strong, Table


def offload(subjects: Sequence[Subject]) -> Section | None:
    return section(
        "offload",
        "Who did the work",
        "An accelerator shows by interrupts of its line that come with the calls, or by time in "
        "which no CPU works; instructions of the CPU by the driver that is bound, by fewer cycles "
        "than software takes, or by what hiding them costs. A driver's priority says nothing. "
        "“Unknown”: the evidence is too thin or contradicts itself.",
        subjects,
        _of,
    )


def _of(subject: Subject) -> list[Block]:
    found = offloads(subject.run, subject.models)
    if not found:
        return []
    groups: dict[tuple[str, str], list[Offload]] = {}
    for one in found:
        case = subject.run.cases[one.key].case
        groups.setdefault((case.workload, case.algorithm), []).append(one)
    blocks: list[Block] = []
    for (workload, algorithm), group in groups.items():
        name = f"{workload} · {subject.run.title(algorithm)}" if algorithm != "none" else workload
        blocks.append(_table(subject, name, group))
        why = Bullets(
            tuple(
                (
                    Code(one.key),
                    " ",
                    Strong(WORDS[one.outcome]),
                    f": {one.finding.evidence}",
                )
                for one in group
            )
        )
        blocks.append(Fold(f"Evidence: {name}", fmt.plural(len(group), "case"), (why,)))
    return blocks


def _table(subject: Subject, name: str, group: Sequence[Offload]) -> Table:
    unit = f"{subject.run.unit}/B"
    rows: list[tuple[Cell, ...]] = []
    for one in sorted(group, key=lambda one: _order(subject, one)):
        case = subject.run.cases[one.key].case
        stats = subject.models.case(one.key)
        size = case.bytes or 0
        cpu = stats.cpu.a_byte(size) if stats is not None and stats.cpu is not None else None
        rows.append(
            (
                (Code(case.backend),),
                (Code(one.driver),) if one.driver else fmt.NONE,
                case.parameters,
                fmt.rate(stats.throughput) if stats is not None else fmt.NONE,
                fmt.digits(cpu.value) if cpu is not None else fmt.NONE,
                fmt.digits(one.others / size) if one.others is not None and size else fmt.NONE,
                (Strong(WORDS[one.outcome]),),
            )
        )
    return Table(
        columns=(
            Column("backend", "left"),
            Column("driver", "left"),
            Column("parameters", "left"),
            Column("rate", unit="MiB/s"),
            Column("CPU", unit=unit),
            Column("kernel threads", unit=unit),
            Column("done by", "left"),
        ),
        rows=tuple(rows),
        caption=name,
        note=subject.caveat,
    )


def _order(subject: Subject, one: Offload) -> tuple[str, int, int]:
    case = subject.run.cases[one.key].work
    return "/".join(case.words), subject.run.place(case.backend), case.size or 0
