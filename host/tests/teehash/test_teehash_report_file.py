# SPDX-License-Identifier: BSD-2-Clause
"""--report-file: never seen half written, whatever is in its place and whenever teehash ends."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from teehash_program import Program

NO_REPORT = b"teehash: interrupted: no report is written\n"
GOOD = hashlib.sha256(b"good").hexdigest().encode() + b"  good\n"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "good").write_bytes(b"good")
    return tmp_path


def digests(report: bytes) -> list[str]:
    found: dict[str, Any] = json.loads(report)
    return [file["digest"] for file in found["files"]]


def test_a_report_in_place_of_what_it_is_about(teehash: Program, directory: Path) -> None:
    """The file is hashed as it was, then replaced."""
    for options in (["--report=json"], ["--report"]):
        (directory / "inp").write_bytes(b"good")
        done = teehash(*options, "--report-file=inp", "inp", "good", cwd=directory)
        assert (done.status, done.out, done.err) == (
            0,
            GOOD.replace(b"good", b"inp") + GOOD,
            b"",
        )
        assert b"good" in (directory / "inp").read_bytes()
        assert sorted(path.name for path in directory.iterdir()) == ["good", "inp"]


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_who_may_read_the_report(teehash: Program, directory: Path, mask: int) -> None:
    """As the umask says; what was there keeps its mode."""
    before = os.umask(mask)
    try:
        teehash("--report=json", "--report-file=new", "good", cwd=directory)
        (directory / "old").touch()
        (directory / "old").chmod(0o640)
        teehash("--report=json", "--report-file=old", "good", cwd=directory)
    finally:
        os.umask(before)
    assert (directory / "new").stat().st_mode & 0o777 == 0o666 & ~mask
    assert (directory / "old").stat().st_mode & 0o777 == 0o640
    assert digests((directory / "old").read_bytes())


def test_links(teehash: Program, directory: Path) -> None:
    """A link stays one; what it leads to is replaced or made."""
    (directory / "sub").mkdir()
    (directory / "sub" / "there").write_text("old")
    for name in ("there", "gone"):
        (directory / "link").unlink(missing_ok=True)
        (directory / "link").symlink_to(f"sub/{name}")
        done = teehash("--report=json", "--report-file=link", "good", cwd=directory)
        assert (done.status, done.out, done.err) == (0, GOOD, b"")
        assert (directory / "link").is_symlink()
        assert digests((directory / "sub" / name).read_bytes())


def test_a_fifo(teehash: Program, directory: Path) -> None:
    os.mkfifo(directory / "fifo")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append((directory / "fifo").read_bytes()))
    reader.start()
    done = teehash("--report=json", "--report-file=fifo", "good", cwd=directory)
    reader.join(10)
    assert (done.status, done.out) == (0, GOOD)
    assert digests(got[0])


def test_standard_output(teehash: Program, directory: Path) -> None:
    """The lines and the report in one file, none overwrites the other."""
    for name in ("/dev/stdout", "both"):
        with (directory / "both").open("wb") as both:
            done = subprocess.run(
                [teehash.path, "--backend=c", "--report", f"--report-file={name}", "good"],
                stdout=both, stderr=subprocess.PIPE, cwd=directory, check=False,
            )  # fmt: skip
        text = (directory / "both").read_bytes()
        assert (done.returncode, done.stderr) == (0, b"")
        assert GOOD in text
        assert b"Where the time went" in text
    done = teehash("--report", "--report-file=/dev/stderr", "good", cwd=directory)
    assert done.out == GOOD
    assert b"Where the time went" in done.err


@pytest.mark.parametrize(
    ("name", "reason"),
    [("", "No such file or directory"), (".", "Is a directory"), ("new/", "Is a directory"),
     ("gone/r", "No such file or directory"), ("good/r", "Not a directory")],
)  # fmt: skip
def test_no_place_for_it(teehash: Program, directory: Path, name: str, reason: str) -> None:
    done = teehash("--report", f"--report-file={name}", "good", cwd=directory)
    assert (done.status, done.out) == (1, b"")
    assert done.err == f"teehash: cannot write the report to {name}: {reason}\n".encode()
    assert [path.name for path in directory.iterdir()] == ["good"]


def test_no_room_for_it(native: Program, directory: Path) -> None:
    """What was there stays, and nothing else does."""
    (directory / "r").write_text("old")
    for i in range(200):
        (directory / f"n{i}").touch()
    names = [f"n{i}" for i in range(200)]
    limited = Program("sh", ("-c", 'ulimit -f 8; trap "" XFSZ; exec "$@"', "sh", native.path))
    done = limited(
        "--backend=c", "--report=json", "--report-file=r", *names, cwd=directory
    )  # fmt: skip
    assert done.status == 1
    assert done.err == b"teehash: cannot write the report to r: File too large\n"
    assert done.out.count(b"\n") == 200
    assert (directory / "r").read_text() == "old"
    assert not list(directory.glob("*.partial"))


def interrupt(
    program: Program,
    directory: Path,
    numbers: list[signal.Signals],
    *arguments: str,
    **env: str,
) -> tuple[int, bytes, bytes]:
    with subprocess.Popen(
        [program.path, *program.arguments, *arguments], cwd=directory,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, **program.env, **env},
    ) as process:  # fmt: skip
        time.sleep(1)
        assert process.poll() is None
        for number in numbers:
            process.send_signal(number)
            time.sleep(0.1)
        out, err = process.communicate(timeout=20)
    return process.returncode, out, err


@pytest.mark.parametrize("options", [["--reader=thread"], ["--reader=inline"], ["-j2"],
                                     ["--reader=thread", "-j2"]])  # fmt: skip
@pytest.mark.parametrize("kind", ["json", "text"])
def test_interrupted(teehash: Program, directory: Path, options: list[str], kind: str) -> None:
    """No report is written, what was there stays, and it is said."""
    (directory / "r").write_text("old")
    status, out, err = interrupt(
        teehash, directory, [signal.SIGINT], "--chunk=64K", "--mode=stream", *options,
        f"--report={kind}", "--report-file=r", "good", "gone", "/dev/zero", "good",
    )  # fmt: skip
    assert (status, out) == (-signal.SIGINT, GOOD)
    assert err == b"teehash: gone: No such file or directory\n" + NO_REPORT
    assert (directory / "r").read_text() == "old"
    assert not list(directory.glob("*.partial"))


@pytest.mark.parametrize("numbers", [[signal.SIGTERM], [signal.SIGINT, signal.SIGINT],
                                     [signal.SIGINT, signal.SIGTERM]])  # fmt: skip
@pytest.mark.parametrize("filed", [True, False])
def test_interrupted_in_a_call_that_does_not_return(
    tee: Program, directory: Path, numbers: list[signal.Signals], filed: bool
) -> None:
    """From within a signal handler: after three seconds, or at the second signal."""
    begin = time.monotonic()
    status, out, err = interrupt(
        tee, directory, numbers, "--report=json", *(["--report-file=r"] if filed else []),
        "gone", "good", FAKE_HANG="1",
    )  # fmt: skip
    took = time.monotonic() - begin
    assert (status, out, err) == (-numbers[0], b"", NO_REPORT)
    assert took < 3.5 if len(numbers) > 1 else 3.5 < took < 8
    assert [path.name for path in directory.iterdir()] == ["good"]


def test_interrupted_while_nobody_reads_the_report(teehash: Program, directory: Path) -> None:
    """A full pipe doesn't keep it."""
    reading, writing = os.pipe()
    for i in range(300):
        (directory / f"n{i}").touch()
    with subprocess.Popen(
        [teehash.path, "--backend=c", "--report=json", *(f"n{i}" for i in range(300))],
        stdout=writing, stderr=subprocess.PIPE, cwd=directory,
    ) as process:  # fmt: skip
        os.close(writing)
        time.sleep(1)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=10)[1] == NO_REPORT
        assert process.returncode == -signal.SIGINT
    os.close(reading)
