# SPDX-License-Identifier: BSD-2-Clause
"""Conclusions of the seed documents on runs whose truth is known: each holds, fails, and is left
undecided when the figures don't tell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest

from synthetic import run_of, scattered
from teemark.findings.subject import Subject, subjects
from teemark.plan import plan
from teemark.reference.data import load
from teemark.report.run_page import make
from teemark.run.reader import RunData
from teemark.run.records import Skip
from teemark.studies import declared
from teemark.studies.answers import Answered, answers
from teemark.studies.formula import _FUNCTIONS
from teemark.studies.measured import TRIED, Lookup, Value

DOCUMENTS = tuple(load().documents)
STEP = re.compile(
    r"teehash/(?P<algorithm>[^/]+)/(?P<by>[^/]+)/(?P<mode>[^/]+)/(?P<cache>[^/]+)/"
    r"(?P<bytes>\d+)/(?P<chunk>\d+)/inline"
)
KEY = re.compile(r"'([a-z0-9-]+(?:/[a-z0-9-]+){2,})'")

CALL, WAY, BYTE = 100_000.0, 20_000.0, 30.0
"""Of a digest in the TEE, of an empty call, and of a byte, in nanoseconds."""

OPENSSL: Mapping[str, float] = {"16": 900, "16384": 400_000}
KERNEL: Mapping[str, float] = {"16": 30_000, "16384": 200_000}

TRUTH: Mapping[str, float] = {
    "oneshot/sha256/ta-c/1048576": 38e6,
    "oneshot/sha256/ta-ce/1048576": 35e6,
    "cipher/aes-128-cbc/openssl/enc/4096": 8_000,
    "cipher/aes-128-cbc/openssl/dec/4096": 8_000,
    "file/sha256/openssl/10000000": 260e6,
    "file/sha1/openssl/10000000": 260e6,
    "file/aes-128-cbc-enc/openssl/10000000": 500e6,
    "file/aes-128-cbc-dec/openssl/10000000": 400e6,
    "rng/random/urandom/10000000": 10e6,
    "rng/random/hwrng/1000000": 2e9,
}
"""What makes all conclusions hold, where no rule below gives it."""


ACCELERATED = (
    "oneshot/sha256/afalg/16384",
    "oneshot/sha1/afalg/16384",
    "cipher/aes-128-cbc/afalg/enc/16384",
)
"""What rate_by() is asked for."""


def case_ns(key: str) -> float:
    workload, what, by, rest = key.split("/", 3)
    size = rest.rpartition("/")[2]
    if key in TRUTH:
        return TRUTH[key]
    if workload in ("invoke", "shm"):
        return WAY
    if workload == "cipher-steps":
        return 5 * WAY
    if workload == "storage":
        return {"memory": 1_000.0, "file-fsync": 1e6}.get(by, 50e6)
    if by in ("openssl", "afalg"):
        return (OPENSSL if by == "openssl" else KERNEL)[size]
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

    reading = of("file_read_time", size * (5.0 if found["cache"] == "cold" else 0.5))
    hashing = of("hash_compute_time", size * 20.0)
    in_calls = of("tee_time", hashing + of("overhead", 1e6) * calls)
    groups: dict[str, dict[str, float]] = {
        "first": {"open_all": 40e6},
        "host": {
            "total_time": of("total_time", in_calls + reading) + 40e6,
            "file_read_time": reading,
            "peak_memory": of("peak_memory", 3e6 + (0 if streams else size)),
            "buffer_memory": of("buffer_memory", chunk if streams else size),
        },
        "tee": {
            "invoke_count": calls,
            "hash_compute_time": hashing,
            "tee_time": in_calls,
            "ta_stack_high_water": of("ta_stack_high_water", 1200),
        },
        "derived": {"cpu_utilization": of("cpu_utilization", 0.99)},
    }
    return {
        group: {name: {"value": value, "unit": ""} for name, value in figures.items()}
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
        elif document == "api-vs-custom":
            for n in (1, 2, 4):
                inside = case_ns(key) * factor * n
                cases[f"{key} x{n}" if n > 1 else key] = scattered(WAY + inside, spread, 20, seed)
        else:
            cases[key] = scattered(case_ns(key) * factor, spread, 20, seed)
    return run_of(cases, plan=document, reports=reports)


def answer(document: str, key: str, made: RunData) -> Answered:
    (subject,) = subjects([made])
    return next(one for one in answers(subject) if one.key == key)


RPI = "teehash/sha256/tee/{}/{}/{}/1048576/inline"
WARM, COLD = RPI.format("stream", "warm", 4488896), RPI.format("stream", "cold", 4488896)
MB100, JSON = RPI.format("stream", "warm", 107058724), RPI.format("stream", "warm", 4780000)
SINGLE = RPI.format("oneshot", "warm", 4780000)
MB52 = RPI.format("stream", "warm", 52428800)
CUSTOM = "teehash/sha256/ta-c/stream/warm/42822485/2859008/inline"
MESSAGE = "oneshot/sha256/tee"
WHOLE = "cipher-steps/aes-{}-cbc/tee/enc/4096/whole/all"

TURNED: tuple[tuple[str, str, Change, Change], ...] = (
    # document, conclusion, what makes it false, what leaves it undecided
    ("rpi3-secure-hash", "linear", Change(f"{MB100}#total_time", 1.3),
     Change(f"{MB100}#total_time", 1.05, 0.1)),
    ("rpi3-secure-hash", "constant-overhead", Change(f"{MB100}#overhead", 2),
     Change(f"{MB100}#overhead", 1.05, 0.1)),
    ("rpi3-secure-hash", "stable-profile", Change(f"{JSON}#total_time", 1.5),
     Change(f"{JSON}#total_time", 1.05, 0.1)),
    ("rpi3-secure-hash", "cpu-bound", Change(f"{WARM}#cpu_utilization", 0.7),
     Change(f"{WARM}#cpu_utilization", 0.96, 0.1)),
    ("rpi3-secure-hash", "cold-cache", Change(f"{COLD}#tee_time", 1.2),
     Change(f"{COLD}#tee_time", 1.05, 0.1)),
    ("rpi3-secure-hash", "constant-memory", Change(f"{MB100}#peak_memory", 20),
     Change(f"{MB100}#peak_memory", 1.05, 0.1)),
    ("rpi3-secure-hash", "single-shot", Change(f"{SINGLE}#overhead", 20),
     Change(f"{SINGLE}#overhead", 6, 0.5)),
    ("rpi3-secure-hash", "small-files", Change(f"{SINGLE}#total_time", 1.5),
     Change(f"{SINGLE}#total_time", 1.05, 0.1)),
    ("rpi3-small-messages", "constant-memory", Change(f"{MB52}#peak_memory", 10),
     Change(f"{MB52}#peak_memory", 1.05, 0.1)),
    ("rpi3-small-messages", "floor", Change(f"{MESSAGE}/100", 1.3),
     Change(f"{MESSAGE}/100", 1.02, 0.1)),
    ("rpi3-small-messages", "linear", Change(f"{MESSAGE}/4194304", 1.5),
     Change(f"{MESSAGE}/4194304", 1.04, 0.2)),
    ("rpi3-small-messages", "constant-overhead", Change("shm/allocated/tee/in/1048576", 40),
     Change("shm/allocated/tee/in/1048576", 1.05, 0.1)),
    ("rpi3-small-messages", "efficiency", Change("shm/allocated/tee/in/1048576", 40),
     Change("shm/allocated/tee/in/1048576", 1.57, 0.3)),
    ("api-vs-custom", "api-faster", Change("oneshot/sha256/ta-c/1048576", 0.5),
     Change("oneshot/sha256/ta-c/1048576", 0.83, 0.1)),
    ("api-vs-custom", "api-faster-than-instructions", Change("oneshot/sha256/ta-ce/1048576", 0.1),
     Change("oneshot/sha256/ta-ce/1048576", 0.91, 0.1)),
    ("api-vs-custom", "overhead-negligible", Change(f"{CUSTOM}#total_time", 1.5),
     Change(f"{CUSTOM}#total_time", 1.06, 0.1)),
    ("api-vs-custom", "same-overhead", Change(f"{CUSTOM}#total_time", 1.5),
     Change(f"{CUSTOM}#total_time", 1.01, 0.03)),
    ("api-vs-custom", "same-stack", Change(f"{CUSTOM}#ta_stack_high_water", 2),
     Change(f"{CUSTOM}#ta_stack_high_water", 1.05, 0.1)),
    ("api-vs-custom", "host-noise", Change(f"{CUSTOM}#file_read_time", 20),
     Change(f"{CUSTOM}#file_read_time", 1.2, 2)),
    ("mqtt-tz-blocks", "secure-aes", Change(WHOLE.format(128), 0.1),
     Change(WHOLE.format(128), 0.8, 0.2)),
    ("mqtt-tz-blocks", "calls-not-aes", Change(WHOLE.format(128), 10),
     Change(WHOLE.format(128), 1.6, 0.3)),
    ("mqtt-tz-blocks", "key-size", Change(WHOLE.format(256), 1.4),
     Change(WHOLE.format(256), 1.05, 0.1)),
    ("mqtt-tz-blocks", "secure-storage", Change("storage/create/memory/7000", 1e5),
     Change("storage/create/memory/7000", 5e3, 0.2)),
    ("mqtt-tz-blocks", "secure-storage-file", Change("storage/create/file-fsync/7000", 100),
     Change("storage/create/file-fsync/7000", 5, 0.2)),
    ("beaglebone-hw-crypto", "hardware-pays", Change("oneshot/sha1/afalg/16384", 5),
     Change("oneshot/sha1/afalg/16384", 2, 0.2)),
    ("beaglebone-hw-crypto", "bulk", Change("oneshot/sha256/afalg/16", 0.001),
     Change("oneshot/sha256/afalg/16", 0.015, 0.2)),
    ("beaglebone-hw-crypto", "block-size", Change("oneshot/sha1/openssl/16384", 50),
     Change("oneshot/sha1/openssl/16384", 2.3, 0.2)),
    ("beaglebone-hw-crypto", "whole-files", Change("file/sha1/openssl/10000000", 3),
     Change("file/sha1/openssl/10000000", 1.17, 0.2)),
    ("beaglebone-hw-crypto", "decryption", Change("file/aes-128-cbc-dec/openssl/10000000", 2),
     Change("file/aes-128-cbc-dec/openssl/10000000", 1.25, 0.2)),
    ("beaglebone-hw-crypto", "urandom-faster", Change("rng/random/urandom/10000000", 1e4),
     Change("rng/random/urandom/10000000", 2e3, 0.2)),
)  # fmt: skip

FACTS = {
    ("beaglebone-hw-crypto", "af-alg-unusable"),
    ("beaglebone-hw-crypto", "openssl-accelerated"),
    ("rpi3-small-messages", "whole-file-fails"),
}
"""Decided by a fact of the machine, not by figures: there is nothing between yes and no."""


@pytest.fixture(autouse=True)
def _accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's preferred driver is one; test_offload.py has how that is found out."""

    def rate_by(lookup: Lookup, _outcome: str, work: str, parameters: str) -> Value:
        return lookup.rate(f"{work}/afalg/{parameters}")

    monkeypatch.setattr(Lookup, "rate_by", rate_by)
    monkeypatch.setitem(_FUNCTIONS, "rate_by", rate_by)


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        ("accelerator accelerator accelerator", "yes"),
        ("accelerator software accelerator", "no"),
        ("accelerator unknown accelerator", "undecided"),
        ("unknown mixed software", "no"),
    ],
)
def test_who_did_the_work(monkeypatch: pytest.MonkeyPatch, words: str, outcome: str) -> None:
    told = iter(words.split())
    monkeypatch.setitem(_FUNCTIONS, "done_by", lambda _lookup, _case: next(told))
    found = answer("beaglebone-hw-crypto", "openssl-accelerated", run("beaglebone-hw-crypto"))
    assert found.outcome == outcome


@pytest.mark.parametrize(("document", "key", "no", "open_"), TURNED)
def test_three_outcomes(document: str, key: str, no: Change, open_: Change) -> None:
    assert answer(document, key, run(document)).outcome == "yes"
    assert answer(document, key, run(document, no)).outcome == "no"
    undecided = answer(document, key, run(document, open_))
    assert undecided.outcome == "undecided", undecided
    assert "would decide" in undecided.advice


def test_what_ran_and_what_was_tried() -> None:
    whole = "teehash/sha256/tee/oneshot/warm/104857600/1048576/inline"
    here = run("rpi3-small-messages")
    assert answer("rpi3-small-messages", "whole-file-fails", here).outcome == "no"
    without = run("rpi3-small-messages", leave_out=whole)
    assert answer("rpi3-small-messages", "whole-file-fails", without).outcome == "undecided"
    tried = replace(without, skips=(Skip(case=whole, code=TRIED, reason="no memory"),))
    assert answer("rpi3-small-messages", "whole-file-fails", tried).outcome == "yes"


def test_every_conclusion_is_turned() -> None:
    declared_ = {(name, one.key) for name in DOCUMENTS for one in declared.conclusions(name)}
    assert declared_ == {(name, key) for name, key, _, _ in TURNED} | FACTS


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_a_conclusion_needs_is_in_the_plan(document: str) -> None:
    asked = plan.load(document)
    there = {case.key for case in asked.cases} | {step.key for step in asked.teehash}
    texts = [c.figure.text for one in declared.conclusions(document) for c in one.checks]
    assert set(KEY.findall(" ".join(texts))) <= there


def test_what_was_not_measured_is_said() -> None:
    found = answer("mqtt-tz-blocks", "secure-storage", run("mqtt-tz-blocks", leave_out="storage"))
    assert found.outcome == "not measured"
    assert found.evidence.startswith("This run has nothing of it")


def test_one_figure_that_is_missing_leaves_it_undecided_but_can_not_hide_a_no() -> None:
    part = run("mqtt-tz-blocks", leave_out="storage/delete")
    assert answer("mqtt-tz-blocks", "secure-storage", part).outcome == "undecided"
    wrong = run(
        "mqtt-tz-blocks", Change("storage/create/memory/7000", 1e5), leave_out="storage/delete"
    )
    assert answer("mqtt-tz-blocks", "secure-storage", wrong).outcome == "no"


def test_answers_stand_in_the_report_before_all_else() -> None:
    text = make([run("mqtt-tz-blocks")]).markdown
    first = text.index("Holds here: AES on 4 KiB takes the TEE at least ten times as long")
    assert text.index("### What the document concludes") < first
    assert first < text.index("### What else the run shows")


def subject(made: RunData) -> Subject:
    return subjects([made])[0]


def test_only_seed_plans_have_answers() -> None:
    assert answers(subject(run_of({"invoke/none/tee/none": [1.0] * 9}))) == ()
