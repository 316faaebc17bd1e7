# SPDX-License-Identifier: BSD-2-Clause
"""A folder of runs is listed; it may be the work tree of a branch, where git keeps runs by itself
(docs/ci.md), of several writers at once, too."""

import dataclasses
import subprocess
from pathlib import Path

import pytest

from synthetic import write
from teemark.cli import main as cli
from teemark.run import listing
from teemark.run.reader import RUN_FILE
from test_history import DEARER, EXACT, put


def git(folder: Path, *words: str, check: bool = True) -> int:
    who = ("-c", "user.name=a", "-c", "user.email=b@c")
    argv = ["git", "-C", str(folder), *who, *words]
    return subprocess.run(argv, capture_output=True, check=check).returncode


def history(*words: object) -> int:
    return cli.run(["history", *map(str, words)])


def test_a_branch_says_what_the_folder_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two clones add a run each, as two jobs of a CI do that know nothing of each other."""
    dearer = dataclasses.replace(EXACT, truth=DEARER)
    put(tmp_path / "runs", [EXACT, EXACT, dearer, dearer])
    folders = sorted((tmp_path / "runs").iterdir())
    assert history(tmp_path / "runs", "--all") == 0
    of_folder = capsys.readouterr().out
    git(tmp_path, "init", "-q", "--bare", "-b", "runs", "bench.git")
    for number, jobs in enumerate((folders[:2], folders[2:])):
        clones = [tmp_path / f"{name}{number}" for name in ("one", "two")]
        for clone in clones:
            git(tmp_path, "clone", "-q", "bench.git", str(clone))
            if not number:
                git(clone, "checkout", "-q", "-B", "runs")
        for clone, job in zip(clones, jobs, strict=True):
            place = clone / job.name / RUN_FILE
            place.parent.mkdir()
            place.write_bytes((job / RUN_FILE).read_bytes())
            git(clone, "add", ".")
            git(clone, "commit", "-qm", "a run")
        first, second = clones
        git(first, "push", "-q", "origin", "runs")
        assert git(second, "push", "-q", "origin", "runs", check=False) != 0
        git(second, "pull", "-q", "--rebase", "origin", "runs")
        git(second, "push", "-q", "origin", "runs")
    assert history(second, "--all") == 0
    assert capsys.readouterr().out == of_folder
    assert history(second, "--list", "--last", "2") == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0][:10] for line in listed] == ["2026-01-03", "2026-01-04"]


def test_what_an_entry_says_is_harmless(tmp_path: Path) -> None:
    records = EXACT.records()
    records[0] |= {"labels": {"cc": "\x1b[2Jgcc"}}
    write(records, tmp_path / "run")
    (one,) = listing.entries(tmp_path)
    assert "\x1b" not in one.labels["cc"]


def test_a_folder_that_is_none_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert history("nowhere") == 2
    assert "nowhere is no folder" in capsys.readouterr().err
