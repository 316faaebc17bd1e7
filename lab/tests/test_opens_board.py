# SPDX-License-Identifier: BSD-2-Clause
"""Sessions of all TAs opened and closed by many clients at once.

OPENS_SECONDS=3600 (make torture) does it for so long in each way. Where clients are killed the
board is known to hang at times (docs/findings.md): that is counted, and said as it is.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from conftest import often
from teemark.base import paths
from teemark.boards import VirtualBoard, ensure_installed, open_board

SECONDS = int(os.environ.get("OPENS_SECONDS", often(5, 20)))
pytestmark = [pytest.mark.board, pytest.mark.long(60), pytest.mark.timeout(600 + 4 * SECONDS)]

COUNTS = re.compile(r"^(\d+) sessions opened, (\d+) refused .*, (\d+) clients killed, .*$", re.M)


def opens(board: VirtualBoard, seed: int, how: str) -> tuple[int, str]:
    """Exit status and output of `ta_torture opens` with six clients."""
    subprocess.run(["make", "-s", "-C", paths.root() / "ta/tests", "board"], check=True)
    board.push(paths.build() / "tests/ta/ta_torture", "/tmp/ta_torture", mode=0o755)
    argv = ["/tmp/ta_torture", "opens", "6", str(SECONDS), str(seed), how]
    done = board.capture(argv, check=False, timeout=SECONDS + 300)
    *_, last = COUNTS.finditer(done.text)
    hang = re.search("^hang: .*$", done.text, re.M)
    said = f"{board.name}, {how}, seed {seed}: {last[0]}" + (f"; {hang[0]}" if hang else "")
    print(said)
    with (paths.build() / "torture-opens.txt").open("a", encoding="utf-8") as report:
        report.write(said + "\n")
    return done.status, done.text


def test_clients_that_nobody_kills_all_get_their_sessions(qemu_v8: VirtualBoard) -> None:
    status, text = opens(qemu_v8, 1, "calm")
    assert status == 0, text
    assert " 0 refused " in text.splitlines()[-1]


FAST = """
optee = "source"
options = ["CFG_CORE_UNSAFE_MODEXP=y", "CFG_CC_OPT_LEVEL=2", "CFG_TEE_CORE_DEBUG=n", \
"CFG_CRYPTO_WITH_CE=y", "CFG_TEE_CORE_LOG_LEVEL=1"]
"""
"""An OP-TEE that loads a TA with less work: more openings in the same time, and closer together."""


@pytest.mark.skipif("OPENS_SECONDS" not in os.environ, reason="make torture")
@pytest.mark.parametrize(("name", "seed"), [("qemu-v8", 3), ("qemu-v8-icount", 4)])
def test_many_openings_of_a_fast_tee(name: str, seed: int, tmp_path: Path) -> None:
    file = tmp_path / f"fast-{name}.toml"
    file.write_text((paths.boards() / f"{name}.toml").read_text() + FAST)
    with open_board(str(file)) as board:
        assert isinstance(board, VirtualBoard)
        ensure_installed(board)
        status, text = opens(board, seed, "calm")
    assert status == 0, text
    assert " 0 refused " in text.splitlines()[-1]


@pytest.mark.skipif("OPENS_SECONDS" not in os.environ, reason="make torture")
@pytest.mark.parametrize(("name", "seed"), [("qemu-v8", 1), ("qemu-v8", 2), ("qemu-v8-icount", 1)])
@pytest.mark.parametrize("how", ["killed", "restarted"])
def test_a_hang_is_the_one_that_is_known(name: str, seed: int, how: str) -> None:
    """tee-supplicant is gone, and its device stays busy. It is on a board of the test's own."""
    with open_board(name) as board:
        assert isinstance(board, VirtualBoard)
        ensure_installed(board)
        status, text = opens(board, seed, how)
    assert status == 0 or re.search("^hang: .* its device: Device or resource busy$", text, re.M)
