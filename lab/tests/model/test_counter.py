# SPDX-License-Identifier: BSD-2-Clause
"""TAs count their own time: it stays apart from all else, and checked against the client's."""

import csv
import io
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from synthetic import INSIDE, TRUTH, Synthetic, run_from, work
from teemark.base.errors import DataError
from teemark.base.finding import Finding
from teemark.base.work import Work
from teemark.cli import main as cli
from teemark.export import FORMATS
from teemark.findings import trust
from teemark.findings.ground import Ground
from teemark.measure.progress import Progress
from teemark.model import models
from teemark.model.counter import TOLERANCE, counted_cases, slope_ratio
from teemark.model.models import Models
from teemark.model.stats import Estimate, Sampling
from teemark.plan.file import Plan
from teemark.report import run_page
from teemark.run import reader
from teemark.run.reader import RunData

SIZE = 4096  # that synthetic runs repeat
REPEATED = {f"oneshot/{a}/{b}/{SIZE}" for a, b in TRUTH if b.startswith("t")}


def run_of(**changes: object) -> RunData:
    return Synthetic(**changes).run()  # type: ignore[arg-type]


def said(run: RunData, built: Models) -> Finding | None:
    return trust.two_clocks(Ground(run, built))


def judged(**changes: object) -> tuple[RunData, Models, Finding | None]:
    run = run_of(**changes)
    built = models.build(run)
    return run, built, said(run, built)


def test_what_tas_counted_is_in_no_other_figure() -> None:
    """Whether they counted or not, and however wrong: statistics and exports are the same. (The way
    in and out, and with it a page, are what the counter is for.)"""
    without, beside = run_of(), run_of(counter=3.0)
    one, other = models.build(without), models.build(beside)
    assert not one.counted
    assert other.counted
    assert (one.stats, one.repeats) == (other.stats, other.repeats)
    for format_ in FORMATS:
        first, second = format_.render(without), format_.render(beside)
        if format_.name == "csv":
            rows = [list(csv.DictReader(io.StringIO(text))) for text in (first, second)]
            counted = [row.pop("ta_ns") for row in rows[1]]
            assert {row.pop("ta_ns") for row in rows[0]} == {""}
            assert rows[0] == rows[1]
            measured = [row for row in rows[1] if not row["not_measured"]]
            assert {row["source"] for row in measured} == {"client-clock"}
            assert sum(map(bool, counted)) == sum(len(c.ta_samples) for c in beside.cases.values())
        else:
            assert first == second


def test_progress_counts_samples_once() -> None:
    progress = Progress(Plan("none", ""))
    for number, line in enumerate(Synthetic(counter=1.0).lines(), 1):
        progress.record(reader.decode_line(line, file="synthetic", number=number))
    samples = sum(len(case.samples) for case in run_of().cases.values())
    assert progress.samples == samples


def test_unknown_sources_are_refused() -> None:
    lines = Synthetic(counter=1.0).lines()
    bad = [line.replace(b'"ta-counter"', b'"sundial"') for line in lines]
    with pytest.raises(DataError, match="sundial"):
        reader.parse(bad, file="x")


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.1])
def test_the_way_in_and_out_is_found_again(noise: float) -> None:
    """And the share inside, for every call to a TA."""
    _, built, _ = judged(counter=1.0, noise=noise, samples=20)
    assert len(built.counted) == 6 * len({pair for pair in TRUTH if pair[1].startswith("t")})
    for counted in built.counted.values():
        case = Work.of(counted.key)
        call = TRUTH[case.algorithm, case.backend][0]
        assert counted.crossing is not None
        assert counted.crossing.interval is not None
        assert case.size is not None
        inside = work(case.algorithm, case.backend, case.size)
        # twice the interval: it misses once in twenty
        low, high = counted.crossing.interval.low, counted.crossing.interval.high
        margin = (high - low) / 2 + 2
        assert low - margin <= call - INSIDE <= high + margin, case.key
        assert counted.inside is not None
        assert counted.inside.value == pytest.approx(
            inside + INSIDE, rel=0.001 if noise == 0 else 0.08
        )


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.05])
@pytest.mark.parametrize("seed", range(4 if os.environ.get("THOROUGH") else 1))
def test_clocks_that_agree(noise: float, seed: int) -> None:
    """Said once, with the number of cases and the worst of them."""
    _, built, verdict = judged(counter=1.0, noise=noise, seed=seed, samples=20)
    found = [c for c in built.counted.values() if c.answer is not None]
    assert {c.key for c in found} == REPEATED
    assert "no" not in {c.answer for c in found}
    assert verdict is not None
    assert verdict.severity == "note"
    if noise == 0:
        assert verdict.key == "ta-counter-agrees"
        assert f"{len(REPEATED)} cases" in verdict.claim
        for c in found:
            assert c.deviation == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("speed", [0.5, 0.93, 1.07, 2.0])
def test_clocks_that_disagree(speed: float) -> None:
    _, built, verdict = judged(counter=speed, noise=0.001)
    assert {c.answer for c in built.counted.values() if c.ratio} == {"no"}
    assert verdict is not None
    assert (verdict.key, verdict.severity, verdict.sure) == (
        "ta-counter-disagrees",
        "caution",
        True,
    )
    assert all(key in verdict.evidence for key in REPEATED)
    assert f"{len(REPEATED)} cases of {len(REPEATED)}" in verdict.claim
    for c in built.counted.values():
        if c.ratio:
            assert c.deviation == pytest.approx(speed - 1, abs=0.02)
            assert c.ratio.interval is not None
            assert c.ratio.value in c.ratio.interval


def test_no_slope_is_undecided() -> None:
    """Work that is lost in the way: the client's slope can't be told from level."""
    truth = dict(TRUTH) | {pair: (400_000, 0.001) for pair in TRUTH if pair[1].startswith("t")}
    _, built, verdict = judged(counter=1.0, truth=truth, noise=0.05)
    assert {c.answer for c in built.counted.values() if c.repeats > 1} == {"undecided"}
    assert verdict is not None
    assert verdict.key == "ta-counter-undecided"


@pytest.mark.parametrize("speed", [1.03, 0.97])
def test_within_tolerance_is_agreement(speed: float) -> None:
    assert abs(speed - 1) < TOLERANCE
    _, _, verdict = judged(counter=speed, noise=0.0)
    assert verdict is not None
    assert verdict.key == "ta-counter-agrees"


def test_one_of_many_that_disagrees_is_named() -> None:
    """One TA's counter is wrong; the others' agreement doesn't hide it."""
    wrong = f"oneshot/sha256/ta-c/{SIZE}"
    records = Synthetic(counter=1.0, noise=0.0).records()
    for record in records:
        if record.get("case") == wrong and record.get("source") == "ta-counter":
            record["ns"] = int(str(record["ns"])) * 11 // 10
    run = run_from(records)
    verdict = said(run, models.build(run))
    assert verdict is not None
    assert verdict.key == "ta-counter-disagrees"
    assert f"in 1 case of {len(REPEATED)}" in verdict.claim
    assert verdict.evidence.startswith(f"{wrong} +10")


@pytest.mark.parametrize(
    "changes",
    [
        {"samples": 4, "noise": 0.0},  # too few to tell
        {"counter_noise": 0.5, "noise": 0.0},  # the counter is all over the place
        {"counter_noise": 0.5, "noise": 0.0, "counter": 1.07},
    ],
)
def test_what_is_too_uncertain_is_left_undecided(changes: dict[str, object]) -> None:
    _, built, verdict = judged(**({"counter": 1.0} | changes))
    assert {c.answer for c in built.counted.values() if c.ratio} == {"undecided"}
    assert verdict is not None
    assert (verdict.key, verdict.sure) == ("ta-counter-undecided", False)


def test_without_counter_or_repetitions_there_is_nothing_to_say() -> None:
    assert judged()[2] is None
    run, built, verdict = judged(counter=1.0, repeat=(1, 2))
    assert verdict is None
    assert built.counted
    # nor where a twin is missing or is of other calls
    records = Synthetic(counter=1.0).records()
    for record in records:
        if record.get("source") == "ta-counter":
            record["loops"] = int(str(record["loops"])) + 1
    run = run_from(records)
    assert counted_cases(run.sound, Sampling()) == {}


def test_a_failed_case_is_left_out() -> None:
    records = Synthetic(counter=1.0, noise=0.0).records()
    key = f"oneshot/sha256/tee/{SIZE}"
    records.insert(-1, {"type": "fail", "case": key, "reason": "wrong"})
    run = run_from(records)
    assert key not in models.build(run).counted


def test_slope_ratio_has_its_bounds() -> None:
    def ratio(pairs: dict[int, list[tuple[float, float]]]) -> Estimate | None:
        return slope_ratio({n: [of_n] for n, of_n in pairs.items()}, "x", Sampling())

    pairs = {1: [(10.0, 5.0)] * 6, 2: [(12.0, 7.0)] * 6, 4: [(16.0, 11.0)] * 6}
    found = ratio(pairs)
    assert found is not None
    assert found.value == pytest.approx(1)
    assert found.interval is not None
    assert found.interval.low == pytest.approx(found.interval.high)
    half = ratio({n: [(a, b / 2) for a, b in of_n] for n, of_n in pairs.items()})
    assert half is not None
    assert half.value == pytest.approx(0.5)
    assert ratio({1: pairs[1], 2: pairs[2]}) is None
    assert ratio({n: [(10.0, 5.0)] for n in (1, 2, 4)}) is None  # no slope to divide by
    assert ratio({n: [(10.0 * n, 0.0)] for n in (1, 2, 4)}) is None  # too coarse
    few = ratio({n: of_n[:5] for n, of_n in pairs.items()})
    assert few is not None
    assert few.interval is None


def test_the_report_shows_it() -> None:
    said = "The TA's own counter agrees"
    assert said in run_page.make([run_of(counter=1.0, noise=0.0)]).markdown
    assert said not in run_page.make([run_of()]).markdown


def test_clocks_that_disagree_end_explain_with_1(tmp_path: Path) -> None:
    for speed, status in ((1.0, 0), (1.2, 1)):
        folder = tmp_path / str(speed)
        Synthetic(counter=speed, identical=True, algorithms=("sha256",)).write(folder)
        done = CliRunner().invoke(cli.cli, ["explain", str(folder)], standalone_mode=False)
        assert done.return_value == status, done.output
