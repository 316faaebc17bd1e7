# SPDX-License-Identifier: BSD-2-Clause
"""`make mutants`: errors that a programmer makes, one at a time: does a test notice?

    python lab/tests/tools/mutants.py [NUMBER | AREA]...

mutants.toml has those of the lab, mutants_c.toml those of the C programs. Each is made in a copy of
the sources, in a temporary folder; there the tests of its file run, as `make test` runs them
without a board. Two strands work side by side. Exit status 1: a text that is to be changed isn't
there once, a mutant doesn't compile, or fewer than NOTICED of all are noticed.
"""

import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from queue import Empty, SimpleQueue

ROOT = next(one for one in Path(__file__).resolve().parents if (one / "Makefile").is_file())
SOURCES = Path("lab/src/teemark")
NOTICED = 0.9
"""Share of the errors that tests must notice."""
LIMIT_S = 600
C_FOLDERS = ("common", "host", "ta", "broker", "trace", "mk")


@dataclass(frozen=True, slots=True)
class Mutant:
    number: int
    file: str
    old: str
    new: str
    wrong: str
    """Says what a reader would be told wrongly."""
    survives: str = ""
    """The reason why no test notices, where it is known."""

    @property
    def in_c(self) -> bool:
        return self.file.endswith(".c")

    @property
    def path(self) -> Path:
        """Its file's path in the repository."""
        return Path(self.file) if self.in_c else SOURCES / self.file

    @property
    def text(self) -> str:
        return (ROOT / self.path).read_text(encoding="utf-8")

    @property
    def area(self) -> str:
        parts = self.path.parts
        if self.in_c:
            return "/".join(parts[:3] if parts[0] == "host" else parts[:2])
        return "lab: " + (parts[3] if len(parts) > 4 else parts[-1])


def load() -> tuple[list[Mutant], dict[str, list[str]]]:
    """Returns the mutants, and the tests by the beginning of a source file's path."""
    mutants: list[Mutant] = []
    tests: dict[str, list[str]] = {}
    for name in ("mutants.toml", "mutants_c.toml"):
        data = tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))
        first = len(mutants) + 1
        mutants += [Mutant(n, **one) for n, one in enumerate(data["mutant"], first)]
        tests |= data["tests"]
    return mutants, tests


def tests_of(file: str, known: dict[str, list[str]]) -> list[str]:
    """Returns the tests of the longest beginning that fits."""
    return known[max((begin for begin in known if file.startswith(begin)), key=len)]


@cache
def file_of(name: str, root: Path) -> Path:
    """Returns the path of a test of the lab, whose room isn't named, or of another file."""
    return next((root / "lab/tests").glob(f"*/{name}.py"), root / name)


def run(words: Sequence[str | Path], **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        words, env=os.environ | environment, capture_output=True, check=False, timeout=LIMIT_S
    )


SERVER = multiprocessing.get_context("forkserver")
"""Has imported what tests need besides teemark, so that each of hundreds of runs doesn't."""
SERVER.set_forkserver_preload(["pytest", "hypothesis", "numpy", "scipy.stats", "msgspec", "rich"])


def try_tests(words: Sequence[str], root: str) -> None:
    """Runs pytest in this process, on the sources below `root`, and ends with its status."""
    log = os.open(f"{root}/pytest.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.path.insert(0, f"{root}/lab/src")
    sys.pycache_prefix = f"{root}/pycache"
    os.environ |= {"PYTHONPATH": f"{root}/lab/src", "PYTHONPYCACHEPREFIX": f"{root}/pycache"}
    import pytest

    sys.exit(pytest.main([*words]))


def noticed_by_pytest(file: Path, root: Path) -> bool:
    words = ["-q", "-x", "-p", "no:cacheprovider", "--timeout=300", f"--rootdir={root / 'lab'}"]
    words += ["-m", "not board and not exhaustive and not quiet and not packages and not farm"]
    words += ["-c", str(root / "lab/pyproject.toml"), str(file)]
    process = SERVER.Process(target=try_tests, args=(words, str(root)))
    process.start()
    process.join(LIMIT_S)
    process.kill()
    process.join()
    if process.exitcode not in (0, 1):
        text = (root / "pytest.log").read_text(encoding="utf-8", errors="replace")
        raise SystemExit(f"{' '.join(words)}: {process.exitcode}: {text[-2000:]}")
    return process.exitcode == 1


class Tree:
    """A copy of the sources, in which each error is made, tried and taken back. What is built and
    compiled stays, so that an error costs its own file alone."""

    def __init__(self, folder: Path) -> None:
        self._root = folder
        self._changed = 0
        for one in ROOT.iterdir():
            if one.name in C_FOLDERS:
                shutil.copytree(one, folder / one.name)
            elif one.name not in ("lab", "build", ".git"):
                (folder / one.name).symlink_to(one)
        unused = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(ROOT / "lab", folder / "lab", ignore=unused)
        (folder / "build").mkdir()
        for one in (ROOT / "build").iterdir():
            if one.name not in ("tests", "trace"):
                (folder / "build" / one.name).symlink_to(one)

    def _make(self, folder: str, *targets: str) -> None:
        # An error that leaves a variable unused is one all the same, so there are no warnings.
        # Sanitizers are for the tests themselves, and would take half of the time here.
        words: list[str | Path] = ["make", "-s", "-j2", "CC=gcc -w", "-C", self._root / folder]
        done = run([*words, *(["SANITIZE="] if folder == "host/tests" else []), *targets])
        if done.returncode:
            raise SystemExit(done.stdout.decode()[-2000:] + done.stderr.decode()[-2000:])

    def _program(self, folder: str, name: str) -> bool:
        built = self._root / "build/tests" / folder.removesuffix("/tests") / name
        self._make(folder, str(built))
        done = run([built, self._root / "common/tests/vectors"], LD_LIBRARY_PATH=str(built.parent))
        return done.returncode != 0

    def _notices(self, test: str, mutant: Mutant) -> bool:
        kind, _, name = test.rpartition(":")
        if test.endswith(".py"):
            self._make("host/tests", "programs")
        elif kind == "lab" or not mutant.in_c:
            self._make("trace")
        else:
            return self._program("ta/tests" if kind else "host/tests", name)
        return noticed_by_pytest(file_of(name, self._root), self._root)

    def _write(self, mutant: Mutant, text: str) -> None:
        """Writes its file, with a time that it never had: make and Python compile it anew."""
        file = self._root / mutant.path
        file.write_text(text, encoding="utf-8")
        self._changed += 2
        later = time.time() + self._changed if not mutant.in_c else time.time()
        os.utime(file, (later, later))

    def noticed(self, mutant: Mutant, tests: Sequence[str]) -> bool:
        text = (self._root / mutant.path).read_text(encoding="utf-8")
        self._write(mutant, text.replace(mutant.old, mutant.new))
        try:
            return any(self._notices(test, mutant) for test in tests)
        finally:
            self._write(mutant, text)


def strand(
    work: Iterable[Mutant], tests: dict[str, list[str]], stopped: threading.Event
) -> list[tuple[Mutant, bool]]:
    """Makes the errors one after the other, and says of each whether a test noticed it."""
    found: list[tuple[Mutant, bool]] = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = Tree(Path(folder))
        for mutant in work:
            if stopped.is_set():
                break
            dead = tree.noticed(mutant, tests_of(mutant.file, tests))
            found.append((mutant, dead))
            outcome = "noticed" if dead else f"survives ({mutant.survives or 'no test notices'})"
            print(f"{mutant.number:3} {outcome}: {mutant.file}: {mutant.wrong}", flush=True)
    return found


def table(outcomes: Sequence[tuple[Mutant, bool]]) -> str:
    """Returns a line for each area: how many errors, how many noticed, how many with a reason."""
    lines = [f"{'area':24} {'errors':>7} {'noticed':>8} {'explained':>10}"]
    areas = sorted({mutant.area for mutant, _ in outcomes})
    for area in [*areas, "all"]:
        rows = [(m, dead) for m, dead in outcomes if area in (m.area, "all")]
        explained = sum(not dead and bool(m.survives) for m, dead in rows)
        killed = sum(dead for _, dead in rows)
        lines.append(f"{area:24} {len(rows):7} {killed:8} {explained:10}")
    return "\n".join(lines)


def drain(queue: SimpleQueue[Mutant]) -> Iterator[Mutant]:
    while True:
        try:
            yield queue.get_nowait()
        except Empty:
            return


def main(words: Sequence[str]) -> int:
    mutants, tests = load()
    gone = [one for one in mutants if one.text.count(one.old) != 1]
    for one in gone:
        print(f"{one.number}: {one.file} has this {one.text.count(one.old)} times: {one.old!r}")
    if gone:
        return 1
    chosen = [m for m in mutants if not words or {str(m.number), m.area} & set(words)]
    # The C programs share one copy of the tree, so one strand has them all; it helps with the lab
    # when they are done.
    lab: SimpleQueue[Mutant] = SimpleQueue()
    for one in chosen:
        if not one.in_c:
            lab.put(one)
    stopped = threading.Event()
    with ThreadPoolExecutor(2) as pool:
        works = [chain([one for one in chosen if one.in_c], drain(lab)), drain(lab)]
        strands = [pool.submit(strand, work, tests, stopped) for work in works]
        try:
            outcomes = [one for found in as_completed(strands) for one in found.result()]
        finally:
            stopped.set()
    print(table(outcomes))
    return 0 if sum(dead for _, dead in outcomes) >= NOTICED * len(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
