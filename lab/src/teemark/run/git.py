# SPDX-License-Identifier: BSD-2-Clause
"""Asks git about a source tree."""

import subprocess
from pathlib import Path

from teemark.run.records import Commit


def head(folder: Path) -> Commit | None:
    """Returns the commit checked out in the repository around `folder`; None if there is none."""
    digits = git(folder, "rev-parse", "--verify", "--quiet", "HEAD")
    if not digits:
        return None
    changes = git(folder, "status", "--porcelain", "--untracked-files=no")
    return Commit(
        hash=digits,
        branch=git(folder, "symbolic-ref", "--quiet", "--short", "HEAD") or None,
        dirty=bool(changes),
    )


def git(folder: Path, *words: str) -> str | None:
    """Returns a git command's output without the last line end; None if git fails or is missing."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
