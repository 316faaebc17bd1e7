# SPDX-License-Identifier: BSD-2-Clause
"""A report of work that was interrupted is never written, and that is said."""

import hashlib
import os
import signal
import subprocess
from pathlib import Path

import pytest
from teehash_program import Program
from waiting import output_of, until, until_it_settles

NO_REPORT = b"teehash: interrupted: no report is written\n"
GOOD = hashlib.sha256(b"good").hexdigest().encode() + b"  good\n"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "good").write_bytes(b"good")
    return tmp_path


def interrupt(
    program: Program,
    directory: Path,
    numbers: list[signal.Signals],
    *arguments: str,
    **env: str,
) -> tuple[int, bytes, bytes]:
    """Sends the signals once the program waits, each after the one before was taken; returns the
    program's status and what it wrote."""
    with subprocess.Popen(
        [program.path, *program.arguments, *arguments], cwd=directory,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, **program.env, **env},
    ) as process:  # fmt: skip
        until_it_settles(process)
        assert process.poll() is None
        for number in numbers[:-1]:
            process.send_signal(number)
            # Sent at once, the next one could be taken by another thread before this one.
            until("its handler to set the alarm", Path(env["FAULT_ALARM"]).exists)
        process.send_signal(numbers[-1])
        out, err = output_of(process)
    return process.returncode, out, err


@pytest.mark.parametrize("options", [["--reader=thread"], ["--reader=inline"], ["-j2"],
                                     ["--reader=thread", "-j2"]])  # fmt: skip
@pytest.mark.parametrize("kind", ["json", "text"])
def test_interrupted(teehash: Program, directory: Path, options: list[str], kind: str) -> None:
    """Each file that was done has its line, unless JSON stands in its place."""
    status, out, err = interrupt(
        teehash, directory, [signal.SIGINT], "--chunk=64K", "--mode=stream", *options,
        f"--report={kind}", "good", "gone", "/dev/zero", "good",
    )  # fmt: skip
    assert (status, out) == (-signal.SIGINT, b"" if kind == "json" else GOOD)
    assert err == b"teehash: gone: No such file or directory\n" + NO_REPORT


@pytest.mark.parametrize("numbers", [[signal.SIGTERM], [signal.SIGINT, signal.SIGINT],
                                     [signal.SIGINT, signal.SIGTERM]])  # fmt: skip
def test_interrupted_in_a_call_that_does_not_return(
    tee: Program, built: Path, directory: Path, numbers: list[signal.Signals]
) -> None:
    """From within a signal handler: by its own alarm, or at the second signal without one."""
    no_alarm = {
        "LD_PRELOAD": str(built / "libfault.so"),
        "ASAN_OPTIONS": "verify_asan_link_order=0",
        "FAULT_ALARM": str(directory / "alarm"),
    }
    status, out, err = interrupt(
        tee, directory, numbers, "--report=json", "gone", "good", FAKE_HANG="1",
        **(no_alarm if len(numbers) > 1 else {}),
    )  # fmt: skip
    assert (status, out, err) == (-numbers[0], b"", NO_REPORT)


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
        until_it_settles(process)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert output_of(process)[1] == NO_REPORT
        assert process.returncode == -signal.SIGINT
    os.close(reading)
