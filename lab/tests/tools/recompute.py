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
from collections import Counter, defaultdict
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
    firsts: list[dict[str, Any]] = field(default_factory=list)
    teehash: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    inside: dict[str, list[tuple[int, float]]] = field(default_factory=dict)  # by the TA's counter
    cases: dict[str, dict[str, Any]] = field(default_factory=dict)
    legs: dict[str, list[list[list[int]]]] = field(default_factory=dict)
    busy: dict[str, list[tuple[float, float]]] = field(default_factory=dict)  # CPU time, of
    skips: list[dict[str, Any]] = field(default_factory=list)
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
            if record.get("user_us") is not None:
                spent = 1000 * (record["user_us"] + record["sys_us"])
                had = record["ns"] - (record.get("runq_ns") or 0)
                run.busy.setdefault(record["case"], []).append((spent, had))
        elif kind == "sample":
            cost = record["ns"] / record["loops"]
            run.inside.setdefault(record["case"], []).append((record.get("repeat", 1), cost))
        elif kind == "machine":
            run.resolution = record.get("clock", {}).get("resolution_ns", 0.0)
        elif kind == "case":
            run.cases[record["case"]] = record
        elif kind == "legs":
            if record.get("repeat", 1) == 1:
                run.legs.setdefault(record["case"], []).append(record["legs"])
        elif kind == "skip":
            run.skips.append(record)
        elif kind == "first":
            run.firsts.append(record)
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
    hashed = len(run.teehash)
    cases = len(run.samples) + hashed
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


def over(run: Run, found: Found, out: Verdict) -> None:
    one, two = (run.median(found[i].replace("\\", "")) for i in (1, 2))
    if math.isnan(one) or math.isnan(two):
        out.open["a quotient of cases by another clock"] += 1
        return
    out.figure(f"{found[1]} over {found[2]}", found[3], one / two)


def over_difference(run: Run, found: Found, out: Verdict) -> None:
    over(run, found, out)
    one, two = (run.median(found[i].replace("\\", "")) for i in (1, 2))
    out.figure(f"{found[1]} less {found[2]}", found[4], one - two, UNITS[found[5]])


def once_as_much(run: Run, found: Found, out: Verdict) -> None:
    """The way in and out, as so many bytes hashed: both from the TA's slope over bytes."""
    if not run.counted:
        out.open["a slope over medians that scatter"] += 1
        return
    way = Printed.of(found[2]).value * UNITS[found[3]]
    size = Printed.of(found[1]).value * 1024
    empty = run.median("oneshot/sha256/tee/0")
    if math.isnan(empty):
        out.open["the way in and out without an empty message"] += 1
        return
    setup = empty - way  # a message of 0 bytes computes its padding besides
    cost = setup + size * run.slope("sha256", "tee")
    out.hold("getting in and out", found[0][:60], abs(cost / way - 1) < 0.06, cost)


def quotient_of(one: str, two: str) -> Rule:
    """A sentence whose one figure is how many times as much as `two` the case `one` takes."""

    def rule(run: Run, found: Found, out: Verdict) -> None:
        out.figure(found[0][:60], found[1], run.median(one) / run.median(two), 1, run.loose, 3)

    return rule


def linear(run: Run, found: Found, out: Verdict) -> None:
    costs = [run.median(f"oneshot/sha256/tee/{size}") for size in (1 << 20, 4 << 20, 4096, 65536)]
    large, small = (costs[1] - costs[0]) / (3 << 20), (costs[3] - costs[2]) / (65536 - 4096)
    out.figure(found[0][:60], found[1], large / small, 1, run.loose, 3)


def beside_published(run: Run, found: Found, out: Verdict) -> None:
    ours, published = Printed.of(found[1], 3), Printed.of(found[2], 3)
    loose = ours.half / abs(ours.value) + published.half / abs(published.value)
    ratio = ours.value / published.value
    out.figure("as a document has it", found[3], ratio, 1, loose, 3)


SHM = "shm/{}/tee/in/{}".format
MIB = 1 << 20


def copied(run: Run) -> float:
    """Returns the surplus of read-only memory over writable one as it grows from 64 B to 1 MiB."""
    ends = [
        run.median(SHM("registered-ro", n)) - run.median(SHM("allocated", n)) for n in (64, MIB)
    ]
    return ends[1] - ends[0]


def of_run(
    compute: Callable[[Run], float], unit: float = 1.0, digits: int = 0, loose: float = 0.0
) -> Rule:
    """A sentence whose one figure is computed from the run; one with a unit of its own names it."""

    def rule(run: Run, found: Found, out: Verdict) -> None:
        value = compute(run)
        if math.isnan(value):
            out.open[f"a sentence whose samples are elsewhere: {found[0][:40]}"] += 1
            return
        own = UNITS[found[2]] if found.re.groups > 1 else unit
        out.figure(found[0][:60], found[1], value, own, max(run.loose, loose), digits)

    return rule


ENDS = 0.005
"""A slope between the two longest messages isn't the fit's; they are this close where the misfit,
which is held beside the tables, is small."""


def slope(algorithm: str, backend: str) -> Callable[[Run], float]:
    return lambda run: run.slope(algorithm, backend) if run.counted else math.nan


def byte_between(run: Run, found: Found, out: Verdict) -> None:
    """A byte in the TEE, with its interval."""
    value = slope("sha256", "tee")(run)
    if math.isnan(value):
        out.open["a slope over medians that scatter"] += 3
        return
    out.figure(found[0][:60], found[1], value, UNITS[found[2]], ENDS)
    low, high = Printed.of(found[3]), Printed.of(found[4])
    value /= UNITS[found[2]]
    out.hold(found[0][:60], "lies between", low.value - low.half <= value <= high.value + high.half)


def without_extensions(run: Run, found: Found, out: Verdict) -> None:
    """A byte by the TEE's library over one by the CPU's instructions, and what that costs."""
    tee, ce = (run.slope(found[1], by) for by in ("tee", "ta-ce"))
    if not run.counted:
        out.open["a slope over medians that scatter"] += 4
        return
    where = f"a byte of {found[1]}, tee over ta-ce"
    out.figure(where, found[2], tee / ce, 1, 2 * ENDS)
    low, high = Printed.of(found[3]), Printed.of(found[4])
    out.hold(where, "lies between", low.value - low.half <= tee / ce <= high.value + high.half)
    whole = run.median(found[6])
    size = int(found[6].rsplit("/", 1)[1])
    out.figure(f"{where}, share of {found[6]}", found[5], 100 * (tee - ce) * size / whole, 1, 0.005)


def within_bound(_run: Run, found: Found, out: Verdict) -> None:
    """Two ways to one figure: they lie as close to each other as the sentence says."""
    one, two, bound = (Printed.of(found[at]).value for at in (1, 2, 3))
    out.hold(found[0][:60], f"to within {bound} %", abs(one / two - 1) <= bound / 100, one / two)


def least_squares(values: list[tuple[int, float]]) -> float:
    """The slope of a straight line through the medians at each number of operations."""
    at: dict[int, list[float]] = defaultdict(list)
    for times, cost in values:
        at[times].append(cost)
    points = [(float(times), statistics.median(costs)) for times, costs in sorted(at.items())]
    if len(points) < 3:
        return math.nan
    return statistics.linear_regression(*zip(*points, strict=True)).slope


def both_clocks(run: Run, found: Found, out: Verdict) -> None:
    """The slope over repetitions by the TA's counter and by the client's clock."""
    off: dict[str, float] = {}
    grain: dict[str, float] = {}  # Percent of the slope that a step of the clock hides
    for key, values in run.inside.items():
        by_ta, by_client = least_squares(values), least_squares(run.samples[key])
        if not math.isnan(by_ta):
            off[key] = by_ta / by_client - 1
            grain[key] = 100 * STEP / max(times for times, _ in values) / by_client + 0.05
    out.figure("both clocks, cases", found[1], len(off))
    worst = max(off.values(), key=abs)
    key = found[3].replace("\\", "")
    there = 100 * off[key]
    good = abs(there - Printed.of(found[4]).value) <= grain[key]
    out.hold("both clocks, furthest", f"{found[3]} {found[4]} %", good, there)
    said = Printed.of(found[2])
    good = all(100 * abs(value) <= said.value + grain[key] for key, value in off.items())
    out.hold("both clocks, apart", f"at most {found[2]} %", good, 100 * worst)
    out.hold(
        "both clocks", f"{found[5]} % is allowed", abs(100 * worst) < Printed.of(found[5]).value
    )


def is_steady(values: list[float]) -> bool:
    """Tells whether the middle half of the samples lies within 1 % of their median."""
    if len(values) < 2:
        return True
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return high - low <= 0.01 * middle


def timed(run: Run, found: Found, out: Verdict) -> None:
    """Cases whose samples lie so far apart that they count no instructions. New keys and ML-DSA's
    signatures count them all the same: each is a draw. PKCS #11's key pairs wait for storage."""
    apart = [
        "keypair" in key
        or (
            not is_steady(run.values(key, min(values)[0]))
            and not re.match("keygen/|sign/ml-dsa", key)
        )
        for key, values in run.samples.items()
    ]
    out.figure("cases that are timed", found[1], sum(apart))
    out.figure("cases in all", found[2], len(run.samples))


def ends(run: Run, found: Found, out: Verdict) -> None:
    values = run.values(found[1].replace("\\", ""))
    out.figure(f"{found[1]} took, from", found[2], values[0], UNITS[found[3]], 0.0, 3)
    out.figure(f"{found[1]} took, to", found[4], values[-1], UNITS[found[5]], 0.0, 3)


def wide(run: Run, key: str, inner: int = 0) -> float:
    """Returns how wide the interval of a median is, over the median; 0 for a steady case. `inner`:
    of the interval whose ends are so many samples nearer to the middle."""
    values = run.values(key, min(times for times, _ in run.samples[key]))
    if len(values) < 2 or values[-1] - values[0] <= 0.01 * statistics.median(values):
        return 0.0
    ranks = sign_test_ranks(len(values))
    if not ranks:
        return math.inf
    ranks = min(ranks + inner, (len(values) + 1) // 2)
    return (values[-ranks] - values[ranks - 1]) / statistics.median(values)


def badly_known(run: Run, found: Found, out: Verdict) -> None:
    bound = 2 * Printed.of(found[3]).value / 100
    # An end may be interpolated between the sample of the sign test and the next one inwards.
    most, least = (sum(wide(run, key, inner) > bound for key in run.samples) for inner in (0, 1))
    out.hold("medians badly known", found[1], least <= Printed.of(found[1]).value <= most, most)
    out.figure("medians in all", found[2], len(run.samples))


def too_few(run: Run, found: Found, out: Verdict) -> None:
    """A median of fewer than six samples has no interval of 95 %."""
    least = {key: run.values(key, min(values)[0]) for key, values in run.samples.items()}
    exact = {
        key for key, values in least.items()
        if run.counted and is_steady(values) and "keygen" not in key and "keypair" not in key
    }  # fmt: skip
    few = sum(len(values) < 6 and key not in exact for key, values in least.items())
    out.figure("medians without an interval", found[1], few)
    out.figure("medians in all", found[2], len(run.samples))


def spans(run: Run, found: Found, out: Verdict) -> None:
    key = found[1].replace("\\", "")
    # Ends that lie between two samples are interpolated there: they aren't those of the sign test.
    said, here = Printed.of(found[2]).value / 100, wide(run, key)
    out.hold(f"interval of {key}", found[0], here / 1.25 <= said <= here * 1.25, here)


def samples_of(run: Run, found: Found, out: Verdict) -> None:
    out.figure(found[0], found[2], len(run.values(found[1].replace("\\", ""))))


def rpcs_of(run: Run, key: str) -> float:
    """Returns the calls that the secure world makes to the normal one in a call of a case."""
    found = [sum(leg[2] == 0xFFFF0005 for leg in legs) for legs in run.legs.get(key, ())]
    return statistics.median(found) if found else math.nan


def rpcs_a_block(run: Run, found: Found, out: Verdict) -> None:
    begin, _, size = found[1].rpartition("/")
    least = min((key for key in run.legs if key.startswith(begin + "/")),
                key=lambda key: int(key.rpartition("/")[2]))  # fmt: skip
    blocks = -(-int(size) // 4096) - -(-int(least.rpartition("/")[2]) // 4096)
    each = (rpcs_of(run, found[1]) - rpcs_of(run, least)) / blocks
    out.figure(found[0], found[2], each, 1, 0.0, 3)


def rpcs_share(run: Run, found: Found, out: Verdict) -> None:
    """The time between the legs of a call, over the call: what the normal world has of it."""
    shares = []
    for legs in run.legs[found[1]]:
        gaps = sum(after[0] - before[1] for before, after in itertools.pairwise(legs))
        shares.append(gaps / (legs[-1][1] - legs[0][0]))
    share, low, high = 100 * statistics.median(shares), Printed.of(found[3]), Printed.of(found[4])
    out.hold(f"RPCs of {found[1]}", "lies between", low.value <= share <= high.value, share)
    out.hold(f"RPCs of {found[1]}", "said twice alike", found[2] == found[5])


def interrupts(run: Run, found: Found, out: Verdict) -> None:
    """What the kernel counted while a case ran: calls, and the share of CPU time."""
    watched = run.cases[found[1].replace("\\", "")]["watched"]
    out.figure(f"{found[1]}, calls that were watched", found[2], watched["calls"])
    rest = found[0]
    if busy := re.search(rf"the process had the CPU ({NUMBER}) % of the time", rest):
        spent, had = map(sum, zip(*run.busy[found[1].replace("\\", "")], strict=True))
        share = 100 * spent / had
        good = abs(min(share, 100) - Printed.of(busy[1]).value) <= 1
        out.hold(f"{found[1]}, on the CPU", busy[0], good, share)
    if masked := re.search(rf"with \S+=1 it takes ({NUMBER})× the time", rest):
        both = run.cases[found[1].replace("\\", "")]["masked"]
        times = statistics.median(both["masked_ns"]) / statistics.median(both["plain_ns"])
        out.figure(f"{found[1]}, masked", masked[1], times, 1, 0.0, 2)
    if plain := re.search(rf"(\S+), the kernel's own C code, takes ({NUMBER})× the time", rest):
        words = found[1].replace("\\", "").split("/")
        words[2] = f"afalg:{plain[1]}"
        times = run.median("/".join(words)) / run.median(found[1].replace("\\", ""))
        out.figure(f"{found[1]}, by the kernel's own C", plain[2], times, 1, 0.0, 2)
    if raised := re.search(rf"was raised ({NUMBER}) times in ({NUMBER}) calls", rest):
        most = max(line["count"] for line in watched["interrupts"] if "virtqueues" in line["name"])
        out.figure(f"{found[1]}, interrupts", raised[1], most)
    if others := re.search(rf"took {COST} of CPU time a call \(({NUMBER}) % of the time\)", rest):
        out.figure(f"{found[1]}, others", others[1], watched["others_ns"] / watched["calls"],
                   UNITS[others[2]], 0.0, 3)  # fmt: skip
        share = 100 * watched["others_ns"] / watched["ns"]
        out.hold(
            f"{found[1]}, others' share", others[3], abs(share - Printed.of(others[3]).value) <= 1
        )


def in_pieces(run: Run, found: Found, out: Verdict) -> None:
    """Pieces of a message: a further piece costs a call, of which an empty one is the least, and
    what a whole message pays besides its bytes the most."""
    algorithm, by = TITLES[found[1]], found[2]
    whole, piece = size_of(found["whole"]), size_of(found["piece"])
    small = size_of(found["small"]) if found["small"] else piece
    if not run.counted:
        out.open["pieces, by a clock that scatters"] += 3
        return
    one = run.median(f"oneshot/{algorithm}/{by}/{whole}")
    empty = run.median("invoke/none/tee/none")
    calls = empty, run.median(f"oneshot/{algorithm}/{by}/64")
    good, dear = ([one + (whole // size - 1) * call for call in calls] for size in (piece, small))
    if found["small"]:
        out.hold(found[0][:60], "at most 5 % more", good[0] <= 1.05 * one, good[0] / one)
        less = [100 * (1 - few / many) for few, many in zip(good, dear, strict=True)]
    else:
        less = [100 * (1 - one / many) for many in dear]
    said = Printed.of(found["less"])
    fits = less[0] - 1 - said.half <= said.value <= less[1] + 1 + said.half
    out.hold(found[0][:60], f"{found['less']} % less", fits, less)


def tenth(run: Run, found: Found, out: Verdict) -> None:
    """The size from which the way in and out is a tenth of a call: nine times the way."""
    keys = [key for key in run.inside if key.startswith("oneshot/sha256/tee/")]
    if not run.counted or not keys:
        out.open["a slope over medians that scatter"] += 1
        return
    key = min(keys, key=lambda key: int(key.rpartition("/")[2]))
    way = run.median(key) - statistics.median(cost for times, cost in run.inside[key] if times == 1)
    size = 9 * way / run.slope("sha256", "tee") / 1024
    out.figure("the way is less than a tenth", found[1], size, 1, 0.03)


def each(case: str, most: int) -> Callable[[Run], float]:
    """Returns the cost of one of the things that a call does `most` times, beside none."""
    return lambda run: (run.median(f"{case}/{most}") - run.median(f"{case}/0")) / most


def apart_by(run: Run, found: Found, out: Verdict) -> None:
    """The same C source in both worlds: by their slopes over bytes."""
    inside, outside = (slope(TITLES[found[1]], by)(run) for by in ("ta-c", "c"))
    more = 100 * (inside / outside - 1) * (-1 if found[4] == "fewer" else 1)
    good = abs(more - Printed.of(found[3]).value) <= 0.5 and abs(more) < Printed.of(found[2]).value
    out.hold(found[0][:60], f"{found[3]} % {found[4]}", good or math.isnan(more), more)


def ratio(one: str, two: str) -> Callable[[Run], float]:
    return lambda run: run.median(one) / run.median(two)


def saved(one: str, two: str) -> Callable[[Run], float]:
    return lambda run: 100 * (1 - run.median(one) / run.median(two))


def step(key: str, group: str, name: str) -> Callable[[Run], float]:
    """Returns the median of a figure of teehash's reports of a step."""

    def median(run: Run) -> float:
        reports = run.teehash.get(f"teehash/sha256/{key}/inline", [])
        values = [one["report"][group][name]["value"] for one in reports]
        return statistics.median(values) if values else math.nan

    return median


def steps(one: str, two: str, group: str, name: str) -> Callable[[Run], float]:
    return lambda run: step(one, group, name)(run) / step(two, group, name)(run)


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


API = "{}/stream/warm/42822485/3145728"
CHUNKS = "tee/stream/warm/{}/1048576"
SAID = r"The parts of|Slope over|SHA-\d+[:.]|[\w-]+(, [\w ]+)?(\. Emulated|: [\w ]+ at the median)"
STEP = 16  # ns or instructions, of the exact board's clock
KEY = r"([a-z0-9-]+/[\w.\\-]+/[\w-]+/[\w/.-]+)"
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
    (rf"{KEY} over {KEY}: ({NUMBER})×; difference a call: {COST}", over_difference),
    (rf"(?<!CPU time of ){KEY} over {KEY}: ({NUMBER})×(?!; difference)", over),
    (rf"100 bytes take ({NUMBER})× the time of 1 byte",
     quotient_of("oneshot/sha256/tee/100", "oneshot/sha256/tee/1")),
    (rf"1 byte takes ({NUMBER})× the time of none",
     quotient_of("oneshot/sha256/tee/1", "oneshot/sha256/tee/0")),
    (rf"carries 1 MiB and does nothing with it takes ({NUMBER})× the time of an empty one",
     quotient_of("shm/allocated/tee/in/1048576", "invoke/none/tee/none")),
    (rf"From 1 to 4 MiB a byte takes ({NUMBER})× the time of one from 4 to 64 KiB", linear),
    (rf"({NUMBER})(?:×|{SPACE}%)(?:[^:;.]|\d\.\d)*, where [\w-]+ has ({NUMBER})(?:×|{SPACE}%): "
     rf"({NUMBER}) times as much here", beside_published),
    (rf"constant at ({NUMBER}) µs beside a floor of ({NUMBER}) µs .*?: ({NUMBER}) x as much",
     by_itself(lambda call, floor: floor / call)),
    (rf"constant at ({NUMBER}) µs beside a floor of ({NUMBER}) to ({NUMBER}) µs .*?: "
     rf"({NUMBER}) x as much", by_itself(lambda call, low, high: (low + high) / 2 / call)),
    (rf"crash was at ({NUMBER}) MB, and the cure is shown with ({NUMBER}) MB: ({NUMBER}) %",
     by_itself(lambda crash, cure: 100 * cure / crash)),
    (rf"({NUMBER}) MB/s on a .*? at ([\d.]+) GHz .*? is ({NUMBER}) cycles a byte",
     by_itself(lambda rate, ghz: 1000 * ghz / rate)),
    (rf"({NUMBER}) MiB/s for ({NUMBER}) s are ({NUMBER}) MB",
     by_itself(lambda rate, seconds: rate * seconds * 1.048576)),
    (rf"({NUMBER}) and ({NUMBER}) s differ by ({NUMBER}) %",
     by_itself(lambda one, two: 100 * (two / one - 1))),
    (rf"crypto instructions in the TA it takes {COST} a byte",
     of_run(slope("sha256", "ta-ce"), loose=ENDS)),
    (rf"“TEE API” takes {COST} a byte \(95 % interval ({NUMBER}) … ({NUMBER})\)", byte_between),
    (rf"computing takes {COST} a byte \(95 % interval ({NUMBER}) … ({NUMBER})\)", byte_between),
    (rf"“CE, in the TA” takes {COST} a byte", of_run(slope("sha256", "ta-ce"), loose=ENDS)),
    (rf"a byte of (\w+), tee over ta-ce: ({NUMBER})× \(95 % interval ({NUMBER}) … ({NUMBER})\); "
     rf"costs ({NUMBER}) % of (\S+)", without_extensions),
    (rf"It saves ({NUMBER}) % of a byte of SHA-256",
     of_run(lambda run: 100 * (1 - slope("sha256", "ta-ce")(run) / slope("sha256", "tee")(run)))),
    (rf"It saves up to ({NUMBER}) % of an empty call",
     of_run(lambda run: 100 - 200 / ratio("invoke/none/tee/none", "invoke/refused/tee/none")(run))),
    (rf"same C source of (SHA-\d+) is as fast in the TEE as outside, to within ({NUMBER}) %: it "
     rf"takes ({NUMBER}) % (more|fewer)", apart_by),
    (rf": ({NUMBER}) \([^)]*\) and ({NUMBER}) \([^)]*\) agree to within ({NUMBER}) %",
     within_bound),
    (rf"on what an operation takes: ({NUMBER}) cases?, at most ({NUMBER}) % apart\.\*\* "
     rf"Furthest apart: (\S+) ({NUMBER}) %; ({NUMBER}) % is allowed", both_clocks),
    (rf"({NUMBER}) cases? of ({NUMBER}) (?:are|is) timed, not counted: half of (?:their|its) "
     rf"samples lie over ({NUMBER}) % apart", timed),
    (rf"({NUMBER}) medians? of ({NUMBER}) (?:are|is) known to no better than ({NUMBER}) %",
     badly_known),
    (rf"({NUMBER}) medians? of ({NUMBER}) (?:have|has) too few samples", too_few),
    (rf"(\w\S+) took {COST} to {COST}", ends),
    (rf"The interval of (\S+) spans ({NUMBER}) % of the median", spans),
    (rf"(\w\S+) has ({NUMBER}) samples", samples_of),
    (rf"RPCs a block, (\S+): ({NUMBER})", rpcs_a_block),
    (rf"RPCs, of (\S+): ({NUMBER}) % \(({NUMBER}) % … ({NUMBER}) %\); "
     rf"costs ({NUMBER}) % of a call with", rpcs_share),
    (rf"copying, of .*?; a byte: {COST}",
     of_run(lambda run: copied(run) / (MIB - 64), digits=3)),
    (rf"a page: {COST}", of_run(
        lambda run: (run.median(SHM("allocated", MIB)) - run.median(SHM("allocated", 64))) / 255,
        digits=3)),
    (rf"a line would cost: {COST}", of_run(each("log/lines/tee", 4), loose=0.01)),
    (rf"`(\S+/\S+)` \*\*[\w ]+\*\*: .*?\b({NUMBER}) calls.*$", interrupts),
    (rf"TEE\\_GetREETime over TEE\\_GetSystemTime: ({NUMBER})×", of_run(
        lambda run: each("time/ree/tee", 4)(run) / each("time/system/tee", 4)(run), digits=2)),
    (rf"TEE\\_GetREETime: {COST}", of_run(each("time/ree/tee", 4), loose=1e-3)),
    (rf"It saves ({NUMBER}) % of a query", of_run(
        lambda run: 100 * (1 - each("time/system/tee", 4)(run) / each("time/ree/tee", 4)(run)))),
    (rf"rng/random/tee/4096 without the call, over rng/random/getrandom/4096: ({NUMBER})×", of_run(
        lambda run: (run.median("rng/random/tee/4096") - run.median("invoke/none/tee/none"))
        / run.median("rng/random/getrandom/4096"), loose=0.02)),
    (rf"(SHA-\d+) by ([a-z-]+), in pieces: those of (?P<piece>[\d.]+ [KM]iB) take at most "
     rf"5 % more than one call with (?P<whole>[\d.]+ [KM]iB), and (?P<less>{NUMBER}) % less than "
     rf"those of (?P<small>[\d.]+ [KM]iB)", in_pieces),
    (rf"(SHA-\d+) by ([a-z-]+): one call with (?P<whole>[\d.]+ [KM]iB) takes "
     rf"(?P<less>{NUMBER}) % less than pieces of (?P<piece>[\d.]+ [KM]iB)(?P<small>)", in_pieces),
    (rf"Hand over larger pieces: from ({NUMBER}) KiB a call on, the way is less than a tenth",
     tenth),
    (rf"costs as much as the SHA-256 of ({NUMBER}) KiB.*? takes {COST};", once_as_much),
    (rf"It saves ({NUMBER}){SPACE}% of a call with 1{SPACE}MiB in temporary memory",
     of_run(saved(SHM("allocated", MIB), SHM("temporary", MIB)))),
    (rf"It saves ({NUMBER}){SPACE}% of a call with 1{SPACE}MiB of read-only memory",
     of_run(saved(SHM("allocated", MIB), SHM("registered-ro", MIB)))),
    (rf"costs ({NUMBER}){SPACE}% of a call that only carries 1{SPACE}MiB",
     of_run(saved(SHM("allocated", 64), SHM("allocated", MIB)))),
    (rf"copying, of shm/allocated/tee/in/1048576: ({NUMBER}){SPACE}%",
     of_run(lambda run: 100 * copied(run) / run.median(SHM("allocated", MIB)))),
    (rf"copying, of [^:]*: {NUMBER}{SPACE}%; a byte: {COST}",
     of_run(lambda run: copied(run) / (MIB - 64), digits=3)),
    (rf"costs as much as ({NUMBER}) empty calls",
     of_run(ratio("session/first-open/tee/none", "invoke/none/tee/none"), digits=3)),
    (rf"opening the first session: {COST}",
     of_run(lambda run: run.median("session/first-open/tee/none"))),
    (rf"opening one while another session keeps the TA loaded: {COST}",
     of_run(lambda run: run.median("session/open/tee/none"))),
    (rf"Encrypting takes ({NUMBER})× the time with AES-128",
     of_run(ratio("cipher-steps/aes-128-cbc/tee/enc/4096/whole/all",
                  "cipher/aes-128-cbc/openssl/enc/4096"), digits=3)),
    (rf"Encrypting takes ({NUMBER})× the time,",
     of_run(ratio("cipher-steps/aes-256-cbc/tee/enc/4096/whole/all",
                  "cipher-steps/aes-128-cbc/tee/enc/4096/whole/all"), digits=3)),
    (rf"Reading it takes ({NUMBER})×",
     of_run(ratio("storage/open-read-close/tee-ree-fs/7000",
                  "storage/open-read-close/memory/7000"), digits=3)),
    (rf"in the TEE's storage takes ({NUMBER})× .*? the time of a file that is written through",
     of_run(ratio("storage/create/tee-ree-fs/7000", "storage/create/file-fsync/7000"), digits=3)),
    (rf"\*\* {COST} against {NUMBER}{SPACE}\w+ \(medians\)",
     of_run(lambda run: run.median("storage/create/tee-ree-fs/7000"))),
    (rf"Hashing 42.8 MB takes portable C ({NUMBER})×",
     of_run(steps(API.format("ta-c"), API.format("tee"), "tee", "hash_compute_time"), digits=3)),
    (rf"Portable C needs ({NUMBER})× the stack",
     of_run(steps(API.format("ta-c"), API.format("tee"), "tee", "ta_stack_high_water"), digits=3)),
    (rf"The buffers for 52.4 MB are ({NUMBER})× those for 5.24 MB",
     of_run(steps(CHUNKS.format(52428800), CHUNKS.format(5242880), "host", "buffer_memory"),
            digits=3)),
    (rf"The peak of resident memory is ({NUMBER})×",
     of_run(steps(CHUNKS.format(52428800), CHUNKS.format(5242880), "host", "peak_memory"),
            digits=3)),
    (rf"The peak with 107 MB is ({NUMBER})×",
     of_run(steps(CHUNKS.format(107058724), CHUNKS.format(4488896), "host", "peak_memory"),
            digits=3)),
    (rf"Its buffer is ({NUMBER})× as large",
     of_run(steps("tee/oneshot/warm/2240000/1048576", CHUNKS.format(2240000), "host",
                  "buffer_memory"), digits=3)),
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


def scatter(run: Run, key: str, row: Row, out: Verdict) -> None:
    """The 95th percentile of a case's samples, and their relative deviation."""
    values = run.values(key)
    if cost := re.fullmatch(COST, row.get("p95", "")):
        at = 0.95 * (len(values) - 1)
        low, high = values[int(at)], values[min(int(at) + 1, len(values) - 1)]
        rank = low + (at - int(at)) * (high - low)
        out.figure(f"{key}, p95", cost[1], rank, UNITS[cost[2]], run.loose, 3)
    if share := re.fullmatch(rf"({NUMBER}){SPACE}%", row.get("sd", "")):
        wide = statistics.stdev(values) / statistics.mean(values)
        out.figure(f"{key}, sd", share[1], 100 * wide, 1, run.loose, 2)


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
        scatter(run, key, row, out)
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


def paid(name: str, term: str, size: int) -> float:
    """Returns how often a message of that many bytes pays a term of a model, as the report says."""
    block, end = (128, 17) if "512" in name or "384" in name else (64, 9)
    if "AES" in name:
        block, end = 16, 0
    blocks = -(-(size + end) // block) if "storage" not in name else size // 4096 + 1
    found = {"call": 1.0, "byte": float(size), "block": float(blocks), "feed": float(size > 0)}
    found["page"] = -(-size // 4096) * (2.0 if "cipher" in name else 1.0)
    found |= {"again": float(blocks > 1), "tail": float(size % block > 0)}
    return found.get(term, math.nan)


def terms(run: Run, heading: str, rows: list[Row], out: Verdict) -> bool:
    """The terms of a model, added up, are what was measured: to within 2 %, or the misfit that
    stands in the table above."""
    told = re.match(r"What (.+) is made of", heading)
    if told is None or "call (instructions)" not in rows[0]:
        return False
    for row in rows:
        backend = row["backend"].strip("`")
        sizes = sizes_of(run, told[1], backend)
        for size, whole in sizes.items():
            total = half = 0.0
            for header, cell in row.items():
                if is_figure(cell):
                    often = paid(told[1], header.partition(" (")[0], size)
                    total += Printed.of(cell).value * often
                    half += Printed.of(cell).half * often
            good = abs(total - whole) <= 0.02 * whole + half
            out.hold(f"{told[1]} by {backend}, {size} B", "its terms add up", good, (total, whole))
    return bool(sizes)


def reasons(run: Run, _heading: str, rows: list[Row], out: Verdict) -> bool:
    """Cases that were left out, by their reason."""
    if "can't run because" not in rows[0]:
        return False
    for row in rows:
        why = re.sub(r"\W+", " ", row["can't run because"].partition(" (")[0])
        same = [one for one in run.skips if why in re.sub(r"\W+", " ", json.dumps(one))]
        if same:  # teehash's own failures are no skips of teebench
            out.hold(f"left out: {why}", row["cases"], len(same) >= int(row["cases"]), len(same))
    return True


def first_opens(run: Run, _heading: str, rows: list[Row], out: Verdict) -> bool:
    """What happens once: contexts, sessions, first calls."""
    time = next((one for one in rows[0] if one.partition(" (")[0] == "time"), None)
    if "what" not in rows[0] or time is None:
        return False
    kinds = {"first contact": "context", "opening a session": "session", "first empty": "invoke"}
    for row in rows:
        kind = next((what for words, what in kinds.items() if row["what"].startswith(words)), "")
        who = None, kind, row["what"].split()[-1]
        values = [
            one["ns"]
            for one in run.firsts
            if tuple(map(one.get, ("case", "what", "backend"))) == who
        ]
        cost = re.fullmatch(COST, row[time]) or re.fullmatch(rf"({NUMBER})", row[time])
        if len(values) == 1 and cost and kind:
            unit = UNITS[cost[2]] if cost.re.groups > 1 else unit_in(time) or 1.0
            out.figure(row["what"], cost[1], values[0], unit, 0.0, 0 if run.counted else 3)
        else:
            out.open["a first time of several starts"] += 1
    return True


def parts(run: Run, heading: str, rows: list[Row], out: Verdict) -> bool:
    """A call and its parts: they add up, and shares are shares."""
    key = heading.removeprefix("The parts of ").partition(".")[0].replace("\\", "")
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
        told, _, often = row["told by"].partition(f" ({calls} times")
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
            out.open[f"parts: {row['told by'][:50]}"] += 1
    return True


def repeats(run: Run, heading: str, rows: list[Row], out: Verdict) -> bool:
    """Work that a call does n times over: slope and what is left, from the ends."""
    if not heading.startswith("Slope over n") or not run.counted:
        return False
    for row in rows:
        backend = row["backend"].strip("`").partition("`")[0]
        algorithm = TITLES.get(row["algorithm"])
        if " " not in re.sub(SPACE, " ", row["bytes"]):
            out.open["a slope over repetitions, of no size"] += 1
            continue
        key = f"oneshot/{algorithm}/{backend}/{size_of(row['bytes'])}"
        times = sorted({repeat for repeat, _ in run.samples.get(key, [])})
        one, many = run.median(key, times[0]), run.median(key, times[-1])
        slope = (many - one) / (times[-1] - times[0])
        misfit = re.search(NUMBER, row["misfit"])
        loose = Printed.of(misfit[0]).value / 100 if misfit else 1e-4
        loose = max(loose, STEP / (times[-1] - times[0]) / slope)
        for header, cell in row.items():
            if header.startswith("operation ("):
                out.figure(f"{key}, slope", cell, slope, unit_in(header) or 1.0, loose)
            elif header.startswith("byte (") and is_figure(cell):
                cost = slope / (size_of(row["bytes"]) or math.nan)
                out.figure(f"{key}, slope a byte", cell, cost, unit_in(header) or 1.0, loose, 3)
            elif header.startswith("call ("):
                unit = unit_in(header) or 1.0
                left = Printed.of(cell)
                good = abs(left.value * unit - (one - slope)) <= loose * many + left.half * unit
                out.hold(f"{key}, the call alone", cell, good, (one - slope) / unit)
    return True


def first_calls(run: Run, heading: str, rows: list[Row], out: Verdict) -> bool:
    """The first call of each case."""
    first = next((one for one in rows[0] if one.startswith("first call")), None)
    if first is None:
        return False
    firsts: dict[str, list[float]] = defaultdict(list)
    for record in run.firsts:
        if record["case"] and record.get("what") == "call":
            firsts[record["case"]].append(record["ns"])
    for row in rows:
        key = row["case"].strip("`")
        cell, unit = row[first], unit_in(first) or 1.0
        if timed := re.fullmatch(COST, cell):
            cell, unit = timed[1], UNITS[timed[2]]
        if len(firsts[key]) == 1 and is_figure(cell):
            digits = 0 if run.counted else 3
            out.figure(f"{key}, first", cell, firsts[key][0], unit, digits=digits)
        after = next(one for one in row if one.startswith("calls right after"))
        more = re.fullmatch(rf"({NUMBER}) %", row["more"])
        if more and is_figure(row[first]) and is_figure(row[after]):
            a, b = Printed.of(row[first]), Printed.of(row[after])
            percent = 100 * (a.value / b.value - 1)
            wide = 100 * (a.half + b.half) / b.value / max(abs(percent), 1e-9)
            out.figure(f"{key}, first against later", more[1], percent, 1.0, wide)
    return True


def floor(run: Run, _heading: str, rows: list[Row], out: Verdict) -> bool:
    """A document's rows of messages by size."""
    done = False
    for row in rows:
        found = re.fullmatch(r"(\d+) B", row.get("message", ""))
        if found and row["unit"] in UNITS:
            key, unit = f"oneshot/sha256/tee/{found[1]}", UNITS[row["unit"]]
            values = run.values(key)
            out.figure(f"floor, {found[1]} B", row["median"], run.median(key), unit, 0.0, 3)
            if run.starts == 1 and len(values) > 1:
                out.figure(
                    f"floor, {found[1]} B, mean", row["mean"], statistics.mean(values), unit, 0.0, 3
                )
                spread = statistics.stdev(values)
                out.figure(f"floor, {found[1]} B, sd", row["sd"], spread, unit, 0.0, 3)
            done = True
    return done


def worth(cell: str) -> tuple[Printed, str] | None:
    """A cell's number and its unit."""
    found = re.fullmatch(rf"(?:\\\\?[~<>] ?)*({NUMBER})(.*)", cell)
    return (Printed.of(found[1]), found[2].strip()) if found else None


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
            unit = "" if text.startswith("samples(") else rule.get("unit") or row.get("unit") or ""
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
        unit = named[1] if named else self.unit
        cell = cell.removesuffix(self.unit).removesuffix("×").strip()
        if unit not in BASE or not is_figure(cell) or (self.run.starts > 1 and kind != "median"):
            return
        if kind == "median":
            value = statistics.median(self.values)
        elif kind == "mean":
            value = statistics.fmean(self.values)
        else:
            value = statistics.stdev(self.values) if len(self.values) > 1 else 0.0
        loose = self.run.loose
        if kind == "median" and unit in {"s", "ms", "us", "µs", "ns"} and value:  # a clock's step
            loose = max(loose, self.run.resolution / 2 * 1e-9 / value)
        self.out.figure(f"{self.label}, {kind}", cell, value, BASE[unit], loose, 3)


ROWS = {"SHA-1": "oneshot/sha1/{}/{}", "SHA-256": "oneshot/sha256/{}/{}",
        "AES-128": "cipher/aes-128-cbc/{}/enc/{}", "AES-128-CBC": "cipher/aes-128-cbc/{}/enc/{}",
        "SHA-1 hashing": "file/sha1/{}/10000000", "SHA-256 hashing": "file/sha256/{}/10000000",
        "AES-128 encryption": "file/aes-128-cbc-enc/{}/10000000",
        "AES-128 decryption": "file/aes-128-cbc-dec/{}/10000000"}  # fmt: skip


def speeds(run: Run, heading: str, rows: list[Row], out: Verdict) -> bool:
    """A document's tables of rates: by OpenSSL, where no other is named."""
    begins = ("OpenSSL's speed", "Throughput at 16 KiB", "A file of 10 MB")
    if not heading.startswith(begins):
        return False
    key = ""
    for row in rows:
        name, _, who = next(iter(row.values())).partition(", ")
        by = {"": "openssl", "kernel": "afalg", "TEE": "tee"}.get(who, "")
        for header, cell in row.items():
            spread = re.fullmatch(rf"({NUMBER}) ± ({NUMBER})", cell.replace("\u00a0", " "))
            if name.startswith("mean") and key and spread:
                values = run.values(key)
                head = unit_in(header) or 1.0
                out.figure(f"{key}, mean", spread[1], statistics.mean(values), head, run.loose, 3)
                out.figure(f"{key}, sd", spread[2], statistics.stdev(values), head, run.loose, 3)
            if name not in ROWS or header.startswith("published") or not is_figure(cell):
                continue
            size = int(found[1]) if (found := re.match(r"(\d+) bytes", header)) else 16384
            key = ROWS[name].format(by, size)
            size = int(key.rsplit("/", 1)[1])
            if "B/s" in header:
                per = 1e3 if "(kB/s)" in header or "(KB/s)" in header else 1e6
                out.figure(key, cell, size / run.median(key) * 1e9 / per, 1, run.loose, 4)
            elif unit := unit_in(header):
                out.figure(key, cell, run.median(key), unit, run.loose, 4)
    return True


def layered(run: Run, _heading: str, rows: list[Row], out: Verdict) -> bool:
    """PKCS #11: each layer is its sum over the calls that were watched, by their number."""
    if "in the TEE" not in rows[0]:
        return False
    for row in rows:
        key = f"pkcs11/{row['call']}/pkcs11/none"
        layers = run.cases[key]["layers"]
        library = layers["total_ns"] - layers["invoke_ns"] - layers["memory_ns"]
        for header, value in (("in the TEE", layers["invoke_ns"]), ("library", library),
                              ("shared memory", layers["memory_ns"])):  # fmt: skip
            out.figure(f"{key}, {header}", row[header], value / layers["calls"], 1.0, 0.0, 3)
        if is_figure(row["median"]):
            out.figure(f"{key}, median", row["median"], run.median(key), 1.0, run.loose)
        share = 100 * layers["memory_ns"] / layers["total_ns"]
        out.figure(f"{key}, memory", row["memory's share"].removesuffix(" %"), share)
        out.figure(f"{key}, calls", row["TEE calls"], layers["invokes"] / layers["calls"], 1, 0, 3)
    return True


def keys_named(run: Run, named: str, workload: str) -> list[str]:
    """Returns the cases of a workload whose algorithm, and kind of key, a title names."""
    title, _, kind = named.partition(", ")
    given = {"with CRT": "crt", "without CRT": "plain"}.get(kind, "none")
    return [
        key for key in run.cases
        if (parts := key.split("/"))[0] == workload and parts[3] == given
        and is_titled(parts[1], title)
    ]  # fmt: skip


def keys(run: Run, _heading: str, rows: list[Row], out: Verdict) -> bool:
    """Operations with a key, in the TEE and by OpenSSL, and what one takes of the other."""
    if not any(re.match(r"(sign|verify|derive): ", row.get("", "")) for row in rows):
        return False
    for row in rows:
        workload, _, named = row[""].partition(": ")
        found = {key.split("/")[2]: key for key in keys_named(run, named, workload)}
        for header, cell in row.items():
            by = {"TEE API": "tee", "OpenSSL": "openssl"}.get(header.partition(" (")[0], "")
            if by in found and is_figure(cell):
                out.figure(found[by], cell, run.median(found[by]), 1.0, run.loose, 3)
            elif is_figure(cell):
                out.open["a key's row whose case this program can't tell"] += 1
        ratio = row.get("ratio", "").removesuffix("×")
        if is_figure(ratio) and len(found) == 2:
            value = run.median(found["tee"]) / run.median(found["openssl"])
            out.figure(f"{row['']}, ratio", ratio, value, 1.0, 0.0, 3)
    return True


def key_pairs(run: Run, _heading: str, rows: list[Row], out: Verdict) -> bool:
    """New key pairs: median, least and most of the samples, and their number."""
    if "key pair" not in rows[0]:
        return False
    for row in rows:
        name, _, title = row["key pair"].rpartition(", ")
        by = {"TEE API": "tee", "OpenSSL": "openssl"}.get(title, "")
        found = [key for key in keys_named(run, name, "keygen") if f"/{by}/" in key]
        if len(found) != 1:
            out.open["a key pair whose case this program can't tell"] += 1
            continue
        values = run.values(found[0])
        for header, cell in row.items():
            name = header.partition(" (")[0]
            known = {"median": statistics.median(values), "least": values[0], "most": values[-1],
                     "samples": len(values)}  # fmt: skip
            if name in known and is_figure(cell):
                # A median may lie half a step of the clock from the samples that share the step.
                loose = run.resolution / 2 / values[0] if name == "median" else 0.0
                out.figure(f"{found[0]}, {name}", cell, known[name], 1.0, loose, 3)
    return True


def answered(run: Run, _heading: str, rows: list[Row], out: Verdict) -> bool:
    """A document's conclusions: the figure here is one of those that the conclusion asks for."""
    file = DOCUMENTS / f"{run.plan}.toml"
    if "here" not in rows[0] or not file.is_file():
        return False
    declared = tomllib.loads(file.read_text())
    checks = {one["claim"]: one["checks"] for one in declared["answers"] if "checks" in one}
    for row in rows:
        bounds(run, declared, checks.get(plain(row["the document says"]), ()), row, out)
        found = re.match(rf"({NUMBER})(×?)( %| points)?", row["here"])
        if found is None:
            continue
        printed, unit = Printed.of(found[1], 3), 1.0 if found[2] or not found[3] else 0.01
        told = list[float]()
        for one in checks.get(row["the document says"].replace("\\", ""), ()):
            text = formula(declared.get("let", {}), {}, {"name": ""}, one)
            try:
                told += [statistics.median(computed(run, ast.parse(text or "", mode="eval").body))]
            except (Unheld, KeyError, SyntaxError):
                out.open[f"a conclusion's figure: {text}"] += 1
        if told:
            good = any(printed.is_near(value, unit, run.loose) for value in told)
            out.hold(row["the document says"], row["here"], good, told)
    return True


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
    out.hold(f"{row['the document says']}, the document's", row["figure or limit"], good, every)


TABLES = (
    by_size, all_cases, whole_calls, terms, parts, repeats, reasons, first_opens, first_calls,
    floor, speeds, printed, document, ratios, layered, keys, key_pairs, answered
)  # fmt: skip


def table_rows(lines: list[str]) -> list[Row]:
    split = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))] for line in lines
    ]
    headers: list[str] = []
    for header in split[0]:  # the same words twice: the second gets a number
        headers.append(header if header not in headers else f"{header} {len(headers)}")
    return [dict(zip(headers, cells, strict=False)) for cells in split[2:]]


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
