# SPDX-License-Identifier: BSD-2-Clause
"""`teemark memory`: what Trusted Applications take of the TEE's memory."""

import re
import tempfile
from pathlib import Path

import click

from teemark.base.console import terminal
from teemark.base.errors import UsageMistake
from teemark.boards import config
from teemark.cli import common
from teemark.cli.common import argument, option, several, subcommand
from teemark.exact import memory, record
from teemark.exact.memory import Measured
from teemark.measure.watching import Program
from teemark.page.terminal import show
from teemark.report import memory_page


@subcommand("memory", cls=common.WithProgram)
def command(
    *,
    cases: tuple[str, ...] = argument("[CASE]... [-- PROGRAM [ARG]...]", nargs=-1),
    plan: str | None = option("--plan NAME", "The plan's cases. [default with --ta: its own]"),
    ta_path: Path | None = common.ta_option,
    fit: tuple[str, ...] = several(
        "--fit UUID",
        "Open sessions with this TA until the TEE refuses. [default: that of --ta]",
    ),
    least: bool = option(
        "--least", "Build the TA of --ta with less and less stack and heap, until a call fails."
    ),
    push: tuple[Path, ...] = common.push_option,
    board: str = common.board_option("qemu-v8-icount", "Any; one that counts sees stacks, too."),
    optee: str | None = common.optee_option,
    as_json: bool = option("--json", "All figures, as JSON."),
) -> int:
    """Say how much memory each CASE takes in the TEE, how much stack and heap of its TA, and how
    many sessions fit.

    The TEE's own statistics (CFG_WITH_STATS) say what its pools gave away before, in and after
    each call. On a board that counts instructions, every access to memory is recorded, too, from
    the first session on: how deep each stack went, and how far the heap was used. The TA needs no
    rebuild for that.

    With -- PROGRAM: run that program on the board, as it is, and say the same of its calls.

    Exit status: 0 fine; 1 if a case or the program failed, or if less than a tenth of a TA's stack
    is left.
    """
    file = config.find(board)
    if optee is not None:
        file = record.with_optee(file, optee, ())
    if argv := click.get_current_context().meta["program"]:
        if cases or plan or ta_path or fit or least:
            raise UsageMistake(
                "a program is looked at alone: no CASE or option but --push, --optee"
            )
        with tempfile.TemporaryDirectory(prefix="teemark-memory-") as folder:
            program = Program(argv, tuple(path.absolute() for path in push))
            measured, ran = memory.of_program(file, program, Path(folder))
        return max(_show(measured, as_json=as_json), int(ran.status != 0))
    calls = record.TaCalls()
    if plan is not None or ta_path is not None:
        calls = record.TaCalls(*common.load(ta_path, plan))
    # A key of the plan stands for the plan's case, which says what to call.
    named = record.plan_of(cases, 1, plan=calls.plan).cases[1:] if cases else calls.plan.cases
    uuids = fit or ((calls.plan.ta,) if calls.plan.ta is not None and not least else ())
    if not named and not uuids:
        raise UsageMistake(
            "nothing to look at",
            hint="name a CASE such as invoke/none/tee/none, a --plan, --ta DIR or --fit UUID",
        )
    for text in uuids:
        if not re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", text):
            raise UsageMistake(f"--fit {text} is no UUID", hint=f"such as {memory.PKCS11}")
    return _show(memory.measure(file, named, uuids, calls, least=least), as_json=as_json)


def _show(measured: Measured, *, as_json: bool) -> int:
    if as_json:
        common.put_json(measured)
    else:
        show(terminal(140), memory_page.blocks(measured))
    return 1 if measured.failed or memory_page.scarce(measured) else 0
