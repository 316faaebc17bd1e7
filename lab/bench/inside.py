# SPDX-License-Identifier: BSD-2-Clause
"""What `teemark explain` infers from outside, beside what a trace of the same call counts.

    python lab/bench/inside.py EXPLAINED TRACED

EXPLAINED is what `teemark explain RUN --json` printed of a run of the exact board, TRACED a run of
`teemark trace` with the same cases and the same OP-TEE, one that has names (--optee source).
What storage waits for while the guest sleeps is left out: that takes no instructions.
Prints a table in Markdown; status 1 if a part is off by more than 5 % and 500 instructions.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click import echo as say

from teemark import fmt
from teemark.errors import TeemarkError
from teemark.trace import store
from teemark.trace.profile import CaseTrace
from teemark.trace.roles import Role, roles

SHARE, COUNT = 0.05, 500

WAY: Mapping[str, tuple[Role, ...]] = {
    "client": ("client",),
    "switch": ("switch",),
    "ta-entry": ("ta-entry",),
    "client-switch": ("client", "switch"),
    "client-switch-entry": ("client", "switch", "ta-entry"),
    "mapping": ("mapping",),
}
"""What is counted of the parts that every call has."""

WORK: Mapping[str, Mapping[tuple[str, ...], tuple[Role, ...]]] = {
    # Ticks of the timer are in the slopes that tell both.
    "digest": {("setup", "compute"): ("command", "compute", "interrupts")},
    "stream": {("setup", "compute"): ("command", "compute", "interrupts")},
    # With one CPU, who waits for tee-supplicant waits for the CPU that it has.
    "storage": {("compute",): ("command", "compute"), ("rpcs", "run-queue"): ("rpcs",)},
}
"""And of its work, by the kind of call: parts that only together are something inside."""


@dataclass(frozen=True, slots=True)
class Row:
    case: str
    part: str
    inferred: float
    counted: int

    @property
    def off(self) -> float:
        return self.inferred - self.counted

    @property
    def close(self) -> bool:
        return abs(self.off) <= SHARE * self.counted + COUNT


def compare(explained: Sequence[Mapping[str, Any]], traced: Sequence[CaseTrace]) -> Iterator[Row]:
    inside = {case.case: case for case in traced}
    for one in explained:
        case = inside.get(one["case"])
        if case is None:
            continue
        counted = roles(case)
        parts = {part["name"]: part for part in one["parts"] if part["value"] is not None}
        together = {(name,): means for name, means in WAY.items()} | dict(WORK.get(one["kind"], {}))
        for names, means in together.items():
            if case.slept and "rpcs" in names:
                continue  # the clock went on without instructions
            if all(name in parts for name in names):
                yield Row(
                    case.case,
                    " + ".join(names),
                    sum(parts[name]["value"] for name in names),
                    sum(counted.get(role, 0) for role in means),
                )


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("explained", type=Path)
    parser.add_argument("traced", type=Path)
    asked = parser.parse_args(arguments)
    explained = json.loads(asked.explained.read_text())["breakdowns"]
    try:
        rows = list(compare(explained, store.read(asked.traced).cases))
    except TeemarkError as error:
        say(f"inside: {error.message}", err=True)
        return 2
    if not rows:
        say("inside: the two have no case in common", err=True)
        return 2
    say("| case | part | inferred | counted | off | |")
    say("|---|---|--:|--:|--:|---|")
    for row in rows:
        share = fmt.signed(row.off / row.counted, 2) if row.counted else ""
        say(
            f"| {row.case} | {row.part} | {fmt.count(round(row.inferred))} | "
            f"{fmt.count(row.counted)} | {fmt.change(round(row.off))} {share} | "
            f"{'' if row.close else '**off**'} |"
        )
    far = sum(not row.close for row in rows)
    say(f"\n{len(rows)} parts, {far} off by more than {SHARE:.0%} and {COUNT} instructions.")
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
