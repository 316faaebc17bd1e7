# SPDX-License-Identifier: BSD-2-Clause
"""What would a call take that wasn't measured? Between the sizes that were, the models say.

An interval of a prediction holds three things. How well the medians are known: their draws. How
well the model describes what lies between them: the largest error at a size that it was fitted
without; of n sizes, a new one is further off about once in n + 1. And which way a message takes
through the code: a size may take, or leave out, one path that the model doesn't know, which is
taken to cost what the dearest of those costs that it does know.
Source: R. F. Barber et al., Predictive inference with the jackknife+ (2021), of which this is the
form with the largest residual.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from teemark.base.interval import Interval
from teemark.model.fit import MAY_SAVE
from teemark.model.forms import family_name
from teemark.model.models import Cost, Models, in_pieces
from teemark.model.stats import Estimate

LEAST = 0.01
"""No prediction claims to be nearer, however well its model fits (lab/bench/predict.py)."""


class Unpredictable(Exception):
    """Why there is no answer, and what to measure so that there is one."""

    def __init__(self, why: str, measure: str) -> None:
        super().__init__(why)
        self.why = why
        self.measure = measure


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked for: a whole message in one call, or in pieces of `chunk` bytes."""

    workload: str  # stream, or a family of models: `oneshot`, `cipher enc`
    algorithm: str
    backend: str
    bytes: int
    chunk: int | None = None

    @classmethod
    def of(cls, key: str, size: int | None = None, chunk: int | None = None) -> Task:
        """Of `oneshot/sha256/tee`, with the size apart or at its end as in a case's key; ValueError
        says what isn't right."""
        words = key.split("/")
        if len(words) < 3 or not all(words):
            raise ValueError(f"{key!r} isn't WORKLOAD/ALGORITHM/BACKEND")
        workload, algorithm, backend, *rest = words
        numbers: list[int] = []
        while rest and rest[-1].isdigit():
            numbers.insert(0, int(rest.pop()))
        streams = workload == "stream"
        if len(numbers) > 1 + streams:
            raise ValueError(f"{key!r} has too many sizes")
        if numbers and size is not None:
            raise ValueError(f"{key!r} names its size already")
        if numbers:
            size = numbers.pop(0)
        if numbers and chunk is not None:
            raise ValueError(f"{key!r} names the size of its pieces already")
        if numbers:
            chunk = numbers[0]
        if size is None:
            raise ValueError(f"{key!r}: of how many bytes?")
        if streams and not chunk:
            raise ValueError(f"{key!r}: in pieces of how many bytes?")
        if chunk is not None and not streams:
            raise ValueError(f"{key!r} is one call: only a stream has pieces")
        return cls(family_name(workload, rest), algorithm, backend, size, chunk)


@dataclass(frozen=True, slots=True)
class Prediction:
    """Nanoseconds (on boards that count: instructions)."""

    task: Task
    figure: Estimate
    off: float
    """How far the model is off where that can be seen, relative: at sizes that it was fitted
    without, and at streams that were measured."""
    fitted: tuple[int, int]
    """The smallest and the largest size that the model was fitted to."""
    path: float = 0.0
    """What a path through the code costs that only some sizes take."""
    streams: int = 0
    """So many measured streams of this algorithm and backend have a part in `off`."""

    @property
    def interval(self) -> Interval | None:
        known = self.figure.interval
        if known is None:
            return None
        low, high = known.low * (1 - self.off), known.high * (1 + self.off)
        return Interval(max(0.0, low - self.path), high + self.path)


def predict(models: Models, task: Task) -> Prediction:
    """Raises Unpredictable where the run gives no ground."""
    streams = task.chunk is not None
    family = "oneshot" if streams else task.workload
    key = f"{family}/{task.algorithm}/{task.backend}"
    cost = models.cost(task.algorithm, task.backend, family)
    if cost is None:
        raise Unpredictable(
            f"this run has no model of {key}", f"{key} at four sizes or more, and `feed` at 0 bytes"
        )
    if not cost.fit.fits:
        raise Unpredictable(
            f"the model of {key} is off by {cost.fit.misfit or 0:.0%} at its worst size",
            "more sizes around the one that is asked for",
        )
    sizes = sorted(int(point.x) for point in cost.fit.points)
    within = task.chunk if task.chunk is not None else task.bytes
    if not sizes[0] <= within <= sizes[-1]:
        raise Unpredictable(
            f"{key} was measured from {sizes[0]} to {sizes[-1]} bytes",
            f"{key}/{within}, or sizes on both sides of it",
        )
    off = cost.fit.prediction_error
    if off is None:
        raise Unpredictable(
            f"no size of {key} can be left out, so that nobody knows how far the model is off",
            f"{key} at more sizes",
        )
    checked = [
        abs(one.off)
        for one in models.streams
        if streams
        and one.off is not None
        and (one.measured.algorithm, one.measured.backend) == (task.algorithm, task.backend)
    ]
    paths = [abs(cost.fit.terms[name].value) for name in MAY_SAVE if name in cost.fit.terms]
    return Prediction(
        task,
        _figure(models, cost, task),
        max((LEAST, off, *checked)),
        (sizes[0], sizes[-1]),
        max(paths, default=0.0),
        len(checked),
    )


def _figure(models: Models, cost: Cost, task: Task) -> Estimate:
    if task.chunk is None:
        return cost.at(task.bytes)
    found = in_pieces(models, cost, task.bytes, task.chunk)
    if found is None and cost.form.by_kernel:
        raise Unpredictable(
            "AF_ALG takes whole messages 64 KiB at a time: what a smaller piece costs isn't known",
            f"stream/{task.algorithm}/{task.backend}/{task.bytes}/{task.chunk}",
        )
    if found is None:
        raise Unpredictable(
            "what a further call into the TEE takes isn't known",
            "invoke/none/tee/none, and invoke with every kind of memref",
        )
    return found


def catalogue(models: Models) -> Iterable[tuple[Cost, tuple[int, int], float]]:
    """Every model with the sizes between which it predicts, and how far it is off there; the ones
    that predict nothing left out."""
    for cost in models.costs:
        sizes = [int(point.x) for point in cost.fit.points]
        off = cost.fit.prediction_error
        if cost.fit.fits and off is not None and max(sizes) > min(sizes):
            yield cost, (min(sizes), max(sizes)), off
