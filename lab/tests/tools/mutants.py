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


def try_tests(words: Sequence[str], sources: str, log: str) -> None:
    """Runs pytest in this process, with teemark of other sources, and ends with its status."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(file, 1)
    os.dup2(file, 2)
    sys.path.insert(0, sources)
    os.environ |= {"PYTHONPATH": sources, "PYTHONDONTWRITEBYTECODE": "1"}
    import pytest

    sys.exit(pytest.main([*words]))


def noticed_by_pytest(files: Sequence[Path], sources: Path, root: Path = ROOT) -> bool:
    words = ["-q", "-x", "-p", "no:cacheprovider", "--timeout=300", f"--rootdir={root / 'lab'}"]
    words += ["-m", "not board and not exhaustive and not quiet and not packages and not farm"]
    words += ["-c", str(root / "lab/pyproject.toml"), *map(str, files)]
    log = sources.parent / "pytest.log"
    process = SERVER.Process(target=try_tests, args=(words, str(sources), str(log)))
    process.start()
    process.join(LIMIT_S)
    process.kill()
    process.join()
    if process.exitcode not in (0, 1):
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        raise SystemExit(f"{' '.join(words)}: {process.exitcode}: {text[-2000:]}")
    return process.exitcode == 1


def noticed(mutant: Mutant, tests: Sequence[str]) -> bool:
    """Makes an error of the lab, in a copy of its sources; all else are links."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy = Path(folder) / "lab"
        copy.mkdir()
        for one in ROOT.iterdir():
            if one.name not in ("lab", ".git"):
                (Path(folder) / one.name).symlink_to(one)
        for one in (ROOT / "lab").iterdir():
            if one.name == "src":
                shutil.copytree(one, copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
            else:
                (copy / one.name).symlink_to(one)
        changed = mutant.text.replace(mutant.old, mutant.new)
        (Path(folder) / mutant.path).write_text(changed, encoding="utf-8")
        return noticed_by_pytest([file_of(name, ROOT) for name in tests], copy / "src")


class Tree:
    """A copy of the C sources, in which each error is made, built, tried and taken back."""

    def __init__(self, folder: Path) -> None:
        self._root = folder
        for name in C_FOLDERS:
            shutil.copytree(ROOT / name, folder / name)
        shutil.copytree(
            ROOT / "lab", folder / "lab", ignore=shutil.ignore_patterns("__pycache__", ".*")
        )
        shutil.copy(ROOT / "Makefile", folder)
        for name in ("reference", "plans", "boards", "docs"):
            (folder / name).symlink_to(ROOT / name)

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

    def _notices(self, test: str) -> bool:
        kind, _, name = test.rpartition(":")
        if kind == "lab":
            self._make("trace")
        elif test.endswith(".py"):
            self._make("host/tests", "programs")
        else:
            return self._program("ta/tests" if kind else "host/tests", name)
        file = file_of(name, self._root)
        return noticed_by_pytest([file], self._root / "lab/src", self._root)

    def noticed(self, mutant: Mutant, tests: Sequence[str]) -> bool:
        file = self._root / mutant.path
        file.write_text(mutant.text.replace(mutant.old, mutant.new), encoding="utf-8")
        try:
            return any(self._notices(test) for test in tests)
        finally:
            file.write_text(mutant.text, encoding="utf-8")


def strand(
    work: Iterable[Mutant], tests: dict[str, list[str]], stopped: threading.Event
) -> list[tuple[Mutant, bool]]:
    """Makes the errors one after the other, and says of each whether a test noticed it."""
    found: list[tuple[Mutant, bool]] = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree: Tree | None = None
        for mutant in work:
            if stopped.is_set():
                break
            known = tests_of(mutant.file, tests)
            if mutant.in_c:
                tree = tree or Tree(Path(folder))
                dead = tree.noticed(mutant, known)
            else:
                dead = noticed(mutant, known)
            found.append((mutant, dead))
            if not dead:
                reason = mutant.survives or "no test notices"
                print(
                    f"{mutant.number} survives: {mutant.file}: {mutant.wrong}: {reason}", flush=True
                )
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
