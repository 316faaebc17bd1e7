# SPDX-License-Identifier: BSD-2-Clause
"""Rules on the TEE's storage: compared with a file, and its calls to the normal world."""

from collections.abc import Iterator
from dataclasses import replace

from teemark.base.finding import Finding, Share
from teemark.base.work import EMPTY_CALL, STORAGE
from teemark.findings.ground import EXPLAIN, SAME, Ground, cause, is_known, not_checked
from teemark.model.decide import above
from teemark.model.stats import Estimate, exactly
from teemark.wording import fmt

BLOCK = 4096  # Bytes of a block of OP-TEE's storage
EACH_BLOCK = 0.5  # With more RPCs a block than this, RPCs grow with the blocks


def stored_objects(ground: Ground) -> Finding | None:
    """Compares creating an object with a file that is written through to the disk."""
    for stored in ground.models.stats:
        plain = ground.models.case(STORAGE.key("create", "file-fsync", stored.work.parameters))
        if not stored.key.startswith("storage/create/tee-ree-fs/") or plain is None:
            continue
        if plain.time.median <= 0:
            continue
        ratio = stored.estimate / plain.estimate
        answer, size = above(ratio, 1.0), fmt.size(stored.bytes or 0)
        evidence = f"{ground.both(stored, plain)} (medians)."
        rpcs = ground.run.cases[stored.key].record.rpcs_per_call
        if rpcs:
            evidence += f" The TEE calls the normal world {fmt.digits(rpcs)} times for it."
        claim = f"Creating an object of {size} in the TEE's storage takes "
        claim += f"{fmt.ratio(ground.run, ratio)} the time of a file written through to the disk."
        remedy = "Keep in one object what is read together, and read it once."
        if answer == "undecided":
            claim = f"Whether creating an object of {size} in the TEE's storage takes longer than "
            claim += "writing a file through to the disk is undecided."
            remedy = ground.more_samples(ratio, (1.0,), min(stored.time.count, plain.time.count))
        return Finding(
            key="stored-objects",
            topic="choice" if ground.models.case(EMPTY_CALL) else "answer",
            status="undecided" if answer == "undecided" else "found",
            claim=claim,
            evidence=evidence,
            remedy=remedy if answer != "no" else "",
            figures=(ground.figure(f"{stored.key} over {plain.key}", ratio, "times"),),
            sure=answer != "undecided" and is_known(ratio),
        )
    return None


def _growth(ground: Ground) -> Iterator[tuple[float, str, int] | None]:
    """Yields RPCs a block, the key of the largest object, and its bytes. Yields None if the TEE's
    storage was measured but its RPCs weren't counted."""
    for cost in ground.models.costs:
        if cost.workload != STORAGE.name or cost.algorithm not in ("read", "write"):
            continue
        if not cost.backend.startswith("tee"):
            continue
        points = zip(cost.fit.points, cost.rpcs, strict=False)
        counted = [(int(point.x), rpcs) for point, rpcs in points if rpcs is not None]
        if len(counted) < 2:
            yield None
            continue
        (small, few), *_, (large, many) = counted
        blocks = -(-large // BLOCK) - -(-small // BLOCK)
        if blocks > 0:
            key = STORAGE.key(cost.algorithm, cost.backend, large)
            yield (many - few) / blocks, key, large


def _served(ground: Ground, key: str) -> Estimate | None:
    for call in ground.breakdowns:
        part = call.part("rpcs")
        if call.key == key and part is not None and part.value is not None and call.total.value > 0:
            return part.value / call.total
    return None


def rpcs(ground: Ground) -> Finding:
    """Finds RPCs that grow with the blocks and are a large part of the largest read or write."""
    key = "storage-rpc-per-block"
    growth = list(_growth(ground))
    counted = [row for row in growth if row is not None]
    if not counted:
        what = "storage/read|write/tee-ree-fs/BYTES of three sizes, with their RPCs"
        counts = "the number of RPCs, which the kernel shows only to root"
        return not_checked(key, counts if growth else what, EXPLAIN if not growth else "")
    most, case, size = max(counted)
    each = ground.figure(f"RPCs a block, {case}", exactly(most), "")
    if most <= EACH_BLOCK:
        return cause(key, "ruled out", (each,), claim="")
    shares = [(share, name) for _, name, _ in counted if (share := _served(ground, name))]
    if not shares:
        lacks, often = "what an RPC of the storage takes", fmt.digits(most)
        claim = f"The TEE calls the normal world {often} times a block, in {case}."
        return not_checked(key, lacks, EXPLAIN, claim)
    share, case = max(shares, key=lambda pair: pair[0].value)
    part = ground.figure(f"RPCs, of {case}", share, "share")
    if part.interval is not None:  # a part of a call lies between none and all of it
        low, high = max(part.interval.low, 0.0), min(part.interval.high, 1.0)
        part = replace(part, interval=replace(part.interval, low=low, high=high))
    return cause(
        key,
        (share, SAME - 1),
        (each, part),
        claim="The TEE's storage calls the normal world for each block.",
        remedy="Keep objects small, and read or write them whole.",
        costs=Share(min(share.value, 1.0), f"a call with {fmt.size(size)}: {case}"),
    )
