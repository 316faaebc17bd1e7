# SPDX-License-Identifier: BSD-2-Clause
"""No command that prints ends in a traceback where the terminal can't show every character."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from synthetic import Synthetic

# LC_ALL=C as it was before Python put UTF-8 in its place; and what a German Latin-1 terminal has.
LOCALES = {
    "C": {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    "latin-1": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "iso-8859-1:strict"},
}
COMMANDS = (
    "plan show quick",
    "board list",
    "report RUN",
    "explain RUN",
    "explain RUN --choices",
    "predict RUN oneshot/sha256/tee/5000",
    "compare RUN RUN",
    "table RUN",
    "history RUN/..",
    "export RUN --format csv",
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("locale")
    for name in ("run", "again"):  # a history takes two
        Synthetic(identical=True, counter=1.0).write(folder / name)
    return folder / "run"


@pytest.mark.parametrize(
    ("command", "locale"), [*((one, "C") for one in COMMANDS), ("explain RUN", "latin-1")]
)
def test_no_traceback_in_any_locale(run: Path, command: str, locale: str) -> None:
    words = command.replace("RUN", str(run)).split()
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "PYTHON"))}
    done = subprocess.run(
        [sys.executable, "-m", "teemark", *words],
        env=clean | LOCALES[locale],
        capture_output=True,
        check=False,
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode("ascii", "replace")
    assert done.returncode == 0, done.stderr.decode("ascii", "replace")
    assert done.stdout
