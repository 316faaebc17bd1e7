# SPDX-License-Identifier: BSD-2-Clause
"""Our programs and Trusted Applications onto a board, where they aren't there already."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from teemark import paths
from teemark.boards.board import Board, architecture
from teemark.boards.ssh_messages import transfer_error
from teemark.boards.transfer import digest
from teemark.errors import MissingOutput

PROGRAMS = ("teebench", "teehash")

# $1 a folder, $2… names in it, "--" before the next folder: the machine, then a line
# "digest/name/folder" for each that is there. What comes after -- is for boards with a TEE. One
# script: a slow board takes a while for each.
_LOOK = """\
uname -m
[ -e /dev/tee0 ] && echo tee || echo no-tee
next=1
for a; do
  if [ "$a" = -- ]; then
    [ -e /dev/tee0 ] || exit 0
    next=1
    continue
  fi
  if [ "$next" ]; then
    next=
    case $a in "~/"*) d=$HOME/${a#"~/"};; *) d=$a;; esac
    mkdir -p "$d" || exit 1
    n=$a
  elif [ -f "$d/$a" ]; then
    s=$(sha256sum <"$d/$a") && echo "${s%% *}/$a/$n"
  fi
done
exit 0
"""


@dataclass(frozen=True, slots=True)
class Item:
    """One file to install."""

    local: Path
    directory: str
    mode: int

    @property
    def target(self) -> str:
        return f"{self.directory.rstrip('/')}/{self.local.name}"


def _tas(board: Board) -> list[Path]:
    return sorted(board.tas.glob("*.ta"))


def _items(board: Board, machine: str, *, tee: bool) -> list[Item]:
    """What `make build` made for this board. Without a TEE, TAs have no place there."""
    programs = paths.built_programs(architecture(machine))
    found = [
        Item(programs / name, board.directory, 0o755)
        for name in PROGRAMS
        if (programs / name).is_file()
    ]
    tas = _tas(board) if tee else []
    return found + [Item(ta, board.config.ta_directory, 0o444) for ta in tas]


def ensure_installed(
    board: Board, *, require: bool = False, tell: Callable[[str], None] | None = None
) -> list[Item]:
    """Install what is missing or differs; return that. With `require`, having nothing to
    install is an error. `tell` hears what is being copied."""
    asked = [board.directory, *PROGRAMS]
    if tas := _tas(board):
        asked += ["--", board.config.ta_directory, *(ta.name for ta in tas)]
    result = board.script(_LOOK, *asked, check=False)
    if result.status != 0:
        folders = f"{board.directory} or {board.config.ta_directory}"
        raise transfer_error(board.name, folders, result.complaint)
    machine, tee, *lines = result.text.splitlines()
    there = {tuple(line.split("/", 2)) for line in lines}
    wanted = _items(board, machine, tee=tee == "tee")
    if require and not wanted:
        raise MissingOutput(f"{board.name}: nothing is built for {machine} boards")
    missing = [
        item
        for item in wanted
        if (digest(item.local), item.local.name, item.directory) not in there
    ]
    for number, item in enumerate(missing, 1):
        if tell is not None:
            tell(f"installing {item.local.name} on {board.name} ({number} of {len(missing)})")
        board.push(item.local, item.target, mode=item.mode)
    return missing
