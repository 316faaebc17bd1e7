# SPDX-License-Identifier: BSD-2-Clause
"""Versions of OP-TEE, as a git repository has them. Nothing is written into the repository."""

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from msgspec import Struct

from teemark.base import paths
from teemark.base.errors import UsageMistake
from teemark.boards import optee_tree
from teemark.git import git

_RELEASE = re.compile(r"\d+\.\d+\.\d+")


class Version(Struct, frozen=True):
    """A commit, under its tag if it has one."""

    name: str
    commit: str  # 40 digits; "" for a package
    tree: str  # git's name for the contents
    date: str  # of the commit, YYYY-MM-DD
    title: str
    time: int = 0  # of the commit, in seconds since 1970; 0 in results of before 0.2.0


class Repository:
    """A git repository of OP-TEE's source, with a work tree or bare."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        if git(self.folder, "cat-file", "-e", "HEAD:mk/config.mk") is None:
            raise UsageMistake(
                f"{folder} is no git repository of OP-TEE's source",
                hint="name a clone of optee_os by --optee-git",
            )

    def version(self, ref: str, name: str = "") -> Version:
        """Returns the version at a commit, tag or branch; UsageMistake if there is none."""
        output = git(
            self.folder, "log", "-1", "--format=%H%n%T%n%cs%n%ct%n%s", f"{ref}^{{commit}}", "--"
        )
        if not output:
            raise UsageMistake(f"{self.folder} has no commit {ref}", hint="name a tag or a commit")
        commit, tree, date, time, title = (*output.split("\n"), "")[:5]
        if not name:
            tags = (git(self.folder, "tag", "--points-at", commit) or "").split()
            name = next((tag for tag in tags if _RELEASE.fullmatch(tag)), commit[:9])
        return Version(name, commit, tree, date, title, int(time))

    def releases(self, first: str, last: str) -> list[Version]:
        """Returns the releases from `first` to `last` in the order of their numbers, and `last`
        itself if it is none. Release candidates are left out."""
        ends = self.version(first), self.version(last)
        listed = git(self.folder, "tag", "--sort=version:refname", "--contains", ends[0].commit,
                     "--merged", ends[1].commit)  # fmt: skip
        names = [tag for tag in (listed or "").split() if _RELEASE.fullmatch(tag)]
        versions = [self.version(name, name) for name in names]
        return self._with_ends(versions, *ends)

    def packaged(self, package: str) -> Version:
        """Returns Debian's binary package, with the date of the release that it was made of."""
        release = self.version(package.partition("-")[0])
        title = f"Debian's {package}"
        return Version(f"Debian {package}", "", package, release.date, title, release.time)

    def every(self, first: str, last: str, step: int) -> list[Version]:
        """Returns every `step`th commit from `first` to `last`, both included."""
        ends = self.version(first), self.version(last)
        commits = self.between(*ends)[step - 1 :: step]
        return self._with_ends([self.version(commit) for commit in commits], *ends)

    def _with_ends(self, versions: list[Version], first: Version, last: Version) -> list[Version]:
        commits = {version.commit for version in versions}
        if first.commit not in commits:
            versions = [first, *versions]
        return versions if last.commit in commits | {first.commit} else [*versions, last]

    def between(self, first: Version, last: Version) -> list[str]:
        """Returns the commits after `first` up to `last`, the oldest first; of a merge only the
        side that was merged into is followed."""
        span = f"{first.commit}..{last.commit}"
        listed = git(self.folder, "rev-list", "--reverse", "--first-parent", span)
        return (listed or "").split()

    def has(self, version: Version, word: str) -> bool:
        """Returns true if a makefile or source of the version has the word."""
        found = git(self.folder, "grep", "-qw", word, version.commit, "--", "*.mk", "*.[chS]")
        return found is not None

    def checked_out(self, version: Version) -> AbstractContextManager[Path]:
        """Returns a block's folder with the version's files, which is removed after the block."""
        name = re.sub(r"[^\w.-]", "-", version.name)
        return optee_tree.checked_out(self.folder, version.commit, paths.optee_builds(), name)


def part(versions: Sequence[Version], shard: str | None) -> list[Version]:
    """Returns the versions of a shard `I/N` (the first is 1/N): each Nth, so that every shard has
    old and new ones. UsageMistake if the words are no shard."""
    if shard is None:
        return list(versions)
    match = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", shard)
    if match is None or int(match[1]) > int(match[2]):
        raise UsageMistake(f"--shard {shard} is no shard", hint="such as 1/4, 2/4, 3/4 and 4/4")
    return list(versions[int(match[1]) - 1 :: int(match[2])])
