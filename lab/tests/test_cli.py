# SPDX-License-Identifier: BSD-2-Clause
"""The command line as a script meets it: words, exit statuses, errors and hints."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from teemark import __version__, cli

TEEMARK = [sys.executable, "-m", "teemark"]


def teemark(*args: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*TEEMARK, *args],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **env},
    )


def test_version() -> None:
    done = teemark("--version")
    assert (done.returncode, done.stdout) == (0, f"teemark {__version__}\n")


def test_help_lists_every_command_and_is_instant() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = teemark("--help")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0
    for row in cli.TABLE:
        assert f"  {row.name} " in done.stdout
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert took < 0.5, "heavy imports belong where they are used"


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom teemark import cli\ncli.run(['--help'])\n"
        "heavy = {'numpy', 'scipy', 'matplotlib', 'rich', 'jinja2', 'msgspec'}\n"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("row", cli.TABLE, ids=lambda row: row.name)
def test_every_command_is_there_and_has_help(row: cli.Row) -> None:
    done = teemark(row.name, "--help")
    assert done.returncode == 0, done.stderr
    context = cli.cli.make_context("teemark", ["--version"], resilient_parsing=True)
    command = cli.cli.get_command(context, row.name)
    assert command is not None
    assert command.name == row.name
    assert command.help


@pytest.mark.parametrize(
    "args",
    [
        ["no-such-command"],
        ["--no-such-option"],
        [],
        ["exec"],
        ["exec", "qemu-v8", "--"],
        ["exec", "no-such-board", "--", "true"],
        ["push", "qemu-v8", "/no/such/file", "/tmp"],
        ["shell", "qemu-v8"],
        ["up", "./no.toml"],
        ["down", "no-such-board"],
    ],
)
def test_usage_mistakes_are_status_2(args: list[str]) -> None:
    done = teemark(*args)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    if args:
        assert done.stderr.startswith("teemark: error: ")
        assert "\nhint: " in done.stderr
    assert "Traceback" not in done.stderr


def test_board_list(tmp_path: Path) -> None:
    done = teemark("board", "list", "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert rows["qemu-v8"]["kind"] == "virtual"
    assert rows["qemu-v8"]["up"] in (True, False)
    assert "qemu-v8-icount" in teemark("board", "list").stdout


def test_board_list_shows_what_is_wrong(tmp_path: Path) -> None:
    own = tmp_path / "teemark" / "boards"
    own.mkdir(parents=True)
    (own / "bad.toml").write_text('kind = "ssh"\n')
    done = teemark("board", "list", "--json", XDG_CONFIG_HOME=str(tmp_path))
    assert done.returncode == 1
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert "address: missing" in rows["bad"]["error"]


def test_board_that_refuses(tmp_path: Path) -> None:
    board = tmp_path / "off.toml"
    board.write_text('kind = "ssh"\naddress = "127.0.0.1"\nport = 1\n')
    done = teemark("exec", str(board), "--", "true")
    assert done.returncode == 1
    assert done.stderr.startswith("teemark: error: off: 127.0.0.1:1 refuses connections\nhint: ")


def test_images_that_are_not_built(tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "pyproject.toml").touch()
    (tmp_path / "boards").mkdir()
    (tmp_path / "boards" / "v.toml").write_text('kind = "virtual"\n')
    done = teemark("exec", "v", "--", "true", TEEMARK_ROOT=str(tmp_path))
    assert done.returncode == 1
    assert "the virtual board isn't built" in done.stderr
    assert "make build" in done.stderr


def test_output_that_nobody_reads_is_no_traceback() -> None:
    line = f"{sys.executable} -m teemark board list --json | true"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
