# SPDX-License-Identifier: BSD-2-Clause
"""Holds traces against a second plugin in the same boot, which shares no code with them (count.c),
for the cases of the plan `trace` and for signatures with many ticks of the timer:

    .venv/bin/python lab/tests/tools/walker.py OUT [CASE…] [--optee …]

It compares the instructions of the call, of the five levels and of each function of kernel, TF-A
and OP-TEE by itself and with all that it calls, and how often it was called. Functions that were
also jumped to (a tail call), or hadn't returned when the call ended, have no figure of the second
kind there: they are counted, and left out. Exits with 1 if one figure differs."""

import argparse
import bisect
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from teemark.base import paths
from teemark.base.console import say
from teemark.base.errors import TeemarkError
from teemark.base.files import write_whole
from teemark.boards import config, qemu, virtual
from teemark.boards.optee import Optee
from teemark.boards.own_ta import Built
from teemark.boards.virtual import VirtualBoard
from teemark.exact import analyse, record
from teemark.plan.file import load_plan
from teemark.trace import store
from teemark.trace.places import SymbolSources
from teemark.trace.profile import CaseTrace
from teemark.wording import fmt

SOURCE = Path(__file__).with_name("count.c")
TICKS = ("sign/ecdsa-p256/tee/none", "sign/ecdsa-p384/tee/none", "sign/ed25519/tee/none")
LEVELS = ("EL0", "EL1", "EL3", "S-EL1", "S-EL0")

Named = tuple[str, str]  # a level and a function


class Names:
    """Functions by address, all names of one address: read by readelf, or from /proc/kallsyms."""

    def __init__(self, functions: dict[int, tuple[int, set[str]]], labels: dict[int, str]) -> None:
        self.functions, self.labels = functions, labels
        self._starts, self._labels = sorted(functions), sorted(labels)

    def at(self, address: int) -> set[str]:
        index = bisect.bisect_right(self._starts, address) - 1
        if index >= 0:
            start = self._starts[index]
            size, names = self.functions[start]
            if not size or address < start + size:
                return names
        index = bisect.bisect_right(self._labels, address) - 1
        return {self.labels[self._labels[index]]} if index >= 0 else set()


def of_elf(file: Path) -> Names:
    said = subprocess.run(
        ["readelf", "-sW", str(file)], capture_output=True, text=True, check=True
    ).stdout
    functions: dict[int, tuple[int, set[str]]] = {}
    labels: dict[int, str] = {}
    for words in (line.split() for line in said.splitlines()):
        if len(words) != 8 or not words[0].endswith(":") or not words[6].isdigit():
            continue
        address, size, kind, name = int(words[1], 16), int(words[2], 0), words[3], words[7]
        if kind == "FUNC":
            old = functions.get(address, (0, set[str]()))
            functions[address] = (max(old[0], size), old[1] | {name})
        elif kind == "NOTYPE" and not name.startswith(("$", ".L", "__")):
            labels[address] = name
    return Names(functions, labels)


def of_kernel(text: str) -> Names:
    functions: dict[int, tuple[int, set[str]]] = {}
    for words in (line.split() for line in text.splitlines()):
        if words[1] in "tTwW" and not words[2].startswith(("$", ".L")):
            old = functions.get(int(words[0], 16), (0, set[str]()))
            functions[int(words[0], 16)] = (0, old[1] | {words[2]})
    return Names(functions, {})


@dataclass
class Counted:
    """A window, as the second plugin counted it, by name."""

    total: int = 0
    levels: Counter[str] = field(default_factory=Counter)
    own: Counter[Named] = field(default_factory=Counter)
    calls: Counter[Named] = field(default_factory=Counter)
    inclusive: Counter[Named] = field(default_factory=Counter)
    jumped: set[Named] = field(default_factory=set)
    unfinished: set[Named] = field(default_factory=set)
    unclear: int = 0


def read(file: Path, names: dict[str, Names], known: set[Named]) -> Counted:
    """`known` are the functions of the trace: it decides which of several names is meant."""
    found = Counted()
    executed: dict[tuple[str, int], int] = {}
    for what, *rest in (line.split() for line in file.read_text().splitlines()):
        if what in ("total", "unclear"):
            setattr(found, what, int(rest[0]))
            continue
        level, address = LEVELS[int(rest[0])], int(rest[1], 16)
        if what == "at":
            executed[level, address] = int(rest[2])
            found.levels[level] += int(rest[2])
        if level not in names:
            continue
        named = {(level, name) for name in names[level].at(address)}
        one = min(named & known or named or {(level, "?")})
        if what == "at":
            found.own[one] += int(rest[2])
            continue
        calls, still, inclusive = (int(word) for word in rest[2:])
        found.calls[one] += calls
        found.inclusive[one] += inclusive
        if still:
            found.unfinished.add(one)
        if executed.get((level, address), calls) != calls:
            found.jumped.add(one)
    return found


@dataclass
class Difference:
    what: str
    trace: int
    counted: int


@dataclass
class Compared:
    case: str
    instructions: int
    ticks: int
    functions: int
    whole: int
    left_out: int
    differences: list[Difference]


def differ(what: str, trace: int, counted: int) -> Iterator[Difference]:
    if trace != counted:
        yield Difference(what, trace, counted)


def compare(case: CaseTrace, counted: Counted, levels: Sequence[str]) -> Compared:
    named = [(function.level, function.name) for function in case.functions]
    own: Counter[Named] = Counter()
    calls: Counter[Named] = Counter()
    inclusive: Counter[Named] = Counter()
    unsure: set[Named] = set()
    below = [node.self for node in case.nodes]
    # By address, as the second plugin counts: functions of one name may call each other, or one may
    # be interrupted while another runs (each file of OP-TEE's core has a get_core_pos of its own).
    above: list[frozenset[int]] = []
    for node in case.nodes:
        key = named[node.function]
        own[key] += node.self
        calls[key] += node.calls
        unsure |= {key} if node.unsure else set()
        over = above[node.parent] if node.parent >= 0 else frozenset[int]()
        above.append(over | {node.function})
    for index in range(len(case.nodes) - 1, 0, -1):
        if case.nodes[index].parent >= 0:
            below[case.nodes[index].parent] += below[index]
    for index, node in enumerate(case.nodes):
        key = named[node.function]
        if node.parent < 0 or node.function not in above[node.parent]:
            inclusive[key] += below[index]
    found = [*differ("all", case.instructions, counted.total)]
    for level in LEVELS:
        found += differ(level, case.levels().get(level, 0), counted.levels[level])
    asked = [key for key in {*own, *counted.own} if key[0] in levels]
    for key in sorted(asked):
        found += differ(f"{key[1]} by itself", own[key], counted.own[key])
    left = counted.jumped | counted.unfinished | unsure
    whole = sorted(key for key in counted.calls if key in own and key not in left)
    for key in whole:
        found += differ(f"{key[1]}, calls", calls[key], counted.calls[key])
        found += differ(f"{key[1]} with all it calls", inclusive[key], counted.inclusive[key])
    if counted.unclear:
        found.append(Difference("calls whose target isn't known", 0, counted.unclear))
    ticks, _ = case.interrupts()
    return Compared(
        case.case, case.instructions, ticks, len(asked), len(whole),
        len(counted.calls) - len(whole), found,
    )  # fmt: skip


def vectors(kernel: str, optee: Optee) -> Iterator[str]:
    at = {words[2]: int(words[0], 16) for words in (line.split() for line in kernel.splitlines())}
    for name, size in (("vectors", 0x800), ("__bp_harden_el1_vectors", 0x2000)):
        if name in at:
            yield f"vectors={at[name]:#x}-{at[name] + size:#x}"
    if optee.elf is not None:
        for start, (size, names) in of_elf(optee.elf).functions.items():
            if "thread_excp_vect" in names:
                yield f"vectors={start:#x}-{start + max(size, 0x800):#x}"


def measure(out: Path, keys: Sequence[str], optee: str) -> list[Compared]:
    file = record.with_optee(config.find("qemu-v8-icount"), optee, ())
    with VirtualBoard(file) as board:
        kernel, firmware = board.capture(["cat", "/proc/kallsyms"]).text, board.optee
    if firmware.elf is None:
        raise TeemarkError("this OP-TEE has no symbols", hint="--optee source has them")
    with tempfile.TemporaryDirectory(prefix="count-", dir=paths.build()) as folder:
        plugin = Path(folder) / "count.so"
        subprocess.run(
            ["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-DQEMU_API=1", "-fPIC",
             "-shared", "-fvisibility=hidden", str(SOURCE), "-o", str(plugin)],
            check=True,
        )  # fmt: skip
        code = firmware.core_code()
        options = [str(plugin), f"dir={folder}", f"core={code.stop:#x}"]
        options += vectors(kernel, firmware)
        both = ["-plugin", ",".join(options)]
        named_by = analyse.sources
        names: dict[str, Names] = {}

        def of_this_boot(optee: Optee, kernel: str, own: Built | None = None) -> SymbolSources:
            # The kernel's modules are elsewhere in each boot.
            names["EL1"] = of_kernel(kernel)
            return named_by(optee, kernel, own)

        def with_both(*words: Any) -> list[str]:
            return [*qemu.command(*words), *both]

        with (
            patch.object(virtual, "command", with_both),
            patch.object(record, "sources", of_this_boot),
        ):
            traced = record.record(file, keys, out, 1)
        if traced.trace is None:
            raise traced.error or TeemarkError("there is no trace")
        counts = sorted(Path(folder).glob("count-*"), key=lambda one: int(one.name[6:]))
        for one in counts:
            write_whole(out / one.name, one.read_text())
    samples = sorted(
        (sample for case in traced.run.cases.values() for sample in case.samples),
        key=lambda sample: sample.seq,
    )
    windows = dict(zip((sample.case for sample in samples), counts, strict=True))
    names |= {"EL3": of_elf(firmware.tfa), "S-EL1": of_elf(firmware.elf)}
    found = []
    for case in store.read(out).cases:
        known = {(function.level, function.name) for function in case.functions}
        counted = read(out / windows[case.case].name, names, known)
        found.append(compare(case, counted, tuple(names)))
    return found


def show(found: Sequence[Compared]) -> None:
    say("| case | instructions | ticks | functions | with all they call | not compared | differ |")
    say("|---|--:|--:|--:|--:|--:|--:|")
    for one in found:
        figures = (one.instructions, one.ticks, one.functions, one.whole, one.left_out)
        cells = " | ".join(map(fmt.count, figures))
        say(f"| {one.case} | {cells} | {len(one.differences)} |")
    for one in found:
        for difference in one.differences[:20]:
            say(f"{one.case}: {difference.what}: {difference.trace} in the trace, "
                f"{difference.counted} counted")  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", metavar="OUT", type=Path)
    parser.add_argument("cases", metavar="CASE", nargs="*")
    parser.add_argument("--optee", default="source")
    asked = parser.parse_args(arguments)
    keys = asked.cases or [*(case.key for case in load_plan("trace").cases), *TICKS]
    try:
        found = measure(asked.out, keys, asked.optee)
    except TeemarkError as error:
        print(f"walker: {error.message}", file=sys.stderr)
        return 2
    show(found)
    return 1 if any(one.differences for one in found) else 0


if __name__ == "__main__":
    os.environ.setdefault("TEEMARK_APT_OPTIONS", "Acquire::Check-Valid-Until=false")
    sys.exit(main(sys.argv[1:]))
