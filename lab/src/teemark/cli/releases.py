# SPDX-License-Identifier: BSD-2-Clause
"""`teemark releases`: OP-TEE version by version."""

import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from teemark.base import paths
from teemark.base.console import say
from teemark.base.errors import DataError, TeemarkError, UsageMistake
from teemark.boards import config
from teemark.boards.optee import versions as versions_here
from teemark.cli import common
from teemark.cli.common import option, several, subcommand
from teemark.exact import record
from teemark.exact.record import TaCalls
from teemark.plan import check as plan_check
from teemark.releases import jumps, points, table, versions
from teemark.releases.jumps import Bisected
from teemark.releases.points import Kept, Line
from teemark.releases.site import Site
from teemark.releases.versions import Repository, Version
from teemark.trace import store
from teemark.trace.difference import changes, in_words
from teemark.wording import fmt

FUNCTIONS = 5  # Functions that are named for a commit


@subcommand("releases")
def command(
    *,
    git: Path | None = option(
        "--optee-git DIR",
        "A clone of optee_os, which is only read. Without it nothing is measured: the results in "
        "--results are shown, or those that come with teemark (reference/releases.json).",
        kind=common.TREE,
    ),
    first: str = option("--from REF", "The first version.", default="4.0.0"),
    last: str = option("--to REF", "The last version.", default="HEAD"),
    step: int | None = option("--every N", "Every Nth commit, not the releases' tags."),
    debian: bool = option("--debian", "Also the virtual board's own, Debian's package."),
    plan: str | None = option("--plan NAME", "What to measure. [default: releases]"),
    ta_path: Path | None = common.ta_option,
    options: tuple[str, ...] = several(
        "--optee-option NAME=VALUE", "Build all versions with this option."
    ),
    board: str = common.exact_board_option,
    shard: str | None = option("--shard I/N", "Measure only this part of the versions."),
    retry: bool = option("--retry", "Try again what couldn't be built or measured."),
    case: str | None = option(
        "--bisect CASE", "Find the commit of the largest jump of this case within the versions."
    ),
    threshold: str = option(
        "--threshold SHARE", "Change from one version to the next that is a jump.", default="5%"
    ),
    prune: int | None = option("--prune N", "Then keep only the N builds of OP-TEE used last."),
    site_folder: Path | None = option(
        "--site FOLDER", "Write a site of all results there.", kind=common.FOLDER
    ),
    out: Path | None = option(
        "--results DIR",
        "Folder of the results, or a file that --json wrote. [default: runs/releases]",
        kind=common.PATH,
    ),
    everything: bool = common.all_option,
    form: str = common.form_option("markdown"),
    output: Path | None = common.output_option,
) -> int:
    """Build versions of OP-TEE, boot each, measure the plan, and say where calls became dearer.

    Each version is built with one compiler and one configuration, and our Trusted Applications
    with its kit. A version that can't be built, booted or measured is in the table with its reason.
    Results are kept by content in --results: an interrupted command goes on where it was, and what
    was measured once is not measured again. --bisect halves the commits between two neighbours, and
    passes over commits that can't be measured.

    Exit status: 0 fine; 1 if a version couldn't be measured.
    """
    limit = common.parse_limit(threshold, "--threshold").share
    if limit is None:
        raise UsageMistake(f"--threshold {threshold} is no share", hint="such as 5%")
    place = out or _default(measured=git is not None)
    if git is None and (case or shard or retry or ta_path):
        raise UsageMistake("that takes versions to measure", hint="name a clone by --optee-git")
    if place.is_file() and git is not None:
        raise UsageMistake(f"{place} is a file, which is only shown", hint="name a folder")
    if git is not None:
        calls = TaCalls(*common.load(ta_path, plan or (None if ta_path else "releases")))
        plan_check.check(calls.plan)
        file = record.with_optee(config.find(board), None, ())
        line = Line(file, Repository(git), calls.plan, place, calls, options)
        ends = line.repository.version(first), line.repository.version(last)
        if step is not None:
            chosen = line.repository.every(first, last, step)
        else:
            chosen = line.repository.releases(first, last)
        chosen = versions.part(chosen, shard)
        measured = [line.measure(version, retry=retry) for version in chosen]
        if debian:
            line.measure(line.repository.packaged(versions_here()["optee-os"]), retry=retry)
        if case is not None:
            _bisect(line, case, points.whole(measured), limit, ends)
    shown = points.releases(place)
    if prune is not None:
        say(f"teemark: {fmt.plural(points.prune(prune), 'build')} removed")
    if not shown:
        raise DataError(f"{place} has no results", hint="measure versions: --optee-git DIR")
    bisections = jumps.bisections(place)
    found = jumps.jumps(shown, limit, bisections)
    if site_folder is not None:
        Site(shown, found, bisections, limit).write(site_folder)
        say(f"teemark: site: {site_folder / 'index.html'}")
    blocks = partial(table.blocks, shown, found, everything=everything or form == "markdown")
    common.put_blocks(form, output, blocks, partial(table.data, shown, found, bisections))
    return 1 if any(kept.point.reason for kept in shown) else 0


def _default(*, measured: bool) -> Path:
    """Returns the user's results; where there are none, those that come with teemark."""
    place = paths.runs() / "releases"
    return place if measured or place.is_dir() else paths.reference() / "releases.json"


def _bisect(
    line: Line, case: str, measured: Sequence[Kept], limit: float, ends: tuple[Version, Version]
) -> None:
    if case not in line.plan.keys:
        raise UsageMistake(
            f"{line.plan.name} has no case {case}",
            hint=f"`teemark plan show {line.plan.name}` lists its cases",
        )
    found = [jump for jump in jumps.jumps(measured, limit) if jump.pair.case == case]
    if not found:
        raise DataError(
            f"{case} has no jump from {ends[0].name} to {ends[1].name}",
            hint="a smaller one may be asked for by --threshold 1%",
        )
    around = found[0].before.point.version, found[0].after.point.version
    commits = [line.repository.version(each) for each in line.repository.between(*around)]
    say(f"teemark: {case}: {len(commits)} commits from {around[0].name} to {around[1].name}")

    def costs(version: Version) -> float | None:
        value = line.measure(version, release=False).cost(case)
        figure = "not measured" if value is None else f"{table.figure(value)} instructions"
        say(f"teemark: {version.name} {version.date} {version.title[:60]}: {figure}")
        return value

    bisected = jumps.bisect(case, around, commits, costs)
    jumps.keep(line.place, bisected)  # before it is traced, which takes minutes
    if len(bisected.found) == 1:
        jumps.keep(line.place, _with_functions(line, bisected))


def _with_functions(line: Line, bisected: Bisected) -> Bisected:
    traces = []
    for version in (bisected.previous, bisected.found[0]):
        folder = line.folder(version) / "trace"
        if (kept := store.find(folder)) is None:
            shutil.rmtree(folder, ignore_errors=True)
            try:
                images = line.build(version).optee.images
                file = record.with_optee(line.file, str(images.parent), ())
                kept = record.record(
                    file, [bisected.case], folder, 1, calls=line.calls, beginning=True
                ).trace
            except TeemarkError as error:
                say(f"teemark: no functions: {error.message}")
                return bisected
        traces.append(kept.case(bisected.case))
    if traces[0] is None or traces[1] is None:
        return bisected
    words = in_words(changes(traces[0], traces[1]), FUNCTIONS)
    return msgspec.structs.replace(bisected, functions=words)
