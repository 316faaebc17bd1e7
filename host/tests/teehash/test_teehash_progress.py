# SPDX-License-Identifier: BSD-2-Clause
"""The progress bar, seen by a terminal; and that nothing of it stays there."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from teehash_program import Program

CLEAR = b"\r\x1b[K"
TOTAL = 600 << 20
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
SIZE = r"([\d.]+) (B|[KMG]iB)"
KNOWN = re.compile(
    rf"( ?[ \d]\d|100)% (?:\[(=*>? *)\] )?{SIZE} of {SIZE}, {SIZE}/s(?:, (\d+):(\d\d) left)?"
)
UNKNOWN = re.compile(rf"{SIZE}, {SIZE}/s, (\d+):(\d\d)")


@dataclass(slots=True)
class Screen:
    """What a program wrote to its terminal, and the program."""

    process: subprocess.Popen[bytes]
    terminal: int
    text: bytes = b""

    def read_until(self, done: Callable[[bytes], bool], seconds: float = 20) -> None:
        end = time.monotonic() + seconds
        while not done(self.text) and time.monotonic() < end:
            if select.select([self.terminal], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self.terminal, 65536)
                except OSError:  # nobody has the terminal any more
                    return

    def lines(self) -> list[str]:
        """All that stood on the line, one after the other."""
        return [piece.decode() for piece in self.text.split(CLEAR) if piece]


@contextlib.contextmanager
def screen(
    program: Program, cwd: Path, width: int, *arguments: str, **env: str
) -> Iterator[Screen]:
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 25, width, 0, 0))
    with subprocess.Popen(
        ["setsid", "--ctty", program.path, *program.arguments, *arguments], cwd=cwd,
        stdin=slave, stdout=subprocess.PIPE, stderr=slave,
        env={**os.environ, **program.env, **env},
    ) as process:  # fmt: skip
        os.close(slave)
        try:
            yield Screen(process, master)
        finally:
            process.kill()
            os.close(master)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "good").write_bytes(b"good")
    with (tmp_path / "big").open("wb") as big:
        big.truncate(TOTAL - 4)
    return tmp_path


def bytes_of(number: str, unit: str) -> float:
    return float(number) * UNITS[unit]


def bars(text: bytes) -> int:
    return text.count(b" left")


@pytest.mark.parametrize("options", [["--reader=thread"], ["--reader=inline"], ["-j2"]])
@pytest.mark.parametrize("width", [100, 65])
def test_what_it_tells(teehash: Program, directory: Path, options: list[str], width: int) -> None:
    with screen(teehash, directory, width, *options, "good", "big") as shown:
        begin = time.monotonic()
        shown.read_until(lambda text: bars(text) >= 4)
        took = time.monotonic() - begin
    found = [match for line in shown.lines() if (match := KNOWN.fullmatch(line))]
    assert len(found) >= 3, shown.text
    before = -1.0
    for match in found:
        (
            percent,
            bar,
            done,
            unit,
            total,
            total_unit,
            rate,
            rate_unit,
            minutes,
            seconds,
        ) = match.groups()
        share = bytes_of(done, unit) / TOTAL
        assert bytes_of(total, total_unit) == TOTAL
        assert share >= before
        assert int(percent) == pytest.approx(100 * share, abs=1.1)
        assert len(match[0]) < width
        assert (bar is None) == (width == 65)
        if bar is not None:
            assert bar.count("=") == pytest.approx(share * len(bar), abs=1.1)
        # time left, rate and what is left agree; it was rounded to seconds
        left = (TOTAL - bytes_of(done, unit)) / bytes_of(rate, rate_unit)
        assert int(minutes) * 60 + int(seconds) == pytest.approx(left, abs=1 + 0.02 * left)
        before = share
    # the rate is that since the beginning
    done, unit, rate, rate_unit = found[-1].group(3, 4, 7, 8)
    assert bytes_of(done, unit) / bytes_of(rate, rate_unit) == pytest.approx(took, rel=0.5, abs=0.5)


def test_a_pipe_has_no_total(teehash: Program, directory: Path) -> None:
    with screen(teehash, directory, 80, "/dev/zero") as shown:
        shown.read_until(lambda text: text.count(CLEAR) >= 4)
    found = [match for line in shown.lines() if (match := UNKNOWN.fullmatch(line))]
    assert len(found) >= 2, shown.text


def test_the_end_leaves_nothing(teehash: Program, directory: Path) -> None:
    (directory / "big").unlink()
    os.mkfifo(directory / "fifo")
    with screen(teehash, directory, 80, "--progress=always", "fifo", "gone") as shown:
        with (directory / "fifo").open("wb") as fifo:
            for _ in range(10):
                fifo.write(bytes(100_000))
                fifo.flush()
                time.sleep(0.1)
        assert shown.process.stdout
        out = shown.process.stdout.read()
        shown.read_until(lambda text: b"gone" in text)
        assert shown.process.wait(10) == 1
    assert out == hashlib.sha256(bytes(1_000_000)).hexdigest().encode() + b"  fifo\n"
    assert CLEAR in shown.text
    # the message stands alone on its line
    assert shown.lines()[-1] == "teehash: gone: No such file or directory\r\n"


@pytest.mark.parametrize("options", [["--reader=thread", "--mode=stream"], ["--reader=inline"],
                                     ["-j2"], ["-j2", "--reader=thread"]])  # fmt: skip
def test_ctrl_c_leaves_nothing(teehash: Program, directory: Path, options: list[str]) -> None:
    with screen(teehash, directory, 80, *options, "good", "big", "big") as shown:
        shown.read_until(lambda text: bars(text) >= 2)
        os.write(shown.terminal, b"\x03")
        assert shown.process.stdout
        out = shown.process.stdout.read()
        assert shown.process.wait(20) == -signal.SIGINT
        shown.read_until(lambda _: False, 0.5)
    assert out == hashlib.sha256(b"good").hexdigest().encode() + b"  good\n"
    assert bars(shown.text) >= 2
    assert shown.text.endswith(CLEAR), shown.text[-200:]


@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_in_a_call_that_does_not_return(tee: Program, directory: Path, presses: int) -> None:
    """From within a signal handler."""
    with screen(tee, directory, 80, "-j2", "big", "big", FAKE_HANG="1") as shown:
        shown.read_until(lambda text: text.count(CLEAR) >= 2)
        for _ in range(presses):
            os.write(shown.terminal, b"\x03")
            time.sleep(0.2)
        assert shown.process.wait(20) == -signal.SIGINT
        shown.read_until(lambda _: False, 0.5)
    assert shown.text.count(CLEAR) >= 2
    assert shown.text.endswith(CLEAR), shown.text[-200:]


def test_none_in_a_pipe(teehash: Program, directory: Path) -> None:
    """Unless it is asked for; and none on a terminal when it is not wanted. The message takes its
    time, so that the bar has its own however fast or busy the machine is."""
    os.mkfifo(directory / "fifo")

    def slowly() -> None:
        with (directory / "fifo").open("wb") as fifo:
            fifo.write(b"good")
            fifo.flush()
            time.sleep(1.5)

    for options, shown in (
        ([], False),
        (["--progress=never"], False),
        (["--progress=always"], True),
    ):
        with subprocess.Popen(
            [teehash.path, *teehash.arguments, *options, "fifo"], cwd=directory,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            slowly()
            err = process.communicate(timeout=60)[1]
        assert (CLEAR in err) == shown
        assert shown or err == b""
    with screen(teehash, directory, 80, "--progress=never", "fifo") as terminal:
        slowly()
        terminal.read_until(lambda _: terminal.process.poll() is not None, 60)
        terminal.read_until(lambda _: False, 0.3)
    assert terminal.text == b""
