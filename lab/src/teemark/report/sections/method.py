# SPDX-License-Identifier: BSD-2-Clause
"""How it was measured: what a reader needs to believe the figures, or to doubt them."""

from __future__ import annotations

from collections.abc import Sequence

from teemark import words
from teemark.report.blocks import Block, Bullets, Code, Facts, Section, Text
from teemark.report.subject import Subject, each


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
                "Samples of all cases are interleaved in random order, so that what drifts "
                "(temperature, other work) meets all alike. The order comes from a recorded seed.",
            ),
            (
                "Every output was compared with a known answer before anything was timed. First "
                "calls are kept apart.",
            ),
            (
                "Medians with order-statistic intervals; nothing was averaged away, no sample was "
                "thrown out. The raw samples are in ",
                Code("run.ndjson"),
                ", from which this report can be made again.",
            ),
            (f"1 MiB/s is {words.count(1 << 20)} bytes a second.",),
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
            ("teemark", (run.run.teemark,)),
        ]
    if run.end is not None:
        ended = run.end.reason if run.end.complete else f"incomplete: {run.end.reason}"
        took = (
            f", after {words.duration(run.end.duration_ns)}"
            if run.end.duration_ns is not None
            else ""
        )
        rows.append(("ended", (f"{ended}{took}",)))
    sources = sorted({sample.source for case in run.cases.values() for sample in case.samples})
    if sources:
        rows.append(("source of times", (Code(", ".join(sources)),)))
    return [Facts(tuple(rows))]
