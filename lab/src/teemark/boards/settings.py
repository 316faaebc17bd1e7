# SPDX-License-Identifier: BSD-2-Clause
"""Every setting of a board, and where it comes from."""

from __future__ import annotations

import json
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from teemark.base.checked import read_text
from teemark.boards.board import Board
from teemark.boards.config import BoardFile, SshConfig

FILE = "board file"
DEFAULT = "default"
SSH = "ssh's configuration"
KIT = "the virtual board's kit (make build)"

_OF_SSH = {"user": "user", "port": "port", "identity": "identityfile"}
"""Settings that a board file may leave to ssh, with ssh's own names."""


@dataclass(frozen=True, slots=True)
class Setting:
    name: str
    value: Any
    source: str

    @property
    def shown(self) -> str:
        """As it is written in a board file."""
        return "-" if self.value is None else json.dumps(self.value, ensure_ascii=False)


def of(file: BoardFile, board: Board) -> list[Setting]:
    """Those of the board file first, in its order of fields."""
    written = tomllib.loads(read_text(file.path))
    asked = _ssh(board) if isinstance(file.config, SshConfig) else {}
    rows = [Setting("kind", file.config.kind, FILE)]
    for name in sorted(file.config.__struct_fields__, key=lambda name: name not in written):
        value = getattr(file.config, name)
        value = list(value) if isinstance(value, tuple) else value
        if name in written:
            rows.append(Setting(name, value, FILE))
        elif value is None and asked.get(_OF_SSH.get(name, "")):
            rows.append(Setting(name, asked[_OF_SSH[name]], SSH))
        elif name == "ta_kit":
            rows.append(Setting(name, str(board.kit.folder), KIT))
        else:
            rows.append(Setting(name, value, DEFAULT))
    if asked.get("hostname") not in (None, board.endpoint.address):
        rows.append(Setting("hostname", asked["hostname"], SSH))
    return rows


def _ssh(board: Board) -> dict[str, Any]:
    """What ssh would use for what it isn't told; {} if it can't say."""
    argv = ["ssh", "-G", *board.endpoint.arguments(), "--", board.endpoint.address]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except OSError:
        return {}
    found: dict[str, Any] = {}
    for line in done.stdout.splitlines():
        name, _, value = line.partition(" ")
        if name == "identityfile":
            if Path(value).expanduser().is_file():
                found.setdefault(name, []).append(value)
        else:
            found.setdefault(name, int(value) if name == "port" else value)
    return found
