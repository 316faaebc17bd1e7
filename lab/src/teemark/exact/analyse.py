# SPDX-License-Identifier: BSD-2-Clause
"""Makes profiles of a run's windows. A case with several windows is shown by the median one; the
instructions of each are kept."""

import re
import statistics
import struct
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from teemark.base import paths
from teemark.base.errors import DataError
from teemark.base.work import HARNESS
from teemark.boards import ta_kit
from teemark.boards.optee import Optee
from teemark.boards.own_ta import Built
from teemark.run.reader import RunData
from teemark.run.records import Fail
from teemark.trace import tree as trees
from teemark.trace import window as windows
from teemark.trace.components import component, source_lines
from teemark.trace.places import LEVELS, OPAQUE_CORE, Domain, Places, SymbolSources, locate
from teemark.trace.profile import (
    SCHEMA,
    CaseTrace,
    Function,
    SourceLine,
    Trace,
    TracedSample,
    Unnamed,
)
from teemark.trace.symbols import Elf, kallsyms, read_elf
from teemark.trace.window import SAMPLE, TEEHASH_PARTS, Window

CALIBRATION = HARNESS  # The case that calls nothing: it shows the cost of reading the clock

UNNAMED_KEPT = 20
LINES_KEPT = 12  # Source lines kept per function

TimedCall = tuple[Window, int | None]  # A window, and its time by the guest's clock, ns

_LIBRARIES = ("libteec.so.2", "libc.so.6", "libcrypto.so.3", "ld-linux-aarch64.so.1")
_PROGRAMS = ("usr/sbin/tee-supplicant", "usr/bin/busybox", "usr/sbin/dropbear")


def sources(optee: Optee, kernel: str, own_ta: Built | None = None) -> SymbolSources:
    """Returns the files that functions' names are read from; `kernel` is the text of the board's
    /proc/kallsyms, `own_ta` the user's TA."""
    root, built = paths.vboard() / "root", paths.built_programs("aarch64")
    programs = [built / "teebench", built / "teehash"]
    programs += [root / "usr/lib/aarch64-linux-gnu" / name for name in _LIBRARIES]
    programs += [root / name for name in _PROGRAMS]
    tas = []
    ours = optee.kit.ours()
    for file in sorted(ours.rglob("*.elf")):
        name = file.relative_to(ours).parts[0]
        if name != ta_kit.OWN and not file.name.endswith(".stripped.elf"):
            tas.append(read_elf(file, f"TA {name}"))
    if own_ta is not None and own_ta.elf is not None:
        tas.append(read_elf(own_ta.elf, f"TA {own_ta.name}"))
    if optee.ldelf is not None:
        tas.append(read_elf(optee.ldelf, "ldelf"))
    return SymbolSources(
        kernel=kallsyms(kernel),
        tfa=read_elf(optee.tfa),
        core=read_elf(optee.elf) if optee.elf is not None else None,
        core_code=optee.core_code(),
        programs=tuple(read_elf(file.resolve(), file.name) for file in programs if file.exists()),
        tas=tuple(tas),
    )


def signed_ta(file: Path, name: str, folder: Path) -> Elf | None:
    """Returns the program in a signed TA, without names of functions, by way of a file in `folder`;
    None if it is encrypted. The header is `struct shdr` of OP-TEE's signed_hdr.h."""
    data = file.read_bytes()
    _, kind, size, _, digest, signature = struct.unpack_from("<IIIIHH", data)
    start = data.find(b"\x7fELF", struct.calcsize("<IIIIHH") + digest + signature)
    if kind > 1 or start < 0 or start > 4096 or start + size > len(data):
        return None
    elf = folder / f"{file.stem}.elf"
    elf.write_bytes(data[start : start + size])
    return read_elf(elf, name)


def analyse(
    run: RunData,
    files: Sequence[Path],
    named_by: SymbolSources,
    what: str,
    keys: Sequence[str],
    *,
    beginning: bool = False,
) -> Trace:
    """Returns the trace of the run's cases that `keys` names; `files` are the windows in the order
    of recording. With `beginning`, a window that was cut short is used as far as it goes."""
    recorded = [windows.read(file, beginning) for file in files]
    by_case = _by_case(run, [window for window in recorded if window.marker == SAMPLE])
    sound = {case.key for case in run.sound}
    by_case = {key: calls for key, calls in by_case.items() if key in sound}
    by_case |= _by_part(run, [window for window in recorded if window.marker != SAMPLE])
    # A step of teehash stands for all its parts.
    whole = [(key, *(f"{key}/{part}" for part in TEEHASH_PARTS.values())) for key in keys]
    wanted = dict.fromkeys(key for group in whole for key in group)
    cases = [_case(key, by_case[key], named_by) for key in wanted if key in by_case]
    return Trace(schema=SCHEMA, optee=what, cases=tuple(cases))


def _unclear(windows: int, expected: str, fails: Sequence[Fail]) -> DataError:
    failed = ", ".join(fail.case for fail in fails)
    return DataError(
        f"{windows} windows were recorded for {expected}, so that it isn't known which belong "
        "together" + (f": {failed} failed" if failed else ""),
        hint="trace the cases one by one",
    )


def _by_case(run: RunData, recorded: Sequence[Window]) -> Mapping[str, list[TimedCall]]:
    """Returns each case's windows with their time by the guest's clock, from which the cost of
    reading the clock is subtracted."""
    samples = sorted(
        (sample for case in run.cases.values() for sample in case.samples),
        key=lambda sample: sample.seq,
    )
    if len(samples) != len(recorded):
        raise _unclear(len(recorded), f"{len(samples)} samples", run.fails)
    by_case: dict[str, list[tuple[Window, int]]] = defaultdict(list)
    for sample, window in zip(samples, recorded, strict=True):
        by_case[sample.case].append((window, sample.ns))
    if CALIBRATION not in by_case:
        raise DataError(f"the run has no samples of {CALIBRATION}")
    clock_ns = statistics.fmean(ns - window.instructions for window, ns in by_case[CALIBRATION])
    return {
        key: [(call, round(ns - clock_ns)) for call, ns in calls] for key, calls in by_case.items()
    }


def _by_part(run: RunData, recorded: Sequence[Window]) -> Mapping[str, list[TimedCall]]:
    """Returns the windows of teehash's parts, which have no clock times. Each run of teehash begins
    with the window that opens a session."""
    runs: list[list[Window]] = []
    for window in recorded:
        if TEEHASH_PARTS[window.marker] == "open":
            runs.append([])
        if not runs:
            raise DataError(f"{window.file.name}: teehash hashes before it has opened a session")
        runs[-1].append(window)
    if len(runs) != len(run.teehash):
        raise _unclear(len(runs), f"{len(run.teehash)} runs of teehash", run.fails)
    by_part: dict[str, list[TimedCall]] = defaultdict(list)
    for record, parts in zip(run.teehash, runs, strict=True):
        for window in parts:
            by_part[f"{record.case}/{TEEHASH_PARTS[window.marker]}"].append((window, None))
    return by_part


def _case(key: str, calls: Sequence[TimedCall], named_by: SymbolSources) -> CaseTrace:
    middle = sorted(calls, key=lambda pair: pair[0].instructions)[(len(calls) - 1) // 2][0]
    samples = tuple(TracedSample(window.whole, ns) for window, ns in calls)
    return profile_of(key, middle, samples, named_by)


def profile_of(
    key: str, middle: Window, samples: tuple[TracedSample, ...], named_by: SymbolSources
) -> CaseTrace:
    """Returns the profile of a case: the window `middle`, with names and call tree. Raises
    DataError if the tree's instructions aren't all of the window's."""
    places = locate(middle, named_by)
    tree = trees.build(middle, places)
    total = sum(node.self for node in tree.nodes)
    if not total == middle.instructions == int(middle.executed().sum()):
        raise DataError(
            f"{key}: {total} instructions in the call tree, {middle.instructions} in the window"
        )
    known = _mask_known(named_by.core)
    nodes = tree.nodes if known else tuple(replace(node, held=0) for node in tree.nodes)
    return CaseTrace(
        case=key,
        instructions=middle.instructions,
        samples=samples,
        functions=_functions(places, tree, named_by.core),
        nodes=nodes,
        unnamed=_unnamed(middle, places),
        passes=tree.passes,
        lost=tree.lost,
        lines=_lines(middle, places, named_by.core),
        held=tree.held if known else None,
    )


def _mask_known(core: Elf | None) -> bool:
    """Returns true if the core asks for spinlocks before it unmasks interrupts, by which
    trace/held.c knows its mask."""
    return core is not None and bool(core.table.named("have_spinlock"))


def _lines(window: Window, places: Places, core: Elf | None) -> tuple[SourceLine, ...]:
    """Returns the instructions per source line of OP-TEE's core, most first. If an exception cut a
    block short, the block's first instructions ran once more than the rest."""
    at: dict[int, tuple[int, int]] = {}
    executed = window.executed()
    for block in window.used().tolist():
        if core is None or places.blocks["domain"][block] != Domain.CORE:
            continue
        length = int(window.blocks["instructions"][block])
        times, more = divmod(int(executed[block]), length)
        for place in range(length):
            address = int(places.blocks["address"][block]) + 4 * place
            count = at.get(address, (0, 0))[1] + times + (place < more)
            at[address] = int(places.blocks["function"][block]), count
    counts: Counter[tuple[int, str]] = Counter()
    lines = source_lines(core.file, list(at)) if core is not None else {}
    for address, line in lines.items():
        function, count = at[address]
        counts[function, line] += count if re.search(r":\d*[1-9]\d*$", line) else 0
    kept: Counter[int] = Counter()
    kept_lines = []
    for (function, line), count in counts.most_common():
        kept[function] += 1
        if count and kept[function] <= LINES_KEPT:
            kept_lines.append(SourceLine(function, line, count))
    return tuple(kept_lines)


def _functions(places: Places, tree: trees.Tree, core: Elf | None) -> tuple[Function, ...]:
    named = [f.address for f in places.functions if f.domain is Domain.CORE and f.named]
    lines = source_lines(core.file, named) if core is not None else {}
    functions = []
    for function in places.functions:
        part = component(function, lines.get(function.address, "").rpartition(":")[0])
        functions.append(Function(LEVELS[function.domain], part, function.name, function.named))
    # Functions numbered beyond the named ones are the roots of other threads.
    programs: dict[int, Counter[str]] = defaultdict(Counter)
    roots: list[int] = []
    for index, node in enumerate(tree.nodes):
        roots.append(roots[node.parent] if node.parent >= 0 else index)
        root = tree.nodes[roots[index]].function
        if root >= len(places.functions):
            programs[root][""] += 0
            if node.function < len(functions) and functions[node.function].level == "EL0":
                program = functions[node.function].component
                programs[root]["" if program.startswith(("lib", "ld-")) else program] += node.self
    for number in sorted(programs):
        program = max(programs[number].items(), key=lambda item: (item[0] != "", item[1]))[0]
        name = f"[{program}]" if program else "[kernel thread]"
        functions.append(Function("", "another process", name, named=True))
    return tuple(functions)


def _unnamed(window: Window, places: Places) -> tuple[Unnamed, ...]:
    executed = window.executed()
    counts: Counter[tuple[str, str, int]] = Counter()
    for block in window.used().tolist():
        function = places.functions[places.blocks["function"][block]]
        if not function.named and function.name != OPAQUE_CORE:
            level = LEVELS[function.domain]
            address = int(places.blocks["address"][block]) & (1 << 48) - 1
            counts[level, function.module, address] += int(executed[block])
    return tuple(
        Unnamed(level, module, hex(address), count)
        for (level, module, address), count in counts.most_common(UNNAMED_KEPT)
    )
