# SPDX-License-Identifier: BSD-2-Clause
"""Virtual boards that differ from qemu-v8: what `setup` and `run` do there is right, or they say
why not. docs/boards.md has a row for each. In `make zoo` the plan is `quick`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import THOROUGH
from teemark.base import paths
from teemark.boards import Board, BoardFile, SshConfig, ensure_installed, open_board, tas
from teemark.cli import main as cli
from teemark.run import reader

pytestmark = [pytest.mark.board, pytest.mark.timeout(900)]

PLAN = """\
summary = "Both worlds."
[[cases]]
workload = "invoke"
backends = ["tee", "empty"]
samples = 6
[[cases]]
workload = "oneshot"
algorithms = ["sha256"]
backends = ["tee", "ta-c", "c", "openssl", "afalg"]
sizes = [64]
samples = 6
"""

NORMAL_WORLD = {"empty", "c", "ce", "openssl", "afalg"}


@pytest.fixture
def teemark(capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """A command's status, and what it says."""

    def run(*words: str) -> tuple[int, str, str]:
        status = cli.run(list(words))
        told = capfd.readouterr()
        return status, told.out, told.err

    return run


def test_a_board_without_a_tee_gives_the_normal_worlds_half(
    tmp_path: Path, teemark: Callable[..., tuple[int, str, str]]
) -> None:
    status, out, err = teemark("setup", "qemu-bare", "--json")
    assert status == 0, err
    assert json.loads(out)["tee"] is False

    (tmp_path / "both.toml").write_text(PLAN)
    asked = "quick" if THOROUGH else str(tmp_path / "both.toml")
    status, _, err = teemark(
        "run", "--board", "qemu-bare", "--plan", asked, "--out", f"{tmp_path}/run"
    )
    assert status == 0, err
    run = reader.read(tmp_path / "run")
    assert run.incomplete is None
    assert not run.fails
    assert {case.case.backend.partition(":")[0] for case in run.cases.values()} <= NORMAL_WORLD
    assert {skip.code for skip in run.skips} <= {"no-tee", "unsupported-algorithm"}
    assert any(skip.code == "no-tee" for skip in run.skips)
    assert (tmp_path / "run/report.html").exists()


SESSIONLESS = {"invoke/refused/tee/none", "invoke/pseudo/tee/none"}


@pytest.mark.exhaustive
def test_a_tee_that_takes_nobodys_tas_gives_the_way_into_it(
    tmp_path: Path, teemark: Callable[..., tuple[int, str, str]]
) -> None:
    """Then the vendor's TAs arrive, signed with the key that its OP-TEE knows, and all is there."""
    board = tmp_path / "zoo-locked.toml"
    board.write_text((paths.boards() / "qemu-locked.toml").read_text())
    assert teemark("up", str(board))[0] == 0
    try:
        with open_board(str(board)) as up:
            status, _, err = teemark("setup", str(board))
            assert status == 1
            assert "TAs can't be used" in err
            status, out, _ = teemark("doctor", str(board), "--json")
            assert "ta-key" in out
            to = f"{tmp_path}/locked"
            status, _, err = teemark("run", "--board", str(board), "--plan", "locked", "--out", to)
            assert status == 0, err
            run = reader.read(tmp_path / "locked")
            assert not run.skips
            assert {case.case.case for case in run.sound} >= SESSIONLESS
            assert (tmp_path / "locked/report.html").exists()

            to = f"{tmp_path}/quick"
            status, _, err = teemark("run", "--board", str(board), "--plan", "quick", "--out", to)
            assert status == 1
            run = reader.read(tmp_path / "quick")
            rejected = [skip for skip in run.skips if skip.code == "ta-rejected"]
            assert {skip.code for skip in run.skips} <= {"ta-rejected", "unsupported-algorithm"}
            measured = {case.case.case for case in run.sound}
            assert measured & SESSIONLESS == {"invoke/refused/tee/none"}
            assert f"add {len(rejected)} cases (tee, ta-c, ta-ce)" in err

            signed = SshConfig(
                address="127.0.0.1", directory="/opt/new", tas=f"{paths.built_tas()}"
            )
            with Board(BoardFile("signed", board, signed), up.endpoint) as again:
                ensure_installed(again)
                answers = tas.open_each(again)
            assert answers
            assert all(answer.opened for answer in answers)
    finally:
        assert teemark("down", str(board))[0] == 0
