# SPDX-License-Identifier: BSD-2-Clause
"""Asks git about a source tree, which may be hostile: whoever made the repository also wrote its
configuration. So git runs nothing that this names: no hook, no monitor of files, no filter."""

import subprocess
from functools import cache
from pathlib import Path


@cache
def command(folder: Path) -> tuple[str, ...]:
    """Returns the beginning of a git command line for a folder, by which git runs no program that
    the repository's own configuration names. A user's own filters, such as git-lfs, stay on."""
    harmless = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "core.untrackedCache=false")
    argv = ["git", "-C", str(folder), *(word for value in harmless for word in ("-c", value))]
    query = ("config", "--show-scope", "--name-only", "-z", "--get-regexp", r"^filter\..*\.")
    try:
        done = subprocess.run([*argv, *query], capture_output=True, text=True, check=False)
    except OSError:  # whoever runs git next says so
        return tuple(argv)
    words = done.stdout.split("\0")
    for scope, key in zip(words[::2], words[1::2], strict=False):
        if scope in ("local", "worktree"):
            argv += ["-c", f"{key}={'false' * key.endswith('.required')}"]
    return tuple(argv)


def git(folder: Path, *words: str) -> str | None:
    """Returns a git command's output without the last line end; None if git fails or is missing."""
    argv = [*command(folder), *words]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
