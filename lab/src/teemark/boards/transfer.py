# SPDX-License-Identifier: BSD-2-Clause
"""Files to and from a board, over the one ssh connection: no sftp server is needed there.

Whatever is written is written beside its place, checked, and renamed. A file's check is its
SHA-256, or its size where the board has no sha256sum.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

from teemark.base.errors import TeemarkError, TransferError, UsageMistake
from teemark.boards import answers, command_lines
from teemark.boards.shell import ASK_S, Shell
from teemark.boards.ssh_messages import transfer_error
from teemark.boards.unpack import unpack

# $2 name here. A folder beside the place, which only we can look into, and whose name nobody knew:
# whoever may write there too can't plant a link in it. What is new is made in it.
_BESIDE = (
    command_lines.EXPAND
    + """\
case $t in /*) ;; *) t=$PWD/$t;; esac
if [ -d "$t" ]; then t=${t%/}/$2; fi
[ "$3" != folder ] || [ ! -e "$t" ] || exit 12
u=$(umask)
umask 077
p=$(mktemp -d "${t%/*}/.teemark.XXXXXX") || exit 10
umask "$u"
trap 'rm -rf "$p"' EXIT
trap 'exit 1' HUP INT TERM
cd "$p" && [ -O . ] || exit 10
"""
)

# $3 digest, $4 size, $5 mode. Status 11: arrived damaged.
PUSH_FILE = (
    _BESIDE
    + """\
cat >new || exit 10
sum=$(sha256sum <new 2>/dev/null)
if [ "$sum" ]; then [ "${sum%% *}" = "$3" ] || exit 11
else [ "$(wc -c <new)" -eq "$4" ] || exit 11; fi
chmod "$5" new && mv -f new "$t"
"""
)

# $3 "folder". Status 12: it is there already.
_PUSH_FOLDER = _BESIDE + 'mkdir new && tar -xf - -C new && mv new "$t" || exit 10\n'

_KIND = (
    command_lines.EXPAND
    + """\
if [ -d "$t" ]; then echo folder
elif [ -e "$t" ]; then echo "file $(stat -c %a "$t")"
else echo "$t: No such file or directory" >&2; exit 1; fi
"""
)
_KINDS = {"folder": "", "file": "[0-7]{0,4}"}

_READ = command_lines.EXPAND + 'exec cat <"$t"\n'

_DIGEST = command_lines.EXPAND + 's=$(sha256sum <"$t" 2>/dev/null) && echo "digest ${s%% *}"; :\n'

_READ_FOLDER = command_lines.EXPAND + 'exec tar -cf - -C "$t" .\n'


_SLOWEST = 10_000
"""Bytes a second that any connection carries."""


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def push(board: Shell, local: Path, target: str, *, mode: int | None = None) -> None:
    if local.is_dir():
        _push_folder(board, local, target)
    elif local.is_file():
        _push_file(board, local, target, mode)
    else:
        raise UsageMistake(f"there is no file or folder {local} here")


def _push_file(board: Shell, local: Path, target: str, mode: int | None) -> None:
    state = local.stat()
    octal = f"{state.st_mode & 0o777 if mode is None else mode:o}"
    with local.open("rb") as file:
        argv = (target, local.name, digest(local), str(state.st_size), octal)
        timeout = ASK_S + state.st_size / _SLOWEST
        result = board.script(PUSH_FILE, *argv, stdin=file, check=False, timeout=timeout)
    if result.status == 11:
        raise TransferError(
            f"{board.name}: {target} didn't arrive as {local} is here",
            hint="did the file change meanwhile? else try again",
        )
    if result.status != 0:
        raise transfer_error(board.name, target, result.complaint)


def _push_folder(board: Shell, local: Path, target: str) -> None:
    pack = subprocess.Popen(
        ["tar", "-cf", "-", "-C", str(local), "."],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert pack.stdout is not None
    assert pack.stderr is not None
    try:
        name = local.resolve().name
        argv = (target, name, "folder")
        result = board.script(_PUSH_FOLDER, *argv, stdin=pack.stdout, check=False, timeout=None)
    finally:
        pack.stdout.close()
        complaint = pack.stderr.read().decode(errors="replace").strip()
        pack.stderr.close()
        packed = pack.wait()
    if result.status == 12:
        raise TransferError(
            f"{board.name}: {target} has a folder {name} already",
            hint="remove it there first, or name another target",
        )
    if result.status != 0:
        raise transfer_error(board.name, target, result.complaint)
    if packed != 0:
        raise TransferError(f"{local} could not be read: {complaint}")


def pull(board: Shell, source: str, local: Path) -> list[str]:
    """Returns what of a folder was left out, "NAME: WHY"."""
    asked = board.script(_KIND, source, check=False)
    if asked.status != 0:
        raise transfer_error(board.name, source, asked.complaint)
    kind = answers.parse(board.name, source, asked.text, _KINDS)
    name = source.rstrip("/").rpartition("/")[2] or "root"
    place = local / name if local.is_dir() else local
    if not place.parent.is_dir():
        raise UsageMistake(f"there is no folder {place.parent} here")
    what, mode = kind.only()
    if what == "folder":
        return _pull_folder(board, source, place)
    _pull_file(board, source, place, int(mode or "644", 8) & 0o777)
    return []


def _pull_file(board: Shell, source: str, place: Path, mode: int) -> None:
    handle, name = tempfile.mkstemp(prefix=".teemark-", dir=place.parent)
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            _read(board, command_lines.script(_READ, source), source, out)
        form = {"digest": "[0-9a-f]{64}"}
        there = board.ask(source, form, _DIGEST, source).all("digest")
        # Files that the kernel makes up, as in /proc, may differ each time they are read.
        if there and not source.startswith(("/proc/", "/sys/")) and there[0] != digest(beside):
            raise TransferError(
                f"{board.name}: {source} changed while it was copied",
                hint="wait until nothing writes to it any more",
            )
        beside.chmod(mode | 0o200)
        beside.replace(place)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


def _pull_folder(board: Shell, source: str, place: Path) -> list[str]:
    if place.exists():
        raise TransferError(
            f"{place} is here already", hint="remove it first, or name another place"
        )
    beside = Path(tempfile.mkdtemp(prefix=".teemark-", dir=place.parent))
    come, go = os.pipe()
    try:
        with ThreadPoolExecutor(1) as other:
            unpacked = other.submit(_unpack, come, beside, board.name)
            try:
                with os.fdopen(go, "wb") as out:
                    _read(board, command_lines.script(_READ_FOLDER, source), source, out)
            except TeemarkError:
                # It may have failed because nobody took what it sent any more.
                problem = unpacked.exception()
                if problem is not None and not isinstance(problem.__cause__, tarfile.ReadError):
                    raise problem from None
                raise
        left_out = unpacked.result()
        beside.chmod(0o755)
        beside.replace(place)
        return left_out
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _unpack(come: int, beside: Path, board: str) -> list[str]:
    with os.fdopen(come, "rb") as stream:
        return unpack(stream, beside, board)


def _read(board: Shell, argv: list[str], source: str, out: IO[bytes]) -> None:
    """Runs a command whose output is `source`, or a part of it, into `out`."""
    process = board.start(argv)
    try:
        status = process.copy(out.write, timeout=None, silence=ASK_S)
    finally:
        process.abandon()
    if status != 0 or not process.whole:
        raise transfer_error(board.name, source, process.complaint)
