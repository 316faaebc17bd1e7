# SPDX-License-Identifier: BSD-2-Clause
"""What to choose: the kind of memory, the size of the pieces, the backend.

Only sizes that were measured are compared, and one choice is better than another only where their
intervals don't overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from teemark.base.interval import Interval
from teemark.base.work import ONESHOT, SHM, STREAM
from teemark.model.models import Models
from teemark.model.predict import Prediction, Unpredictable, predict
from teemark.model.stats import Estimate
from teemark.run.reader import RunData

Question = Literal["memory", "backend", "backend-in-tee", "pieces"]

NEARLY = 0.05
"""Pieces that cost so much more than one call, relative, are as good as one call."""

KINDS = ("temporary", "registered", "allocated")
"""Of memory that a program can choose; read-only memory isn't a choice."""


@dataclass(frozen=True, slots=True)
class Advice:
    """`choose` is better than `over` at the sizes from `first` to `last`, bytes."""

    question: Question
    subject: str
    """What it is about: `sha256`, or the direction of the memory."""
    choose: str
    over: str
    first: int
    last: int
    ratio: Estimate
    """Cost of `choose` over that of `over`, at `last`."""
    undecided: tuple[int, ...] = ()
    """Sizes in between at which the intervals of the two overlap."""

    @property
    def saves(self) -> float:
        """Relative, at `last`."""
        return 1 - self.ratio.value

    @property
    def saved(self) -> Interval | None:
        """What that may be."""
        ratio = self.ratio.interval
        return None if ratio is None else Interval(1 - ratio.high, 1 - ratio.low)


BySize = Mapping[str, Mapping[int, Estimate]]
"""For each choice: what it takes at each size."""


def best(question: Question, subject: str, choices: BySize) -> tuple[Advice, ...]:
    """The best of the choices, size by size, over the next best; the same one at neighbouring sizes
    is one piece of advice. At sizes where the best isn't decided there is none."""
    sizes = sorted(set[int]().union(*choices.values()))
    found: list[Advice] = []
    open_: list[int] = []
    for size in sizes:
        ranked = sorted(
            (known[size].value, name) for name, known in choices.items() if size in known
        )
        if len(ranked) < 2:
            continue
        (_, first), (_, second) = ranked[:2]
        mine, theirs = choices[first][size], choices[second][size]
        a, b = mine.interval, theirs.interval
        if a is None or b is None or a.high >= b.low:
            open_.append(size)
            continue
        last = found[-1] if found else None
        if last is not None and last.choose == first:
            found[-1] = Advice(
                question,
                subject,
                first,
                second,
                last.first,
                size,
                mine / theirs,
                (*last.undecided, *open_),
            )
        else:
            found.append(Advice(question, subject, first, second, size, size, mine / theirs))
        open_ = []
    return tuple(found)


def memory(_run: RunData, models: Models) -> Iterable[Advice]:
    directions: dict[str, dict[str, dict[int, Estimate]]] = {}
    for stats in models.stats:
        if stats.work.row is SHM and stats.algorithm in KINDS and stats.bytes is not None:
            of_kind = directions.setdefault(stats.work.way, {}).setdefault(stats.algorithm, {})
            of_kind[stats.bytes] = stats.estimate
    for way, kinds in directions.items():
        yield from best("memory", way, kinds)


def backends(run: RunData, models: Models) -> Iterable[Advice]:
    """Of everybody who has the algorithm, and of those inside the TEE."""
    algorithms: dict[str, dict[str, dict[int, Estimate]]] = {}
    for stats in models.stats:
        if stats.work.row is ONESHOT and stats.bytes:
            of_backend = algorithms.setdefault(stats.algorithm, {}).setdefault(stats.backend, {})
            of_backend[stats.bytes] = stats.estimate
    for algorithm, known in algorithms.items():
        yield from best("backend", algorithm, known)
        secure = {name: times for name, times in known.items() if run.backend(name).secure}
        yield from best("backend-in-tee", algorithm, secure)


def pieces(_run: RunData, models: Models) -> Iterable[Advice]:
    """The smallest pieces of a long message that cost hardly more than one call, over the smallest
    that were measured; where none do, the one call over the largest pieces. By the models."""
    for cost in models.costs:
        if cost.workload != ONESHOT.name or not cost.form.in_tee or not cost.fit.fits:
            continue
        sizes = sorted({int(point.x) for point in cost.fit.points if point.x >= 1024})
        if len(sizes) < 2:
            continue
        try:
            whole = predict(models, ONESHOT.work(cost.algorithm, cost.backend, sizes[-1]))
            streams = [
                predict(models, STREAM.work(cost.algorithm, cost.backend, sizes[-1], size))
                for size in sizes[:-1]
            ]
        except Unpredictable:
            continue
        smallest, largest = streams[0], streams[-1]
        enough = next((one for one in streams if _nearly(one, whole)), None)
        if enough is smallest:
            continue
        chosen, other = (whole, largest) if enough is None else (enough, smallest)
        yield Advice(
            "pieces",
            f"{cost.algorithm}/{cost.backend}",
            str(chosen.task.chunk or sizes[-1]),
            str(other.task.chunk),
            sizes[-1],
            sizes[-1],
            chosen.figure / other.figure,
        )


def _nearly(stream: Prediction, whole: Prediction) -> bool:
    known = (stream.figure / whole.figure).interval
    return known is not None and known.high * (1 + stream.off) <= 1 + NEARLY


RULES: Sequence[Callable[[RunData, Models], Iterable[Advice]]] = (memory, pieces, backends)


def advise(run: RunData, models: Models) -> tuple[Advice, ...]:
    return tuple(one for rule in RULES for one in rule(run, models))
