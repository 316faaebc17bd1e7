# SPDX-License-Identifier: BSD-2-Clause
"""`make mutants`: errors that a programmer makes, one at a time: does a test notice?

    python lab/tests/tools/mutants.py [NUMBER...]

mutants.toml has them. Each is made in a copy of the sources, and the tests of its file run there,
two mutants at a time. Exit status 1: a text that is to be changed isn't there once, or more survive
than ALLOWED.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SOURCES = Path("lab/src/teemark")
ALLOWED = 6
AT_ONCE = 2
LIMIT_S = 300


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
    def text(self) -> str:
        return (ROOT / SOURCES / self.file).read_text(encoding="utf-8")


def load() -> tuple[list[Mutant], dict[str, list[str]]]:
    """Returns the mutants, and the test files by the beginning of a source file's path."""
    with (Path(__file__).with_name("mutants.toml")).open("rb") as file:
        data = tomllib.load(file)
    return [Mutant(n, **one) for n, one in enumerate(data["mutant"], 1)], data["tests"]


def tests_of(file: str, known: dict[str, list[str]]) -> list[str]:
    """Returns the tests of the longest beginning that fits."""
    return known[max((begin for begin in known if file.startswith(begin)), key=len)]


def killed(mutant: Mutant, tests: Sequence[str]) -> bool:
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
        (Path(folder) / SOURCES / mutant.file).write_text(changed, encoding="utf-8")
        words = ["-q", "-x", "-p", "no:cacheprovider", "--timeout=150"]
        words += ["-m", "not board and not exhaustive"]
        files = [next((ROOT / "lab/tests").glob(f"*/{test}.py")) for test in tests]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *words, "-c", ROOT / "lab/pyproject.toml",
             f"--rootdir={ROOT / 'lab'}", *files],
            env=os.environ | {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True, check=False, timeout=LIMIT_S,
        )  # fmt: skip
    if done.returncode not in (0, 1):
        raise SystemExit(done.stdout.decode()[-2000:] + done.stderr.decode()[-2000:])
    return done.returncode == 1


def main(words: Sequence[str]) -> int:
    mutants, tests = load()
    gone = [one for one in mutants if one.text.count(one.old) != 1]
    for one in gone:
        print(f"{one.number}: {one.file} has this {one.text.count(one.old)} times: {one.old!r}")
    if gone:
        return 1
    chosen = [one for one in mutants if not words or str(one.number) in words]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = pool.map(lambda one: killed(one, tests_of(one.file, tests)), chosen)
        survivors = []
        for one, dead in zip(chosen, outcomes, strict=True):
            if not dead:
                survivors.append(one)
                reason = one.survives or "no test notices"
                print(f"{one.number} survives: {one.file}: {one.wrong}: {reason}", flush=True)
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} killed")
    return 1 if len(survivors) > ALLOWED else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
