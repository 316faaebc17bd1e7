# SPDX-License-Identifier: BSD-2-Clause
"""Runs in a git branch: what is added is read back as it was, also from a bare repository and by
several writers at once, and no other branch or file changes."""

import dataclasses
import subprocess
import sys
from pathlib import Path
from shutil import rmtree

import pytest

from synthetic import Synthetic, write
from teemark.base.errors import DataError, MissingOutput, UsageMistake
from teemark.cli import main as cli
from teemark.run import listing
from teemark.run.reader import RUN_FILE
from teemark.run.store import Store
from test_history import DEARER, EXACT, put


def git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", str(folder), *words], capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """git knows no name for commits, as on machines of a CI."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / ".gitconfig"))
    (tmp_path / ".gitconfig").write_text("[user]\nuseConfigOnly = true\n")


@pytest.fixture(params=["bare", "with a work tree"])
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    made = tmp_path / "repository"
    git(tmp_path, "init", "-q", "-b", "main", *["--bare"] * (request.param == "bare"), str(made))
    return made


def runs(folder: Path, made: list[Synthetic]) -> list[Path]:
    put(folder, made)
    return sorted(folder.iterdir(), reverse=True)  # in the order of time


def history(*words: object) -> int:
    return cli.run(["history", *map(str, words)])


def test_a_branch_says_what_the_folder_says(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dearer = dataclasses.replace(EXACT, truth=DEARER)
    folders = runs(tmp_path / "runs", [EXACT, EXACT, dearer, dearer])
    assert history(tmp_path / "runs", "--all") == 0
    of_folder = capsys.readouterr().out
    files = set(place.iterdir())
    store = ["--store", "git:team/runs"]
    words = [word for one in reversed(folders) for word in ("--add", one)]
    assert history(place, *store, *words) == 0
    assert capsys.readouterr().out.count("synthetic-quick-") == 4
    assert history(place, *store, "--all") == 0
    assert capsys.readouterr().out == of_folder
    assert history(place, *store, "--list", "--last", "2") == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0][:10] for line in listed] == ["2026-01-03", "2026-01-04"]
    name = listed[0].split()[-1]
    stored = git(place, "show", f"team/runs:{name}/{RUN_FILE}")
    assert stored == (folders[2] / RUN_FILE).read_text()
    assert git(place, "for-each-ref", "--format=%(refname)") == "refs/heads/team/runs\n"
    own = place / ".git" if (place / ".git").is_dir() else place
    assert {*place.iterdir()} - files <= {own / "teemark"}


def test_a_run_is_added_once(place: Path, tmp_path: Path) -> None:
    (run,) = runs(tmp_path / "runs", [EXACT])
    store = Store(place, "runs")
    assert listing.entries(store.folder()) == []
    assert store.add(run) is not None
    assert store.add(run / RUN_FILE) is None
    assert git(place, "rev-list", "--count", "runs") == "1\n"


def test_prune_leaves_the_last_of_each_board_and_plan(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path / "a", [EXACT] * 3)
    put(tmp_path / "b", [EXACT] * 2, board="other")
    store = Store(place, "runs")
    for run in [*(tmp_path / "a").iterdir(), *(tmp_path / "b").iterdir()]:
        store.add(run)
    before = git(place, "rev-parse", "runs").strip()
    assert history(place, "--store", "git:runs", "--prune", "2") == 0
    assert "1 run left git:runs" in capsys.readouterr().out
    left = [(one.board, one.started[:10]) for one in listing.entries(store.folder())]
    kept = [("synthetic", "2026-01-02"), ("synthetic", "2026-01-03")]
    assert sorted(left) == [("other", "2026-01-01"), ("other", "2026-01-02"), *kept]
    assert git(place, "rev-parse", "runs^").strip() == before
    assert store.prune(2) == 0
    assert git(place, "rev-parse", "runs^").strip() == before  # no commit that changes nothing


def test_writers_at_once_lose_no_run(place: Path, tmp_path: Path) -> None:
    folders = runs(tmp_path / "runs", [EXACT] * 12)
    script = (
        "import sys; from pathlib import Path; from teemark.run.store import Store\n"
        "store = Store(Path(sys.argv[1]), 'runs')\n"
        "sys.stdin.readline()\n"
        "for run in sys.argv[2:]: store.add(Path(run))\n"
    )
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(place), *map(str, folders[part::4])],
            stdin=subprocess.PIPE,
        )
        for part in range(4)
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"go\n")
        writer.stdin.close()
    assert [writer.wait() for writer in writers] == [0] * 4
    assert len(listing.entries(Store(place, "runs").folder())) == 12
    assert git(place, "rev-list", "--count", "runs") == "12\n"


def test_what_is_read_is_made_again_where_it_is_gone(place: Path, tmp_path: Path) -> None:
    store = Store(place, "runs")
    for run in runs(tmp_path / "runs", [EXACT] * 2):
        store.add(run)
    before = listing.entries(store.folder())
    file = store.folder() / before[0].folder / RUN_FILE
    data = file.read_bytes()
    for spoil in (lambda: file.write_text("spoilt"), file.unlink, lambda: rmtree(store.folder())):
        spoil()
        found = listing.entries(store.folder())
        assert [one.folder for one in found] == [one.folder for one in before]
        assert file.read_bytes() == data


def test_what_an_entry_says_is_harmless(place: Path, tmp_path: Path) -> None:
    records = EXACT.records()
    records[0] |= {"labels": {"cc": "\x1b[2Jgcc"}}
    write(records, tmp_path / "run")
    store = Store(place, "runs")
    store.add(tmp_path / "run")
    (one,) = listing.entries(store.folder())
    assert "\x1b" not in one.labels["cc"]


def test_a_branch_of_other_files_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "tree"
    git(tmp_path, "init", "-q", "-b", "main", str(place))
    (place / "README").write_text("mine\n")
    git(place, "add", "README")
    git(place, "-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "first")
    git(place, "branch", "other")
    (run,) = runs(tmp_path / "runs", [EXACT])
    with pytest.raises(UsageMistake, match="has README, which is no run"):
        Store(place, "other").add(run)
    with pytest.raises(UsageMistake, match="is checked out in"):
        Store(place, "main")
    assert git(place, "status", "--porcelain") == ""


def test_mistakes_are_one_sentence(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = EXACT.records()
    write(records[:-1], tmp_path / "cut")
    with pytest.raises(DataError, match="the run is incomplete"):
        Store(place, "runs").add(tmp_path / "cut")
    with pytest.raises(DataError, match="can't be read: No such file"):
        Store(place, "runs").add(tmp_path / "none")
    for words, said in (
        ([place, "--store", "svn:runs"], "--store svn:runs is no store"),
        ([place, "--store", "git:a..b"], "git:a..b in"),
        ([tmp_path, "--store", "git:runs"], "not a git repository"),
        ([place, "--add", tmp_path], "there is no store"),
        (["nowhere"], "nowhere is no folder"),
    ):
        assert history(*words) == 2
        assert said in capsys.readouterr().err


def test_a_machine_without_git_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingOutput, match="there is no git on this machine"):
        Store(tmp_path, "runs")
