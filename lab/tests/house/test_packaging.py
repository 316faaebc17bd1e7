# SPDX-License-Identifier: BSD-2-Clause
"""The packages that are installed for teemark are locked, with digests, and no more than running
needs."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from teemark.base import paths
from waiting import PATIENCE_S

LAB = paths.root() / "lab"
PROJECT = tomllib.loads((LAB / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RUN = PROJECT["dependencies"]
FARM = PROJECT["optional-dependencies"]["labgrid"]
DEV = PROJECT["optional-dependencies"]["dev"]


def locked(name: str) -> dict[str, str]:
    """The packages of a lock and their versions; every one has a digest."""
    text = (LAB / name).read_text(encoding="utf-8")
    entries = re.split(r"\n(?=[a-z])", re.sub(r"^#.*\n", "", text, flags=re.M).strip())
    found = {}
    for entry in entries:
        first = re.match(r"([a-z0-9-]+)==(\S+)( ; .*)? \\\n", entry)
        assert first, entry
        assert re.fullmatch(r"(    --hash=sha256:[0-9a-f]{64}( \\\n)?)+", entry[first.end() :])
        found[first[1]] = first[2]
    return found


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[^a-z0-9-]", requirement)[0] for requirement in requirements}


def test_everything_is_locked_and_tools_of_tests_come_with_the_tests() -> None:
    run, dev = locked("requirements.lock"), locked("requirements-dev.lock")
    assert names(RUN) <= set(run)
    assert names(DEV) <= set(dev)
    assert names(FARM) <= set(locked("requirements-labgrid.lock"))
    assert not names(DEV) & set(run)
    assert {name: run[name] for name in set(run) & set(dev)} == {
        name: dev[name] for name in set(run) & set(dev)
    }


@pytest.mark.parametrize("name", [path.name for path in LAB.glob("*.lock")])
def test_a_lock_names_no_mirror(name: str) -> None:
    assert "://" not in (LAB / name).read_text(encoding="utf-8")


def test_a_path_with_a_space_is_refused_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "two words"
    folder.mkdir()
    (folder / "Makefile").symlink_to(paths.root() / "Makefile")
    done = subprocess.run(
        ["make", "-C", folder, "run"],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 2
    assert "the path of this checkout has a space in it" in done.stderr
