# SPDX-License-Identifier: BSD-2-Clause
"""Has teebench check a plan's cases, and names the plan's line with a mistake. Only teebench knows
which workloads, algorithms and backends there are; its build for this machine checks a plan before
any board does."""

import re
import subprocess

from teemark.base import paths
from teemark.base.errors import ConfigError
from teemark.plan.file import Plan, case_lines

_COMPLAINT = re.compile(r"^teebench: (?:standard input|\S+/cases):(\d+): (.+)$", re.MULTILINE)
_HINT = re.compile(r"^teebench: hint: (.+)$", re.MULTILINE)


def check(plan: Plan) -> bool:
    """Raises a ConfigError for the first wrong case. Returns false if the plan couldn't be checked,
    since teebench isn't built for this machine."""
    if plan.name == "broker":  # teemark/broker measures it, without teebench
        return True
    program = paths.built_programs("native") / "teebench"
    try:
        done = subprocess.run(
            [str(program), "--check", "--cases", "-"],
            input=case_lines(plan.cases),
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return False
    problem = mistake(plan, done.stderr)
    if problem is not None:
        raise problem
    return done.returncode == 0


def mistake(plan: Plan, complaint: str) -> ConfigError | None:
    """Returns teebench's complaint about a case, with the case's place in the plan; None if the
    complaint is about something else."""
    match = _COMPLAINT.search(complaint)
    if match is None or not 0 < int(match[1]) <= len(plan.cases):
        return None
    case = plan.cases[int(match[1]) - 1]
    why = match[2].removeprefix(f"{case.key}: ")
    hint = _HINT.search(complaint)
    advice = hint[1] if hint else "docs/workloads.md says what cases there are"
    return ConfigError(f"{case.place or plan.name}: {case.key}: {why}", hint=advice)
