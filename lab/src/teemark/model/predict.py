# SPDX-License-Identifier: BSD-2-Clause
"""Predicts calls that weren't measured, between sizes that were.

The interval includes the medians' uncertainty, the largest error at a size that was left out of the
fit, and one unknown path through the code, assumed to cost as much as the dearest known one.
Source: R. F. Barber et al., Predictive inference with the jackknife+ (2021): the form with the
largest residual."""

from collections.abc import Iterable
from dataclasses import dataclass

from teemark.base import work
from teemark.base.errors import TeemarkError
from teemark.base.work import Work
from teemark.model.fit import MAY_SAVE
from teemark.model.models import Cost, Models, Streamed, in_pieces
from teemark.model.stats import Estimate
from teemark.wording.interval import Interval

LEAST = 0.01  # Smallest relative error that a prediction claims, however well its model fits


class Unpredictable(TeemarkError):
    """No prediction is possible: the message says why, the hint what to measure."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """The predicted cost of a call, in nanoseconds (on boards that count: instructions)."""

    task: Work
    figure: Estimate
    off: float  # Largest relative error, at left-out sizes and at measured streams
    fitted: tuple[int, int]  # Smallest and largest size that the model was fitted to
    path: float = 0.0  # Cost of a path through the code that only some sizes take
    streams: int = 0  # Number of measured streams, of this algorithm and backend, behind `off`

    @property
    def interval(self) -> Interval | None:
        interval = self.figure.interval
        if interval is None:
            return None
        low, high = interval.low * (1 - self.off), interval.high * (1 + self.off)
        return Interval(max(0.0, low - self.path), high + self.path)


def predict(models: Models, task: Work) -> Prediction:
    """Returns the predicted cost of `task`; raises Unpredictable if the run has no model for it."""
    streams, whole = task.chunk is not None, work.ONESHOT.name
    curve = whole if streams else task.curve or task.workload
    key = f"{curve}/{task.algorithm}/{task.backend}"
    cost = models.cost(task.algorithm, task.backend, curve)
    if cost is None:
        empty = ", 0 bytes among them" if curve == whole else ""
        hint = f"{key} at five sizes or more{empty}"
        raise Unpredictable(f"this run has no model of {key}", hint=hint)
    if not cost.fit.fits:
        raise Unpredictable(
            f"the model of {key} is off by {cost.fit.misfit or 0:.0%} at its worst size",
            hint="more sizes around the one that is asked for",
        )
    sizes = sorted(int(point.x) for point in cost.fit.points)
    within = task.chunk if task.chunk is not None else task.size or 0
    if not sizes[0] <= within <= sizes[-1]:
        raise Unpredictable(
            f"{key} was measured from {sizes[0]} to {sizes[-1]} bytes",
            hint=f"{key}/{within}, or sizes on both sides of it",
        )
    off = cost.fit.prediction_error
    if off is None:
        raise Unpredictable(
            f"no size of {key} can be left out, so that nobody knows how far the model is off",
            hint=f"{key} at more sizes",
        )
    checked = _measured_pieces(models, cost, task) if streams else []
    paths = [abs(cost.fit.terms[name].value) for name in MAY_SAVE if name in cost.fit.terms]
    return Prediction(
        task,
        _figure(models, cost, task),
        max((LEAST, off, *(abs(stream.off or 0.0) for stream in checked))),
        (sizes[0], sizes[-1]),
        max(paths, default=0.0),
        len(checked),
    )


def _measured_pieces(models: Models, cost: Cost, task: Work) -> list[Streamed]:
    """Returns the measured streams of the algorithm and backend. Raises Unpredictable if none has
    pieces as small as the task's, unless the TEE's calls or AF_ALG's own pieces give their cost."""
    known = (stream for stream in models.streams if stream.off is not None)
    by = task.algorithm, task.backend
    streams = [s for s in known if (s.measured.algorithm, s.measured.backend) == by]
    size, chunk = task.size or 0, task.chunk or 0
    as_small = any((stream.measured.work.chunk or 0) <= chunk for stream in streams)
    if size <= chunk or cost.form.in_tee or cost.form.by_kernel or as_small:
        return streams
    raise Unpredictable(
        f"what a piece of {chunk} bytes costs isn't known: no message in pieces as small was "
        "measured",
        hint=task.key,
    )


def _figure(models: Models, cost: Cost, task: Work) -> Estimate:
    size = task.size or 0
    figure = cost.at(size) if task.chunk is None else in_pieces(models, cost, size, task.chunk)
    if figure is not None:
        return figure
    if cost.form.by_kernel:
        why = "AF_ALG takes whole messages 64 KiB at a time: what pieces of another size cost "
        why += "isn't known"
        raise Unpredictable(why, hint=task.key)
    way = f"{work.EMPTY_CALL}, and {work.INVOKE.name} with every kind of memref"
    raise Unpredictable("what a further call into the TEE takes isn't known", hint=way)


def catalogue(models: Models) -> Iterable[tuple[Cost, tuple[int, int], float]]:
    """Yields each model that can predict, its smallest and largest size, and its relative error."""
    for cost in models.costs:
        sizes = [int(point.x) for point in cost.fit.points]
        off = cost.fit.prediction_error
        if cost.fit.fits and off is not None and max(sizes) > min(sizes):
            yield cost, (min(sizes), max(sizes)), off
