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
from teemark.audit.rule import Case, Rule, Tested, sizes_in, tested
from teemark.audit.words import amount, listed, number
from teemark.reference.data import Reference
from teemark.reference.span import Span

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
_CLOCK = re.compile(r"\b(\d(?:\.\d+)?) ?GHz\b|\b(\d{3,4}) ?MHz\b")
_QEMU = re.compile(r"\bqemu", re.I)
ALGORITHM = re.compile(
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
    clocks = {_hertz(match) for text in texts for match in _CLOCK.finditer(text)}
    stated = "cortex-" + next(iter(cores)) if len(cores) == 1 else ""
    reading.core = core or reading.core or stated
    reading.clock_hz = clock_hz or reading.clock_hz or (clocks.pop() if len(clocks) == 1 else 0.0)
    reading.emulated = reading.emulated or any(_QEMU.search(text) for text in texts)
    for pattern, board in _BOARDS:
        named = next((text for text in texts if pattern.search(text)), None)
        known = reference.words(f"{board}-core")
        if named is None or reading.core not in ("", known):
            continue
        if not reading.core:
            reading.core = known
            reading.inferred["core"] = reference.constants[f"{board}-core"].source
            if "(inferred" in named:
                reading.inferred["core"] += ", and the board itself is inferred"
        if not reading.clock_hz:
            reading.clock_hz = reference.constant(f"{board}-clock") * 1e9
            reading.inferred["clock"] = reference.constants[f"{board}-clock"].source


def _hertz(match: re.Match[str]) -> float:
    return float(match[1]) * 1e9 if match[1] else float(match[2]) * 1e6


def algorithm_in(text: str) -> str:
    found = ALGORITHM.search(text)
    if found is None:
        return ""
    sha, digest, aes, bits, mode = found.groups()
    if sha:
        return f"sha{digest}"
    return f"{aes}-{bits}".lower() + (f"-{mode.lower()}" if mode else "")


@dataclass(frozen=True, slots=True)
class _Speed:
    """A rate and how it came about."""

    rate: Span
    algorithm: str
    kind: str  # "hardware" as it claims, "software" as it says, or ""
    figure: Figure
    in_memory: bool  # of a message of known size

    @property
    def rank(self) -> tuple[bool, float]:
        """Files, which are read as well, come after messages."""
        return self.in_memory, self.rate.mid


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
    texts = (one.row, one.column, one.table)
    name = next((found for text in texts if (found := algorithm_in(text))), "")
    if not name:
        named = Counter(found for text, _ in reading.said if (found := algorithm_in(text)))
        ((first, count), (_, others)) = (*named.most_common(2), ("", 0), ("", 0))[:2]
        name = first if count >= 2 * others else ""
    if re.fullmatch(r"aes-\d+", name):
        modes = {mode.lower() for text, _ in reading.said for mode in _MODE.findall(text)}
        return f"{name}-cbc" if modes == {"cbc"} else name
    return name


def _speeds(case: Case) -> Iterator[_Speed]:
    for one in case.reading.figures:
        if one.dimension == "rate" and one.span.low > 0:
            size, algorithm = _size(one), _algorithm(case.reading, one)
            if algorithm and (size or BULK) >= BULK:
                words = f"{one.row} {one.column}"
                where = f"{case.reading.title} {one.table} {words}"
                kind = "software" if _SOFTWARE.search(words) else ""
                kind = kind or ("hardware" if _CLAIM.search(where) else "")
                yield _Speed(one.span, algorithm, kind, one, size is not None)


def published(case: Case) -> Iterator[Tested]:
    """The highest rate of each algorithm against what the core is known to do."""
    reading = case.reading
    if reading.emulated or not reading.core or not reading.clock_hz:
        return
    best: dict[tuple[str, str], _Speed] = {}
    for speed in _speeds(case):
        of_kind = best.get((speed.algorithm, speed.kind))
        if of_kind is None or speed.rank > of_kind.rank:
            best[speed.algorithm, speed.kind] = speed
    for speed in best.values():
        known = [
            (reading.clock_hz / float(row.cycles), row.implementation, row.source)
            for row in case.reference.cycles_for(reading.core, speed.algorithm)
        ] + [
            (row.bytes_per_second * reading.clock_hz / row.clock_hz, row.implementation, row.source)
            for row in case.reference.rates
            if (row.core, row.algorithm) == (reading.core, speed.algorithm)
        ]
        if known:
            yield Tested(speed.figure, _against(reading, speed, known))


def _against(reading: Reading, speed: _Speed, known: list[tuple[float, str, str]]) -> str:
    """What is wrong with a rate on a core of which something is known; or nothing."""
    software = sorted(one for one in known if one[1] not in _INSTRUCTIONS)
    rate, claimed = speed.rate, speed.kind == "hardware"
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
        said = f": called hardware, and software reaches {_cited(reading, slowest)}"
        said += f" to {_cited(reading, software[-1])}, {number(slowest[0] / rate.mid, 2)} to "
        said += f"{number(software[-1][0] / rate.mid, 2)} times as much"
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
    return (
        f"{amount(rate, 'rate')} = {number(reading.clock_hz / rate, 3)} cycles a byte "
        f"({_WHOSE.get(who, who)}; {source})"
    )


_PEAK = re.compile(r"\b(?:peak|max(?:imum)?)\b", re.I)


def peak(case: Case) -> Iterator[Tested]:
    """A rate called the peak of an algorithm, and one above it."""
    speeds = [
        (_algorithm_named(one), one) for one in case.reading.figures if one.dimension == "rate"
    ]
    for algorithm, top in speeds:
        if not algorithm or not _PEAK.search(f"{top.row} {top.column}"):
            continue
        above = {
            one.text: one
            for name, one in speeds
            if name == algorithm and one.span.low > top.span.high * (1 + CLOSE)
        }
        shown = listed([f"{one.text} ({one.name})" for one in above.values()]) if above else ""
        yield tested(
            top,
            not above,
            f"{top.name}: {top.text}, and {shown} above it: one of them wasn't measured "
            "as it says.",
        )


def _algorithm_named(one: Figure) -> str:
    """The algorithm that a figure or its heading names, without a mode."""
    texts = (one.row, one.column, one.table)
    name = next((found for text in texts if (found := algorithm_in(text))), "")
    return "-".join(name.split("-")[:2])


def cpu_time(case: Case) -> Iterator[Tested]:
    """openssl speed divides by the CPU time of user mode unless -elapsed is given."""
    for group in case.of_kind("row"):
        asked = [one for one in group.figures if one.column == "asked"]
        times = [one for one in group.figures if one.column == "time"]
        if asked and times:
            waited = 0 < times[0].span.high < 0.5 * asked[0].span.mid
            ratio = number(asked[0].span.mid / times[0].span.high, 2) if waited else ""
            yield tested(
                times[0],
                not waited,
                f"{asked[0].row}: {asked[0].text} were asked for and the rate is "
                f"over {times[0].text}: CPU time, not elapsed time. The process waited "
                "meanwhile, for a device or for others; by the clock it is "
                f"{ratio} times slower. Use -elapsed.",
            )


def _time(point: tuple[int, Span, Figure]) -> float:
    return point[1].mid


def curve(case: Case) -> Iterator[Tested]:
    """Larger messages take no less than half the time of smaller ones."""
    if case.reading.emulated:
        return
    series: dict[tuple[str, str], list[tuple[int, Span, Figure]]] = {}
    for one in case.reading.figures:
        size = _size(one)
        if size and one.dimension == "rate" and one.span.low > 0:
            span = Span(size, size, size) / one.span
            name = one.row if sizes_in(one.column) or one.size else one.column
            series.setdefault((name, one.table), []).append((size, span, one))
    for measured in series.values():
        fastest = {size: (size, span, one) for size, span, one in sorted(measured, key=_time)[::-1]}
        points = [fastest[size] for size in sorted(fastest)]
        for (n, before, one), (m, after, other) in pairwise(points):
            less = after.high * CALL_NOISE < before.low
            yield tested(
                other,
                not less,
                f"{other.name}: {m} bytes take {amount(after, 'time')} and {n} bytes "
                f"{amount(before, 'time')} ({one.text}): more data in less than half the "
                "time.",
            )


def emulated(case: Case) -> Iterator[Tested]:
    """Times of an emulator, in a text that names one."""
    named = case.reading.says(_QEMU)
    times = [one for one in case.reading.figures if one.dimension in ("time", "rate")]
    if named is not None and times:
        yield Tested(
            times[0],
            f"{len(times)} times and rates are of an emulator (QEMU): they say how fast "
            "the machine is that it ran on, and nothing of the hardware that it stands for.",
        )


RULES: tuple[Rule, ...] = (
    Rule("published-speed", "caution", published),
    Rule("above-peak", "error", peak),
    Rule("cpu-time", "caution", cpu_time),
    Rule("size-curve", "error", curve),
    Rule("emulated", "caution", emulated),
)
