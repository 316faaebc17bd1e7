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


# As teemark.cli.main.main() does, one command after the other.
CODE = """\
import sys
from teemark.base import console
from teemark.cli import main
console.plain_streams()
for line in sys.argv[1:]:
    print(f"== {line}: {main.run(line.split())}", flush=True)
"""


@pytest.mark.parametrize("locale", LOCALES)
def test_no_traceback_in_any_locale(run: Path, locale: str) -> None:
    dropped = "LC_", "LANG", "PYTHON"
    clean = {k: v for k, v in os.environ.items() if "CACHE" in k or not k.startswith(dropped)}
    lines = [command.replace("RUN", str(run)) for command in COMMANDS]
    done = subprocess.run(
        [sys.executable, "-c", CODE, *lines],
        env=clean | LOCALES[locale],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode("ascii", "replace")
    shown = done.stdout.decode("latin-1")
    for line in lines:
        before, ended, shown = shown.partition(f"== {line}: 0\n")
        assert before, line
        assert ended, line
