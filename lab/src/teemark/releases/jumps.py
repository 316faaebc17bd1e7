# SPDX-License-Identifier: BSD-2-Clause
"""Where a call became dearer or cheaper from one version to the next, by the judge of `compare`,
and which commit did it, by halving the commits between. Pure, but for `Bisected`'s files."""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import msgspec
from msgspec import Struct

from teemark.base.console import json_text
from teemark.base.errors import DataError
from teemark.base.files import write_whole
from teemark.model.compare import Difference, counted
from teemark.releases.points import Kept, whole
from teemark.releases.versions import Version

THRESHOLD = 0.05
"""Relative change from one version to the next that is shown as a jump."""


class Bisected(Struct, frozen=True, kw_only=True):
    """The outcome of a bisection: the commit with which a case's cost changed."""

    case: str
    first: Version
    last: Version
    before: float  # instructions of the case at `first` and at `last`
    after: float
    previous: Version  # the last commit that is still on the first version's side
    found: tuple[Version, ...]  # one commit; several if the ones between couldn't be measured
    parent: float = 0.0  # instructions just before and at the commit
    at: float = 0.0
    steps: int = 0
    skipped: int = 0
    functions: str = ""  # the functions that changed most, in words

    @property
    def share(self) -> float:
        """Returns the part of the whole change that the commit makes."""
        return (self.at - self.parent) / (self.after - self.before)


class _File(Struct, frozen=True):
    bisections: list[Bisected]


@dataclass(frozen=True, slots=True)
class Jump:
    """A case whose cost changed by the threshold or more between two neighbouring versions."""

    before: Kept
    after: Kept
    pair: Difference
    bisected: Bisected | None = None  # None: nobody looked for its commit

    @property
    def size(self) -> float:
        """Returns the size of the jump, the same for twice as much and half as much."""
        return abs(math.log(self.pair.second.value / self.pair.first.value))


def jumps(
    points: Sequence[Kept], threshold: float = THRESHOLD, bisected: Sequence[Bisected] = ()
) -> list[Jump]:
    """Returns the jumps between neighbours: what became dearer first, each by its size. Versions
    without a run are passed over."""
    by_ends = {(each.case, each.first.commit, each.last.commit): each for each in bisected[::-1]}
    moves = [
        Jump(before, after, pair, by_ends.get((pair.case, before.commit, after.commit)))
        for before, after in pairwise(whole(points))
        for pair in counted(before.readings, after.readings)
        if pair.moved and abs(pair.change) >= threshold
    ]
    return sorted(moves, key=lambda jump: (jump.pair.verdict != "worse", -jump.size))


def cases(points: Sequence[Kept]) -> list[str]:
    """Returns the cases that some version counted, in the order of the plan."""
    return list(
        dict.fromkeys(key for kept in points for key, at in kept.readings.items() if at.steady)
    )


def bisect(
    case: str,
    ends: tuple[Version, Version],
    between: Sequence[Version],
    costs: Callable[[Version], float | None],
) -> Bisected:
    """Returns the commit at which a case's cost comes nearer to the last version's than to the
    first's. `between` are the commits after the first version up to the last one; `costs` measures
    a commit, and returns None for one that can't be measured, which is passed over."""
    figures = {end.commit: costs(end) for end in ends}
    before, after = (figures[end.commit] for end in ends)
    if not before or not after or before == after:
        raise DataError(f"{case} costs {before} in {ends[0].name} and {after} in {ends[1].name}")
    line = [ends[0], *between]
    middle = math.sqrt(before * after)
    low, high, broken, steps = 0, len(line) - 1, set[int](), 0
    while left := [place for place in range(low + 1, high) if place not in broken]:
        place = min(left, key=lambda place: abs(2 * place - low - high))
        value = costs(line[place])
        steps += 1
        if value is None:
            broken.add(place)
            continue
        figures[line[place].commit] = value
        if (value > middle) == (after > middle):
            high = place
        else:
            low = place
    return Bisected(
        case=case,
        first=ends[0],
        last=ends[1],
        before=before,
        after=after,
        previous=line[low],
        found=tuple(line[low + 1 : high + 1]),
        parent=figures[line[low].commit] or 0.0,
        at=figures[line[high].commit] or 0.0,
        steps=steps,
        skipped=len(broken),
    )


def keep(place: Path, bisected: Bisected) -> None:
    words = (bisected.case, bisected.first.tree, bisected.last.tree)
    digest = hashlib.sha256("\0".join(words).encode()).hexdigest()[:12]
    write_whole(place / f"bisected-{digest}.json", json_text(msgspec.to_builtins(bisected)))


def bisections(place: Path) -> list[Bisected]:
    """Returns the bisections that a folder of results, or a file by `releases --json`, has."""
    try:
        if place.is_file():
            return msgspec.json.decode(place.read_bytes(), type=_File).bisections
        return [
            msgspec.json.decode(file.read_bytes(), type=Bisected)
            for file in sorted(place.glob("bisected-*.json"))
        ]
    except (OSError, msgspec.DecodeError) as error:
        raise DataError(f"{place}: a bisection can't be read: {error}") from None
