# SPDX-License-Identifier: BSD-2-Clause
"""The call tree of a window, which has millions of steps: trace/walk.c (C) makes it."""

import struct
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from teemark.base import paths
from teemark.base.errors import DataError, MissingOutput
from teemark.trace.places import LEVELS, Domain, Places
from teemark.trace.profile import Held, Link, Node, Stretch
from teemark.trace.window import Window

PROGRAM = "teetrace-walk"

_HEAD = struct.Struct("<8sQQ")
_KINDS = ("jump", "call", "return", "ERET", "SVC", "SMC", "interrupt or fault")


@dataclass(frozen=True, slots=True)
class Tree:
    nodes: tuple[Node, ...]
    """`function` of a node is an index of Places.functions; higher numbers: other threads'
    roots."""
    passes: tuple[Link, ...]
    lost: tuple[Link, ...]
    held: Held


def build(window: Window, places: Places) -> Tree:
    program = paths.trace_tools() / PROGRAM
    if not program.is_file():
        raise MissingOutput(f"there is no {program}", hint="run `make trace` first")
    with tempfile.NamedTemporaryFile(prefix="teemark-") as table:
        table.write(_HEAD.pack(b"TTABLE1\0", len(places.blocks), len(places.functions)))
        table.write(places.blocks.tobytes())
        table.flush()
        done = subprocess.run(
            [str(program), str(window.file), table.name], capture_output=True, check=False
        )
    if done.returncode != 0:
        raise DataError(done.stderr.decode(errors="replace").strip() or f"{program} failed")
    return _parse(done.stdout.decode(), [function.name for function in places.functions])


def _parse(text: str, names: Sequence[str]) -> Tree:
    nodes, passes, lost, sizes, stretches = [], [], [], [], []
    held = 0, 0
    for line in text.splitlines():
        what, *words = line.split()
        numbers = [int(word) for word in words]
        if what == "node":
            parent, function, cost, calls, unsure, held_off = numbers
            nodes.append(Node(parent, function, cost, calls, bool(unsure), held_off))
        elif what == "held":
            held = numbers[0], numbers[1]
        elif what == "size":
            sizes.append((numbers[0], numbers[1], numbers[2]))
        elif what == "stretch":
            stretches.append(Stretch(*numbers))
        elif what != "end":
            origin, target, kind, count = numbers
            if what == "pass":
                levels = LEVELS[Domain(origin)], LEVELS[Domain(target)]
                passes.append(Link(*levels, _KINDS[kind], count))
            else:
                lost.append(Link(names[origin], names[target], _KINDS[kind], count))
    whole = Held(*held, tuple(sizes), tuple(stretches))
    return Tree(tuple(nodes), tuple(passes), tuple(lost), whole)
