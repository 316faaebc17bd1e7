# SPDX-License-Identifier: BSD-2-Clause
"""Holds what `teemark explain` infers from outside against what a trace of the same call counts.

    python lab/tests/tools/inside.py OUT [--option NAME=VALUE]... [--injected]

Measures the plan `explain` on the exact board with an OP-TEE from source, which has names, and
traces its calls; both are kept in OUT, and a folder that has them is read again. What storage waits
for while the guest sleeps is left out: that takes no instructions. Prints a table in Markdown;
status 1 if a part is off by more than 5 % and by more than 500 instructions.

With --injected it measures calls of which one has a cause of causes.toml and the other hasn't: what
`explain` makes of it is the difference of the part that the cause belongs to. The rule on that
cause has to fire with it, and not without.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from click import echo as say
from msgspec import Struct

from teemark.base.checked import parse_toml, read_text
from teemark.base.errors import TeemarkError
from teemark.base.finding import Status
from teemark.boards import VirtualBoard, config, ensure_installed
from teemark.exact import record
from teemark.findings.ground import SAME, Ground
from teemark.findings.rules import judge
from teemark.measure import runner
from teemark.model import models
from teemark.model.breakdown import Breakdown, breakdowns
from teemark.plan.file import Plan, load_plan
from teemark.run import reader
from teemark.run.reader import RunData
from teemark.trace import store
from teemark.trace.profile import CaseTrace, Trace
from teemark.wording import fmt
from trace_roles import Role, roles

BOARD = "qemu-v8-icount"
SHARE, COUNT = 0.05, 500

KEYS = (
    *(f"invoke/{kind}/tee/none" for kind in ("none", "memref-in", "memref-inout")),
    *(
        f"shm/{memory}/tee/in/{size}"
        for memory in ("temporary", "registered", "allocated", "registered-ro")
        for size in (64, 65536, 1048576)
    ),
    *(
        f"oneshot/sha256/{by}/{size}"
        for by in ("tee", "ta-c", "ta-ce")
        for size in (65536, 1048576)
    ),
    "stream/sha256/tee/1048576/65536",
    "storage/read/tee-ree-fs/256",
    "storage/read/tee-ree-fs/65536",
    "storage/write/tee-ree-fs/256",
)

WAY: Mapping[Role, tuple[Role, ...]] = {
    part: (part,) for part in ("client", "switch", "ta-entry", "mapping")
}
"""The roles that are counted for the parts that every call has."""

_TICKS: tuple[Role, ...] = ("interrupts", "resumed")
_DIGEST: Mapping[tuple[str, ...], tuple[Role, ...]] = {
    ("setup", "compute"): ("command", "compute", "rpcs", *_TICKS)
}
WORK: Mapping[str, Mapping[tuple[str, ...], tuple[Role, ...]]] = {
    "digest": _DIGEST,  # ticks of the timer are in the slopes that tell both
    "stream": _DIGEST,
    "storage": {("compute",): ("command", "compute", *_TICKS), ("rpcs",): ("rpcs",)},
}
"""And of its work, by the kind of call: parts that only together are something inside."""


def measured(out: Path, plan: Plan, keys: Sequence[str], options: Sequence[str]) -> "Both":
    """The run and the trace in `out`, made if they aren't there."""
    file = record.with_optee(config.find(BOARD), "source", options)
    if not (out / "run").is_dir():
        out.mkdir(parents=True, exist_ok=True)
        with VirtualBoard(file) as board:
            ensure_installed(board)
            runner.measure(
                board, plan, out / "run", runner.RunListener(), options=("--trace-events",)
            )
    if not (out / "trace").is_dir():
        record.record(file, keys, out / "trace")
    return Both(reader.read(out / "run"), store.read(out / "trace"))


@dataclass(frozen=True)
class Both:
    """The same calls from outside and from inside."""

    run: RunData
    trace: Trace

    @cached_property
    def parts(self) -> Mapping[str, Breakdown]:
        found = breakdowns(self.run, models.build(self.run))
        return {one.key: one for one in found}

    def traced(self, case: str) -> CaseTrace:
        found = self.trace.case(case)
        assert found is not None, case
        return found

    def inferred(self, case: str, parts: Sequence[str]) -> float:
        """Returns what these parts of a call take by `explain`."""
        values = [part.value for part in self.parts[case].parts if part.name in parts]
        return sum(value.value for value in values if value is not None)

    def counted(self, case: str, means: Sequence[Role]) -> int:
        """Instructions of a call that belong to these roles."""
        found = roles(self.traced(case))
        return sum(found.get(role, 0) for role in means)


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
        return abs(self.off) <= max(SHARE * self.counted, COUNT)


def compare(both: Both) -> Iterator[Row]:
    """Compares each figure once that was inferred once, such as the way of an empty call."""
    seen: set[tuple[tuple[str, ...], float]] = set()
    for case in both.trace.cases:
        one = both.parts.get(case.case)
        if one is None:
            continue
        known = ((part.name, part.value) for part in one.parts)
        parts: dict[str, float] = {n: value.value for n, value in known if value is not None}
        together = {(name,): means for name, means in WAY.items()} | dict(WORK.get(one.kind, {}))
        for names, means in together.items():
            if case.slept and "rpcs" in names:
                continue  # the clock went on without instructions
            inferred = sum(parts.get(name, 0.0) for name in names)
            if parts.keys() >= set(names) and (names, inferred) not in seen:
                seen.add((names, inferred))
                yield Row(case.case, " + ".join(names), inferred, both.counted(case.case, means))


def table(rows: Sequence[Row]) -> None:
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


# -- injected causes ---------------------------------------------------------------------------

PLAN, CAUSES = (Path(__file__).with_name(name) for name in ("injected.toml", "causes.toml"))


class Injected(Struct, frozen=True):
    """A call with a cause, and one without."""

    what: str
    without: str
    there: str
    parts: tuple[str, ...]
    rule: str | None = None
    like: Mapping[str, str] = {}


class _Causes(Struct, frozen=True):
    calls: tuple[Injected, ...]


_CAUSES: _Causes = parse_toml(read_text(CAUSES), _Causes, str(CAUSES))
CALLS = _CAUSES.calls
INJECTED = tuple(key for one in CALLS for key in (one.without, one.there))


def more(both: Both, one: Injected) -> float:
    """Returns how much more its parts take with the cause."""
    return both.inferred(one.there, one.parts) - both.inferred(one.without, one.parts)


def attributed(both: Both) -> Iterator[Row]:
    """Compares what the trace and the parts say that a call takes more than another."""
    for one in CALLS:
        count = both.traced(one.there).instructions - both.traced(one.without).instructions
        yield Row(one.what, " + ".join(one.parts), more(both, one), count)


def verdict(both: Both, rule: str, like: Mapping[str, str] | None = None) -> Status:
    """Returns what the rule says of the run, some cases of which take the samples of others."""
    cases = dict(both.run.cases)
    for key, of in (like or {}).items():
        cases[key] = replace(cases[key], starts=both.run.cases[of].starts)
    found = judge(Ground.of(replace(both.run, cases=cases), both.trace))
    return next(finding.status for finding in found if finding.key == rule)


def verdicts(both: Both) -> Iterator[tuple[str, str, bool, Status, Status]]:
    """Yields the cause, the rule, whether it should fire, and what it says with and without it."""
    for one in CALLS:
        if one.rule is not None:
            there, without = (both.traced(key) for key in (one.there, one.without))
            fires = there.instructions > SAME * without.instructions
            said = verdict(both, one.rule), verdict(both, one.rule, one.like)
            yield one.what, one.rule, fires, *said


def told(both: Both) -> bool:
    """Prints what the rules on injected causes say; whether each says what it should."""
    say("\n| cause | rule | more than its threshold | with it | without |\n|---|---|---|---|---|")
    wrong = 0
    for what, rule, fires, there, without in verdicts(both):
        wrong += (there == "found") != fires or without != "ruled out"
        say(f"| {what} | `{rule}` | {'yes' if fires else 'no'} | {there} | {without} |")
    say(f"\n{fmt.plural(wrong, 'rule')} said something else.")
    return not wrong


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", metavar="OUT", type=Path)
    parser.add_argument("--option", metavar="NAME=VALUE", action="append", default=[])
    parser.add_argument("--injected", action="store_true")
    asked = parser.parse_args(arguments)
    name, keys = (str(PLAN), INJECTED) if asked.injected else ("explain", KEYS)
    try:
        both = measured(asked.out, load_plan(name), keys, asked.option)
    except TeemarkError as error:
        say(f"inside: {error.message}", err=True)
        return 2
    rows = list(attributed(both) if asked.injected else compare(both))
    table(rows)
    good = told(both) if asked.injected else True
    return 0 if good and all(row.close for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
