# SPDX-License-Identifier: BSD-2-Clause
"""`teemark compare`: which cases became better or worse."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import click
from rich.console import Console

from teemark.base.console import json_text, paragraph
from teemark.base.errors import DataError, UsageMistake
from teemark.cli import common
from teemark.findings.subject import subjects
from teemark.model import compare
from teemark.model.compare import MARGIN, Limit
from teemark.model.power import ALPHA
from teemark.page import terminal
from teemark.report import comparing
from teemark.report.comparing import Compared, compared, never_fails
from teemark.report.sections.comparison import render
from teemark.run import reader
from teemark.trace import store


@click.command("compare")
@click.argument("base", type=common.PATH)
@click.argument("new", nargs=-1, metavar="NEW...", required=True, type=common.PATH)
@common.option(
    "--fail-on LIMIT",
    "Exit with 1 if a case is known to be worse by so much: 5%, or 1000i (instructions a call).",
)
@common.option("--force", "Compare what should not be compared.")
@common.all_option
@common.form_options("markdown", "html")
def command(
    *,
    base: Path,
    new: tuple[Path, ...],
    fail_on: str | None,
    force: bool,
    everything: bool,
    form: Literal["text", "json", "markdown", "html"],
    output: Path | None,
) -> int:
    """Say of every case that BASE and NEW both measured whether it became better or worse.

    BASE and NEW are runs: their folders, or their run.ndjson. Several NEWs are each compared with
    BASE. Where instructions are counted, a case is better or worse if it differs by more than two
    boots of the same code do, or if all calls into the TEE do. Where times are sampled, an interval
    over the starts decides (`teemark run --rounds 8`); where that doesn't suffice, as in runs of
    one start, the case is `undecided`. Each result says which change would have been seen.

    Runs of an emulated board and of hardware, of instructions and of times, of different plans, and
    truncated runs are refused without --force.

    Exit status: 0 fine; 1 if the runs can't be compared or, with --fail-on, a case is worse by so
    much, or is missing in NEW; 2 for a mistake on the command line.
    """
    limit = common.parse_limit(fail_on) if fail_on is not None else None
    found, forced = _compared([base, *new], limit, force=force)
    failures = [comparing.failures(one.found, limit) if limit else [] for one in found]
    page = partial(render, found, forced, limit)
    show = partial(_show_all, found=found, forced=forced, limit=limit, everything=everything)
    forms = {
        "json": lambda _: json_text(_json(found, forced, limit, failures)),
        "text": lambda _: common.shown(show, plain=bool(output)),
    }
    common.put(forms.get(form, page)(form), output)
    return 1 if any(failures) else 0


def _compared(
    paths: Sequence[Path], limit: Limit | None, *, force: bool
) -> tuple[list[Compared], tuple[str, ...]]:
    """Compares every run with the first; returns them, and what was compared by force."""
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
    found = [compared(about[0], other) for other in about[1:]]
    for one in found:
        if not one.found.pairs:
            raise DataError(
                f"{one.base.run.file} and {one.other.run.file} have no case in common",
                hint="`teemark report` shows what is in a run",
            )
        if limit is not None and (why := never_fails(one.found)) is not None:
            raise UsageMistake(why, hint=comparing.remedy(one.found))
    return found, tuple(against)


def _show_all(
    console: Console,
    *,
    found: Sequence[Compared],
    forced: Sequence[str],
    limit: Limit | None,
    everything: bool,
) -> None:
    """Shows the answer first and the method last, a comparison after the other."""
    for number, of in enumerate(found):
        if number:
            console.print()
        for why in forced:
            paragraph(console, f"! Compared by force: {why}.")
        base, new = comparing.pair_names(of.base.run, of.other.run)
        paragraph(console, f"{base} → {new}")
        rest = "--all lists them"
        terminal.show(console, comparing.blocks(of, limit, rest, everything=everything))
        for remark in comparing.method(of):
            paragraph(console, remark, style="dim")
        paragraph(console, f"base: {comparing.names(of.base.run)}", style="dim")
        paragraph(console, f"new:  {comparing.names(of.other.run)}", style="dim")


def _json(
    found: Sequence[Compared],
    forced: Sequence[str],
    limit: Limit | None,
    failures: Sequence[Sequence[str]],
) -> dict[str, object]:
    base = found[0].base.run
    return {
        "base": base.file,
        "base_origin": base.origin,
        "level": 1 - ALPHA,
        "same_within": MARGIN,
        "forced": forced,
        "fail_on": str(limit) if limit is not None else None,
        "comparisons": [
            {
                "new": one.other.run.file,
                "new_origin": one.other.run.origin,
                "verdict": comparing.verdict(one.found),
                "counts": {said: len(one.found.of(said)) for said in comparing.SIGN},
                "unit": one.other.run.unit,
                **common.picked(one.found, "exact", "starts"),
                "cases": [
                    comparing.case_data(pair) | {"functions": one.functions.get(pair.case)}
                    for pair in one.found.worst_first
                ],
                "only_in_base": one.found.lost,
                "only_in_new": one.found.new,
                "changes": [comparing.change_data(one.other.run, change) for change in one.changes],
                "failures": failed,
            }
            for one, failed in zip(found, failures, strict=True)
        ],
    }
