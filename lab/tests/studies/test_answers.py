# SPDX-License-Identifier: BSD-2-Clause
"""Conclusions of the seed documents on runs whose truth is known: each holds, fails, and is left
undecided when the figures don't tell."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

import msgspec
import pytest

from synthetic import run_of, scattered
from teemark.base import paths
from teemark.base.finding import Finding
from teemark.findings.subject import Subject, subjects
from teemark.page import markdown
from teemark.page.blocks import Bullets, Cell, Findings, Fold
from teemark.plan.file import load_plan
from teemark.reference.data import Published, PublishedNumber, load
from teemark.report.run_page import make
from teemark.report.sections.headline import headline
from teemark.run.reader import RunData
from teemark.run.records import Skip
from teemark.studies import declared
from teemark.studies.answers import answers, mistaken, table
from teemark.studies.measured import TRIED, Lookup, Value

DOCUMENTS = tuple(load().documents)
STEP = re.compile(
    r"teehash/(?P<algorithm>[^/]+)/(?P<by>[^/]+)/(?P<mode>[^/]+)/(?P<cache>[^/]+)/"
    r"(?P<bytes>\d+)/(?P<chunk>\d+)/inline"
)
KEY = re.compile(r"'([a-z0-9-]+(?:/[a-z0-9-]+){2,})'")

CALL, WAY, BYTE = 100_000.0, 20_000.0, 30.0
"""The costs of a digest in the TEE, of an empty call, and of a byte, in nanoseconds."""

OPENSSL: Mapping[str, float] = {"16": 900, "256": 7_000, "1024": 26_000, "16384": 400_000}
KERNEL: Mapping[str, float] = {"16": 30_000, "16384": 200_000}

TRUTH: Mapping[str, float] = {
    "oneshot/sha1/openssl/16384": 380_000,
    "oneshot/sha256/ta-c/1048576": 38e6,
    "oneshot/sha256/ta-ce/1048576": 3e6,
    "digest-parts/sha256/tee/allocate": 2_000,
    "cipher/aes-128-cbc/openssl/enc/1024": 25_000,
    "file/aes-128-cbc-dec/tee/10000000": 1e9,
    "file/sha256/openssl/10000000": 260e6,
    "file/sha1/openssl/10000000": 260e6,
    "file/aes-128-cbc-enc/openssl/10000000": 500e6,
    "file/aes-128-cbc-dec/openssl/10000000": 400e6,
    "rng/random/urandom/10000000": 10e6,
    "rng/random/hwrng/1000000": 2e9,
}
"""Says what makes all conclusions hold, where no rule below gives it."""


ACCELERATED = (
    "oneshot/sha256/afalg/16384",
    "oneshot/sha1/afalg/16384",
    "cipher/aes-128-cbc/afalg/enc/16384",
)
"""Says what rate_by() is asked for."""


def case_ns(key: str) -> float:
    workload, what, by, rest = key.split("/", 3)
    size = rest.rpartition("/")[2]
    if key in TRUTH:
        return TRUTH[key]
    if workload in ("invoke", "shm"):
        return WAY
    if workload == "cipher-steps":
        return 8_000 if by == "openssl" else 5 * WAY if "/whole/" in key else 1.25 * WAY
    if workload == "storage":
        return {"memory": 1_000.0, "file-fsync": 1e6}.get(by, 50e6)
    if by in ("openssl", "afalg"):
        costs = OPENSSL if by == "openssl" else KERNEL
        return costs.get(size) or costs["16384"] * int(size) / 16384
    assert (workload, what, by) == ("oneshot", "sha256", "tee"), key
    return CALL + BYTE * int(size)


def report(step: str, factors: Mapping[str, float]) -> dict[str, object]:
    """A report of teehash; each figure so many times as large as the truth."""
    found = STEP.fullmatch(step)
    assert found is not None, step
    size, chunk = int(found["bytes"]), int(found["chunk"])
    streams = found["mode"] == "stream"
    calls = -(-size // chunk) + 1 if streams else 1

    def of(name: str, value: float) -> float:
        return value * factors.get(name, 1.0)

    reading = of("file_read_time", size * (25.0 if found["cache"] == "cold" else 0.5))
    a_byte = 21.6 if found["by"] == "ta-c" else 20.0
    hashing = of("hash_compute_time", size * a_byte)
    in_calls = of("tee_time", hashing + of("overhead", 1e6) * calls)
    opening = of("open_all", 1e6)
    groups: dict[str, dict[str, float]] = {
        "first": {"open_all": opening},
        "host": {
            "total_time": of("total_time", in_calls + reading) + opening,
            "file_read_time": reading,
            "peak_memory": of("peak_memory", 3e6 + (0 if streams else size)),
            "buffer_memory": of("buffer_memory", chunk if streams else size),
        },
        "hashing": {"cpu_utilization": of("cpu_utilization", 100.0)},
        "tee": {
            "invoke_count": calls,
            "hash_compute_time": hashing,
            "tee_time": in_calls,
            "ta_stack_high_water": of("ta_stack_high_water", 1200),
        },
        "derived": {"empty_call": of("empty_call", 0.8e6)},
    }
    return {
        group: {
            name: {
                "value": value,
                "unit": "percent"
                if name == "cpu_utilization"
                else ""
                if re.search("memory|count|stack", name)
                else "ns",
            }
            for name, value in figures.items()
        }
        for group, figures in groups.items()
    } | {"chunk": chunk}


@dataclass(frozen=True)
class Change:
    """The figure of a step ("STEP#FIGURE"), or a case, times `factor`, scattered by `spread`."""

    of: str
    factor: float
    spread: float = 0.005


def run(document: str, change: Change | None = None, leave_out: str = "#") -> RunData:
    """All that the document's conclusions ask for."""
    texts = [c.figure.text for one in declared.conclusions(document) for c in one.checks]
    found = [*KEY.findall(" ".join(texts)), *(ACCELERATED if document.startswith("b") else ())]
    keys = [key for key in dict.fromkeys(found) if leave_out not in key]
    cases: dict[str, list[float]] = {}
    reports: dict[str, list[dict[str, object]]] = {}
    wrong, _, figure = (change.of if change else "").partition("#")
    for seed, key in enumerate(keys):
        factor, spread = (change.factor, change.spread) if change and key == wrong else (1, 0.005)
        if key.startswith("teehash/"):
            values = scattered(1.0, spread if figure else 0.005, 12, seed)
            common = scattered(1.0, 0.002, 12, seed + 100)
            reports[key] = [
                report(
                    key,
                    {figure: factor * value}
                    | {
                        "hash_compute_time": noise
                        * (factor * value if figure == "hash_compute_time" else 1.0)
                    },
                )
                for value, noise in zip(values, common, strict=True)
            ]
        elif document == "api-vs-custom" or f"inside('{key}')" in " ".join(texts):
            for n in (1, 2, 4):
                inside = case_ns(key) * factor * n
                cases[f"{key} x{n}" if n > 1 else key] = scattered(WAY + inside, spread, 20, seed)
        else:
            # A call of the document's programs costs 1 ms beside hashing: nearly all of it the way.
            truth = 0.8e6 if document == "rpi3-secure-hash" else case_ns(key)
            cases[key] = scattered(truth * factor, spread, 20, seed)
    made = run_of(cases, plan=document, reports=reports)
    assert made.header is not None
    return replace(made, header=msgspec.structs.replace(made.header, emulated=False))


unchanged = cache(run)


def answer(document: str, key: str, made: RunData) -> Finding:
    """That one alone is judged: neither the other conclusions nor the run's own findings are."""
    asked = tuple(one for one in declared.conclusions(document) if one.key == key)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("teemark.findings.subject.judge", lambda _: ())
        patch.setattr(declared, "conclusions", lambda _: asked)
        (found,) = answers(*subjects([made]))
    return found


RPI = "teehash/sha256/tee/{}/{}/{}/1048576/inline"
WARM, COLD = RPI.format("stream", "warm", 4488896), RPI.format("stream", "cold", 4488896)
MB100, JSON = RPI.format("stream", "warm", 107058724), RPI.format("stream", "warm", 4780000)
SINGLE = RPI.format("oneshot", "warm", 2240000)
MB52 = RPI.format("stream", "warm", 52428800)
CUSTOM = "teehash/sha256/ta-c/stream/warm/42822485/3145728/inline"
MESSAGE = "oneshot/sha256/tee"
INSIDE = "oneshot/sha256"
STEP_OF = "cipher-steps/aes-128-cbc/tee/enc/4096/{}/all"
WHOLE = "cipher-steps/aes-{}-cbc/tee/enc/4096/whole/all"

TURNED: tuple[tuple[str, str, Change, Change], ...] = (
    # document, conclusion, what makes it false, what leaves it undecided
    ("rpi3-secure-hash", "linear", Change(f"{MB100}#total_time", 1.3),
     Change(f"{MB100}#total_time", 1.05, 0.1)),
    ("rpi3-secure-hash", "constant-overhead", Change(f"{MB100}#overhead", 2),
     Change(f"{MB100}#overhead", 1.05, 0.1)),
    ("rpi3-secure-hash", "stable-profile", Change(f"{JSON}#total_time", 1.5),
     Change(f"{JSON}#total_time", 1.05, 0.1)),
    ("rpi3-secure-hash", "cold-cache", Change(f"{COLD}#tee_time", 1.2),
     Change(f"{COLD}#tee_time", 1.05, 0.1)),
    ("rpi3-secure-hash", "constant-memory", Change(f"{MB100}#peak_memory", 20),
     Change(f"{MB100}#peak_memory", 1.05, 0.1)),
    ("rpi3-secure-hash", "single-shot", Change(f"{SINGLE}#overhead", 20),
     Change(f"{SINGLE}#overhead", 6, 0.5)),
    ("rpi3-secure-hash", "small-files", Change(f"{SINGLE}#total_time", 1.5),
     Change(f"{SINGLE}#total_time", 1.05, 0.1)),
    ("rpi3-secure-hash", "nothing-hidden", Change(f"{WARM}#open_all", 20),
     Change(f"{WARM}#open_all", 5, 0.2)),
    ("rpi3-small-messages", "constant-memory", Change(f"{MB52}#peak_memory", 10),
     Change(f"{MB52}#peak_memory", 1.05, 0.1)),
    ("rpi3-small-messages", "floor", Change(f"{MESSAGE}/100", 1.3),
     Change(f"{MESSAGE}/100", 1.02, 0.1)),
    ("rpi3-small-messages", "linear", Change(f"{MESSAGE}/2097152", 1.5),
     Change(f"{MESSAGE}/2097152", 1.04, 0.2)),
    ("rpi3-small-messages", "constant-overhead", Change("shm/allocated/tee/in/1048576", 40),
     Change("shm/allocated/tee/in/1048576", 1.05, 0.1)),
    ("rpi3-small-messages", "efficiency", Change("shm/allocated/tee/in/1048576", 40),
     Change("shm/allocated/tee/in/1048576", 1.57, 0.3)),
    ("api-vs-custom", "api-faster", Change(f"{CUSTOM}#hash_compute_time", 0.5),
     Change(f"{CUSTOM}#hash_compute_time", 0.926, 0.1)),
    ("api-vs-custom", "overhead-negligible", Change(f"{CUSTOM}#total_time", 1.5),
     Change(f"{CUSTOM}#total_time", 1.06, 0.1)),
    ("api-vs-custom", "same-overhead", Change(f"{CUSTOM}#total_time", 1.5),
     Change(f"{CUSTOM}#total_time", 1.01, 0.03)),
    ("api-vs-custom", "same-stack", Change(f"{CUSTOM}#ta_stack_high_water", 2),
     Change(f"{CUSTOM}#ta_stack_high_water", 1.05, 0.1)),
    ("api-vs-custom", "host-noise", Change(f"{CUSTOM}#total_time", 1.1),
     Change(f"{CUSTOM}#total_time", 1.01, 0.03)),
    ("mqtt-tz-blocks", "big-difference", Change(WHOLE.format(128), 0.1),
     Change(WHOLE.format(128), 0.8, 0.2)),
    ("mqtt-tz-blocks", "key-size", Change(WHOLE.format(256), 1.4),
     Change(WHOLE.format(256), 1.05, 0.1)),
    ("mqtt-tz-blocks", "secure-storage", Change("storage/create/memory/7000", 1e5),
     Change("storage/create/memory/7000", 5e3, 0.2)),
    ("api-vs-custom", "recommendation", Change(f"{CUSTOM}#hash_compute_time", 0.5),
     Change(f"{CUSTOM}#hash_compute_time", 0.926, 0.1)),
    ("mqtt-tz-blocks", "steps", Change(STEP_OF.format("set-key"), 2),
     Change(STEP_OF.format("set-key"), 1.1, 0.3)),
    ("beaglebone-hw-crypto", "sha1-faster", Change("oneshot/sha1/openssl/16384", 50),
     Change("oneshot/sha1/openssl/16384", 1.05, 0.2)),
    ("beaglebone-hw-crypto", "aes-even", Change("cipher/aes-128-cbc/openssl/enc/1024", 2),
     Change("cipher/aes-128-cbc/openssl/enc/1024", 1.05, 0.2)),
    ("beaglebone-hw-crypto", "hardware-pays", Change("oneshot/sha1/afalg/16384", 5),
     Change("oneshot/sha1/afalg/16384", 2, 0.2)),
    ("beaglebone-hw-crypto", "bulk", Change("oneshot/sha256/afalg/16", 0.001),
     Change("oneshot/sha256/afalg/16", 0.015, 0.2)),
    ("beaglebone-hw-crypto", "block-size", Change("oneshot/sha256/openssl/16384", 50),
     Change("oneshot/sha256/openssl/16384", 1.04, 0.2)),
    ("beaglebone-hw-crypto", "whole-files", Change("file/sha256/openssl/10000000", 3),
     Change("file/sha256/openssl/10000000", 1.17, 0.2)),
    ("api-vs-custom", "fewer-cycles", Change(f"{INSIDE}/ta-c/1048576", 0.05),
     Change(f"{INSIDE}/ta-c/1048576", 0.079, 0.2)),
    ("api-vs-custom", "both-in-software", Change(f"{INSIDE}/tee/1048576", 0.1),
     Change(f"{INSIDE}/tee/1048576", 0.285, 0.2)),
    ("api-vs-custom", "competitive", Change(f"{CUSTOM}#hash_compute_time", 1.5),
     Change(f"{CUSTOM}#hash_compute_time", 1.02, 0.1)),
    ("api-vs-custom", "little-memory", Change(f"{CUSTOM}#ta_stack_high_water", 5),
     Change(f"{CUSTOM}#ta_stack_high_water", 3.4, 0.1)),
    ("rpi3-secure-hash", "io-bound", Change(f"{COLD}#file_read_time", 0.5),
     Change(f"{COLD}#file_read_time", 0.8, 0.1)),
    ("rpi3-small-messages", "linear-overhead", Change(f"{MB52}#overhead", 2),
     Change(f"{MB52}#overhead", 1.05, 0.1)),
    ("rpi3-small-messages", "unavoidable", Change("digest-parts/sha256/tee/allocate", 10),
     Change("digest-parts/sha256/tee/allocate", 2.5, 0.2)),
    ("rpi3-small-messages", "per-byte", Change("shm/allocated/tee/in/1048576", 2e6),
     Change("shm/allocated/tee/in/1048576", 1.05e6, 0.1)),
    ("beaglebone-hw-crypto", "decryption", Change("file/aes-128-cbc-dec/openssl/10000000", 2),
     Change("file/aes-128-cbc-dec/openssl/10000000", 1.25, 0.2)),
    ("beaglebone-hw-crypto", "urandom-faster", Change("rng/random/urandom/10000000", 1e4),
     Change("rng/random/urandom/10000000", 2e3, 0.2)),
)  # fmt: skip

FACTS = {
    ("beaglebone-hw-crypto", "af-alg-unusable"),
    ("beaglebone-hw-crypto", "openssl-accelerated"),
    ("beaglebone-hw-crypto", "kernel-prefers"),
    ("beaglebone-hw-crypto", "small-blocks"),
    ("beaglebone-hw-crypto", "improvement"),
    ("beaglebone-hw-crypto", "integrity"),
    ("rpi3-small-messages", "whole-file-fails"),
    ("rpi3-small-messages", "out-of-memory"),
    ("rpi3-small-messages", "no-throttling"),
    ("rpi3-small-messages", "counter"),
    ("rpi3-secure-hash", "cpu-bound"),
    ("rpi3-secure-hash", "large-files-fail"),
    ("rpi3-secure-hash", "communication"),  # two readings: see below
    ("rpi3-secure-hash", "one-call-limit"),
    ("api-vs-custom", "no-crypto-extensions"),
    ("api-vs-custom", "same-calls"),
    ("mqtt-tz-blocks", "increment"),
} | {(name, one.key) for name in DOCUMENTS for one in declared.conclusions(name) if one.why}
"""Decided by a fact of the machine, by one recorded pass, or by nothing that can be measured here:
there is nothing between yes and no."""


@pytest.fixture(autouse=True)
def _accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's preferred driver is one; test_offload.py has how that is found out."""

    def rate_by(lookup: Lookup, _outcome: str, work: str, parameters: str) -> Value:
        return lookup.rate(f"{work}/afalg/{parameters}")

    monkeypatch.setattr(Lookup, "rate_by", rate_by)


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        ("accelerator accelerator accelerator", "found"),
        ("accelerator software accelerator", "ruled out"),
        ("accelerator unknown accelerator", "undecided"),
        ("unknown mixed software", "ruled out"),
    ],
)
def test_who_did_the_work(monkeypatch: pytest.MonkeyPatch, words: str, outcome: str) -> None:
    told = iter(words.split())
    monkeypatch.setattr(Lookup, "done_by", lambda _lookup, _case: next(told, "unknown"))
    found = answer("beaglebone-hw-crypto", "openssl-accelerated", run("beaglebone-hw-crypto"))
    assert found.status == outcome


@pytest.mark.parametrize(
    ("large", "small", "outcome"),
    [
        ("accelerator (omap-sham)", "software (sha256-generic)", "found"),
        ("accelerator (omap-sham)", "accelerator (omap-sham)", "ruled out"),
        ("accelerator (omap-sham)", "CPU instructions (sha256-ce)", "undecided"),
        ("accelerator (omap-sham)", "unknown (omap-sham)", "undecided"),
        ("software (sha256-generic)", "software (sha256-generic)", "undecided"),
        ("CPU instructions (sha256-ce)", "CPU instructions (sha256-ce)", "undecided"),
    ],
)
def test_who_does_small_blocks(
    monkeypatch: pytest.MonkeyPatch, large: str, small: str, outcome: str
) -> None:
    """A driver's name behind who did it made each answer a no. Without an accelerator for large
    blocks, the CPU's small ones say nothing of it."""
    told = {"oneshot/sha256/afalg/16384": large, "oneshot/sha256/afalg/16": small}
    monkeypatch.setattr(Lookup, "done_by", lambda _lookup, case: told.get(case, "unknown"))
    found = answer("beaglebone-hw-crypto", "small-blocks", run("beaglebone-hw-crypto"))
    assert found.status == outcome
    assert small in found.evidence


@pytest.mark.parametrize(
    ("times", "outcome"),
    [
        ({"sha256": 4.0, "sha1": 4.0, "aes-128-cbc": 2.5}, "found"),
        ({"sha256": 4.0, "sha1": 4.0, "aes-128-cbc": 1.5}, "ruled out"),
        ({"sha256": 4.0, "sha1": 12.0, "aes-128-cbc": 2.5}, "ruled out"),
    ],
)
def test_two_to_nine_times_is_of_each_algorithm(
    monkeypatch: pytest.MonkeyPatch, times: Mapping[str, float], outcome: str
) -> None:
    """AES, of which the document's own table has 1.5 to 3 times, was left out."""

    def rate_by(lookup: Lookup, by: str, work: str, parameters: str) -> Value:
        rate = lookup.rate(f"{work}/afalg/{parameters}")
        return rate * times[work.partition("/")[2]] if by == "accelerator" else rate

    monkeypatch.setattr(Lookup, "rate_by", rate_by)
    found = answer("beaglebone-hw-crypto", "improvement", run("beaglebone-hw-crypto"))
    assert found.status == outcome


@pytest.mark.parametrize(("document", "key", "no", "open_"), TURNED)
def test_three_outcomes(document: str, key: str, no: Change, open_: Change) -> None:
    assert answer(document, key, unchanged(document)).status == "found"
    assert answer(document, key, run(document, no)).status == "ruled out"
    undecided = answer(document, key, run(document, open_))
    assert undecided.status == "undecided", undecided
    assert "decide" in undecided.remedy


def test_what_ran_and_what_was_tried() -> None:
    whole = "teehash/sha256/tee/oneshot/warm/104857600/1048576/inline"
    here = run("rpi3-small-messages")
    assert answer("rpi3-small-messages", "whole-file-fails", here).status == "ruled out"
    without = run("rpi3-small-messages", leave_out=whole)
    assert answer("rpi3-small-messages", "whole-file-fails", without).status == "undecided"
    tried = replace(without, skips=(Skip(case=whole, code=TRIED, reason="no memory"),))
    said = answer("rpi3-small-messages", "whole-file-fails", tried)
    assert said.status == "undecided"  # issue 19, 14: a refused buffer is no crash
    assert "which is no crash" in said.why
    for status, outcome in ((1, "undecided"), (137, "found"), (134, "found")):
        skip = Skip(case=whole, code=TRIED, reason=f"teehash ended with status {status}: Killed")
        ended = answer("rpi3-small-messages", "whole-file-fails", replace(without, skips=(skip,)))
        assert ended.status == outcome, "the conclusion can hold"


def test_whether_large_files_fail_in_one_call() -> None:
    document, key = "rpi3-secure-hash", "large-files-fail"
    assert answer(document, key, run(document)).status == "ruled out"  # it takes them all
    cases = [RPI.format("oneshot", "warm", size) for size in (107058724, 42822485)]
    skips = tuple(Skip(case=case, code=TRIED, reason="no memory") for case in cases)
    for tried, status in ((skips, "found"), (skips[:1], "undecided")):
        refused = replace(run(document, leave_out="oneshot/warm"), skips=tried)
        assert answer(document, key, refused).status == status


@pytest.mark.parametrize(
    ("document", "key", "larger"),
    [
        ("rpi3-small-messages", "out-of-memory", 1 << 27),
        ("rpi3-secure-hash", "one-call-limit", 1 << 23),
    ],
)
def test_a_fixed_pool_of_shared_memory_explains_what_a_pi_refuses(
    document: str, key: str, larger: int
) -> None:
    """A board without a pool isn't asked; one with a larger pool has other limits."""
    here = run(document)
    for pool, status in ((4_190_208, "found"), (larger, "ruled out"), (None, "not checked")):
        tee = msgspec.structs.replace(here.machine.tee, pool_bytes=pool)
        machine = msgspec.structs.replace(here.machine, tee=tee)
        assert answer(document, key, replace(here, machine=machine)).status == status


COMPARISONS = {
    ("rpi3-secure-hash", "small-files"), ("rpi3-secure-hash", "nothing-hidden"),
    ("mqtt-tz-blocks", "key-size"), ("mqtt-tz-blocks", "secure-storage"),
    ("mqtt-tz-blocks", "steps"),
}  # fmt: skip
"""Says what no document claims: one call is faster, 5 % are hidden, AES-256 is like AES-128."""


@pytest.mark.parametrize("document", DOCUMENTS)
def test_each_answer_quotes_its_line_or_is_called_a_comparison(document: str) -> None:
    for one in declared.conclusions(document):
        assert ((document, one.key) in COMPARISONS) == (not one.quote), one.key
        if one.quote:
            assert f"line {one.line}: “{one.quote}”" in one.source
            assert one.defined or one.why, f"{one.key}: what is it on both sides?"
        else:
            assert one.source.startswith("A comparison: the document doesn't claim it.")


@pytest.mark.parametrize("document", [one for one in DOCUMENTS if one != "broker"])
def test_the_page_lists_each_claim_with_its_line(document: str) -> None:
    """docs/published-figures.md: 17 `key`, ° where no run can answer; ours in a column of their
    own."""
    page = (paths.root() / "docs/published-figures.md").read_text("utf-8")
    _, _, claims, ours, _ = re.findall(rf"^\| {document} \|.*$", page, re.M)[0].split("|")
    found = {
        (key, int(line), bool(none))
        for line, keys in re.findall(r"(\d+)((?: `[a-z0-9-]+`°?)+)", claims)
        for key, none in re.findall(r"`([a-z0-9-]+)`(°?)", keys)
    } | {(key, 0, False) for key in re.findall(r"`([a-z0-9-]+)`", ours)}
    there = declared.conclusions(document)
    assert found == {(one.key, one.line, bool(one.why)) for one in there}
    assert len(found) == len(there) > 5


def test_the_table_shows_the_line_of_each_answer_and_calls_a_comparison_so() -> None:
    shown = [plain_cell(row[0]) for row in table(subject(run("mqtt-tz-blocks"))).rows]
    assert any(text.endswith("call by call.” (32)") for text in shown)
    assert sum(text.endswith("(comparison)") for text in shown) == 3


def plain_cell(cell: Cell) -> str:
    assert isinstance(cell, tuple)
    return "".join(part if isinstance(part, str) else part.text for part in cell)


def test_communication_is_answered_by_both_readings() -> None:
    """34.7 % without mapping the buffers, about 60 % with it: the answer turned over."""
    document, key = "rpi3-secure-hash", "communication"
    assert answer(document, key, run(document)).status == "found"
    low = Change("invoke/none/tee/none", 0.3)
    found = answer(document, key, run(document, low))
    assert found.status == "undecided"
    assert "an empty call is" in found.evidence
    assert "A call that carries 1 MiB is" in found.evidence
    assert "two readings" in found.why


def test_every_conclusion_is_turned() -> None:
    declared_ = {(name, one.key) for name in DOCUMENTS for one in declared.conclusions(name)}
    assert declared_ == {(name, key) for name, key, _, _ in TURNED} | FACTS


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_a_conclusion_needs_is_in_the_plan(document: str) -> None:
    plan = load_plan(document)
    there = {case.key for case in plan.cases} | {step.key for step in plan.teehash}
    texts = [c.figure.text for one in declared.conclusions(document) for c in one.checks]
    assert set(KEY.findall(" ".join(texts))) <= there


def test_what_was_not_measured_is_said() -> None:
    found = answer("mqtt-tz-blocks", "secure-storage", run("mqtt-tz-blocks", leave_out="storage"))
    assert found.status == "not checked"
    assert found.evidence.startswith("This run didn't measure it")


def test_one_figure_that_is_missing_leaves_it_undecided_but_can_not_hide_a_no() -> None:
    part = run("mqtt-tz-blocks", leave_out="storage/delete")
    assert answer("mqtt-tz-blocks", "secure-storage", part).status == "undecided"
    here = str(table(subject(part)).rows[-1][2])  # it stood for itself: 363, 23,500, undecided
    assert here.endswith("×; 1 figure not measured")  # noqa: RUF001
    wrong = run(
        "mqtt-tz-blocks", Change("storage/create/memory/7000", 1e5), leave_out="storage/delete"
    )
    assert answer("mqtt-tz-blocks", "secure-storage", wrong).status == "ruled out"


def test_answers_stand_in_the_report_before_all_else() -> None:
    text = make([run(HASH)]).markdown
    first = text.index("Holds here: ")
    assert text.index("### What the document concludes") < first
    assert first < text.index("### What else the run shows")
    assert "### What else" not in make([run("mqtt-tz-blocks")]).markdown, "nothing is below it"


def test_what_could_not_be_answered_stands_together_by_its_reason() -> None:
    """Most conclusions have one reason on an emulated board: it is said once."""
    made = run(HASH)
    assert made.header is not None
    about = subject(replace(made, header=msgspec.structs.replace(made.header, emulated=True)))
    section = headline([about])
    assert section is not None
    folds = [one for one in section.blocks if isinstance(one, Fold)]
    folds = [one for one in folds if "not measured here" in one.title]
    unknown = [one for one in answers(about) if one.status == "not checked"]
    assert len({one.note for one in folds}) == len(folds) < len(unknown)
    lists = [block for one in folds for block in one.blocks if isinstance(block, Bullets)]
    inside = [str(item[0]) for block in lists for item in block.items]
    reasons = [one.evidence for one in unknown]
    said = [
        one.claim if reasons.count(one.evidence) > 1 else f"{one.claim} {one.evidence}"
        for one in unknown
    ]
    assert sorted(inside) == sorted(said)
    assert folds[-1].note == "with the reason"
    shown = [
        one
        for fold in section.blocks
        if isinstance(fold, Fold)
        for block in fold.blocks
        if isinstance(block, Findings)
        for one in block.items
    ]
    assert {one.key for one in answers(about)} - {one.key for one in unknown} <= {
        one.key for one in shown
    }


def test_the_first_screen_has_a_row_for_each_conclusion_that_is_judged() -> None:
    """The table has the document's figure or limit, ours, and the verdict of the sentence below."""
    about = subject(run(HASH))
    judged = [one for one in answers(about) if one.status != "not checked"]
    signs = {"found": "✓", "ruled out": "✗", "undecided": "?"}
    said = [(one.claim.partition(": ")[2].rstrip("."), signs[one.status]) for one in judged]
    rows = [[words_of(cell) for cell in row] for row in table(about).rows]
    for row, (claim, sign) in zip(rows, said, strict=True):
        assert row[0].startswith(claim)
        assert row[3][0] == sign
    assert all(row[1] and row[2] for row in rows)
    linear = next(row for row in rows if "proportion" in row[0])
    assert linear[1] == "0.996×"  # noqa: RUF001
    assert linear[2].startswith("1.00×")  # noqa: RUF001


def words_of(cell: Cell) -> str:
    return cell if isinstance(cell, str) else markdown.cell(cell).strip("*")


def subject(made: RunData) -> Subject:
    return subjects([made])[0]


def test_only_seed_plans_have_answers() -> None:
    assert answers(subject(run_of({"invoke/none/tee/none": [1.0] * 9}))) == ()


@pytest.mark.parametrize(("busy", "status"), [(1.0, "found"), (0.9, "ruled out")])
def test_the_cpu_is_busy_while_it_hashes_and_not_while_the_ta_is_loaded(
    busy: float, status: str
) -> None:
    """Issue 19, 13: opening waits for tee-supplicant; neither time has it."""
    made = run(HASH, Change(f"{WARM}#cpu_utilization", busy, 0.0001))
    said = answer(HASH, "cpu-bound", made)
    assert said.status == status
    assert f"{busy * 100:.0f}" in said.evidence


HASH = "rpi3-secure-hash"


def test_an_answer_names_the_document_its_figure_and_ours_with_the_ratio() -> None:
    """Issue 19, 18, in one sentence."""
    said = answer(HASH, "linear", run(HASH)).evidence
    first = said.split(" (it holds")[0]
    assert "where the document has 0.996" in first
    assert re.search(r"has 0\.996.*: 1\.0\d+ times as much here", first)


def test_what_an_emulated_board_cannot_give_is_not_answered() -> None:
    made = run("mqtt-tz-blocks")
    assert made.header is not None
    emulated = replace(made, header=msgspec.structs.replace(made.header, emulated=True))
    timed = [one for one in answers(subject(emulated)) if one.key not in ("increment", "emulated")]
    for said in timed:
        assert (said.status, said.remedy) == ("not checked", "")
        assert said.evidence.startswith("An emulated board can't answer this")


def test_what_is_no_figure_says_why_it_has_no_answer() -> None:
    said = answer(HASH, "file-format", run(HASH))
    assert said.status == "not checked"
    assert said.evidence.startswith("The files here are made on the board")


def test_reading_the_file_is_no_overhead() -> None:
    """A file that takes five times as long to read has the same way into the TEE; its author leaves
    reading out elsewhere (rpi3-secure-hash, line 671)."""
    slow = run("api-vs-custom", Change(f"{CUSTOM}#file_read_time", 5))
    for key in ("overhead-negligible", "same-overhead", "host-noise"):
        assert answer("api-vs-custom", key, slow).status == "found", key


def test_both_worlds_have_the_same_steps_in_their_time() -> None:
    """OpenSSL's key was set before the time began, and the TEE's within it."""
    checks = {one.key: one.checks for one in declared.conclusions("mqtt-tz-blocks")}
    keys = [KEY.findall(check.measured) for check in checks["big-difference"]]
    assert len(keys) == 4
    for secure, plain in keys:
        assert secure.replace("/tee/", "/openssl/") == plain


@pytest.mark.parametrize(
    ("khz", "inside", "status"),
    [("1200000", 80e6, "found"), ("1200000", 3e6, "ruled out"), (None, 80e6, "not checked")],
)
def test_a_cpu_without_instructions_is_judged_by_its_cycles(
    khz: str | None, inside: float, status: str
) -> None:
    """There no twin by instructions runs: 80 ms for 1 MiB at 1.2 GHz are 92 cycles a byte."""
    cases = {
        f"{INSIDE}/{by}/1048576{f' x{n}' if n > 1 else ''}": scattered(
            WAY + n * inside, 0.005, 20, n
        )
        for by in ("tee", "ta-c")
        for n in (1, 2, 4)
    }
    made = run_of(cases, plan="api-vs-custom")
    assert made.header is not None
    made = replace(made, header=msgspec.structs.replace(made.header, emulated=False))
    cpu = msgspec.structs.replace(made.machine.cpu, khz_max=(khz,) if khz else None)
    board = msgspec.structs.replace(made.machine.board, emulated=False)
    machine = msgspec.structs.replace(made.machine, cpu=cpu, board=board)
    found = answer("api-vs-custom", "both-in-software", replace(made, machine=machine))
    assert found.status == status, found
    assert ("38.5" in found.evidence) == (status == "found")  # times the 2.38 of the instructions


def test_a_board_that_counts_speaks_of_instructions() -> None:
    """ "1.15 times the time" was said of instructions."""
    made = run("api-vs-custom")
    assert made.header is not None
    counts = replace(made, header=msgspec.structs.replace(made.header, emulated=True, icount=True))
    for key in ("api-faster", "both-in-software", "recommendation"):
        assert "the time" in answer("api-vs-custom", key, made).evidence
        said = answer("api-vs-custom", key, counts).evidence
        assert "the instructions" in said
        assert "the time" not in said


def test_what_the_documents_never_said_is_not_answered() -> None:
    """Issue 19, 15."""
    keys = {one.key for name in DOCUMENTS for one in declared.conclusions(name)}
    assert not keys & {"api-faster-than-instructions", "calls-not-aes", "secure-storage-file"}


def test_the_baseline_is_like_for_like() -> None:
    """Both sides from the first byte read to the digest: 1.63 times, where leaving out the opening
    of one side gave 1.33."""
    (table,) = [one for one in declared.load(HASH) if one.table == "overhead-notes"]
    formula = table.cells["TEE over the baseline", "4.5MB warm"].text
    assert formula.count("derived.hash_rate") == 2
    assert "open_all" not in formula


def test_the_floor_is_measured_where_the_document_measured_it() -> None:
    """Issue 19, 14: inside the secure world, not as a whole call."""
    tables = declared.load("rpi3-small-messages")
    floor = next(one for one in tables if "Minimum execution time" in one.rows)
    assert floor.cells["Minimum execution time", "value"].text.startswith("inside(")


MISTAKES = [(name, one.key) for name in DOCUMENTS for one in declared.mistakes(name)]


@pytest.mark.parametrize(("document", "key"), MISTAKES)
def test_a_mistake_stands_by_the_printed_figures_alone(document: str, key: str) -> None:
    """Each is found in the document as it is, and not where its figure would be in bounds."""
    reference = load()
    assert [one.key for one in mistaken(reference, document)].count(key) == 1
    mistake = next(one for one in declared.mistakes(document) if one.key == key)
    value = mistake.figure.printed(reference, document)
    assert value.high < mistake.low or value.low > mistake.high
    changed = dict(reference.figures)
    for place in PRINTED.findall(mistake.figure.text):
        at = (document, *place)
        for factor in (0.001, 0.5, 2, 1000, -1):
            other = changed | {at: scaled(changed[at], factor)}
            left = replace(reference, figures=other)
            if key not in [one.key for one in mistaken(left, document)]:
                return
    raise AssertionError(f"no other figure would silence {key}")


PRINTED = re.compile(r"published\('([^']+)', '([^']+)', '([^']+)'\)")


def scaled(figure: Published, factor: float) -> Published:
    value = PublishedNumber.read(f"{float(figure.corrected or 0) * factor:f}")
    return msgspec.structs.replace(figure, corrected=value, corrected_upper=None, note="changed")


def test_what_waits_on_a_board_that_counts_is_no_answer() -> None:
    """Creating an object waits for the disk: 48 000 times were called a result beside the caution
    that nothing follows from such times."""
    change = Change("storage/create/tee-ree-fs/7000", 1, 0.2)
    for spread, status in ((change, "undecided"), (replace(change, spread=0.0), "found")):
        made = run("mqtt-tz-blocks", spread)
        assert made.header is not None
        counts = replace(
            made, header=msgspec.structs.replace(made.header, emulated=True, icount=True)
        )
        said = answer("mqtt-tz-blocks", "secure-storage", counts)
        assert said.status == status, said
        assert ("This board counts instructions" in said.evidence) == (status == "undecided")
