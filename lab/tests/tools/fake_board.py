# SPDX-License-Identifier: BSD-2-Clause
"""A board that is this machine: commands run here, in a folder with a teebench of the test's."""

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Self

from teemark.base.errors import ConnectionLost
from teemark.boards.board import Board
from teemark.boards.config import BoardFile, SshConfig
from teemark.boards.endpoint import Endpoint
from teemark.boards.ssh import Ssh


class _Shell(Ssh):
    """Starts here what ssh would start on a board, by a shell with this environment; that shell
    does `greeting` before each command. Status 255 is a connection that broke."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        super().__init__("fake", Endpoint("nowhere"))
        self._folder = folder
        self._env = env
        self.greeting = ""

    def open_channel(
        self, command: str, *, terminal: bool = False, **streams: Any
    ) -> tuple[subprocess.Popen[bytes], Path]:
        argv = ["sh", "-c", self.greeting + command]
        return subprocess.Popen(argv, env=self._env, **streams), self._folder / "log"

    def trouble(self, log: Path) -> ConnectionLost:
        return ConnectionLost("fake: the connection broke", hint="look at the cable")


class FakeBoard(Board):
    """`programs` is its folder of our programs, first in PATH."""

    def __init__(self, programs: Path, *, deterministic: bool = False) -> None:
        config = SshConfig(
            address="nowhere", description="a board made up", directory=str(programs)
        )
        super().__init__(BoardFile("fake", programs, config), Endpoint("nowhere"))
        self.programs = programs
        # Not /tmp, from which another test's `setup --remove` takes what looks left behind.
        self._temporary = tempfile.TemporaryDirectory(prefix="board-")
        self.shell = _Shell(programs, os.environ | {"TMPDIR": self._temporary.name})
        self.ssh = self.shell
        self.emulated = self.deterministic = deterministic

    def __enter__(self) -> Self:
        return self


SUDO = """\
#!/bin/sh
[ "$1" = -n ] && shift
exec env -i HOME='{other}' PATH=/usr/sbin:/usr/bin:/sbin:/bin USER=root "$@"
"""
SU = """\
#!/bin/sh
[ "$1" = -c ] && [ $# -eq 2 ] || exit 9
HOME='{other}' USER=root exec sh -c "$2"
"""


class SudoBoard(Board):
    """A board with the default directory, whose sudo resets the environment as sudo does: the
    home directory is another user's. Or its su, which sets that alone."""

    def __init__(self, folder: Path, *, su: bool = False) -> None:
        config = SshConfig(address="nowhere", sudo=not su, su=su)
        super().__init__(BoardFile("fake", folder, config), Endpoint("nowhere"))
        self.home, self.other = folder / "home", folder / "root's"
        for made in (self.home, self.other, folder / "bin"):
            made.mkdir()
        sudo = folder / "bin" / ("su" if su else "sudo")
        sudo.write_text((SU if su else SUDO).format(other=str(self.other).replace("'", "'\\''")))
        sudo.chmod(0o755)
        env = {"HOME": str(self.home), "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
        self.ssh = _Shell(folder, env)


def teebench(folder: Path, script: str) -> None:
    """A teebench that is this shell script."""
    program = folder / "teebench"
    program.write_text("#!/bin/sh\n" + script)
    program.chmod(0o755)
