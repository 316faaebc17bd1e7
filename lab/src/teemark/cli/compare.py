# SPDX-License-Identifier: BSD-2-Clause
"""`teemark compare`: which cases became better or worse."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from teemark.base.errors import DataError, UsageMistake
from teemark.cli import common
from teemark.cli.common import argument, option, subcommand
from teemark.findings.subject import subjects
from teemark.model import compare
from teemark.model.compare import MARGIN, Limit
from teemark.model.power import ALPHA
from teemark.page.blocks import Block, Paragraph, Quiet
from teemark.report import comparing
from teemark.report.comparing import ComparedRuns, compared, names, never_fails, pair_names, render
from teemark.run import listing, reader
from teemark.trace import store


@subcommand("compare")
def command(
    *,
    paths: tuple[Path, ...] = argument("[BASE NEW...]", nargs=-1, type=common.PATH),
    fail_on: str | None = option(
        "--fail-on LIMIT",
        "Exit with 1 if a case is known to be worse by so much: 5%, or 1000i (instructions a "
        "call).",
    ),
    force: bool = option("--force", "Compare what should not be compared."),
    everything: bool = common.all_option,
    form: str = common.form_option("markdown", "html"),
    output: Path | None = common.output_option,
) -> int:
    """Say of every case that BASE and NEW both measured whether it became better or worse.

    BASE and NEW are runs: their folders, or their run.ndjson. Several NEWs are each compared with
    BASE. Without them, the newest whole run below runs/ is compared with the one before it of its
    board and plan.

    Where instructions are counted, a case is better or worse if it differs by more than two boots
    of the same code do, or if all calls into the TEE do. Where times are sampled, an interval over
    the starts decides (`teemark run --rounds 8`); where that doesn't suffice, as in runs of one
    start, the case is `undecided`. Each result says which change would have been seen.

    Runs of an emulated board and of hardware, of instructions and of times, of different plans, and
    truncated runs are refused without --force.

    Exit status: 0 fine; 1 if the runs can't be compared or, with --fail-on, a case is worse by the
    limit, or is missing in NEW.
    """
    limit = common.parse_limit(fail_on) if fail_on is not None else None
    if len(paths) == 1:
        raise UsageMistake(f"only one run is named: {paths[0]}", hint="name BASE and NEW")
    diffs, forced = _compared(paths or _last_two(), limit, force=force)
    failures = [comparing.failures(diff.comparison, limit) if limit else [] for diff in diffs]
    if form in ("markdown", "html"):
        common.put(render(diffs, forced, limit, form), output)
    else:
        blocks = partial(_blocks, diffs, forced, limit, everything=everything)
        data = partial(_json, diffs, forced, limit, failures)
        common.put_blocks(form, output, blocks, data)
    return 1 if any(failures) else 0


def _last_two() -> tuple[Path, Path]:
    """Returns the two newest whole runs of the newest run's board and plan, the older first."""
    folder = common.LATEST.parent
    whole = [run for run in listing.entries(folder) if not run.wrong] if folder.is_dir() else []
    alike = [run for run in whole if (run.board, run.plan) == (whole[-1].board, whole[-1].plan)]
    if len(alike) < 2:
        raise UsageMistake(
            f"no runs are named, and {folder} has no two whole runs of one board and plan",
            hint="name BASE and NEW, or run the plan once more",
        )
    return folder / alike[-2].folder, folder / alike[-1].folder


def _compared(
    paths: Sequence[Path], limit: Limit | None, *, force: bool
) -> tuple[list[ComparedRuns], tuple[str, ...]]:
    """Compares every run with the first; returns that, and the obstacles that --force overruled."""
    runs = [reader.read(path) for path in paths]
    against: dict[str, str] = {}
    for run in runs[1:]:
        against |= compare.obstacles(runs[0], run)
    if against and not force:
        remedies = ", ".join(dict.fromkeys(against.values()))
        raise DataError(
            "; ".join(against), hint=f"{remedies}; or compare all the same, with --force"
        )
    if limit is not None and limit.instructions is not None and not all(run.icount for run in runs):
        raise UsageMistake(
            f"--fail-on {limit.instructions:g}i: these runs don't count instructions",
            hint="use a share such as 5%, or measure on a board that does: qemu-v8-icount",
        )
    about = subjects(runs, [store.find(reader.locate(path).parent) for path in paths])
    diffs = [compared(about[0], subject) for subject in about[1:]]
    for diff in diffs:
        if not diff.comparison.pairs:
            raise DataError(
                f"{about[0].run.file} and {diff.comparison.second.file} have no case in common",
                hint="`teemark report` shows what is in a run",
            )
        if limit is not None and (why := never_fails(diff.comparison)) is not None:
            raise UsageMistake(why, hint=comparing.remedy(diff.comparison))
    return diffs, tuple(against)


def _blocks(
    diffs: Sequence[ComparedRuns], forced: Sequence[str], limit: Limit | None, *, everything: bool
) -> list[Block]:
    shown: list[Block] = []
    for diff in diffs:
        runs = diff.comparison.first, diff.comparison.second
        head = [*(f"! Compared by force: {why}." for why in forced), " → ".join(pair_names(*runs))]
        foot = [*comparing.method(diff), f"base: {names(runs[0])}", f"new:  {names(runs[1])}"]
        shown += [Paragraph((text,)) for text in ([""] if shown else []) + head]
        shown += comparing.blocks(diff, limit, "--all lists them", everything=everything)
        shown += [Paragraph((Quiet(text),)) for text in foot]
    return shown


def _json(
    diffs: Sequence[ComparedRuns],
    forced: Sequence[str],
    limit: Limit | None,
    failures: Sequence[Sequence[str]],
) -> dict[str, object]:
    base = diffs[0].comparison.first
    return {
        "base": base.file,
        "base_origin": base.origin,
        "level": 1 - ALPHA,
        "same_within": MARGIN,
        "forced": forced,
        "fail_on": str(limit) if limit is not None else None,
        "comparisons": [
            {
                "new": diff.comparison.second.file,
                "new_origin": diff.comparison.second.origin,
                "verdict": comparing.verdict(diff.comparison),
                "counts": {verdict: len(diff.comparison.of(verdict)) for verdict in comparing.SIGN},
                "unit": diff.comparison.second.unit,
                **common.picked(diff.comparison, "exact", "starts"),
                "cases": [
                    comparing.case_data(pair) | {"functions": diff.functions.get(pair.case)}
                    for pair in diff.comparison.worst_first
                ],
                "only_in_base": diff.comparison.lost,
                "only_in_new": diff.comparison.new,
                "changes": [
                    comparing.change_data(diff.comparison.second, change) for change in diff.changes
                ],
                "failures": failed,
            }
            for diff, failed in zip(diffs, failures, strict=True)
        ],
    }
