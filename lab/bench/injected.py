# SPDX-License-Identifier: BSD-2-Clause
"""Causes injected on the exact board: does `teemark explain` put them where they are?

    python lab/bench/injected.py OUT

Each cause is there in one of two calls, or in one of two builds of OP-TEE. What it takes is what a
trace counts more in that call; what `explain` makes of it is the difference of the part that it
belongs to. And the rule on that cause fires with it, and not without. Runs and traces are kept in
OUT, and read again if they are there (the first time: half an hour, four builds of OP-TEE). Prints
tables in Markdown; status 1 if a part is off by more than 5 % and by more than 500 instructions, or
a rule says something else.
"""

from __future__ import annotations

import argparse
import operator
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import inside
from click import echo as say
from inside import Both, Row

from teemark.base import fmt
from teemark.base.errors import TeemarkError
from teemark.base.finding import Status
from teemark.findings.ground import SAME, Ground
from teemark.findings.rules import judge
from teemark.plan import plan

PLAN = Path(__file__).with_name("injected.toml")

EMPTY = "invoke/none/tee/none"
HASH = "oneshot/sha256/tee/65536"
BUILDS: Mapping[str, tuple[str, ...]] = {
    "default": (),
    "ce": ("CFG_CRYPTO_WITH_CE=y",),
    "debug": ("CFG_TEE_CORE_DEBUG=n",),
    "o2": ("CFG_CC_OPT_LEVEL=2",),
}


@dataclass(frozen=True, slots=True)
class Injected:
    """A cause that `there` has and `without` hasn't: `parts` is where it belongs. `rule` is what
    fires if it is more than a rule's threshold; `like` makes a run without it: cases that take the
    samples of others."""

    what: str
    without: str
    there: str
    parts: tuple[str, ...]
    rule: str | None = None
    like: Mapping[str, str] = field(default_factory=dict)


CALLS = (
    # Its buffer grows with it.
    Injected(
        "a loop of 65,472 rounds",
        "same-code/intloop/ta-c/64",
        "same-code/intloop/ta-c/65536",
        ("mapping", "compute"),
    ),
    Injected(
        "4 lines on the console",
        "log/lines/tee/0",
        "log/lines/tee/4",
        ("console",),
    ),
    Injected(
        "a temporary reference in place of an allocated one",
        "shm/allocated/tee/in/65536",
        "shm/temporary/tee/in/65536",
        ("mapping",),
        "tmpref-registration",
        {f"shm/temporary/tee/in/{n}": f"shm/allocated/tee/in/{n}" for n in (64, 65536)},
    ),
    # The way back into the secure world is no time that the normal world takes.
    Injected(
        "4 RPCs",
        "time/ree/tee/0",
        "time/ree/tee/4",
        ("compute", "rpcs"),
        "ree-time-rpc",
        {f"time/ree/tee/{n}": f"time/system/tee/{n}" for n in (0, 4)},
    ),
    Injected(
        "8 MiB of a TA's data",
        "ta-size/32/tee/none",
        "ta-size/8192/tee/none",
        ("ta-entry",),
        "ta-size-remap",
        {"ta-size/8192/tee/none": "ta-size/32/tee/none"},
    ),
)

KEYS = (EMPTY, HASH, *(key for one in CALLS for key in (one.without, one.there)))

RULES: Mapping[str, tuple[str, str]] = {
    "ce": ("no-crypto-extensions-in-tee", "a core without Crypto Extensions"),
    "debug": ("core-debug", "a core that checks its locks"),
    "o2": ("size-optimised-core", "a core built for size"),
}
"""What the default build has, and the other build hasn't."""


def _value(both: Both, case: str, parts: Sequence[str]) -> float:
    values = [part.value for part in both.parts[case].parts if part.name in parts]
    return sum(value.value for value in values if value is not None)


def attributed(both: Both) -> Iterator[Row]:
    """What a call has more than another, by the trace, and by its part."""
    for one in CALLS:
        count = both.traced(one.there).instructions - both.traced(one.without).instructions
        yield Row(one.what, " + ".join(one.parts), more(both, one), count)


def more(both: Both, one: Injected) -> float:
    """What the parts that it belongs to have more with it."""
    return _value(both, one.there, one.parts) - _value(both, one.without, one.parts)


def between(builds: Mapping[str, Both]) -> Iterator[Row]:
    """What a build saves, part by part."""
    way = [(EMPTY, (name,), means) for name, means in inside.WAY.items()]
    work = [(HASH, names, means) for names, means in inside.WORK["digest"].items()]
    for build in RULES:
        pair = (builds["default"], builds[build])
        for case, names, means in (*way, *work):
            inferred, counted = (
                (_value(both, case, names) for both in pair),
                (both.counted(case, means) for both in pair),
            )
            where = f"{case}, {' '.join(BUILDS[build])}"
            yield Row(where, " + ".join(names), operator.sub(*inferred), operator.sub(*counted))


def verdict(both: Both, rule: str, like: Mapping[str, str] | None = None) -> Status:
    """What the rule says of the run, some cases of which take the samples of others."""
    run = both.run
    other = {
        key: replace(run.cases[key], starts=run.cases[of].starts)
        for key, of in (like or {}).items()
    }
    run = replace(run, cases={**run.cases, **other})
    found = judge(Ground.of(run, both.trace))
    return next(finding.status for finding in found if finding.key == rule)


def verdicts(builds: Mapping[str, Both]) -> Iterator[tuple[str, str, bool, Status, Status]]:
    """Whether the rule should fire, what it says, and what it says without the cause."""
    default = builds["default"]
    for one in CALLS:
        if one.rule is not None:
            fires = (
                default.traced(one.there).instructions
                > SAME * default.traced(one.without).instructions
            )
            found = verdict(default, one.rule)
            yield one.what, one.rule, fires, found, verdict(default, one.rule, one.like)
    for name, (rule, what) in RULES.items():
        yield what, rule, True, verdict(default, rule), verdict(builds[name], rule)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", metavar="OUT", type=Path)
    asked = parser.parse_args(arguments)
    try:
        builds = {
            name: inside.measured(asked.out / name, plan.load(str(PLAN)), KEYS, options)
            for name, options in BUILDS.items()
        }
    except TeemarkError as error:
        say(f"injected: {error.message}", err=True)
        return 2
    rows = [*attributed(builds["default"]), *between(builds)]
    inside.table(rows)
    say("\n| cause | rule | more than its threshold | with it | without |\n|---|---|---|---|---|")
    wrong = 0
    for what, rule, fires, there, without in verdicts(builds):
        wrong += (there == "found") != fires or without != "ruled out"
        say(f"| {what} | `{rule}` | {'yes' if fires else 'no'} | {there} | {without} |")
    say(f"\n{fmt.plural(wrong, 'rule')} said something else.")
    return 0 if not wrong and all(row.close for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
