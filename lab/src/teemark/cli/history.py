# SPDX-License-Identifier: BSD-2-Clause
"""`teemark history`: many runs of the same plan, and where their levels changed."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click

from teemark.base.console import say, working
from teemark.base.console import terminal as text_terminal
from teemark.base.errors import DataError, MissingOutput, TeemarkError, UsageMistake
from teemark.base.files import write_whole
from teemark.base.sanitize import harmless
from teemark.cli import common
from teemark.cli.common import LATEST, argument, option, put_json, subcommand
from teemark.model import history
from teemark.model.compare import EMULATED
from teemark.model.history import FEWEST, CaseHistory
from teemark.page import terminal
from teemark.page.blocks import Paragraph, Quiet
from teemark.report import history_page
from teemark.report.comparing import when
from teemark.report.heading import days
from teemark.run import listing, reader
from teemark.run.listing import Entry
from teemark.run.reader import RunData
from teemark.wording import fmt


@subcommand("history")
def command(
    *,
    folder: Path | None = argument("[DIR]", required=False, type=common.PATH),
    board: str | None = option("--board NAME", "Only runs of this board."),
    plan: str | None = option("--plan NAME", "Only runs of this plan."),
    last: int | None = option("--last N", "Only the last N of these runs."),
    listed: bool = option("--list", "List the runs, a line each, and nothing else."),
    everything: bool = common.all_option,
    output: Path | None = option(
        "-o --output FILE",
        "Write a page with plots to this file.",
        kind=common.OUTPUT,
    ),
    as_json: bool = option("--json", "Each case's level in each run, as JSON."),
) -> int:
    """Show what changed over the runs in the folders of DIR (default: runs), in the order of time:
    which cases, by how much, and since which run and commit.

    Where times are sampled, finding a change takes 8 runs and the package ruptures. Runs that are
    incomplete are left out, and named. All must be of one board and plan: --board and --plan
    choose. `teemark report DIR` makes a page of all boards and plans.
    """
    folder = folder or LATEST.parent
    if not folder.is_dir():
        raise UsageMistake(f"{folder} is no folder", hint="name the one that has the runs' folders")
    entries = [
        run
        for run in listing.entries(folder)
        if not run.board or (board or run.board, plan or run.plan) == (run.board, run.plan)
    ]
    entries = entries[-last:] if last else entries
    if listed:
        return _list(entries)
    runs = list[RunData]()
    try:
        with working("reading the runs …") as tell:
            lines = history.lines(_each(folder, entries, runs, tell))
    except ModuleNotFoundError as error:
        raise MissingOutput(
            f"{error.name} isn't installed, which finds changes of sampled times",
            hint="`make venv-dev` installs it",
        ) from None
    if len(runs) < 2:
        raise DataError(
            f"{folder} has {fmt.plural(len(runs), 'complete run')} of what was asked for: a "
            "history takes two",
            hint="name the folder that has the runs' folders, such as runs/",
        )
    remark = _remark(runs, lines)
    if as_json:
        put_json(
            {
                "runs": [{"file": run.file, "began": when(run), **run.origin} for run in runs],
                "unit": runs[0].unit,
                "cases": lines,
                "remark": remark,
            }
        )
    else:
        _show(runs, lines, remark, everything=everything)
    if output is not None:
        assert runs[0].header is not None
        title = f"What changed in {runs[0].header.plan} on {runs[0].name}, {days(runs)}"
        write_whole(output, history_page.render(title, runs, lines, remark))
        (say if as_json else click.echo)(f"page: {output}")
    return 0


def _list(entries: Sequence[Entry]) -> int:
    lines = []
    for run in entries:
        commit = run.commit.short if run.commit is not None else fmt.NONE
        labels = " ".join(f"{key}={value}" for key, value in run.labels.items())
        row = (run.started, run.board, run.plan, commit, labels or fmt.NONE, run.folder)
        lines.append("  ".join(row) if not run.wrong else f"{run.folder}  left out: {run.wrong}")
    click.echo(harmless("\n".join(lines)) if lines else "no runs")
    return 0


def _each(
    folder: Path, entries: Sequence[Entry], runs: list[RunData], tell: Callable[[str], None]
) -> Iterator[RunData]:
    """Yields the complete runs in the order of time, and appends to `runs` what is shown of each.
    Raises UsageMistake unless all are of one board and plan."""
    kinds = sorted({(listed.board, listed.plan) for listed in entries if not listed.wrong})
    if len(kinds) > 1:
        plans = ", ".join(f"{of_plan} on {name}" for name, of_plan in kinds[:6])
        raise UsageMistake(
            f"{folder} has runs of several boards or plans: {plans}",
            hint=f"choose by --board and --plan; `teemark report {folder}` has them all",
        )
    for number, listed in enumerate(entries, 1):
        tell(f"reading run {number} of {len(entries)} …")
        try:
            if listed.wrong:
                raise DataError(listed.wrong)
            run = reader.read(folder / listed.folder)
            if run.incomplete is not None:
                raise DataError(f"{run.file}: {run.incomplete}")
        except TeemarkError as error:
            say(f"teemark: left out: {error.message}")
        else:
            yield run
            if runs:
                runs[-1] = history.slim(runs[-1], runs[0].machine)
            runs.append(run)


def _remark(runs: Sequence[RunData], lines: Sequence[CaseHistory]) -> str:
    if all(run.icount for run in runs):
        text = (
            "A level changes where instructions differ by more than two boots of one build do, and "
            "the next run doesn't take it back."
        )
        scattered = sum(line.scattered for line in lines)
        if scattered:
            text += (
                f" The samples of {fmt.plural(scattered, 'case')} scatter, as where calls wait for "
                "a disk: where they do, no level begins."
            )
        return text
    if any(run.emulated for run in runs):
        return f"No level is said to change: {EMULATED}."
    if len(runs) < FEWEST:
        return f"{len(runs)} runs: changes of sampled times are looked for from {FEWEST} runs on."
    normal, skewed = history.by_chance(len(runs), len(lines))
    return (
        f"Levels by PELT: of {fmt.plural(len(lines), 'case')} without a change, at most about "
        f"{normal} shows one by chance; {skewed} where some runs are far slower than the others."
    )


def _show(
    runs: Sequence[RunData], lines: Sequence[CaseHistory], remark: str, *, everything: bool
) -> None:
    blocks = [
        Paragraph((history_page.answer(runs, lines),)),
        *history_page.event_table(runs, lines),
    ]
    blocks += [history_page.case_table(lines, runs)] if everything else []
    terminal.show(text_terminal(), [*blocks, Paragraph((Quiet(remark),))])
