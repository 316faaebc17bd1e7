# SPDX-License-Identifier: BSD-2-Clause
"""What a TA counted of its own time, beside what the client saw of the same calls.

Two things come of it: how much of a call was inside the TA, the rest being the way in and out; and
a check. What one operation takes is the slope over repetitions by either clock, and these two must
agree: the client's slope rests on the assumption that all repetitions cost the same and the way
nothing more, the TA's on its counter being right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from teemark.model.line import SlopeRatio, slope_ratio
from teemark.model.stats import Summary, summarize
from teemark.run.reader import MeasuredCase
from teemark.run.records import Case

TOLERANCE = 0.05
"""The two slopes may be so far apart."""

REPEATS = 3
"""Through two points there is always a line."""

ENOUGH = 6
"""Fewer samples of a repetition tell no interval."""


@dataclass(frozen=True, slots=True)
class Counted:
    """One case whose TA counted along; times of one call (repeat 1) in nanoseconds."""

    case: Case
    client: Summary | None  # None: no call with a single operation was measured
    inside: Summary | None
    crossing: Summary | None  # client less inside, call by call
    repeats: int  # how many numbers of repetitions there are
    samples: int  # of that one which has the fewest
    slopes: SlopeRatio | None  # the client's first; None: too few repetitions, or no slope

    @property
    def share(self) -> float | None:
        """Of a call, inside the TA."""
        if self.client is None or self.inside is None or not self.client.median:
            return None
        return self.inside.median / self.client.median

    @property
    def deviation(self) -> float | None:
        """Of the TA's slope from the client's, relative."""
        return self.slopes.ratio - 1 if self.slopes else None

    @property
    def judgement(self) -> Literal["agree", "disagree", "undecided"] | None:
        """Whether the clocks do, to within TOLERANCE; undecided where the interval of the
        deviation lies on both sides of that, or there is none. None: nothing to judge by."""
        if self.repeats < REPEATS:
            return None
        if self.slopes is None or self.samples < ENOUGH:
            return "undecided"
        low, high = self.slopes.interval.low - 1, self.slopes.interval.high - 1
        if low >= -TOLERANCE and high <= TOLERANCE:
            return "agree"
        if high < -TOLERANCE or low > TOLERANCE:
            return "disagree"
        return "undecided"


def counted(measured: MeasuredCase) -> Counted | None:
    """None for a case without a sample that both clocks have."""
    by_ta = {sample.seq: sample for sample in measured.ta_samples}
    pairs: dict[float, list[tuple[float, float]]] = {}
    for sample in measured.samples:
        twin = by_ta.get(sample.seq)
        if twin is not None and (twin.repeat, twin.loops) == (sample.repeat, sample.loops):
            pair = (sample.ns / sample.loops, twin.ns / twin.loops)
            pairs.setdefault(sample.repeat, []).append(pair)
    if not pairs:
        return None
    single = pairs.get(1, [])
    return Counted(
        case=measured.case,
        client=summarize([client for client, _ in single]) if single else None,
        inside=summarize([inside for _, inside in single]) if single else None,
        crossing=summarize([client - inside for client, inside in single]) if single else None,
        repeats=len(pairs),
        samples=min(map(len, pairs.values())),
        slopes=slope_ratio(pairs),
    )


def counted_cases(cases: Sequence[MeasuredCase]) -> tuple[Counted, ...]:
    return tuple(found for case in cases if (found := counted(case)) is not None)
