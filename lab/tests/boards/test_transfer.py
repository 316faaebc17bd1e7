# SPDX-License-Identifier: BSD-2-Clause
"""Files to and from a board, over a real ssh server on this machine."""

import random
import re
from pathlib import Path

import pytest

import sshserver
from conftest import local_board
from teemark.base import errors
from teemark.boards import Board, transfer
from teemark.boards.ssh_messages import transfer_error

BIG = random.Random(3).randbytes(3_000_001)


@pytest.fixture
def here(tmp_path: Path) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


@pytest.fixture
def there(tmp_path: Path) -> Path:
    folder = tmp_path / "there ' $x"
    folder.mkdir()
    return folder


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("content", [b"", b"x", BIG], ids=["empty", "byte", "big"])
def test_file_there_and_back(board: Board, here: Path, there: Path, content: bytes) -> None:
    (here / "a").write_bytes(content)
    (here / "a").chmod(0o640)
    board.push(here / "a", f"{there}/b")
    assert (there / "b").read_bytes() == content
    assert (there / "b").stat().st_mode & 0o777 == 0o640
    board.pull(f"{there}/b", here / "c")
    assert (here / "c").read_bytes() == content
    assert (here / "c").stat().st_mode & 0o777 == 0o640
    assert names(here) == {"a", "c"}, "nothing is left beside"
    assert names(there) == {"b"}, "nothing is left beside"


def test_into_folders_and_over_files(board: Board, here: Path, there: Path) -> None:
    (here / "a").write_text("new")
    (there / "a").write_text("old")
    board.push(here / "a", str(there), mode=0o444)
    assert (there / "a").read_text() == "new"
    assert (there / "a").stat().st_mode & 0o777 == 0o444
    (here / "a").write_text("newer")
    board.push(here / "a", f"{there}/", mode=0o444)
    assert (there / "a").read_text() == "newer"
    board.pull(f"{there}/a", here)
    assert (here / "a").read_text() == "newer"


def test_home_and_relative_paths(board: Board, here: Path, ssh_server: sshserver.SshServer) -> None:
    (here / "a").write_text("x")
    board.push(here / "a", "~/in home")
    board.push(here / "a", "relative")
    assert (ssh_server.home / "in home").read_text() == "x"
    assert (ssh_server.home / "relative").read_text() == "x"
    board.pull("~/in home", here / "b")
    assert (here / "b").read_text() == "x"


def test_planted_links_are_not_followed(board: Board, here: Path, there: Path) -> None:
    """Whoever may write to the folder too lays links where they expect what is new."""
    victim = here / "victim"
    victim.write_text("untouched")
    victim.chmod(0o600)
    (here / "a").write_text("new")
    last = int(Path("/proc/sys/kernel/ns_last_pid").read_text(encoding="ascii"))
    for pid in range(last, last + 3000):
        (there / f".teemark.{pid}").symlink_to(victim)
    board.push(here / "a", f"{there}/a", mode=0o755)
    assert victim.read_text() == "untouched"
    assert victim.stat().st_mode & 0o777 == 0o600
    assert (there / "a").read_text() == "new"


def test_nobody_sees_half_of_what_is_pushed(
    board: Board, here: Path, there: Path, ssh_server: sshserver.SshServer
) -> None:
    """New files lie in a folder of its own, closed for others, until it is whole."""
    spy = ssh_server.home / "our programs" / "sha256sum"
    spy.parent.mkdir(exist_ok=True)
    spy.write_text(
        f"#!/bin/sh\nstat -c %a . >'{here}/seen'; ls ../ -A >>'{here}/seen'\n"
        'exec /usr/bin/sha256sum "$@"\n'
    )
    spy.chmod(0o755)
    try:
        (here / "a").write_text("new")
        board.push(here / "a", f"{there}/a")
    finally:
        spy.unlink()
    mode, name = (here / "seen").read_text().split()
    assert mode == "700"
    assert re.fullmatch(r"\.teemark\.\w{6}", name)


def test_missing_files(board: Board, here: Path, there: Path) -> None:
    with pytest.raises(errors.UsageMistake, match="there is no file"):
        board.push(here / "nothing", str(there))
    with pytest.raises(errors.TransferError, match="No such file"):
        board.pull(f"{there}/nothing", here)
    with pytest.raises(errors.UsageMistake, match="is a folder") as caught:
        board.pull(str(there), here)
    assert "tar -cC" in (caught.value.hint or "")
    (here / "a").write_text("x")
    with pytest.raises(errors.TransferError, match=r"(No such|nonexistent)"):
        board.push(here / "a", f"{there}/no/such/folder/a")
    with pytest.raises(errors.UsageMistake, match="there is no folder"):
        board.pull(str(here / "a"), there / "no" / "b")


def test_no_space_is_told_from_what_cat_says(board: Board) -> None:
    # The full disk itself is met on the virtual board.
    done = board.script("cat >/dev/full", stdin=b"x", check=False)
    assert done.status != 0
    error = transfer_error(board.name, "/dev/full", done.complaint)
    assert "no space left for /dev/full" in error.message
    assert "df -h" in (error.hint or "")


def test_what_arrives_damaged_is_not_renamed(board: Board, there: Path) -> None:
    (there / "a").write_text("old")
    facts = (str(there / "a"), "a", "0" * 64, "100", "644")
    assert board.script(transfer.PUSH_FILE, *facts, stdin=b"cut off", check=False).status == 11
    assert (there / "a").read_text() == "old"
    assert names(there) == {"a"}


def test_no_permission(board: Board, here: Path) -> None:
    (here / "a").write_text("x")
    with pytest.raises(errors.TransferError):
        board.push(here / "a", "/proc/a")


def test_board_that_went_away(tmp_path: Path, here: Path) -> None:
    server = sshserver.start(tmp_path / "server", "test-host")
    target = tmp_path / "target"
    try:
        with local_board(server) as board:
            target.write_text("old")
            (here / "a").write_bytes(BIG)
            board.exec(["true"])
            server.stop()
            with pytest.raises(errors.ConnectionLost):
                board.push(here / "a", str(target))
        assert target.read_text() == "old"
    finally:
        server.stop()
