# SPDX-License-Identifier: BSD-2-Clause
"""A baseline holds the instructions of each case on the exact board, in a committed text file with
which a gate compares runs. docs/ci.md shows the file.

`by` names the versions that also decide the figures. `held` is the longest stretch with interrupts
held off, where OP-TEE's core has symbols. A traced case has a list of the functions that
take a hundredth of its instructions or more (a thousandth for programs and TAs), each without what
it calls, and the sum of all others."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from teemark.base.errors import DataError
from teemark.model.compare import Comparison, readings, shifted, slack, with_verdict
from teemark.model.stats import Estimate, exactly
from teemark.run.reader import RunData

OTHERS = ("", "others")  # Level and name of the sum of unlisted functions

LISTED = 0.01
OWN_LISTED = 0.001
"""A function is listed if it takes this share of its case: OWN_LISTED in programs and TAs, else
LISTED."""

GROWN = 1.5
"""An unlisted function has grown if it takes more than this many times the listing threshold."""

HEAD = "# Instructions a call. `teemark gate --baseline FILE --update` writes this file.\n"

Functions = Mapping[tuple[str, str], int]  # Instructions by level and name


@dataclass(frozen=True, slots=True)
class Baseline:
    plan: str
    board: str
    by: Mapping[str, str]
    figures: Mapping[str, float]
    """Instructions per call by the case's key; ` x4` behind a key means four operations per
    call."""
    functions: Mapping[str, Functions] = field(default_factory=dict)
    held: Mapping[str, int] = field(default_factory=dict)
    """Instructions of the longest stretch with interrupts held off, by the case's key."""


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


def _least(level: str, functions: Functions) -> float:
    return (OWN_LISTED if level in ("EL0", "S-EL0") else LISTED) * sum(functions.values())


def listed(functions: Functions) -> dict[tuple[str, str], int]:
    """Returns the functions that are to be listed, the largest first, and the sum of the others."""
    ordered = sorted(functions.items(), key=lambda item: (-item[1], item[0]))
    large = {
        key: count for key, count in ordered if count >= _least(key[0], functions) and key != OTHERS
    }
    return large | {OTHERS: sum(functions.values()) - sum(large.values())}


def render(baseline: Baseline) -> str:
    lines = [f"plan {baseline.plan}", f"board {baseline.board}"]
    lines += [f"by {name} {value}" for name, value in baseline.by.items()]
    lines += [f"{_number(value)} {key}" for key, value in baseline.figures.items()]
    lines += [f"held {count} {key}" for key, count in baseline.held.items()]
    for case, functions in baseline.functions.items():
        lines += ["", f"functions {case}"]
        lines += [
            f"{count} {level or '-'} {name}" for (level, name), count in listed(functions).items()
        ]
    return HEAD + "\n".join(lines) + "\n"


def _number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


def parse(text: str, file: str) -> Baseline:
    """Reads a baseline; a DataError names the line that isn't understood."""
    words: dict[str, str] = {}
    by: dict[str, str] = {}
    figures: dict[str, float] = {}
    functions: dict[str, dict[tuple[str, str], int]] = {}
    held: dict[str, int] = {}
    kept: dict[tuple[str, str], int] | None = None  # functions of the current case
    for number, line in enumerate(text.splitlines(), 1):
        first, _, rest = line.partition(" ")
        name, _, value = rest.partition(" ")
        if not first or first.startswith("#"):
            continue
        try:
            if first == "functions" and rest and rest not in functions:
                kept = functions[rest] = {}
            elif kept is not None and value:
                kept["" if name == "-" else name, value] = int(first)
            elif first == "held" and value:
                held[value] = int(name)
            elif first in ("plan", "board") and rest:
                words[first] = rest
            elif first == "by" and rest:
                by[name] = value
            elif kept is None and rest not in ("", *figures) and 0 < float(first) < math.inf:
                figures[rest] = float(first)
            else:
                raise ValueError
        except ValueError:
            why = f"{file}:{number}: not a line of a baseline: {line[:80]!r}"
            raise DataError(why, hint=_REMEDY) from None
    if set(words) != {"plan", "board"} or not figures:
        why = f"{file}: no baseline: it has no plan, no board or no case"
        raise DataError(why, hint=_REMEDY)
    return Baseline(words["plan"], words["board"], by, figures, functions, held)


_REMEDY = "`teemark gate --update` writes the whole file"


def function_changes(before: Functions, after: Functions) -> list[tuple[str, str, int]]:
    """Returns level, name and difference in instructions of each function that changed, the largest
    difference first. `before` has only listed functions: a function it lacks is new if it is too
    large to have been left out; otherwise it counts among the others."""
    changes = {key: after.get(key, 0) - count for key, count in before.items() if key != OTHERS}
    changes |= {
        key: count
        for key, count in after.items()
        if key not in before and count >= GROWN * _least(key[0], before)
    }
    changes[OTHERS] = sum(after.values()) - sum(before.values()) - sum(changes.values())
    changed = [(*key, count) for key, count in changes.items() if count]
    return sorted(changed, key=lambda change: -abs(change[2]))
