# SPDX-License-Identifier: BSD-2-Clause
"""Rules that need to know the world: the core and its clock, and what others published of it.
Every bound is a row of reference/ with its source."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from teemark.audit.figure import Figure, Reading
from teemark.audit.rule import Case, Rule, Tested, amount, listed, number, sizes_in, tested
from teemark.reference.data import Reference
from teemark.reference.span import Span, exact

FASTER = 1.15
"""A newer implementation may beat the published one by so much."""
CLOSE = 0.05
"""Rates that differ by no more are of the same software."""
CLAIMED_SLOWER, SLOWER = 0.8, 0.5
"""Shares of the slowest published software: hardware below the one is strange, anything below the
other."""
BULK = 1024
"""Bytes from which a rate is that of the algorithm and not of the call."""
CALL_NOISE = 2.0
"""A call for more data that takes less than half the time is no noise."""

_BOARDS = (
    (re.compile(r"raspberry pi 3|\brpi3\b", re.I), "rpi3"),
    (re.compile(r"am335x|beaglebone", re.I), "am335x"),
)
_CORE = re.compile(r"\bcortex-(a\d+)\b", re.I)
_CLOCK = re.compile(r"\b(\d(?:\.\d+)?)(?= ?GHz\b)|\b\d{3,4}(?= ?MHz\b)")
_QEMU = re.compile(r"\bqemu", re.I)
_ALGORITHM = re.compile(
    r"\b(sha)-?(1|224|256|384|512)\b|\b(aes)-?(128|192|256)(?:[ -]?(cbc|ecb|ctr|gcm|xts)\b)?", re.I
)
_MODE = re.compile(r"\b(?:cbc|ecb|ctr|gcm|xts)\b", re.I)
_CLAIM = re.compile(r"hardware|hw accel|accelerat", re.I)
_SOFTWARE = re.compile(r"software|generic|typical", re.I)
_INSTRUCTIONS = ("ce", "sha-ni")


def place(reading: Reading, reference: Reference, core: str = "", clock_hz: float = 0.0) -> None:
    """Fill in core and clock; what the caller knows comes first."""
    texts = [reading.title, *(text for text, _ in reading.said)]
    cores = {match[1].lower() for text in texts for match in _CORE.finditer(text)}
    clocks = {
        float(match[0]) * (1e9 if match[1] else 1e6)
        for text in texts
        for match in _CLOCK.finditer(text)
    }
    stated = f"cortex-{next(iter(cores))}" if len(cores) == 1 else ""
    reading.core = core or reading.core or stated
    reading.clock_hz = clock_hz or reading.clock_hz or (clocks.pop() if len(clocks) == 1 else 0.0)
    reading.emulated = reading.emulated or any(_QEMU.search(text) for text in texts)
    for pattern, board in _BOARDS:
        named = next((text for text in texts if pattern.search(text)), None)
        known = reference.constants[f"{board}-core"].text
        if named is None or reading.core not in ("", known):
            continue
        if not reading.core:
            reading.core = known
            why = ", and the board itself is inferred" if "(inferred" in named else ""
            reading.inferred["core"] = reference.constants[f"{board}-core"].source + why
        if not reading.clock_hz:
            reading.clock_hz = reference.constant(f"{board}-clock") * 1e9
            reading.inferred["clock"] = reference.constants[f"{board}-clock"].source


def _algorithms(*texts: str) -> list[str]:
    """The first algorithm that each text names, where it names one."""
    found = (match.groups() for text in texts if (match := _ALGORITHM.search(text)))
    return [
        f"sha{digest}" if sha else f"aes-{bits}" + (f"-{mode.lower()}" if mode else "")
        for sha, digest, _, bits, mode in found
    ]


@dataclass(frozen=True, slots=True)
class _Speed:
    """A rate and how it came about."""

    algorithm: str
    kind: str  # "hardware" as it claims, "software" as it says, or ""
    figure: Figure
    in_memory: bool  # of a message of known size

    @property
    def rank(self) -> tuple[bool, float]:
        """Files, which are read as well, come after messages."""
        return self.in_memory, self.figure.span.mid


def _size(one: Figure) -> int | None:
    """Bytes of the message that a figure is of: of messages, 16 KB are 16,384."""
    if one.size is not None:
        return one.size
    found = [size for text in (one.column, one.row) for size in sizes_in(text)]
    if len(found) != 1 or one.form == "line":
        return None
    _, span, unit = found[0]
    return round(span.mid * (1.024 if unit in ("kB", "KB") else 1.0))


def _algorithm(reading: Reading, one: Figure) -> str:
    """The algorithm that a figure is of; AES without a mode is CBC where no other is spoken of."""
    texts = [text for text, _ in reading.said]
    name = next(iter(_algorithms(one.row, one.column, one.table)), "")
    if not name:
        named = Counter(_algorithms(*texts)).most_common(2)
        ((first, count), (_, others)) = (*named, ("", 0), ("", 0))[:2]
        name = first if count >= 2 * others else ""
    if re.fullmatch(r"aes-\d+", name):
        modes = {mode.lower() for text in texts for mode in _MODE.findall(text)}
        return f"{name}-cbc" if modes == {"cbc"} else name
    return name


def _speeds(case: Case) -> Iterator[_Speed]:
    for one in _rates(case):
        size, algorithm = _size(one), _algorithm(case.reading, one)
        if algorithm and (size or BULK) >= BULK:
            words = f"{one.row} {one.column}"
            claims = _CLAIM.search(f"{case.reading.title} {one.table} {words}")
            kind = "software" if _SOFTWARE.search(words) else "hardware" if claims else ""
            yield _Speed(algorithm, kind, one, size is not None)


def _rates(case: Case) -> Iterator[Figure]:
    return (one for one in case.reading.figures if one.dimension == "rate" and one.span.low > 0)


def published(case: Case) -> Iterator[Tested]:
    """The highest rate of each algorithm against what the core is known to do."""
    reading, reference = case.reading, case.reference
    if reading.emulated or not reading.core or not reading.clock_hz:
        return
    best: dict[tuple[str, str], _Speed] = {}
    for speed in _speeds(case):
        key = (speed.algorithm, speed.kind)
        best[key] = max(best.get(key, speed), speed, key=lambda one: one.rank)
    for speed in best.values():
        known = [
            (reading.clock_hz / float(row.cycles), row.implementation, row.source)
            for row in reference.cycles_for(reading.core, speed.algorithm)
        ] + [
            (row.bytes_per_second * reading.clock_hz / row.clock_hz, row.implementation, row.source)
            for row in reference.rates
            if (row.core, row.algorithm) == (reading.core, speed.algorithm)
        ]
        if known:
            yield Tested(speed.figure, _against(reading, speed, known))


def _against(reading: Reading, speed: _Speed, known: list[tuple[float, str, str]]) -> str:
    """What is wrong with a rate on a core of which something is known; or nothing."""
    software = sorted(one for one in known if one[1] not in _INSTRUCTIONS)
    rate, claimed = speed.figure.span, speed.kind == "hardware"
    close = [one for one in software if 1 / FASTER <= rate.mid / one[0] <= 1 + CLOSE]
    slowest = software[0] if software else (0.0, "", "")
    said = ""
    if not claimed and rate.low > FASTER * max(known)[0]:
        fastest = max(known)
        said = f", {number(rate.mid / fastest[0], 3)} times the fastest published, "
        said += _cited(reading, fastest)
    elif claimed and close:
        reached = listed([_cited(reading, one) for one in close])
        said = f": called hardware, and software reaches {reached}. Nothing here needs hardware"
    elif claimed and rate.high < CLAIMED_SLOWER * slowest[0]:
        least, most = (number(one[0] / rate.mid, 2) for one in (slowest, software[-1]))
        said = f": called hardware, and software reaches {_cited(reading, slowest)}"
        said += f" to {_cited(reading, software[-1])}, {least} to {most} times as much"
    elif rate.high < SLOWER * slowest[0]:
        clock = number(reading.clock_hz * rate.mid / slowest[0] / 1e6, 3)
        said = f", and the slowest published software has {_cited(reading, slowest)}. It would run "
        said += f"so at {clock} MHz: the clock, the compiler's options or the figure need a look"
    cycles = number(reading.clock_hz / rate.mid, 3)
    where = f"{speed.figure.name}: {amount(rate, 'rate')} on a {_machine(reading)}"
    return f"{where} is {cycles} cycles a byte{said}." if said else ""


def _machine(reading: Reading) -> str:
    core = "-".join(part.capitalize() for part in reading.core.split("-"))
    shown = {"core": core, "clock": f"{number(reading.clock_hz / 1e9)} GHz"}
    for what, why in reading.inferred.items():
        shown[what] += f" (inferred: {why})"
    return " at ".join(shown.values())


_WHOSE = {"scalar": "assembly", "neon": "NEON", "compiler": "compiled C", "ce": "instructions"}


def _cited(reading: Reading, one: tuple[float, str, str]) -> str:
    rate, who, source = one
    cycles = number(reading.clock_hz / rate, 3)
    return f"{amount(rate, 'rate')} = {cycles} cycles a byte ({_WHOSE.get(who, who)}; {source})"


def cpu_time(case: Case) -> Iterator[Tested]:
    """openssl speed divides by the CPU time of user mode unless -elapsed is given."""
    for group in case.of_kind("row"):
        columns = {one.column: one for one in reversed(group.figures)}
        asked, time = columns.get("asked"), columns.get("time")
        if asked is not None and time is not None:
            waited = 0 < time.span.high < 0.5 * asked.span.mid
            ratio = number(asked.span.mid / time.span.high, 2) if waited else ""
            wrong = f"{asked.row}: {asked.text} were asked for and the rate is over {time.text}: "
            wrong += (
                "CPU time, not elapsed time. The process waited meanwhile, for a device or for "
            )
            wrong += f"others; by the clock it is {ratio} times slower. Use -elapsed."
            yield tested(time, not waited, wrong)


def curve(case: Case) -> Iterator[Tested]:
    """Larger messages take no less than half the time of smaller ones."""
    series: dict[tuple[str, str], dict[int, tuple[Span, Figure]]] = {}
    for one in _rates(case) if not case.reading.emulated else ():
        if size := _size(one):
            name = one.row if sizes_in(one.column) or one.size else one.column
            points = series.setdefault((name, one.table), {})
            point = exact(size) / one.span, one
            points[size] = min(points.get(size, point), point, key=lambda known: known[0].mid)
    for points in series.values():
        for n, m in pairwise(sorted(points)):
            (before, one), (after, other) = points[n], points[m]
            wrong = f"{other.name}: {m} bytes take {amount(after, 'time')} and {n} bytes "
            wrong += f"{amount(before, 'time')} ({one.text}): more data in less than half the time."
            yield tested(other, after.high * CALL_NOISE >= before.low, wrong)


def emulated(case: Case) -> Iterator[Tested]:
    """Times of an emulator, in a text that names one."""
    times = [one for one in case.reading.figures if one.dimension in ("time", "rate")]
    if times and any(_QEMU.search(text) for text, _ in case.reading.said):
        wrong = f"{len(times)} times and rates are of an emulator (QEMU): they say how fast the "
        wrong += "machine is that it ran on, and nothing of the hardware that it stands for."
        yield Tested(times[0], wrong)


RULES: tuple[Rule, ...] = (
    Rule("published-speed", "caution", published),
    Rule("cpu-time", "caution", cpu_time),
    Rule("size-curve", "error", curve),
    Rule("emulated", "caution", emulated),
)
