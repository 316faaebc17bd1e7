# SPDX-License-Identifier: BSD-2-Clause
"""Reads and writes trace.json in a run's folder, and writes folded stacks for other tools."""

from collections import Counter
from pathlib import Path

import msgspec

from teemark.base.errors import DataError, UsageMistake
from teemark.base.files import write_whole
from teemark.base.sanitize import harmless_value, suspect
from teemark.trace.profile import SCHEMA, Function, Trace

FILE = "trace.json"


def render(trace: Trace) -> str:
    return msgspec.json.encode(trace).decode() + "\n"


def write(trace: Trace, directory: Path) -> Path:
    file = directory / FILE
    write_whole(file, render(trace))
    return file


def find(directory: Path) -> Trace | None:
    """Returns the trace in a run's folder; None if the run has none."""
    return read(directory) if (directory / FILE).is_file() else None


def read(place: Path) -> Trace:
    """Returns a run's trace; `place` is the run's folder, or the file itself."""
    file = place / FILE if place.is_dir() else place
    try:
        text = file.read_bytes()
        trace = msgspec.json.decode(text, type=Trace)
        if suspect(text):
            trace = msgspec.convert(harmless_value(msgspec.json.decode(text)), Trace)
    except FileNotFoundError:
        raise UsageMistake(
            f"there is no trace in {place}", hint="`teemark trace CASE…` makes a run with one"
        ) from None
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        why = "nested too deep" if isinstance(error, RecursionError) else error
        raise DataError(f"{file}: can't be read: {why}") from None
    if trace.schema != SCHEMA:
        raise DataError(f"{file}: made by another version of teemark (schema {trace.schema})")
    return trace


def folded(trace: Trace) -> str:
    """Returns stacks for flamegraph.pl and other tools: sorted lines `frame;frame;frame count`.
    Each frame has its exception level. With several cases, the case is the first frame."""
    lines: Counter[str] = Counter()
    for case in trace.cases:
        first = [case.case] if len(trace.cases) > 1 else []
        for stack, node in zip(case.stacks, case.nodes, strict=True):
            if node.self:
                lines[";".join((*first, *map(_frame, stack)))] += node.self
    return "".join(f"{stack} {count}\n" for stack, count in sorted(lines.items()))


def _frame(function: Function) -> str:
    """Returns a function's name without the format's separators."""
    name = function.name.replace(";", ":").replace(" ", "_")
    return f"{name}_[{function.level}]" if function.level else name
