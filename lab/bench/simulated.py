# SPDX-License-Identifier: BSD-2-Clause
"""Runs that are made up: every call takes a known time, give or take."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence


def lines(
    calls: Mapping[tuple[str, int], float],
    order: Sequence[tuple[str, int]],
    noise: Callable[[], float],
) -> Iterator[str]:
    """The records of a run with those calls (nanoseconds), taken in that order; each takes its time
    multiplied by `noise`."""
    algorithms = [
        {"name": name, "title": name, "class": "digest", "block_bytes": 64, "pad_bytes": 9}
        for name in ("sha1", "sha256")
    ]
    machine = {"type": "machine", "schema": 1, "teebench": "0.1.0", "algorithms": algorithms}
    records: list[dict[str, object]] = [machine]
    for key in dict.fromkeys(key for key, _ in calls):
        workload, algorithm, backend, parameters = key.split("/", 3)
        repeats = [repeat for of, repeat in calls if of == key]
        size = parameters.split("/")[-1]
        records.append(
            {"type": "case", "case": key, "workload": workload, "algorithm": algorithm}
            | {"backend": backend, "parameters": parameters, "verified": True}
            | {"bytes": int(size) if size.isdigit() else None}
            | {"samples": len(order) // len(calls), "repeat": repeats, "loops": [1] * len(repeats)}
        )
    yield from (json.dumps(one) + "\n" for one in records)
    for seq, (key, repeat) in enumerate(order):
        ns = round(calls[key, repeat] * noise())
        yield (
            json.dumps(
                {"type": "sample", "case": key, "seq": seq, "repeat": repeat, "loops": 1, "ns": ns}
                | {"source": "client-clock", "user_us": ns // 2000, "sys_us": ns // 2000}
                | {"nvcsw": 0, "nivcsw": 0, "runq_ns": 0}
            )
            + "\n"
        )
    yield json.dumps({"type": "end", "complete": True, "reason": "done"}) + "\n"
