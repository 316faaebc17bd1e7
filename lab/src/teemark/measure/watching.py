# SPDX-License-Identifier: BSD-2-Clause
"""A program of the user's on an open board, with its calls into the TEE kept: a library of ours is
preloaded into it (host/src/watch). What was pushed for it is taken away again."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from teemark.base import paths
from teemark.base.errors import BoardError, MissingOutput
from teemark.boards.board import Board
from teemark.boards.install import guest
from teemark.trace import calls as records
from teemark.trace.calls import HEAD, MAGIC, Maps, Watched

LIBRARY = "libteewatch.so"
ROOM = 100_000
"""Calls that are kept; a record takes 160 bytes of the board's /tmp."""

_RUN = """\
d=$1; trace=$2; shift 2
dd if=/dev/null of="$d/calls" bs=1 seek="$1" 2>/dev/null || exit 125
shift
i=
if [ "$trace" = events ]; then
  t=/sys/kernel/tracing
  [ -e $t/trace_clock ] || mount -t tracefs nodev $t 2>/dev/null
  i=$t/instances/teemark-$$
  if mkdir $i 2>/dev/null && echo mono >$i/trace_clock &&
    echo 8192 >$i/buffer_size_kb && echo 1 >$i/events/optee/enable; then :; else
    rmdir $i 2>/dev/null; i=
  fi
fi 2>/dev/null
export PATH="$d/bin:$PATH"
LD_LIBRARY_PATH="$d/bin${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"; export LD_LIBRARY_PATH
[ "$trace" = windows ] && TEEMARK_WATCH_TRACE=1 && export TEEMARK_WATCH_TRACE
( export TEEMARK_WATCH="$d/calls" LD_PRELOAD="$d/libteewatch.so"; exec "$@" ) >"$d/out" 2>&1
status=$?
if [ -n "$i" ]; then
  echo 0 >$i/tracing_on
  grep -h overrun $i/per_cpu/cpu*/stats >"$d/overrun"
  grep optee_invoke_fn $i/trace >"$d/events"
  echo 0 >$i/events/optee/enable; rmdir $i
fi 2>/dev/null
exit $status
"""

_EVENT = re.compile(
    r"-(\d+)\s+\[\d+\].*?(\d+)\.(\d{6}): optee_invoke_fn_(begin|end):.*?[\[(]([^\])]*)[\])]"
)

RPCS = {0: "memory", 2: "memory", 4: "interrupts", 5: "commands"}


@dataclass(frozen=True, slots=True)
class Program:
    argv: tuple[str, ...]
    push: tuple[Path, ...] = ()
    """Programs and libraries, found by their names, and TAs (UUID.ta)."""


@dataclass(frozen=True, slots=True)
class Leg:
    """One way into the secure world and back, by the kernel's tracepoints."""

    thread: int
    begin: int  # ns, of the same clock as the calls
    end: int
    returned: int

    @property
    def complete(self) -> bool:
        return self.returned >> 16 != 0xFFFF or self.returned & 0xFFFF == 0xFFFF

    @property
    def rpc(self) -> str:
        return "" if self.complete else RPCS.get(self.returned & 0xFFFF, "others")


@dataclass(frozen=True, slots=True)
class Ran:
    watched: Watched
    status: int
    output: str
    maps: dict[int, Maps]  # by process
    legs: tuple[Leg, ...] | None  # None: there were no tracepoints
    overrun: int  # events that found no room


def run(
    board: Board, program: Program, directory: Path, *, windows: bool = False, every: int = 0
) -> Ran:
    """Runs the program to its end. `windows`: with marks for QEMU's plugin; of each kind of call
    each `every`-th window is kept beside the first two and the dearest. BoardError if none of
    its processes can be watched."""
    library = paths.built_programs(board.architecture()) / LIBRARY
    if not library.is_file():
        raise MissingOutput(f"there is no {library}", hint="run `make build` first")
    directory.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        place = stack.enter_context(board.folder("/tmp"))
        board.script('mkdir "$1"/bin', place)
        board.push(library, f"{place}/{LIBRARY}", mode=0o755)
        for file in program.push:
            if file.suffix == ".ta":
                stack.enter_context(guest(board, file, tell=lambda _: None))
            else:
                board.push(file, f"{place}/bin/{file.name}", mode=0o755)
        head = bytearray(HEAD.itemsize)
        head[:8] = MAGIC.ljust(8, b"\0")
        head[8:16] = ROOM.to_bytes(8, "little")
        head[56:64] = every.to_bytes(8, "little")
        board.script('cat >"$1"', f"{place}/calls", stdin=bytes(head))
        size = HEAD.itemsize + ROOM * records.CALL.itemsize
        how = "windows" if windows else "events"
        status = board.script(_RUN, place, how, str(size), *program.argv, check=False).status
        # The end of the file is a hole: nothing was called there.
        made = int.from_bytes(
            board.capture(["head", "-c", "24", f"{place}/calls"]).stdout[16:24], "little"
        )
        size = HEAD.itemsize + min(made, ROOM) * records.CALL.itemsize
        data = board.capture(["head", "-c", str(size), f"{place}/calls"]).stdout
        (directory / "calls.bin").write_bytes(data)
        texts = {
            name: board.script(f'cat "$1"/{name} 2>/dev/null', place, check=False)
            for name in ("out", "events", "overrun")
        }
        maps = {
            int(name): Maps(board.capture(["cat", f"{place}/calls.maps.{name}"]).text)
            for name in board.script('cd "$1" && ls | sed -n s/^calls.maps.//p', place).text.split()
        }
    (directory / "output.txt").write_bytes(texts["out"].stdout)
    (directory / "events.txt").write_bytes(texts["events"].stdout)
    watched = records.read(directory / "calls.bin")
    if watched.processes == 0:
        raise BoardError(
            f"{board.name}: no process of {program.argv[0]} could be watched (status {status}):\n"
            + texts["out"].text[-2000:],
            hint="is it on the board (--push FILE brings it)? A library is preloaded: programs "
            "that are static, have capabilities or run as another user don't load it",
        )
    traced = tuple(legs(texts["events"].text)) if texts["overrun"].status == 0 else None
    overrun = sum(int(word) for word in re.findall(r"overrun: (\d+)", texts["overrun"].text))
    return Ran(watched, status, texts["out"].text, maps, traced, overrun)


def legs(text: str) -> Iterator[Leg]:
    """Yields the ways into the secure world that the kernel's trace shows."""
    begun: dict[int, int] = {}
    for found in _EVENT.finditer(text):
        thread = int(found[1])
        at = (int(found[2]) * 1_000_000 + int(found[3])) * 1000
        if found[4] == "begin":
            begun[thread] = at
        elif thread in begun:
            words = re.findall(r"[0-9a-f]+", found[5].replace("0x", ""))
            yield Leg(thread, begun.pop(thread), at, int(words[0], 16) if words else 0)
