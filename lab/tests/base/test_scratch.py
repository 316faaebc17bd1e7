# SPDX-License-Identifier: BSD-2-Clause
"""Temporary folders live as long as their process, and no longer."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from teemark.base import scratch
from waiting import line_of

MAKES = """
import sys
from teemark.base import scratch
print(scratch.make(sys.argv[1]), flush=True)
sys.stdin.readline()
"""
CONTAINER = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]


def test_a_folder_lives_as_long_as_its_process(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", MAKES, str(tmp_path)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        theirs = Path(line_of(process).decode().strip())
        with scratch.folder() as elsewhere:
            assert elsewhere.is_dir()
        ours = scratch.make(str(tmp_path))
        assert theirs.is_dir()
        process.kill()
    with_theirs_gone = scratch.make(str(tmp_path))
    assert not theirs.exists()
    assert ours.is_dir()
    for folder in (ours, with_theirs_gone):
        scratch.remove(folder)
    assert not list(tmp_path.iterdir())


def test_a_teemark_in_another_container_leaves_a_live_folder_alone(tmp_path: Path) -> None:
    """It knew a process by its number, which other containers don't see."""
    argv = [sys.executable, "-c", MAKES, str(tmp_path)]
    if subprocess.run([*CONTAINER, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody make a namespace of processes")
    ours = scratch.make(str(tmp_path))
    (ours / "socket").touch()
    done = subprocess.run(
        [*CONTAINER, *argv], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (ours / "socket").exists()
    scratch.remove(ours)


def test_what_is_no_folder_of_ours_stays(tmp_path: Path) -> None:
    """A folder without a lock may have just been made; a link may lead anywhere."""
    fresh, old, link = (tmp_path / f"teemark-scratch-{name * 8}" for name in "abc")
    others = tmp_path / "teemark-results"
    for folder in (fresh, old, others):
        folder.mkdir()
    link.symlink_to(others)
    for folder in (old, others):
        os.utime(folder, (1, 1))
    scratch.remove(scratch.make(str(tmp_path)))
    assert sorted(tmp_path.iterdir()) == [others, fresh, link]
