# SPDX-License-Identifier: BSD-2-Clause
"""`teemark trace`: one call, instruction by instruction."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click


@click.command("trace")
@click.argument("cases", nargs=-1, metavar="[CASE]...")
@click.option("--plan", "plan_word", metavar="NAME", help="Every case of a plan.")
@click.option("--board", "board_word", metavar="NAME", default="qemu-v8-icount", show_default=True)
@click.option(
    "-o",
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the run. [default: runs/TIME-BOARD-trace]",
)
@click.option("--optee", metavar="WHICH", help="debian, source, or the folder of a build.")
@click.option(
    "--optee-option",
    "options",
    metavar="NAME=VALUE",
    multiple=True,
    help="Of OP-TEE from source, such as CFG_CRYPTO_WITH_CE=y.",
)
@click.option("--tfa", metavar="FOLDER", help="A build of TF-A: …/build/qemu/release.")
@click.option("--samples", type=click.IntRange(1, 100), default=3, show_default=True)
@click.option("--top", type=click.IntRange(1), default=12, show_default=True, help="Functions.")
def command(
    cases: tuple[str, ...],
    plan_word: str | None,
    board_word: str,
    out: Path | None,
    optee: str | None,
    options: tuple[str, ...],
    tfa: str | None,
    samples: int,
    top: int,
) -> int:
    """Record every instruction of one call of each CASE, from the program through kernel, TF-A and
    OP-TEE into the TA and back, and say where they went.

    A CASE is a key such as invoke/none/tee/none or oneshot/sha256/tee/4096. The board must be one
    that counts instructions. Writes a run like any other, with trace.json beside it.

    Exit status: 0 fine, 1 if a case failed or can't be traced, 2 for a wrong word on the command
    line.
    """
    from teemark import paths, plan, runner
    from teemark.boards import config
    from teemark.console import say
    from teemark.errors import UsageMistake
    from teemark.report import report
    from teemark.run import reader
    from teemark.run.writer import point_latest
    from teemark.trace import record, table

    keys = list(cases)
    if plan_word is not None:
        keys += record.keys_of(plan.load(plan_word))
    if not keys:
        raise UsageMistake(
            "no case to trace", hint="name one, such as invoke/none/tee/none, or a --plan"
        )
    file = record.with_optee(config.find(board_word), optee, options, tfa)
    directory = out or runner.default_directory(paths.runs(), file.name, "trace", datetime.now(UTC))
    if (directory / reader.RUN_FILE).exists():
        raise UsageMistake(
            f"there is a run in {directory} already",
            hint="runs are never overwritten: name another folder with --out",
        )
    traced = record.record(file, keys, directory, samples)
    if out is None:
        point_latest(directory)
    report.write(report.make([traced.run]), directory)
    if traced.error is not None:
        raise traced.error
    for skip in traced.run.skips:
        say(f"teemark: {skip.case} can't run here: {skip.reason}")
    for fail in traced.run.fails:
        say(f"teemark: {fail.case} failed: {fail.reason}")
    if traced.trace is None:
        say(f"teemark: the run is incomplete: {traced.run.incomplete}")
        return 1
    table.show(traced.trace, top=top)
    click.echo(f"run: {directory}")
    return 1 if traced.run.fails or len(traced.trace.cases) < len(set(keys)) else 0
