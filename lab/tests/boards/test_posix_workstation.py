# SPDX-License-Identifier: BSD-2-Clause
"""A workstation that isn't Debian, such as macOS: ssh and POSIX's utilities, no GNU-only option, no
apt, no compiler. The board is this machine over ssh."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sshserver
from conftest import HOST
from teemark.base import paths

UTILITIES = [
    "awk",
    "basename",
    "cat",
    "chmod",
    "chown",
    "cksum",
    "cmp",
    "cp",
    "cut",
    "date",
    "dd",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "ed",
    "env",
    "expand",
    "expr",
    "false",
    "file",
    "find",
    "fold",
    "getconf",
    "grep",
    "head",
    "id",
    "join",
    "kill",
    "ln",
    "ls",
    "mkdir",
    "mkfifo",
    "mv",
    "nice",
    "nl",
    "nohup",
    "od",
    "paste",
    "printf",
    "ps",
    "pwd",
    "rm",
    "rmdir",
    "sed",
    "sh",
    "sleep",
    "sort",
    "split",
    "stty",
    "tail",
    "tee",
    "test",
    "time",
    "touch",
    "tr",
    "true",
    "tty",
    "uname",
    "uniq",
    "wc",
    "xargs",
]
"""POSIX.1-2017's, those that a program may call in a script."""

TOOL = """\
#!{sh}
# What macOS's would not take is refused, and said where the test sees it.
for word; do case $word in
--) break ;;
--*) echo "{name} $word" >>{log}; echo "{name}: illegal option -- $word" >&2; exit 64 ;;
esac; done
exec {real} "$@"
"""

PLAN = """\
summary = "Two cases."
[[cases]]
workload = "oneshot"
algorithms = ["sha256"]
backends = ["c"]
sizes = [64, "4KiB"]
samples = 5
"""


@pytest.mark.skipif(not paths.built_programs("native").is_dir(), reason="make host")
def test_ssh_boards_need_posix_and_ssh_alone(
    tmp_path: Path, ssh_server: sshserver.SshServer
) -> None:
    tools, refused = tmp_path / "bin", tmp_path / "refused"
    tools.mkdir()
    sh = shutil.which("sh")
    for name in UTILITIES:
        if (real := shutil.which(name)) is not None:
            text = TOOL.format(sh=sh, name=name, log=refused, real=real)
            (tools / name).write_text(text)
            (tools / name).chmod(0o755)
    for name in ("ssh", "ssh-keygen"):  # OpenSSH's own
        (tools / name).symlink_to(str(shutil.which(name)))
    (tmp_path / "two.toml").write_text(PLAN)
    board = tmp_path / "desk.toml"
    board.write_text(
        f'kind = "ssh"\naddress = "127.0.0.1"\nport = {ssh_server.port}\n'
        f'user = "{ssh_server.user}"\nidentity = "{ssh_server.identity}"\ndirectory = "~/posix"\n'
        f'options = ["UserKnownHostsFile={ssh_server.known_hosts}", "HostKeyAlias={HOST}"]\n'
    )
    home = tmp_path / "home"
    home.mkdir()
    environment = {"PATH": str(tools), "HOME": str(home), "TMPDIR": str(tmp_path), "LANG": "C"}

    def teemark(*words: str) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-m", "teemark", *words]
        return subprocess.run(
            argv, env=environment, cwd=home, capture_output=True, text=True, check=False
        )

    run = str(tmp_path / "run")
    for words in (
        ("setup", str(board)),
        ("exec", str(board), "--", "true"),
        ("push", str(board), str(tmp_path / "two.toml"), "there.toml"),
        ("pull", str(board), "there.toml", str(tmp_path / "back.toml")),
        ("run", "--board", str(board), "--plan", str(tmp_path / "two.toml"), "--out", run),
        ("report", run),
        ("compare", run, run),
        ("export", run, "--format", "csv"),
        ("plan", "list"),
        ("setup", "--remove", str(board)),
    ):
        done = teemark(*words)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
    assert (tmp_path / "run" / "report.html").is_file()
    assert (tmp_path / "back.toml").read_text() == PLAN
    assert not refused.exists(), refused.read_text()

    install = teemark("vboard", "install")
    assert install.returncode == 1
    assert "apt" in install.stderr
    assert os.fspath(tools) not in install.stderr
