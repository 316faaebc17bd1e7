# SPDX-License-Identifier: BSD-2-Clause
"""What a call costs and what a byte costs: the fitted models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from teemark.base import fmt
from teemark.findings.subject import Subject, section
from teemark.model.fit import MAY_SAVE, MISFIT, Fit
from teemark.model.models import Cost
from teemark.model.stats import DRAWS, Estimate
from teemark.page import charts, figures
from teemark.page.blocks import (
    Bar,
    Block,
    Bullets,
    Cell,
    Code,
    Column,
    Fold,
    Paragraph,
    Quiet,
    Section,
    Strong,
    Table,
)
from teemark.report.cells import (
    backend_cell,
    cpu_cell,
    interval_columns,
    misfit_cell,
    shown_sizes,
    time_cells,
)

TERMS = {
    "block": "each block of the algorithm, those that padding fills included",
    "byte": "each byte",
    "page": "each page of 4 KiB that the buffer spans",
    "feed": "there is a message at all",
    "again": "there is more than one block, so that the block function starts again",
    "tail": "the last bytes don't fill a block, and are kept until the end",
    "request": "each request to the kernel, of 64 KiB at most",
    "rpc": "each call of the TEE back to the normal world",
    "table": "each whole 2 MiB of the buffer: the TEE fills another page table, and the kernel may "
    "find that memory in one piece",
    "reference": "the call carries a reference to 64 bytes of shared memory",
}
"""When each term of a model is paid."""

STREAM_OFF = 0.05
"""A prediction that is further off is marked."""


def costs(subjects: Sequence[Subject]) -> Section | None:
    cpu = (
        " “CPU” is the CPU time of the process a byte of the longest message: it falls where a "
        "device works, and what kernel threads take isn't in it."
        if any(stats.cpu for one in subjects for stats in one.models.stats)
        else ""
    )
    return section(
        "costs",
        "What a call costs, and what a byte",
        "What whole calls take at up to three sizes, as they were measured. Between the sizes a "
        "model adds up what a call pays: the call itself, the blocks of the algorithm, and what "
        "else shows in the samples. It weighs relative errors alike at all sizes, and a term is in "
        "it only if it explains more than scatter and predicts sizes that were left out. “Byte” "
        "is what a further byte of a long message takes by the model, and beside it stands how far "
        f"that may be off: {fmt.count(DRAWS)} draws of what the medians may be, and the error at "
        "sizes that the model was fitted without. “Limit” is the rate that no long message "
        f"exceeds.{cpu} “Misfit” is how far the model is off at the size where it is worst, beyond "
        f"what the scatter of that median explains; more than {fmt.percent(MISFIT)} is marked: "
        "then no such sum describes these calls, and none is shown.",
        subjects,
        _costs_of,
    )


def _costs_of(subject: Subject) -> list[Block]:
    groups: dict[tuple[str, str], list[Cost]] = {}
    for cost in subject.models.costs:
        groups.setdefault((cost.workload, cost.algorithm), []).append(cost)
    blocks: list[Block] = []
    for key, group in groups.items():
        ordered = sorted(group, key=lambda cost: subject.run.place(cost.backend))
        blocks.append(_cost_table(subject, key, ordered))
        fits = [(cost.backend, cost.fit) for cost in ordered if cost.fit.fits]
        if any(len(fit.terms) > 1 for _, fit in fits):
            blocks.append(_terms(subject, f"What {subject.curve(*key)} is made of", fits))
    references = subject.models.references
    if references is not None and len(references.terms) > 1:
        fits = [("tee", references)]
        blocks.append(_terms(subject, "What an empty call is made of", fits))
    if subject.models.streams:
        blocks.append(_streams(subject))
    return blocks


def _cost_table(subject: Subject, key: tuple[str, str], ordered: Sequence[Cost]) -> Table:
    largest = max((cost.slope.value for cost in ordered if cost.fit.fits), default=0.0)
    cpu = {cost.backend: cpu_a_byte(subject, cost) for cost in ordered}
    with_cpu = any(figure is not None for figure in cpu.values())
    sizes = shown_sizes(ordered)
    rows: list[tuple[Cell, ...]] = []
    for cost in ordered:
        measured = {int(point.x): point.measured for point in cost.fit.points}
        byte: tuple[Cell, ...] = (fmt.NONE,) * 3
        if cost.fit.fits and cost.slope.value > 0:
            colour = charts.colour(subject.run.place(cost.backend))
            byte = (
                Bar(fmt.digits(cost.slope.value), cost.slope.value / largest, colour),
                (Quiet(fmt.span(cost.byte.interval)),),
                fmt.rate(1e9 / cost.least_byte) if cost.least_byte else fmt.NONE,
            )
        rows.append(
            (
                "your TA" if cost.form.form == "command" else backend_cell(subject, cost.backend),
                *(figures.cell(subject.run, measured[size]) for size in sizes),
                *byte,
                *((cpu_cell(cpu[cost.backend]),) if with_cpu else ()),
                misfit_cell(cost.fit, "size"),
            )
        )
    return Table(
        columns=(
            Column("backend", "left"),
            *(Column(fmt.size(size), unit=figures.unit(subject.run)) for size in sizes),
            Column("byte", unit=subject.run.unit),
            Column("from … to"),
            Column("limit", unit="MiB/s"),
            *((Column("CPU, a byte", unit=subject.run.unit),) if with_cpu else ()),
            Column("misfit"),
        ),
        rows=tuple(rows),
        caption=subject.curve(*key),
        note=subject.caveat,
    )


def cpu_a_byte(subject: Subject, cost: Cost) -> Estimate | None:
    """CPU time of teebench's process, of the longest message; None where it isn't of interest."""
    found = [
        stats
        for stats in subject.models.stats
        if cost.covers(stats.work) and stats.cpu is not None and stats.bytes
    ]
    longest = max(found, key=lambda stats: stats.bytes or 0, default=None)
    return longest.cpu.a_byte(longest.bytes) if longest is not None and longest.cpu else None


def _terms(subject: Subject, name: str, fits: Iterable[tuple[str, Fit]]) -> Fold:
    """A column for each term, and when it is paid."""
    shown = list(fits)
    names = [term for term in ("call", *TERMS) if any(fit.term(term) for _, fit in shown)]
    rows: list[tuple[Cell, ...]] = []
    for backend, fit in shown:
        cells: list[Cell] = [(Code(backend),)]
        for term in names:
            figure = fit.term(term)
            cells.append(_signed(subject, figure) if figure else fmt.NONE)
        rows.append(tuple(cells))
    unit = subject.run.unit
    paid = Bullets(
        (
            ("A message takes the call, and each other term as often as it is paid.",),
            *((Strong(term), f": {TERMS[term]}.") for term in names if term in TERMS),
        )
    )
    note = ("A term that is negative saves that much: another path through the code is shorter.",)
    table = Table(
        columns=(Column("backend", "left"), *(Column(term, unit=unit) for term in names)),
        rows=tuple(rows),
    )
    negative = any(
        fit.terms[name].value < 0 for _, fit in shown for name in MAY_SAVE & set(fit.terms)
    )
    return Fold(
        name,
        fmt.plural(len(names), "term"),
        (table, paid, *((Paragraph(note),) if negative else ())),
    )


def _signed(subject: Subject, figure: Estimate) -> Cell:
    text = fmt.digits(figure.value)
    if subject.icount:
        sign = fmt.MINUS if figure.value < 0 else ""
        return sign + figures.instructions(abs(figure.value))
    return (text, Quiet(f" {fmt.span(figure.interval)}"))


def _streams(subject: Subject) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in subject.models.streams:
        stats = one.measured
        off = one.off
        signed = fmt.NONE if off is None else fmt.signed(off)
        rows.append(
            (
                (Code(stats.key),),
                fmt.count(one.pieces),
                figures.cell(subject.run, stats.estimate),
                fmt.NONE if one.predicted is None else figures.cell(subject.run, one.predicted),
                (Strong(f"! {signed}"),) if abs(off or 0.0) > STREAM_OFF else signed,
            )
        )
    unit = figures.unit(subject.run)
    unknown = (
        "AF_ALG takes whole messages 64 KiB at a time: what a smaller piece costs isn't known. "
        if any(one.predicted is None for one in subject.models.streams)
        else ""
    )
    return Table(
        columns=(
            Column("case", "left"),
            Column("pieces"),
            Column("measured", unit=unit),
            Column("predicted", unit=unit),
            Column("prediction off"),
        ),
        rows=tuple(rows),
        caption="In pieces, as the models of whole messages predict it: one more way in and out "
        "a piece",
        note=f"{unknown}{subject.caveat}",
    )


def inside(subjects: Sequence[Subject]) -> Section | None:
    """In-TA cost as a slope over repetitions in one call."""
    return section(
        "inside",
        "Inside the call",
        "Here one call does its work n times over before it returns. The slope over n is what the "
        "work itself takes, with no clock needed where it runs; what is left at n = 0 is the price "
        "of the call alone.",
        subjects,
        _inside_of,
    )


def _inside_of(subject: Subject) -> list[Block]:
    repeats = subject.models.repeats
    if not repeats:
        return []
    rows: list[tuple[Cell, ...]] = []
    for repeat in repeats:
        operation = repeat.operation
        rows.append(
            (
                backend_cell(subject, repeat.backend),
                subject.run.title(repeat.algorithm),
                fmt.size(repeat.bytes) if repeat.bytes is not None else fmt.NONE,
                *time_cells(subject, operation),
                fmt.digits(operation.value / repeat.bytes) if repeat.bytes else fmt.NONE,
                *time_cells(subject, repeat.crossing),
                misfit_cell(repeat.fit, "repeat"),
            )
        )
    unit = figures.unit(subject.run)
    counts = sorted({int(point.x) for repeat in repeats for point in repeat.fit.points})
    return [
        Table(
            columns=(
                Column("backend", "left"),
                Column("algorithm", "left"),
                Column("bytes"),
                *interval_columns(subject, Column("operation", unit=unit)),
                Column("byte", unit=subject.run.unit),
                *interval_columns(subject, Column("call", unit=unit)),
                Column("misfit"),
            ),
            rows=tuple(rows),
            caption=f"Slope over n = {', '.join(map(str, counts))}",
            note=subject.caveat,
        )
    ]
