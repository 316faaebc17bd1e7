# SPDX-License-Identifier: BSD-2-Clause
"""Our programs and Trusted Applications onto a board, where they aren't there already."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from teemark import paths
from teemark.boards.board import Board
from teemark.boards.sshsay import transfer_error
from teemark.boards.transfer import digest
from teemark.errors import MissingOutput

PROGRAMS = ("teebench", "teehash")

# $1 folder, $2… names in it: a line "digest name" for each that is there.
_DIGESTS = """\
case $1 in "~/"*) d=$HOME/${1#"~/"};; *) d=$1;; esac
shift
mkdir -p "$d" && cd "$d" || exit 1
for f; do if [ -f "$f" ]; then s=$(sha256sum <"$f") && echo "${s%% *} $f"; fi; done
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


def items(board: Board) -> list[Item]:
    """What `make build` made for this board."""
    programs = paths.built_programs(board.architecture())
    found = [
        Item(programs / name, board.directory, 0o755)
        for name in PROGRAMS
        if (programs / name).is_file()
    ]
    tas = sorted(paths.built_tas().glob("*.ta"))
    return found + [Item(ta, board.config.ta_directory, 0o444) for ta in tas]


def ensure_installed(board: Board, *, require: bool = False) -> list[Item]:
    """Install what is missing or differs; return that. With `require`, having nothing to
    install is an error."""
    wanted = items(board)
    if require and not wanted:
        raise MissingOutput(
            f"{board.name}: nothing is built for {board.architecture()} boards, and no TA"
        )
    there: set[tuple[str, str, str]] = set()
    for directory in dict.fromkeys(item.directory for item in wanted):
        names = [item.local.name for item in wanted if item.directory == directory]
        result = board.script(_DIGESTS, directory, *names, check=False)
        if result.status != 0:
            raise transfer_error(board.name, directory, result.complaint)
        for line in result.text.splitlines():
            sha, _, name = line.partition(" ")
            there.add((directory, name, sha))
    missing = [
        item
        for item in wanted
        if (item.directory, item.local.name, digest(item.local)) not in there
    ]
    for item in missing:
        board.push(item.local, item.target, mode=item.mode)
    return missing
