# SPDX-License-Identifier: BSD-2-Clause
"""Repeats tests beside a load, and prints how often each of them failed.

    make test-again N=20 [LOAD=2] TESTS='lab/tests/boards/test_ssh.py host/tests/test_masks.c'

TESTS are pytest's words (files, node ids, -k, -m, -n) and C tests by their source files. Each time
is a process of its own, so that fixtures of a session are made anew. LOAD loops keep as many CPUs
busy meanwhile; they end with this program, however that ends. build/test-again has what each time
said. Exit status 1: a test failed, or one of the times didn't run it; 2: TESTS is wrong.
"""

import argparse
import collections
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[3]
OUT = Path(os.environ.get("AGAIN_OUT", ROOT / "build" / "test-again"))
VECTORS = ROOT / "common" / "tests" / "vectors"

BUSY = "import os\nwhile os.getppid() == int(os.environ['OWNER']):\n    sum(range(100_000))"
"""A loop that ends with its parent, however that ends: it asks at every turn who that is."""


ROOMS = ("host", "ta", "broker")
"""The folders whose tests/ holds programs of cmocka."""


@dataclass(frozen=True, slots=True)
class Run:
    """A command that is repeated, the variables that it adds, and a C test's source."""

    argv: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    source: str = ""


class Mistake(Exception):
    """The command line names what can't be repeated."""


def environment() -> dict[str, str]:
    """Returns our environment without what make hands down to any other make, such as TESTS."""
    mine = {"MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS", "MAKELEVEL", "TESTS", "N", "LOAD"}
    return {name: value for name, value in os.environ.items() if name not in mine}


@contextmanager
def load(count: int) -> Iterator[list[int]]:
    """Keeps `count` CPUs busy during the block; yields the loops' process ids. A terminal's Ctrl-C
    doesn't reach them: this process ends them."""
    owned = {**os.environ, "OWNER": str(os.getpid())}
    argv = [sys.executable, "-S", "-c", BUSY]
    loops = [subprocess.Popen(argv, env=owned, start_new_session=True) for _ in range(count)]
    try:
        yield [loop.pid for loop in loops]
    finally:
        for loop in loops:
            loop.kill()
        for loop in loops:
            loop.wait()


def c_test(source: str) -> Run:
    """Returns how a C test is run, named by its source; make builds it."""
    path = (ROOT / source).resolve()
    room = path.parent.parent.name
    if not path.is_file() or path.parent.name != "tests" or room not in ROOMS:
        raise Mistake(f"{source} is no C test of {', '.join(f'{room}/tests' for room in ROOMS)}")
    make = ["make", "--no-print-directory", "-s", "-C", str(path.parent), "all"]
    if subprocess.run(make, env=environment(), check=False).returncode:
        raise Mistake(f"{room}/tests can't be built")
    built = ROOT / "build" / "tests" / room / path.stem
    if not built.exists():
        raise Mistake(f"{source}: {room}/tests builds no program of that name")
    argv = [str(built), *([str(VECTORS)] if room == "ta" else [])]
    return Run(argv, {"LD_LIBRARY_PATH": str(built.parent)}, source)


def outcomes(report: Path) -> dict[str, str]:
    """Returns "passed", "failed" or "skipped" by test, of a report in JUnit's form."""
    found: dict[str, str] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag for child in case}
        name = "::".join(filter(None, (case.get("classname"), case.get("name"))))
        state = "failed" if kinds & {"failure", "error"} else "passed"
        found[name] = "skipped" if "skipped" in kinds else state
        if name in found and state == "failed":
            found[name] = state
    return found


def once(run: Run, report: Path) -> dict[str, str]:
    """Runs the tests one time, and returns the outcomes. A process that ends without a report has
    failed as a whole, under its own name."""
    told = {"CMOCKA_MESSAGE_OUTPUT": "XML", "CMOCKA_XML_FILE": str(report)}
    with report.with_suffix(".log").open("wb") as log:
        done = subprocess.run(
            [*run.argv, *([] if run.source else [f"--junitxml={report}"])],
            env={**environment(), **run.environment, **(told if run.source else {})},
            cwd=(ROOT / run.source).parent if run.source else ROOT,  # as its Makefile
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            check=False,
        )
    name = run.source or "pytest"
    if not run.source and done.returncode in (4, 5):  # a wrong word; no such test
        said = report.with_suffix(".log").read_text().strip()
        raise Mistake(said if done.returncode == 4 else f"TESTS selects no test:\n{said}")
    try:
        found = outcomes(report)
    except (OSError, ElementTree.ParseError):
        return {f"{name} as a whole (status {done.returncode})": "failed"}
    if done.returncode and "failed" not in found.values():
        found[f"{name} as a whole (status {done.returncode})"] = "failed"
    return found


def commands(words: list[str], pytest: list[str]) -> list[Run]:
    """Returns what runs the tests: a program for each C test, and a pytest for the rest of each
    room: each has a conftest of its own."""
    runs: list[Run] = []
    options: list[str] = []
    rooms: dict[str, list[str]] = {}
    for word in words:
        if word.endswith(".c"):
            runs.append(c_test(word))
        elif "/" in word and (ROOT / word.partition("::")[0]).exists():
            rooms.setdefault(word.partition("/tests")[0], []).append(word)
        else:
            options.append(word)
    if options and not rooms:
        rooms[""] = []
    return runs + [Run([*pytest, *options, *paths]) for paths in rooms.values()]


def table(times: int, counts: dict[str, collections.Counter[str]]) -> tuple[list[str], bool]:
    """Returns the table's lines, the worst test first, and whether all was well."""
    lines, well, quiet = [], True, 0
    for name, count in sorted(counts.items(), key=lambda item: -item[1]["failed"]):
        ran = count["passed"] + count["failed"]
        absent = times - ran - count["skipped"]
        if not count["failed"] and not absent:
            quiet += 1
            continue
        well = False
        note = f"; in {absent} of {times} it wasn't run" if absent else ""
        lines.append(f"  {name}: failed {count['failed']} of {ran}{note}")
    skipped = sum(count["skipped"] == times for count in counts.values())
    holds = quiet - skipped
    lines.append(f"  {holds} test{'s' * (holds != 1)}: failed 0 of {times}")
    if skipped:
        lines[-1] += f"; {skipped} {'was' if skipped == 1 else 'were'} skipped each time"
    return lines, well


def repeat(times: int, busy: int, words: list[str], pytest: list[str]) -> int:
    runs = commands(words, pytest)
    if not runs:
        raise Mistake("TESTS names none: give it files, node ids or -k")
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    began, done = time.monotonic(), 0
    try:
        with load(busy) as pids:
            loops = f"{busy} busy loop{'s' * (busy != 1)}"
            print(f"{loops} beside the tests: {' '.join(map(str, pids)) or '-'}", flush=True)
            for number in range(1, times + 1):
                found: dict[str, str] = {}
                for at, run in enumerate(runs):
                    found |= once(run, OUT / f"{number}-{at}.xml")
                for name, state in found.items():
                    counts[name][state] += 1
                done = number
                bad = sorted(name for name, state in found.items() if state == "failed")
                told = f"failed: {', '.join(bad)}" if bad else "all passed"
                print(f"{number} of {times}: {told}", flush=True)
    except KeyboardInterrupt:
        print(f"interrupted after {done} of {times}", flush=True)
        return 128 + signal.SIGINT
    finally:
        lines, well = table(done, counts) if done else ([], False)
        print(f"{done} times in {time.monotonic() - began:.0f} s:", *lines, sep="\n", flush=True)
    if not any(count["passed"] + count["failed"] for count in counts.values()):
        print("no test was run", file=sys.stderr)
        return 1
    return 0 if well else 1


def main(argv: list[str]) -> int:
    options = argparse.ArgumentParser(
        prog="make test-again", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    options.add_argument("--times", type=int, default=20)
    options.add_argument("--load", type=int, default=2)
    options.add_argument("--tests", default="", help="one word, as a shell splits it")
    options.add_argument("pytest", nargs="+", help="pytest and its options")
    given = options.parse_args(argv)
    if given.times < 1 or given.load < 0:
        options.error("N is 1 or more, LOAD 0 or more")
    # A shell that begins this in the background has SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        return repeat(given.times, given.load, shlex.split(given.tests), given.pytest)
    except Mistake as mistake:
        print(f"make test-again: {mistake}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
