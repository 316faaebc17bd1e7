# SPDX-License-Identifier: BSD-2-Clause
"""Trusted Applications that the board's OP-TEE doesn't take: `setup` and `run` say so, and fail."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from conftest import FEW_TAS
from teemark.base import paths
from teemark.boards import VirtualBoard, ensure_installed
from teemark.boards.ta_key import all_signed_with_published_key, signed_with_published_key
from teemark.boards.ta_kit import Kit, default_kit
from teemark.cli import main as cli
from teemark.run import reader

pytestmark = [pytest.mark.board, pytest.mark.long(60)]

PLAN = """\
summary = "Both worlds."

[[cases]]
workload = "invoke"
backends = ["tee", "empty"]
samples = 6

[[cases]]
workload = "oneshot"
algorithms = ["sha256"]
backends = ["tee", "ta-c", "c", "openssl"]
sizes = [64]
samples = 6
"""


@pytest.fixture(scope="module")
def another_key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two TAs as they are built for a board that has another key."""
    key = tmp_path_factory.mktemp("key") / "key.pem"
    subprocess.run(["openssl", "genrsa", "-out", str(key), "2048"], check=True, capture_output=True)
    ours = paths.built_tas()
    before = {path.name: path.read_bytes() for path in ours.glob("*.ta")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MAKEFLAGS", FEW_TAS)
        folder = Kit(default_kit().folder, key).ours()
    assert {path.name: path.read_bytes() for path in ours.glob("*.ta")} == before
    assert all_signed_with_published_key(ours.glob("*.ta")) is True
    names = {path.name for path in folder.glob("*.ta")}
    assert len(names) == 2
    assert names < set(before)
    assert not any(map(signed_with_published_key, folder.glob("*.ta")))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def signed_by_another(
    another_key: Path, lent: VirtualBoard, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    with monkeypatch.context() as patch:
        patch.setattr(paths, "built_tas", lambda: another_key)
        patch.setitem(vars(lent), "tas", another_key)  # what it found out when it booted
        yield another_key
    ensure_installed(lent)


def test_setup_says_what_each_ta_got(signed_by_another: Path) -> None:
    tas = {path.stem for path in signed_by_another.glob("*.ta")}
    done = CliRunner().invoke(cli.cli, ["setup", "qemu-v8"], standalone_mode=False)
    assert done.exception is not None
    assert f"{len(tas)} of {len(tas)} TAs can't be used" in str(done.exception)
    assert "in use stays the old one" in done.stderr
    for ta in tas:
        (line,) = [line for line in done.stderr.splitlines() if line.startswith(f"TA {ta}")]
        assert "TEE_ERROR_SECURITY" in line


def test_a_run_without_the_tas_is_no_success(signed_by_another: Path, tmp_path: Path) -> None:
    (tmp_path / "both.toml").write_text(PLAN)
    args = ["run", "--board", "qemu-v8", "--plan", str(tmp_path / "both.toml")]
    out = tmp_path / "out"
    done = CliRunner().invoke(cli.cli, [*args, "--out", str(out)], standalone_mode=False)
    assert done.return_value == 1, done.output
    said = "The TEE couldn't be used. It is there, but 3 of 6 cases weren't measured."
    assert said in done.stderr
    run = reader.read(out)
    assert {skip.code for skip in run.skips} == {"ta-rejected"}
    assert {case.record.backend for case in run.sound} == {"empty", "c", "openssl"}
    report = (out / "report.md").read_text().splitlines()
    assert "TEE couldn't be used" in report[2]


@pytest.mark.usefixtures("lent")
def test_setup_of_a_board_whose_tee_takes_them() -> None:
    done = CliRunner().invoke(cli.cli, ["setup", "qemu-v8", "--json"], standalone_mode=False)
    assert done.return_value == 0, done.output
    told = json.loads(done.stdout)
    assert told["tee"] is True
    assert {ta["name"] for ta in told["tas"]} == {"bench", "broker", "digest", "probe", "size"}
    assert all(ta["opened"] for ta in told["tas"])
    assert told["installed"] == [], "no file is told to be another one than before"


@pytest.mark.exhaustive
def test_two_boots_in_one_run(tmp_path: Path) -> None:
    (tmp_path / "both.toml").write_text(PLAN)
    args = ["run", "--board", "qemu-v8", "--plan", str(tmp_path / "both.toml"), "--boots", "2"]
    out = tmp_path / "out"
    done = CliRunner().invoke(cli.cli, [*args, "--out", str(out)], standalone_mode=False)
    assert done.return_value == 0, done.output
    run = reader.read(out)
    assert [(start.number, start.kind) for start in run.starts] == [(1, "boot"), (2, "boot")]
    assert all([len(start) for start in case.starts] == [6, 6] for case in run.cases.values())
