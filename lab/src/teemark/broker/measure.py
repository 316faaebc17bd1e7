# SPDX-License-Identifier: BSD-2-Clause
"""What a message costs a broker: CPU time of its process, and the time to each subscriber."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from teemark.base.errors import BoardError
from teemark.broker.desk import PLACE, Desk

READERS = 32
SIZES = (64, 1024, 4096, 16384, 65536, 262144)
MESSAGES = 7
"""Of each case; three more warm up."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to pass on a message."""

    name: str
    title: str
    options: Mapping[str, str]
    tz: bool = True


WAYS = (
    Way("plain", "no plugin, not sealed", {}, tz=False),
    Way("normal", "sealed anew in the broker's memory", {"keys": PLACE}),
    Way("tee", "sealed anew in the TEE, one call a message", {}),
    Way("tee-each", "sealed anew in the TEE, a call for each reader", {"expect": "false"}),
    Way("tee-c", "sealed anew in the TEE by portable C", {"extensions": "false"}),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One case, in nanoseconds (on a board that counts, instructions). `first` is the CPU time of
    its first message, `cpu` that of each later one; `latency` has a value a copy."""

    way: str
    readers: int
    size: int
    qos: int
    first: tuple[int, ...]
    cpu: tuple[int, ...]
    latency: tuple[int, ...]


def _cases(way: Way) -> Iterator[tuple[int, int, int]]:
    """Readers, bytes and QoS."""
    yield from ((readers, 64, 0) for readers in (1, 2, 4, 8, READERS))
    yield from ((1, size, 0) for size in SIZES[1:])
    if way.name in ("plain", "normal", "tee"):
        yield from ((readers, 64, qos) for qos in (1, 2) for readers in (1, 8))


def _numbers(line: str, name: str) -> tuple[int, ...]:
    words = line.split()
    if not words or words[0] != name:
        raise BoardError(f"tz_bench said `{line[:60]}` where {name} was due")
    return tuple(map(int, words[1:]))


def _case(desk: Desk, way: Way, readers: int, size: int, qos: int) -> Row:
    argv = ["env", f"LD_LIBRARY_PATH={PLACE}/2.0/lib", f"{PLACE}/tz_bench", desk.pid]
    argv += map(str, (readers, MESSAGES, size, qos))
    argv += [PLACE, "tz/bench"] if way.tz else []
    done = desk.board.capture(argv, check=False, timeout=600)
    if done.status:
        raise BoardError(
            f"{way.name}, {readers} readers, {size} B, QoS {qos}: {done.complaint}",
            hint=f"the broker's log is {PLACE}/log on the board",
        )
    first, cpu, latency = done.text.splitlines()
    return Row(
        way.name,
        readers,
        size,
        qos,
        _numbers(first, "first_ns"),
        _numbers(cpu, "cpu_ns"),
        _numbers(latency, "latency_ns"),
    )


def measure(desk: Desk, say: Callable[[str], None]) -> list[Row]:
    """Measure every way and case; `say` hears of each."""
    desk.claim()
    readers = {f"sub{number + 1}": ["r:tz/#"] for number in range(READERS)}
    desk.enrol({"pub": ["w:tz/#"]} | readers)
    rows = []
    for way in WAYS:
        desk.start(way.options, ["persistence false"], tz=way.tz)
        for case in _cases(way):
            rows.append(_case(desk, way, *case))
            say(_line(rows[-1]))
        desk.stop()
    return rows


def _line(row: Row) -> str:
    cpu, latency = statistics.median(row.cpu), statistics.median(row.latency)
    case = f"{row.way:9} {row.readers:2} readers {row.size:6} B  QoS {row.qos}"
    return f"{case}  CPU {cpu:12,.0f}  latency {latency:12,.0f}"


def per_byte(rows: Sequence[Row], way: str) -> float:
    """What a byte costs the broker with one reader: the slope between 1 KiB and 64 KiB."""
    cost = {
        row.size: statistics.median(row.cpu)
        for row in rows
        if row.way == way and row.readers == 1 and row.qos == 0
    }
    return (cost[65536] - cost[1024]) / (65536 - 1024)


def report(rows: Sequence[Row], unit: str, say: Callable[[str], None]) -> None:
    """The answer: a message of 64 bytes for 1 and 8 readers, and a byte, each way."""
    say(f"\nCPU of the broker, {unit}: 64 B for 1 and 8 readers; a byte of a longer message")
    for way in WAYS:
        cost = {
            row.readers: statistics.median(row.cpu)
            for row in rows
            if row.way == way.name and row.size == 64 and row.qos == 0
        }
        say(f"  {cost[1]:10,.0f} {cost[8]:10,.0f} {per_byte(rows, way.name):8.2f}  {way.title}")
    cold = next(row for row in rows if row.way == "tee").first[0]
    say(f"  the first message after a start, whose keys come from storage: {cold:,}")


def write(rows: Sequence[Row], file: str) -> None:
    """Every value as a row of a CSV file."""
    lines = [("way", "readers", "bytes", "qos", "measure", "value")]
    for row in rows:
        key = (row.way, str(row.readers), str(row.size), str(row.qos))
        lines += [(*key, "first", str(value)) for value in row.first]
        lines += [(*key, "cpu", str(value)) for value in row.cpu]
        lines += [(*key, "latency", str(value)) for value in row.latency]
    with Path(file).open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows(lines)
