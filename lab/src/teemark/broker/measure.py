# SPDX-License-Identifier: BSD-2-Clause
"""Measures a broker's cost of a message: its process' CPU time, and the time to each subscriber."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from teemark.base.errors import BoardError
from teemark.broker.desk import PLACE, Desk

READERS = 32
UNCACHED = 100  # Readers of one message whose keys don't all fit into the TA's memory
SIZES = (64, 1024, 4096, 16384, 65536, 262144)
MESSAGES = 7
"""Messages of each case; three more warm up."""
IN_A_ROW = 4000
"""Messages that are sent at one rate, to see whether they queue up: many, since a thread that is
not woken at once adds milliseconds to some."""
STEP = 0.03  # Relative, of the rates that are tried

_MEASURES = ("first", "cpu", "latency")


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
    """One case. Its values are nanoseconds (on a board that counts, instructions): `first` is the
    CPU time of its first message, `cpu` that of each later one; `latency` has a value a copy."""

    way: str
    readers: int
    size: int
    qos: int
    values: Mapping[str, tuple[int, ...]]

    def median(self, measure: str) -> float:
        return statistics.median(self.values[measure])


def _cases(way: Way) -> Iterator[tuple[int, int, int]]:
    """Readers, bytes and QoS."""
    yield from ((readers, 64, 0) for readers in (1, 2, 4, 8, READERS))
    yield from ((1, size, 0) for size in SIZES[1:])
    if way.name in ("plain", "normal", "tee"):
        yield from ((readers, 64, qos) for qos in (1, 2) for readers in (1, 8))


def _bench(desk: Desk, way: Way, *numbers: int) -> Mapping[str, tuple[int, ...]]:
    """Runs tz_bench; `numbers` are its subscribers, messages, bytes, QoS and rate."""
    argv = ["env", f"LD_LIBRARY_PATH={PLACE}/2.0/lib", f"{PLACE}/tz_bench", desk.pid]
    argv += [*map(str, numbers), *((PLACE, "tz/bench") if way.tz else ())]
    done = desk.board.script('ulimit -n 8192; exec "$@"', *argv, check=False, timeout=1800)
    if done.status:
        raise BoardError(
            f"{way.name}, tz_bench {' '.join(argv[3:8])}: {done.complaint}",
            hint=f"the broker's log is {PLACE}/log on the board",
        )
    lines = [line.split() for line in done.text.splitlines() if line]
    if [line[0] for line in lines] != [f"{name}_ns" for name in _MEASURES]:
        raise BoardError(f"tz_bench said `{done.text[:60]}` where its measures were due")
    return {name: tuple(map(int, line[1:])) for name, line in zip(_MEASURES, lines, strict=True)}


def _case(desk: Desk, way: Way, readers: int, size: int, qos: int) -> Row:
    return Row(way.name, readers, size, qos, _bench(desk, way, readers, MESSAGES, size, qos, 0))


def highest_rate(desk: Desk, way: Way) -> int:
    """Returns the highest rate at which messages don't queue up, to within STEP. They do where they
    wait the longer the later they are: by half a STEP of the time that went by."""
    low, high, rate = 0, 0, 1024
    while not high or high - low > max(1, STEP * low):
        waits = _bench(desk, way, 1, IN_A_ROW, 64, 0, rate)["latency"]
        part = len(waits) // 4
        more = statistics.median(waits[-part:]) - statistics.median(waits[:part])
        grows = more > STEP / 2 * 3 * part * 1e9 / rate
        low, high = (low, rate) if grows else (rate, high)
        rate = (low + high) // 2 if high else 2 * low
    return low


def measure(desk: Desk, say: Callable[[str], None], clients: int = READERS) -> list[Row]:
    """Measures every way and case; `say` hears of each. UNCACHED clients or more are one more case
    in the TEE: a message for so many of them."""
    desk.claim()
    readers = {f"sub{number + 1}": ["r:tz/#"] for number in range(max(READERS, clients))}
    desk.enrol({"pub": ["w:tz/#"]} | readers)
    rows = []
    for way in WAYS:
        desk.start(way.options, ["persistence false"], tz=way.tz)
        uncached = [(UNCACHED, 64, 0)] * (way.name == "tee" and clients >= UNCACHED)
        for case in (*_cases(way), *uncached):
            rows.append(_case(desk, way, *case))
            say(_line(rows[-1]))
        desk.stop()
        desk.start(way.options, ["persistence false", "max_queued_messages 0"], tz=way.tz)
        rate = highest_rate(desk, way)
        say(f"{way.name:9}  1 readers     64 B  QoS 0  queues up above {rate:,} messages a second")
        desk.stop()
    return rows


def _line(row: Row) -> str:
    case = f"{row.way:9} {row.readers:2} readers {row.size:6} B  QoS {row.qos}"
    return f"{case}  CPU {row.median('cpu'):12,.0f}  latency {row.median('latency'):12,.0f}"


def report(rows: Sequence[Row], unit: str, say: Callable[[str], None]) -> None:
    """The answer each way: a message of 64 bytes for 1 and 8 readers, and a byte (the slope between
    1 KiB and 64 KiB with one reader)."""
    say(f"\nCPU of the broker, {unit}: 64 B for 1 and 8 readers; a byte of a longer message")
    cpu = {(row.way, row.readers, row.size): row.median("cpu") for row in rows if not row.qos}
    for way in WAYS:
        byte = (cpu[way.name, 1, 65536] - cpu[way.name, 1, 1024]) / (65536 - 1024)
        few, many = (cpu[way.name, readers, 64] for readers in (1, 8))
        say(f"  {few:10,.0f} {many:10,.0f} {byte:8.2f}  {way.title}")
    cold = next(row for row in rows if row.way == "tee").values["first"][0]
    say(f"  the first message after a start, whose keys come from storage: {cold:,}")


def write(rows: Sequence[Row], file: str) -> None:
    """Every value as a row of a CSV file."""
    lines = [("way", "readers", "bytes", "qos", "measure", "value")]
    for row in rows:
        key = (row.way, str(row.readers), str(row.size), str(row.qos))
        lines += [(*key, name, str(x)) for name in _MEASURES for x in row.values[name]]
    with Path(file).open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows(lines)
