# SPDX-License-Identifier: BSD-2-Clause
"""Virtual boards that differ: what `setup`, `doctor`, `run`, `teehash` and the removal do there is
right, or they say why not. zoo.py has the table; `make zoo` writes what came of it into
docs/boards.md."""

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import unprivileged_user
import zoo
from conftest import THOROUGH
from teemark.base import paths
from teemark.boards import (
    Board,
    BoardFile,
    SshConfig,
    VirtualBoard,
    config,
    ensure_installed,
    open_board,
    tas,
)
from teemark.cli import main as cli
from teemark.run import reader

pytestmark = pytest.mark.board

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


# What is there: each file's name, and what is mounted. The TEE's storage is its own.
EVERYTHING = """\
for d in / /run /tmp /data /dev/shm; do find "$d" -xdev ! -path '/data/tee*'; done
cat /proc/mounts
"""


def _everything(board: Board) -> set[str]:
    return set(board.script(EVERYTHING).text.splitlines())


def _hashed(board: Board, reached: Board, tee: bool) -> str:
    """teehash and the board's own sha256sum agree on a file; without a TEE teehash says why not,
    and the same code outside agrees."""
    board.script("head -c 1000001 /dev/urandom >/data/zoo.bin")
    try:
        digest = board.capture(["sha256sum", "/data/zoo.bin"]).text.split()[0]
        inside = reached.capture(["teehash", "/data/zoo.bin"], check=False)
        outside = reached.capture(["teehash", "--backend=c", "/data/zoo.bin"]).text.split()[0]
    finally:
        board.script("rm -f /data/zoo.bin")
    assert outside == digest
    if tee:
        assert inside.text.split()[0] == digest, inside.complaint
        return "the digest of sha256sum"
    assert inside.status != 0
    assert not inside.text
    why = inside.complaint.splitlines()[0].removeprefix("teehash: ")
    return f"says: {why}; `--backend=c`: the digest of sha256sum"


def _desk(animal: zoo.Animal, board: Board, folder: Path) -> str:
    """Returns a board file of ann's. Without root she uses the TAs that root installed."""
    board.script(unprivileged_user.MAKE)
    if animal.user == "su":
        board.script(unprivileged_user.NO_PASSWORD)
    else:
        ensure_installed(board)
    return unprivileged_user.board_file(board, folder, su=animal.user == "su")


def _words(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _measured(
    animal: zoo.Animal, desk: str, tmp_path: Path, teemark: Callable[..., tuple[int, str, str]]
) -> str:
    """A run has what the board can give, and a report; returns how many cases."""
    (tmp_path / "both.toml").write_text(PLAN)
    asked = "quick" if THOROUGH else str(tmp_path / "both.toml")
    to = f"{tmp_path}/run"
    status, _, err = teemark("run", "--board", desk, "--plan", asked, "--out", to)
    assert status == animal.status, err
    run = reader.read(tmp_path / "run")
    assert run.incomplete is None
    assert not run.fails
    skips = Counter(skip.code for skip in run.skips)
    assert set(skips) <= animal.skips | zoo.ALWAYS
    assert not animal.skips or set(skips) & animal.skips
    if not animal.tee:
        worlds = {case.record.backend.partition(":")[0] for case in run.cases.values()}
        assert worlds <= NORMAL_WORLD | ({"tee"} if animal.skips == zoo.LOCKED else set())
    assert (tmp_path / "run/report.html").exists()
    told = _words(len(run.sound), "case") + "".join(
        f", {count} `{code}`" for code, count in sorted(skips.items())
    )
    return told + (f"; status {status}" if status else "")


@pytest.mark.exhaustive
@pytest.mark.parametrize("animal", zoo.ZOO, ids=lambda animal: animal.name)
def test_zoo(
    animal: zoo.Animal, tmp_path: Path, teemark: Callable[..., tuple[int, str, str]]
) -> None:
    """Each step does what the table says, or says why it can't, and nothing is left in the end."""
    told: dict[str, str] = {}
    name = str(tmp_path / f"zoo-{animal.name}.toml")
    shutil.copy(paths.boards() / f"{animal.board}.toml", name)
    with VirtualBoard(config.find(name), keep=True) as board:
        try:
            desk = _desk(animal, board, tmp_path) if animal.user else name
            assert board.script(animal.proof, check=False).status == 0
            before = _everything(board)
            status, out, err = teemark("setup", desk, "--json")
            assert status == animal.status, err
            setup = json.loads(out)
            opened = sum(ta["opened"] for ta in setup["tas"])
            assert bool(opened) == animal.tee
            told["setup"] = _words(len(setup["installed"]), "file")
            told["setup"] += f", {opened} of {len(setup['tas'])} TAs open"
            told["setup"] += f"; status {status}" if status else ""

            status, out, err = teemark("doctor", desk, "--json")
            assert status in (0, 1), err
            found = json.loads(out)
            keys = [it["key"] for it in found["findings"] if it["key"] != "load"]  # of this machine
            told["doctor"] = ", ".join(f"`{key}`" for key in keys) or "nothing"

            told["run --plan quick"] = _measured(animal, desk, tmp_path, teemark)
            with open_board(desk) as reached:
                told["teehash"] = _hashed(board, reached, animal.tee)

            status, out, err = teemark("setup", "--remove", desk, "--json")
            removal = json.loads(out)
            assert removal["removed"]
            assert (status == 1) == (animal.user == "group") == bool(removal["problem"]), err
            assert _everything(board) == before
            assert board.script(animal.proof, check=False).status == 0
            told["removal"] = "nothing is left"
            if removal["problem"]:
                message = removal["problem"]["message"].partition(": ")[2]
                told["removal"] += f" but root's TAs; says: {message}; status 1"
        finally:
            assert teemark("down", name)[0] == 0
    if os.environ.get("ZOO"):
        zoo.RESULTS.mkdir(parents=True, exist_ok=True)
        animal.results.write_text(json.dumps(told))


SESSIONLESS = {"invoke/refused/tee/none", "invoke/pseudo/tee/none"}
OTHERS = SESSIONLESS | {"session/open/tee/pseudo", "session/close/tee/pseudo"}
"""Cases of the TEE that need no TA of ours."""


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
            words = (
                "run",
                "--board",
                str(board),
                "--plan",
                "locked",
                "--trace-events",
                "--out",
                to,
            )
            status, _, err = teemark(*words)
            assert status == 0, err
            run = reader.read(tmp_path / "locked")
            assert not run.skips
            inside = {case.key for case in run.sound if case.work.backend in ("tee", "pkcs11")}
            assert inside >= OTHERS
            assert len(inside - OTHERS) == 6  # by PKCS #11
            assert {leg.case for leg in run.legs if not leg.reason} >= SESSIONLESS
            assert any(one.record.layers for one in run.sound)
            assert (tmp_path / "locked/report.html").exists()

            to = f"{tmp_path}/quick"
            status, _, err = teemark("run", "--board", str(board), "--plan", "quick", "--out", to)
            assert status == 1
            run = reader.read(tmp_path / "quick")
            rejected = [skip for skip in run.skips if skip.code == "ta-rejected"]
            assert {skip.code for skip in run.skips} <= {"ta-rejected", "unsupported-algorithm"}
            measured = {case.key for case in run.sound}
            assert measured & SESSIONLESS == {"invoke/refused/tee/none"}
            assert f"add {len(rejected)} cases (tee, ta-c, ta-ce)" in err
            assert "for the vendor to sign, in " in err
            assert "digest/5e5b2f0c-6d0a-4b57-9c1e-3a7f41d28860.stripped.elf" in err

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
