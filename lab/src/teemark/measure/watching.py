# SPDX-License-Identifier: BSD-2-Clause
"""Runs the user's program on an open board and records its calls into the TEE, by a preloaded
library of ours (host/src/watch). Files that were pushed for the program are removed afterwards."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from teemark.base import paths
from teemark.base.errors import BoardError, MissingOutput
from teemark.base.files import write_whole
from teemark.base.harmless import harmless_line
from teemark.boards.board import Board
from teemark.boards.command_lines import script
from teemark.boards.install import guest
from teemark.trace import calls as records
from teemark.trace.calls import HEAD, MAGIC, Maps, TeeCall, WatchedCalls

LIBRARY = "libteewatch.so"
ROOM = 100_000
"""Most calls that are kept; each takes 160 bytes in the board's /tmp."""

TRACED_S = 3600.0
"""Time limit of a traced program, seconds. A watched program has none: ssh's keepalive notices a
board that hangs. A board that counts instructions has no keepalive, since its packets would be
counted too."""

_SCRIPT = Path(__file__).with_name("watch.sh").read_text(encoding="utf-8")

_EVENT = re.compile(
    r"^ *(.+)-(\d+)\s+\[\d+\].*?(\d+\.\d{6}): optee_invoke_fn_(\w+):.*?[\[(](?:0x)?([\da-f]+)", re.M
)
_OVERRUN = re.compile(r"^overrun: (\d+)", re.M)

RPCS = {0: "memory", 2: "memory", 4: "interrupts", 5: "commands"}


@dataclass(frozen=True, slots=True)
class Program:
    argv: tuple[str, ...]
    push: tuple[Path, ...] = ()
    """Files to push: programs and libraries, which are found by their names, and TAs (UUID.ta)."""


@dataclass(frozen=True, slots=True)
class Leg:
    """One entry into the secure world and its return, as the kernel's tracepoints show them."""

    thread: int
    begin: int  # ns, of the same clock as the calls
    end: int
    returned: int
    program: str  # the thread's name

    @property
    def complete(self) -> bool:
        return self.returned >> 16 != 0xFFFF or self.returned & 0xFFFF == 0xFFFF

    @property
    def rpc(self) -> str:
        return "" if self.complete else RPCS.get(self.returned & 0xFFFF, "others")


@dataclass(frozen=True, slots=True)
class Ran:
    watched: WatchedCalls
    status: int
    output: str
    maps: dict[int, Maps]  # by process
    legs: tuple[Leg, ...] | None  # None: there were no tracepoints
    overrun: int  # trace events lost for lack of room
    attached: str = ""  # With `attach`: the process, and how long it was watched


def run(
    board: Board, program: Program, directory: Path, *, windows: bool = False, every: int = 0
) -> Ran:
    """Runs the program to its end; returns its calls. With `windows`, each call is marked for
    QEMU's plugin; of each kind of call, the first two windows, the dearest one and each `every`-th
    are kept. Raises BoardError if none of its processes can be watched."""
    kinds = (board.architecture(), f"{board.architecture()}-glibc")  # a wheel has the second kind
    libraries = [paths.built_programs(kind) / LIBRARY for kind in kinds]
    library = next((file for file in libraries if file.is_file()), None)
    if library is None:
        raise MissingOutput(f"there is no {libraries[0]}", hint="run `make build` first")
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
        head = np.zeros((), HEAD)
        head["magic"], head["room"], head["every"] = MAGIC, ROOM, every
        board.script('cat >"$1"', f"{place}/calls", stdin=head.tobytes())
        size = HEAD.itemsize + ROOM * records.CALL.itemsize
        how = "windows" if windows else "events"
        words = ("run", place, how, str(size), *program.argv)
        # The first signal ends only the program: its calls until then are fetched.
        with board.stream(script(_SCRIPT, *words)) as process:
            status = process.copy(lambda _: None, TRACED_S if windows else None)
        # Only the used part of the file is read: its end is a hole.
        begun = board.capture(["head", "-c", "24", f"{place}/calls"]).stdout
        made = int.from_bytes(begun[16:24], "little")
        size = HEAD.itemsize + min(made, ROOM) * records.CALL.itemsize
        data = board.capture(["head", "-c", str(size), f"{place}/calls"]).stdout
        (directory / "calls.bin").write_bytes(data)
        out, seen = (
            board.script(f'cat "$1"/{name} 2>/dev/null', place, check=False)
            for name in ("out", "events")
        )
        maps = {
            int(name): Maps(board.capture(["cat", f"{place}/calls.maps.{name}"]).text)
            for name in board.script('cd "$1" && ls | sed -n s/^calls.maps.//p', place).text.split()
        }
    (directory / "output.txt").write_bytes(out.stdout)
    (directory / "events.txt").write_bytes(seen.stdout)
    watched = records.read(directory / "calls.bin")
    if watched.processes == 0:
        raise BoardError(
            f"{board.name}: no process of {program.argv[0]} could be watched (status {status}):\n"
            + out.text[-2000:],
            hint="is it on the board (--push FILE brings it)? A library is preloaded: programs "
            "that are static, have capabilities or run as another user don't load it",
        )
    traced = tuple(legs(seen.text)) if seen.status == 0 else None
    lost = sum(map(int, _OVERRUN.findall(seen.text)))
    return Ran(watched, status, out.text, maps, traced, lost)


def attach(board: Board, pid: int, seconds: int, directory: Path) -> Ran:
    """Watches a running process and its children by the kernel's tracepoints, until it ends,
    `seconds` are over, or a signal comes. A call ends with the return that completes it."""
    with board.stream(script(_SCRIPT, "attach", str(pid), str(seconds))) as process:
        text = b"".join(process.chunks()).decode(errors="replace")
        status = process.wait()
    if status:
        why = f"there is no process {pid}" if status == 3 else "the optee tracepoints can't be used"
        raise BoardError(f"{board.name}: {why}", hint="it takes root, tracefs and the optee driver")
    begin, end = map(float, re.findall(r"^([\d.]+) [\d.]+$", text, re.M))
    write_whole(directory / "events.txt", text)
    traced, begun, made = tuple(legs(text)), dict[int, int](), list[TeeCall]()
    for leg in traced:
        begun.setdefault(leg.thread, leg.begin)
        if leg.complete:
            place = (begun.pop(leg.thread), leg.end, pid, leg.thread)
            made.append(TeeCall("call", leg.program, 0, *place, 0, (), 0, 0, None, 0, 0))
    watched = WatchedCalls(tuple(made), len(begun), 1, 0)
    lost = sum(map(int, _OVERRUN.findall(text)))
    return Ran(watched, 0, "", {}, traced, lost, f"{pid} in {end - begin:.1f} s")


def legs(text: str) -> Iterator[Leg]:
    """Yields each entry into the secure world, with its return, in the text of a kernel trace."""
    begun: dict[str, int] = {}
    for program, thread, at, what, first in _EVENT.findall(text):
        ns = round(float(at) * 1e6) * 1000
        if what == "begin":
            begun[thread] = ns
        elif thread in begun:
            yield Leg(int(thread), begun.pop(thread), ns, int(first, 16), harmless_line(program))
