# SPDX-License-Identifier: BSD-2-Clause
"""Many runs as a page: which cases changed with which run, a large chart of the case that changed
most, and small charts of others."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from teemark.base.work import EMPTY_CALL
from teemark.measure import origin
from teemark.model.compare import Verdict
from teemark.model.history import CaseHistory, events
from teemark.page import blocks as page
from teemark.page import charts, html
from teemark.report import comparing
from teemark.report.heading import footer
from teemark.run import reader
from teemark.run.reader import RunData
from teemark.wording import fmt

SMALL = 12  # Most small charts: one of each family, those that changed most


def render(
    title: str, runs: Sequence[RunData], all_lines: Sequence[CaseHistory], remark: str
) -> str:
    """Returns the page as HTML; `remark` says how changes were told from scatter."""
    drawn = _drawn(all_lines, runs)
    blocks = [page.Paragraph((answer(runs, all_lines),)), *event_table(runs, all_lines)]
    for lines in (drawn[:1], drawn[1 : SMALL + 1]):
        blocks += [_chart(lines, runs)] if lines else []
    blocks.append(page.Paragraph((page.Quiet(remark),)))
    blocks.append(
        page.Fold("Every case", f"{len(all_lines)} cases", (case_table(all_lines, runs),))
    )
    blocks.append(page.Fold("Every run", f"{len(runs)} runs", (_runs_table(runs),)))
    section = page.Section("history", "What changed, and when", tuple(blocks))
    return html.render(title, "", [section], footer(title, again=origin.command()))


def since(run: RunData) -> str:
    """Returns the time at which a run began, and its commit."""
    commit = f", {run.commit.short}" if run.commit is not None else ""
    return f"{comparing.when(run)}{commit}"


def answer(runs: Sequence[RunData], lines: Sequence[CaseHistory]) -> str:
    """Returns one sentence: how many cases changed in how many runs, and when last."""
    changed = [line for line in lines if line.changes]
    span = f"{len(runs)} runs, {comparing.when(runs[0])} to {comparing.when(runs[-1])}"
    text = f"{span}: {len(changed)} of {fmt.plural(len(lines), 'case')} changed"
    if not changed:
        return f"{text}."
    last = max(line.runs[line.changes[-1]] for line in changed)
    return f"{text}, last with the run of {since(runs[last])}."


def event_table(runs: Sequence[RunData], lines: Sequence[CaseHistory]) -> list[page.Block]:
    """Returns a table of the changes that cases share, each with its first run; an empty list if
    nothing changed."""
    rows = [
        (*comparing.change_cells(runs[number], change), since(runs[number]))
        for number, changes in events(runs, lines, _whole)
        for change in changes
    ]
    columns = page.left("what changed", "by", "since")
    return [page.Table(columns, rows, stacked=True)] if rows else []


def _whole(run: RunData) -> RunData:
    return run if run.cases or run.teehash else reader.read(Path(run.file))


def _drawn(lines: Sequence[CaseHistory], runs: Sequence[RunData]) -> list[CaseHistory]:
    """Returns from each family the case that changed most; the largest change comes first."""
    best: dict[tuple[str, ...], CaseHistory] = {}
    for line in sorted(lines, key=lambda line: -abs(line.last_change)):
        case = runs[-1].cases.get(line.case)
        work = case.work if case is not None else None
        family = (work.workload, work.algorithm, work.backend) if work else (line.case,)
        if line.changes:
            best.setdefault(family, line)
    # If nothing changed, the chart of the empty call shows that.
    return list(best.values()) or sorted(lines, key=lambda line: line.case != EMPTY_CALL)[:1]


def _chart(lines: Sequence[CaseHistory], runs: Sequence[RunData]) -> page.Chart:
    unit = "instructions a call" if runs[0].icount else "ns a call"
    names = [_axis_name(run) for run in runs]
    return page.Chart(
        lines[0].case if len(lines) == 1 else "Others that changed, one of each family",
        () if len(lines) == 1 else (f"{unit}; each over the runs above.",),
        partial(charts.history, lines, names, unit),
        page.Table(
            (*page.left("case", "run"), *page.right(unit)),
            [
                ((page.Code(line.case),), since(runs[place]), fmt.cost_cell(runs[place], value))
                for line in lines
                for place, value in zip(line.runs, line.values, strict=True)
            ],
        ),
    )


def _axis_name(run: RunData) -> str:
    commit = run.commit.hash[:7] + ("+" if run.commit.dirty else "") if run.commit else ""
    return f"{comparing.when(run)[5:10]}\n{commit}"


def case_table(lines: Sequence[CaseHistory], runs: Sequence[RunData]) -> page.Table:
    """Returns a table with a row for each case: its first and last value, and its last change."""
    rows = []
    for line in sorted(lines, key=lambda line: -abs(line.last_change)):
        verdict: Verdict = "worse" if line.last_change > 0 else "better"
        text = f"{comparing.SIGN[verdict]} {comparing.signed(line.last_change)}"
        ends = ((line.runs[place], line.values[place]) for place in (0, -1))
        rows.append(
            (
                (page.Code(line.case),),
                *(fmt.cost_cell(runs[run], value) for run, value in ends),
                (page.Mark(text, verdict),) if line.changes else "",
                since(runs[line.runs[line.changes[-1]]]) if line.changes else "",
            )
        )
    columns = (*page.left("case"), *page.right("first", "last", "last change"), *page.left("since"))
    return page.Table(columns, rows, stacked=True)


def _runs_table(runs: Sequence[RunData]) -> page.Table:
    rows = [
        (
            comparing.when(run),
            run.commit.short if run.commit is not None else fmt.NONE,
            (run.commit.branch if run.commit is not None else None) or fmt.NONE,
            ", ".join(f"{key}={value}" for key, value in run.labels.items()) or fmt.NONE,
            run.file,
        )
        for run in runs
    ]
    return page.Table(
        page.left("began (UTC)", "commit", "branch", "labels", "file"), rows, stacked=True
    )
