# SPDX-License-Identifier: BSD-2-Clause
"""Installs our programs and Trusted Applications on a board that lacks them."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from teemark.base import paths, scratch
from teemark.base.console import say
from teemark.base.errors import BoardError, ConnectionLost, MissingOutput, NotWritable, TeemarkError
from teemark.base.shutdown import signalled
from teemark.boards import answers, build
from teemark.boards.board import Board, architecture
from teemark.boards.command_lines import ROOMY, BoardPath
from teemark.boards.ssh_messages import cannot_run, folder_error, transfer_error
from teemark.boards.transfer import DIGEST_FORM, DIGESTS, digest, digests, digests_in

PROGRAMS = ("teebench", "teehash")
TAS = (
    "0b7c9a52-31f4-4e0d-a866-5d902ce1743b",
    "0b7c9a52-31f4-4e0d-a866-5d902ce1743c",
    "3d8e61f7-50ba-4c2d-917e-b20c6af418d5",
    "5e5b2f0c-6d0a-4b57-9c1e-3a7f41d28860",
    "8d1f60c7-5b3e-4c92-b027-e4196a53cd08",
    *(f"6c1f9d34-2b7a-4e58-9d03-71a4e5{kib:06}" for kib in (32, 64, 256, 1024, 4096, 8192)),
)
"""The UUIDs of all our TAs, whether or not they are built here."""

# $1: our programs' folder, $2: the TAs' folder or ""; then files, for DIGESTS. The script prints
# the machine, its C library and whether there is a TEE. It makes the folders, the TAs' only with a
# TEE. A 64-bit kernel may have a 32-bit system. The C library is `new` (glibc 2.34 or newer),
# `glibc` or `musl`. All is in one script, since a slow board takes a while to start each.
_LOOK = (
    """\
m=$(uname -m)
if [ "$m" = aarch64 ] && [ ! -e /lib/ld-linux-aarch64.so.1 ] && [ ! -e /lib/ld-musl-aarch64.so.1 ]
then for l in /lib/ld-linux-armhf.so.3 /lib/ld-musl-armhf.so.1; do [ -e "$l" ] && m=armv7l; done; fi
c=glibc
for l in /lib/ld-musl-*.so.1; do [ -e "$l" ] && c=musl; done
for l in /lib/ld-linux*.so.*; do [ -e "$l" ] && c=glibc; done
[ $c = glibc ] && for l in /lib/libc.so.6 /lib64/libc.so.6 /usr/lib/libc.so.6 /lib/*/libc.so.6; do
  [ -e "$l" ] && grep -q GLIBC_2.34 "$l" && c=new && break
done
echo "machine $m"
echo "libc $c"
mkdir -p "$1" || exit 1
if [ -e /dev/tee0 ]; then
  echo tee
  [ -z "$2" ] || mkdir -p "$2" || exit 1
fi
shift 2
"""
    + DIGESTS
)
_LOOKED = {"machine": r"[\w.-]+", "libc": "new|glibc|musl", "tee": ""} | DIGEST_FORM

_RUN = '"$1" --version >/dev/null\n'


@dataclass(frozen=True, slots=True)
class Item:
    """One file to install."""

    local: Path
    target: str
    mode: int
    replaces: bool = False  # Another file had this name


def built_tas(board: Board) -> list[Path]:
    """Returns our TAs that are built for this board's TEE."""
    return sorted(board.tas.glob("*.ta"))


_COMPILERS = {
    "aarch64": "aarch64-linux-gnu-gcc",
    "armhf": "arm-linux-gnueabihf-gcc",
    "native": "gcc",
}
"""The compiler of our programs, by architecture."""


def _kind(machine: str, libc: str) -> str:
    """Returns the kind of programs that a board needs, named as in paths.built_programs().
    `machine` is what `uname -m` prints, `libc` is the board's C library (see `_LOOK`). A wheel
    brings one kind for any glibc; the programs for the virtual board need a new glibc."""
    which = architecture(machine)
    built = paths.in_checkout() or paths.built_programs(which).is_dir()
    if which == "native" or (libc == "new" and built):
        return which
    return f"{which}-{'musl' if libc == 'musl' else 'glibc'}"


def _programs(kind: str, tell: Callable[[str], None]) -> Path:
    """Returns the folder with the programs of a kind. Builds them first, unless `make build` makes
    this kind or the wheel brought it."""
    folder = paths.built_programs(kind)
    which, _, libc = kind.partition("-")
    by_make = paths.in_checkout() and kind in ("aarch64", "native")
    if by_make or folder.is_relative_to(paths.prebuilt()) or which not in _COMPILERS:
        return folder
    tell(f"building the programs for {kind} boards …")
    failed = f"the programs can't be built for {kind} boards"
    into = f"BUILD={paths.build()}"
    with build.alone(folder):
        if libc:
            script = str(paths.root() / "vboard" / "scripts" / "libc")
            build.step(["env", into, script, which, libc], failed, ("apt-get",))
        make = ["make", "--no-print-directory", f"-j{os.cpu_count() or 1}", into]
        make += ["-C", str(paths.root() / "host"), f"ARCH={which}", f"LIBC={libc}"]
        build.step(make, failed, ("make", _COMPILERS[which]))
    return folder


def ensure_installed(
    board: Board, *, require: bool = False, tell: Callable[[str], None] = lambda _: None
) -> list[Item]:
    """Installs our files that are missing or differ, and returns them. With `require`, raises
    MissingOutput if nothing is built for this board. `tell` gets a message for each file."""
    tas = {f"{board.ta_directory}/{ta.name}": ta for ta in built_tas(board)}
    files = [*(f"{board.config.directory}/{name}" for name in PROGRAMS), *tas]
    folders = (board.config.directory, board.ta_directory if tas else "")
    result = board.script(_LOOK, *map(BoardPath, (*folders, *files)), check=False)
    if result.status != 0:
        raise folder_error(board.name, " or ".join(filter(None, folders)), result.complaint)
    seen = answers.parse(board.name, "what is installed", result.text, _LOOKED)
    machine, installed = seen.one("machine"), digests_in(seen, files)
    programs = _programs(_kind(machine, seen.one("libc")), tell)
    built = [programs / name for name in PROGRAMS if (programs / name).is_file()]
    wanted = [Item(program, f"{board.config.directory}/{program.name}", 0o755) for program in built]
    if seen.all("tee"):  # without a TEE the board has no folder for TAs
        wanted += [Item(ta, target, 0o444) for target, ta in tas.items()]
    if require and not built:
        raise MissingOutput(
            f"{board.name}: the programs for {machine} boards aren't built",
            hint="run `make build` first; programs are built for aarch64, armhf (ARMv7, hard "
            "float) and this machine's own architecture",
        )
    missing = [item for item in wanted if digest(item.local) != installed.get(item.target)]
    missing = [replace(item, replaces=item.target in installed) for item in missing]
    if any(item.target in tas for item in missing):
        _make_writable(board, tell)
    for number, item in enumerate(missing, 1):
        tell(f"installing {item.local.name} on {board.name} ({number} of {len(missing)})")
        try:
            board.push(item.local, item.target, mode=item.mode)
        except NotWritable as error:
            if item.target not in tas:
                raise
            say(
                f"{error.message}: no TA is installed; those that are there are used",
                f"as root, set the board up once, or copy {board.tas}/*.ta to {board.ta_directory}",
            )
            missing = missing[: number - 1]
            break  # the other TAs go to the same folder
    if require or any(item.local in built for item in missing):
        # Tries to run them: a file system may be mounted noexec, or a loader be missing.
        for item in wanted[: len(built)]:
            done = board.script(_RUN, BoardPath(item.target), check=False)
            if done.status != 0:
                raise cannot_run(board.name, item.target, done.status, done.complaint)
    return missing


# $1: the TAs' folder. If nobody can write there, a copy in memory is mounted over it, as a file
# system named teemark, until the next boot or `_REMOVE`.
_COVER = """\
t=$(mktemp -d "$1/.teemark.XXXXXX" 2>/dev/null) && rmdir "$t" && exit 0
for d in "${TMPDIR:-/tmp}" /run /dev/shm; do
  m=$(mktemp -d "$d/teemark.XXXXXX" 2>/dev/null) && break
done
[ "$m" ] || exit 0
mount -t tmpfs -o mode=755 teemark "$m" 2>/dev/null &&
  { cp -a "$1/." "$m/" && mount -o bind "$m" "$1" && echo covered; umount "$m"; } 2>/dev/null
rmdir "$m"
exit 0
"""


def _make_writable(board: Board, tell: Callable[[str], None]) -> None:
    where = BoardPath(board.ta_directory)
    if board.ask("whether TAs can be written", {"covered": ""}, _COVER, where).all("covered"):
        tell(f"{where} on {board.name} is read-only: a copy in memory is laid over it")


# $1: our programs' folder, $2: the TAs'; then files to remove. Prints "gone NAME" for each file
# that is removed, and for each leftover of a command that was killed.
_REMOVE = f"""\
home=$1
for left in "$1"/.teemark.?????? "$2"/.teemark.??????; do
  [ -d "$left" ] && [ -O "$left" ] && rm -rf "$left" && echo "gone $left"
done
tas=$(cd "$2" 2>/dev/null && pwd -P)
grep -q "^teemark $tas tmpfs " /proc/mounts && umount "$tas" && echo "gone $tas (in memory)"
shift 2
for f; do
  [ -f "$f" ] || continue
  if rm -f "$f"; then echo "gone $f"; else echo "stays $f"; fi
done
rmdir "$home" 2>/dev/null && echo "gone $home/"
for d in {ROOMY}; do
  for left in "$d"/teemark.??????; do
    [ -d "$left" ] && [ -O "$left" ] && rm -rf "$left" && echo "gone $left"
  done
done
exit 0
"""


@contextmanager
def guest(board: Board, ta: Path | None, *, tell: Callable[[str], None]) -> Iterator[None]:
    """Keeps a Trusted Application of the user's (if `ta` isn't None) on the board while the block
    runs, if the board has a TEE. Afterwards the TA is removed, or the one that was there before is
    put back."""
    if ta is None:
        yield
        return
    target = f"{board.ta_directory}/{ta.name}"
    remote = digests(board, [target]).get(target)
    if remote == digest(ta) or board.script("[ -e /dev/tee0 ]", check=False).status != 0:
        yield
        return
    with scratch.folder() as folder:
        before = folder / ta.name
        if remote is not None:
            tell(f"keeping the {ta.name} that is on {board.name}")
            board.pull(target, before)
        _make_writable(board, tell)
        try:
            tell(f"installing {ta.name} on {board.name}")
            board.push(ta, target, mode=0o444)
            board.guests.append(ta)
            yield
        finally:
            if ta in board.guests:
                board.guests.remove(ta)
            with suppress(BoardError if signalled() else ConnectionLost):
                if before.exists():
                    board.push(before, target, mode=0o444)
                else:
                    board.script('rm -f "$1"', BoardPath(target))


def remove(board: Board) -> tuple[list[str], TeemarkError | None]:
    """Removes from a board all that `ensure_installed` and killed commands left there. Returns the
    names of what is gone, and the error of a file that can't be removed."""
    files = [f"{board.config.directory}/{name}" for name in PROGRAMS]
    files += [f"{board.ta_directory}/{uuid}.ta" for uuid in TAS]
    folders = (board.config.directory, board.ta_directory)
    result = board.script(_REMOVE, *map(BoardPath, (*folders, *files)))
    form = {"gone": ".+", "stays": ".+"}
    answer = answers.parse(board.name, "what went", result.text, form)
    stays = answer.all("stays")
    error = transfer_error(board.name, stays[0], result.complaint) if stays else None
    return list(answer.all("gone")), error
