# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: RUF001 (the signs of arithmetic)
"""Rules that need to know the world: what a core can do, what a console costs, what a page does.
Every bound is a row of reference/ with its source."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from teemark.audit.figures import Figure, Paper
from teemark.audit.finding import OTHER_TABLE, Case, Rule, Said
from teemark.audit.words import amount, listed, number
from teemark.reference.span import Span, exact

FASTER = 1.15
"""A newer implementation may beat the published one by so much."""
CLAIMED_SLOWER, SLOWER = 0.8, 0.5
"""Of the slowest published software: hardware below the one, anything below the other."""
BULK = 1024
"""Bytes from which a rate is that of the algorithm and not of the call."""
CALL_NOISE = 2.0
"""A call for more data that takes less than half the time is no noise."""
LINE_SHARE = 0.1
"""Of what a call costs: below it, a printed line explains nothing."""


@dataclass(frozen=True, slots=True)
class _Speed:
    """A rate of a paper, and how it came about."""

    rate: Span
    algorithm: str
    kind: str  # "hardware" as it claims, "software" as it says, or ""
    figure: Figure
    in_memory: bool  # of a message of known size

    @property
    def rank(self) -> tuple[bool, float]:
        """What is highest: files, which are read as well, come after messages."""
        return self.in_memory, self.rate.mid


def _speeds(paper: Paper) -> Iterator[_Speed]:
    for record in paper.records.values():
        size, hashing = record.get("size"), record.get("hashing")
        rates = [(one, one.span) for one in record.figures.get("rate", [])]
        if not rates and size is not None and hashing is not None and hashing.span.low > 0:
            rates = [(hashing, size.span / hashing.span)]
        for figure, rate in rates:
            algorithm = paper.algorithm_of(record, figure)
            if algorithm and rate.low > 0 and (record.size or BULK) >= BULK:
                kind = paper.kind_of(record, figure)
                yield _Speed(rate, algorithm, kind, figure, record.size is not None)


def _published(case: Case, paper: Paper, algorithm: str) -> list[tuple[float, str, str]]:
    """Rates of the core at the paper's clock: bytes a second, what does it, the source."""
    found = [
        (paper.clock_hz / float(row.cycles), row.implementation, row.source)
        for row in case.reference.cycles_for(paper.core, algorithm)
    ]
    found += [
        (row.bytes_per_second * paper.clock_hz / row.clock_hz, row.implementation, row.source)
        for row in case.reference.rates
        if (row.core, row.algorithm) == (paper.core, algorithm)
    ]
    return found


_INSTRUCTIONS = ("ce", "sha-ni")


def published(paper: Paper, case: Case) -> Iterator[Said]:
    """The highest rate of each algorithm against what the core is known to do."""
    if paper.sheet.emulated or not paper.core or not paper.clock_hz:
        return
    best: dict[tuple[str, str], _Speed] = {}
    for speed in _speeds(paper):
        of_kind = best.get((speed.algorithm, speed.kind))
        if of_kind is None or speed.rank > of_kind.rank:
            best[speed.algorithm, speed.kind] = speed
    for speed in best.values():
        evidence = _against(paper, speed, _published(case, paper, speed.algorithm))
        if evidence:
            yield evidence, speed.figure


def _against(paper: Paper, speed: _Speed, known: list[tuple[float, str, str]]) -> str:
    """What is wrong with a rate on a core of which something is known; or nothing."""
    software = sorted(one for one in known if one[1] not in _INSTRUCTIONS)
    rate, claimed = speed.rate, speed.kind == "hardware"
    close = [one for one in software if 1 / FASTER <= rate.mid / one[0] <= 1 + OTHER_TABLE]
    slowest = software[0] if software else (0.0, "", "")
    said = ""
    if not claimed and known and rate.low > FASTER * max(known)[0]:
        fastest = max(known)
        said = f", {number(rate.mid / fastest[0], 3)} times the fastest published, "
        said += _cited(paper, fastest)
    elif claimed and close:
        reached = listed([_cited(paper, one) for one in close])
        said = f": called hardware, and software reaches {reached}. Nothing here needs hardware"
    elif claimed and rate.high < CLAIMED_SLOWER * slowest[0]:
        said = f": called hardware, and software reaches {_cited(paper, slowest)}"
        said += f" to {_cited(paper, software[-1])}, {number(slowest[0] / rate.mid, 2)} to "
        said += f"{number(software[-1][0] / rate.mid, 2)} times as much"
    elif rate.high < SLOWER * slowest[0]:
        clock = number(paper.clock_hz * rate.mid / slowest[0] / 1e6, 3)
        said = f", and the slowest published software has {_cited(paper, slowest)}. It would run "
        said += f"so at {clock} MHz: the clock, the compiler's options or the figure need a look"
    cycles = number(paper.clock_hz / rate.mid, 3)
    where = f"{speed.figure.name}: {amount(rate, 'rate')} on a {_machine(paper)}"
    return f"{where} is {cycles} cycles a byte{said}." if said else ""


def _machine(paper: Paper) -> str:
    core = "-".join(part.capitalize() for part in paper.core.split("-"))
    shown = {"core": core, "clock": f"{number(paper.clock_hz / 1e9)} GHz"}
    for what, why in paper.inferred.items():
        shown[what] += f" (inferred: {why})"
    return " at ".join(shown.values())


_WHOSE = {"scalar": "assembly", "neon": "NEON", "compiler": "compiled C", "ce": "instructions"}


def _cited(paper: Paper, one: tuple[float, str, str]) -> str:
    rate, who, source = one
    return (
        f"{amount(rate, 'rate')} = {number(paper.clock_hz / rate, 3)} cycles a byte "
        f"({_WHOSE.get(who, who)}; {source})"
    )


def console(paper: Paper, case: Case) -> Iterator[Said]:
    """Does a line that is printed in every call explain what a call costs?"""
    lines = Counter(
        found[0]
        for one in paper.sheet.said
        if (found := re.search(r"[DIFEW]/(?:TA|TC|LD):.*", one.text))
    )
    repeated = [(count, line) for line, count in lines.items() if count > 1]
    if not repeated:
        return
    line = max(repeated)[1].rstrip()
    characters = len(line) + case.reference.constant("uart-line-end")
    baud = case.reference.constant("uart-baud")
    bits = case.reference.constant("uart-bits")
    seconds = characters * bits / baud
    for figure in [one for one in paper.figures if one.quantity == "per call"]:
        if figure.span.high >= seconds >= LINE_SHARE * figure.span.low > 0:
            low, high = 100 * seconds / figure.span.high, 100 * seconds / figure.span.low
            yield (
                f"{figure.name}: {figure.text}. Calls print a line on the serial console: "
                f"{number(characters)} characters × {number(bits)} bits ÷ {number(baud, 6)} baud "
                f"(inferred: {case.reference.constants['uart-baud'].source}) = "
                f"{amount(seconds, 'time')}, {number(low, 2)} to {number(high, 2)} % of it.",
                figure,
            )
            return


def mapping(paper: Paper, case: Case) -> Iterator[Said]:
    """A call that carries a buffer maps its pages."""
    page = case.reference.constant("page")
    small, large = case.reference.constant("map-4KiB"), case.reference.constant("map-1MiB")
    per_page = (large - small) / (2**20 / page - 1) * 1e-6
    for record in paper.records.values():
        call, chunk = record.get("per call"), record.get("chunk")
        if call is None or chunk is None or chunk.span.mid < 16 * page:
            continue
        pages = chunk.span.mid / page
        if call.span.high < 0.1 * pages * per_page:
            yield (
                f"{call.text} for a call that carries {chunk.text} is "
                f"{amount(call.span.mid / pages, 'time')} for each of {number(pages, 3)} pages, "
                f"to check, map and unmap it; {amount(per_page, 'time')} a page is reported "
                f"({case.reference.constants['map-1MiB'].source}). The figure leaves out what "
                "the call itself costs.",
                call,
            )


def peak(paper: Paper, _case: Case) -> Iterator[Said]:
    """A figure called the peak, and one above it."""
    speeds = [
        (paper.algorithm_of(record, figure), figure)
        for record in paper.records.values()
        for figure in record.figures.get("rate", [])
    ]
    peaks = [(name, one) for name, one in speeds if re.search(r"\bpeak\b|\bmax\b", one.name, re.I)]
    for algorithm, top in peaks:
        above = {
            figure.span.mid: figure
            for name, figure in speeds
            if algorithm
            and name == algorithm
            and figure.span.low > top.span.high * (1 + OTHER_TABLE)
        }
        if above:
            yield (
                f"{top.name}: {top.text}, and "
                + listed([f"{one.text} ({one.name})" for one in above.values()])
                + (" is" if len(above) == 1 else " are")
                + " above it. One of them wasn't measured as it says.",
                next(iter(above.values())),
            )


def cpu_time(paper: Paper, _case: Case) -> Iterator[Said]:
    """openssl speed divides by the CPU time of user mode unless -elapsed is given."""
    for record in paper.records.values():
        asked, time = record.get("asked"), record.get("time")
        if asked is not None and time is not None and 0 < time.span.high < 0.5 * asked.span.mid:
            yield (
                f"{record.name}: {asked.text} were asked for and the rate is over {time.text}: "
                "CPU time, not elapsed time. The process waited meanwhile, for a device or for "
                f"others; by the clock it is {number(asked.span.mid / time.span.high, 2)} times "
                "slower. Use -elapsed.",
                time,
            )
            return


def curve(paper: Paper, case: Case) -> Iterator[Said]:
    """Is the time of small and large messages that of one algorithm?"""
    block, padding = case.reference.constant("sha-block"), case.reference.constant("sha-padding")
    for record in paper.records.values():
        floor, slope = record.get("floor"), record.get("per byte")
        small, large = record.get("smallest"), record.get("largest")
        if floor is None or slope is None or small is None or large is None:
            continue
        blocks = [-(-(one.span.mid + padding) // block) for one in (small, large)]
        more = (blocks[1] - blocks[0]) * block * slope.span.low
        spread = floor.span.high - floor.span.low
        if more > spread:
            yield (
                f"{floor.text} for {small.text} to {large.text} leaves {amount(spread, 'time')} "
                f"at most between them; {slope.text} × {number(block)} bytes × "
                f"{number(blocks[1] - blocks[0])} more block is {amount(more, 'time')} at least.",
                floor,
            )
    yield from _falling(paper)


def _call(size: int, rate: Span) -> Span:
    return exact(size) / rate


def _falling(paper: Paper) -> Iterator[Said]:
    if paper.sheet.emulated:
        return
    series: dict[tuple[str, str], list[tuple[int, Span, Figure]]] = {}
    for record in paper.records.values():
        rate = record.get("rate")
        if record.size and rate is not None and rate.span.low > 0:
            key = (record.name, rate.cell.table)
            series.setdefault(key, []).append((record.size, _call(record.size, rate.span), rate))
    for points in series.values():
        points.sort(key=lambda point: point[0])
        for (n, before, one), (m, after, other) in pairwise(points):
            if after.high * CALL_NOISE < before.low:
                yield (
                    f"{other.name}: {m} bytes take {amount(after, 'time')} and {n} bytes "
                    f"{amount(before, 'time')} ({one.text}): more data in less than half the time.",
                    other,
                )


def baseline(paper: Paper, _case: Case) -> Iterator[Said]:
    """A comparison with what was spoken of and not measured."""
    for one in paper.sheet.said:
        if re.search(r"\bbaseline\b.*\bwithout tee\b|\bcompare .*\bbaseline\b", one.text, re.I):
            named = re.compile(r"baseline|without tee|normal world", re.I)
            if not any(named.search(figure.name) for figure in paper.figures):
                yield "A baseline is spoken of, and no figure of it is given.", one.line
                break
    guessed = [
        figure
        for figure in paper.figures
        if figure.quantity == "rate" and re.search(r"typical|estimat|expected", figure.name, re.I)
    ]
    if guessed:
        yield (
            "The comparison is with "
            + listed([f"{one.text} ({one.cell.row})" for one in guessed])
            + ", which nobody measured here and which has no source.",
            guessed[0],
        )


def route(paper: Paper, case: Case) -> Iterator[Said]:
    """What shows that OpenSSL used the kernel's drivers?"""
    claims = [
        one
        for one in paper.sheet.said
        if re.search(
            r"selected by\W*openssl|openssl (?:is )?using .*(?:hardware|accel)", one.text, re.I
        )
    ]
    if claims and not paper.says(r"devcrypto|cryptodev|\bafalg\b|af_alg engine"):
        yield (
            "/proc/crypto's priorities choose between the kernel's own drivers. OpenSSL gets to "
            f"them by an engine alone, {case.reference.words('openssl-kernel-route')}, and none "
            "is named. The evidence would be the accelerator's interrupts before and after, or "
            "CPU time by elapsed time.",
            claims[0].line,
        )


def error_cause(paper: Paper, case: Case) -> Iterator[Said]:
    """Does the cause given explain the error?"""
    error = next((one for one in paper.sheet.cells if one.measure.unit == "errno"), None)
    text = next(
        (one for one in paper.sheet.said if re.search(r"error\W+[-−]?93\b", one.text)), None
    )
    is_93 = text is not None or (error is not None and abs(error.measure.span.mid) == 93)
    if is_93 and paper.says(r"ahash|asynchronous"):
        option = case.reference.words("kcapi-needs")
        yield (
            f"Error 93 is {case.reference.words('errno-93')}: a socket's protocol is missing. "
            f"libkcapi opens NETLINK_CRYPTO, which needs {option}. Asynchronous digests aren't "
            "the cause: AF_ALG serves them too.",
            text.line if text is not None else 0,
        )


RULES: tuple[Rule, ...] = (
    Rule("published-speed", "warning", published),
    Rule("console-line", "warning", console),
    Rule("no-time-to-map", "error", mapping),
    Rule("above-peak", "error", peak),
    Rule("cpu-time", "warning", cpu_time),
    Rule("size-curve", "error", curve),
    Rule("baseline-not-measured", "warning", baseline),
    Rule("openssl-route", "warning", route),
    Rule("error-cause", "error", error_cause),
)
