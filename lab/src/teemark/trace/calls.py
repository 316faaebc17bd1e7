# SPDX-License-Identifier: BSD-2-Clause
"""Reads a program's calls into the TEE from the file that host/src/watch/watch.c writes (format:
host/include/watch_record.h). Pure, except for reading the file."""

import re
import statistics
import uuid
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from teemark.base.errors import DataError
from teemark.base.sanitize import harmless
from teemark.trace.names import Names

Function = Literal["open", "close", "invoke", "register", "allocate", "release", "call"]
FUNCTIONS: tuple[Function, ...] = get_args(Function)[:-1]  # a "call" is seen by the kernel only

MAGIC = b"TWATCH1"

HEAD = np.dtype(
    [("magic", "S8")]
    + [(name, "<u8") for name in ("room", "calls", "processes", "windows", "owner", "own", "every")]
)
CALL = np.dtype(
    [(name, "<u8") for name in ("begin", "end", "caller", "handle", "size")]
    + [("params", [("size", "<u8"), ("memory", "<u8")], 4), ("uuid", "V16")]
    + [(name, "<u4") for name in ("pid", "tid", "function", "command", "types")]
    + [("result", "<u4"), ("origin", "<u4"), ("window", "<i4"), ("printed", "<u8")]
)

_KINDS = {
    kind: f"{what} {direction}"
    for first, what in ((1, "value"), (5, "temporary"))
    for kind, direction in enumerate(("in", "out", "inout"), first)
}
_PARTIAL = {0xC: "inout", 0xD: "in", 0xE: "out", 0xF: "inout"}


@dataclass(frozen=True, slots=True)
class Param:
    """The type of a call's parameter, never its content."""

    kind: str  # such as "value in", "registered out", "allocated inout"
    size: int | None  # bytes of a buffer; None for a value


@dataclass(frozen=True, slots=True)
class TeeCall:
    function: Function
    ta: str  # UUID; "" if there is none or it is unknown; for "call" the program's name
    command: int
    begin: int  # ns
    end: int
    process: int
    thread: int
    caller: int  # return address of the call in the program
    params: tuple[Param, ...]
    size: int  # bytes of shared memory
    result: int
    window: int | None  # number of its window, if that was kept
    printed: int
    session: int  # Number of the session that the call belongs to; 0: none
    origin: int = 0  # Who gave the result: libteec's return origin

    @property
    def ns(self) -> int:
        return self.end - self.begin


@dataclass(frozen=True, slots=True)
class CallKind:
    """All calls of one function, or of one command of a TA: a row of the report."""

    name: str
    calls: tuple[TeeCall, ...]

    @property
    def total(self) -> int:
        return sum(call.ns for call in self.calls)

    @property
    def median(self) -> float:
        return statistics.median(call.ns for call in self.calls)

    @property
    def dearest(self) -> int:
        return max(call.ns for call in self.calls)


@dataclass(frozen=True)
class WatchedCalls:
    calls: tuple[TeeCall, ...]
    lost: int  # calls for which the file had no room
    processes: int
    own_ns: int  # what watching adds to the time of each call

    @cached_property
    def seconds(self) -> float:
        """Returns the seconds from the beginning of the first call to the end of the last."""
        if not self.calls:
            return 0.0
        return (max(c.end for c in self.calls) - min(c.begin for c in self.calls)) / 1e9

    @property
    def inside(self) -> int:
        """Returns the total nanoseconds of all calls; calls of several threads at the same time are
        added up."""
        return sum(call.ns for call in self.calls)

    def kinds(self, names: Names) -> list[CallKind]:
        """Returns the kinds of calls, the kind with the longest total time first."""
        by_name: dict[str, list[TeeCall]] = defaultdict(list)
        for call in self.calls:
            by_name[name_of(call, names)].append(call)
        kinds = [CallKind(name, tuple(calls)) for name, calls in by_name.items()]
        return sorted(kinds, key=lambda kind: (-kind.total, kind.name))


def name_of(call: TeeCall, names: Names) -> str:
    if call.function in ("register", "allocate", "release"):
        return f"{call.function} shared memory"
    if call.function == "call":
        return f"{call.ta}, thread {call.thread}"
    ta = names.ta(call.ta) if call.ta else "a session from before"
    if call.function == "invoke":
        return f"{ta}: {names.command(call.ta, call.command)}"
    return f"{ta}: {call.function} session"


def read(file: Path) -> WatchedCalls:
    """Reads a file of calls. Raises DataError if the file has another format or is cut off."""
    data = file.read_bytes()
    if len(data) < HEAD.itemsize or not data.startswith(MAGIC + b"\0"):
        raise DataError(f"{file}: no record of a program's calls")
    head: Any = np.frombuffer(data, HEAD, 1)[0]
    total, room = int(head["calls"]), int(head["room"])
    if HEAD.itemsize + min(total, room) * CALL.itemsize > len(data):
        raise DataError(f"{file}: its end is missing")
    rows = np.frombuffer(data, CALL, min(total, room), HEAD.itemsize)
    if (rows["function"] >= len(FUNCTIONS)).any() or (rows["end"] > _LATEST).any():
        raise DataError(f"{file}: has calls of no kind that is known")
    calls = _calls(rows[rows["end"] > 0])
    return WatchedCalls(calls, total - len(calls), int(head["processes"]), int(head["own"]))


def _calls(rows: Any) -> tuple[TeeCall, ...]:
    sessions: dict[tuple[int, int], tuple[int, str]] = {}
    memory: dict[tuple[int, int], str] = {}
    calls: list[TeeCall] = []
    for row in rows[np.argsort(rows["begin"], kind="stable")]:
        function = FUNCTIONS[int(row["function"])]
        key = int(row["pid"]), int(row["handle"])
        session, ta = sessions.get(key, (0, ""))
        if function == "open":
            ta = str(uuid.UUID(bytes_le=bytes(row["uuid"])))
            session = 0 if row["result"] else len(calls) + 1
            sessions[key] = session, ta
        elif function in ("register", "allocate"):
            memory[key] = f"{function}d" if function == "allocate" else "registered"
        mine = function in ("open", "close", "invoke")
        numbers = {name: int(row[name]) for name in _NUMBERS}
        calls.append(
            TeeCall(
                function=function,
                ta=ta if mine else "",
                process=key[0],
                thread=int(row["tid"]),
                params=_params(row, key[0], memory),
                window=int(row["window"]) if row["window"] >= 0 else None,
                session=session if mine else 0,
                **numbers,
            )
        )
    return tuple(calls)


_LATEST = 1 << 62  # ns since the board booted
_NUMBERS = ("command", "begin", "end", "caller", "size", "result", "printed", "origin")


def _params(row: Any, process: int, memory: Mapping[tuple[int, int], str]) -> tuple[Param, ...]:
    params = []
    for index in range(4):
        kind = int(row["types"]) >> 4 * index & 0xF
        size = int(row["params"][index]["size"])
        if kind in _KINDS:
            params.append(Param(_KINDS[kind], size if kind >= 5 else None))
        elif kind in _PARTIAL:
            how = memory.get((process, int(row["params"][index]["memory"])), "registered")
            params.append(Param(f"{how} {_PARTIAL[kind]}", size))
    return tuple(params)


_MAPPED = re.compile(
    r"^([\da-f]{1,16})-([\da-f]{1,16}) ..x. ([\da-f]{1,16}) [\da-f]+:[\da-f]+ +\d+ +(/.*)$", re.M
)


class Maps:
    """A process's /proc/PID/maps, to find the file that an address belongs to."""

    def __init__(self, text: str) -> None:
        self._parts = [
            (int(first, 16), int(end, 16), int(offset, 16), file)
            for first, end, offset, file in _MAPPED.findall(harmless(text))
        ]

    @property
    def files(self) -> list[str]:
        return list(dict.fromkeys(part[3] for part in self._parts))

    def find(self, address: int) -> tuple[str, int] | None:
        """Returns the file mapped at an address, and the offset in it; None if there is none."""
        for first, end, offset, file in self._parts:
            if first <= address < end:
                return file, address - first + offset
        return None
