# SPDX-License-Identifier: BSD-2-Clause
"""Sessions of all TAs opened and closed by many clients at once.

OPENS_SECONDS=3600 (make torture) does it for so long in each way. Most openings are of a TA that a
client keeps loaded, which are cheap, so that there are many; one in ONE_IN loads a TA. Each kind is
counted for itself. Where clients are killed the board is known to hang at times
(docs/upstream-bugs.md): that is counted, and said as it is.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import often
from teemark.base import paths
from teemark.boards import VirtualBoard, ensure_installed, open_board

SECONDS = int(os.environ.get("OPENS_SECONDS", often(5, 20)))
EXACT_SECONDS = max(2, SECONDS // 20)
"""The exact board's seconds are 1000 million instructions each, some ten seconds here."""
ONE_IN = 60
pytestmark = [pytest.mark.board, pytest.mark.long(60), pytest.mark.timeout(900 + 6 * SECONDS)]

COUNTS = re.compile(
    r"^(\d+) sessions opened \((\d+) of a loaded TA, (\d+) loaded a TA, (\d+) of a single instance "
    r"that one loads\), (\d+) refused .*, (\d+) clients killed, .*$",
    re.M,
)


@pytest.fixture(scope="module")
def opened() -> Iterator[list[int]]:
    """How many sessions each test opened; their sum is printed at the end."""
    counts: list[int] = []
    yield counts
    report(f"{sum(counts)} sessions opened in all")


def report(line: str) -> None:
    print(line)
    with (paths.build() / "torture-opens.txt").open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def opens(
    board: VirtualBoard, opened: list[int], seed: int, how: str, one_in: int = ONE_IN
) -> tuple[int, str]:
    """Exit status and output of `ta_torture opens` with six clients."""
    subprocess.run(["make", "-s", "-C", paths.root() / "ta/tests", "board"], check=True)
    board.push(paths.build() / "tests/ta/ta_torture", "/tmp/ta_torture", mode=0o755)
    seconds = EXACT_SECONDS if board.deterministic else SECONDS
    argv = ["/tmp/ta_torture", "opens", "6", str(seconds), str(seed), how, str(one_in)]
    done = board.capture(argv, check=False, timeout=5 * SECONDS + 300)
    *_, last = COUNTS.finditer(done.text)
    opened.append(int(last[1]))
    assert int(last[1]) == sum(int(last[n]) for n in (2, 3, 4))
    hang = re.search("^hang: .*$", done.text, re.M)
    words = f"{board.name} ({board.optee.what}), {how}, seed {seed}, one in {one_in} of a TA to be "
    report(f"{words}loaded: {last[0]}" + (f"; {hang[0]}" if hang else ""))
    return done.status, done.text


@pytest.mark.parametrize("one_in", [pytest.param(1, marks=pytest.mark.exhaustive), 10])
def test_clients_that_nobody_kills_all_get_their_sessions(
    qemu_v8_smp: VirtualBoard, opened: list[int], one_in: int
) -> None:
    status, text = opens(qemu_v8_smp, opened, 1, "calm", one_in)
    assert status == 0, text
    last = text.splitlines()[-1]
    assert " 0 refused " in last
    assert (" (0 of a loaded TA" in last) == (one_in == 1), "kept TAs are what is cheap to open"


FAST = """
optee = "source"
options = ["CFG_CORE_UNSAFE_MODEXP=y", "CFG_CC_OPT_LEVEL=2", "CFG_TEE_CORE_DEBUG=n", \
"CFG_CRYPTO_WITH_CE=y", "CFG_TEE_CORE_LOG_LEVEL=1"]
"""
"""An OP-TEE that loads a TA with less work: more openings in the same time, and closer together.
With it comes the patch by which a TA's signature is verified with the
limbs that the key has."""


@pytest.fixture
def fast_board(tmp_path: Path, name: str) -> str:
    """A board file like that of the board `name`, with the fast OP-TEE."""
    patch = paths.root() / "reference/rsa-used-limbs.patch"
    file = tmp_path / f"fast-{name}.toml"
    recipe = (paths.boards() / f"{name}.toml").read_text()
    file.write_text(f"{recipe}{FAST}patches = ['{patch}']\n")
    return str(file)


@pytest.mark.skipif("OPENS_SECONDS" not in os.environ, reason="make torture")
@pytest.mark.parametrize(
    ("name", "seed"),
    [("qemu-v8", 3), *(("qemu-v8-icount", seed) for seed in (4, 5, 6))],
)
def test_many_openings_of_a_fast_tee(fast_board: str, seed: int, opened: list[int]) -> None:
    with open_board(fast_board) as board:
        assert isinstance(board, VirtualBoard)
        ensure_installed(board)
        status, text = opens(board, opened, seed, "calm")
    assert status == 0, text
    assert " 0 refused " in text.splitlines()[-1]


@pytest.mark.skipif("OPENS_SECONDS" not in os.environ, reason="make torture")
@pytest.mark.parametrize(("name", "seed"), [("qemu-v8", 1), ("qemu-v8", 2), ("qemu-v8-icount", 1)])
@pytest.mark.parametrize("how", ["killed", "restarted"])
def test_a_hang_is_the_one_that_is_known(name: str, seed: int, how: str, opened: list[int]) -> None:
    """tee-supplicant is gone, and its device stays busy. It is on a board of the test's own."""
    with open_board(name) as board:
        assert isinstance(board, VirtualBoard)
        ensure_installed(board)
        status, text = opens(board, opened, seed, how, 1)
    assert status == 0 or re.search("^hang: .* its device: Device or resource busy$", text, re.M)
