# SPDX-License-Identifier: BSD-2-Clause
"""Groups the cases of a comparison that changed alike: by the same amount per call, the same amount
per byte, or the same share. Pure functions."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from teemark.model.compare import Comparison, Difference, Family, World

ALIKE = 0.1  # Largest deviation of a case from the common change, as a share of the change

PADDING = 256
"""Bytes that a digest may add to a message: its largest block, and padding. A change of the
intercept that is worth at most this many bytes is not counted as a change of the call."""

ONE_ROOF = 0.02  # Largest relative difference of the terms of families that changed alike


@dataclass(frozen=True, slots=True)
class Change:
    """A change that several cases share: an amount per call and per byte (nanoseconds or
    instructions), or a share of what they took before; negative if the cases became cheaper."""

    cases: tuple[Difference, ...]
    worse: bool
    call: float | None = None
    byte: float | None = None
    share: float | None = None
    of_all: World | None = None  # Set if all calls of this world moved by `call`
    whole: bool = False  # True if all cases of these families moved

    @property
    def families(self) -> tuple[Family, ...]:
        return tuple(dict.fromkeys(case.family for case in self.cases))

    @property
    def tells(self) -> Difference:
        """Returns the case with the largest relative change."""
        return max(self.cases, key=lambda case: abs(case.change))


def changes(comparison: Comparison) -> tuple[Change, ...]:
    """Returns all changes; each case that became better or worse belongs to exactly one. Worse
    changes come first, and among equals those with the most cases."""
    groups: dict[tuple[object, ...], list[Difference]] = {}
    for case in comparison.pairs:
        if case.moved:
            alike = (
                (case.world, case.shift) if case.shift is not None else (case.family, case.verdict)
            )
            groups.setdefault(alike, []).append(case)
    families = Counter(pair.family for pair in comparison.pairs)
    shared_changes, alone = list[Change](), list[Change]()
    for group in groups.values():
        first = group[0]
        whole = first.shift is not None or families[first.family] == len(group)
        shared = Change(tuple(group), first.verdict == "worse", whole=whole)
        if first.shift is not None:
            shared_changes.append(replace(shared, call=first.shift, of_all=first.world))
        else:
            alone.append(_common(shared, exact=comparison.exact))
    shared_changes += _merged(alone)
    return tuple(
        sorted(
            shared_changes,
            key=lambda change: (-change.worse, -len(change.cases), -abs(change.tells.change)),
        )
    )


def _common(change: Change, *, exact: bool) -> Change:
    """Returns a family's change with the amount that its cases share. For counted instructions that
    is an amount per call, a share, or a line over the bytes; for times it is a share."""
    added, shares = [case.added for case in change.cases], [case.change for case in change.cases]
    if exact and _alike(added):
        return replace(change, call=median(added))
    share = replace(change, share=median(shares))
    sized = [(float(case.size), case.added) for case in change.cases if case.size is not None]
    (low, least), (high, most) = min(sized, default=(0.0, 0.0)), max(sized, default=(0.0, 0.0))
    alike = max(shares) - min(shares) <= ONE_ROOF * abs(median(shares))
    if not exact or alike or len(sized) < len(added) or low == high:
        return share
    byte = (most - least) / (high - low)
    call = least - byte * low
    blocks = PADDING * abs(byte)  # A digest works in whole blocks
    if any(abs(call + byte * size - more) > ALIKE * abs(more) + blocks for size, more in sized):
        return share
    padded = byte != 0 and 0 <= call / byte <= PADDING
    return replace(change, call=None if padded else call, byte=byte)


def _alike(values: Sequence[float]) -> bool:
    middle = median(values)
    return all(abs(value - middle) <= ALIKE * abs(middle) for value in values)


def _merged(alone: Sequence[Change]) -> list[Change]:
    merged: list[Change] = []
    for change in alone:
        for place, roof in enumerate(merged):
            if roof.worse == change.worse and _same(roof, change):
                cases = (*roof.cases, *change.cases)
                merged[place] = replace(roof, cases=cases, whole=roof.whole and change.whole)
                break
        else:
            merged.append(change)
    return merged


def _same(roof: Change, change: Change) -> bool:
    terms = (roof.call, change.call, ONE_ROOF), (roof.byte, change.byte, ONE_ROOF)
    return all(
        a == b or (a is not None and b is not None and abs(a - b) <= within * max(abs(a), abs(b)))
        for a, b, within in (*terms, (roof.share, change.share, ALIKE))
    )
