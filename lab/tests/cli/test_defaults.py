# SPDX-License-Identifier: BSD-2-Clause
"""A command without a RUN takes the newest whole run of its folder, and says so where there is
none. The version names its commit."""

import subprocess
from pathlib import Path

import pytest

from synthetic import Synthetic, write
from teemark import version
from teemark.base import paths
from teemark.cli.main import run


@pytest.fixture
def monday_and_tuesday(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two runs of one board and plan; runs/latest is the later one."""
    for number, name in enumerate(("monday", "tuesday")):
        records = Synthetic(
            seed=number, identical=True, samples=6, algorithms=("sha256",)
        ).records()
        records[0]["started"] = f"2026-01-{number + 1:02d}T03:04:05Z"
        write(records, tmp_path / "runs" / name)
    (tmp_path / "runs" / "latest").symlink_to("tuesday")
    monkeypatch.chdir(tmp_path)
    return tmp_path


READS = [
    "explain",
    "explain --choices",
    "table",
    "report",
    "export --format csv",
]


@pytest.mark.parametrize("words", READS)
@pytest.mark.usefixtures("monday_and_tuesday")
def test_the_newest_run_is_taken_where_none_is_named(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name, *options = words.split()
    unnamed = run([name, *options]), capsys.readouterr().out
    named = run([name, "runs/latest", *options]), capsys.readouterr().out
    assert unnamed == named


@pytest.mark.parametrize("words", READS)
def test_without_a_run_it_says_how_to_make_one(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(words.split()) == 2
    said = capsys.readouterr().err
    assert "no RUN is named, and there is no runs/latest here" in said
    assert "teemark run --plan quick" in said


def test_compare_takes_the_two_newest_runs_of_a_plan(
    monday_and_tuesday: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = Synthetic(seed=3, identical=True, samples=6).records()
    other[0] |= {"started": "2026-01-01T09:00:00Z", "plan": "full"}
    write(other, monday_and_tuesday / "runs" / "other")
    unnamed = run(["compare"]), capsys.readouterr().out
    named = run(["compare", "runs/monday", "runs/tuesday"]), capsys.readouterr().out
    assert unnamed == named
    assert run(["compare", "runs/monday"]) == 2
    assert "only one run is named" in capsys.readouterr().err


def test_compare_names_what_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["compare"]) == 2
    assert "no two whole runs of one board and plan" in capsys.readouterr().err


def test_history_reads_the_folder_of_runs(
    monday_and_tuesday: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["history", "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_the_version_names_the_commit(capsys: pytest.CaptureFixture[str]) -> None:
    top = ["git", "-C", str(paths.root())]
    done = subprocess.run([*top, "rev-parse", "--short", "HEAD"], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("no git repository around this checkout")
    assert run(["--version"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"teemark {version.__version__} ({done.stdout.decode().strip()}")


def test_an_archive_names_its_commit(tmp_path: Path) -> None:
    """`git archive` writes the commit into version.py, so a wheel of a release has it."""
    top = ["git", "-C", str(paths.root())]
    done = subprocess.run(
        [*top, "archive", "HEAD", "lab/src/teemark/version.py"], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("no git repository around this checkout")
    subprocess.run(["tar", "-x", "-C", str(tmp_path)], input=done.stdout, check=True)
    commit = subprocess.run(
        [*top, "log", "-1", "--format=%h"], capture_output=True, check=True, text=True
    ).stdout.strip()
    text = (tmp_path / "lab/src/teemark/version.py").read_text(encoding="utf-8")
    assert f'_ARCHIVED = "{commit}"' in text
