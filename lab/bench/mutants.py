# SPDX-License-Identifier: BSD-2-Clause
"""Sums up what `mutmut run` found: the share of mutants that tests killed, and those that survived.

    make mutants

Exit status 1: fewer than nine of ten were killed.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter

from click import echo as say

LEAST = 0.90
KILLED = ("killed", "timeout", "segfault", "caught by type check")


def mutmut(*words: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "mutmut", *words], capture_output=True, text=True, check=True
    ).stdout


def main() -> int:
    found = re.findall(r"^\s+(\S+__mutmut_\d+): (.+)$", mutmut("results", "--all", "true"), re.M)
    if not found:
        sys.exit("no mutants: run `make mutants`")
    counts: Counter[tuple[str, str]] = Counter()
    for name, what in found:
        counts[name.rpartition(".")[0], "killed" if what in KILLED else what] += 1
        if what not in KILLED:
            changed = [
                line for line in mutmut("show", name).splitlines() if line[:2] in ("- ", "+ ")
            ]
            say(f"{name}: {what}\n" + "\n".join(f"    {line}" for line in changed))
    for module in sorted({module for module, _ in counts}):
        of = {what: n for (name, what), n in counts.items() if name == module}
        say(f"{module:45} " + ", ".join(f"{n} {what}" for what, n in sorted(of.items())))
    killed = sum(n for (_, what), n in counts.items() if what == "killed")
    say(f"{killed} of {len(found)} killed: {killed / len(found):.1%}")
    return 0 if killed >= LEAST * len(found) else 1


if __name__ == "__main__":
    sys.exit(main())
