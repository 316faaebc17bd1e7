# SPDX-License-Identifier: BSD-2-Clause
"""teemark's version, and the commit that it was made from."""

import subprocess
from functools import cache
from pathlib import Path

__version__ = "0.2.0"

_ARCHIVED = "$Format:%h$"
"""The commit, which `git archive` writes here: a release and its wheel have no repository."""


@cache
def full_version() -> str:
    """Returns the version with its commit, such as `0.2.0 (5b123c88)`. In a checkout with changes
    it is `0.2.0 (5b123c88 + changes)`; without a commit, the version alone."""
    commit = "" if _ARCHIVED.startswith("$") else _ARCHIVED
    here = Path(__file__)
    if not commit and _git(here.parent, "ls-files", "--error-unmatch", here.name):
        commit = _git(here.parent, "rev-parse", "--short", "HEAD")
        changed = _git(here.parent, "status", "--porcelain", "--untracked-files=no")
        commit += " + changes" if changed else ""
    return f"{__version__} ({commit})" if commit else __version__


def _git(folder: Path, *words: str) -> str:
    """Returns what git says, without running programs that the repository names; "" if it fails."""
    safe = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *safe, *words], capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
