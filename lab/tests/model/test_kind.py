# SPDX-License-Identifier: BSD-2-Clause
"""A quantity knows by which clock it is known, and refuses what doesn't fit."""

from itertools import product

import pytest

from synthetic import run_of, run_with, scattered
from teemark.base.work import EMPTY_CALL
from teemark.model.decide import above, samples_needed, within
from teemark.model.models import build
from teemark.model.stats import Estimate, Kind, Unlike, exactly, joined

CLOCKS: tuple[Kind, ...] = ("counted", "waited", "timed", "emulated")
WAITS = [2e8, 1.6e8, 2.3e8, 2.1e8, 1.9e8, 2.2e8, 2.4e8, 1.7e8]


def test_two_clocks_have_no_common_measure_but_counts_and_waits() -> None:
    for first, second in product(CLOCKS, CLOCKS):
        if first == second or {first, second} == {"counted", "waited"}:
            assert joined(first, second) == ("waited" if "waited" in (first, second) else first)
            continue
        with pytest.raises(Unlike, match="no common measure"):
            joined(first, second)
    for kind in CLOCKS:
        assert joined(kind, "number") == joined("number", kind) == kind
    assert joined("number") == "number"


@pytest.mark.parametrize("sign", ["+", "-", "/"])
def test_instructions_and_milliseconds_are_not_combined(sign: str) -> None:
    counted, timed = Estimate(2.0, kind="counted"), Estimate(4.0, kind="timed")
    with pytest.raises(Unlike):
        {"+": counted.__add__, "-": counted.__sub__, "/": counted.__truediv__}[sign](timed)
    assert (counted / exactly(4.0)).kind == "counted"


def test_a_run_says_which_clock_it_was_read_by() -> None:
    times = {EMPTY_CALL: [57_200.0] * 8, "storage/read/tee-ree-fs/256": WAITS}
    counted = build(run_of(times, icount=True))
    assert [case.estimate.kind for case in counted.stats] == ["counted", "waited"]
    timed = build(run_of(times))
    assert {case.estimate.kind for case in timed.stats} == {"emulated"}
    assert timed.stats[0].estimate.cases == {EMPTY_CALL}


def test_what_waited_decides_nothing_and_spoils_what_is_computed_from_it() -> None:
    times = {EMPTY_CALL: [57_200.0] * 8, "storage/read/tee-ree-fs/256": WAITS}
    empty, waits = (case.estimate for case in build(run_of(times, icount=True)).stats)
    share = (waits - empty) / waits
    assert share.interval is not None
    assert "nothing follows" in share.meaningless
    assert above(share, 0.05) == within(share, -10, 10) == "undecided"
    assert samples_needed(share, (0.05,), 8) is None, "more samples don't decide either"
    assert above(empty, 1.0) == "yes"
    assert share.cases == {EMPTY_CALL, "storage/read/tee-ree-fs/256"}


def test_a_model_that_misfits_says_so_in_each_of_its_terms() -> None:
    sizes = (0, 64, 1024, 4096, 65536, 1048576)
    times = {f"oneshot/sha256/tee/{size}": 1e5 + 20.0 * size for size in sizes}
    good = build(run_with(times, 0.005)).costs[0]
    assert good.byte.holds
    assert not good.byte.meaningless
    bent = {
        key: ns * (3 if place in (2, 4) else 1) for place, (key, ns) in enumerate(times.items())
    }
    bad = build(run_with(bent, 0.005)).costs[0]
    assert not bad.fit.fits
    for term in (bad.byte, bad.call, bad.at(4096), bad.byte / bad.call):
        assert "don't calculate" in term.meaningless
        assert above(term, 0.0) == "undecided"


def test_no_interval_says_why() -> None:
    def case(times: dict[str, list[float]], key: str) -> Estimate:
        found = build(run_of(times)).case(key)
        assert found is not None
        return found.estimate

    few = case({EMPTY_CALL: [1.0, 2.0, 3.0]}, EMPTY_CALL)
    assert "too few samples" in few.vague
    assert samples_needed(few, (1.0,), 3) == 3
    many = {
        key: scattered(1e5, 0.4, 15, seed)
        for seed, key in enumerate((EMPTY_CALL, "invoke/direct/tee/none"))
    }
    first, second = (case(many, key) for key in many)
    none = first / (first - second)
    assert none.interval is None
    assert "may be 0" in none.vague, "15 samples each aren't too few"
    assert samples_needed(none, (1.0,), 15) is None
    assert "too few sizes" in first.widened(None, "x").vague
