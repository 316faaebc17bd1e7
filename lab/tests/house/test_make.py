# SPDX-License-Identifier: BSD-2-Clause
"""The top Makefile's targets do nothing unasked."""

import os
import re
import subprocess
from pathlib import Path

from teemark.base import paths


def test_lint_installs_nothing(tmp_path: Path) -> None:
    """It names what is missing instead, and the command that brings it."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    words = ["make", "-C", str(paths.root()), "lint", f"VENV={tmp_path}/venv"]
    plan = subprocess.run(
        [*words, "-n"], capture_output=True, text=True, check=False, env=environment
    )
    commands = plan.stdout
    assert "ruff check" in commands, plan.stderr
    assert re.search(r"pip|apt-get|npm|git clone|install-packages (?!--check)", commands) is None
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 2
    assert "missing" in done.stderr
    assert not (tmp_path / "venv").exists()
