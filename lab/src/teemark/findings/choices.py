# SPDX-License-Identifier: BSD-2-Clause
"""Advice on the kind of memory, the size of the pieces, and the backend.

A choice is better than another only if its whole interval lies 1 % below the other's interval.
Memory and backends are compared at sizes that were measured, pieces by the models.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from teemark.base.finding import Figure, Finding
from teemark.base.work import EMPTY_CALL, ONESHOT, SHM
from teemark.findings.ground import Ground
from teemark.model.decide import ALIKE
from teemark.model.models import in_pieces
from teemark.model.stats import Estimate
from teemark.wording import fmt
from teemark.wording.interval import Interval

Question = Literal["memory", "backend", "backend-in-tee", "pieces"]

NEARLY = 0.05  # Pieces are as good as one call if they cost at most this share more
LEAST = 0.01  # Smallest relative error of the models' figures, however well they fit
KINDS = ("temporary", "registered", "allocated")
"""Kinds of memory that a program can choose; read-only memory isn't a choice."""
TEST_CODE = ("c", "ce")
"""Backends of our own code outside the TEE: they are only for comparison, and never advised."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice: `choose` is better than `over` at the sizes from `first` to `last` (bytes).
    `subject` is the algorithm, such as `sha256`, or the direction of the memory."""

    question: Question
    subject: str
    choose: str
    over: str
    first: int
    last: int
    ratio: Estimate  # Cost of `choose` divided by that of `over`, at `last`
    undecided: tuple[int, ...] = ()  # Nearby sizes at which another is as good

    @property
    def saves(self) -> float:
        """Returns the saving at `last`, as a share of the cost of `over`."""
        return 1 - self.ratio.value

    @property
    def saved(self) -> Interval | None:
        """Returns the interval of `saves`; nobody saves more than all of a cost."""
        ratio = self.ratio.interval
        return None if ratio is None else Interval(1 - ratio.high, 1 - max(ratio.low, 0.0))


BySize = Mapping[str, Mapping[int, Estimate]]  # The cost of each choice at each size


def best(question: Question, subject: str, choices: BySize) -> tuple[Choice, ...]:
    """Returns the best choice at each size, over the next best one. Neighbouring sizes with the
    same best choice are joined. If two choices are equally good at a size, the size is joined to
    the choice before it (or else to the first choice), if this is one of the two."""
    ranges: list[Choice] = []
    open_: list[tuple[int, set[str]]] = []
    for size in sorted(set[int]().union(*choices.values())):
        ranked = sorted(
            (costs[size].value, name) for name, costs in choices.items() if size in costs
        )
        if len(ranked) < 2:
            continue
        (_, first), (_, second) = ranked[:2]
        mine, theirs = choices[first][size], choices[second][size]
        a, b = mine.interval, theirs.interval
        nothing = mine.meaningless or theirs.meaningless
        if a is None or b is None or nothing or a.high * ALIKE >= b.low:
            if not ranges:
                open_.append((size, {first, second}))
            elif ranges[-1].choose in (first, second):
                ranges[-1] = replace(ranges[-1], undecided=(*ranges[-1].undecided, size))
            continue
        new = Choice(question, subject, first, second, size, size, mine / theirs)
        last = ranges[-1] if ranges else None
        if last is not None and last.choose == first:
            ranges[-1] = replace(new, first=last.first, undecided=last.undecided)
        else:
            tied_before = (at for at, tied in open_ if first in tied)
            ranges.append(replace(new, undecided=tuple(tied_before)))
            open_ = []
    return tuple(ranges)


def _measured(ground: Ground) -> Iterator[Choice]:
    table: dict[tuple[Question, str], dict[str, dict[int, Estimate]]] = {}
    for stats in ground.models.stats:
        name, questions = stats.backend, list[tuple[Question, str]]()
        if stats.work.row is SHM and stats.algorithm in KINDS and stats.bytes is not None:
            name, questions = stats.algorithm, [("memory", stats.work.direction)]
        elif stats.work.row is ONESHOT and stats.bytes and name not in TEST_CODE:
            questions = [("backend", stats.algorithm)]
            if ground.run.backend(name).secure:
                questions.append(("backend-in-tee", stats.algorithm))
        for key in questions:
            table.setdefault(key, {}).setdefault(name, {})[stats.bytes or 0] = stats.estimate
    order = ("memory", "backend", "backend-in-tee")
    for (question, subject), costs in sorted(table.items(), key=lambda row: order.index(row[0][0])):
        yield from best(question, subject, costs)


def _pieces(ground: Ground) -> Iterator[Choice]:
    """Yields advice on pieces of a long message. Its best pieces are the smallest that cost hardly
    more than one call; if there are none, one call is best."""
    models = ground.models
    for cost in models.costs:
        if cost.workload != ONESHOT.name or not cost.form.in_tee or not cost.fit.fits:
            continue
        sizes = sorted({int(point.x) for point in cost.fit.points if point.x >= 1024})
        if len(sizes) < 2:
            continue
        *smaller, whole = sizes
        takes = {size: in_pieces(models, cost, whole, size) for size in smaller}
        takes[whole] = cost.at(whole)
        costs = {size: estimate for size, estimate in takes.items() if estimate is not None}
        left_out = cost.fit.prediction_error
        if left_out is None or len(costs) < len(sizes):
            continue
        by = cost.algorithm, cost.backend
        streams = [stream.off or 0.0 for stream in models.streams
                   if (stream.measured.algorithm, stream.measured.backend) == by]  # fmt: skip
        off = max(LEAST, left_out, *map(abs, streams))
        enough = next((size for size in smaller if _nearly(costs[size] / costs[whole], off)), whole)
        if enough == smaller[0]:
            continue
        over = smaller[-1] if enough == whole else smaller[0]
        subject, saves = f"{cost.algorithm}/{cost.backend}", costs[enough] / costs[over]
        yield Choice("pieces", subject, str(enough), str(over), whole, whole, saves)


def _nearly(ratio: Estimate, off: float) -> bool:
    return ratio.interval is not None and ratio.interval.high * (1 + off) <= 1 + NEARLY


def choose(ground: Ground) -> tuple[Choice, ...]:
    """Returns all choices that are better by 1 % or more; those of pieces are predicted."""
    return (*_measured(ground), *_pieces(ground))


def choices(ground: Ground, *, alone: bool = False) -> Iterator[Finding]:
    """Yields a finding for each choice. The choice of allocated over temporary memory is left out,
    since a cause already names it, unless these findings stand `alone`."""
    streams = {f"{s.measured.algorithm}/{s.measured.backend}" for s in ground.models.streams}
    kernel = ground.models.case(EMPTY_CALL) is None
    scope = "Of what programs can use: c and ce are teemark's own code."
    unmeasured = "Predicted by the models: the run measured no stream in pieces."
    for choice in choose(ground):
        registered = choice.question == "memory" and choice.subject == ground.direction("temporary")
        if not alone and registered and {choice.choose, choice.over} == {"allocated", "temporary"}:
            continue
        predicted = choice.question == "pieces" and choice.subject not in streams
        answer = kernel and choice.question == "backend"
        yield Finding(
            key=f"{choice.question}/{choice.subject}",
            topic="answer" if answer else "choice",
            claim=sentence(ground, choice),
            evidence=unmeasured * predicted + scope * answer,
            figures=(Figure("saves", choice.saves, "share", choice.saved),),
        )
        scope, unmeasured = scope * (not answer), unmeasured * (not predicted)  # each only once


def sentence(ground: Ground, choice: Choice) -> str:
    """Returns a sentence: what to choose, at which sizes, and what this saves."""
    run, last = ground.run, fmt.size(choice.last)
    algorithm, _, backend = choice.subject.partition("/")
    inside = " inside the TEE" if choice.question == "backend-in-tee" else ""
    name = f"{run.title(algorithm)}{f' by {backend}' if backend else inside}"
    name = f"Memory for a call ({choice.subject})" if choice.question == "memory" else name
    text = fmt.shares(choice.saved) if choice.saved is not None else fmt.NONE
    brackets = fmt.interval_in_brackets(run, choice.ratio, text)
    less = f"{fmt.share(choice.saves)} less than"
    if choice.question == "pieces":
        over = fmt.size(int(choice.over))
        if int(choice.choose) == choice.last:
            return f"{name}: one call with {last} takes {less} pieces of {over}{brackets}."
        return (
            f"{name}, in pieces: those of {fmt.size(int(choice.choose))} take at most "
            f"{fmt.percent(NEARLY, 1)} more than one call with {last}, and {less} those of "
            f"{over}{brackets}."
        )
    first = fmt.size(choice.first)
    where = f"at {last}" if choice.first == choice.last else f"from {first} to {last}"
    sizes, open_ = choice.undecided, [fmt.size(size) for size in choice.undecided]
    beyond = len(sizes) > 2 and (sizes[0] > choice.last or sizes[-1] < choice.first)
    none = f"from {open_[0]} to {open_[-1]}" if beyond else f"at {fmt.listed(open_)}"
    fewest = f"is the choice with the fewest {fmt.quantity(run)}"
    leads = fewest if run.icount else "is the fastest choice"
    but = f", no better {none}" if sizes else ""
    at = f"{but}:" if choice.first == choice.last else f"{but}; at {last}"
    return f"{name}: {choice.choose} {leads} {where}{at} it takes {less} {choice.over}{brackets}."
