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
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import inside
from click import echo as say
from inside import Both, Row

from teemark import fmt, plan
from teemark.errors import TeemarkError
from teemark.model import models
from teemark.model.causes import Status, causes
from teemark.trace import causes as by_trace
from teemark.trace.roles import roles

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
    """A cause that `there` has and `without` hasn't: `parts` is where it belongs, `rule` what it
    fires, by cases that begin with `cases`."""

    what: str
    without: str
    there: str
    parts: tuple[str, ...]
    rule: str | None = None
    cases: str = ""


CALLS = (
    Injected(
        "a loop of 65,472 rounds",
        "same-code/intloop/ta-c/64",
        "same-code/intloop/ta-c/65536",
        ("compute",),
    ),
    Injected(
        "4 lines on the console",
        "log/lines/tee/0",
        "log/lines/tee/4",
        ("console",),
        "console-traces",
        "log/",
    ),
    Injected(
        "a temporary reference in place of an allocated one",
        "shm/allocated/tee/in/65536",
        "shm/temporary/tee/in/65536",
        ("mapping",),
        "tmpref-registration",
        "shm/temporary/",
    ),
    Injected(
        "4 RPCs",
        "time/ree/tee/0",
        "time/ree/tee/4",
        ("compute", "rpcs"),
        "ree-time-rpc",
        "time/ree/",
    ),
    Injected(
        "8 MiB of a TA's data",
        "ta-size/32/tee/none",
        "ta-size/8192/tee/none",
        ("ta-entry",),
        "ta-size-remap",
        "ta-size/8192/",
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
    found = both.parts[case]
    values = [part.value for part in found.parts if part.name in parts]
    return sum(value.value for value in values if value is not None)


def _counted(both: Both, case: str) -> int:
    traced = both.trace.case(case)
    assert traced is not None, case
    return traced.instructions


def attributed(both: Both) -> Iterator[Row]:
    """What a call has more than another, by the trace, and by its part."""
    for one in CALLS:
        more = _value(both, one.there, one.parts) - _value(both, one.without, one.parts)
        count = _counted(both, one.there) - _counted(both, one.without)
        yield Row(one.what, " + ".join(one.parts), more, count)


def between(builds: Mapping[str, Both]) -> Iterator[Row]:
    """What a build saves, part by part."""
    default = builds["default"]
    for name in RULES:
        for case, parts in {
            EMPTY: inside.WAY,
            HASH: {"setup + compute": inside.WORK["digest"]},
        }.items():
            for part, means in parts.items():
                names = tuple(part.split(" + "))
                meant = next(iter(means.values())) if isinstance(means, Mapping) else means
                less = _value(default, case, names) - _value(builds[name], case, names)
                counts = []
                for both in (default, builds[name]):
                    traced = both.trace.case(case)
                    assert traced is not None
                    counts.append(sum(roles(traced).get(role, 0) for role in meant))
                yield Row(f"{case}, {' '.join(BUILDS[name])}", part, less, counts[0] - counts[1])


def verdict(both: Both, rule: str, without: str = "") -> Status:
    """What the rule says of the run, without cases that begin so."""
    run = both.run
    if without:
        left = {key: case for key, case in run.cases.items() if not key.startswith(without)}
        run = replace(run, cases=left)
    found = (*causes(run, models.build(run)), *by_trace.causes(both.trace))
    return next(cause.status for cause in found if cause.name == rule)


def verdicts(builds: Mapping[str, Both]) -> Iterator[tuple[str, str, Status, Status]]:
    default = builds["default"]
    for one in CALLS:
        if one.rule is not None:
            without = verdict(default, one.rule, one.cases)
            yield one.what, one.rule, verdict(default, one.rule), without
    for name, (rule, what) in RULES.items():
        yield what, rule, verdict(default, rule), verdict(builds[name], rule)


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
    say("\n| cause | rule | with it | without |\n|---|---|---|---|")
    wrong = 0
    for what, rule, there, without in verdicts(builds):
        wrong += there != "found" or without == "found"
        say(f"| {what} | `{rule}` | {there} | {without} |")
    say(f"\n{fmt.plural(wrong, 'rule')} said something else.")
    return 0 if not wrong and all(row.close for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
