# SPDX-License-Identifier: BSD-2-Clause
"""teemark's version, and the commit that it was made from."""

__version__ = "0.2.0"

_ARCHIVED = "$Format:%h$"
"""The commit, which `git archive` writes here: a release and its wheel have no repository."""


def full_version() -> str:
    """Returns the version with its commit, such as `0.2.0 (5b123c88)`. In a checkout with changes
    it is `0.2.0 (5b123c88 + changes)`; without a commit, the version alone."""
    commit = "" if _ARCHIVED.startswith("$") else _ARCHIVED
    folder, _, name = __file__.rpartition("/")
    if not commit and _git(folder, "ls-files", "--error-unmatch", name):
        commit = _git(folder, "rev-parse", "--short", "HEAD")
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
        commit += " + changes" if changed else ""
    return f"{__version__} ({commit})" if commit else __version__


def _git(folder: str, *words: str) -> str:
    """Returns what git says, without running programs that the repository names; "" if it fails."""
    import subprocess  # Here, since signals are taken before anything is imported

    safe = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
    try:
        done = subprocess.run(
            ["git", "-C", folder, *safe, *words], capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
