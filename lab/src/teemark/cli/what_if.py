# SPDX-License-Identifier: BSD-2-Clause
"""`teemark what-if`: the effect of options of OP-TEE's build."""

import re
from pathlib import Path

import click

from teemark.base.console import say, terminal
from teemark.base.errors import TeemarkError, UsageMistake
from teemark.base.work import EMPTY_CALL
from teemark.boards import config
from teemark.boards.config import VirtualConfig
from teemark.cli import common
from teemark.cli.common import argument, option, several, subcommand
from teemark.exact import record, whatif
from teemark.exact.whatif import Variant
from teemark.page.terminal import show
from teemark.report import run_page
from teemark.run.writer import directory_for


@subcommand("what-if")
def command(
    *,
    cases: tuple[str, ...] = argument(nargs=-1, metavar="[CASE]..."),
    options: tuple[str, ...] = several("--option NAME=VALUE", "An option of OP-TEE's build."),
    catalogue: bool = option(
        "--catalogue", "Try each option that hardens or speeds up, and say what it gives up."
    ),
    optee: str | None = common.optee_option,
    patches: tuple[Path, ...] = common.patch_option,
    ta_path: Path | None = common.ta_option,
    board: str = common.exact_board_option,
    out: Path | None = common.out_option("runs/TIME-BOARD-what-if, with a folder for each variant"),
    as_json: bool = option("--json", "All variants and functions, as JSON."),
) -> int:
    """Build OP-TEE with and without each option and patch, trace each CASE on each, and say how
    many instructions a change saves and in which functions.

    Without a CASE, an empty call is traced. Each change is tried alone, and then all of them
    together. Each build is kept, so that another question is quicker.
    With --catalogue each option of a list is tried alone, for an empty call, an open, a digest and
    a signature unless a CASE is named; an option that this version lacks is said and left out.

    Exit status: 0 fine; 1 if a variant can't be built or a case failed.
    """
    if catalogue:
        options = (*options, *(o for o in whatif.CATALOGUE if o not in options))
        cases = cases or whatif.CASES
    cases = cases or (EMPTY_CALL,)
    # A patch is named by its file; no option looks like a file's name.
    by_name = {patch.name: patch for patch in patches}
    changes = (*options, *by_name)
    if not changes:
        raise UsageMistake("nothing to change", hint="name an --option or a --patch")
    if len(set(changes)) < len(options) + len(patches):
        raise UsageMistake("a change is there twice")
    file = config.find(board)
    mine = file.config.options if isinstance(file.config, VirtualConfig) else ()
    variants = whatif.plan_variants(changes, alone=catalogue)
    files = []
    for added in variants:
        words = (*mine, *(word for word in added if word not in by_name))
        applied = [by_name[word] for word in added if word in by_name]
        files.append(record.with_optee(file, optee or "source", words, applied))
    calls = record.TaCalls(*(common.load(ta_path, None) if ta_path is not None else ()))
    # A wrong case is reported before anything is built.
    record.plan_of(cases, record.SAMPLES, plan=calls.plan)
    folder = _folder(out, file.name, own_ta=ta_path is not None)
    say(record.ahead(len(files), len(cases), file))
    built: list[Variant] = []
    status = 0
    for added, variant in zip(variants, files, strict=True):
        place = folder / (re.sub(r"[^A-Za-z0-9_.-]+", "-", "-".join(added))[:200] or "as-it-is")
        try:
            done = None if ta_path is not None else record.kept(variant, cases, place)
            traced = done or record.record(variant, cases, place, calls=calls)
        except (KeyboardInterrupt, SystemExit):
            say(common.kept(len(built), len(files), "trace", folder))
            raise
        except TeemarkError as error:
            if not added:
                raise
            say(f"teemark: {' '.join(added)}: {error.message}")
            # The catalogue has options of all versions.
            status = status if catalogue and "has no option" in error.message else 1
            continue
        run_page.write(
            run_page.make([traced.run], [traced.trace], built[0].trace if built else None), place
        )
        built.append(whatif.Variant(added, traced.trace))
        status = 1 if traced.run.fails or traced.run.skips else status
    if as_json:
        common.put_json({"folder": str(folder), "variants": whatif.data(built)})
    else:
        show(terminal(140), whatif.blocks(built))
        click.echo(f"runs: {folder}")
    return status


def _folder(out: Path | None, board: str, *, own_ta: bool) -> Path:
    if own_ta and out is not None and out.exists() and any(out.iterdir()):
        hint = "name another folder: the traces there may be of older code of the TA"
        raise UsageMistake(f"{out} isn't empty", hint=hint)
    return directory_for(out, board, "what-if")
