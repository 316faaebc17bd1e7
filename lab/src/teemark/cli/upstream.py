# SPDX-License-Identifier: BSD-2-Clause
"""`teemark upstream`: do our findings in OP-TEE still hold in a tree?"""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import msgspec

from teemark.base.checked import read_text
from teemark.base.console import say
from teemark.base.errors import BoardError, UsageMistake, meant
from teemark.base.files import write_whole
from teemark.boards import config, optee_tree
from teemark.boards.config import BoardFile
from teemark.cli import common
from teemark.cli.common import argument, option, subcommand
from teemark.exact import record
from teemark.page.blocks import Block, Bullets, Code, Paragraph, Strong, Table, left, right
from teemark.releases import upstream
from teemark.releases.points import FASTER
from teemark.releases.upstream import Looked
from teemark.releases.versions import Repository
from teemark.run.writer import directory_for
from teemark.wording import fmt


@subcommand("upstream")
def command(
    *,
    tree: Path = argument("TREE", type=common.TREE),
    names: tuple[str, ...] = argument("[FINDING]...", nargs=-1),
    at: str | None = option("--at REF", "TREE is a git repository: its files at this commit."),
    measure: bool = option(
        "--measure", "Build TREE as it is and with each mend, and trace the finding's call."
    ),
    patches: Path | None = option(
        "--patches DIR", "Write the mends of what holds there, as patches.", kind=common.FOLDER
    ),
    board: str = common.exact_board_option,
    form: str = common.form_option("markdown"),
    output: Path | None = common.output_option,
) -> int:
    """Look whether our findings in OP-TEE (reference/upstream.toml) still hold in a source tree.

    A finding holds if the line that is wrong stands in its function; it is mended if the better
    line does. With --measure the mend is carried out in a copy, and its call is counted with and
    without it. Nothing is written into TREE.

    Exit status: 0 if none holds; 1 if one does, or has to be looked at.
    """
    findings = {finding.name: finding for finding in upstream.load()}
    for name in names:
        if name not in findings:
            hint = f"{meant(name, findings)}there are: {', '.join(findings)}"
            raise UsageMistake(f"there is no finding {name}", hint=hint)
    with ExitStack() as stack:
        if at is not None:
            repository = Repository(tree)
            tree = stack.enter_context(repository.checked_out(repository.version(at)))
        if not optee_tree.is_tree(tree):
            raise UsageMistake(
                f"{tree} has no source of OP-TEE", hint="name its top folder, or a commit by --at"
            )
        rows = [upstream.look(tree, findings[name]) for name in names or findings]
        if measure:
            file, folder = config.find(board), directory_for(None, board, "upstream")
            rows = [_measured(file, tree, row, folder) for row in rows]
    for row in rows:
        if patches is not None and row.patch:
            write_whole(patches / f"{row.finding.name}.patch", row.patch)
    common.put_blocks(form, output, lambda: _blocks(rows), lambda: msgspec.to_builtins(rows))
    return 1 if any(row.state in ("holds", "rewritten") for row in rows) else 0


def _measured(file: BoardFile, tree: Path, row: Looked, folder: Path) -> Looked:
    finding = row.finding
    if not row.patch or not finding.case:
        return row
    patch, config = folder / f"{finding.name}.patch", read_text(tree / "mk" / "config.mk")
    options = (*([FASTER] if FASTER.partition("=")[0] in config else []), *finding.options)
    write_whole(patch, row.patch)
    counts = []
    for name, patches in (("before", []), ("after", [patch])):
        variant = record.with_optee(file, str(tree.absolute()), options, patches)
        place = folder / f"{finding.name}-{name}"
        try:
            trace = record.record(variant, [finding.case], place, 1, beginning=True).trace
        except BoardError as error:
            say(f"teemark: {finding.name}, {name}: {error.message}")
            return row
        case = trace.case(finding.case)
        counts.append(case.instructions if case is not None else None)
    return replace(row, before=counts[0], after=counts[1])


def _blocks(rows: list[Looked]) -> list[Block]:
    holding = [row for row in rows if row.state == "holds"]
    answer = f"{len(holding)} of {fmt.plural(len(rows), 'finding')} still hold"
    answer += ": " * bool(holding) + ", ".join(row.finding.name for row in holding) + "."
    lines = []
    for row in rows:
        share = fmt.NONE
        if row.before and row.after is not None:
            share = fmt.signed(row.after / row.before - 1)
        counts = [fmt.count(n) if n is not None else fmt.NONE for n in (row.before, row.after)]
        name = (Code(row.finding.name),)
        lines.append((name, row.state, row.finding.case, *counts, share))
    heads = (*left("finding", "state", "call"), *right("as it is", "mended", "change"))
    mends = []
    for mend in (mend for row in holding for mend in row.finding.mend):
        place = mend.file + (f", {mend.function}()" if mend.function else "")
        becomes = (Code(mend.before), " becomes ", Code(mend.after or "nothing"))
        mends.append((Code(place), ": ", *becomes))
    shown: list[Block] = [Paragraph((Strong(answer),)), Table(heads, lines)]
    return [*shown, Bullets(tuple(mends))] if mends else shown
