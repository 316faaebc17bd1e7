# SPDX-License-Identifier: BSD-2-Clause
"""The machine, by its own account, and how it was measured: the grounds to trust the figures."""

from teemark.doctor.facts import ExaminedBoard
from teemark.doctor.inventory import facts, inventory
from teemark.findings.subject import Subject
from teemark.page.blocks import Block, Bullets, Code, Facts, Fold, Quiet, Table, Text, left
from teemark.page.section import RunSection
from teemark.wording import fmt


def _machine(subject: Subject) -> list[Block]:
    all_facts = facts(subject.run.machine)
    unknown = sum(not value for _, value, _ in all_facts)
    rows = [
        ((Code(name),), (Code(value) if value else Quiet(why),)) for name, value, why in all_facts
    ]
    table = Table(left("fact", "value"), rows)
    short = inventory(ExaminedBoard(subject.run.name, subject.run.machine))
    note = f"{fmt.plural(len(all_facts), 'fact')}, {unknown} not known"
    return [
        Facts(tuple((label, (value,)) for label, value in short)),
        Fold("Everything the machine told", note, (table,)),
    ]


RULES: tuple[Text, ...] = (
    (
        "Clock: ",
        Code("CLOCK_MONOTONIC_RAW"),
        " of the normal world, read before and after a sample; nothing but the measured calls lies "
        "between. A sample repeats its call until it is long against the clock's resolution.",
    ),
    (
        "Samples of all cases are taken in random order, so that a drift (temperature, other work) "
        "affects all of them alike. The order comes from a recorded seed.",
    ),
    (
        "Every output was compared with a known answer before anything was timed. First calls are "
        "kept apart.",
    ),
    (
        "Medians of one start have intervals by the sign test, wider if samples depend on their "
        "neighbours in time. With several starts, the value is the mean of their medians, and its "
        "interval is by Student's t. Too short samples were taken again; all others are in ",
        Code("run.ndjson"),
        ", from which this report can be made again.",
    ),
    (f"1 MiB/s is {fmt.count(1 << 20)} bytes a second.",),
)


def _method(subject: Subject) -> list[Block]:
    run, end = subject.run.header, subject.run.end
    settings, clock = subject.run.machine.settings, subject.run.machine.clock
    rows: list[tuple[str, Text]] = []
    if run is not None:
        rows += [
            ("board", (Code(run.board), f" {run.board_summary or ''}")),
            ("plan", (Code(run.plan), f" {run.plan_summary or ''}")),
            ("started", (run.started,)),
            ("teemark", (run.teemark, f", teebench {subject.run.machine.teebench}")),
        ]
    if end is not None:
        took = f", after {fmt.duration(end.duration_ns)}" if end.duration_ns is not None else ""
        rows.append(("ended", (f"{'' if end.complete else 'incomplete: '}{end.reason}{took}",)))
        if end.thrown_away is not None:
            rows.append(("taken again, too short", (fmt.count(end.thrown_away),)))
    if settings.seed is not None:
        rows.append(("seed of the order", (Code(str(settings.seed)),)))
    if clock.resolution_ns is not None:
        cost = f", one reading takes {clock.reading_ns} ns" if clock.reading_ns else ""
        steps = f" steps by {clock.resolution_ns} ns{cost}"
        rows.append(("clock", (Code(clock.name or ""), steps)))
    shortest = [case.record.min_ns for case in subject.run.sound if case.record.min_ns is not None]
    if shortest:
        rows.append(("shortest sample allowed", (fmt.duration(min(shortest)),)))
    cases = subject.run.cases.values()
    sources = {sample.source for case in cases for sample in (*case.samples, *case.ta_samples)}
    if sources:
        rows.append(("source of times", (Code(", ".join(sorted(sources))),)))
    return [Facts(tuple(rows))]


machine = RunSection(
    "machine", "The machine", _machine, lead="the board, its software and settings"
)
method = RunSection(
    "method", "How it was measured", _method, lambda _: Bullets(RULES), "how samples were taken"
)
