# SPDX-License-Identifier: BSD-2-Clause
"""teemark's version, and the commit that it was made from."""

__version__ = "0.2.0"

_ARCHIVED = "$Format:%h$"
"""The commit, which `git archive` writes here: a release and its wheel have no repository."""


def full_version() -> str:
    """Returns the version with its commit, such as `0.2.0 (5b123c88)`. In a checkout with changes
    it is `0.2.0 (5b123c88 + changes)`; without a commit, the version alone."""
    commit = "" if _ARCHIVED.startswith("$") else _ARCHIVED
    if not commit:
        from pathlib import Path  # Here, since signals are taken before anything is imported

        from teemark.git import git

        folder, name = Path(__file__).parent, Path(__file__).name
        if git(folder, "ls-files", "--error-unmatch", name):
            commit = git(folder, "rev-parse", "--short", "HEAD") or ""
            changed = git(folder, "status", "--porcelain", "--untracked-files=no")
            commit += " + changes" if changed else ""
    return f"{__version__} ({commit})" if commit else __version__
