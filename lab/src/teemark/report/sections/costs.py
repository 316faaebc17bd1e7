# SPDX-License-Identifier: BSD-2-Clause
"""The fitted models: the cost of a call, and the cost of a byte."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from teemark.findings.subject import Subject
from teemark.model.fit import MAY_SAVE, MISFIT, Fit
from teemark.model.models import Cost
from teemark.model.stats import DRAWS, Estimate
from teemark.page import blocks as page
from teemark.page import charts
from teemark.page.section import RunSection
from teemark.wording import fmt

TERMS = {
    "block": "each block: of the algorithm, padding included; of storage, 4 KiB, with the TEE's "
    "own header",
    "byte": "each byte",
    "page": "each page of 4 KiB that the call's buffers span",
    "feed": "there is a message at all",
    "again": "there is more than one block, so that the block function starts again",
    "tail": "the last bytes don't fill a block, and are kept until the end",
    "request": "each request to the kernel, of 64 KiB at most",
    "rpc": "each call of the TEE back to the normal world",
    "table": "each whole 2 MiB of the buffer: the TEE fills another page table, and the kernel may "
    "find that memory in one piece",
    "reference": "the call carries a reference to 64 bytes of shared memory",
}
"""Words that say when a call pays a term of a model, by term."""


def _of(subject: Subject) -> list[page.Block]:
    groups: dict[tuple[str, str], list[Cost]] = {}
    for cost in subject.models.costs:
        groups.setdefault((cost.workload, cost.algorithm), []).append(cost)
    blocks: list[page.Block] = []
    for key, group in groups.items():
        group.sort(key=lambda cost: subject.run.place(cost.backend))
        blocks.append(_cost_table(subject, key, group))
        fits = {cost.backend: cost.fit for cost in group if cost.fit.fits}
        blocks += _terms(subject, f"What {subject.curve(*key)} is made of", fits)
    if subject.models.references is not None:
        fits = {"tee": subject.models.references}
        blocks += _terms(subject, "What an empty call is made of", fits)
    return blocks


def _cost_table(subject: Subject, key: tuple[str, str], group: Sequence[Cost]) -> page.Table:
    run = subject.run
    largest = max((cost.slope.value for cost in group if cost.fit.fits), default=0.0)
    sizes = _shown_sizes(group)
    counted = _counted(subject, (cost.fit for cost in group))
    show = fmt.cost_cell if counted else fmt.cost
    rows = []
    for cost in group:
        measured = {int(point.x): point.measured for point in cost.fit.points}
        byte: tuple[page.Cell, ...] = (fmt.NONE,) * 4
        if cost.fit.fits and cost.slope.value > 0:
            colour = charts.colour(run.place(cost.backend))
            last = cost.last_byte
            byte = (
                page.Bar(fmt.digits(cost.slope.value), cost.slope.value / largest, colour),
                (page.Quiet(fmt.span(cost.byte.interval)),),
                fmt.digits(last.value) if last is not None else fmt.NONE,
                fmt.rate(1e9 / cost.least_byte) if cost.least_byte and not run.icount else fmt.NONE,
            )
        rows.append(
            (
                "your TA" if cost.form.form == "command" else _backend(subject, cost.backend),
                *(show(run, measured[size]) for size in sizes),
                *byte,
                misfit_cell(cost.fit),
            )
        )
    return page.Table(
        columns=(
            *page.left("backend"),
            *page.right(*map(fmt.size, sizes), unit=fmt.cost_unit(run) if counted else ""),
            *page.right("byte", unit=run.unit if counted else "ns"),
            *page.right("from … to"),
            *page.right("at the end", optional=True),
            *page.right("limit", unit="MiB/s", optional=True),
            *page.right("misfit"),
        ),
        rows=rows,
        caption=subject.curve(*key),
        note=subject.caveat if counted or not run.icount else fmt.TIMED,
    )


def _backend(subject: Subject, backend: str) -> page.Cell:
    return (page.Term(subject.run.backend(backend).title, backend),)


def misfit_cell(fit: Fit) -> page.Cell:
    """Says how far off the model is beyond what scatter explains; if that is too far, also at which
    size."""
    misfit = fit.misfit
    if fit.fits:
        return "?" if misfit is None else fmt.share(misfit) if misfit else "none"
    where = page.Quiet(f" at {fmt.size(int(fit.worst.x))}")
    return (page.Strong(f"! {fmt.share(misfit or 0.0)}"), where)


def _counted(subject: Subject, fits: Iterable[Fit]) -> bool:
    return subject.run.icount and all(
        point.measured.counted for fit in fits for point in fit.points
    )


def _shown_sizes(group: Sequence[Cost]) -> tuple[int, ...]:
    common = set[int].intersection(*({int(point.x) for point in cost.fit.points} for cost in group))
    if not common:
        return ()
    least, most = min(common), max(common)
    middle = math.sqrt(max(least, 1) * max(most, 1))
    near = min(common, key=lambda size: abs(math.log(max(size, 1) / middle)))
    return tuple(sorted({least, near, most}))


def _terms(subject: Subject, name: str, fits: dict[str, Fit]) -> list[page.Block]:
    names = [term for term in ("call", *TERMS) if any(fit.terms.get(term) for fit in fits.values())]
    if not any(len(fit.terms) > 1 for fit in fits.values()):
        return []
    counted = _counted(subject, fits.values())
    rows = [
        (_backend(subject, backend), *(_term(counted, fit.terms.get(term)) for term in names))
        for backend, fit in fits.items()
    ]
    unit = "instructions" if counted else "ns"
    table = page.Table((*page.left("backend"), *page.right(*names, unit=unit)), rows)
    return [page.Fold(name, fmt.plural(len(names), "term"), (table,))]


def _paid(subjects: Sequence[Subject]) -> page.Fold | None:
    """Says when a call pays each term, once for all runs and tables."""
    models = [subject.models for subject in subjects]
    fits = [cost.fit for model in models for cost in model.costs if cost.fit.fits]
    fits += [model.references for model in models if model.references is not None]
    names = [term for term in TERMS if any(fit.terms.get(term) for fit in fits)]
    if not names:
        return None
    items: list[page.Text] = [
        ("The cost of a message is the call, plus each other term as often as it is paid:",)
    ]
    items += [(page.Strong(term), f": {TERMS[term]}.") for term in names]
    if any(fit.terms[term].value < 0 for fit in fits for term in MAY_SAVE & {*fit.terms}):
        items.append(
            ("A term that is negative saves that much: another path through the code is shorter.",)
        )
    note = fmt.plural(len(names), "term")
    return page.Fold("When each term is paid", note, (page.Bullets(tuple(items)),))


def _term(counted: bool, figure: Estimate | None) -> page.Cell:
    if figure is None:
        return fmt.NONE
    if counted:
        return fmt.instructions(figure.value)
    return (fmt.digits(figure.value), page.Quiet(f" {fmt.span(figure.interval)}"))


_COSTS = RunSection(
    "costs",
    "What a call costs, and what a byte",
    _of,
    "What whole calls take at up to three sizes, as they were measured. Between the sizes a model "
    "adds up what a call pays: the call itself, the blocks of the algorithm, and what else shows "
    "in the samples. It weighs relative errors alike at all sizes, and a term is in it only if it "
    "explains more than scatter and predicts sizes that were left out. “Byte” is what a further "
    "byte of a long message takes by the model, and beside it stands how far that may be off: "
    f"{fmt.count(DRAWS)} draws of what the medians may be, and the error at sizes that the model "
    "was fitted without. “At the end” is a byte between the two largest sizes, if it differs from "
    "the model's: the cost of longer messages is then unknown, as for messages beyond a cache. "
    "“Limit” is the rate that no long message exceeds. “Misfit” is how far the model is off at the "
    "size where it is worst, beyond what the scatter of that median explains; "
    f"more than {fmt.percent(MISFIT)} is marked: then no such sum describes these calls, and none "
    "is shown.",
    "whole calls at three sizes, and what a further byte adds",
)


def costs(subjects: Sequence[Subject]) -> page.Section | None:
    """Returns the tables of all runs, followed by a list of when each term is paid."""
    section, paid = _COSTS(subjects), _paid(subjects)
    return replace(section, blocks=(*section.blocks, paid)) if section and paid else section
