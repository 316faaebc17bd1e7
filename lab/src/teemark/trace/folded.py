# SPDX-License-Identifier: BSD-2-Clause
"""Folded stacks for flamegraph.pl and other tools: sorted lines `frame;frame;frame count`. Each
frame has its exception level. With several cases, the case is the first frame."""

from collections import Counter

from teemark.trace.profile import Function, Trace


def frame(function: Function) -> str:
    """Returns a function's name without the format's separators."""
    name = function.name.replace(";", ":").replace(" ", "_")
    return f"{name}_[{function.level}]" if function.level else name


def render(trace: Trace) -> str:
    lines: Counter[str] = Counter()
    for case in trace.cases:
        first = [case.case] if len(trace.cases) > 1 else []
        for stack, node in zip(case.stacks, case.nodes, strict=True):
            if node.self:
                lines[";".join((*first, *map(frame, stack)))] += node.self
    return "".join(f"{stack} {count}\n" for stack, count in sorted(lines.items()))
