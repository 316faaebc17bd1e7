# SPDX-License-Identifier: BSD-2-Clause
"""Runs in a branch of a git repository, bare or not: git keeps them, sends and fetches them. Each
has a folder in the branch's tree, with run.ndjson and what the index of a folder says of it. No
work tree is touched."""

from __future__ import annotations

import contextlib
import hashlib
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

import msgspec

from teemark.base.errors import DataError, MissingOutput, UsageMistake
from teemark.base.files import write_whole
from teemark.base.harmless import harmless_value
from teemark.run import index
from teemark.run.index import Entry
from teemark.run.reader import RUN_FILE

_ENTRY_FILE = "entry.json"
_FOLDER = re.compile(r"040000 tree (\w+)\t([\w+-][\w.+-]*)")
_LOCK_WAIT = ("-c", "core.filesRefLockTimeout=20000")
"""For so many milliseconds git waits while another process writes the branch."""


class Store:
    """The runs in branch `branch` of the repository in or around `folder`."""

    def __init__(self, folder: Path, branch: str) -> None:
        self.name, self.ref = f"git:{branch}", f"refs/heads/{branch}"
        self._folder = folder
        try:
            self._git("check-ref-format", self.ref)
            trees = self._git("worktree", "list", "--porcelain")
        except DataError as error:
            raise UsageMistake(
                f"{self.name} in {folder}: {error.message}",
                hint="DIR is a git repository, and the store git:BRANCH",
            ) from None
        if f"branch {self.ref}\n" in trees:
            raise UsageMistake(
                f"{self.name} is checked out in {folder}", hint="runs take a branch of their own"
            )

    def entries(self) -> list[Entry]:
        """Returns the branch's runs in the order of time; a folder's entry is made again where it
        is missing or nonsense."""
        runs = self._runs(self._tip())
        listed = (f"{tree}:{_ENTRY_FILE}" for tree in runs.values())
        found = []
        for name, data in zip(runs, self._blobs(listed), strict=True):
            try:
                entry = msgspec.convert(harmless_value(msgspec.json.decode(data or b"")), Entry)
                found.append(msgspec.structs.replace(entry, folder=name))
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
                found.append(self._looked(name, runs[name]))
        return sorted(found, key=lambda one: (one.started, one.folder))

    def _looked(self, name: str, tree: str) -> Entry:
        (data,) = self._blobs([f"{tree}:{RUN_FILE}"])
        with tempfile.NamedTemporaryFile() as file:
            file.write(data or b"")
            file.flush()
            return index.look(name, file.name, (0, 0))

    def take(self, wanted: Sequence[Entry], folder: Path) -> None:
        """Writes the runs wanted into `folder`, as a folder of runs has them."""
        runs = self._runs(self._tip())
        here = [one.folder for one in wanted if one.folder in runs]
        blobs = self._blobs(f"{runs[name]}:{RUN_FILE}" for name in here)
        for name, data in zip(here, blobs, strict=True):
            write_whole(folder / name / RUN_FILE, data or b"")

    def add(self, path: Path) -> str | None:
        """Puts a run into the branch, made if need be; returns its folder there, None if it is
        there already."""
        file = path / RUN_FILE if path.is_dir() else path
        try:
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
        except OSError as error:
            raise DataError(f"{file}: can't be read: {error.strerror}") from None
        entry = index.look("", str(file), (0, 0))
        if entry.wrong:
            raise DataError(entry.wrong)
        name = "-".join((entry.started, entry.board, entry.plan, digest[:8]))
        name = re.sub(r"[^\w.+-]", "", name).lstrip(".")
        data = self._git("hash-object", "-w", "--no-filters", str(file.absolute())).strip()
        told = self._git("hash-object", "-w", "--stdin", stdin=msgspec.json.encode(entry)).strip()
        lines = f"100644 blob {told}\t{_ENTRY_FILE}\n100644 blob {data}\t{RUN_FILE}\n"
        tree = self._git("mktree", stdin=lines.encode()).strip()
        changed = self._change(f"add {name}", lambda runs: runs | {name: tree})
        return name if changed else None

    def prune(self, keep: int) -> int:
        """Leaves the last `keep` runs of each board and plan; returns how many went. Commits before
        this one still have them."""
        kinds: dict[tuple[str, str], list[str]] = {}
        for one in self.entries():
            kinds.setdefault((one.board, one.plan), []).append(one.folder)
        old = {name for names in kinds.values() for name in names[:-keep]}
        self._change(
            f"leave the last {keep} of each board and plan",
            lambda runs: {name: tree for name, tree in runs.items() if name not in old},
        )
        return len(old)

    def _change(self, message: str, change: Callable[[dict[str, str]], dict[str, str]]) -> bool:
        """Commits what `change` makes of the branch's runs, and once more where another process
        was quicker; false where nothing changed."""
        who: tuple[str, ...] = ()
        try:
            self._git("var", "GIT_COMMITTER_IDENT")
        except DataError:  # as on most machines of a CI
            who = ("-c", "user.name=teemark", "-c", "user.email=teemark@localhost")
        while True:
            tip = self._tip()
            runs = self._runs(tip)
            wanted = change(runs)
            if wanted == runs:
                return False
            lines = "".join(f"040000 tree {tree}\t{name}\n" for name, tree in wanted.items())
            tree = self._git("mktree", stdin=lines.encode()).strip()
            parent = ("-p", tip) if tip else ()
            made = self._git(*who, "commit-tree", tree, *parent, "-m", message).strip()
            try:
                self._git(*_LOCK_WAIT, "update-ref", "-m", message, self.ref, made, tip)
            except DataError:
                if self._tip() == tip:
                    raise
            else:
                return True

    def _tip(self) -> str:
        """Returns the branch's commit; empty where there is no such branch."""
        with contextlib.suppress(DataError):
            return self._git("rev-parse", "--verify", "--quiet", self.ref).strip()
        return ""

    def _runs(self, tip: str) -> dict[str, str]:
        """Returns the folders of a commit, and their trees."""
        lines = self._git("ls-tree", "-z", tip).split("\0")[:-1] if tip else []
        found = [_FOLDER.fullmatch(line) for line in lines]
        for line, match in zip(lines, found, strict=True):
            if match is None:
                raise UsageMistake(
                    f"{self.name} has {line.rpartition(chr(9))[2]}, which is no run",
                    hint="runs take a branch of their own",
                )
        return {match[2]: match[1] for match in found if match}

    def _blobs(self, names: Iterator[str] | Sequence[str]) -> Iterator[bytes | None]:
        """Yields the contents of blobs one after the other; None of one that isn't there."""
        with tempfile.TemporaryFile() as asked:
            asked.write("".join(f"{name}\n" for name in names).encode())
            asked.seek(0)
            with self._start("cat-file", "--batch", stdin=asked) as process:
                assert process.stdout is not None
                while head := process.stdout.readline():
                    size = head.rpartition(b" ")[2]
                    if size.strip().isdigit():
                        yield process.stdout.read(int(size) + 1)[:-1]
                    else:
                        yield None

    def _git(self, *words: str, stdin: bytes = b"") -> str:
        with tempfile.TemporaryFile() as given:
            given.write(stdin)
            given.seek(0)
            with self._start(*words, stdin=given) as process:
                out, err = process.communicate()
        if process.returncode != 0:
            said = err.decode(errors="replace").strip() or f"`git {words[0]}` failed"
            raise DataError(said.splitlines()[-1].removeprefix("fatal: "))
        return out.decode(errors="surrogateescape")

    def _start(self, *words: str, stdin: IO[bytes]) -> subprocess.Popen[bytes]:
        argv, pipe = ["git", "-C", str(self._folder), *words], subprocess.PIPE
        try:
            return subprocess.Popen(argv, stdin=stdin, stdout=pipe, stderr=pipe)
        except FileNotFoundError:
            raise MissingOutput("there is no git on this machine", hint="install git") from None
