# SPDX-License-Identifier: BSD-2-Clause
"""Whatever the sizes of files, chunks and reads, the digest is hashlib's; memory is constant."""

import hashlib
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from teehash_program import Program
from waiting import PATIENCE_S

Make = Callable[..., None]

CHUNKS = st.sampled_from([4096, 5000, 8192, 65536, 100_000, 1 << 20])


@pytest.fixture(scope="module")
def noise(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return os.urandom(3 << 20)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stream")


@settings(
    max_examples=2 * settings().max_examples,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    chunk=CHUNKS,
    pieces=st.integers(0, 6),
    extra=st.sampled_from([-1, 0, 1, 63, 64, 65, 1000]),
    limit=st.sampled_from([0, 1, 4096, 10_000, 1 << 20, 4 << 20]),
    mode=st.sampled_from(["auto", "stream"]),
    reader=st.sampled_from(["thread", "inline"]),
    algorithm=st.sampled_from(["sha256", "sha512", "sha3-224"]),
    pipe=st.booleans(),
)
def test_sizes(
    teehash: Program, directory: Path, noise: bytes, chunk: int, pieces: int, extra: int,
    limit: int, mode: str, reader: str, algorithm: str, pipe: bool,
) -> None:  # fmt: skip
    data = noise[: max(0, min(chunk * pieces + extra, len(noise)))]
    (directory / "f").write_bytes(data)
    done = teehash(
        "-a", algorithm, f"--chunk={chunk}", f"--oneshot-limit={limit}", f"--mode={mode}",
        f"--reader={reader}", "-" if pipe else "f", cwd=directory, stdin=data if pipe else b"",
    )  # fmt: skip
    expected = hashlib.new(algorithm.replace("sha3-", "sha3_"), data).hexdigest()
    assert done.out.split()[0].decode() == expected, done.said
    assert (done.status, done.err) == (0, b"")


@pytest.mark.parametrize("reader", ["thread", "inline"])
def test_short_reads(teehash: Program, noise: bytes, reader: str) -> None:
    """Drips are collected to whole chunks."""
    reading, writing = os.pipe()

    def drip() -> None:
        at = 0
        for i in range(200):
            at += os.write(writing, noise[at : at + 1 + i * 31])
        os.write(writing, noise[at:1_000_000])
        os.close(writing)

    thread = threading.Thread(target=drip)
    thread.start()
    done = subprocess.run(
        [teehash.path, "--backend=c", "--chunk=10000", f"--reader={reader}"],
        stdin=reading, capture_output=True, timeout=PATIENCE_S, check=True,
    )  # fmt: skip
    thread.join()
    os.close(reading)
    assert done.stdout.split()[0].decode() == hashlib.sha256(noise[:1_000_000]).hexdigest()


def test_oneshot_mode(teehash: Program, directory: Path, noise: bytes) -> None:
    for size in (0, 1, 65536, 2_500_000):
        data = noise[:size]
        (directory / "f").write_bytes(data)
        digest = hashlib.sha256(data).hexdigest().encode()
        for name in ("f", "-"):
            done = teehash("--mode=oneshot", name, cwd=directory, stdin=data)
            assert done.out.split()[0] == digest, done.said
        assert teehash("--mode=oneshot", f"--oneshot-limit={size}", "f", cwd=directory).status == 0
        if size:
            for name in ("f", "-"):
                done = teehash(
                    "--mode=oneshot", f"--oneshot-limit={size - 1}", name,
                    cwd=directory, stdin=data,
                )  # fmt: skip
                assert (done.status, done.out) == (1, b"")
                assert b"--oneshot-limit" in done.err


@pytest.mark.parametrize(
    ("size", "options", "way"),
    [
        (0, [], "oneshot"), (100, [], "oneshot"), (4 << 20, [], "oneshot"),
        ((4 << 20) + 1, [], "stream"), (100, ["--mode=stream"], "stream"),
        (0, ["--mode=stream"], "stream"), (1000, ["--oneshot-limit=999"], "stream"),
        (1000, ["--oneshot-limit=1000"], "oneshot"),
    ],
)  # fmt: skip
def test_which_way_a_file_goes(
    teehash: Program, tmp_path: Path, size: int, options: list[str], way: str
) -> None:
    (tmp_path / "f").write_bytes(bytes(size))
    found = json.loads(teehash("--report=json", *options, "f", cwd=tmp_path).out)["files"][0]
    assert (found["way"], found["bytes"]) == (way, size)
    assert found["digest"] == hashlib.sha256(bytes(size)).hexdigest()


def test_a_file_that_stdin_is_in_the_middle_of(teehash: Program, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"0123456789")
    with (tmp_path / "f").open("rb") as file:
        os.lseek(file.fileno(), 4, os.SEEK_SET)
        done = subprocess.run(
            [teehash.path, "--backend=c"], stdin=file, capture_output=True, check=True
        )
    assert done.stdout.split()[0].decode() == hashlib.sha256(b"456789").hexdigest()


@pytest.mark.parametrize("name", ["f", "-"])
def test_an_empty_file_in_one_call_takes_no_large_buffer(
    teehash: Program, tmp_path: Path, name: str
) -> None:
    (tmp_path / "f").touch()
    options = ("--mode=oneshot", "--oneshot-limit=512M", "--reader=inline", "--report=json")
    found = json.loads(teehash(*options, name, cwd=tmp_path).out)
    assert found["host"]["buffer_memory"]["value"] == 2 << 20
    assert found["files"][0]["digest"] == hashlib.sha256(b"").hexdigest()


def test_a_32_bit_program_reads_files_over_2_gib(make: Make, tmp_path: Path) -> None:
    """Its end only, which is quick under emulation."""
    compiler, emulator = "arm-linux-gnueabihf-gcc", "qemu-arm-static"
    if not (shutil.which(compiler) and shutil.which(emulator)):
        pytest.skip(f"no {compiler} or no {emulator}")
    root = Path(__file__).resolve().parents[3]
    make("-C", root / "host", "ARCH=armhf", "teehash")
    (tmp_path / "f").touch()
    os.truncate(tmp_path / "f", 3 << 30)
    with (tmp_path / "f").open("rb") as file:
        file.seek(-100, os.SEEK_END)
        done = subprocess.run(
            [emulator, "-L", "/usr/arm-linux-gnueabihf",
             root / "build" / "host" / "armhf" / "teehash", "--backend=c"],
            stdin=file, capture_output=True, check=False, timeout=PATIENCE_S,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.split()[0].decode() == hashlib.sha256(bytes(100)).hexdigest()


def test_pseudo_files_have_no_size(teehash: Program) -> None:
    for name in (
        "/proc/version",
        "/proc/filesystems",
        "/sys/kernel/mm/transparent_hugepage/enabled",
    ):
        if Path(name).exists():
            expected = hashlib.sha256(Path(name).read_bytes()).hexdigest().encode()
            assert teehash(name).out.split()[0] == expected


@pytest.mark.parametrize("jobs", ["1", "3"])
@pytest.mark.parametrize("reader", ["thread", "inline"])
def test_no_data_race(
    threads: Program, tmp_path: Path, noise: bytes, jobs: str, reader: str
) -> None:
    names = []
    for i in range(8):
        name = f"{i}"
        (tmp_path / name).write_bytes(noise[: i * 150_000])
        names.append(name)
    options = (f"-j{jobs}", f"--reader={reader}", "--chunk=16K", "--oneshot-limit=64K")
    done = threads(*options, "--report=json", *names, "gone", cwd=tmp_path)
    found = json.loads(done.out)
    assert [file["digest"] for file in found["files"][:-1]] == [
        hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in names
    ]


def peak(program: Program, *arguments: str | Path) -> int:
    found = json.loads(program("--report=json", *arguments, timeout=600).out)
    return int(found["host"]["peak_memory"]["value"])


def test_memory_is_small_and_constant(native: Program, built: Path, tmp_path: Path) -> None:
    empty = int(subprocess.run([built / "empty"], capture_output=True, check=True).stdout) * 1024
    small = tmp_path / "small"
    small.write_bytes(bytes(1 << 20))
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(1 << 27)  # no blocks: quick to read
    # A TEE's buffers are resident as a whole, others' where they were touched: take them all.
    for reader in ("thread", "inline"):
        first = peak(native, "--algorithm=sha1", f"--reader={reader}", small)
        second = peak(native, "--algorithm=sha1", f"--reader={reader}", large)
        assert max(first, second) - empty < 4 << 20
        assert abs(first - second) < 1.5 * (1 << 20)
