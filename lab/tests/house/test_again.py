# SPDX-License-Identifier: BSD-2-Clause
"""`make test-again` tells how often a test fails, and its load ends with it."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from teemark.base import paths
from waiting import PATIENCE_S, line_of, output_of, until, until_gone

AGAIN = paths.root() / "lab" / "tests" / "tools" / "again.py"

SOMETIMES = """\
from pathlib import Path
import pytest

def test_that_fails_the_second_time():
    log = Path(__file__).with_name("log")
    log.write_text((log.read_text() if log.exists() else "") + "x")
    assert len(log.read_text()) != 2

def test_that_holds():
    pass

def test_that_cannot_run():
    pytest.skip("never")
"""
BLOCKS = """\
from pathlib import Path

def test_that_waits_for_ever():
    Path(__file__).with_name("begun").touch()
    open(Path(__file__).with_name("fifo")).read()
"""


def environment(tmp_path: Path) -> dict[str, str]:
    out = str(tmp_path / "out")
    return {**os.environ, "AGAIN_OUT": out, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def command(tmp_path: Path, *words: str, times: int = 3, load: int = 1) -> list[str]:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    pytest_here = [sys.executable, "-m", "pytest", "-c", str(tmp_path / "pytest.ini")]
    given = ["--times", str(times), "--load", str(load), "--tests", " ".join(words), "--"]
    return [sys.executable, str(AGAIN), *given, *pytest_here, "-p", "no:cacheprovider"]


def again(
    tmp_path: Path, *words: str, times: int = 2, load: int = 0
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(tmp_path, *words, times=times, load=load),
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )


def pids_of(line: str) -> list[int]:
    found = re.fullmatch(r"\d busy loops? beside the tests: ([\d ]+)\n", line)
    assert found, line
    return [int(word) for word in found[1].split()]


def test_it_counts_how_often_each_test_failed(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(SOMETIMES)
    done = again(tmp_path, str(tmp_path / "test_it.py"), times=3, load=1)
    assert done.returncode == 1, done.stdout + done.stderr
    lines = done.stdout.splitlines(keepends=True)
    assert [line.strip() for line in lines[1:4]] == [
        "1 of 3: all passed",
        "2 of 3: failed: test_it::test_that_fails_the_second_time",
        "3 of 3: all passed",
    ]
    assert [line.strip() for line in lines[5:]] == [
        "test_it::test_that_fails_the_second_time: failed 1 of 3",
        "1 test: failed 0 of 3; 1 was skipped each time",
    ]
    for pid in pids_of(lines[0]):
        until_gone(pid, "busy loop")


def test_all_that_hold_is_status_0_and_a_selection_is_pytests(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(SOMETIMES)
    done = again(tmp_path, str(tmp_path / "test_it.py"), "-k", "holds")
    assert (done.returncode, done.stdout.splitlines()[-1].strip()) == (0, "1 test: failed 0 of 2")


def test_a_c_test_is_named_by_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As from make: the Makefile of host/tests has a TESTS of its own.
    monkeypatch.setenv("MAKEFLAGS", " -- TESTS=host/tests/test_prng.c")
    done = again(tmp_path, "host/tests/test_prng.c")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(r"  [1-9]\d* tests: failed 0 of 2", done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("given", "asked"),
    [((), "host/tests/test_masks.c "), (("TESTS=-k 'a $b' x.py",), "-k 'a $b' x.py\n")],
)
def test_make_hands_its_own_tests_or_the_given_ones_on(
    tmp_path: Path, given: tuple[str, ...], asked: str
) -> None:
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin" / "python"
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$7"\n')
    python.chmod(0o755)
    words = ["make", "-s", "-C", str(paths.root()), "-o", "deps", "-o", "venv-dev", "test-again"]
    mine = {name: value for name, value in os.environ.items() if name not in ("TESTS", "MAKEFLAGS")}
    said = subprocess.check_output([*words, f"VENV={tmp_path}", *given], env=mine, text=True)
    assert said.startswith(asked)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["host/tests/harness.h.c"], "is no C test"),
        (["no/such/file.py"], "file or directory not found"),
        (["TEST", "-k", "nothing"], "selects no test"),
        ([], "TESTS names none"),
    ],
)
def test_tests_that_are_none_are_a_mistake(tmp_path: Path, words: list[str], said: str) -> None:
    (tmp_path / "test_it.py").write_text(SOMETIMES)
    words = [str(tmp_path / "test_it.py") if word == "TEST" else word for word in words]
    done = again(tmp_path, *words)
    assert (done.returncode, said in done.stderr) == (2, True), done.stdout + done.stderr


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_its_load_ends_with_it_however_it_ends(tmp_path: Path, how: signal.Signals) -> None:
    (tmp_path / "test_it.py").write_text(BLOCKS)
    os.mkfifo(tmp_path / "fifo")
    with subprocess.Popen(
        command(tmp_path, str(tmp_path / "test_it.py")),
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        pids = pids_of(line_of(process).decode())
        begun = tmp_path / "begun"
        until("the test to begin", lambda: begun.exists() or process.poll() is not None)
        assert process.poll() is None
        # As a terminal does, which signals the group; the loop isn't in it.
        (os.killpg if how == signal.SIGINT else os.kill)(process.pid, how)
        said = output_of(process)[0].decode()
    for pid in pids:
        until_gone(pid, "busy loop")
    if how == signal.SIGINT:
        assert process.returncode == 128 + how
        assert "interrupted after 0 of 3" in said
    until("a reader", lambda: not _waits(tmp_path / "fifo"))


def _waits(fifo: Path) -> bool:
    """Says whether a test still waits for somebody to write; lets it go."""
    try:
        os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True
