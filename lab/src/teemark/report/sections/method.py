# SPDX-License-Identifier: BSD-2-Clause
"""How it was measured: what a reader needs to believe the figures, or to doubt them."""

from __future__ import annotations

from collections.abc import Sequence

from teemark.base import fmt
from teemark.findings.subject import Subject, each
from teemark.page.blocks import Block, Bullets, Code, Facts, Section, Text


def method(subjects: Sequence[Subject]) -> Section | None:
    rules = Bullets(
        (
            (
                "Clock: ",
                Code("CLOCK_MONOTONIC_RAW"),
                " of the normal world, read before and after a sample; nothing but the measured "
                "calls lies between. A sample repeats its call until it is long against the "
                "clock's resolution.",
            ),
            (
                "Where a TA may read a counter, it counts how long it worked in the same calls. "
                "That is shown apart, and in no other figure.",
            ),
            (
                "Samples of all cases are taken in random order, so that a drift (temperature, "
                "other work) affects all of them alike. The order comes from a recorded seed.",
            ),
            (
                "Every output was compared with a known answer before anything was timed. First "
                "calls are kept apart.",
            ),
            (
                "Medians with intervals by the sign test, between order statistics; where samples "
                "depend on their neighbours in time the intervals are wider for it. In a run of "
                "several starts the value is the mean of the starts' medians, with Student's t "
                "over them. Nothing was averaged away, no sample was thrown out. The raw samples "
                "are in ",
                Code("run.ndjson"),
                ", from which this report can be made again.",
            ),
            (f"1 MiB/s is {fmt.count(1 << 20)} bytes a second.",),
        )
    )
    return Section("method", "How it was measured", (rules, *each(subjects, _facts)))


def _facts(subject: Subject) -> list[Block]:
    run = subject.run
    rows: list[tuple[str, Text]] = []
    if run.run is not None:
        rows += [
            ("board", (Code(run.run.board), f" {run.run.board_summary or ''}")),
            ("plan", (Code(run.run.plan), f" {run.run.plan_summary or ''}")),
            ("started", (run.run.started,)),
            ("teemark", (run.run.teemark, f", teebench {run.machine.teebench}")),
        ]
    if run.end is not None:
        ended = run.end.reason if run.end.complete else f"incomplete: {run.end.reason}"
        took = (
            f", after {fmt.duration(run.end.duration_ns)}"
            if run.end.duration_ns is not None
            else ""
        )
        rows.append(("ended", (f"{ended}{took}",)))
    settings, clock = run.machine.settings, run.machine.clock
    if settings.seed is not None:
        rows.append(("seed of the order", (Code(str(settings.seed)),)))
    if clock.resolution_ns is not None:
        reading = f", one reading takes {clock.reading_ns} ns" if clock.reading_ns else ""
        rows.append(
            ("clock", (Code(clock.name or ""), f" steps by {clock.resolution_ns} ns{reading}"))
        )
    shortest = [case.case.min_ns for case in run.sound if case.case.min_ns is not None]
    if shortest:
        rows.append(("shortest sample allowed", (fmt.duration(min(shortest)),)))
    if run.end is not None and run.end.thrown_away is not None:
        rows.append(("taken again, too short", (fmt.count(run.end.thrown_away),)))
    sources = sorted(
        {
            sample.source
            for case in run.cases.values()
            for sample in (*case.samples, *case.ta_samples)
        }
    )
    if sources:
        rows.append(("source of times", (Code(", ".join(sources)),)))
    return [Facts(tuple(rows))]
