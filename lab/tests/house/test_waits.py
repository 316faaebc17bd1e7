# SPDX-License-Identifier: BSD-2-Clause
"""No test can fail because a machine was slow: tests wait for events by tools/waiting.py, in Python
and in C, and signal other processes only."""

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

from teemark.base import paths

LEAST_S = 60
"""Seconds: a limit below this is one that a busy machine may miss."""

_FOUND = re.search(r"^timeout = (\d+)", (paths.root() / "lab/pyproject.toml").read_text(), re.M)
assert _FOUND
OVERALL_S = int(_FOUND[1])
"""Seconds after which pytest ends any test."""

ALLOWED: dict[str, str] = {
    "lab/tests/tools/waiting.py": "what all others wait by",
    "lab/tests/tools/interrupted.py": "no test: it judges how soon `make run` ends",
    "lab/tests/measure/test_shutdown.py::test_the_first_signal*": "its moment is drawn",
    "lab/tests/measure/test_shutdown.py::test_nothing_is_left*": "its moment is drawn",
    "lab/tests/boards/test_power_cut_board.py::test_power_cuts": "the moment of the cut is drawn",
    "lab/tests/boards/test_labgrid.py::test_the_consoles_last*": "the product's limit",
    "lab/tests/boards/test_rpi3_board.py::test_its_clock*": "at least, and never at most",
    "lab/tests/broker/test_broker_attacks_board.py::test_a_will*": "the will's own delay",
    "host/tests/teehash/fake_tee.c::TEEC_OpenSession": "tests sessions that come late",
    "host/tests/test_masks.c::__wrap_execl": "in the child, before it is another program",
    "host/tests/test_masks.c::test_a_signal_while*": "between a signal and the next, of many",
    "ta/tests/board/torture_opens.c": "moments are drawn; silence is judged by minutes",
    "broker/tests/tz_soak.c::serve": "the loop's turn; nothing is given up after it",
}
"""Places that may do it, as FILE or FILE::FUNCTION (* for any part), and why."""

JUDGED = re.compile(r"time\.monotonic\(\) -")

LIMITED = {"wait", "join", "result", "communicate"}
"""Methods whose number is a limit in seconds."""


def _number(node: ast.AST) -> float | None:
    """Returns the value of a plain number, also of one with a sign."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _called(call: ast.Call) -> str:
    return ast.unparse(call.func)


def _faults_of(node: ast.AST) -> Iterator[str]:
    """Yields what is wrong with one node of a Python test."""
    match node:
        case ast.Call():
            name = _called(node)
            if name in {"time.sleep", "sleep"}:
                yield f"{name}(): wait for the event (waiting.until)"
            own = ast.unparse(node.args[0]) if node.args else ""
            if name in {"os.kill", "os.killpg"} and own in {"os.getpid()", "0", "os.getpgid(0)"}:
                yield f"{name}({own}): a signal to the test itself; send it to a child process"
            if name in {"signal.raise_signal", "signal.alarm", "signal.pthread_kill"}:
                yield f"{name}(): a signal to the test itself; send it to a child process"
            if name == "pytest.mark.timeout" and 0 < (_number(node.args[0]) or 0) < OVERALL_S:
                yield f"{ast.unparse(node)}: lab/pyproject.toml has the limit of all tests"
            method = isinstance(node.func, ast.Attribute) and node.func.attr in LIMITED
            limits = [word.value for word in node.keywords if word.arg == "timeout"]
            limits += node.args[:1] if method and len(node.args) == 1 else []
            for limit in limits:
                number = _number(limit)
                if number is not None and 0 < number < LEAST_S:
                    yield f"a limit of {number:g} s: waiting.PATIENCE_S is the one for all"
        case ast.BinOp(op=ast.Add()) if "time.monotonic()" in ast.unparse(node.left):
            yield "a limit of the test's own: waiting.until has the one for all"
        case ast.Compare() if JUDGED.search(ast.unparse(node)):
            yield "time is judged: a machine that was stopped for a while fails"


def python_faults(text: str) -> Iterator[tuple[str, int, str]]:
    """Yields function, line number and fault for each that a Python test has."""

    def visit(node: ast.AST, where: str) -> Iterator[tuple[str, int, str]]:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            where = f"{where}.{node.name}".lstrip(".")
        for fault in _faults_of(node):
            yield where, getattr(node, "lineno", 0), fault
        for child in ast.iter_child_nodes(node):
            yield from visit(child, where)

    yield from visit(ast.parse(text), "")


C_FUNCTION = re.compile(r"^\w[\w \t*]*?\b(\w+)\([^;]*$")
C_RULES = (
    (re.compile(r"(?<!\w)(?:u|nano)?sleep\("), "a sleep: wait for the event"),
    (re.compile(r"(?<!\w)alarm\((?:[1-9]|[1-5]\d)\)"), "an alarm below a minute"),
    (re.compile(r"(?<!\w)setitimer\("), "a timer: a child process signals when it is time"),
    (re.compile(r"(?<!\w)poll\((?:[^()]|\([^()]*\))*,\s*[1-9]\d{0,4}\)"), "a limit below a minute"),
    (re.compile(r"(?<!\w)(?:raise\(|kill\(getpid\(\))"), "a signal to the test itself"),
)  # fmt: skip
POLLS = re.compile(r"^\s*while \(.*\)\s*$")


def c_faults(text: str) -> Iterator[tuple[str, int, str]]:
    """Yields the faults of a C test, as of a Python test. A sleep that is all of a loop waits for
    the loop's condition, and is none."""
    where, before = "", ""
    for number, line in enumerate(text.splitlines(), 1):
        if found := C_FUNCTION.match(line):
            where = found[1]
        for rule, fault in C_RULES:
            polls = fault.startswith("a sleep") and POLLS.match(before)
            if rule.search(line) and not polls and not line.startswith((" *", "/*")):
                yield where, number, fault
        before = line


@cache
def faults() -> tuple[tuple[str, str], ...]:
    """Returns the place, FILE::FUNCTION, and a sentence for each fault in the rooms' tests."""
    return tuple(_faults())


def _faults() -> Iterator[tuple[str, str]]:
    for file in sorted(paths.root().glob("*/tests/**/*")):
        name = str(file.relative_to(paths.root()))
        scan = {".py": python_faults, ".c": c_faults, ".h": c_faults}.get(file.suffix)
        if scan is None or "/mutants/" in name:
            continue
        for where, line, fault in scan(file.read_text(encoding="utf-8")):
            yield f"{name}::{where}", f"{name}:{line} ({where or 'module'}): {fault}"


def test_tests_wait_for_events_and_signal_other_processes() -> None:
    wrong = [
        sentence
        for place, sentence in faults()
        if not any(fnmatch(place, f"{one}::*") or fnmatch(place, one) for one in ALLOWED)
    ]
    assert not wrong, "\n" + "\n".join(wrong)


def test_each_exception_is_still_one() -> None:
    places = [place for place, _ in faults()]
    idle = [
        one
        for one in ALLOWED
        if not any(fnmatch(place, f"{one}::*") or fnmatch(place, one) for place in places)
    ]
    assert not idle


@pytest.mark.parametrize(
    "line",
    [
        "time.sleep(0.1)",
        "process.wait(5)",
        "process.communicate(timeout=20)",
        "subprocess.run(['x'], timeout=59.9)",
        "thread.join(10)",
        "future.result(timeout=3)",
        "os.kill(os.getpid(), signal.SIGINT)",
        "os.killpg(0, signal.SIGINT)",
        "signal.raise_signal(2)",
        "x = pytest.mark.timeout(300)",
        "limit = time.monotonic() + 60",
        "assert time.monotonic() - began < 8",
    ],
)
def test_it_finds_each_fault_of_a_python_test(line: str) -> None:
    text = f"def test_it() -> None:\n    {line}\n"
    assert [where for where, _, _ in python_faults(text)] == ["test_it"]


@pytest.mark.parametrize(
    "line",
    [
        "process.wait()",
        "process.wait(60)",
        "status_of(process)",
        "subprocess.run(['x'], timeout=PATIENCE_S)",
        "', '.join(names)",
        "table.get(1)",
        "os.kill(pid, signal.SIGINT)",
        "code = 'time.sleep(60)'",
    ],
)
def test_it_lets_pass_what_a_slow_machine_meets(line: str) -> None:
    assert list(python_faults(f"def test_it() -> None:\n    {line}\n")) == []


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("usleep(1000);", 1),
        ("sleep(1);", 1),
        ("nanosleep(&ms, NULL);", 1),
        ("alarm(5);", 1),
        ("alarm(ORPHAN_S);", 0),
        ("assert_int_equal(poll(&fd, 1, 3000), 1);", 1),
        ("poll(&fd, 1, PATIENCE_S * 1000);", 0),
        ("setitimer(ITIMER_REAL, &timer, NULL);", 1),
        ("raise(SIGTERM);", 1),
        ("while (!fake->ready)\n\t\tusleep(1000);", 0),
    ],
)
def test_it_finds_each_fault_of_a_c_test(line: str, count: int) -> None:
    text = f"static void test_it(void **state)\n{{\n\t{line}\n}}\n"
    assert [where for where, _, _ in c_faults(text)] == ["test_it"] * count


def test_it_reads_the_tests_of_every_room() -> None:
    """The fault: a pattern that finds no file lets everything pass."""
    rooms = {place.split("/")[0] for place in map(str, _tests())}
    assert {"lab", "host", "ta", "common", "broker"} <= rooms


def _tests() -> list[Path]:
    return [path.relative_to(paths.root()) for path in paths.root().glob("*/tests/**/*.[ch]")] + [
        path.relative_to(paths.root()) for path in paths.root().glob("*/tests/**/*.py")
    ]
