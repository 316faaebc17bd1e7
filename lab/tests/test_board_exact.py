# SPDX-License-Identifier: BSD-2-Clause
"""The deterministic board: two boots measure the same, and teebench measures what xtest does."""

from __future__ import annotations

import re
import statistics
from pathlib import Path

import pytest

from teemark import cli
from teemark.boards import VirtualBoard
from teemark.model.stats import call_times
from teemark.run import reader

pytestmark = [pytest.mark.board, pytest.mark.timeout(600)]

BOARD = "qemu-v8-icount"
PLAN = """\
summary = "What must come out the same, whatever the host does meanwhile."

[[cases]]
workload = "invoke"
backends = ["tee"]
samples = 9

[[cases]]
workload = "oneshot"
algorithms = ["sha256"]
backends = ["tee", "ta-c", "ta-ce", "c", "ce", "openssl", "afalg"]
sizes = ["64KiB"]
samples = 9
"""
CASES = 1 + 7


def medians(directory: Path) -> dict[str, float]:
    run = reader.read(directory)
    assert run.incomplete is None
    assert not run.fails
    assert not run.skips
    return {key: statistics.median(call_times(case.samples)) for key, case in run.cases.items()}


def test_two_boots_and_two_runs_in_one_boot_give_the_same_medians(tmp_path: Path) -> None:
    plan = tmp_path / "exact.toml"
    plan.write_text(PLAN)

    def run(name: str) -> dict[str, float]:
        status = cli.run(
            ["run", "--board", BOARD, "--plan", str(plan), "--out", str(tmp_path / name)]
        )
        assert status == 0
        return medians(tmp_path / name)

    first = run("first")  # boots, and ends with its command
    assert len(first) == CASES
    assert cli.run(["up", BOARD]) == 0
    try:
        second, third = run("second"), run("third")
    finally:
        assert cli.run(["down", BOARD]) == 0
    for other in (second, third):
        assert other.keys() == first.keys()
        for key, value in first.items():
            assert other[key] == pytest.approx(value, rel=0.001), key


def test_xtest_and_teebench_agree_in_one_boot(qemu_v8_icount: VirtualBoard) -> None:
    def teebench() -> float:
        done = qemu_v8_icount.capture(
            ["teebench", "--samples", "9", "--settle", "1", "oneshot/sha256/tee/1048576"]
        )
        run = reader.parse(done.stdout.splitlines(keepends=True), file="teebench")
        (case,) = run.cases.values()
        return statistics.median(call_times(case.samples))

    core = qemu_v8_icount.capture(["xtest", "1001"])
    assert re.search(r"^[1-9][0-9]* test cases? of which 0 failed$", core.text, re.MULTILINE)
    xtest = qemu_v8_icount.capture(
        ["xtest", "--hash-perf", "-a", "SHA256", "-s", "1048576", "-n", "20"]
    )
    found = re.search(r"mean=([0-9.]+)us", xtest.text)
    assert found, xtest.text
    assert teebench() == pytest.approx(float(found[1]) * 1000, rel=0.10)
