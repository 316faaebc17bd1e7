# SPDX-License-Identifier: BSD-2-Clause
"""Causes injected on the exact board: does `teemark explain` put them where they are?

    python lab/bench/injected.py OUT

Each cause of causes.toml is there in one of two calls. What it takes is what a trace counts more in
that call; what `explain` makes of it is the difference of the part that it belongs to. And the
rule on that cause fires with it, and not without. Run and trace are kept in OUT, and read again if
they are there (the first time: ten minutes). Prints tables in Markdown; status 1 if a part is off
by more than 5 % and by more than 500 instructions, or a rule says something else.
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
KEYS = tuple(key for one in CALLS for key in (one.without, one.there))


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


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", metavar="OUT", type=Path)
    asked = parser.parse_args(arguments)
    try:
        both = inside.measured(asked.out, plan.load(str(PLAN)), KEYS, ())
    except TeemarkError as error:
        say(f"injected: {error.message}", err=True)
        return 2
    rows = list(attributed(both))
    inside.table(rows)
    say("\n| cause | rule | more than its threshold | with it | without |\n|---|---|---|---|---|")
    wrong = 0
    for what, rule, fires, there, without in verdicts(both):
        wrong += (there == "found") != fires or without != "ruled out"
        say(f"| {what} | `{rule}` | {'yes' if fires else 'no'} | {there} | {without} |")
    say(f"\n{fmt.plural(wrong, 'rule')} said something else.")
    return 0 if not wrong and all(row.close for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
