# SPDX-License-Identifier: BSD-2-Clause
"""The command lines we send to a board: pure text, for any POSIX shell (busybox's too).

A command runs as

    exec 3>&2 2>/dev/null; (exec env PATH=… TEEMARK_JOB=token COMMAND… 2>&3 3>&-); exit $?

- The shell stays, so that a command killed by signal n has the status 128+n: ssh itself would say
  255. The shell's stderr is closed to keep its "Segmentation fault" out of the command's stderr.
- The command's output stands between two marks made of the token, since a login shell may print a
  greeting before it and a goodbye after it.
- The token in the environment marks the command and all its children, so that a second channel can
  find them and send them a signal: without a terminal ssh passes on no signal.
"""

import shlex
from collections.abc import Sequence

from teemark.base.errors import BoardError

LONGEST = 8000
"""Bytes of the longest command that we send; dropbear refuses more than 9000."""

ROOMY = '${TMPDIR:+"$TMPDIR"} /data /var/tmp "$HOME" /tmp'
"""Folders that may have room for files, the best first, as words of a shell's `for`."""

# Sends signal $2 (INT, TERM, KILL, …) to every process of job $1.
SIGNAL = """\
for try in 1 2 3 4 5; do
  found=
  for file in $(grep -ls "TEEMARK_JOB=$1" /proc/[0-9]*/environ 2>/dev/null); do
    pid=${file#/proc/}
    kill -s "$2" "${pid%/environ}" 2>/dev/null && found=1
  done
  [ "$found" ] && exit 0
  sleep 0.2 || sleep 1
done
exit 1
"""

# Makes a folder in $1 and holds it until its stdin ends, which is when the connection ends, too.
HOLD_FOLDER = """\
remove() {
  for f in $(grep -ls "=$1/" /proc/[0-9]*/environ 2>/dev/null); do
    f=${f%/environ}
    kill -9 "${f#/proc/}" 2>/dev/null
  done
  rm -rf "$1"
}
for d in "$1"/teemark-held.*; do
  [ -O "$d" ] && read -r pid <"$d/holder" && ! grep -qs teemark-held "/proc/$pid/cmdline" &&
    remove "$d"
done 2>/dev/null
d=$(mktemp -d "$1/teemark-held.XXXXXX") && echo $$ >"$d/holder" && echo "folder $d" || exit
trap : HUP INT TERM
cat >/dev/null
remove "$d"
"""


def marks(job: str) -> tuple[bytes, bytes]:
    """Returns the two lines that a marked command prints before and after its output."""
    return f"<{job}\n".encode(), f"~{job}\n".encode()


class BoardPath(str):
    """A path on the board, as a word of a command. A ~ at its beginning is the home directory
    there; in any other word ~ is an ordinary character."""

    __slots__ = ()


def _quoted(word: str) -> str:
    if isinstance(word, BoardPath) and word == "~":
        return '"$HOME"'
    if isinstance(word, BoardPath) and word.startswith("~/"):
        return '"$HOME"/' + shlex.quote(word[2:])
    return shlex.quote(word)


def command_line(
    argv: Sequence[str],
    *,
    job: str,
    directory: str,
    environment: Sequence[str] = (),
    sudo: bool = False,
    su: bool = False,
    marked: bool = False,
) -> str:
    """Returns the shell command for ssh that runs `argv` on the board, with `directory` first in
    PATH and the variables of `environment`. `marked` puts its output between marks. Raises
    BoardError if it exceeds LONGEST."""
    words = ["sudo", "-n"] if sudo else []
    words += ["env", f'PATH={_quoted(BoardPath(directory))}:"$PATH"']
    if sudo:
        words.append('HOME="$HOME"')  # without it sudo sets root's HOME, and ~/ means two places
    words += [f"TEEMARK_JOB={job}", *environment, *map(_quoted, argv)]
    run = f"exec {' '.join(words)}"
    if su:  # su sets HOME, too; busybox's shell may run its own su, without the rights
        inner = shlex.quote(f"HOME=$TEEMARK_HOME; {run}")
        find = "s=$(command -v su); case $s in /*) ;; *) s=/bin/su;; esac"
        run = f'export TEEMARK_HOME="$HOME"; {find}; exec "$s" -c {inner}'
    command = f"({run} 2>&3 3>&-)"
    if marked:
        command = f"echo '<{job}'; {command}; s=$?; echo '~{job}'; exit $s"
    else:
        command += "; exit $?"
    text = f"exec 3>&2 2>/dev/null; {command}"
    if len(text.encode()) > LONGEST:
        raise BoardError(
            f"the command is {len(text.encode())} bytes long; a board takes {LONGEST}",
            hint="put it in a file, `teemark push` that, and run `sh FILE`",
        )
    return text


def script(text: str, *args: str) -> list[str]:
    """Returns the argv of a shell script with arguments $1, $2, …"""
    return ["sh", "-c", text, "sh", *args]


def is_script(argv: Sequence[str]) -> bool:
    return tuple(argv[:2]) == ("sh", "-c") and tuple(argv[3:4]) == ("sh",)


_QUIETLY = """\
# The last packets of this very connection are through after a second. A busy tenth of a second then
# brings the kernel, which has slept, to where it is in every run.
sleep 1
i=0
while [ $i -lt 30000 ]; do i=$((i + 1)); done
exec "$@"
"""


def quietly(*argv: str) -> list[str]:
    """Returns an argv for a silent command on a board where packets would disturb it: it first
    waits until the connection's own packets are through."""
    return script(_QUIETLY, *argv)
