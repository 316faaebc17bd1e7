# SPDX-License-Identifier: BSD-2-Clause
"""What it costs to hand a buffer to the TEE, by the kind of its memory."""

from __future__ import annotations

from teemark.base import fmt
from teemark.base.finding import Finding
from teemark.base.work import SHM
from teemark.findings.ground import (
    EXPLAIN,
    SAME,
    STATUS,
    Ground,
    figure,
    missing,
    not_checked,
    share_of,
    signature,
)
from teemark.model.decide import Answer, above
from teemark.model.stats import CaseStats

PAGE = 4096
"""Bytes that the TEE maps at a time."""

Pair = tuple[CaseStats, CaseStats]


def _pairs(ground: Ground, memory: str) -> tuple[list[Pair], str]:
    """Returns calls with this memory and with allocated memory, by size; and what is missing."""
    ours, allocated = (ground.by_size(SHM, kind, "tee") for kind in (memory, "allocated"))
    shared = [size for size in ours if size in allocated and allocated[size].time.median > 0]
    names = [f"shm/{kind}/tee/in/N" for kind in (memory, "allocated")]
    lacks = missing((ours, names[0]), (allocated, names[1])) or " and ".join(names)
    return [(ours[size], allocated[size]) for size in shared], lacks


def temporary(ground: Ground) -> Finding:
    """Judges all sizes: found where one is surely dearer, ruled out where none can be."""
    key = "tmpref-registration"
    pairs, lacks = _pairs(ground, "temporary")
    if not pairs:
        return not_checked(key, f"{lacks} of one size", EXPLAIN)
    ratios = [(one, other, one.estimate / other.estimate) for one, other in pairs]
    answers = [above(ratio, SAME) for *_, ratio in ratios]
    answer: Answer = "undecided" if "undecided" in answers else "no"
    if "yes" in answers:
        answer = "yes"
        ratios = [row for row, said in zip(ratios, answers, strict=True) if said == "yes"]
    one, other, ratio = max(ratios, key=lambda row: row[2].value)
    size = fmt.size(one.bytes or 0)
    extra = one.estimate - other.estimate
    costs = share_of(extra, one, f"a call with {size} in temporary memory")
    return signature(
        key,
        STATUS[answer],
        (
            figure(ground, f"{one.key} over {other.key}", ratio, "times"),
            figure(ground, "difference a call", extra),
        ),
        claim="A temporary reference is registered and released by every call.",
        remedy="Allocate shared memory once (TEEC_AllocateSharedMemory) and use it for many calls.",
        costs=costs,
        saves=costs,
    )


def read_only(ground: Ground) -> Finding:
    """Judges by what a byte more costs beyond what it costs in allocated memory."""
    key = "shadow-copy"
    pairs, lacks = _pairs(ground, "registered-ro")
    if len(pairs) < 2:
        return not_checked(key, f"{lacks} of two sizes", EXPLAIN)
    (small, small_other), *_, (large, other) = pairs
    extra = (large.estimate - other.estimate) - (small.estimate - small_other.estimate)
    share = extra / other.estimate
    bytes_more = (large.bytes or 0) - (small.bytes or 0)
    costs = share_of(extra, large, f"a call with {fmt.size(large.bytes or 0)} of read-only memory")
    return signature(
        key,
        STATUS[above(share, SAME - 1)],
        (
            figure(ground, f"grows by, of {other.key}", share, "share"),
            figure(ground, "a byte", extra.scaled(1 / bytes_more)),
        ),
        claim="Read-only memory can't be shared: the client library copies it in every call.",
        remedy="Hand over writable memory, best allocated by TEEC_AllocateSharedMemory.",
        costs=costs,
        saves=costs,
    )


def pages(ground: Ground) -> Finding:
    key = "per-page-mapping"
    found = ground.by_size(SHM, "allocated", "tee")
    if len(found) < 2 or next(iter(found.values())).time.median <= 0:
        lacks = "shm/allocated/tee/in/N of two sizes, such as 4 KiB and 1 MiB"
        return not_checked(key, lacks, EXPLAIN)
    (small, first), *_, (large, last) = found.items()
    more = -(-large // PAGE) - -(-small // PAGE)
    if more < 1:
        return not_checked(key, "shm/allocated/tee/in/N of sizes that lie pages apart", EXPLAIN)
    ratio, extra = last.estimate / first.estimate, last.estimate - first.estimate
    return signature(
        key,
        STATUS[above(ratio, SAME)],
        (
            figure(ground, f"{last.key} over {first.key}", ratio, "times"),
            figure(ground, "a page", extra.scaled(1 / more)),
        ),
        claim="The TEE maps a buffer page by page in every call, whether or not the TA reads it.",
        remedy="Hand over no more of a buffer than the TA needs.",
        costs=share_of(extra, last, f"a call that only carries {fmt.size(large)}"),
    )
