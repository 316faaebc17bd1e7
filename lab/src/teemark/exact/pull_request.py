# SPDX-License-Identifier: BSD-2-Clause
"""Builds and traces two commits of OP-TEE, and makes one comment for a pull request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from teemark.base import paths
from teemark.base.errors import UsageMistake
from teemark.boards import optee_tree
from teemark.boards.config import BoardFile
from teemark.exact import record, whatif
from teemark.exact.record import TracedRun
from teemark.exact.whatif import Cell
from teemark.model.compare import unlike
from teemark.page.blocks import Block, Bullets, Code, Paragraph, Strong, Table, left, right
from teemark.trace.difference import in_words
from teemark.wording import fmt

CASES = (
    "invoke/none/tee/none",
    "session/open/tee/none",
    "oneshot/sha256/tee/4096",
    "storage/read/tee-ree-fs/256",
)
FUNCTIONS = 5
SAME = 0.001  # Relative difference of boots of one code whose timer ticks within a call


@dataclass(frozen=True, slots=True)
class ComparedCommits:
    base: str  # short names of the two commits
    head: str
    cells: Mapping[str, Cell]  # by case key
    gone: tuple[str, ...]  # cases that one commit has no trace of
    settings: tuple[str, ...]  # settings of the build that differ

    def dearer(self, limit: float) -> tuple[str, ...]:
        """Returns the cases whose instructions grew by more than `limit`, a share of the base's."""
        return tuple(case for case, cell in self.cells.items() if cell.share > limit)


def measure(
    file: BoardFile, tree: Path, commits: tuple[str, str], cases: Sequence[str], directory: Path
) -> ComparedCommits:
    """Builds and traces two commits. Raises UsageMistake if `tree` is no git tree of OP-TEE,
    BoardError if a commit is missing or can't be built, DataError if a run can't be traced."""
    if not optee_tree.is_tree(tree) or not (tree / ".git").exists():
        raise UsageMistake(
            f"{tree} is no git tree of OP-TEE's source", hint="name a clone of optee_os by --optee"
        )
    record.plan_of(cases, record.SAMPLES)  # a wrong key raises an error before the builds
    names, traced = [], []
    for commit in commits:
        place = paths.optee_builds() / "commits" / "checkout"
        names.append(optee_tree.check_out(tree, commit, place))
        variant = record.with_optee(file, str(place), ())
        traced.append(record.record(variant, cases, directory / names[-1]))
    return compared(names, traced)


def compared(names: Sequence[str], traced: Sequence[TracedRun]) -> ComparedCommits:
    """Compares two traces: `traced` and `names` are first the base's, then the head's."""
    base, head = (build.trace for build in traced)
    keys = dict.fromkeys(case.case for case in (*base.cases, *head.cases))
    by_case = {key: whatif.compare(base, head, key) for key in keys}
    cells = {key: cell for key, cell in by_case.items() if cell is not None}
    gone = tuple(key for key in by_case if key not in cells)
    return ComparedCommits(names[0], names[1], cells, gone, _settings(traced))


def _settings(traced: Sequence[TracedRun]) -> tuple[str, ...]:
    """Returns the settings that differ between the builds of the two cores."""
    settings = []
    for build in traced:
        images = build.run.run.firmware if build.run.run is not None else ()
        core = next((image for image in images if image.name == "OP-TEE"), None)
        flags = {"compiler's flags": core.flags} if core is not None and core.flags else {}
        settings.append(({**core.configuration} if core is not None else {}) | flags)
    differs = sorted(unlike(settings[0], settings[1], "not set").items())
    return tuple(f"{name}: {before} → {after}" for name, (before, after) in differs)


def blocks(commits: ComparedCommits, limit: float, again: str) -> list[Block]:
    """Returns the comment, which begins with the answer. `again` is the command that repeats it."""
    ordered = sorted(commits.cells.items(), key=lambda pair: -abs(pair[1].share))
    moved = [(case, cell) for case, cell in ordered if abs(cell.share) > SAME]
    made: list[Block] = [Paragraph((Strong(_answer(commits, moved, limit)),))]
    rows = tuple(
        (case, fmt.count(cell.before), fmt.count(cell.instructions), fmt.signed(cell.share, 2))
        for case, cell in ordered
    )
    heads = (*left("call"), *right(commits.base, commits.head, "change"))
    made.append(Table(heads, rows))
    changed = [(f"{case}: {in_words(cell.changed, FUNCTIONS)}",) for case, cell in moved]
    if changed:
        made.append(Bullets(tuple(changed)))
    if commits.gone:
        made.append(Paragraph((f"Not measured on both: {', '.join(commits.gone)}.",)))
    if commits.settings:
        settings = tuple((line,) for line in commits.settings)
        made += [Paragraph(("The builds' configurations differ:",)), Bullets(settings)]
    why = (
        "Instructions of a call on the board that counts them, through all exception levels; "
        "caches and pipelines aren't in it. Again: "
    )
    return [*made, Paragraph((why, Code(again)))]


def _answer(commits: ComparedCommits, moved: Sequence[tuple[str, Cell]], limit: float) -> str:
    if not moved:
        calls = fmt.plural(len(commits.cells), "call")
        return f"{commits.head} changes none of {calls} against {commits.base}."
    dearer = sum(cell.share > 0 for _, cell in moved)
    case, cell = moved[0]
    words = f"{commits.head} against {commits.base}: {len(moved) - dearer} of {len(commits.cells)} "
    words += f"calls take fewer instructions, {dearer} more; most of all {case}, "
    words += f"{fmt.signed(cell.share, 2)}."
    over = commits.dearer(limit)
    return words + (f" Above the limit of {fmt.share(limit)}: {', '.join(over)}." if over else "")
