# SPDX-License-Identifier: BSD-2-Clause
"""Keeps runs in a branch of a git repository, bare or not, so that git can send and fetch them. The
branch's tree has a folder per run. No work tree is touched: runs are read from a folder in git's
own directory, which is updated from the branch."""

import hashlib
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from teemark.base.errors import DataError, MissingOutput, UsageMistake
from teemark.base.files import alone
from teemark.git import command
from teemark.run import listing
from teemark.run.reader import RUN_FILE

_FOLDER = re.compile(r"040000 tree (\w+)\t([\w+-][\w.+-]*)")
_SET = (
    *("-c", "core.autocrlf=false", "-c", "core.symlinks=false"),
    *("-c", "core.filesRefLockTimeout=20000"),  # ms to wait for another writer of the branch
    *("-c", "user.name=teemark", "-c", "user.email=teemark@localhost"),
)
"""git's settings: files are stored unchanged; the committer, unless the environment names one."""


class Store:
    """The runs in branch `branch` of the repository in or around `place`."""

    def __init__(self, place: Path, branch: str) -> None:
        self.name, self.ref, self._place = f"git:{branch}", f"refs/heads/{branch}", place
        try:
            self._git("check-ref-format", self.ref)
            trees = self._git("worktree", "list", "--porcelain")
            self._own = Path(self._git("rev-parse", "--git-common-dir").rstrip("\n"))
        except DataError as error:
            raise UsageMistake(
                f"{self.name} in {place}: {error.message}",
                hint="DIR is a git repository, and the store git:BRANCH",
            ) from None
        if f"branch {self.ref}\n" in trees:
            raise UsageMistake(
                f"{self.name} is checked out in {place}", hint="runs take a branch of their own"
            )

    def folder(self) -> Path:
        """Returns a folder that has the branch's runs, up to date."""
        made = (self._place / self._own / "teemark" / self.ref).absolute()
        made.mkdir(parents=True, exist_ok=True)
        with alone(made / ".lock"):
            tip = self._tip()
            self._runs(tip)
            what = ("--reset", "-u", tip) if tip else ("--empty",)
            words = (f"--work-tree={made}", "read-tree", *what)
            self._git(*words, GIT_INDEX_FILE=str(made / ".index"))
        return made

    def add(self, path: Path) -> str | None:
        """Adds a run to the branch, which is made if missing. Returns the run's folder there, None
        if the run was there already."""
        file = path / RUN_FILE if path.is_dir() else path
        try:
            with file.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise DataError(f"{file}: can't be read: {error.strerror}") from None
        entry = listing.look("", file)
        if entry.wrong:
            raise DataError(entry.wrong)
        name = "-".join((entry.started, entry.board, entry.plan, digest[:8]))
        name = re.sub(r"[^\w.+-]", "", name).lstrip(".")
        data = self._git("hash-object", "-w", "--no-filters", str(file.absolute())).strip()
        tree = self._git("mktree", stdin=f"100644 blob {data}\t{RUN_FILE}\n").strip()
        changed = self._change(f"add {name}", lambda runs: runs | {name: tree})
        return name if changed else None

    def prune(self, keep: int) -> int:
        """Removes all but the last `keep` runs of each board and plan; returns how many it removed.
        Earlier commits still have them."""
        kinds: dict[tuple[str, str], list[str]] = {}
        for run in listing.entries(self.folder()):
            kinds.setdefault((run.board, run.plan), []).append(run.folder)
        old = {name for names in kinds.values() for name in names[:-keep]}
        self._change(
            f"leave the last {keep} of each board and plan",
            lambda runs: {name: tree for name, tree in runs.items() if name not in old},
        )
        return len(old)

    def _change(self, message: str, change: Callable[[dict[str, str]], dict[str, str]]) -> bool:
        """Commits what `change` makes of the branch's runs (name: tree), and tries again if another
        process committed first. Returns false if nothing changed."""
        while True:
            tip = self._tip()
            runs = self._runs(tip)
            wanted = change(runs)
            if wanted == runs:
                return False
            lines = "".join(f"040000 tree {tree}\t{name}\n" for name, tree in wanted.items())
            tree = self._git("mktree", stdin=lines).strip()
            parent = ("-p", tip) if tip else ()
            made = self._git("commit-tree", tree, *parent, "-m", message).strip()
            try:
                self._git("update-ref", "-m", message, self.ref, made, tip)
            except DataError:
                if self._tip() == tip:
                    raise
            else:
                return True

    def _tip(self) -> str:
        return self._git("for-each-ref", "--format=%(objectname)", self.ref).strip()

    def _runs(self, tip: str) -> dict[str, str]:
        runs = {}
        for line in self._git("ls-tree", "-z", tip).split("\0")[:-1] if tip else ():
            if (match := _FOLDER.fullmatch(line)) is None:
                raise UsageMistake(
                    f"{self.name} has {line.rpartition(chr(9))[2]}, which is no run",
                    hint="runs take a branch of their own",
                )
            runs[match[2]] = match[1]
        return runs

    def _git(self, *words: str, stdin: str = "", **env: str) -> str:
        argv = [*command(self._place), *_SET, *words]
        try:
            done = subprocess.run(
                argv, input=stdin, capture_output=True, text=True, check=False, env=os.environ | env
            )
        except FileNotFoundError:
            raise MissingOutput("there is no git on this machine", hint="install git") from None
        if done.returncode != 0:
            complaint = done.stderr.strip() or f"`git {words[0]}` failed"
            raise DataError(complaint.splitlines()[-1].removeprefix("fatal: "))
        return done.stdout
