# SPDX-License-Identifier: BSD-2-Clause
"""Traces any program's calls into the TEE instruction by instruction, on the exact board: with
QEMU's plugin, and a library that is preloaded into the program."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from teemark.base import paths
from teemark.base.console import say, working
from teemark.base.errors import DataError
from teemark.boards.config import BoardFile
from teemark.boards.ta_kit import Kit
from teemark.exact.analyse import profile_of, signed_ta, sources
from teemark.exact.record import BUILDING, recording
from teemark.measure import watching
from teemark.measure.watching import Program, Ran
from teemark.trace import calls, names, store, window
from teemark.trace.calls import WatchedCalls
from teemark.trace.names import Names
from teemark.trace.places import SymbolSources
from teemark.trace.profile import SCHEMA, CaseTrace, Trace, TracedSample
from teemark.trace.symbols import read_elf
from teemark.wording import fmt

DISK = 2 << 30
"""Most bytes of windows that are written; later calls are counted, but have no functions."""


@dataclass(frozen=True, slots=True)
class TracedProgram:
    ran: Ran
    trace: Trace
    names: Names
    unread: tuple[str, ...]  # Calls whose window can't be used, each with the reason


def known_names(kit: Kit, files: Sequence[Path]) -> Names:
    """Returns names from the headers of OP-TEE's kit and source TAs, and from the user's files."""
    headers = sorted((kit.folder / "include").glob("*.h"))
    tree = sorted((paths.optee_builds() / "src/tree/ta").glob("*/include/*.h"))
    return names.read([names.KNOWN, *headers, *tree, *files])


def record(
    file: BoardFile, program: Program, directory: Path, files: Sequence[Path], every: int
) -> TracedProgram:
    """Runs the program on a fresh boot, and keeps its calls and their trace in `directory`. `files`
    name its TAs and commands; for `every` see watching.run()."""
    with recording(file, f"room={DISK}") as (board, folder):
        with working(BUILDING):
            optee = board.optee
        # OP-TEE accepts only TAs of its own version.
        tas = () if optee.elf is None else tuple(sorted(optee.images.parent.glob("ta/*/*.ta")))
        program = replace(program, push=(*tas, *program.push))
        with working(f"running {program.argv[0]} on {board.name} …"), board:
            ran = watching.run(board, program, directory, windows=True, every=every)
            kernel = board.capture(["cat", "/proc/kallsyms"]).text
        kit_names = known_names(optee.kit, files)
        with working("reading the trace …"):
            named_by = sources_of(sources(optee, kernel), ran, program, folder)
            cases, unread = _cases(ran, kit_names, named_by, folder)
    trace = Trace(schema=SCHEMA, optee=optee.what, cases=tuple(cases.values()))
    store.write(trace, directory)
    return TracedProgram(
        replace(ran, watched=awake(ran.watched, cases)), trace, kit_names, tuple(unread)
    )


def awake(watched: WatchedCalls, cases: Mapping[int, CaseTrace]) -> WatchedCalls:
    """Returns the calls; traced ones without the time in which the guest slept. It mostly waits for
    its disk, for as long as this machine's load makes it. `cases` are by window number."""
    slept = {window: case.instructions for window, case in cases.items() if case.slept}
    awake_calls = (
        call if call.window not in slept else replace(call, end=call.begin + slept[call.window])
        for call in watched.calls
    )
    return replace(watched, calls=tuple(awake_calls))


def _cases(
    ran: Ran, kit_names: Names, named_by: SymbolSources, folder: Path
) -> tuple[dict[int, CaseTrace], list[str]]:
    cases, unread = {}, []
    windows = {call.window: call for call in ran.watched.calls if call.window is not None}
    for number, call in sorted(windows.items()):
        key = f"{calls.name_of(call, kit_names)} ({ran.watched.calls.index(call) + 1})"
        try:
            recorded = window.read(folder / f"window-{number}")
            samples = (TracedSample(recorded.instructions, None),)
            cases[number] = profile_of(key, recorded, samples, named_by)
        except (DataError, OSError) as error:
            unread.append(f"{key}: {error}")
        (folder / f"window-{number}").unlink(missing_ok=True)
    return cases, unread


def sources_of(named_by: SymbolSources, ran: Ran, program: Program, folder: Path) -> SymbolSources:
    """Returns `named_by` with the files that the program's processes had mapped, and with the TAs
    that it called."""
    root = paths.vboard() / "root"
    preloaded = paths.built_programs("aarch64") / watching.LIBRARY
    pushed = {file.name: file for file in (*program.push, preloaded)}
    mine = {elf.file for elf in named_by.programs}
    programs = []
    for name in sorted({name for maps in ran.maps.values() for name in maps.files}):
        file = pushed.get(Path(name).name, root / name.lstrip("/"))
        if file.is_file() and file.resolve() not in mine:
            programs.append(read_elf(file.resolve(), Path(name).name))
    tas = []
    for ta in sorted({call.ta for call in ran.watched.calls if call.ta}):
        file = pushed.get(f"{ta}.ta", root / "usr/lib/optee_armtz" / f"{ta}.ta")
        if file.with_suffix(".elf").is_file():
            tas.append(read_elf(file.with_suffix(".elf"), f"TA {ta[:8]}"))
        elif file.is_file() and (elf := signed_ta(file, f"TA {ta[:8]}", folder)) is not None:
            tas.append(elf)
    # The TA loader is tried last.
    return replace(
        named_by, programs=named_by.programs + tuple(programs), tas=(*tas, *named_by.tas)
    )


def subtests(ran: Ran) -> Iterator[tuple[str, int, int]]:
    """Yields each subtest of xtest with the number and the total time of its calls; nothing for
    other programs. A call belongs to the last subtest whose line was printed before the call."""
    place, starts, names = 0, [0], ["before the first"]
    for line in ran.output.open("rb"):
        words = line.decode(errors="replace").split()
        if len(words) > 1 and words[0] == "o":
            starts.append(place)
            names.append(words[1])
        place += len(line)
    for name, start, end in zip(names, starts, [*starts[1:], place + 1], strict=True):
        mine = [call for call in ran.watched.calls if start <= call.printed < end]
        if mine and len(names) > 1:
            yield name, len(mine), sum(call.ns for call in mine)


def say_unread(traced: TracedProgram) -> None:
    for line in traced.unread:
        say(f"teemark: {line}")
    if traced.ran.watched.lost:
        lost = fmt.plural(traced.ran.watched.lost, "call")
        say(f"teemark: {lost} found no room: the first {fmt.count(watching.ROOM)} are shown")
