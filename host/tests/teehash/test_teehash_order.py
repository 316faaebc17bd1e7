# SPDX-License-Identifier: BSD-2-Clause
"""A file that several names stand for is read by one worker at a time, as by sha256sum."""

import hashlib
import os
import random
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from teehash_program import Program
from waiting import PATIENCE_S, pour

NOISE = random.Random(12).randbytes(3_000_000)
NOTHING = b""


def line(data: bytes, name: str) -> bytes:
    return f"{hashlib.sha256(data).hexdigest()}  {name}\n".encode()


def piped(
    program: Program, options: str, folder: Path, feed: str = "cat in |"
) -> subprocess.CompletedProcess[bytes]:
    """Standard input is a pipe that fills slowly, so that several readers would share it."""
    return subprocess.run(
        ["sh", "-c", f'{feed} "$0" --backend=c {options}', program.path],
        capture_output=True, cwd=folder, check=False, timeout=PATIENCE_S,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").write_bytes(NOISE)
    (tmp_path / "good").write_bytes(b"good")
    return tmp_path


@pytest.mark.parametrize("jobs", ["1", "2", "4"])
@pytest.mark.parametrize("options", ["--reader=inline", "--reader=thread", "--chunk=4K"])
@pytest.mark.parametrize("feed", ["cat in |", "<in"])
def test_standard_input_named_again_is_at_its_end(
    teehash: Program, folder: Path, jobs: str, options: str, feed: str
) -> None:
    names = ["-", "good", "-", "-", "good"]
    done = piped(teehash, f"-j{jobs} {options} {' '.join(names)}", folder, feed)
    contents = [NOISE, b"good", NOTHING, NOTHING, b"good"]
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"".join(map(line, contents, names))


@pytest.mark.parametrize("jobs", ["1", "2", "4"])
def test_it_has_many_names(teehash: Program, folder: Path, jobs: str) -> None:
    names = ["/dev/stdin", "-", "good", "/proc/self/fd/0"]
    done = piped(teehash, f"-j{jobs} {' '.join(names)}", folder)
    assert done.stdout == b"".join(map(line, [NOISE, NOTHING, b"good", NOTHING], names))
    # a file that is opened anew is read from its beginning
    done = piped(teehash, f"-j{jobs} {' '.join(names)}", folder, "<in")
    assert done.stdout == b"".join(map(line, [NOISE, NOISE, b"good", NOISE], names))


@pytest.mark.parametrize("jobs", ["1", "2", "4"])
@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_a_list_that_names_standard_input(
    teehash: Program, folder: Path, jobs: str, name: str
) -> None:
    lines = [
        line(NOISE, name),
        line(b"good", "good"),
        line(NOTHING, name),
        line(NOISE, name),
    ]
    (folder / "list").write_bytes(b"".join(lines))
    done = piped(teehash, f"-c -j{jobs} list", folder)
    verdicts = [f"{name}: OK", "good: OK", f"{name}: OK", f"{name}: FAILED"]
    assert (done.returncode, done.stdout.decode().splitlines()) == (1, verdicts)


@pytest.mark.parametrize("jobs", ["1", "2", "4"])
def test_a_list_after_one_that_names_standard_input(
    teehash: Program, folder: Path, jobs: str
) -> None:
    """The first takes it all, nothing is left for a second list."""
    (folder / "in").write_bytes(line(b"good", "good") * 50_000)
    (folder / "list").write_bytes(line((folder / "in").read_bytes(), "-"))
    done = piped(teehash, f"-c -j{jobs} list -", folder)
    assert (done.returncode, done.stdout) == (1, b"-: OK\n")
    assert b"no properly formatted checksum lines found" in done.stderr


@pytest.mark.parametrize("jobs", ["1", "2", "4"])
def test_a_fifo_named_twice(teehash: Program, folder: Path, jobs: str) -> None:
    """Each opening reads up to an end of its own."""
    os.mkfifo(folder / "fifo")
    parts = [(folder / name).read_bytes() for name in ("in", "good")]
    with ThreadPoolExecutor(1) as writer:
        poured = writer.submit(lambda: [pour(folder / "fifo", part) for part in parts])
        done = teehash(f"-j{jobs}", "fifo", "good", "./fifo", cwd=folder)
        poured.result()
    expected = line(NOISE, "fifo") + line(b"good", "good") + line(b"good", "./fifo")
    assert (done.status, done.out) == (0, expected), done.said
