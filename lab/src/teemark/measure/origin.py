# SPDX-License-Identifier: BSD-2-Clause
"""Where a run comes from: its command line, its source's git commit, and the user's labels."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from teemark.base import paths
from teemark.base.errors import ConfigError, UsageMistake
from teemark.git import git
from teemark.run.records import Commit

_PLACES = ("-o", "--out", "--output")
_HASH = re.compile(r"[0-9a-f]{7,64}")
_LABEL = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.+)")


def command(board: str = "") -> str | None:
    """Returns the command line that is running, for a shell: with the board's name if it is given,
    without the place of its output. None outside of a command."""
    context = click.get_current_context(silent=True)
    if context is None or context.obj is None:
        return None
    given = list(context.obj)
    at = given.index("--") if "--" in given else len(given)
    words, program = [], given[at:]  # What stands behind "--" is not ours
    arguments = iter(given[:at])
    for word in arguments:
        if word in _PLACES:
            next(arguments, None)
        elif not word.startswith(tuple(f"{place}=" for place in _PLACES)):
            words.append(word)
    if board and not any(word.partition("=")[0] == "--board" for word in words):
        words += ["--board", board]
    return shlex.join(["teemark", *words, *program])


def labels(words: Sequence[str]) -> dict[str, str]:
    """Returns the labels of the options `--label KEY=VALUE`; raises UsageMistake for other text."""
    by_key = {}
    for text in words:
        match = _LABEL.fullmatch(text)
        if match is None:
            raise UsageMistake(
                f"--label {text} is no label",
                hint="write KEY=VALUE, the key of letters, digits and underscores: compiler=gcc-12",
            )
        by_key[match[1]] = match[2]
    return by_key


def commit(word: str, folder: Path) -> Commit | None:
    """Returns the commit that `--commit WORD` names. `auto` is that of the repository around
    `folder`, except of teemark's own checkout; `none` is None; another word is a folder in a
    repository, a reference of the repository around `folder`, or a bare hash. UsageMistake for
    anything else."""
    if word == "none":
        return None
    if word == "auto":
        return None if _own(folder) else Commit.checked_out(folder)
    if Path(word).is_dir():
        named = Commit.checked_out(Path(word))
    elif word == "HEAD":
        named = Commit.checked_out(folder)
    else:
        digits = git(folder, "rev-parse", "--verify", "--quiet", f"{word}^{{commit}}")
        name = git(folder, "rev-parse", "--symbolic-full-name", "--verify", "--quiet", word) or ""
        branch = name.removeprefix("refs/heads/") if name.startswith("refs/heads/") else None
        named = Commit(hash=digits, branch=branch) if digits else None
    if named is None and _HASH.fullmatch(word):  # such as CI's, of a repository that isn't here
        named = Commit(hash=word)
    if named is None:
        raise UsageMistake(
            f"--commit {word}: no commit of that name in {folder}",
            hint="name a folder of the source, a commit or branch of the repository here, or none",
        )
    return named


def _own(folder: Path) -> bool:
    try:
        return folder.resolve().is_relative_to(paths.root())
    except ConfigError:
        return False
