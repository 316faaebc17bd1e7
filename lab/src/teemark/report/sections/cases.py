# SPDX-License-Identifier: BSD-2-Clause
"""Every case that ran, commands of the user's own TA, first calls, and cases that were left out."""

from collections.abc import Sequence

from teemark.base.work import CALL, EMPTY_CALL, NONE, Work
from teemark.findings.subject import Subject
from teemark.model.stats import CaseStats, Estimate
from teemark.page import blocks as page
from teemark.page.section import RunSection
from teemark.wording import fmt

INTERVAL = page.Column(fmt.LEVEL, optional=True)  # The column of intervals behind a column of costs


def _time_cells(subject: Subject, figure: Estimate | None) -> tuple[page.Cell, page.Cell]:
    if figure is None:
        return "", ""
    exact = subject.run.icount
    interval = "" if exact else (page.Quiet(fmt.duration_interval(figure.interval)),)
    return fmt.cost_cell(subject.run, figure), interval


# -- every case ----------------------------------------------------------------------------------


def _intro(subjects: Sequence[Subject]) -> page.Paragraph:
    how = (
        "Counted figures are exact; what differs within the run stands under “from” and “to”. A "
        "figure with a unit of its own is a time: its case wasn't counted."
        if all(subject.run.icount for subject in subjects)
        else f"The interval holds the median with {fmt.LEVEL}; below six samples there is none. Of "
        "one start it assumes nothing of the distribution; of several it takes their medians for a "
        "sample of all starts (Student's t), and can't know of slow starts that it never met."
    )
    cpu = (
        " “CPU” is the CPU time of the process: it falls where a device works, and what kernel "
        "threads take isn't in it."
        * any(stats.cpu and stats.bytes for subject in subjects for stats in subject.models.stats)
    )
    return page.Paragraph((f"What one call takes, in every case that was measured. {how}{cpu}",))


def _all(subject: Subject) -> list[page.Block]:
    groups: dict[tuple[str, str], list[CaseStats]] = {}
    for stats in subject.models.stats:
        groups.setdefault((stats.work.workload, stats.algorithm), []).append(stats)
    blocks: list[page.Block] = []
    for (workload, algorithm), group in groups.items():
        title = workload if algorithm == NONE else f"{workload} · {subject.run.title(algorithm)}"
        samples = sum(stats.time.count for stats in group)
        many = f"{fmt.plural(len(group), 'case')}, {fmt.plural(samples, 'sample')}"
        note = f"{group[0].work.row.title}: {many}"
        blocks.append(page.Fold(title, note, (_table(subject, group),), open=len(group) == 1))
    return blocks


def _table(subject: Subject, group: Sequence[CaseStats]) -> page.Table:
    run, unit, each = subject.run, fmt.cost_unit(subject.run), f"{subject.run.unit}/B"
    # The column behind the backend: the size if it tells all cases apart, else the rest of the key.
    sizes = {(stats.backend, stats.bytes) for stats in group if stats.bytes is not None}
    sized = len(sizes) == len(group)
    rows = []
    for stats in sorted(group, key=lambda case: (run.place(case.backend), case.bytes or 0)):
        time, cpu = stats.time, stats.cpu
        shown = fmt.instructions if time.estimate.counted else fmt.duration
        relative = time.sd / time.mean if time.sd is not None and time.mean > 0 else None
        ends: tuple[page.Cell, ...] = (shown(time.min), shown(time.max), "", "")
        if not run.icount:
            sd = fmt.percent(relative) if relative is not None else fmt.NONE
            ends = ("", "", fmt.cost_cell(run, time.p95), sd)
        rows.append(
            (
                (page.Term(run.who(stats.work).title, stats.backend),),
                fmt.size(stats.bytes or 0) if sized else stats.work.parameters,
                *_time_cells(subject, time.estimate),
                fmt.NONE if run.icount else fmt.rate(stats.throughput),
                fmt.digits(cpu.value / stats.bytes) if cpu and stats.bytes else fmt.NONE,
                *ends,
                fmt.count(time.count),
            )
        )
    columns = (
        *page.left("backend"),
        *(page.right("bytes") if sized else page.left("parameters")),
        *page.right("median", unit=unit),
        INTERVAL,
        *page.right("rate", unit="MiB/s", optional=True),
        *page.right("CPU", unit=each, optional=True),
        *page.right("from", "to", unit=unit, optional=True),
        *page.right("p95", "sd", optional=True),
        *page.right("samples"),
    )
    return page.Table(columns, rows)


# -- commands of the user's own TA ---------------------------------------------------------------


def call_tables(subject: Subject, *, brief: bool = False) -> list[page.Block]:
    """Returns a table for each TA of the user's; with `brief` it fits a terminal's 80 columns."""
    run, unit = subject.run, fmt.cost_unit(subject.run)
    empty = subject.models.case(EMPTY_CALL)
    by_ta: dict[str, list[tuple[page.Cell, ...]]] = {}
    for stats in subject.models.stats:
        case = run.cases[stats.key].record
        if stats.work.row is not CALL:
            continue
        beyond = stats.estimate - empty.estimate if empty is not None else None
        by_ta.setdefault(case.ta or "?", []).append(
            (
                (page.Code(case.algorithm),),
                fmt.count(case.command or 0),
                fmt.size(stats.bytes) if stats.bytes is not None else fmt.NONE,
                *_time_cells(subject, stats.estimate),
                *_time_cells(subject, beyond),
                fmt.count(stats.time.count),
                ", ".join(case.unchecked) or fmt.NONE,
            )
        )
    columns = (
        *page.left("call"),
        *page.right("command"),
        *page.right("bytes", optional=True),
        *page.right("median", unit=unit),
        INTERVAL,
        *page.right("beyond an empty call", unit=unit, optional=True),
        INTERVAL,
        *page.right("samples"),
        *page.left("not compared"),
    )
    kept = (0, 2, 3, 4) if brief else range(len(columns))
    heads, tables = [columns[place] for place in kept], list[page.Block]()
    for ta, rows in by_ta.items():
        lines = [tuple(row[place] for place in kept) for row in rows]
        tables.append(page.Table(heads, lines, caption=f"TA {ta}"))
    return tables


# -- the first time ------------------------------------------------------------------------------

FIRST = {
    "context": "first contact with the TEE (context)",
    "session": "opening a session; the first of all loads the TA",
    "invoke": "first empty call",
    "call": "first call",
}


def _first_intro(subjects: Sequence[Subject]) -> page.Paragraph:
    racing = (
        " A clock that counts instructions says nothing while the board waits for its disk: ignore "
        "the times of what loads a file."
    )
    once = "What happens once is kept apart from all that is repeated: no sample above contains it."
    return page.Paragraph(
        (once + (racing if any(subject.run.icount for subject in subjects) else ""),)
    )


def _first(subject: Subject) -> list[page.Block]:
    run = subject.run
    rows = []
    for use in run.first:
        what = (FIRST.get(use.what, use.what), page.Quiet(f" {use.backend}" if use.backend else ""))
        rows.append((what, fmt.duration(use.ns)))
    columns = (*page.left("what"), *page.right("time"))
    return [page.Table(columns, rows)] if rows else []


# -- what is missing -----------------------------------------------------------------------------


def _left_out(subject: Subject) -> list[page.Block]:
    run, blocks = subject.run, list[page.Block]()
    if run.fails:
        rows = []
        for fail in run.fails:
            tee = f" ({fail.tee_result} from {fail.tee_origin})" if fail.tee_result else ""
            rows.append(((page.Code(fail.case),), (fail.reason, page.Quiet(tee))))
        blocks.append(page.Table(page.left("failed", "why"), rows))
    reasons: dict[page.Text, list[str]] = {}
    for skip in run.skips:
        hint = f". {skip.hint[:1].upper()}{skip.hint[1:]}" if skip.hint else ""
        why = (skip.reason, page.Quiet(f" ({skip.code})"), page.Quiet(hint))
        reasons.setdefault(why, []).append(skip.case)
    if reasons:
        skipped = [(fmt.count(len(keys)), why, _keys(keys)) for why, keys in reasons.items()]
        blocks.append(page.Table(page.left("cases", "can't run because", "which"), skipped))
    return blocks


def _keys(keys: Sequence[str]) -> page.Text:
    if len(keys) <= 2:
        return (page.Code(", ".join(keys)),)
    works = [Work.of(key) for key in keys]
    columns = zip(*((w.workload, w.algorithm, w.backend, w.parameters) for w in works), strict=True)
    return (page.Code("/".join(_one_of(list(dict.fromkeys(column))) for column in columns)),)


def _one_of(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    return "{" + ",".join(names) + "}" if len(names) <= 6 else "*"


cases = RunSection("cases", "All cases", _all, _intro, "each case with its median and spread")
calls = RunSection(
    "calls",
    "Calls of your Trusted Application",
    call_tables,
    "The median of each command. Its return code was compared in every call, and what it gives "
    "back before the first sample and after each. “Beyond an empty call” is what is left of the "
    "median without that of an empty call to teemark's own TA.",
    "every command of the TA",
)
first_use = RunSection(
    "first-use",
    "The first time",
    _first,
    _first_intro,
    "opening a session, loading the TA, the first call",
)
left_out = RunSection(
    "left-out", "Left out", _left_out, lead="what can't be measured here, with the reason"
)
