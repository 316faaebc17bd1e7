# SPDX-License-Identifier: BSD-2-Clause
"""The commit of a source tree, as a run records it."""

from pathlib import Path

from teemark.git import git
from teemark.run.records import Commit


def head(folder: Path) -> Commit | None:
    """Returns the commit checked out in the repository around `folder`; None if there is none."""
    digits = git(folder, "rev-parse", "--verify", "--quiet", "HEAD")
    if not digits:
        return None
    words = ("--porcelain", "--untracked-files=no", "--ignore-submodules=dirty")
    changes = git(folder, "status", *words)
    return Commit(
        hash=digits,
        branch=git(folder, "symbolic-ref", "--quiet", "--short", "HEAD") or None,
        dirty=bool(changes),
    )
