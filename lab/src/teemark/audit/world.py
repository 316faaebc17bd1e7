# SPDX-License-Identifier: BSD-2-Clause
"""Compares rates with published speeds of the core: rows of reference/cycles-per-byte.csv."""

import re
from collections.abc import Iterator, Sequence

from teemark.audit.figure import Printed, Reading, Tested
from teemark.audit.numbers import amount, figure, number
from teemark.reference.data import CyclesPerByte, Reference
from teemark.reference.span import exact
from teemark.wording import fmt

FASTER = 1.15
"""Ratio up to which an implementation may be faster than the published one: it may be newer."""
CLOSE = 0.05  # Share by which claimed hardware may be faster than software and still be as fast
SLOWER = 0.5  # Share of the slowest published software's rate below which a rate is strange
BULK = 1024  # Bytes of a message from which its rate is the algorithm's, not the call's
_BOARDS = (
    (re.compile(r"(?:raspberry pi 3|\brpi3\b).*", re.I), "rpi3"),
    (re.compile(r"(?:am335x|beaglebone).*", re.I), "am335x"),
)
_BARE = re.compile(
    r"raspberry pi ?[34]|\brpi ?[34]|bcm2(?:711|83[57])|no (?:crypto|aes)\w* (?:instr|ext)", re.I
)
"""Chips whose cores are built without crypto instructions, or a text that says so."""
_CORE = re.compile(r"\bcortex-(a\d+)\b", re.I)
_CLOCK = re.compile(r"\b(\d(?:\.\d+)?)(?= ?GHz\b)|\b\d{3,4}(?= ?MHz\b)")
_ALGORITHM = re.compile(
    r"\b(sha)-?(1|224|256|384|512)\b|\b(aes)-?(128|192|256)(?:[ -]?(cbc|ecb|ctr|gcm|xts)\b)?", re.I
)
_MODE = re.compile(r"\b(?:cbc|ecb|ctr|gcm|xts)\b", re.I)
_CLAIM = re.compile(r"hardware|hw accel|accelerat", re.I)
_SOFTWARE = re.compile(r"software|generic|typical", re.I)
_MANY = re.compile(r"\bthreads?\b|-multi\b|\bparallel\b|\b[2-9] cores\b", re.I)
_INSTRUCTIONS = ("ce", "sha-ni")


def place(reading: Reading, reference: Reference, core: str = "", clock_hz: float = 0.0) -> None:
    """Sets the reading's core and clock: the caller's, else what the text states or implies. A text
    with two cores or two clocks has none."""
    text = reading.text
    cores = {name.lower() for name in _CORE.findall(text)}
    clocks = {float(at[0]) * (1e9 if at[1] else 1e6) for at in _CLOCK.finditer(text)}
    stated = f"cortex-{next(iter(cores))}" if len(cores) == 1 else ""
    reading.core = core or stated
    reading.clock_hz = clock_hz or reading.clock_hz or (clocks.pop() if len(clocks) == 1 else 0.0)
    reading.emulated |= bool(re.search(r"\bqemu", text, re.I))
    reading.lacks_instructions |= bool(_BARE.search(text))
    reading.openssl |= "openssl" in text.lower()
    for pattern, board in _BOARDS:
        named = pattern.search(text)
        board_core = reference.constants[f"{board}-core"].text
        if named is None or len(cores) > 1 or reading.core not in ("", board_core):
            continue
        if not reading.core:
            reading.core = board_core
            why = ", and the board itself is inferred" if "(inferred" in named[0] else ""
            reading.inferred["core"] = reference.constants[f"{board}-core"].source + why
        if not reading.clock_hz and len(clocks) < 2:
            reading.clock_hz = reference.constant(f"{board}-clock") * 1e9
            reading.inferred["clock"] = reference.constants[f"{board}-clock"].source


def _named(text: str) -> str:
    match = _ALGORITHM.search(text)
    parts = [part.lower() for part in match.groups() if part] if match else []
    return ("" if parts[:1] == ["sha"] else "-").join(parts)


def _speeds(reading: Reading) -> Iterator[tuple[str, float, Printed]]:
    """Yields rates with their algorithm and their message's bytes: those of programs, and those in
    tables. AES without a mode is CBC if the text names no other mode."""
    modes = {mode.lower() for mode in _MODE.findall(reading.text)}
    alone = {_named(text) for _, text in reading.lines} - {""}
    tables = (table for table in reading.tables if table.kind != "list")
    rows = [(f"{one.row} {one.column} {one.table}", one)
            for table in tables for row in table.rows for one in row.cells.values()]  # fmt: skip
    for words, one in [*reading.speeds, *rows]:
        name = _named(words) or (next(iter(alone)) if len(alone) == 1 else "")
        if one.dimension != "rate" or one.span.low <= 0 or not name:
            continue
        name += "-cbc" if re.fullmatch(r"aes-\d+", name) and modes == {"cbc"} else ""
        made = [each for text in (one.column, one.row) if (each := figure(text)) is not None]
        yield name, next((each.span.mid for each in made if each.dimension == "size"), 0.0), one


def published(reading: Reading, reference: Reference) -> Iterator[Tested]:
    """Compares the highest rate of each algorithm, in hardware and in software, with published
    speeds of the core. A message's rate goes before a file's, which includes reading the file."""
    if reading.emulated or not reading.core or reading.clock_hz <= 0:
        return
    rates: dict[tuple[str, str], list[tuple[bool, Printed]]] = {}
    for algorithm, size, rate in _speeds(reading):
        if size == 0 or size >= BULK:
            words = f"{rate.row} {rate.column}"
            claims = _CLAIM.search(f"{reading.title} {rate.table} {words}")
            kind = "software" if _SOFTWARE.search(words) else "hardware" if claims else ""
            rates.setdefault((algorithm, kind), []).append((size > 0, rate))
    for (algorithm, kind), ranked in rates.items():
        _, rate = max(ranked, key=lambda one: (one[0], one[1].span.mid))
        lacking = _INSTRUCTIONS if reading.lacks_instructions else ()
        rows = [row for row in reference.cycles_for(reading.core, algorithm)
                if row.implementation not in lacking]  # fmt: skip
        wrong = _against(reading, rate, kind == "hardware", rows) if rows else ""
        yield Tested("published-speed", rate, not wrong, wrong, "caution")


def _against(reading: Reading, rate: Printed, claimed: bool, rows: Sequence[CyclesPerByte]) -> str:
    """Returns what is wrong with a rate, by the published cycles of the core; "" if nothing is. The
    compiler's code bounds any software, other rows OpenSSL's."""
    cycles = exact(reading.clock_hz) / rate.span
    fastest, *_ = ranked = sorted(rows, key=lambda row: row.cycles)
    software = [row for row in ranked if row.implementation not in _INSTRUCTIONS
                and (reading.openssl or row.implementation == "compiler")]  # fmt: skip
    reaching = [row for row in software if float(row.cycles) <= cycles.mid * (1 + CLOSE)]
    alone = not _MANY.search(reading.text)
    if not claimed and alone and cycles.high * FASTER < float(fastest.cycles):
        ratio = number(float(fastest.cycles) / cycles.mid, 3)
        why = f", {ratio} times the fastest published, {_cited(reading, fastest)}"
    elif claimed and reaching:
        reached = fmt.listed([_cited(reading, row) for row in reversed(reaching)])
        why = f": called hardware, but software reaches {reached}"
    elif software and cycles.low * SLOWER > float(software[-1].cycles):
        clock = number(reading.clock_hz * float(software[-1].cycles) / cycles.mid / 1e6, 3)
        why = f", and the slowest published software has {_cited(reading, software[-1])}. It would "
        why += f"run so at {clock} MHz: the clock, the compiler's options or the figure need a look"
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
