# SPDX-License-Identifier: BSD-2-Clause
"""Says of a plan's own lines what teebench finds wrong with its cases. Only teebench knows
what workloads, algorithms and backends there are; the one that is built for this machine looks at a
plan before any board does."""

import re
import subprocess

from teemark.base import paths
from teemark.base.errors import ConfigError
from teemark.plan import plan
from teemark.plan.plan import Plan

_COMPLAINT = re.compile(r"^teebench: (?:standard input|\S+/cases):(\d+): (.+)$", re.MULTILINE)
_HINT = re.compile(r"^teebench: hint: (.+)$", re.MULTILINE)


def check(asked: Plan) -> bool:
    """Raises a ConfigError for the first case that is wrong. False if it couldn't be checked,
    since teebench isn't built for this machine."""
    if asked.name == "broker":  # which mosquitto and its clients measure: teemark/broker
        return True
    program = paths.built_programs("native") / "teebench"
    try:
        done = subprocess.run(
            [str(program), "--check", "--cases", "-"],
            input=plan.case_lines(asked.cases),
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return False
    problem = mistake(asked, done.stderr)
    if problem is not None:
        raise problem
    return done.returncode == 0


def mistake(asked: Plan, complaint: str) -> ConfigError | None:
    """Returns what teebench said of a case line, with the place in the plan; None for anything
    else."""
    match = _COMPLAINT.search(complaint)
    if match is None or not 0 < int(match[1]) <= len(asked.cases):
        return None
    case = asked.cases[int(match[1]) - 1]
    why = match[2].removeprefix(f"{case.key}: ")
    hint = _HINT.search(complaint)
    advice = hint[1] if hint else "docs/workloads.md says what cases there are"
    return ConfigError(f"{case.place or asked.name}: {case.key}: {why}", hint=advice)
