# SPDX-License-Identifier: BSD-2-Clause
"""Analyses a made-up window of 700 million instructions, and prints CPU time and memory:

    .venv/bin/python lab/tests/tools/limits.py FOLDER     a gigabyte is written there, and removed

Exits with 1 where it takes more than 10 s of CPU or 600 MB."""

import resource
import struct
import sys
from pathlib import Path

import numpy as np

from teemark.trace import tree, window
from trace_windows import BL, RET, B, Flag, Machine

INSTRUCTIONS, CPU_S, MEMORY_MB = 700_000_000, 10, 600
HEAD = struct.Struct("<8s6Q")


def program() -> Machine:
    """A loop: a function calls another, which calls a third."""
    machine = Machine()
    machine.run("main", 0x1000, BL, size=6)
    machine.run("f", 0x2000, BL, size=5, flags=Flag.ENTRY)
    machine.run("g", 0x3000, RET, size=6, flags=Flag.ENTRY)
    machine.run("f", 0x2014, RET)
    machine.run("main", 0x1018, B, size=7)
    return machine


def write(machine: Machine, file: Path) -> None:
    """Writes a window in which the program runs again and again."""
    data = machine.recorder.write(file).read_bytes()
    head = list(HEAD.unpack_from(data))
    steps = head[3]
    once = data[HEAD.size : HEAD.size + steps * window.STEP.itemsize]
    a_turn = int(np.frombuffer(once, window.STEP)["instructions"].sum())
    turns = INSTRUCTIONS // a_turn
    head[3:5] = steps * turns, a_turn * turns
    with file.open("wb") as stream:
        stream.write(HEAD.pack(*head))
        for left in range(turns, 0, -100_000):
            stream.write(once * min(left, 100_000))
        stream.write(data[HEAD.size + len(once) :])


def analyse(machine: Machine, file: Path) -> None:
    read = window.read(file)
    built = tree.build(read, machine.located())
    assert len(read.used()) == 5
    assert sum(node.self for node in built.nodes) == int(read.executed().sum()) == read.instructions


def main(words: list[str]) -> int:
    if len(words) != 1:
        print("usage: limits.py FOLDER", file=sys.stderr)
        return 2
    machine, file = program(), Path(words[0]) / "window"
    write(machine, file)
    try:
        analyse(machine, file)
    finally:
        file.unlink()
    uses = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = sum(one.ru_utime + one.ru_stime for one in uses)
    memory = max(one.ru_maxrss for one in uses) >> 10
    print(f"{INSTRUCTIONS:,} instructions: {seconds:.1f} s of CPU, {memory} MB")
    return 1 if seconds > CPU_S or memory > MEMORY_MB else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
