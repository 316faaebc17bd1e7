# SPDX-License-Identifier: BSD-2-Clause
"""The pages that newcomers read first are true: CONTRIBUTING.md's worked example, the glossary."""

import os
import re
import subprocess
import sys
from pathlib import Path

from teemark.base import paths
from teemark.model.breakdown import PARTS

GUIDE = (paths.root() / "CONTRIBUTING.md").read_text(encoding="utf-8")
CONFTEST = """\
import teemark.findings
teemark.findings.__path__.append("{folder}")
"""


def example(folder: Path, guide: str) -> subprocess.CompletedProcess[str]:
    """Writes the guide's files as it says, and runs their test."""
    files = re.findall(r"`lab/\S+/(\w+\.py)`.*?```python\n(.*?)```", guide, re.S)
    assert [name for name, _ in files] == ["first_call.py", "test_first_call.py"]
    for name, text in files:
        (folder / name).write_text(text)
    (folder / "conftest.py").write_text(CONFTEST.format(folder=folder))
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)],
        capture_output=True, text=True, check=False, cwd=folder,
        env={**os.environ, "PYTHONPATH": str(paths.root() / "lab/tests/tools")},
    )  # fmt: skip


def test_the_worked_example_is_green_and_red_without_its_threshold(tmp_path: Path) -> None:
    done = example(tmp_path, GUIDE)
    assert "3 passed" in done.stdout, done.stdout
    done = example(tmp_path, GUIDE.replace("MUCH = 3.0", "MUCH = 1.0"))
    assert "1 failed, 2 passed" in done.stdout, done.stdout


def test_the_guide_is_short() -> None:
    assert len(GUIDE.split()) <= 800


def test_the_glossary_has_every_backend_and_every_part_of_a_call() -> None:
    text = (paths.root() / "docs/glossary.md").read_text(encoding="utf-8")
    slugs = set(re.findall(r"`([a-z0-9-]+)`", text))
    sources = (paths.root() / "host/src/backends").glob("*.c")
    backends = {
        name
        for file in sources
        for name in re.findall(r"struct backend \w+ = \{\s*\.name = \"([^\"]+)\"", file.read_text())
    }
    assert {"tee", "ta-ce", "openssl"} <= backends <= slugs
    joined = {"client-switch", "client-switch-entry"}  # neighbours that a run can't tell apart
    assert set(PARTS) - joined <= slugs


def test_every_source_and_package_says_its_licence() -> None:
    """Files that take no comment are left out: lists of files, data, and the licence's own text."""
    words = ["git", "ls-files", "*.c", "*.h", "*.py", "*.sh", "packaging", "lab/src/teemark/boards"]
    listed = subprocess.run(
        words, capture_output=True, text=True, check=True, cwd=paths.root()
    ).stdout.split()
    bare = re.compile(
        r"\.(install|json|desc|txt|md\.in)$|/(changelog|copyright|format|\.?gitignore(\.in)?)$"
    )
    silent = [
        name
        for name in listed
        if not bare.search(name)
        and "SPDX-License-Identifier: "
        not in "\n".join((paths.root() / name).read_text(encoding="utf-8").splitlines()[:3])
    ]
    assert silent == []
