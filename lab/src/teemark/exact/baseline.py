# SPDX-License-Identifier: BSD-2-Clause
"""A baseline holds the instructions of each case on the exact board, in a committed text file with
which a gate compares runs. docs/ci.md shows the file.

`by` names the versions that also decide the figures. `held` is the longest stretch with interrupts
held off, where OP-TEE's core has symbols. A traced case has a list of the functions that
take a hundredth of its instructions or more (a thousandth for programs and TAs), each without what
it calls, and the sum of all others."""

import json
import math
from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct, field

from teemark.base.checked import Wrong, parse_toml
from teemark.base.errors import ConfigError
from teemark.model.compare import Comparison, readings, shifted, slack, with_verdict
from teemark.model.stats import Estimate, exactly
from teemark.run.reader import RunData

OTHERS = "- others"  # The sum of unlisted functions

LISTED = 0.01
OWN_LISTED = 0.001
"""A function is listed if it takes this share of its case: OWN_LISTED in programs and TAs, else
LISTED."""

GROWN = 1.5
"""An unlisted function has grown if it takes more than this many times the listing threshold."""

HEAD = "# Instructions a call. `teemark gate --baseline FILE --update` writes this file.\n"

Functions = Mapping[str, int]  # Instructions by level and name, such as `S-EL0 memset`


class Baseline(Struct, frozen=True, forbid_unknown_fields=True):
    plan: str
    board: str
    by: Mapping[str, str]
    figures: Annotated[Mapping[str, float], Meta(min_length=1)]
    """Instructions per call by the case's key; ` x4` behind a key means four operations per
    call."""
    functions: Mapping[str, Functions] = field(default_factory=dict)
    held: Mapping[str, int] = field(default_factory=dict)
    """Instructions of the longest stretch with interrupts held off, by the case's key."""

    def __post_init__(self) -> None:
        for case, count in self.figures.items():
            if not 0 < count < math.inf:
                raise Wrong(f"{case} can't take {count} instructions", key="figures")


def figures_of(run: RunData) -> tuple[dict[str, float], dict[str, float]]:
    """Returns the counted figures by key, and separately the scattered ones: calls that wait for a
    disk differ from boot to boot by any amount."""
    counted: dict[str, float] = {}
    scattered: dict[str, float] = {}
    for key, reading in readings(run).items():
        (counted if reading.steady else scattered)[key] = round(reading.least, 3)
    return counted, scattered


def held_against(baseline: Baseline, *boots: RunData) -> Comparison:
    """Compares boots with the baseline, by the judge of `compare`. The boots' smallest figure
    counts, since some boots take more instructions than others. A case that scatters in the last
    boot is undecided."""
    measured = [readings(boot) for boot in boots]
    pairs, lost = [], []
    for key, before in baseline.figures.items():
        by_boot = [boot[key] for boot in measured if key in boot]
        if not by_boot:
            lost.append(key)
            continue
        last = by_boot[-1]
        now = Estimate(round(last.least, 3))
        if last.steady:
            now = exactly(round(min(reading.least for reading in by_boot if reading.steady), 3))
        pairs.append(with_verdict(last.difference(exactly(before), now), *slack(before, last)))
    new = tuple(key for key in figures_of(boots[-1])[0] if key not in baseline.figures)
    return Comparison(boots[-1], boots[-1], tuple(shifted(pairs)), tuple(lost), new)


def _least(function: str, functions: Functions) -> float:
    in_program = function.startswith(("EL0 ", "S-EL0 "))
    return (OWN_LISTED if in_program else LISTED) * sum(functions.values())


def listed(functions: Functions) -> dict[str, int]:
    """Returns the functions that are to be listed, the largest first, and the sum of the others."""
    ordered = sorted(functions.items(), key=lambda item: (-item[1], item[0]))
    large = {
        key: count for key, count in ordered if count >= _least(key, functions) and key != OTHERS
    }
    return large | {OTHERS: sum(functions.values()) - sum(large.values())}


def render(baseline: Baseline) -> str:
    tables: dict[str, Mapping[str, object]] = {
        "by": baseline.by,
        "figures": {key: _number(value) for key, value in baseline.figures.items()},
        "held": baseline.held,
    }
    for case, functions in baseline.functions.items():
        tables[f'functions."{case}"'] = listed(functions)
    lines = [f'{HEAD}plan = "{baseline.plan}"', f'board = "{baseline.board}"']
    for name, values in tables.items():
        lines += ["", f"[{name}]"]
        lines += [f"{json.dumps(key)} = {json.dumps(value)}" for key, value in values.items()]
    return "\n".join(lines) + "\n"


def _number(value: float) -> float:
    return int(value) if value.is_integer() else value


def parse(text: str, file: str) -> Baseline:
    """Reads a baseline; a ConfigError names the place that isn't understood."""
    try:
        baseline: Baseline = parse_toml(text, Baseline, file, lines=True)
    except ConfigError as error:
        remedy = "`teemark gate --update` writes the whole file"
        raise ConfigError(error.message, hint=error.hint or remedy) from None
    return baseline


def function_changes(before: Functions, after: Functions) -> list[tuple[str, int]]:
    """Returns the difference in instructions of each function that changed, the largest first.
    `before` has only listed functions: a function it lacks is new if it is too large to have been
    left out; otherwise it counts among the others."""
    changes = {key: after.get(key, 0) - count for key, count in before.items() if key != OTHERS}
    changes |= {
        key: count
        for key, count in after.items()
        if key not in before and count >= GROWN * _least(key, before)
    }
    changes[OTHERS] = sum(after.values()) - sum(before.values()) - sum(changes.values())
    changed = [(key, count) for key, count in changes.items() if count]
    return sorted(changed, key=lambda change: -abs(change[1]))
