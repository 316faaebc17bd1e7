# SPDX-License-Identifier: BSD-2-Clause
"""Rules that rest on outside knowledge: the core, its clock, and published speeds. Every bound is a
row of reference/ with its source."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from teemark.audit.figure import Printed, Reading
from teemark.audit.rule import Group, Rule, Tested, amount, number, sizes_in
from teemark.reference.data import CyclesPerByte, Reference
from teemark.reference.span import exact
from teemark.wording import fmt

FASTER = 1.15
"""Ratio up to which an implementation may be faster than the published one: it may be newer."""
CLOSE = 0.05
"""Relative difference up to which two rates count as the same software's."""
CLAIMED_SLOWER, SLOWER = 0.8, 0.5
"""Shares of the slowest published software's rate: claimed hardware below CLAIMED_SLOWER is
strange, and so is any rate below SLOWER."""
BULK = 1024
"""Bytes of a message from which its rate is the algorithm's, not the call's."""
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
    """Sets the reading's core and clock: the caller's, else what the text states or implies."""
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
        board_core = reference.constants[f"{board}-core"].text
        if named is None or reading.core not in ("", board_core):
            continue
        if not reading.core:
            reading.core = board_core
            why = ", and the board itself is inferred" if "(inferred" in named else ""
            reading.inferred["core"] = reference.constants[f"{board}-core"].source + why
        if not reading.clock_hz:
            reading.clock_hz = reference.constant(f"{board}-clock") * 1e9
            reading.inferred["clock"] = reference.constants[f"{board}-clock"].source


def _algorithm(reading: Reading, figure: Printed) -> str:
    """Returns the algorithm of a figure, by the figure's own words, or else the one that the text
    names twice as often as any other. AES without a mode is CBC if the text names no other mode."""
    own = (_named(text) for text in (figure.row, figure.column, figure.table))
    name = next(filter(None, own), "")
    texts = [text for text, _ in reading.said]
    if not name:
        named = Counter(filter(None, map(_named, texts))).most_common(2)
        ((first, count), (_, others)) = (*named, ("", 0), ("", 0))[:2]
        name = first if count >= 2 * others else ""
    if re.fullmatch(r"aes-\d+", name):
        modes = {mode.lower() for text in texts for mode in _MODE.findall(text)}
        return f"{name}-cbc" if modes == {"cbc"} else name
    return name


def _named(text: str) -> str:
    """Returns the first algorithm that a text names, such as sha256 or aes-128-cbc; "" if none."""
    match = _ALGORITHM.search(text)
    parts = [part.lower() for part in match.groups() if part] if match else []
    return ("" if parts[:1] == ["sha"] else "-").join(parts)


def _size(figure: Printed) -> float | None:
    """Returns the message's bytes that a figure is for; None if unknown. 16 KB are 16,384 here."""
    sizes = [size for text in (figure.column, figure.row) for size in sizes_in(text)]
    if len(sizes) != 1 or figure.form == "line":
        return None
    return sizes[0].span.mid * (1.024 if sizes[0].unit in ("kB", "KB") else 1.0)


def published(text: Group) -> Iterator[Tested]:
    """Compares the highest rate of each algorithm, in hardware and in software, with published
    speeds of the core. A message's rate goes before a file's, which includes reading the file."""
    reading = text.reading
    if reading.emulated or not reading.core or not reading.clock_hz:
        return
    best: dict[tuple[str, str], Printed] = {}
    for figure in reading.figures:
        size = _size(figure) if figure.dimension == "rate" and figure.span.low > 0 else 0
        if size is None or size >= BULK:
            words = f"{figure.row} {figure.column}"
            claims = _CLAIM.search(f"{reading.title} {figure.table} {words}")
            kind = "software" if _SOFTWARE.search(words) else "hardware" if claims else ""
            key = (_algorithm(reading, figure), kind)
            best[key] = max(
                best.get(key, figure), figure, key=lambda f: (_size(f) is not None, f.span.mid)
            )
    for (algorithm, kind), rate in best.items():
        rows = text.reference.cycles_for(reading.core, algorithm)
        if rows:
            wrong = _against(reading, rate, kind == "hardware", rows)
            yield Tested(rate, not wrong, wrong)


def _against(reading: Reading, rate: Printed, claimed: bool, rows: Sequence[CyclesPerByte]) -> str:
    """Returns what is wrong with a rate, by the published cycles of the core; "" if nothing is."""
    cycles = exact(reading.clock_hz) / rate.span
    ranked = sorted(rows, key=lambda row: row.cycles)
    software = [row for row in ranked if row.implementation not in _INSTRUCTIONS] or ranked
    close = [row for row in software if 1 / (1 + CLOSE) <= cycles.mid / float(row.cycles) <= FASTER]
    fastest, slowest = ranked[0], software[-1]
    cited = partial(_cited, reading)
    if not claimed and cycles.high * FASTER < float(fastest.cycles):
        ratio = number(float(fastest.cycles) / cycles.mid, 3)
        why = f", {ratio} times the fastest published, {cited(fastest)}"
    elif claimed and close:
        reached = fmt.listed([cited(row) for row in reversed(close)])
        why = f": called hardware, and software reaches {reached}. Nothing here needs hardware"
    elif claimed and cycles.low * CLAIMED_SLOWER > float(slowest.cycles):
        least, most = (number(cycles.mid / float(row.cycles), 2) for row in (slowest, software[0]))
        why = f": called hardware, and software reaches {cited(slowest)} to {cited(software[0])}, "
        why += f"{least} to {most} times as much"
    elif cycles.low * SLOWER > float(slowest.cycles):
        clock = number(reading.clock_hz * float(slowest.cycles) / cycles.mid / 1e6, 3)
        why = f", and the slowest published software has {cited(slowest)}. It would run so at "
        why += f"{clock} MHz: the clock, the compiler's options or the figure need a look"
    else:
        return ""
    where = f"{rate.name}: {amount(rate.span, 'rate')} on a {_machine(reading)}"
    return f"{where} is {number(cycles.mid, 3)} cycles a byte{why}."


def _machine(reading: Reading) -> str:
    shown = {"core": reading.core.title(), "clock": f"{number(reading.clock_hz / 1e9)} GHz"}
    for what, why in reading.inferred.items():
        shown[what] += f" (inferred: {why})"
    return " at ".join(shown.values())


_WHOSE = {"scalar": "assembly", "neon": "NEON", "compiler": "compiled C", "ce": "instructions"}


def _cited(reading: Reading, row: CyclesPerByte) -> str:
    rate, who = amount(reading.clock_hz / float(row.cycles), "rate"), row.implementation
    cycles = number(float(row.cycles), 3)
    return f"{rate} = {cycles} cycles a byte ({_WHOSE.get(who, who)}; {row.source})"


_ASKED = re.compile(r"(.+): \d+ operations in ([\d.]+) s, and (\d+) s were asked for")


def cpu_time(text: Group) -> Iterator[Tested]:
    """Finds rates that openssl speed computed from CPU time in user mode, as it does without
    -elapsed."""
    for sentence, line in text.reading.said:
        if match := _ASKED.fullmatch(sentence):
            name, time, asked = match[1], float(match[2]), float(match[3])
            wrong = f"{name}: {match[3]} s were asked for and the rate is over {match[2]} s: CPU "
            wrong += "time, not elapsed time. The process waited meanwhile, for a device or for "
            wrong += "others; by the clock it is slower. Use -elapsed."
            figure = Printed(sentence, exact(time), "s", line=line)
            yield Tested(figure, not 0 < time < 0.5 * asked, wrong)


RULES: tuple[Rule, ...] = (
    Rule("published-speed", published, ("document",), "caution", linear=True),
    Rule("cpu-time", cpu_time, ("document",), "caution", linear=True),
)
