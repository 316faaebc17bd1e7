# SPDX-License-Identifier: BSD-2-Clause
"""Copies files to and from a board, over its one ssh connection; no sftp server is needed there.

Every file is written beside its target, checked, and renamed. The check compares the SHA-256, or
the size where the board has no sha256sum.
"""

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from teemark.base.errors import TransferError, UsageMistake
from teemark.boards import answers
from teemark.boards.command_lines import BoardPath, script
from teemark.boards.shell import ASK_S, Shell
from teemark.boards.ssh_messages import transfer_error

# $1 target, $2 name here, $3 digest, $4 size, $5 mode. Status 11: the file arrived damaged. The new
# file is made in a folder beside the target, which only we can enter and whose name nobody knew. So
# another user who may write there can't plant a link in it.
PUSH_FILE = """\
case $1 in /*) t=$1;; *) t=$PWD/$1;; esac
if [ -d "$t" ]; then t=${t%/}/$2; fi
u=$(umask)
umask 077
p=$(mktemp -d "${t%/*}/.teemark.XXXXXX") || exit 10
umask "$u"
trap 'rm -rf "$p"' EXIT
trap 'exit 1' HUP INT TERM
cd "$p" && [ -O . ] || exit 10
cat >new || exit 10
sum=$(sha256sum <new 2>/dev/null)
if [ "$sum" ]; then [ "${sum%% *}" = "$3" ] || exit 11
else [ "$(wc -c <new)" -eq "$4" ] || exit 11; fi
chmod "$5" new && mv -f new "$t"
"""

_LOOK = """\
if [ -d "$1" ]; then echo folder
elif [ -e "$1" ]; then echo "mode $(stat -c %a "$1")"
else echo "$1: No such file or directory" >&2; exit 1; fi
"""

# Prints "digest NUMBER/DIGEST" for each of the files that exists and can be read.
DIGESTS = """\
n=0
for f; do
  [ -f "$f" ] && s=$(sha256sum <"$f" 2>/dev/null) && echo "digest $n/${s%% *}"
  n=$((n + 1))
done
exit 0
"""
DIGEST_FORM = {"digest": "[0-9]+/[0-9a-f]{64}"}

_SLOWEST = 10_000
"""Lowest speed of a connection, bytes a second; the time limit of a copy follows from it."""


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digests_in(answer: answers.Answer, files: Sequence[str]) -> dict[str, str]:
    """Returns the digests by file, from the answer of the script DIGESTS for these files."""
    by_number = dict(line.split("/", 1) for line in answer.all("digest"))
    return {file: by_number[str(n)] for n, file in enumerate(files) if str(n) in by_number}


def digests(board: Shell, files: Sequence[str]) -> dict[str, str]:
    """Returns, by file, the SHA-256 of each of these files that exists on the board."""
    about = f"the digest of {', '.join(files)}"
    answer = board.ask(about, DIGEST_FORM, DIGESTS, *map(BoardPath, files))
    return digests_in(answer, files)


class Carrier(Shell):
    """A board to and from which files are copied."""

    def push(self, local: Path, target: str, *, mode: int | None = None) -> None:
        """Copies a file to the board. It is written beside its target, checked by digest, then
        renamed, so that a reader sees the old file or the new one. `mode` None keeps the file's
        mode."""
        if not local.is_file():
            raise UsageMistake(
                f"there is no file {local} here",
                hint=f"a folder goes as an archive: tar -cC {local} . | "
                f"teemark exec {self.name} -- tar -xC FOLDER",
            )
        state = local.stat()
        octal = f"{state.st_mode & 0o777 if mode is None else mode:o}"
        with local.open("rb") as file:
            argv = (BoardPath(target), local.name, digest(local), str(state.st_size), octal)
            timeout = ASK_S + state.st_size / _SLOWEST
            result = self.script(PUSH_FILE, *argv, stdin=file, check=False, timeout=timeout)
        if result.status == 11:
            raise TransferError(
                f"{self.name}: {target} didn't arrive as {local} is here",
                hint="did the file change meanwhile? else try again",
            )
        if result.status != 0:
            raise transfer_error(self.name, target, result.complaint)

    def pull(self, source: str, local: Path, *, most: int | None = None) -> None:
        """Copies a file from the board; it is checked and renamed as `push` does. Raises BoardError
        if the board sends more than `most` bytes."""
        answer = self.script(_LOOK, BoardPath(source), check=False)
        if answer.status != 0:
            raise transfer_error(self.name, source, answer.complaint)
        form = {"folder": "", "mode": "[0-7]{0,4}"}
        what, mode = answers.parse(self.name, source, answer.text, form).only()
        if what == "folder":
            raise UsageMistake(
                f"{self.name}: {source} is a folder",
                hint=f"take it as an archive: teemark exec {self.name} -- tar -cC {source} . >FILE",
            )
        place = local / source.rpartition("/")[2] if local.is_dir() else local
        if not place.parent.is_dir():
            raise UsageMistake(f"there is no folder {place.parent} here")
        handle, name = tempfile.mkstemp(prefix=".teemark-", dir=place.parent)
        beside = Path(name)
        try:
            argv = script('exec cat <"$1"', BoardPath(source))
            with os.fdopen(handle, "wb") as out, self.started(argv) as process:

                def keep(data: bytes) -> None:
                    out.write(data)
                    if most is not None and out.tell() > most:
                        raise process.error(f"sends more than {most >> 20} MiB")

                status = process.copy(keep, timeout=None, silence=ASK_S)
            if status != 0 or not process.whole:
                raise transfer_error(self.name, source, process.complaint)
            remote = digests(self, [source]).get(source)
            # Files that the kernel makes up, as in /proc, may differ each time they are read.
            if remote and not source.startswith(("/proc/", "/sys/")) and remote != digest(beside):
                raise TransferError(
                    f"{self.name}: {source} changed while it was copied",
                    hint="wait until nothing writes to it any more",
                )
            beside.chmod(int(mode or "644", 8) & 0o777 | 0o200)
            beside.replace(place)
        finally:
            with contextlib.suppress(OSError):
                beside.unlink(missing_ok=True)
