# SPDX-License-Identifier: BSD-2-Clause
"""Two runs of a deterministic board: what counts as the same, and with which reason."""

import dataclasses
import math
import random
import re
from collections.abc import Callable, Sequence

import msgspec
import pytest

from alarms import compare_values
from synthetic import TRUTH, Synthetic, run_from, run_of, scattered
from teemark.base.work import Work
from teemark.findings.subject import subjects
from teemark.model.changes import changes
from teemark.model.compare import (
    BOOTS,
    EMULATED,
    FEW_STARTS,
    LIMIT,
    ONE_START,
    CaseReading,
    Comparison,
    Difference,
    Limit,
    Verdict,
    common_shift,
    compare,
    sampled,
    sign_p,
    slack,
    together,
    with_verdict,
)
from teemark.model.power import student, student_p
from teemark.model.stats import exactly
from teemark.report.comparing import amount, compared, method, outcome, result, subject, visible
from teemark.run import reader
from teemark.run.reader import RunData
from teemark.wording.interval import Interval

EXACT = Synthetic(noise=0, identical=True, samples=5)
SHORT = "oneshot/sha256/{}/64"
EMPTY = "oneshot/sha512/{}/0"
LONG = "oneshot/sha256/{}/1048576"


RESOLUTION = 16


def unchanged(record: dict[str, object]) -> None:
    """The run as it is."""


def run(change: Callable[[dict[str, object]], None] = unchanged) -> RunData:
    records = EXACT.records()
    for record in records:
        if record["type"] == "machine":
            record |= {"clock": {"resolution_ns": RESOLUTION}}
        change(record)
    return run_from(records)


def moved(key: str, by_ns: int) -> RunData:
    """All samples of a case longer by so much."""

    def change(record: dict[str, object]) -> None:
        if record["type"] == "sample" and record["case"] == key:
            assert isinstance(record["ns"], int)
            record["ns"] += by_ns

    return run(change)


def of(key: str, found: tuple[Difference, ...]) -> Difference:
    return next(one for one in found if one.case == key)


def test_a_run_is_as_it_is() -> None:
    found = compare(run(), run()).pairs
    assert {one.case for one in found} == set(run().cases)
    assert len(found) == sum(len(case.record.repeat) for case in run().cases.values())
    assert all(one.added == 0 and one.verdict == "same" and one.reason is None for one in found)
    assert compare(run(), run()).lost == compare(run(), run()).new == ()


@pytest.mark.parametrize(
    ("key", "by_ns", "verdict"),
    [
        (SHORT.format("c"), RESOLUTION, "same"),  # a step of the clock
        (SHORT.format("c"), RESOLUTION + 1000, "worse"),
        (SHORT.format("afalg"), 14_000, "same"),  # 1.5 %, by the pages at hand
        (SHORT.format("afalg"), -14_000, "same"),
        (EMPTY.format("afalg"), 16_000, "worse"),
        (LONG.format("afalg"), 140_000, "same"),
        (LONG.format("afalg"), 160_000, "worse"),
        (EMPTY.format("ta-c"), 2 * 60, "same"),  # 0.02 % of 410,000, and a step
        (EMPTY.format("ta-c"), 2 * 150, "worse"),
        (EMPTY.format("ta-c"), -2 * 150, "better"),
        (LONG.format("c"), 14_000, "same"),  # the timer ticks within it: 0.1 % of 15.6 million
        (LONG.format("c"), 17_000, "worse"),
    ],
)
def test_how_far_two_boots_may_be_apart(key: str, by_ns: int, verdict: str) -> None:
    found = compare(run(), moved(key, by_ns)).pairs
    one = of(key, found)
    assert (one.added > 0) == (by_ns > 0)
    assert one.verdict == verdict
    assert all(other.verdict == "same" for other in found if other.case != key)


def every_call(by: int) -> RunData:
    """All calls into the TEE take so much more."""

    def change(record: dict[str, object]) -> None:
        key = str(record.get("case"))
        if record["type"] == "sample" and key.split("/")[2] in ("tee", "ta-c", "ta-ce"):
            assert isinstance(record["ns"], int)
            assert isinstance(record["loops"], int)
            record["ns"] += by * record["loops"]

    return run(change)


@pytest.mark.parametrize(("by", "said"), [(50, "worse"), (-50, "better")])
def test_what_all_calls_into_the_tee_have_more_is_no_boot(by: int, said: str) -> None:
    """Each for itself is within what boots differ by (0.02 % of 387,000 and more): 50 more in all
    of them isn't."""
    found = compare(run(), every_call(by))
    calls = [one for one in found.pairs if one.family[2] in ("tee", "ta-c", "ta-ce")]
    assert all(BOOTS * one.first.value > 50 for one in calls)
    moving = [one for one in calls if one.verdict == said]
    assert len(moving) > 0.6 * len(calls)
    assert all(one.shift == pytest.approx(by, abs=1) for one in moving)
    assert not any(one.moved for one in found.pairs if one not in calls)
    (change,) = changes(found)
    assert change.of_all == "tee"
    what, how = subject(found.second, change), amount(found.second, change)
    count = len({one.case for one in moving})
    assert what == f"{count} calls into the TEE (measured by invoke/none/tee/none)"
    assert how[1:] == "50.0 instructions a call"
    base, other = subjects([found.first, found.second])
    assert "as two boots of one build" not in " ".join(method(compared(base, other)))


def member(added: float, first: float = 57_000.0, step: float = 16.0) -> Difference:
    one = exactly(first)
    return Difference("a/b/tee/c", 1, one, exactly(first + added), "same", step=step, world="tee")


@pytest.mark.parametrize(
    ("added", "shift"),
    [
        ([50.0] * 20, 50.0),
        ([50.0] * 25 + [-16.0] * 2, 50.0),
        ([50.0] * 9, None),  # nine signs are chance once in 256 times
        ([16.0, -16.0] * 30, None),  # the clock's step, up and down
        ([8.0] * 40, None),  # less than 0.02 % of the shortest
        ([50.0] * 20 + [0.0] * 40, None),  # not most of them
        ([-50.0] * 20, -50.0),
    ],
)
def test_a_shift_is_what_most_calls_have(added: list[float], shift: float | None) -> None:
    assert common_shift([member(one) for one in added]) == shift


def test_the_signs_of_cases_are_tested_two_sided() -> None:
    assert sign_p(5, 10) == 1
    assert sign_p(0, 10) == sign_p(10, 10) == pytest.approx(2 / 1024)
    assert sign_p(0, 3000) == pytest.approx(0, abs=1e-300)  # without an overflow


def test_the_smallest_figure_of_several_boots_counts() -> None:
    """One boot of about forty takes more than the others: it is no change."""

    def two(second: RunData) -> RunData:
        first = run()
        key = SHORT.format("tee")
        both = (first.cases[key].starts[0], second.cases[key].starts[0])
        return dataclasses.replace(
            first, cases={key: dataclasses.replace(first.cases[key], starts=both)}
        )

    odd = moved(SHORT.format("tee"), 2_000)
    (one, *_) = compare(two(run()), two(odd)).pairs
    assert one.verdict == "same"
    (one, *_) = compare(two(run()), odd).pairs
    assert one.verdict == "worse"


@pytest.mark.parametrize(("more_ns", "holds"), [(8, True), (8000, False)])
def test_samples_of_other_lengths(more_ns: int, holds: bool) -> None:
    key = SHORT.format("tee")

    def twice_as_many(record: dict[str, object]) -> None:
        if record["type"] == "sample" and record["case"] == key:
            assert isinstance(record["ns"], int)
            assert isinstance(record["loops"], int)
            record["ns"] = record["ns"] * 2 + more_ns
            record["loops"] *= 2

    one = of(key, compare(run(), run(twice_as_many)).pairs)
    assert one.verdict == ("same" if holds else "worse")


def test_a_case_that_only_one_has_is_named() -> None:
    key = SHORT.format("tee")
    less = run()
    less = dataclasses.replace(less, cases={k: v for k, v in less.cases.items() if k != key})
    assert compare(run(), less).lost == (key,)
    assert compare(less, run()).new == (key,)
    assert key not in {one.case for one in compare(run(), less).pairs}


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [(1.2, "worse"), (0.8, "better"), (1.001, "undecided"), (0.999, "undecided")],
)
def test_a_difference_may_be_chance(factor: float, verdict: str) -> None:
    key = SHORT.format("c")
    one, other = (
        [[v] for v in scattered(1000 * f, 0.02, seed=s)] for f, s in ((1, 1), (factor, 2))
    )
    (found,) = compare_values({key: (one, other)})
    assert found.verdict == verdict
    assert found.ratio == pytest.approx(factor, rel=0.01)
    assert found.change == pytest.approx(factor - 1, abs=0.005)


@pytest.mark.parametrize(
    ("new", "verdict"), [("sign/a/b/none", "worse"), ("keygen/a/b/none", "undecided")]
)
def test_new_keys_are_a_distribution_that_is_held_against_no_other(new: str, verdict: str) -> None:
    """Twice the time in eight starts each."""
    made = Synthetic(algorithms=("sha256",), noise=0.001, starts=8, emulated=False)
    truth = {key: (2 * call, 2 * byte) for key, (call, byte) in TRUTH.items()}
    old = SHORT.format("c")

    def renamed(one: Synthetic) -> RunData:
        words = dict(
            zip(("workload", "algorithm", "backend", "parameters"), new.split("/"), strict=True)
        )
        return run_from(
            record
            | ({"case": new} if record.get("case") == old else {})
            | (words if record["type"] == "case" and record["case"] == old else {})
            for record in one.records()
        )

    found = compare(renamed(made), renamed(dataclasses.replace(made, seed=2, truth=truth)))
    assert found.verdicts()[new] == verdict


@pytest.mark.parametrize("emulated", [False, True])
def test_one_start_or_an_emulators_clock_decide_nothing(emulated: bool) -> None:
    """However far apart the runs are."""
    starts = 8 if emulated else 1
    made = Synthetic(algorithms=("sha256",), noise=0.001, starts=starts, emulated=emulated)
    truth = {key: (2 * call, 2 * byte) for key, (call, byte) in TRUTH.items()}
    other = dataclasses.replace(made, seed=2, truth=truth)
    found = compare(*(reader.parse(one.lines(), file="x") for one in (made, other)))
    assert {one.verdict for one in found.pairs} == {"undecided"}
    assert found.blind == (EMULATED if emulated else ONE_START)
    said = " ".join(method(compared(*subjects([found.first, found.second]))))
    assert ("qemu-v8-icount" in said) == emulated
    assert ("--rounds 8" in said) != emulated
    assert visible(found) == ""
    if not emulated:
        found = compare(*(reader.parse(replaced(one).lines(), file="x") for one in (made, other)))
        assert found.blind is None
        assert len(found.of("worse")) > 15


def test_a_time_of_zero_decides_nothing() -> None:
    first = [[0.0]] * 11 + [[10.0]]
    (one,) = compare_values({"a": (first, [[12.0 + i / 10] for i in range(12)])})
    assert one.interval is None
    assert (one.verdict, one.have) == ("undecided", 12)


@pytest.mark.parametrize(
    ("freedom", "t", "p"),
    [  # Student's t: Fisher and Yates, Statistical Tables; CRC Handbook
        (1, 12.7062, 0.05),
        (2, 31.5991, 0.001),
        (3, 3.1824, 0.05),
        (7, 5.4079, 0.001),
        (14, 4.1405, 0.001),
        (40, 2.0211, 0.05),
        (1000, 1.9623, 0.05),
    ],
)
def test_students_t(freedom: int, t: float, p: float) -> None:
    assert student_p(t, freedom) == pytest.approx(p, rel=2e-4)
    assert student(p, freedom) == pytest.approx(t, rel=1e-4)


@pytest.mark.parametrize("starts", [1, 2, 3, 4])
def test_few_starts_decide_nothing(starts: int) -> None:
    """However little they scatter: two boots that are slow are no rarity."""
    first = [[10.0 + i / 1e6] for i in range(starts)]
    (one,) = compare_values({"a": (first, [[20 * v for v in start] for start in first])})
    assert one.verdict == ("worse" if starts == 4 else "undecided")
    sampled = dataclasses.replace(EXACT, identical=False, emulated=False).run()
    found = Comparison(sampled, sampled, (one,), (), ())
    assert found.blind == {1: ONE_START, 2: FEW_STARTS, 3: FEW_STARTS, 4: None}[starts]


def test_one_start_is_too_few_however_many_the_other_run_has() -> None:
    (one,) = compare_values({"a": ([[10.0]], [[12.0 + i / 100] for i in range(40)])})
    assert (one.verdict, one.interval) == ("undecided", None)


def test_the_interval_is_wider_the_more_cases_there_are() -> None:
    """It is to hold for all of them together."""
    starts = [[v] for v in scattered(1000, 0.02, seed=1)]
    others = [[v] for v in scattered(1000, 0.02, seed=2)]
    widths = []
    for cases in (1, 20, 200):
        found = compare_values({str(n): (starts, others) for n in range(cases)})
        assert found[0].interval is not None
        widths.append(found[0].interval.width)
    assert widths[0] < widths[1] < widths[2] < 2 * widths[0]


@pytest.mark.parametrize(
    ("low", "high", "verdict", "broken", "possible"),
    [
        (1.06, 1.2, "worse", True, False),
        (1.04, 1.2, "worse", False, True),  # known to be worse, but not by 5 %
        (1.01, 1.04, "worse", False, False),
        (0.9, 1.2, "undecided", False, True),
        (0.97, 1.04, "undecided", False, False),
    ],
)
def test_a_limit_is_held_against_the_interval(
    low: float, high: float, verdict: Verdict, broken: bool, possible: bool
) -> None:
    one = dataclasses.replace(
        member(5700), verdict=verdict, interval=Interval(low, high), exact=False
    )
    limit = Limit(share=0.05)
    assert (limit.broken(one), limit.possible(one)) == (broken, possible)
    sampled = dataclasses.replace(EXACT, identical=False, emulated=False).run()
    said = result(Comparison(sampled, sampled, (one,), (), ()), limit)
    assert said.startswith("FAIL" if broken else "PASS")
    assert ("1 may be" in said) == possible


def test_a_pass_says_what_would_have_been_seen() -> None:
    made = Synthetic(algorithms=("sha256",), samples=6, noise=0.01, starts=8, emulated=False)
    runs = [
        reader.parse(dataclasses.replace(made, seed=seed, between=0.03).lines(), file="x")
        for seed in (1, 2)
    ]
    found = compare(*runs)
    assert found.of("worse") == ()
    said = visible(found, Limit(share=0.05)).replace("\N{NARROW NO-BREAK SPACE}", " ")
    match = re.search(r"takes (\d+) % more would have been called worse in 80 of 100", said)
    assert match
    assert 9 <= int(match[1]) <= 16
    assert re.search(r"worse by 5 % or more, it must take \d\d % more\.$", said)


def test_cases_are_counted_alike_everywhere() -> None:
    """A case with several numbers of operations in a call is one case."""
    found = compare(run(), run())
    count = len(run().sound)
    assert len(run().measured) == len(found.verdicts()) == len(found.of("same")) == count
    assert len(found.pairs) > count
    assert outcome(found) == f"{count} cases compared: 0 worse, 0 better, {count} same."
    found = compare(run(), every_call(9000))
    (change,) = changes(found)
    assert len(change.cases) > len(found.of("worse"))
    assert subject(found.second, change).startswith(f"{len(found.of('worse'))} calls into the TEE")


def replaced(made: Synthetic) -> Synthetic:
    return dataclasses.replace(made, starts=7)


def test_what_waits_for_a_disk_is_not_exact() -> None:
    key = SHORT.format("tee")

    def scatter(record: dict[str, object]) -> None:
        if record["type"] == "sample" and record["case"] == key:
            assert isinstance(record["ns"], int)
            assert isinstance(record["seq"], int)
            record["ns"] = record["ns"] * (10 + record["seq"] % 7) // 10

    found = compare(run(), run(scatter))
    one = of(key, found.pairs)
    assert (one.verdict, found.blind) == ("undecided", None)
    assert one.reason is not None
    assert "disk" in one.reason


def test_a_median_of_samples_that_differ_is_known_less_well() -> None:
    """Two boots of one build, as counted: a read from storage took 440 instructions less."""
    boots = (
        (1635792, 1635952, 1636304, 1636816, 1640544, 1639776, 1635456, 1636160),
        (1635776, 1635776, 1635968, 1635648, 1640576, 1635808, 1635456, 1635952),
    )
    assert [CaseReading("", [values]).scatter for values in boots] == [1644, 212]
    assert CaseReading("", [[5.0] * 7 + [9.0]]).scatter == 0  # one that stands out moves no median
    assert CaseReading("", [[5.0] * 8]).scatter == 0
    key = next(key for key, case in run().cases.items() if len(case.samples) >= len(boots[0]))

    def counted(values: Sequence[int], more: int = 0) -> RunData:
        def change(record: dict[str, object]) -> None:
            if record["type"] == "sample" and record["case"] == key:
                assert isinstance(record["seq"], int)
                record |= {"ns": values[record["seq"] % 8] + more, "loops": 1}

        return run(change)

    assert of(key, compare(*map(counted, boots)).pairs).verdict == "same"
    dearer = compare(counted(boots[0]), counted(boots[1], 10_000))
    assert of(key, dearer.pairs).verdict == "worse"


def test_a_repeat_that_only_one_has_is_no_difference() -> None:
    key = SHORT.format("c")
    one = run_of({key: [1.0] * 8})
    samples = tuple(msgspec.structs.replace(s, repeat=2) for s in one.cases[key].samples)
    other = dataclasses.replace(
        one, cases={key: dataclasses.replace(one.cases[key], starts=(samples,))}
    )
    assert compare(one, other).pairs == ()


def test_cases_that_only_the_first_has_are_passed_over() -> None:
    one = run_of({"a/b/c/1": [1.0] * 8, SHORT.format("c"): [2.0] * 8})
    (found,) = compare(one, run_of({SHORT.format("c"): [2.0] * 8})).pairs
    assert found.case == SHORT.format("c")
    assert found.added == 0


def test_what_two_boots_of_one_build_may_differ_by() -> None:
    """Without a tick in the sample, a step of the clock and a little; with one, it is hidden."""
    work = Work.of("oneshot/sha256/tee/4096")
    one = CaseReading(work.key, [[1000.0]], work=work, loops=10, resolution=64.0)
    assert slack(1000.0, one) == (6.4 + BOOTS * 1000, 6.4)
    assert slack(1000.0, dataclasses.replace(one, loops=4000)) == (LIMIT * 1000, math.inf)
    kernel = dataclasses.replace(one, work=Work.of("oneshot/sha256/afalg/64"))
    assert slack(1000.0, kernel) == (15.0, math.inf)
    # On a busy host a step of teehash took 2,304 of 1.8 million more.
    step = CaseReading("teehash", [[1_793_680.0]])
    assert 2304 < slack(1_793_680.0, step)[0] < 0.005 * 1_793_680


def test_a_verdict_says_which_change_would_have_been_seen() -> None:
    one = compare(run(), run()).pairs[0]
    alike = dataclasses.replace(one, first=exactly(1000.0), second=exactly(1000.0))
    assert with_verdict(alike, 5.0, 1.0).visible == 0.005


def test_changes_of_a_family_that_differ_are_no_change_a_call() -> None:
    sizes = sorted({int(key.rpartition("/")[2]) for key in run().cases if "/sha256/tee/" in key})
    added = {f"oneshot/sha256/tee/{size}": 20_000 + 8_000 * (n % 2) for n, size in enumerate(sizes)}

    def change(record: dict[str, object]) -> None:
        if record["type"] == "sample" and record["case"] in added:
            assert isinstance(record["ns"], int)
            record["ns"] += added[str(record["case"])]

    (found,) = changes(compare(run(), run(change)))
    assert {one.case for one in found.cases} == set(added)
    assert found.call is None


def starts(rng: random.Random, shift: float, cases: int, own: float) -> list[CaseReading]:
    return [
        CaseReading(str(case), [[1e5 * (1 + shift) * rng.gauss(1, own)] for _ in range(8)])
        for case in range(cases)
    ]


def test_a_common_shift_is_pooled() -> None:
    """3 % in 20 of 20 cases was seen in one of ten."""
    rng = random.Random(1)
    seen = 0
    for _ in range(20):
        pairs = list(zip(starts(rng, 0, 20, 0.01), starts(rng, 0.03, 20, 0.01), strict=True))
        moved = together(pairs)
        seen += moved is not None and 1.02 < moved.low < 1.03 < moved.high < 1.04
        still = list(zip(starts(rng, 0, 20, 0.01), starts(rng, 0, 20, 0.01), strict=True))
        assert together(still) is None
    assert seen >= 17


def test_a_day_s_level_is_no_change_of_each_case() -> None:
    """A level of ±1 % for a whole run gave a false alarm in 34 of 100 comparisons."""
    rng = random.Random(2)
    alarms = 0
    for _ in range(40):
        days = rng.gauss(0, 0.01), rng.gauss(0, 0.01)
        pairs = zip(*(starts(rng, day, 20, 0.005) for day in days), strict=True)
        alarms += any(pair.moved for pair in sampled(list(pairs)))
    assert alarms <= 3
    far = zip(starts(rng, 0, 20, 0.005), starts(rng, 0.1, 20, 0.005), strict=True)
    assert all(pair.verdict == "worse" for pair in sampled(list(far))), "no day makes 10 %"
    odd = starts(rng, 0.015, 20, 0.003)
    odd[3] = CaseReading("3", [[value * 1.1 for value in values] for values in odd[3].starts])
    verdicts = sampled(list(zip(starts(rng, 0, 20, 0.003), odd, strict=True)))
    assert verdicts[3].verdict == "worse", "one case moved beside the others"
    assert {pair.verdict for place, pair in enumerate(verdicts) if place != 3} <= {
        "undecided",
        "same",
    }
