# SPDX-License-Identifier: BSD-2-Clause
"""A source tree of OP-TEE: what it holds, and a copy of it with patches to build from.

The tree itself is never built in and never written to. A build is known by the contents of the
files, the patches and the options, so that the same sources are built once, wherever they lie.
"""

import contextlib
import hashlib
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from teemark.base.errors import BoardError
from teemark.base.files import alone
from teemark.git import command, git

_LEFT_OUT = frozenset({".git", "out"})


def is_tree(folder: Path) -> bool:
    """Returns true if the folder has OP-TEE's source, not the output of a build."""
    return (folder / "mk" / "config.mk").is_file() and (folder / "core" / "core.mk").is_file()


def files(tree: Path) -> list[Path]:
    """Returns the tree's files, relative to it; in a git tree those that git tracks or would
    add."""
    listed = git(tree, "ls-files", "-coz", "--exclude-standard")
    if listed is not None and (tree / ".git").exists():
        paths = {Path(name) for name in listed.split("\0") if name}
    else:
        paths = {
            path.relative_to(tree)
            for path in tree.rglob("*")
            if not _LEFT_OUT & set(path.relative_to(tree).parts[:1])
        }
    return sorted(path for path in paths if (tree / path).is_file() or (tree / path).is_symlink())


def digest(tree: Path, patches: Sequence[Path], options: Sequence[str]) -> str:
    """Returns the SHA-256 of all that decides a build: paths, modes and contents of the files, the
    patches in their order, the options as a set."""
    sha256 = hashlib.sha256()

    def add(*parts: bytes) -> None:
        for part in parts:
            sha256.update(len(part).to_bytes(8, "little") + part)

    for path in files(tree):
        file = tree / path
        if file.is_symlink():
            add(bytes(path), b"link", bytes(file.readlink()))
        else:
            add(bytes(path), b"%o" % (file.stat().st_mode & 0o111), file.read_bytes())
    for patch in patches:
        add(b"patch", _patch(patch))
    add(*(option.encode() for option in sorted(set(options))))
    return sha256.hexdigest()


def _patch(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise BoardError(f"{file}: can't be read: {error.strerror}") from None


def copy(tree: Path, patches: Sequence[Path], place: Path) -> None:
    """Makes `place` a copy of the tree with the patches applied. If a patch doesn't fit, raises
    BoardError and leaves no copy."""
    shutil.rmtree(place, ignore_errors=True)
    for path in files(tree):
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(tree / path, place / path, follow_symlinks=False)
    for patch in patches:
        argv = ["patch", "-p1", "--batch", "--forward", "--fuzz=0", "-d", str(place)]
        try:
            done = subprocess.run(argv, input=_patch(patch), capture_output=True, check=False)
        except FileNotFoundError:
            raise BoardError("there is no `patch` here", hint="apt install patch") from None
        if done.returncode != 0:
            shutil.rmtree(place, ignore_errors=True)
            output = (done.stdout + done.stderr).decode(errors="replace").strip()
            raise BoardError(
                f"{patch} doesn't fit {tree}:\n{output[-800:]}",
                hint="make it with `git diff`, in the tree's top folder",
            )


@contextlib.contextmanager
def checked_out(tree: Path, commit: str, builds: Path, name: str = "") -> Iterator[Path]:
    """Yields a folder below `builds` with a commit's files, which is called `name`, or by default
    as git abbreviates the commit, and is removed after the block. Another process that wants the
    same commit waits until then. Raises BoardError if there is no such commit."""
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}")
    digits = git(tree, *words)
    if not digits:
        raise BoardError(f"{tree} has no commit {commit}", hint="name a commit, tag or branch")
    folder = builds / "commits" / digits
    place = folder / (name or git(tree, "rev-parse", "--short", digits) or digits)
    with alone(folder.with_suffix(".lock")):
        shutil.rmtree(folder, ignore_errors=True)
        place.mkdir(parents=True)
        archive = [*command(tree), "archive", digits]
        try:
            packed = subprocess.run(archive, capture_output=True, check=True)
            subprocess.run(["tar", "-x", "-C", str(place)], input=packed.stdout, check=True)
            yield place
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def version(tree: Path) -> str:
    """Returns the version that an image built of this tree reports."""
    described = (
        git(tree, "describe", "--always", "--dirty=-dev") if (tree / ".git").exists() else ""
    )
    return described or tree.name
