# SPDX-License-Identifier: BSD-2-Clause
"""Causes injected on the exact board: does `teemark explain` put them where they are?

    python lab/bench/injected.py OUT

Each cause of causes.toml is there in one of two calls, or in one of two builds of OP-TEE. What it
takes is what a trace counts more in that call; what `explain` makes of it is the difference of the
part that it belongs to. And the rule on that cause fires with it, and not without. Runs and traces
are kept in OUT, and read again if they are there (the first time: half an hour, four builds of
OP-TEE). Prints tables in Markdown; status 1 if a part is off by more than 5 % and by more than 500
instructions, or a rule says something else.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import inside
from click import echo as say
from inside import Both, Row
from msgspec import Struct

from teemark.base import fmt
from teemark.base.checked import parse_toml, read_text
from teemark.base.errors import TeemarkError
from teemark.base.finding import Status
from teemark.findings.ground import SAME, Ground
from teemark.findings.rules import judge
from teemark.plan import plan

PLAN, CAUSES = (Path(__file__).with_name(name) for name in ("injected.toml", "causes.toml"))

EMPTY = "invoke/none/tee/none"
HASH = "oneshot/sha256/tee/65536"


class Injected(Struct, frozen=True):
    """A call with a cause, and one without."""

    what: str
    without: str
    there: str
    parts: tuple[str, ...]
    rule: str | None = None
    like: Mapping[str, str] = {}


class Build(Struct, frozen=True):
    """A build without a cause that the default has."""

    what: str
    option: str
    rule: str


class _Causes(Struct, frozen=True):
    calls: tuple[Injected, ...]
    builds: tuple[Build, ...]


_CAUSES: _Causes = parse_toml(read_text(CAUSES), _Causes, str(CAUSES))
CALLS, BUILDS = _CAUSES.calls, _CAUSES.builds
KEYS = (EMPTY, HASH, *(key for one in CALLS for key in (one.without, one.there)))


def more(both: Both, one: Injected) -> float:
    """What the parts that it belongs to have more with it."""
    return both.inferred(one.there, one.parts) - both.inferred(one.without, one.parts)


def attributed(both: Both) -> Iterator[Row]:
    """What a call has more than another, by the trace, and by its part."""
    for one in CALLS:
        count = both.traced(one.there).instructions - both.traced(one.without).instructions
        yield Row(one.what, " + ".join(one.parts), more(both, one), count)


def between(default: Both, build: Build, other: Both) -> Iterator[Row]:
    """What a build saves, part by part."""
    way = [(EMPTY, (name,), means) for name, means in inside.WAY.items()]
    work = [(HASH, names, means) for names, means in inside.WORK["digest"].items()]
    for case, names, means in (*way, *work):
        less = default.inferred(case, names) - other.inferred(case, names)
        count = default.counted(case, means) - other.counted(case, means)
        yield Row(f"{case}, {build.option}", " + ".join(names), less, count)


def verdict(both: Both, rule: str, like: Mapping[str, str] | None = None) -> Status:
    """What the rule says of the run, some cases of which take the samples of others."""
    cases = dict(both.run.cases)
    for key, of in (like or {}).items():
        cases[key] = replace(cases[key], starts=both.run.cases[of].starts)
    found = judge(Ground.of(replace(both.run, cases=cases), both.trace))
    return next(finding.status for finding in found if finding.key == rule)


def verdicts(
    default: Both, builds: Sequence[tuple[Build, Both]]
) -> Iterator[tuple[str, str, bool, Status, Status]]:
    """Whether the rule should fire, what it says, and what it says without the cause."""
    for one in CALLS:
        if one.rule is not None:
            there, without = (default.traced(key) for key in (one.there, one.without))
            fires = there.instructions > SAME * without.instructions
            said = verdict(default, one.rule), verdict(default, one.rule, one.like)
            yield one.what, one.rule, fires, *said
    for build, other in builds:
        yield build.what, build.rule, True, verdict(default, build.rule), verdict(other, build.rule)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", metavar="OUT", type=Path)
    asked, calls = parser.parse_args(arguments), plan.load(str(PLAN))
    try:
        default = inside.measured(asked.out / "default", calls, KEYS, ())
        builds = [
            (one, inside.measured(asked.out / one.rule, calls, KEYS, (one.option,)))
            for one in BUILDS
        ]
    except TeemarkError as error:
        say(f"injected: {error.message}", err=True)
        return 2
    rows = [*attributed(default), *(row for pair in builds for row in between(default, *pair))]
    inside.table(rows)
    say("\n| cause | rule | more than its threshold | with it | without |\n|---|---|---|---|---|")
    wrong = 0
    for what, rule, fires, there, without in verdicts(default, builds):
        wrong += (there == "found") != fires or without != "ruled out"
        say(f"| {what} | `{rule}` | {'yes' if fires else 'no'} | {there} | {without} |")
    say(f"\n{fmt.plural(wrong, 'rule')} said something else.")
    return 0 if not wrong and all(row.close for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
