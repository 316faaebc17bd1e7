# SPDX-License-Identifier: BSD-2-Clause
"""Cases of a comparison that changed alike: by the same amount a call, the same amount a byte, or
the same share. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from teemark.model.compare import Comparison, Difference, Family, World

ALIKE = 0.1
"""Cases changed alike if each is as far from the common change as this share of it, at most."""

PADDING = 256
"""Bytes that a digest may add to a message: its largest block, and padding. So many bytes' worth of
an intercept is no change of the call."""

ONE_ROOF = 0.02  # Families changed alike if their terms differ by this share, at most


@dataclass(frozen=True, slots=True)
class Change:
    """A change that cases share: so much a call and so much a byte (nanoseconds or instructions),
    or a share of what they took; negative where they take less."""

    cases: tuple[Difference, ...]
    worse: bool
    call: float | None = None
    byte: float | None = None
    share: float | None = None
    of_all: World | None = None  # All calls into the TEE, or all in the program, moved so
    whole: bool = False  # The families' other cases moved as well, or there are none

    @property
    def families(self) -> tuple[Family, ...]:
        return tuple(dict.fromkeys(one.family for one in self.cases))

    @property
    def tells(self) -> Difference:
        """Returns the case that shows the change best."""
        return max(self.cases, key=lambda one: abs(one.change))


def changes(found: Comparison) -> tuple[Change, ...]:
    """Returns every case that became better or worse, in one change each; the worse first, and of
    them those with the most cases."""
    by_shift: dict[tuple[World | None, float], list[Difference]] = {}
    by_family: dict[tuple[Family, bool], list[Difference]] = {}
    for one in found.pairs:
        if one.moved and one.shift is not None:
            by_shift.setdefault((one.world, one.shift), []).append(one)
        elif one.moved:
            by_family.setdefault((one.family, one.verdict == "worse"), []).append(one)
    made = [
        Change(tuple(group), shift > 0, call=shift, of_all=world, whole=True)
        for (world, shift), group in by_shift.items()
    ]
    alone = []
    for (family, worse), group in by_family.items():
        whole = sum(one.family == family for one in found.pairs) == len(group)
        alone.append(replace(_common(group, found, worse=worse), whole=whole))
    made += _merged(alone)
    return tuple(
        sorted(made, key=lambda one: (-one.worse, -len(one.cases), -abs(one.tells.change)))
    )


def _common(group: Sequence[Difference], found: Comparison, *, worse: bool) -> Change:
    """Returns what cases of one family have in common. Where instructions are counted, that is the
    same number in each, the same share, or a line over the bytes."""
    cases = tuple(group)
    added = [one.added for one in group]
    sized = [(float(one.size), one.added) for one in group if one.size is not None]
    if found.exact and _alike(added):
        return Change(cases, worse, call=median(added))
    shares = [one.change for one in group]
    alike = max(shares) - min(shares) <= ONE_ROOF * abs(median(shares))
    if (
        found.exact
        and not alike
        and len(sized) == len(group)
        and len({size for size, _ in sized}) > 1
    ):
        (low, least), (high, most) = min(sized), max(sized)
        byte = (most - least) / (high - low)
        call = least - byte * low
        blocks = PADDING * abs(byte)  # digests work by the block
        if all(
            abs(call + byte * size - more) <= ALIKE * abs(more) + blocks for size, more in sized
        ):
            padded = byte != 0 and 0 <= call / byte <= PADDING
            return Change(cases, worse, call=None if padded else call, byte=byte)
    return Change(cases, worse, share=median(shares))


def _alike(values: Sequence[float], within: float = ALIKE) -> bool:
    middle = median(values)
    return all(abs(value - middle) <= within * abs(middle) for value in values)


def _merged(alone: Sequence[Change]) -> list[Change]:
    """Returns the changes, with those merged into one that are alike in several families."""
    made: list[Change] = []
    for change in alone:
        for place, roof in enumerate(made):
            if roof.worse == change.worse and _same(roof, change):
                cases = (*roof.cases, *change.cases)
                made[place] = replace(roof, cases=cases, whole=roof.whole and change.whole)
                break
        else:
            made.append(change)
    return made


def _same(one: Change, other: Change) -> bool:
    terms = (one.call, other.call, ONE_ROOF), (one.byte, other.byte, ONE_ROOF)
    return all(
        a == b or (a is not None and b is not None and abs(a - b) <= within * max(abs(a), abs(b)))
        for a, b, within in (*terms, (one.share, other.share, ALIKE))
    )
