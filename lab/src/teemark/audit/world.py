# SPDX-License-Identifier: BSD-2-Clause
"""Compares rates with published speeds of the core: rows of reference/cycles-per-byte.csv."""

import re
from collections.abc import Iterator, Sequence

from teemark.audit.figure import Printed, Reading, Tested
from teemark.audit.numbers import amount, figure, number
from teemark.reference.data import CyclesPerByte, Reference
from teemark.reference.span import Span, exact
from teemark.wording import fmt

FASTER = 1.15
"""Ratio up to which an implementation may be faster than the published one: it may be newer."""
CLOSE = 0.05  # Share by which claimed hardware may be faster than software and still be as fast
SLOWER = 0.5  # Share of the slowest published software's rate below which a rate is strange
BULK = 1024  # Bytes of a message from which its rate is the algorithm's, not the call's
_BARE = re.compile(
    r"raspberry pi ?[34]|\brpi ?[34]|bcm2(?:711|83[57])|no (?:crypto|aes)\w* (?:instr|ext)"
    r"|^\W*flags:(?!.*\baes\b).*\b(?:asimd|neon)\b", re.I | re.M
)  # fmt: skip
"""Chips whose cores are built without crypto instructions, or a text or lscpu that says so."""
_CORE = re.compile(r"\bcortex-(a\d+)\b", re.I)
_CLOCK = re.compile(r"\b(\d(?:\.\d+)?) ?GHz\b|(?:\b|max MHz: *)(\d{3,4})(?: ?MHz\b|[.,]0+$)", re.M)
_ALGORITHM = re.compile(
    r"\b(sha)-?(1|224|256|384|512)\b|\b(aes)-?(128|192|256)(?:[ -]?(cbc|ecb|ctr|gcm|xts)\b)?", re.I
)
_MODE = re.compile(r"\b(?:cbc|ecb|ctr|gcm|xts)\b", re.I)
_CLAIM = re.compile(r"hardware|hw accel|accelerat", re.I)
_SOFTWARE = re.compile(r"software|generic|typical", re.I)
_MANY = re.compile(r"\bthreads?\b|-multi\b|\bparallel\b|\b[2-9] cores\b", re.I)
_INSTRUCTIONS = ("ce", "sha-ni")
_WHOSE = {"scalar": "assembly", "neon": "NEON", "compiler": "compiled C", "ce": "instructions"}


def _machine(text: str, core: str, hertz: float) -> tuple[str, float]:
    """Returns a core and its clock: the caller's, else what the text states. A text with two cores
    or two clocks has none, and neither has an emulator."""
    cores = {f"cortex-{name.lower()}" for name in _CORE.findall(text)}
    clocks = {float(ghz) * 1e9 if ghz else float(mhz) * 1e6 for ghz, mhz in _CLOCK.findall(text)}
    core = core or "".join(cores if len(cores) == 1 else ())
    hertz = hertz or sum(clocks if len(clocks) == 1 else ())
    return core, 0.0 if re.search(r"\bqemu", text, re.I) else hertz


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
    rows = [one for table in tables for row in table.rows for one in row.cells.values()]
    for one in (*reading.speeds, *rows):
        words = f"{one.row} {one.column} {one.table}"
        name = _named(words) or (next(iter(alone)) if len(alone) == 1 else "")
        if one.dimension != "rate" or one.span.low <= 0 or not name:
            continue
        name += "-cbc" if re.fullmatch(r"aes-\d+", name) and modes == {"cbc"} else ""
        made = [each for text in (one.column, one.row) if (each := figure(text)) is not None]
        yield name, next((each.span.mid for each in made if each.dimension == "size"), 0.0), one


def published(
    reading: Reading, reference: Reference, core: str = "", hertz: float = 0.0
) -> Iterator[Tested]:
    """Compares the highest rate of each algorithm, in hardware and in software, with published
    speeds of the core. A message's rate goes before a file's, which includes reading the file."""
    core, hertz = _machine(reading.text, core, hertz)
    if not core or not hertz:
        return
    machine = f"{core.title()} at {number(hertz / 1e9)} GHz"
    lacking = _INSTRUCTIONS if _BARE.search(reading.text) else ()
    rates: dict[tuple[str, str], list[tuple[bool, Printed]]] = {}
    for algorithm, size, rate in _speeds(reading):
        if size == 0 or size >= BULK:
            words = f"{rate.row} {rate.column}"
            claims = _CLAIM.search(f"{reading.title} {rate.table} {words}")
            kind = "software" if _SOFTWARE.search(words) else "hardware" if claims else ""
            rates.setdefault((algorithm, kind), []).append((size > 0, rate))
    for (algorithm, kind), ranked in rates.items():
        _, rate = max(ranked, key=lambda one: (one[0], one[1].span.mid))
        cycles = exact(hertz) / rate.span
        rows = [row for row in reference.cycles_for(core, algorithm)
                if row.implementation not in lacking]  # fmt: skip
        why = _against(reading, cycles, kind == "hardware", rows, hertz) if rows else ""
        wrong = f"{rate.name}: {amount(rate.span, 'rate')} on a {machine} is "
        wrong += f"{number(cycles.mid, 3)} cycles a byte{why}."
        yield Tested("published-speed", rate, not why, wrong, "caution")


def _against(
    reading: Reading, cycles: Span, claimed: bool, rows: Sequence[CyclesPerByte], hertz: float
) -> str:
    """Returns what is wrong with a rate, by the published cycles of the core; "" if nothing is. The
    compiler's code bounds any software, other rows OpenSSL's."""

    def cited(row: CyclesPerByte) -> str:
        rate, who = amount(hertz / float(row.cycles), "rate"), row.implementation
        each = number(float(row.cycles), 3)
        return f"{rate} = {each} cycles a byte ({_WHOSE.get(who, who)}; {row.source})"

    fastest, *_ = ranked = sorted(rows, key=lambda row: row.cycles)
    openssl = reading.speeds or "openssl" in reading.text.lower()
    software = [row for row in ranked if row.implementation not in _INSTRUCTIONS
                and (openssl or row.implementation == "compiler")]  # fmt: skip
    reaching = [row for row in software if float(row.cycles) <= cycles.mid * (1 + CLOSE)]
    if claimed and reaching:
        reached = fmt.listed([cited(row) for row in reversed(reaching)])
        return f": called hardware, but software reaches {reached}"
    alone = not claimed and not _MANY.search(reading.text)
    if alone and cycles.high * FASTER < float(fastest.cycles):
        ratio = number(float(fastest.cycles) / cycles.mid, 3)
        return f", {ratio} times the fastest published, {cited(fastest)}"
    if software and cycles.low * SLOWER > float(software[-1].cycles):
        clock = number(hertz * float(software[-1].cycles) / cycles.mid / 1e6, 3)
        why = f", and the slowest published software has {cited(software[-1])}. It would run so at "
        return f"{why}{clock} MHz: the clock, the compiler's options or the figure need a look"
    return ""
