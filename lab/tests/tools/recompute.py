# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: RUF001, PLR0912, PLR0917 (the signs of arithmetic; a record's kinds; a figure's unit, slack and digits)
"""Computes the figures of a report again, from run.ndjson alone:

    .venv/bin/python lab/tests/tools/recompute.py RUN…        folders with run.ndjson and report.md

It imports nothing of teemark: it reads the rendered Markdown, finds each sentence and each row of a
table that has a figure, computes the figure in a way of its own, and compares within the digits
that are printed. What it can't compute is counted by name. Exits with 1 if a figure is untrue."""

import ast
import csv
import itertools
import json
import math
import re
import statistics
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

UNITS = {"ns": 1.0, "µs": 1e3, "ms": 1e6, "s": 1e9, "instructions": 1.0}
SIZES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "bytes": 1}
SUPERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
SPACE = "[ \u00a0\u202f\u2009]"
NUMBER = rf"[−+-]?\d+(?:{SPACE}\d{{3}})*(?:\.\d+)?(?:{SPACE}×{SPACE}10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)?"
COST = rf"({NUMBER}){SPACE}?(instructions|ns|µs|ms|s)\b"
TITLES = {"SHA-1": "sha1", "SHA-256": "sha256", "SHA-512": "sha512", "SHA-224": "sha224",
          "SHA-384": "sha384"}  # fmt: skip
BACKENDS = {"TEE API": "tee", "C, in the TA": "ta-c", "CE, in the TA": "ta-ce",
            "C, normal world": "c", "CE, normal world": "ce", "OpenSSL": "openssl",
            "kernel (AF\\_ALG)": "afalg"}  # fmt: skip


@dataclass(frozen=True)
class Printed:
    """A number as it stands in a report, and half of its last digit."""

    value: float
    half: float

    @staticmethod
    def of(text: str, significant: int = 0) -> "Printed":
        """`significant`: so many digits are printed, and zeros behind them fill up."""
        text = re.sub(SPACE, "", text).replace("−", "-").replace("+", "")
        mantissa, _, power = text.partition("×10")
        scale = 10.0 ** int(power.translate(SUPERS)) if power else 1.0
        whole, _, behind = mantissa.lstrip("-").partition(".")
        digits = len(behind) or (min(significant - len(whole), 0) if significant else 0)
        return Printed(float(mantissa) * scale, 0.5 * 10.0**-digits * scale)

    def is_near(self, value: float, unit: float = 1.0, loose: float = 0.0) -> bool:
        """`loose` is a relative error that the report itself prints beside the figure."""
        slack = self.half * 1.0001 + loose * abs(self.value) + 1e-9
        return math.isfinite(value) and abs(value / unit - self.value) <= slack


def sign_test_ranks(count: int) -> int:
    """Returns how far from either end of `count` sorted samples the two stand between which the
    median lies at 95 %; 0 for too few."""
    below, ranks = 0.0, 0
    while ranks < count:
        below += math.comb(count, ranks) / 2**count
        if 2 * below > 0.05:
            break
        ranks += 1
    return ranks


@dataclass
class Run:
    samples: dict[str, list[tuple[int, float]]] = field(default_factory=dict)  # repeat, cost
    teehash: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    cases: dict[str, dict[str, Any]] = field(default_factory=dict)
    starts: int = 0
    plan: str = ""
    resolution: float = 0.0  # of the clock, in nanoseconds
    counted: bool = False  # instructions: they are exact
    loose: float = 0.0  # of medians: a clock that isn't exact has steps, within which they lie

    def values(self, key: str, repeat: int = 1) -> list[float]:
        return sorted(cost for times, cost in self.samples.get(key, ()) if times == repeat)

    def median(self, key: str, repeat: int = 1) -> float:
        """Returns the middle of what one call took; nan without samples."""
        values = self.values(key, repeat)
        return statistics.median(values) if values else math.nan

    def between(self, key: str) -> tuple[float, float]:
        """Returns the samples between which the median lies at 95 %, by the sign test; the least
        and the most of instructions, which are exact."""
        values = self.values(key)
        if self.counted:
            return values[0], values[-1]
        ranks = sign_test_ranks(len(values))
        return (values[ranks - 1], values[-ranks]) if ranks else (math.nan, math.nan)

    def sizes(self, algorithm: str, backend: str) -> dict[int, float]:
        """Medians of whole messages by their bytes."""
        found = {}
        for key in self.samples:
            words = key.split("/")
            if words[:3] == ["oneshot", algorithm, backend] and words[3].isdigit():
                found[int(words[3])] = self.median(key)
        return {size: cost for size, cost in found.items() if not math.isnan(cost)}

    def slope(self, algorithm: str, backend: str) -> float:
        """Returns the cost of one more byte between the two longest messages."""
        found = sorted(self.sizes(algorithm, backend).items())
        if len(found) < 2:
            return math.nan
        (small, less), (large, more) = found[-2:]
        return (more - less) / (large - small)


def read(file: Path) -> Run:
    run = Run()
    for line in file.read_text().splitlines():
        record = json.loads(line)
        kind = record["type"]
        run.counts[kind] += 1
        if kind == "run":
            run.counted, run.plan = record["icount"], record.get("plan") or ""
            run.loose = 0.0 if run.counted else 0.001
        elif kind == "sample" and record["source"] == "client-clock":
            cost = record["ns"] / record["loops"]
            run.samples.setdefault(record["case"], []).append((record.get("repeat", 1), cost))
        elif kind == "machine":
            run.resolution = record.get("clock", {}).get("resolution_ns", 0.0)
        elif kind == "case":
            run.cases[record["case"]] = record
        elif kind == "teehash":
            run.teehash.setdefault(record["case"], []).append(record)
        elif kind == "start":
            run.starts += 1
    run.starts = max(run.starts, 1)
    return run


@dataclass
class Verdict:
    checked: int = 0
    untrue: list[str] = field(default_factory=list)
    open: Counter[str] = field(default_factory=Counter)
    tall: Counter[str] = field(default_factory=Counter)

    def hold(self, where: str, text: str, good: bool, value: object = "") -> None:
        self.checked += 1
        if not good:
            self.untrue.append(
                f"{where}: {text}" + (f" (computed: {value})" if value != "" else "")
            )

    def figure(
        self,
        where: str,
        text: str,
        value: float,
        unit: float = 1.0,
        loose: float = 0.0,
        digits: int = 0,
    ) -> None:
        good = Printed.of(text, digits).is_near(value, unit, loose)
        self.hold(where, text, good, value / unit)


def size_of(text: str) -> int:
    number, unit = re.split(rf"{SPACE}(?=[A-Za-z])", text.strip(), maxsplit=1)
    return round(Printed.of(number).value * SIZES[unit])


# Sentences. Each takes the run, what the pattern found, and says what doesn't hold.

Found = re.Match[str]
Rule = Callable[[Run, Found, Verdict], None]


def call_cost(run: Run, found: Found, out: Verdict) -> None:
    key = "invoke/none/tee/none"
    unit = UNITS[found[2]]
    out.figure("call into the TEE", found[1], run.median(key), unit, run.loose)


def call_samples(run: Run, found: Found, out: Verdict) -> None:
    low, high = run.between("invoke/none/tee/none")
    out.hold(
        "call into the TEE", found[0], int(found[1]) == len(run.values("invoke/none/tee/none"))
    )
    if run.starts == 1:
        out.figure("call into the TEE, from", found[2], low)
        out.figure("call into the TEE, to", found[3], high)


def inside_outside(run: Run, found: Found, out: Verdict) -> None:
    algorithm = TITLES[found[1]]
    if not run.counted:
        out.open["a slope over medians that scatter"] += 3
        return
    inside, outside = run.slope(algorithm, "tee"), run.slope(algorithm, "openssl")
    out.figure("a byte inside", found[2], inside, UNITS[found[3]], 0.01)
    out.figure("a byte outside", found[4], outside, UNITS[found[3]], 0.01)
    out.figure("a byte inside over outside", found[5], inside / outside, 1, 0.02)


def whole_message(run: Run, found: Found, out: Verdict) -> None:
    size = size_of(found[1])
    for algorithm in ("sha256", "sha1", "sha512"):
        tee = run.median(f"oneshot/{algorithm}/tee/{size}")
        openssl = run.median(f"oneshot/{algorithm}/openssl/{size}")
        if Printed.of(found[3]).is_near(tee, UNITS[found[4] or found[6]], run.loose):
            break
    out.figure(
        f"a message of {found[1]}, TEE", found[3], tee, UNITS[found[4] or found[6]], run.loose
    )
    out.figure(f"a message of {found[1]}, OpenSSL", found[5], openssl, UNITS[found[6]])
    out.figure(f"a message of {found[1]}, ratio", found[2], tee / openssl, 1, 0, 3)


def counted_cases(run: Run, found: Found, out: Verdict) -> None:
    cases = len(run.samples) + len(run.teehash)
    samples = sum(map(len, run.samples.values())) + sum(
        len(records) for records in run.teehash.values()
    )
    out.figure("cases measured", found[1], cases)
    out.figure("samples", found[2], samples)


def cannot_run(run: Run, found: Found, out: Verdict) -> None:
    out.figure("cases that can't run", found[1], run.counts["skip"] / max(run.starts, 1))


def measuring_adds(run: Run, found: Found, out: Verdict) -> None:
    empty = run.median("invoke/none/empty/none")
    case = found[4].replace("\\", "")
    out.figure("an empty backend", found[2], empty, UNITS[found[3]])
    out.figure(f"the smallest case {case}", found[5], run.median(case), UNITS[found[6]])
    out.figure("measuring adds", found[1], 100 * empty / run.median(case), 1, 0.005)
    others = {key: run.median(key) for key in run.samples if key != "invoke/none/empty/none"}
    out.hold("the smallest case", case, run.median(case) <= min(others.values()) * 1.0001)


def fewest(run: Run, found: Found, out: Verdict) -> None:
    algorithm, best, other = TITLES[found[1]], found[3], found["other"]
    low, high, at = (size_of(found[i] or found[6]) for i in (5, 6, 7))
    secure = {"tee", "ta-c", "ta-ce"}
    rivals = {
        key.split("/")[2]
        for key in run.samples
        if key.startswith(f"oneshot/{algorithm}/") and (not found[2] or key.split("/")[2] in secure)
    } - {"c", "ce"}  # a TEE's sources in the normal world are no choice
    for size in run.sizes(algorithm, best):
        if low <= size <= high:
            costs = {one: run.median(f"oneshot/{algorithm}/{one}/{size}") for one in rivals}
            least = min(cost for cost in costs.values() if not math.isnan(cost))
            fine = costs[best] <= least * 1.01
            out.hold(found[1], f"{best} is the best of {sorted(costs)} at {size} B", fine, least)
    mine, theirs = (run.median(f"oneshot/{algorithm}/{one}/{at}") for one in (best, other))
    where = f"{found[1]} at {at} B, {best} against {other}, % less"
    out.figure(where, found["less"], 100 * (1 - mine / theirs), 1, run.loose)


def beside_published(run: Run, found: Found, out: Verdict) -> None:
    ours, published = Printed.of(found[1], 3), Printed.of(found[2], 3)
    loose = ours.half / abs(ours.value) + published.half / abs(published.value)
    ratio = ours.value / published.value
    out.figure("as a document has it", found[3], ratio, 1, loose, 3)


def by_itself(compute: Callable[..., float]) -> Rule:
    """A sentence whose last figure follows from those before it in the same sentence."""

    def rule(run: Run, found: Found, out: Verdict) -> None:
        *given, result = [one for one in found.groups() if one]
        numbers = [Printed.of(one) for one in given]
        value = compute(*(one.value for one in numbers))
        loose = sum(one.half / one.value for one in numbers)
        # A document's round figure is taken as it stands, ours within its digits.
        out.figure(found[0][:60], result, value, 1, min(loose, 0.005), 3)

    return rule


SAID = r"The parts of|Slope over|SHA-\d+[:.]|[\w-]+(, [\w ]+)?(\. Emulated|: [\w ]+ at the median)"
STEP = 16  # ns or instructions, of the exact board's clock
SENTENCES: list[tuple[str, Rule]] = [
    (rf"A call into the TEE costs {COST} before", call_cost),
    (rf"The median of (\d+) samples; within the run they lie between ({NUMBER}) and ({NUMBER})",
     call_samples),
    (rf"(SHA-\d+) inside takes ({NUMBER}) (instructions|ns|µs) a byte, outside \(OpenSSL\) "
     rf"({NUMBER})(?: \w+ a byte)?: ({NUMBER}) times as much", inside_outside),
    (rf"at ([\d.]+{SPACE}[KM]?i?B) ({NUMBER}) times (?:\(95 % interval [^)]*\) )?as much "
     rf"\(({NUMBER})(?:{SPACE}(instructions|ns|µs|ms|s))? against {COST}\)", whole_message),
    (rf"\*\*({NUMBER}) cases?\*\* measured with \*\*({NUMBER}) samples\*\*", counted_cases),
    (r"; (\d+) cases? can't run on this machine", cannot_run),
    (rf"Measuring itself adds ({NUMBER}){SPACE}% to the smallest case\.\*\* An empty backend takes "
     rf"{COST} a call; the smallest case, (\S+), {COST}", measuring_adds),
    (rf"(SHA-\d+)( inside the TEE)?: ([a-z-]+) is the (choice with the fewest instructions|"
     rf"fastest choice) (?:from ([\d.]+{SPACE}[KM]?i?B) to|at) ([\d.]+{SPACE}[KM]?i?B)"
     rf"(?:; at ([\d.]+{SPACE}[KM]?i?B)|:) it takes "
     rf"(?P<less>{NUMBER}){SPACE}% less than (?P<other>[a-z-]+)", fewest),
    (rf"({NUMBER})(?:×|{SPACE}%)(?:[^:;.]|\d\.\d)*, where [\w-]+ has ({NUMBER})(?:×|{SPACE}%): "
     rf"({NUMBER}) times as much here", beside_published),
    (rf"constant at ({NUMBER}) µs beside a floor of ({NUMBER}) to ({NUMBER}) µs .*?: "
     rf"({NUMBER}) x as much", by_itself(lambda call, low, high: (low + high) / 2 / call)),
    (rf"constant at ({NUMBER}) µs beside a floor of ({NUMBER})(?: to ({NUMBER}))? µs .*?: "
     rf"({NUMBER}) x as much", by_itself(lambda call, *floor: statistics.fmean(floor) / call)),
    (rf"crash was at ({NUMBER}) MB, and the cure is shown with ({NUMBER}) MB: ({NUMBER}) %",
     by_itself(lambda crash, cure: 100 * cure / crash)),
    (rf"({NUMBER}) MB/s on a .*? at ([\d.]+) GHz .*? is ({NUMBER}) cycles a byte",
     by_itself(lambda rate, ghz: 1000 * ghz / rate)),
    (rf"({NUMBER}) MiB/s for ({NUMBER}) s are ({NUMBER}) MB",
     by_itself(lambda rate, seconds: rate * seconds * 1.048576)),
    (rf"({NUMBER}) and ({NUMBER}) s differ by ({NUMBER}) %",
     by_itself(lambda one, two: 100 * (two / one - 1))),
]  # fmt: skip


def sentences(run: Run, text: str, where: str, out: Verdict) -> None:
    """Checks one line of prose; what is left with figures in it is not covered."""
    rest = text
    for pattern, rule in SENTENCES:
        for found in re.finditer(pattern, text):
            rule(run, found, out)
            rest = rest.replace(found[0], "")
    for sentence in re.split(r"(?<=[.;])\s", re.sub(r"[`*]", "", rest)):
        plain = re.sub(r"\bSHA-\d+|AES-\d+|P-\d+|ARMv8|P\d+|PKCS #11|95 %|\[\d+\]", "", sentence)
        if re.search(r"(?<![\w/.-])\d", plain):
            words = re.sub(rf"{NUMBER}", "N", plain)
            out.open[f"{where}: {words.strip()[:60]}"] += 1


# Tables. A row is a dict by the words of its header.

Row = dict[str, str]


def unit_in(header: str) -> float | None:
    found = re.search(r"\((instructions|ns|µs|ms|s)\)$", header)
    return UNITS[found[1]] if found else None


def is_figure(cell: str) -> bool:
    return re.fullmatch(NUMBER, cell) is not None


def by_size(run: Run, heading: str, rows: list[Row], out: Verdict) -> bool:
    """Bytes down, backends across: cost a byte or MiB/s of whole messages."""
    name = heading.split(":", maxsplit=1)[0].strip()
    if "bytes" not in rows[0] or not re.search(r"a byte\)|MiB/s\)", " ".join(rows[0])):
        return False
    begin = f"oneshot/{TITLES[name]}" if name in TITLES else f"storage/{name}"
    if not any(key.startswith(begin + "/") for key in run.samples):
        return False
    for row in rows:
        size = size_of(row["bytes"])
        for header, cell in row.items():
            found = re.fullmatch(r"([a-z-]+) \((.+)\)", header)
            if not found or not is_figure(cell):
                continue
            cost = run.median(f"{begin}/{found[1]}/{size}")
            where = f"{heading[:30]} {found[1]} {size} B"
            if found[2].endswith("a byte"):
                unit = UNITS[found[2].split()[0]]
                out.figure(where, cell, cost / size, unit, run.loose, 3)
            elif found[2] == "MiB/s":
                out.figure(where, cell, size / cost * 1e9 / (1 << 20), 1, run.loose, 3)
            else:
                return False
    return True


def is_titled(algorithm: str, title: str) -> bool:
    """Returns true if the title is the algorithm's: RSA-2048 PKCS #1 v1.5 is rsa-2048."""
    plain = re.sub(r"[^a-z0-9]", "", title.replace("PKCS \\#1 v1.5", "").lower())
    return plain == algorithm.replace("-", "")


def all_cases(run: Run, heading: str, rows: list[Row], out: Verdict) -> bool:
    """The list of all cases, with median, interval, rate and number of samples."""
    words = heading.partition(" (")[0].split(" · ")
    headers = rows[0]
    middle = next((one for one in headers if one.partition(" (")[0] == "median"), None)
    if middle is None or "samples" not in headers or "backend" not in headers:
        return False
    names = [TITLES.get(word, word.lower()) for word in words]
    done = False
    for row in rows:
        backend = row["backend"].strip("`")
        last = row.get("parameters", "")
        size = str(size_of(row["bytes"])) if "bytes" in row else ""
        keys = [
            key
            for key in run.samples
            if (w := key.split("/"))[0] == names[0]
            and (len(names) < 2 or w[1] == names[1] or is_titled(w[1], words[1]))
            and w[2] == backend
            and ("/".join(w[3:]) in (last, size, f"{last}/{size}") or (not last and w[-1] == size))
        ]
        keys = [key for key in keys if len(keys) == 1 or key.split("/")[1] == "none"]
        if len(keys) != 1:
            out.open["all cases: a row whose key this program can't tell"] += 1
            continue
        (key,) = keys
        unit = unit_in(middle)
        cell = row[middle]
        timed = re.fullmatch(COST, cell)
        if timed:
            cell, unit = timed[1], UNITS[timed[2]]
        if unit is None or not is_figure(cell):
            out.open["all cases: a row with a unit of its own"] += 1
            continue
        done = True
        out.hold(key, f"{row['samples']} samples", int(row["samples"]) == len(run.values(key)))
        if run.starts != 1:
            out.open["all cases: medians of several starts"] += 1
            continue
        # Equal values are spread over the step of the clock that they share.
        loose = max(run.loose, max(STEP, run.resolution / 2) / run.median(key))
        out.figure(f"{key}, median", cell, run.median(key), unit, loose, 0 if run.counted else 3)
        low, high = run.between(key)
        for header, bound in row.items():
            if not is_figure(bound):
                continue
            if header.startswith("from"):
                out.figure(f"{key}, from", bound, low, unit_in(header) or unit)
            elif header.startswith(("to ", "to(")):
                out.figure(f"{key}, to", bound, high, unit_in(header) or unit)
            elif header == "rate (MiB/s)":
                length = size or next((w for w in key.split("/")[::-1] if w.isdigit()), "nan")
                rate = float(length) / run.median(key) * 1e9 / (1 << 20)
                out.figure(f"{key}, rate", bound, rate, 1, run.loose, 3)
    return done


def sizes_of(run: Run, named: str, backend: str) -> dict[int, float]:
    """Returns medians by bytes of what a caption calls “SHA-256” or “read, storage”."""
    name, _, work = named.partition(", ")
    shapes = {"shm in": f"shm/{name}/{backend}/in/", "storage": f"storage/{name}/{backend}/",
              "": f"oneshot/{TITLES.get(name, name)}/{backend}/",
              "cipher enc": f"cipher/{name.lower()}/{backend}/enc/"}  # fmt: skip
    begin = shapes.get(work, "none")
    found = {int(key.removeprefix(begin)): run.median(key) for key in run.samples
             if key.startswith(begin) and key.removeprefix(begin).isdigit()}  # fmt: skip
    return {size: cost for size, cost in sorted(found.items()) if not math.isnan(cost)}


def whole_calls(run: Run, heading: str, rows: list[Row], out: Verdict) -> bool:
    """Whole calls at three sizes; the limit isn't exceeded by any message."""
    named = heading.partition(".")[0].strip()
    # A board that counts instructions has no limit in MiB/s.
    if "limit (MiB/s)" not in rows[0] and not (run.counted and "from … to" in rows[0]):
        return False
    done = False
    for row in rows:
        backend = row["backend"].strip("`").partition("`")[0]
        sizes = sizes_of(run, named, backend)
        counted = run.counted and any(one.startswith("byte (instr") for one in row)
        done |= bool(sizes)
        for header, cell in row.items() if sizes else ():
            found = re.fullmatch(r"([\d.]+ [KM]?i?B)(?: \((\S+)\))?", header)
            where = f"{named} {backend} {header}"
            if found and (figure := re.fullmatch(rf"({NUMBER})(?: (\S+))?", cell)):
                unit = UNITS[found[2] or figure[2]]
                digits = 0 if counted else 3
                out.figure(where, figure[1], sizes[size_of(found[1])], unit, run.loose, digits)
            elif header.startswith("byte (") and is_figure(cell) and not counted:
                out.open["a slope over medians that scatter"] += 1
            elif header.startswith("byte (") and is_figure(cell):
                misfit = re.search(NUMBER, row.get("misfit", ""))
                loose = Printed.of(misfit[0]).value / 100 if misfit else 0.0
                (small, less), (large, more) = list(sizes.items())[-2:]
                ends = [Printed.of(one).value for one in re.findall(NUMBER, row["from … to"])]
                wide = (max(ends) - min(ends)) / Printed.of(cell).value if ends else 0.0
                byte = (more - less) / (large - small)
                out.figure(where, cell, byte, 1.0, max(loose + 0.005, wide))
            elif header == "limit (MiB/s)" and is_figure(cell):
                best = max(size / cost for size, cost in sizes.items() if size) * 1e9 / (1 << 20)
                limit = Printed.of(cell, 3)
                out.hold(where, cell, best <= limit.value + limit.half, best)
    return done


def parts(run: Run, heading: str, rows: list[Row], out: Verdict) -> bool:
    """A call and its parts: they add up, and shares are shares."""
    named = heading.removeprefix("The parts of ").partition(". ")[0].replace("\\", "")
    key = named.rpartition("(")[2].removesuffix(")")
    takes = next((one for one in rows[0] if one.startswith("takes (")), None)
    if takes is None or key not in run.samples:
        return False
    unit = unit_in(takes) or 1.0
    whole, total, slack = run.median(key), 0.0, 0.0
    for row in rows:
        cell = row[takes].strip("*")
        if not is_figure(cell):
            continue
        printed = Printed.of(cell)
        if "the call" in row["part"]:
            out.figure(f"{key}: the call", cell, whole, unit)
            good = abs(total - printed.value) <= slack + printed.half
            out.hold(key, "the parts add up to the call", good, total)
            continue
        total, slack = total + printed.value, slack + printed.half
        if is_figure(row["share"].removesuffix(" %")):
            share = row["share"].removesuffix(" %")
            wide = printed.half * unit / whole
            off = abs(Printed.of(share).value / 100 - printed.value * unit / whole)
            half = Printed.of(share).half / 100
            out.hold(f"{key}: {row['part']}", row["share"], off <= half * 1.01 + wide)
        words = key.split("/")
        calls = 1
        if words[0] == "stream":  # a call a piece, and one that finishes
            calls += -(-int(words[-2]) // int(words[-1]))
        told, _, often = row["known from"].partition(f" ({calls} times")
        out.hold(
            f"{key}: {row['part']}",
            f"{calls} times",
            calls == 1 or bool(often) or not told.startswith("invoke/"),
        )
        refused = run.median("invoke/direct/tee/none") - run.median("invoke/refused/tee/none")
        if told == "invoke/direct less invoke/refused":
            out.figure(f"{key}: {row['part']}", cell, calls * refused, unit, 1e-4)
        elif told == "invoke/none, less (invoke/direct less invoke/refused)":
            less = run.median("invoke/none/tee/none") - refused
            out.figure(f"{key}: {row['part']}", cell, calls * less, unit, 1e-4)
        else:
            out.open[f"parts: {row['known from'][:50]}"] += 1
    return True


def worth(cell: str) -> tuple[Printed, str] | None:
    """A cell's number and its unit."""
    found = re.fullmatch(rf"(?:\\\\?[~<>] ?)*({NUMBER})(.*)", cell)
    return (Printed.of(found[1], 4), found[2].strip()) if found else None


def ratios(_run: Run, heading: str, rows: list[Row], out: Verdict) -> bool:
    """A document's tables: a ratio is one of our figures in the row over the published one."""
    done = False
    for row in rows:
        cells = list(row.values())
        for at, ratio in enumerate(cells):
            of = re.fullmatch(rf"({NUMBER})×", ratio)
            published = worth(cells[at - 1])
            ours = [one for one in map(worth, cells[1 : at - 1]) if one and published]
            ours = [one for one in ours if published and one[1] == published[1]]
            if of is None or published is None or not published[0].value or not ours:
                continue
            fits = [
                Printed.of(of[1], 3).is_near(
                    one.value / published[0].value, 1.0, one.half / max(abs(one.value), 1e-12)
                )
                for one, _ in ours
            ]
            out.hold(f"{heading[:40]}: {cells[0][:30]}, ratio", ratio, any(fits))
            done = True
    return done


DOCUMENTS = Path(__file__).parents[3] / "reference"
BASE = {"bytes": 1.0, "B": 1.0, "KiB": 1 << 10, "MiB": 1 << 20, "KB": 1e3, "MB": 1e6, "s": 1.0,
        "us": 1e-6, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9, "": 1.0, "x": 1.0, "%": 0.01,
        "instructions": 1e-9, "instructions/B": 1e-9,
        "kB/s": 1e3, "KB/s": 1e3, "MB/s": 1e6, "MiB/s": 1 << 20}  # fmt: skip
SIGNS = {ast.Add: float.__add__, ast.Sub: float.__sub__, ast.Mult: float.__mul__,
         ast.Div: float.__truediv__}  # fmt: skip


class Unheld(Exception):
    """A formula that this program has no way of its own to compute."""


def reported(record: dict[str, Any], name: str) -> float:
    """Returns a figure of one report of teehash in seconds, bytes or shares."""
    group, _, key = name.partition(".")
    figure = record["report"].get(group, {}).get(key)
    if not isinstance(figure, dict) or not isinstance(figure.get("value"), int | float):
        raise Unheld
    return float(figure["value"]) * {"ns": 1e-9, "percent": 0.01}.get(str(figure.get("unit")), 1.0)


def computed(  # noqa: PLR0911 (a formula's kinds)
    run: Run, node: ast.expr, of: dict[str, Any] | None = None
) -> list[float]:
    """Returns the values of a formula, sorted: one a sample or a run of teehash, or one for all."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return [float(value)]
        case ast.BinOp(left, sign, right):
            sides = computed(run, left, of), computed(run, right, of)
            return [SIGNS[type(sign)](*map(statistics.median, sides))]
        case ast.Attribute(value=ast.Name(group), attr=name) if of:
            return [reported(of, f"{group}.{name}")]
        case ast.Call(ast.Name("time"), [ast.Constant(str(key))]) if run.values(key):
            return [value * 1e-9 for value in run.values(key)]
        case ast.Call(ast.Name("rate"), [ast.Constant(str(key))]) if run.values(key):
            return [run.cases[key]["bytes"] / (run.median(key) * 1e-9)]
        case ast.Call(ast.Name("size"), [ast.Constant(str(key))]):
            return [run.cases[key]["bytes"] or 0.0]
        case ast.Call(ast.Name("samples"), [ast.Constant(str(key))]):
            return [float(len(run.values(key)))]
        case ast.Call(ast.Name("published"), [*words]):
            one = typed(run.plan)[tuple(str(word.value) for word in words)]  # type: ignore[attr-defined]
            if one["corrected_unit"] not in BASE:
                raise Unheld
            ends = [float(one[end]) for end in ("corrected", "corrected_upper") if one[end]]
            return [statistics.fmean(ends) * BASE[one["corrected_unit"]]]
        case ast.Call(ast.Name("teehash"), [ast.Constant(str(key)), figure]) if key in run.teehash:
            return sorted(computed(run, figure, one)[0] for one in run.teehash[key])
    raise Unheld


def typed(plan: str) -> dict[tuple[str, ...], dict[str, str]]:
    """Returns a document's printed figures, as somebody typed them, by table, row and column."""
    with (DOCUMENTS / f"{plan}.csv").open(newline="", encoding="utf-8") as lines:
        return {(one["table"], one["row"], one["column"]): one for one in csv.DictReader(lines)}


def plain(cell: str) -> str:
    """Returns a cell without the marks of Markdown, and without blanks between thousands."""
    return re.sub(r"(?<=\d) (?=\d{3}(?!\d))", "", re.sub(r"\\(.)", r"\1", cell)).replace("`", "")


def printed(run: Run, heading: str, rows: list[Row], out: Verdict) -> bool:
    """A document's own columns: each number, and each word, is the one that was typed."""
    file = DOCUMENTS / f"{run.plan}.toml"
    name = next(iter(rows[0]))
    heads = [head for head in rows[0] if re.search(r"\bpublished\b", head)]
    if not file.is_file() or not heads:
        return False
    figures, done = typed(run.plan), False
    tables = [one for one in tomllib.loads(file.read_text())["tables"]
              if plain(heading).startswith(one["title"])]  # fmt: skip
    for table, row in itertools.product(tables, rows):
        columns = [one["name"] if isinstance(one, dict) else one for one in table["columns"]]
        before = ""
        for head in row:
            own = [
                one for one in columns if re.match(re.escape(one) + r"($|: published| \()", head)
            ]
            before = own[0] if own else before
            cell, said = plain(row[head]), plain(row[name])
            if head not in heads or cell in {"", "–"}:
                continue
            near = [before] if before else columns if table.get("tall") else []
            known = [
                figures[key] for one in near if (key := (table["table"], said, one)) in figures
            ]
            if known:
                good = any(cell_is(cell, one) for one in known)
                out.hold(f"{heading[:30]}: {said}, {before or 'published'}", row[head], good)
                done = True
    return done


def cell_is(cell: str, figure: dict[str, str]) -> bool:
    """Tells whether a cell shows a figure put right, and as it was printed where that differs."""
    right = [figure[key] for key in ("corrected", "corrected_upper", "value", "upper")]
    if not right[0]:
        return plain(re.sub(" +", " ", figure["value"])) in cell
    told = re.findall(r"(?<![\w.])[−-]?\d+(?:\.\d+)?", cell)
    wanted = [one for one in right[:2] if one]
    if len(told) > len(wanted):
        wanted += [one for one in right[2:] if one]
    return [float(one.replace("−", "-")) for one in told] == [float(one) for one in wanted]


def document(run: Run, heading: str, rows: list[Row], out: Verdict) -> bool:
    """A document's table: each cell by the formula of reference/, with nothing of teemark's."""
    file = DOCUMENTS / f"{run.plan}.toml"
    if not file.is_file():
        return False
    declared = tomllib.loads(file.read_text())
    name = next(iter(rows[0]))
    names = [row[name].replace("\\", "") for row in rows]
    for table in declared["tables"]:
        rules = {one if isinstance(one, str) else one["name"]: one for one in table["rows"]}
        title = table["title"]
        if set(names) - BELOW <= set(rules) and heading.replace("\\", "").startswith(title):
            break
    else:
        return False
    columns = [one if isinstance(one, dict) else {"name": one} for one in table["columns"]]
    if table.get("tall"):  # a table for each column, in their order
        columns = columns[out.tall[title] : out.tall[title] + 1]
        out.tall[title] += 1
    means = {one.get("sd_of") for one in columns}
    for place, row in enumerate(rows):
        rule = rules.get(names[place])
        if not isinstance(rule, dict):
            continue
        below = dict(itertools.takewhile(
            lambda pair: pair[0] in BELOW, zip(names[place + 1 :], rows[place + 1 :], strict=False)
        ))  # fmt: skip
        for column in columns:
            spread, of = "sd_of" in column, column.get("sd_of")
            source = next((one for one in columns if one["name"] == of), column)
            text = formula(declared.get("let", {}), table, source, rule)
            heads = [head for head in row if column["name"] == head.partition(" (")[0]]
            if text is None or "why" in rule or not (heads or table.get("tall")):
                continue
            try:
                values = computed(run, ast.parse(text, mode="eval").body)
            except (Unheld, KeyError):
                out.open[f"a document's cell: {text}"] += 1
                continue
            label = f"{column['name']}, {names[place]}"
            unit = "" if text.startswith("samples(") else row.get("unit") or rule.get("unit") or ""
            told = Cells(run, out, label, values, str(unit))
            if table.get("tall"):
                for head, kind in (("median", "median"), ("value", "median"), ("mean", "mean"),
                                   ("sd", "sd")):  # fmt: skip
                    told.hold(row.get(head, ""), kind, "")
                continue
            for head in heads:
                if found := worth(row[head]):
                    told.unit = found[1].removesuffix("×") or told.unit
                told.hold(row[head], "sd" if spread else "mean" if column["name"] in means
                          else "median", head)  # fmt: skip
                told.hold(below.get("median", {}).get(head, ""), "median", head)
                mean, _, deviation = below.get("mean ± sd", {}).get(head, "").partition(" ± ")
                told.hold(mean, "mean", head)
                told.hold(deviation, "sd", head)
    return True


BELOW = {"median", "95 %", "mean ± sd"}


def formula(let: dict[str, str], *parts: dict[str, Any]) -> str | None:
    """Returns what a table, a column and a row declare for a cell; the last one goes first."""
    words, text = dict(let), None
    for part in parts:
        words |= part.get("with", {})
        own = part.get("measured", text)
        text = own.get(parts[1]["name"], text) if isinstance(own, dict) else own
    while text and (new := re.sub(r"\{(\w+)\}", lambda word: words.get(word[1], ""), text)) != text:
        text = new
    return text


@dataclass
class Cells:
    """A cell, and those that stand below or beside it for the same values."""

    run: Run
    out: Verdict
    label: str
    values: list[float]
    unit: str

    def hold(self, cell: str, kind: str, head: str) -> None:
        """A mean or deviation of several starts is of the starts' medians, and isn't held."""
        named = re.search(r"\((.+)\)$", head)
        unit = (named[1] if named else self.unit).partition(";")[0]
        cell = cell.removesuffix(self.unit).removesuffix("×").strip()
        if unit not in BASE or not is_figure(cell) or (self.run.starts > 1 and kind != "median"):
            return
        if kind == "median":
            value = statistics.median(self.values)
        elif kind == "mean":
            value = statistics.fmean(self.values)
        else:
            value = statistics.stdev(self.values) if len(self.values) > 1 else 0.0
        if unit == "instructions/B" and value > 1:  # a rate
            value = 1 / value
        loose = self.run.loose
        if kind == "median" and unit in {"s", "ms", "us", "µs", "ns"} and value:  # a clock's step
            loose = max(loose, self.run.resolution / 2 * 1e-9 / value)
        self.out.figure(f"{self.label}, {kind}", cell, value, BASE[unit], loose, 3)


def answered(run: Run, _heading: str, rows: list[Row], out: Verdict) -> bool:
    """A document's conclusions: the figure here is one of those that the conclusion asks for."""
    file = DOCUMENTS / f"{run.plan}.toml"
    if "here" not in rows[0] or not file.is_file():
        return False
    declared = tomllib.loads(file.read_text())
    checks = {one["claim"]: one["checks"] for one in declared["answers"] if "checks" in one}
    for row in rows:
        bounds(run, declared, checks.get(claimed(row), ()), row, out)
        found = re.match(rf"({NUMBER})(×?)( %| points)?", row["here"])
        if found is None:
            continue
        printed, unit = Printed.of(found[1], 3), 1.0 if found[2] or not found[3] else 0.01
        told = list[float]()
        for one in checks.get(claimed(row), ()):
            text = formula(declared.get("let", {}), {}, {"name": ""}, one)
            try:
                told += [statistics.median(computed(run, ast.parse(text or "", mode="eval").body))]
            except (Unheld, KeyError, SyntaxError):
                out.open[f"a conclusion's figure: {text}"] += 1
        if told:
            good = any(printed.is_near(value, unit, run.loose) for value in told)
            out.hold(claimed(row), row["here"], good, told)
    return True


def claimed(row: Row) -> str:
    """Returns the claim of a conclusion, without the quotation behind it."""
    cell = next(cell for head, cell in row.items() if head.startswith("the document says"))
    return plain(cell).partition(" “")[0].removesuffix(" (comparison)")


def bounds(
    run: Run, declared: dict[str, Any], checks: Iterable[dict[str, Any]], row: Row, out: Verdict
) -> None:
    """The document's figure, or the limits, are those of one of the conclusion's checks."""
    cell, every = plain(row["figure or limit"]), list[list[float]]()
    for one in checks:
        every.append([one[end] for end in ("low", "high") if end in one])
        if "published" in one:
            text = formula(
                declared.get("let", {}), {}, {"name": ""}, {"measured": one["published"]}
            )
            try:
                every.append(computed(run, ast.parse(text or "", mode="eval").body))
            except (Unheld, KeyError):
                out.open[f"a conclusion's published figure: {text}"] += 1
    told = re.findall(rf"({NUMBER})(×?)( %| points)?", cell)
    if not told or not any(every):
        return
    good = any(
        len(told) == len(values) and all(
            Printed.of(text, 3).is_near(value, 1.0 if times or not unit else 0.01)
            for (text, times, unit), value in zip(told, values, strict=True))
        for values in every
    )  # fmt: skip
    out.hold(f"{claimed(row)}, the document's", row["figure or limit"], good, every)


TABLES = (
    by_size, all_cases, whole_calls, parts, printed, document, ratios, answered
)  # fmt: skip


def table_rows(lines: list[str]) -> list[Row]:
    split = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))] for line in lines
    ]
    headers: list[str] = []
    for header in split[0]:  # the same words twice: the second gets a number
        headers.append(header if header not in headers else f"{header} {len(headers)}")
    heads = [slugged(one) for one in headers]
    return [dict(zip(heads, map(slugged, cells), strict=False)) for cells in split[2:]]


def slugged(cell: str) -> str:
    """Returns a cell or a heading that names a backend by its words with the backend's key."""
    if in_brackets := re.fullmatch(r".+ \(`([a-z-]+)`\)", cell):
        return in_brackets[1]
    title = next((one for one in BACKENDS if re.match(re.escape(one) + r"($| \()", cell)), None)
    return cell if title is None else BACKENDS[title] + cell.removeprefix(title)


def blocks(text: str) -> Iterator[tuple[str, str, list[str]]]:
    """Section, the last heading or line of prose, and the lines of a table or one line."""
    section = said = ""
    table: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            table.append(line)
            continue
        if table:
            yield section, said, table
            table = []
        if line.startswith("#"):
            section = line.lstrip("# ") if line.startswith("## ") else section
            said = line.lstrip("# ")
        elif line.strip() and not line.startswith("<"):
            yield section, "", [line]
            said = line if re.match(SAID, line) else said


def check(run: Run, text: str) -> Verdict:
    out = Verdict()
    for section, said, lines in blocks(re.sub(SPACE, " ", text)):
        if not lines[0].startswith("|"):
            sentences(run, lines[0], section, out)
            continue
        rows = table_rows(lines)
        told = [rule(run, said, rows, out) for rule in TABLES] if rows else [True]
        if not any(told):
            figures = sum(bool(re.search(r"\d", cell)) for row in rows for cell in row.values())
            if figures:
                out.open[f"{section}: table “{said[:50]}”"] += figures
    return out


def main(arguments: list[str]) -> int:
    if not arguments:
        print("usage: recompute.py RUN…", file=sys.stderr)
        return 2
    untrue = 0
    for folder in map(Path, arguments):
        out = check(read(folder / "run.ndjson"), (folder / "report.md").read_text())
        print(f"{folder.name}: {out.checked} figures computed again, {len(out.untrue)} untrue, "
              f"{sum(out.open.values())} not covered")  # fmt: skip
        for line in out.untrue:
            print(f"  untrue: {line}")
        for what, count in out.open.most_common():
            print(f"  not covered, {count}: {what}")
        untrue += len(out.untrue)
    return 1 if untrue else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
