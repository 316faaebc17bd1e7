# SPDX-License-Identifier: BSD-2-Clause
"""Rate against block size, with a chart for each algorithm: in MiB/s, or in instructions a byte on
a board that counts them, whose clock is an emulator's."""

from collections.abc import Sequence
from functools import partial

from teemark.findings.subject import Subject
from teemark.model.stats import CaseStats
from teemark.page import charts
from teemark.page.blocks import Block, Chart, Fold, Paragraph, Table, right
from teemark.page.section import RunSection, remark
from teemark.wording import fmt

ANSWERED = ("sha256", "cpu-1")  # Algorithms whose chart is open

NEAR = 1.2


def curves(subject: Subject) -> dict[tuple[str, str], dict[str, list[CaseStats]]]:
    """Returns the cases with a throughput by workload and algorithm (ANSWERED first), then by
    backend, in rising sizes."""
    groups: dict[tuple[str, str], dict[str, list[CaseStats]]] = {}
    for stats in subject.models.stats:
        if stats.estimate.meaningless:
            continue
        if stats.throughput is not None and stats.work.curve == stats.work.workload:
            group = groups.setdefault((stats.work.workload, stats.algorithm), {})
            group.setdefault(stats.backend, []).append(stats)
    return {
        key: {
            backend: sorted(group[backend], key=lambda stats: stats.bytes or 0)
            for backend in sorted(group, key=subject.run.place)
        }
        for key, group in sorted(groups.items(), key=lambda item: item[0][1] not in ANSWERED)
        if any(len(stats) > 1 for stats in group.values())
    }


def _of(subject: Subject) -> list[Block]:
    groups = curves(subject)
    if not groups:
        return []
    first, *others = groups
    blocks: list[Block] = [chart(subject, *first, groups[first])]
    if others:
        names = "; ".join(subject.curve(*key) for key in others)
        drawn = tuple(chart(subject, *key, groups[key]) for key in others)
        blocks.append(Fold("Others", names, drawn))
    return blocks


def chart(
    subject: Subject, workload: str, algorithm: str, group: dict[str, list[CaseStats]]
) -> Chart:
    series = [_series(subject, backend, stats) for backend, stats in group.items()]
    unit = unit_of(subject)
    interval = f"; a bar marks the {fmt.LEVEL} interval where it is wider than the mark."
    caption = (
        f"{unit[0].upper()}{unit[1:]} at the median",
        "." if subject.run.icount else interval,
        *remark(subject),
    )
    draw = partial(charts.throughput, series, unit=unit)
    return Chart(subject.curve(workload, algorithm), caption, draw, _table(subject, group))


def unit_of(subject: Subject) -> str:
    return "instructions a byte" if subject.run.icount else "MiB/s"


def rate(subject: Subject, bytes_a_second: float) -> float:
    """Returns a rate in the unit of `unit_of`; on a board that counts, a ns is one instruction."""
    return 1e9 / bytes_a_second if subject.run.icount else bytes_a_second / (1 << 20)


def apart(sizes: Sequence[int]) -> set[int]:
    """Returns the sizes that a chart shows: the largest of sizes closer than a factor of `NEAR`.
    55, 56 and 64 bytes, at the edges of a block, would make a zigzag."""
    kept: list[int] = []
    for size in sorted(sizes, reverse=True):
        if not kept or size * NEAR <= kept[-1]:
            kept.append(size)
    return set(kept)


def _series(subject: Subject, backend: str, stats: Sequence[CaseStats]) -> charts.Series:
    shown = apart([case.bytes for case in stats if case.bytes])
    points, bounds = [], []
    for case in stats:
        if case.throughput is not None and case.bytes in shown:
            points.append((float(case.bytes), rate(subject, case.throughput)))
            ends = None if subject.run.icount else case.throughput_interval
            bounds.append((ends.low / (1 << 20), ends.high / (1 << 20)) if ends else None)
    who = subject.run.who(stats[0].work)
    return charts.Series(who, tuple(points), tuple(bounds), place=subject.run.place(backend))


def _table(subject: Subject, group: dict[str, list[CaseStats]]) -> Table:
    sizes = sorted({case.bytes or 0 for stats in group.values() for case in stats})
    by = {backend: {case.bytes: case for case in stats} for backend, stats in group.items()}

    def shown(case: CaseStats | None) -> str:
        if case is None or case.throughput is None:
            return fmt.NONE
        return fmt.digits(rate(subject, case.throughput))

    rows = [(fmt.size(size), *(shown(by[name].get(size)) for name in group)) for size in sizes]
    names = (subject.run.who(stats[0].work).title for stats in group.values())
    return Table((*right("bytes"), *right(*names, unit=unit_of(subject))), rows)


def _intro(subjects: Sequence[Subject]) -> Block:
    secure = any(not subject.run.without_tee for subject in subjects)
    lines = " Solid lines compute in the secure world, dashed ones in the normal world." * secure
    return Paragraph((f"Small blocks pay for the call, large ones for the bytes.{lines}",))


throughput = RunSection(
    "throughput",
    "From small blocks to large ones",
    _of,
    _intro,
    "every algorithm and size, as charts and tables",
)
