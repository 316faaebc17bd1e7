# SPDX-License-Identifier: BSD-2-Clause
"""A sentence is tied to the record that proves it: without that record it isn't said."""

import random
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from synthetic import Synthetic, run_from, run_of, run_with, scattered
from teemark.base.finding import Figure, Finding, ranked
from teemark.base.work import EMPTY_CALL, REFUSED_CALL
from teemark.findings.ground import Ground, written
from teemark.findings.rules import judge
from teemark.model.stats import estimate, exactly
from teemark.report.sections.breakdown import _share
from teemark.run.reader import RunData
from teemark.wording import fmt
from teemark.wording.interval import Interval

RSA = "sign/rsa-2048/{}/crt"


def findings(run: RunData) -> dict[str, Finding]:
    return {finding.key: finding for finding in judge(Ground.of(run))}


def records(**changes: Any) -> list[dict[str, Any]]:
    """A run whose board takes TAs that anybody can sign."""
    made: list[dict[str, Any]] = deepcopy(Synthetic(emulated=False, samples=8).records())
    made[0] |= {"tas_signed_with_published_key": True} | changes
    return made


def proof(finding: Finding) -> frozenset[str]:
    """The cases that a finding is concluded from: without them it isn't found."""
    return frozenset[str]().union(*(figure.cases for figure in finding.figures))


def test_each_found_finding_falls_with_the_cases_that_prove_it() -> None:
    run = run_from(records())
    found = {key: one for key, one in findings(run).items() if one.status == "found" and proof(one)}
    assert {"empty-call", "inside-and-outside", "extensions"} <= found.keys()
    for key, finding in found.items():
        assert proof(finding) <= set(run.cases), key
        cases = {name: case for name, case in run.cases.items() if name not in proof(finding)}
        without = findings(replace(run, cases=cases)).get(key)
        assert without is None or without.claim != finding.claim, f"{key}: {finding.claim}"


def test_nobody_is_told_that_anybody_can_sign_by_a_call_that_needs_no_ta() -> None:
    """OP-TEE's core refuses invoke/refused by itself; no TA could be opened on that board."""
    assert "published-key" in findings(run_from(records()))
    made = run_from(records())
    secure = {name for name, case in made.cases.items() if case.work.by in ("tee", "ta-c", "ta-ce")}
    kept = {name: case for name, case in made.cases.items() if name not in secure}
    assert "published-key" not in findings(replace(made, cases=kept))
    refused = run_of({REFUSED_CALL: [12_000.0] * 8}).cases
    assert made.backend("tee").secure
    assert "published-key" not in findings(replace(made, cases=kept | refused))
    one = {EMPTY_CALL: made.cases[EMPTY_CALL]}
    proof = findings(replace(made, cases=kept | one))["published-key"]
    assert EMPTY_CALL in proof.evidence


def test_a_share_of_a_call_that_waited_ranks_nothing() -> None:
    """On the board that counts, RPCs were 86 % (23 … 100 %) of a write by the clock that goes on
    while a disk is waited for, and 1.3 % as counted."""
    waits = [2e8, 1.6e8, 2.3e8, 2.1e8, 1.9e8, 2.2e8, 2.4e8, 1.7e8]
    times = {"shm/temporary/tee/in/4096": waits, "shm/allocated/tee/in/4096": [60_000.0] * 8}
    dear = findings(run_of(times, icount=True))["tmpref-registration"]
    assert dear.status == "undecided"
    assert (dear.rank, dear.costs, dear.sure) == (0, None, False)
    assert "nothing follows from such times" in dear.evidence
    times["shm/temporary/tee/in/4096"] = [90_000.0] * 8
    assert findings(run_of(times, icount=True))["tmpref-registration"].rank == pytest.approx(1 / 3)


def test_no_headline_is_computed_from_a_model_that_misfits() -> None:
    """qemu-v8's quick: 58.3 ns a byte and 6.4 times by models marked "don't calculate with them",
    where the largest message took 2.6 times as long."""
    sizes = (0, 64, 1024, 4096, 65536, 1048576)
    inside = {f"oneshot/sha256/tee/{size}": 1e5 + 60.0 * size for size in sizes}
    outside = {f"oneshot/sha256/openssl/{size}": 1e3 + 10.0 * size for size in sizes}
    good = findings(run_with(inside | outside, 0.005))["inside-and-outside"]
    assert "6.0 times" in good.claim or "6 times" in good.claim
    bent = {
        key: ns * (4 if place in (2, 4) else 1) for place, (key, ns) in enumerate(inside.items())
    }
    bent["oneshot/sha256/tee/1048576"] = 26.0 * 1048576
    run = run_with(bent | outside, 0.005)
    ground = Ground.of(run)
    cost = ground.models.cost("sha256", "tee")
    assert cost is not None
    assert not cost.fit.fits
    found = findings(run)["inside-and-outside"]
    assert "26.0 ns a byte of a message of 1\N{NO-BREAK SPACE}MiB" in found.claim
    assert "2.6 times" in found.claim
    assert "call-outweighs-compute" not in findings(run), "it needs a model that holds"


def test_contention_is_ranked_by_the_time_of_all_calls() -> None:
    """The worst case waited for 79 % of its time, which is 0.024 % of the run; RSA takes 261 times
    what OpenSSL takes."""
    times = {RSA.format("tee"): 1.12e9, RSA.format("openssl"): 4.3e6, EMPTY_CALL: 4e5}
    times["sign/rsa-4096/tee/crt"] = 1.13e9
    run = run_with(times, 0.003, count=12)
    waited = run.cases[EMPTY_CALL]
    samples = tuple(
        replace_sample(sample, runq_ns=round(0.79 * sample.ns)) for sample in waited.samples
    )
    cases = {
        key: replace(case, starts=(tuple(replace_sample(s, runq_ns=0) for s in case.samples),))
        for key, case in run.cases.items()
    }
    run = replace(run, cases=cases | {EMPTY_CALL: replace(waited, starts=(samples,))})
    found = findings(run)
    assert found["contention"].status == "found"
    assert found["contention"].rank < 0.001
    assert found["rsa-of-any-size"].rank > 0.99
    keys = [finding.key for finding in ranked(tuple(found.values())) if finding.topic == "cause"]
    assert keys.index("rsa-of-any-size") < keys.index("contention")
    assert "pin" not in found["contention"].remedy, "no program here can do that"


def replace_sample(sample: Any, **changes: Any) -> Any:
    import msgspec

    return msgspec.structs.replace(sample, **changes)


def test_more_samples_are_advised_only_where_they_decide() -> None:
    """15 samples and an interval from -175 to 608 were told that "about 1 more sample" decides."""
    rng = random.Random(2)
    times = {
        "time/ree/tee/1": [1e5 * rng.lognormvariate(0, 0.3) for _ in range(15)],
        "time/ree/tee/4": [1e5 * rng.lognormvariate(0, 0.3) for _ in range(15)],
        "time/system/tee/1": [1e5 * rng.lognormvariate(0, 0.3) for _ in range(15)],
        "time/system/tee/4": [1e5 * rng.lognormvariate(0, 0.3) for _ in range(15)],
        "invoke/none/empty/none": scattered(1e3, 0.3, 15),
    }
    ground = Ground.of(run_of(times))
    case = {stats.key: stats.estimate for stats in ground.models.stats}
    ratio = case["time/ree/tee/1"] / (case["time/system/tee/4"] - case["time/system/tee/1"])
    assert ratio.interval is None
    said = ground.more_samples(ratio, (2.0,), 15)
    assert "About 1 more" not in said
    assert "may be 0" in said
    assert "too few samples" not in ground.times(ratio)


def test_rounding_errors_and_shares_beyond_all_are_not_printed() -> None:
    assert fmt.duration(-3.05e-11) == "0\N{NO-BREAK SPACE}ns"
    assert fmt.instructions(-3.05e-11) == "0"
    assert fmt.duration(0.0103).startswith("0.0103")


def test_a_share_s_interval_reaches_below_no_zero_and_no_part_is_below_nothing() -> None:
    """It printed “-5918 … < 0.01 %”: ends of two forms, below what a share can be; and “< 0.01 %”
    for a part of which the interval has ten per cent."""
    wide = Figure("a part", 0.02, "share", Interval(-59.18, 0.00004))
    assert (
        written(wide).replace("\N{NO-BREAK SPACE}", " ")
        == "a part: 2.0\u202f% (0 … 0.00400\u202f%)"
    )
    loss = Figure("a part", -0.02, "share", Interval(-0.03, -0.01))
    assert "−3.00" in written(loss)  # noqa: RUF001
    factor = written(Figure("a over b", 2.0, "times", Interval(-5.0, 9.0)))
    assert "interval 0" in factor
    part = estimate([[2.0 + 5918.0 * step for step in (-1, 1, 0, -1, 1, 0, -1, 1)]], "x")
    assert "<" not in _share(part, 57_000.0)
    assert _share(part, 57_000.0).startswith("−")  # noqa: RUF001
    assert _share(exactly(5700.0), 57_000.0) == "10\u202f%"
