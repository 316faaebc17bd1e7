# SPDX-License-Identifier: BSD-2-Clause
"""The gate measures a plan on the exact board and compares it with the baseline. If a case got
dearer, the plan is measured again on a fresh boot, since boots differ; at the same time one case of
each change is traced, to name the functions that changed."""

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from teemark.base import paths
from teemark.base.checked import read_text
from teemark.base.console import say, working
from teemark.base.errors import DataError, UsageMistake
from teemark.boards import VirtualBoard, own_ta
from teemark.boards.config import BoardFile
from teemark.boards.optee import made_by
from teemark.exact import baseline as baselines
from teemark.exact import record
from teemark.exact.baseline import (
    OTHERS,
    Baseline,
    Functions,
    function_changes,
    held_against,
)
from teemark.exact.record import TaCalls
from teemark.measure import runner
from teemark.model.changes import Change, changes
from teemark.model.compare import Comparison, Limit, unlike
from teemark.plan.file import Plan
from teemark.run import reader
from teemark.run.reader import RunData
from teemark.trace.difference import held_grew
from teemark.trace.profile import CaseTrace
from teemark.trace.window import HASHING
from teemark.wording import fmt

TRACED = 8  # Most changes that are traced, by one case each


@dataclass(frozen=True, slots=True)
class Gated:
    """The outcome of a gate. If `other` isn't None, versions differ from the baseline's, and
    nothing was measured."""

    found: Comparison | None = None
    other: Mapping[str, tuple[str, str]] | None = None
    """The versions that differ, by name: the baseline's and the present one."""
    functions: Mapping[str, str] = field(default_factory=dict)
    """Words for the changed functions of each traced case."""
    held: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """The longest stretch with interrupts held off where it grew, in the baseline and now."""

    def why(self, change: Change) -> tuple[str, str]:
        """Returns the traced case of a change, and how its functions changed, in words; two empty
        strings if none was traced."""
        case = next((pair.case for pair in change.cases if pair.case in self.functions), "")
        return case, self.functions.get(case, "")


def read(file: Path) -> Baseline:
    if not file.exists():
        raise UsageMistake(
            f"{file}: no such file", hint=f"`teemark gate --baseline {file} --update` makes it"
        )
    return baselines.parse(read_text(file), str(file))


def differing(baseline: Baseline, file: BoardFile) -> dict[str, tuple[str, str]]:
    """Returns the versions that differ, by name: the baseline's and the present one."""
    return unlike(baseline.by, made_by(file))


def measure(board: VirtualBoard, plan: Plan, folder: Path) -> RunData:
    """Measures the plan on an open board. DataError if a case failed, or the run isn't whole."""
    outcome = runner.measure(board, plan, folder, runner.RunListener())
    if outcome.error is not None:
        raise outcome.error
    run = reader.read(outcome.file)
    if run.incomplete is not None:
        raise DataError(f"the run is incomplete: {run.incomplete}")
    for fail in run.fails:
        raise DataError(f"{fail.case} failed: {fail.reason}")
    if run.tee_refused:
        raise DataError(f"the TEE couldn't be used: {run.tee_refused[0].reason}")
    return run


def traced(file: BoardFile, calls: TaCalls, keys: Sequence[str]) -> dict[str, list[CaseTrace]]:
    """Returns the traces of each case; a step of teehash has several, of its parts. Cases with
    several operations per call are left out."""
    # The functions of a step of teehash are those of its parts between opening and closing.
    cases = {
        key: [f"{key}/{part}" for part in HASHING] if key.startswith("teehash/") else [key]
        for key in keys
        if " x" not in key
    }
    wanted = [part for parts in cases.values() for part in parts]
    if not wanted:
        return {}
    with tempfile.TemporaryDirectory(prefix="gate-", dir=paths.build()) as folder:
        done = record.record(file, wanted, Path(folder) / "trace", calls=calls)
    traces = {
        key: [case for part in parts if (case := done.trace.case(part)) is not None]
        for key, parts in cases.items()
    }
    return {key: parts for key, parts in traces.items() if parts}


def longest_held(traces: Mapping[str, Sequence[CaseTrace]]) -> dict[str, int]:
    """Returns the longest stretch with interrupts held off of each case where it is known."""
    longest = {key: max(part.longest_held for part in parts) for key, parts in traces.items()}
    return {key: length for key, length in longest.items() if length}


def added_up(parts: Sequence[CaseTrace]) -> Functions:
    """Adds up the parts of a step, each as often as it runs for one run of the last part."""
    total: Counter[str] = Counter()
    for part in parts:
        times = len(part.samples) // len(parts[-1].samples)
        total.update({" ".join(name): times * count for name, count in part.own_costs.items()})
    return total


def run(file: BoardFile, calls: TaCalls, baseline: Baseline, limit: Limit) -> Gated:
    """Measures the plan and compares it. If a case got dearer than `limit` allows, measures again
    on a second boot, and meanwhile traces a case of each change on a third. If the baseline has
    stretches with interrupts held off, its cases are traced during the first boot."""
    if versions := differing(baseline, file):
        return Gated(other=versions)
    with (
        tempfile.TemporaryDirectory(prefix="teemark-gate-") as folder,
        ThreadPoolExecutor(1) as pool,
    ):
        still = [key for key in baseline.held if key in calls.plan.keys]  # The others are gone
        tracing_held = pool.submit(traced, file, calls, still)
        first = _boot(file, calls, Path(folder) / "first")
        held = held_longer(baseline, longest_held(tracing_held.result()), limit)
        comparison = held_against(baseline, first)
        worse = {pair.case for pair in comparison.pairs if limit.broken(pair)}
        if not worse:
            return Gated(comparison, held=held)
        say(f"teemark: {fmt.plural(len(worse), 'case')} dearer: once more, on a fresh boot")
        tracing = pool.submit(functions_of, file, calls, baseline, to_trace(baseline, comparison))
        again = _boot(file, calls, Path(folder) / "second")
        functions = tracing.result()
    return Gated(held_against(baseline, first, again), functions=functions, held=held)


def held_longer(
    baseline: Baseline, now: Mapping[str, int], limit: Limit
) -> dict[str, tuple[int, int]]:
    """Returns those stretches that grew by more than the limit, in the baseline and now."""
    pairs = {key: (before, now.get(key, 0)) for key, before in baseline.held.items()}
    return {
        key: (before, after)
        for key, (before, after) in pairs.items()
        if held_grew(before, after, limit.share or 0)
        and after - before >= (limit.instructions or 0)
    }


def to_trace(baseline: Baseline, comparison: Comparison) -> list[str]:
    """Returns the case to trace for each change: the shortest one whose functions the baseline has,
    since the change makes up most of its trace."""
    listed = (
        [pair for pair in change.cases if pair.case in baseline.functions and pair.repeat == 1]
        for change in changes(comparison)
    )
    shortest = [min(pairs, key=lambda pair: pair.first.value).case for pairs in listed if pairs]
    return shortest[:TRACED]


def _boot(file: BoardFile, calls: TaCalls, folder: Path) -> RunData:
    board = VirtualBoard(file)
    built = own_ta.build_for(calls.ta, calls.plan.ta, board)
    with own_ta.ready_board(board, built), working(f"{calls.plan.name} on {file.name} …"):
        return measure(board, calls.plan, folder)


def functions_of(
    file: BoardFile, calls: TaCalls, baseline: Baseline, cases: Sequence[str]
) -> dict[str, str]:
    """Returns how the functions of these cases changed from the baseline, in words."""
    if not cases:
        return {}
    try:
        now = traced(file, calls, cases)
    except Exception as error:
        say(f"teemark: no functions: {error or type(error).__name__}")
        return {}
    return {
        case: in_words(function_changes(baseline.functions[case], added_up(now[case])))
        for case in cases
        if case in now
    }


def in_words(changes: Sequence[tuple[str, int]], most: int = 3) -> str:
    phrases = []
    for function, count in changes[:most]:
        level, _, name = function.partition(" ")
        phrases.append(f"{name}{f' ({level})' if function != OTHERS else ''} {count:+}")
    return ", ".join(phrases) or "no function that the baseline lists changed"


def make(file: BoardFile, calls: TaCalls, *, functions: bool) -> Baseline:
    """Makes a baseline of the present state from two boots. Each case that is counted in both gets
    the smaller figure, since some boots take more instructions than others."""
    with tempfile.TemporaryDirectory(prefix="teemark-gate-") as folder:
        first, second = (
            baselines.figures_of(_boot(file, calls, Path(folder) / name))[0] for name in ("a", "b")
        )
    figures = {key: min(value, second[key]) for key, value in first.items() if key in second}
    if not figures:
        raise DataError(
            "the samples of every case scatter, as where calls wait for a disk: nothing to gate",
            hint="let the plan have cases that don't wait, such as a call or a digest",
        )
    traces = traced(file, calls, list(figures)) if functions else {}
    by_case = {key: added_up(parts) for key, parts in traces.items()}
    held = longest_held(traces)
    return Baseline(calls.plan.name, file.name, made_by(file), figures, by_case, held)
