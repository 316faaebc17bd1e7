# SPDX-License-Identifier: BSD-2-Clause
"""Measures the cost of a message: the broker's CPU time, and the latency to each subscriber."""

import re
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from msgspec import convert, structs

from teemark.base.errors import BoardError
from teemark.base.work import Work
from teemark.boards import Board
from teemark.broker.mosquitto import PLACE, Mosquitto
from teemark.doctor.look import machine
from teemark.measure.runner import header
from teemark.plan.file import CaseLine, load_plan
from teemark.run.records import Backend, Case, End, Sample, Start
from teemark.run.writer import RunWriter

READERS = 32
MANY = (100, 1000)  # Numbers of readers whose keys don't all fit into the TA's memory
MESSAGES = 7
"""Messages that are measured for each case, after three that warm up."""
IN_A_ROW = 4000
"""Messages that are sent at one rate, to see whether they queue up. There are many, since a thread
that isn't woken at once adds milliseconds to some of them."""
STEP = 0.03  # Relative distance of the rates that are tried

_MEASURES = ("first", "cpu", "publisher", "subscribers", "message", "latency")
_PARTS = ("workload", "algorithm", "backend", "parameters")

Values = dict[str, tuple[int, ...]]
"""The values of each case, in nanoseconds (on a board that counts, instructions). A key is
broker/MEASURE-READERS[-qosN]/WAY/BYTES. `first` is the broker's CPU time for a case's first
message, `cpu` that for each later one; `publisher` and `subscribers` are those programs' CPU times,
and `message` is the sum of all three. `latency` has a value for each copy, and `interval` is the
time between messages at the highest rate at which they don't queue up."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way in which the broker passes on a message."""

    name: str
    title: str
    options: Mapping[str, str]
    tz: bool = True


WAYS = (
    Way("plain", "no plugin", {}, tz=False),
    Way("normal", "broker's memory", {"keys": PLACE}),
    Way("tee", "one call a message", {}),
    Way("tee-each", "a call for each reader", {"expect": "false"}),
    Way("tee-c", "portable C in the TA", {"extensions": "false"}),
)


def bench(mosquitto: Mosquitto, way: Way, *numbers: int) -> Mapping[str, tuple[int, ...]]:
    """Runs tz_bench and returns its values in ns, by measure. `numbers` are its subscribers,
    messages, bytes, QoS and rate (messages a second)."""
    arguments = [*map(str, numbers), *((PLACE, "tz/bench") if way.tz else ())]
    argv = mosquitto.argv(f"{PLACE}/tz_bench", mosquitto.pid, *arguments)
    done = mosquitto.board.script('ulimit -n 8192; exec "$@"', *argv, check=False, timeout=1800)
    if done.status:
        raise BoardError(
            f"{way.name}, tz_bench {' '.join(arguments)}: {done.complaint}",
            hint=f"the broker's log is {PLACE}/log on the board",
        )
    lines = [line.split() for line in done.text.splitlines() if line]
    if [line[0] for line in lines] != [f"{name}_ns" for name in _MEASURES]:
        raise BoardError(f"tz_bench said `{done.text[:60]}` where its measures were due")
    return {name: tuple(map(int, line[1:])) for name, line in zip(_MEASURES, lines, strict=True)}


def numbers(key: str, way: Way) -> tuple[int, int, int] | None:
    """Returns readers, bytes and QoS if the key is of a CPU-time case of this way; else None."""
    match = re.fullmatch(rf"broker/cpu-(\d+)(?:-qos(\d))?/{way.name}/(\d+)", key)
    return (int(match[1]), int(match[3]), int(match[2] or 0)) if match else None


def highest_rate(mosquitto: Mosquitto, way: Way) -> int:
    """Returns the highest rate, in messages a second, at which messages don't queue up, to within
    STEP. They queue up if their latency grows by more than half a STEP of the time that passes."""
    low, high, rate = 0, 0, 1024
    while not high or high - low > max(1, STEP * low):
        waits = bench(mosquitto, way, 1, IN_A_ROW, 64, 0, rate)["latency"]
        part = len(waits) // 4
        more = statistics.median(waits[-part:]) - statistics.median(waits[:part])
        grows = more > STEP / 2 * 3 * part * 1e9 / rate
        low, high = (low, rate) if grows else (rate, high)
        rate = (low + high) // 2 if high else 2 * low
    return low


def enrol(mosquitto: Mosquitto, readers: int) -> None:
    """Registers the publisher and `readers` subscribers with the TA."""
    mosquitto.claim()
    names = {f"sub{number + 1}": ["r:tz/#"] for number in range(readers)}
    mosquitto.enrol({"pub": ["w:tz/#"]} | names)


def measure(mosquitto: Mosquitto, say: Callable[[str], None], clients: int = READERS) -> Values:
    """Measures every way and case, and returns the values; `say` gets a line for each case. Each
    number in MANY up to `clients` adds a case in the TEE: a message to that many readers."""
    enrol(mosquitto, max(READERS, clients))
    measured, keys = Values(), [case.key for case in load_plan("broker").cases]
    for way in WAYS:
        mosquitto.start(way.options, ["persistence false"], tz=way.tz)
        many = [f"broker/cpu-{n}/tee/64" for n in MANY if way.name == "tee" and clients >= n]
        for key in (*keys, *many):
            if load := numbers(key, way):
                for name, values in bench(mosquitto, way, load[0], MESSAGES, *load[1:], 0).items():
                    case = key.replace("cpu", name)
                    if key in many or case in keys:
                        measured[case] = values
                        say(f"{case} {statistics.median(values):,.0f}")
        mosquitto.stop()
        mosquitto.start(way.options, ["persistence false", "max_queued_messages 0"], tz=way.tz)
        rate = highest_rate(mosquitto, way)
        measured[f"broker/interval-1/{way.name}/64"] = (round(1e9 / rate),)
        say(f"{way.name}: messages queue up above {rate:,} a second")
        mosquitto.stop()
    return measured


def write(board: Board, measured: Values, started: datetime, directory: Path) -> Path:
    """Writes the values as a run of the plan broker, with a sample for each value."""
    plan = replace(load_plan("broker"), cases=tuple(CaseLine(Work.of(key)) for key in measured))
    ways = tuple(Backend(name=way.name, title=way.title, secure="tee" in way.name) for way in WAYS)
    samples = [(key, ns) for key, values in measured.items() for ns in values]
    with RunWriter(directory) as writer:
        writer.record(header(board, plan, 1, started))
        writer.record(Start(number=1, kind="round"))
        writer.record(structs.replace(machine(board), backends=ways))
        for case in plan.cases:
            facts = {name: getattr(case.work, name) for name in _PARTS} | {"bytes": case.work.size}
            facts |= {"type": "case", "case": case.key, "samples": len(measured[case.key])}
            facts |= {"verified": case.work.backend != "plain", "repeat": (1,), "loops": (1,)}
            writer.record(convert(facts, Case))
        for seq, (key, ns) in enumerate(samples):
            facts = {"type": "sample", "case": key, "seq": seq, "repeat": 1, "loops": 1, "ns": ns}
            writer.record(convert(facts | {"source": "client-clock"}, Sample))
        end = End(complete=True, reason="done", cases=len(measured), samples=len(samples))
        writer.last_record(structs.replace(end, skipped=0, failed=0))
        return writer.finish()
