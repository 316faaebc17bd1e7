# SPDX-License-Identifier: BSD-2-Clause
"""When the TEE is short of memory: smaller pieces, fewer sessions, never a wrong digest."""

import hashlib
import itertools
import random
from pathlib import Path

import pytest
from teehash_program import Program

NOISE = random.Random(11).randbytes(6_000_000)


def line(data: bytes, name: str = "f") -> bytes:
    return f"{hashlib.sha256(data).hexdigest()}  {name}\n".encode()


@pytest.mark.parametrize("reader", ["inline", "thread"])
@pytest.mark.parametrize("refusals", ["".join(d) for d in itertools.product("01", repeat=5)])
def test_allocations_refused_in_any_order(
    tee: Program, tmp_path: Path, refusals: str, reader: str
) -> None:
    """A buffer that can't grow may find no room of its old size either, and becomes smaller."""
    (tmp_path / "f").write_bytes(NOISE[:3_000_000])
    done = tee(f"--reader={reader}", "f", "f", cwd=tmp_path, FAKE_REFUSE=refusals)
    if refusals[0] == "1":  # without it there is no session
        assert (done.status, done.out) == (1, b"")
    else:
        assert (done.status, done.out) == (0, line(NOISE[:3_000_000]) * 2), done.said


def files(folder: Path, count: int) -> tuple[list[str], bytes]:
    names = [f"{i}" for i in range(count)]
    for i, name in enumerate(names):
        (folder / name).write_bytes(NOISE[: i * 70_000])
    return names, b"".join(line(NOISE[: i * 70_000], name) for i, name in enumerate(names))


@pytest.mark.parametrize("jobs", ["2", "4"])
def test_a_session_that_opens_in_vain_takes_memory_meanwhile(
    tee: Program, tmp_path: Path, jobs: str
) -> None:
    """One session would do, so one does it."""
    names, expected = files(tmp_path, 9)
    done = tee("-j", jobs, *names, cwd=tmp_path, FAKE_LATE="1")
    assert (done.status, done.out) == (0, expected), done.said
    assert f"only 1 of {jobs} sessions could be opened" in done.said
    assert done.said.count("OUT_OF_MEMORY") == 1


def test_no_session_is_said_once(tee: Program, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"")
    done = tee("-j3", "f", "f", "f", cwd=tmp_path, FAKE_OPEN="0xffff000c")
    assert (done.status, done.out) == (1, b"")
    assert done.said.count("OUT_OF_MEMORY") == done.said.count("hint: ") == 1
    assert "could be opened" not in done.said


@pytest.mark.parametrize("late", [{"FAKE_LATE": "1"}, {"FAKE_ROOM": "1"}, {"FAKE_ROOM": "2"}])
@pytest.mark.parametrize("kind", ["pipe", "file"])
def test_what_was_read_of_standard_input_is_not_lost_on_another_session(
    tee: Program, tmp_path: Path, late: dict[str, str], kind: str
) -> None:
    """The rest of it alone would be a wrong digest."""
    (tmp_path / "f").write_bytes(b"good")
    (tmp_path / "in").write_bytes(NOISE[:3_000_000])
    script = {
        "pipe": 'cat in | exec "$0" -j3 --chunk=64K - f f',
        "file": 'exec "$0" -j3 --chunk=64K - f f <in',
    }[kind]
    shell = Program("sh", ("-c", script, tee.path), tee.env)
    for _ in range(3):
        done = shell(cwd=tmp_path, **late)
        right = line(NOISE[:3_000_000], "-")
        good = line(b"good") * 2
        if kind == "file":
            assert (done.status, done.out) == (0, right + good), done.said
        else:  # it can't be read a second time, and that is said
            assert (done.status, done.out) in ((0, right + good), (1, good)), done.said
            assert (done.status == 1) == ("teehash: -: " in done.said)


@pytest.mark.parametrize("reader", ["inline", "thread"])
@pytest.mark.parametrize("most", [65_536, 300_000, 1_500_000, 3_000_000])
def test_calls_that_are_refused(tee: Program, tmp_path: Path, most: int, reader: str) -> None:
    """Memory can be allocated, but not mapped for a call: less at a time, for all files."""
    sizes = [6_000_000, 5_000_000, 4, 2_000_000, 100_000, 3_500_000]
    names = [str(size) for size in sizes]
    for name, size in zip(names, sizes, strict=True):
        (tmp_path / name).write_bytes(NOISE[:size])
    expected = b"".join(line(NOISE[:n], str(n)) for n in sizes)
    for option in ("--oneshot-limit=64M", "-j2", "--mode=stream"):
        done = tee(f"--reader={reader}", option, *names, cwd=tmp_path, FAKE_MAP=str(most))
        assert (done.status, done.out, done.err) == (0, expected, b"")
    # of a pipe as well
    for option in ("--oneshot-limit=64M", "--mode=stream"):
        done = tee(option, f"--reader={reader}", stdin=NOISE, FAKE_MAP=str(most))
        assert (done.status, done.out) == (0, line(NOISE, "-")), done.said


def test_a_session_that_dies_of_a_refused_call(tee: Program, tmp_path: Path) -> None:
    """It costs the file it was at: nothing is read twice. The next is hashed in smaller calls."""
    (tmp_path / "f").write_bytes(NOISE[:3_000_000])
    done = tee(*"ffff", cwd=tmp_path, FAKE_MAP="1000000", FAKE_FATAL="1", FAKE_OPENS="9")
    assert (done.status, done.out) == (1, line(NOISE[:3_000_000]) * 2), done.said
    assert done.said.count("teehash: f: ") == done.said.count("TARGET_DEAD") == 2


def test_what_was_asked_for_is_not_made_smaller(tee: Program, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(NOISE[:3_000_000])
    for options in (["--chunk=1M"], ["--mode=oneshot"]):
        done = tee(*options, "f", cwd=tmp_path, FAKE_MAP="300000")
        assert (done.status, done.out) == (1, b"")
        assert done.said.count("TEE_ERROR_OUT_OF_MEMORY") == 1
