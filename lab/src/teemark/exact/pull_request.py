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
from teemark.git import git
from teemark.model.compare import LIMIT, Verdict, readings, shifted, slack, unlike, with_verdict
from teemark.model.stats import exactly
from teemark.page.blocks import Block, Bullets, Code, Paragraph, Strong, Table, left, right
from teemark.run.records import Firmware
from teemark.trace.difference import held_grew, in_words
from teemark.wording import fmt

CASES = (
    "invoke/none/tee/none",
    "session/open/tee/none",
    "oneshot/sha256/tee/4096",
    "storage/read/tee-ree-fs/256",
)
FUNCTIONS = 5
SAME = LIMIT  # For what a run has no steady figure of, such as a part of teehash's step


@dataclass(frozen=True, slots=True)
class ComparedCommits:
    base: str  # short names of the two commits
    head: str
    cells: Mapping[str, Cell]  # by case key
    verdicts: Mapping[str, Verdict]  # by case key, as `compare` judges
    gone: tuple[str, ...]  # cases that one commit has no trace of
    settings: tuple[str, ...]  # settings of the build that differ
    built: str  # how the head was built, in words

    def dearer(self, limit: float) -> tuple[str, ...]:
        """Returns the cases whose instructions grew by more than `limit`, a share of the base's."""
        return tuple(
            case
            for case, cell in self.cells.items()
            if self.verdicts[case] == "worse" and cell.share > limit
        )

    def held_longer(self, limit: float) -> tuple[str, ...]:
        """Returns the cases whose longest stretch with interrupts held off grew by more than
        `limit`, a share of the base's."""
        return tuple(case for case, cell in self.cells.items() if held_grew(*cell.held, limit))


def last_release(tree: Path, commit: str) -> str:
    """Returns the tag of the last release before a commit, or at it; UsageMistake if none is."""
    words = ("describe", "--tags", "--abbrev=0", "--match", "[0-9]*.[0-9]*.[0-9]*")
    tag = git(tree, *words, "--exclude", "*-*", commit)
    if not tag:
        raise UsageMistake(
            f"{tree} has no release before {commit}", hint="fetch its tags: git fetch --tags"
        )
    return tag


def check(tree: Path, cases: Sequence[str]) -> None:
    """Raises UsageMistake if `tree` is no git tree of OP-TEE, or a case's key is wrong."""
    if not optee_tree.is_tree(tree) or not (tree / ".git").exists():
        raise UsageMistake(
            f"{tree} is no git tree of OP-TEE's source", hint="name a clone of optee_os by --optee"
        )
    record.plan_of(cases, record.SAMPLES)


def measure(
    file: BoardFile, tree: Path, commits: Sequence[str], cases: Sequence[str], directory: Path
) -> list[ComparedCommits]:
    """Builds and traces commits, and compares the last one with each other. Raises BoardError if a
    commit is missing or can't be built, DataError if a run can't be traced."""
    names, traced = [], []
    for commit in commits:
        with optee_tree.checked_out(tree, commit, paths.optee_builds()) as place:
            names.append(place.name)
            variant = record.with_optee(file, str(place), ())
            folder = directory / place.name
            done = record.kept(variant, cases, folder) or record.record(variant, cases, folder)
            traced.append(done)
    pairs = zip(names[:-1], traced[:-1], strict=True)
    return [compared((name, names[-1]), (build, traced[-1])) for name, build in pairs]


def compared(names: Sequence[str], traced: Sequence[TracedRun]) -> ComparedCommits:
    """Compares two traces: `traced` and `names` are first the base's, then the head's."""
    base, head = (build.trace for build in traced)
    keys = dict.fromkeys(case.case for case in (*base.cases, *head.cases))
    by_case = {key: whatif.compare(base, head, key) for key in keys}
    cells = {key: cell for key, cell in by_case.items() if cell is not None}
    gone = tuple(key for key in by_case if key not in cells)
    cores = [_core(build) for build in traced]
    built = f"{cores[1].compiler}, {fmt.plural(len(cores[1].configuration), 'setting')}"
    verdicts = _verdicts(traced, cells)
    return ComparedCommits(names[0], names[1], cells, verdicts, gone, _settings(cores), built)


def _verdicts(traced: Sequence[TracedRun], cells: Mapping[str, Cell]) -> dict[str, Verdict]:
    """Returns what `compare` would say of each case: by how far two boots of one build may differ,
    and by what all calls share. What a run has no steady figure of is the same within SAME."""
    before, after = (readings(build.run) for build in traced)
    pairs = [
        with_verdict(
            after[case].difference(exactly(cell.before), exactly(cell.instructions)),
            *slack(cell.before, before[case], after[case]),
        )
        for case, cell in cells.items()
        if all(case in side and side[case].steady for side in (before, after))
    ]
    verdicts: dict[str, Verdict] = {
        case: "same" if abs(cell.share) <= SAME else "worse" if cell.share > 0 else "better"
        for case, cell in cells.items()
    }
    return verdicts | {pair.case: pair.verdict for pair in shifted(pairs)}


def _core(build: TracedRun) -> Firmware:
    images = build.run.header.firmware if build.run.header is not None else ()
    return next((image for image in images if image.name == "OP-TEE"), Firmware(name="", sha256=""))


def _settings(cores: Sequence[Firmware]) -> tuple[str, ...]:
    settings = [
        {**core.configuration} | ({"compiler's flags": core.flags} if core.flags else {})
        for core in cores
    ]
    differs = sorted(unlike(settings[0], settings[1], "not set").items())
    return tuple(f"{name}: {before} → {after}" for name, (before, after) in differs)


def blocks(commits: ComparedCommits, limit: float, again: str) -> list[Block]:
    """Returns the comment, which begins with the answer. `again` is the command that repeats it."""
    ordered = sorted(commits.cells.items(), key=lambda pair: -abs(pair[1].share))
    moved = [(case, cell) for case, cell in ordered if commits.verdicts[case] != "same"]
    shown: list[Block] = [Paragraph((Strong(_answer(commits, moved, limit)),))]
    if longer := commits.held_longer(limit):
        words = "Interrupts of the normal world are held off longer: "
        shown.append(Paragraph((Strong(f"{words}{', '.join(longer)}."),)))
    rows = []
    for case, cell in ordered:
        counts = map(fmt.count, (cell.before, cell.instructions))
        change = fmt.signed(cell.share, 2) if cell.share else "0"
        held = whatif.held_in_words(cell)
        rows.append((case, *counts, change, commits.verdicts[case], held))
    heads = (*left("call"), *right(commits.base, commits.head, "change"), *left("verdict"))
    heads += right("interrupts held off for up to", optional=True)
    shown.append(Table(heads, rows))
    changed = [(f"{case}: {in_words(cell.changed, FUNCTIONS)}",) for case, cell in moved]
    if changed:
        shown.append(Bullets(tuple(changed)))
    if commits.gone:
        shown.append(Paragraph((f"Not measured on both: {', '.join(commits.gone)}.",)))
    if commits.settings:
        settings = tuple((line,) for line in commits.settings)
        shown += [Paragraph(("The builds' configurations differ:",)), Bullets(settings)]
    why = (
        "Instructions of a call on the board that counts them, through all exception levels; "
        f"caches and pipelines aren't in it. Built by {commits.built}"
        f"{'' if commits.settings else ', the same in both'}. Again: "
    )
    return [*shown, Paragraph((why, Code(again)))]


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
