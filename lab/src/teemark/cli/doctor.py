# SPDX-License-Identifier: BSD-2-Clause
"""teemark doctor BOARD"""

import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files

import click

from teemark.base.console import paragraph, say, table_row, terminal, working
from teemark.base.errors import TeemarkError
from teemark.base.finding import Finding
from teemark.base.sanitize import harmless
from teemark.boards import Board, ensure_installed, open_board, own_ta
from teemark.cli.common import board_argument, option, picked, put_json, subcommand
from teemark.doctor import look
from teemark.doctor.facts import ExaminedBoard
from teemark.doctor.inventory import inventory
from teemark.doctor.rules import examine, meaningful
from teemark.wording import fmt


@subcommand("doctor")
def command(
    board: str = board_argument,
    as_json: bool = option("--json", "Everything that was found, as JSON."),
    everything: bool = option("--all", "The whole inventory of a healthy board."),
    accelerators: bool = option(
        "--accelerators", "Have tcrypt and AF_ALG ask the kernel's crypto devices; needs root."
    ),
) -> int:
    """Say what is wrong with a board, why, and what to do about it.

    Looks at the TEE and its Trusted Applications, the kernel's crypto, OpenSSL, the CPU's clock,
    heat and load, and at what else can spoil a measurement. Changes nothing, but installs teebench
    and the Trusted Applications where teebench isn't there at all, as `teemark run` does.

    Exit status: 0 if a benchmark would mean something; 1 if not.
    """
    target = open_board(board)
    if accelerators:
        script = files("teemark.doctor").joinpath("accelerators.sh").read_text(encoding="utf-8")
        with own_ta.ready_board(target), working("asking the accelerators …"):
            answer = target.script(script, check=False)
        click.echo(harmless(answer.text), nl=False)
        return min(answer.status, 1)
    with working(f"reaching {target.name} …") as tell, target:
        board_facts, problems = _examine(target, tell if sys.stderr.isatty() else say)
    if as_json:
        facts = picked(board_facts, "machine", "tas", "openssl") if board_facts else _UNKNOWN
        about = {"board": target.name, "meaningful": meaningful(problems), "findings": problems}
        put_json(about | facts)
    else:
        _tell(target.name, board_facts, problems, everything=everything)
    return 0 if meaningful(problems) else 1


_AS_ROOT = "log in as root, or name a folder that this user may write in the board file: directory"

_UNKNOWN: dict[str, object] = {"machine": None, "tas": [], "openssl": []}


def _examine(
    target: Board, tell: Callable[[str], None] = say
) -> tuple[ExaminedBoard | None, tuple[Finding, ...]]:
    wrong = look.program(target)
    if wrong is not None and wrong.key == look.ABSENT:
        try:
            ensure_installed(target, tell=tell)
        except TeemarkError as error:
            # The remedy of an absent teebench, `setup`, has just failed; the error knows another.
            return None, (replace(wrong, evidence=error.message, remedy=error.hint or _AS_ROOT),)
        wrong = look.program(target)
    if wrong is not None:
        return None, (wrong,)
    board_facts = look.look(target)
    return board_facts, examine(board_facts)


_HEADS = {"error": "✗", "caution": "!", "note": "·"}


def _tell(
    name: str, board_facts: ExaminedBoard | None, problems: tuple[Finding, ...], *, everything: bool
) -> None:
    console = terminal()
    if board_facts is not None:
        for label, value in inventory(board_facts, everything=everything):
            table_row(console, harmless(f"{label:<16} {value}"), indent=" " * 17)
        console.print()
    for problem in problems:
        table_row(console, harmless(f"{_HEADS[problem.severity]} {problem.claim}"), indent="  ")
        for label, text in (("why:", problem.why), ("seen:", problem.evidence)):
            table_row(console, harmless(f"    {label:<7}{text}"), indent=" " * 11)
        # Findings may have commands to copy, so their lines aren't broken.
        remedy = problem.remedy.replace("\n", "\n" + " " * 11)
        console.print(harmless(f"    do:    {remedy}"), markup=False, soft_wrap=True)
    if problems:
        console.print()
    if meaningful(problems):
        note = f" ({fmt.plural(len(problems), 'thing')} worth knowing)" if problems else ""
        paragraph(console, f"{name} is well: a benchmark means something{note}.")
        return
    bad = fmt.plural(sum(problem.severity != "note" for problem in problems), "problem")
    means = "to solve before a benchmark means something"
    paragraph(console, f"{name} needs attention: {bad} {means}.")
