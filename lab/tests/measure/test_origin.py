# SPDX-License-Identifier: BSD-2-Clause
"""A run knows the commit that it measured, and never takes teemark's own for it."""

import subprocess
from pathlib import Path

import pytest

from synthetic import Synthetic
from teemark.base import paths
from teemark.base.errors import UsageMistake
from teemark.boards import optee_tree
from teemark.measure.origin import commit, labels
from teemark.run import listing


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=trunk")
    argv = ["git", *who, "-C", str(folder), *words]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with one commit."""
    git(tmp_path, "init", "--quiet")
    (tmp_path / "ta.c").write_text("int x;\n")
    git(tmp_path, "add", "ta.c")
    git(tmp_path, "commit", "--quiet", "-m", "first")
    return tmp_path


def test_auto_takes_the_repository_around_the_folder(tree: Path) -> None:
    (tree / "below").mkdir()
    found = commit("auto", tree / "below")
    assert found is not None
    assert (found.hash, found.branch, found.dirty) == (
        git(tree, "rev-parse", "HEAD"),
        "trunk",
        False,
    )
    assert found.short == found.hash[:7]


def test_a_changed_file_makes_it_dirty_and_a_new_one_does_not(tree: Path) -> None:
    (tree / "new").touch()
    clean = commit("auto", tree)
    (tree / "ta.c").write_text("int y;\n")
    dirty = commit("auto", tree)
    assert clean is not None
    assert dirty is not None
    assert (clean.dirty, dirty.dirty) == (False, True)
    assert dirty.short.endswith(" + changes")


def test_a_commit_without_a_branch(tree: Path) -> None:
    git(tree, "checkout", "--quiet", "--detach")
    found = commit("HEAD", tree)
    assert found is not None
    assert found.branch is None


def test_commits_branches_and_folders_are_found(tree: Path) -> None:
    digits = git(tree, "rev-parse", "HEAD")
    for word in (digits, digits[:9], "trunk", str(tree)):
        found = commit(word, tree)
        assert found is not None
        assert found.hash == digits
        assert found.branch == (None if digits.startswith(word) else "trunk")


def test_a_hash_of_a_repository_that_is_not_here_is_taken_as_it_is(tmp_path: Path) -> None:
    found = commit("8d41e07aa", tmp_path)
    assert found is not None
    assert (found.hash, found.branch, found.dirty) == ("8d41e07aa", None, False)


def test_no_commit_without_a_repository_or_in_teemarks_own(tmp_path: Path, tree: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    git(tmp_path / "elsewhere", "init", "--quiet")  # without a commit
    for folder in (paths.root() / "lab", tmp_path / "elsewhere"):
        assert commit("auto", folder) is None
    assert commit("none", tree) is None


@pytest.mark.parametrize("word", ["no-such-branch", "8d41e0", "--all"])
def test_what_is_no_commit_is_refused(tree: Path, word: str) -> None:
    with pytest.raises(UsageMistake, match="no commit of that name"):
        commit(word, tree)


def test_labels() -> None:
    assert labels(("a=b=c", "x_1=y z")) == {"a": "b=c", "x_1": "y z"}
    for text in ("a", "=b", "a b=c", "a="):
        with pytest.raises(UsageMistake, match="is no label"):
            labels((text,))


def test_a_hostile_repository_runs_nothing(
    tree: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """`run` and `history` in an unpacked repository ran what its configuration names."""
    mark = tmp_path_factory.mktemp("mark") / "run"
    program = mark.with_name("program")
    program.write_text(f'#!/bin/sh\necho "$0 $*" >>"{mark}"\ncat\n')
    program.chmod(0o755)
    Synthetic(samples=3).write(tree / "a run")
    (tree / "mk").mkdir()
    (tree / ".gitattributes").write_text("* filter=evil\n")
    git(tree, "add", ".gitattributes")
    git(tree, "commit", "--quiet", "-m", "attributes")
    hooks = tree / "hooks"
    hooks.mkdir()
    for hook in (
        "post-index-change",
        "reference-transaction",
        "post-checkout",
        "fsmonitor-watchman",
    ):
        (hooks / hook).symlink_to(program)
    for key in ("core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process"):
        git(tree, "config", key, str(program))
    git(tree, "config", "filter.evil.required", "true")
    git(tree, "config", "core.hooksPath", str(hooks))
    (tree / "ta.c").write_text("int y;\n")
    subprocess.run(["git", "-C", str(tree), "status"], capture_output=True, check=False)
    assert mark.exists(), "plain git runs them: the repository is as hostile as is claimed"
    mark.unlink()

    found = commit("auto", tree)
    assert found is not None
    assert found.dirty
    assert [entry.wrong for entry in listing.entries(tree)] == [""]
    with optee_tree.checked_out(tree, "HEAD", mark.parent / "builds") as place:
        assert (place / "ta.c").read_text() == "int x;\n"
    assert Path("ta.c") in optee_tree.files(tree)
    assert not mark.exists(), mark.read_text()
