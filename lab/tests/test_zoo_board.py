# SPDX-License-Identifier: BSD-2-Clause
"""Virtual boards that differ from qemu-v8: what `setup` and `run` do there is right, or they say
why not. docs/boards.md has a row for each. In `make zoo` the plan is `quick`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import THOROUGH
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


def test_a_board_without_a_tee_gives_the_normal_worlds_half(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def teemark(*words: str) -> tuple[int, str, str]:
        status = cli.run(list(words))
        told = capfd.readouterr()
        return status, told.out, told.err

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
