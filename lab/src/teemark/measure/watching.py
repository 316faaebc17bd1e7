# SPDX-License-Identifier: BSD-2-Clause
"""Runs the user's program on an open board and records its calls into the TEE, by a preloaded
library of ours (host/src/watch). Files that were pushed for the program are removed afterwards."""

import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from teemark.base import paths
from teemark.base.errors import BoardError, DataError, MissingOutput
from teemark.base.sanitize import harmless_line
from teemark.boards import answers
from teemark.boards.board import Board
from teemark.boards.command_lines import script
from teemark.boards.install import guest
from teemark.measure import memory
from teemark.measure.memory import MemoryStep
from teemark.trace import calls as records
from teemark.trace import deaths
from teemark.trace.calls import HEAD, MAGIC, Maps, TeeCall, WatchedCalls
from teemark.trace.deaths import Death

LIBRARY = "libteewatch.so"
ROOM = 100_000
"""Most calls that are kept; each takes 160 bytes in the board's /tmp."""

TRACED_S = 3600.0
"""Time limit of a traced program, seconds. A watched program has none: ssh's keepalive notices a
board that hangs. A board that counts instructions has no keepalive, since its packets would be
counted too."""

_SCRIPT = Path(__file__).with_name("watch.sh").read_text(encoding="utf-8")

EVENT = re.compile(
    r" *(.+)-(\d{1,9})\s+\[\d+\].*?(\d{1,12}\.\d{6}): optee_invoke_fn_(\w+):"
    r".*?[\[(](?:0x)?([\da-f]{1,16})\b"
)
"""Matches a line of the kernel's trace: program, thread, seconds, begin or end, first argument."""

_WAIT = re.compile(
    r" *.+-(\d{1,9})\s+\[\d+\].*?(\d{1,12}\.\d{6}): (wait|done)_(thread|supplicant|lock): "
)
_EVENT_MAX = 512  # Characters of the longest line that is read as one
_OVERRUN = re.compile(r"^overrun: (\d{1,15})$", re.M)

FETCHED_MAX = 256 << 20
"""Bytes of the largest file that is fetched from the board: its calls, output or events."""

_COLLECT = """\
cd "$1" && head -c "$2" <calls >used || exit
for f in calls.maps.*; do
  [ ! -e "$f" ] || { echo "maps ${f##*.}"; cat "$f"; }
done >maps
: >>events
"""
_FETCHED = {"used": "calls.bin", "out": "output.txt", "events": "events.txt", "maps": "maps.txt"}

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
class Wait:
    """A wait of a thread in the kernel's driver, and for what: `thread` (of OP-TEE), `supplicant`,
    or `lock`."""

    thread: int
    begin: int  # ns, of the same clock as the calls
    end: int
    what: str


@dataclass(frozen=True, slots=True)
class Ran:
    watched: WatchedCalls
    status: int
    output: Path  # the file with what the program printed
    maps: dict[int, Maps]  # by process
    legs: tuple[Leg, ...] | None  # None: there were no tracepoints
    overrun: int  # trace events lost for lack of room
    waits: tuple[Wait, ...] = ()
    attached: str = ""  # With `attach`: the process, and how long it was watched
    memory: tuple[MemoryStep, ...] = ()  # the TEE's pools `before` the program and `after` it
    deaths: tuple[Death, ...] = ()  # of TAs meanwhile, where the board's secure console is read


def run(
    board: Board, program: Program, directory: Path, *, windows: bool = False, every: int = 0
) -> Ran:
    """Runs the program to its end; returns its calls. With `windows`, each call is marked for
    QEMU's plugin; of each kind of call, the first two windows, the dearest one and each `every`-th
    are kept. Raises BoardError if none of its processes can be watched."""
    library = built_for(board, LIBRARY)
    directory.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        place = stack.enter_context(board.held_folder("/tmp"))
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
        before = None if windows else memory.now(board, "before")
        log_start, _ = board.secure_log(0)
        # The first signal ends only the program: its calls until then are fetched.
        with board.stream(script(_SCRIPT, *words)) as process:
            status = process.copy(lambda _: None, TRACED_S if windows else None)
        _, log = board.secure_log(log_start)
        pools = (before, memory.now(board, "after")) if before is not None else ()
        # Only the used part of the file is fetched: its end is a hole.
        begun = board.capture(["head", "-c", "24", f"{place}/calls"]).stdout
        calls = int.from_bytes(begun[16:24], "little")
        if len(begun) != 24 or not begun.startswith(MAGIC):
            raise BoardError(f"{board.name}: its record of the calls can't be understood")
        size = HEAD.itemsize + min(calls, ROOM) * records.CALL.itemsize
        board.script(_COLLECT, place, str(size))
        for name, target in _FETCHED.items():
            board.pull(f"{place}/{name}", directory / target, most=FETCHED_MAX)
    try:
        watched = records.read(directory / "calls.bin")
    except DataError as error:
        raise BoardError(f"{board.name}: {error.message}") from None
    output = directory / "output.txt"
    if watched.processes == 0:
        with output.open("rb") as stream:
            stream.seek(max(0, output.stat().st_size - 2000))
            last = stream.read().decode(errors="replace")
        raise BoardError(
            f"{board.name}: no process of {program.argv[0]} could be watched (status {status}): "
            + answers.last_line(last),
            hint="is it on the board (--push FILE brings it)? A library is preloaded: programs "
            "that are static, have capabilities or run as another user don't load it",
        )
    mapped = directory / "maps.txt"
    maps_text = mapped.read_text(encoding="utf-8", errors="replace")
    _, *parts = re.split(r"^maps (\d{1,9})$", maps_text, flags=re.M)
    maps = {int(pid): Maps(text) for pid, text in zip(parts[::2], parts[1::2], strict=True)}
    mapped.unlink()
    traced, lost, waited = _events(directory / "events.txt")
    died = tuple(deaths.deaths(log.decode(errors="replace")))
    return Ran(watched, status, output, maps, traced, lost, waited, memory=pools, deaths=died)


def _events(file: Path) -> tuple[tuple[Leg, ...] | None, int, tuple[Wait, ...]]:
    """Returns the entries into the secure world in a file of the kernel's events (None: there were
    no tracepoints), how many events found no room, and the waits."""
    with file.open(encoding="utf-8", errors="replace") as stream:
        lines = iter(lambda: stream.readline(_EVENT_MAX), "")
        lost, events = list[str](), list[str]()
        for line in lines:
            (lost if line.startswith("overrun: ") else events).append(line)
    if not lost:
        return None, 0, ()
    overrun = sum(int(n) for n in _OVERRUN.findall("".join(lost)))
    return tuple(legs(events)), overrun, tuple(waits(events))


def built_for(board: Board, name: str) -> Path:
    """Returns the file that was built for the board's architecture."""
    kinds = (board.architecture(), f"{board.architecture()}-glibc")  # a wheel has the second kind
    files = [paths.built_programs(kind) / name for kind in kinds]
    found = next((file for file in files if file.is_file()), None)
    if found is None:
        raise MissingOutput(f"there is no {files[0]}", hint="run `make build` first")
    return found


def attach(board: Board, pid: int, seconds: int, directory: Path) -> Ran:
    """Watches a running process and its children by the kernel's tracepoints, until it ends,
    `seconds` are over, or a signal comes. A call ends with the return that completes it."""
    directory.mkdir(parents=True, exist_ok=True)
    file, left = directory / "events.txt", FETCHED_MAX

    def keep(data: bytes) -> None:
        nonlocal left
        left -= len(data)
        if left < 0:
            raise process.error(f"sends more than {FETCHED_MAX >> 20} MiB of events")
        out.write(data)

    with (
        file.open("wb") as out,
        board.stream(script(_SCRIPT, "attach", str(pid), str(seconds))) as process,
    ):
        status = process.copy(keep, None)
    if status:
        why = f"there is no process {pid}" if status == 3 else "the optee tracepoints can't be used"
        raise BoardError(f"{board.name}: {why}", hint="it takes root, tracefs and the optee driver")
    with file.open(encoding="utf-8", errors="replace") as stream:
        times = re.findall(r"^(\d{1,12}\.\d\d) [\d.]+$", stream.read(1000), re.M)
    if len(times) != 2:
        raise BoardError(f"{board.name}: its answer about process {pid} can't be understood")
    begin, end = map(float, times)
    found, lost, waited = _events(file)
    traced = found or ()
    begun, calls = dict[int, int](), list[TeeCall]()
    for leg in traced:
        begun.setdefault(leg.thread, leg.begin)
        if leg.complete:
            place = (begun.pop(leg.thread), leg.end, pid, leg.thread)
            calls.append(TeeCall("call", leg.program, 0, *place, 0, (), 0, 0, None, 0, 0))
    watched = WatchedCalls(tuple(calls), len(begun), 1, 0)
    about = f"{pid} in {end - begin:.1f} s"
    return Ran(watched, 0, file, {}, traced, lost, waited, attached=about)


def legs(lines: Iterable[str]) -> Iterator[Leg]:
    """Yields each entry into the secure world, with its return, in the lines of a kernel trace."""
    begun: dict[str, int] = {}
    for line in lines:
        if (match := EVENT.match(line)) is None:
            continue
        program, thread, at, what, first = match.groups()
        ns = round(float(at) * 1e6) * 1000
        if what == "begin":
            begun[thread] = ns
        elif thread in begun:
            yield Leg(int(thread), begun.pop(thread), ns, int(first, 16), harmless_line(program))


def waits(lines: Iterable[str]) -> Iterator[Wait]:
    """Yields each wait in the kernel's driver in the lines of a kernel trace."""
    begun: dict[tuple[str, str], int] = {}
    for match in filter(None, map(_WAIT.match, lines)):
        thread, at, kind, what = match.groups()
        ns = round(float(at) * 1e6) * 1000
        if kind == "wait":
            begun[thread, what] = ns
        elif (thread, what) in begun:
            yield Wait(int(thread), begun.pop((thread, what)), ns, what)
