# SPDX-License-Identifier: BSD-2-Clause
"""Waiting is exported as a time, whatever the board counts; a run that was cut off gives no median
of a case of which it has only a part."""

import csv
import io
import json
from xml.etree import ElementTree as ET

import pytest

from synthetic import Synthetic, run_from, run_of
from teemark.base.work import EMPTY_CALL
from teemark.export import junit, medians, tidy_csv
from teemark.run.reader import RunData

WAITS = "storage/write/tee-ree-fs/4096"
"""Says what waits: a median of 205 ms, by a clock that counts instructions."""


@pytest.fixture(scope="module")
def run() -> RunData:
    waits = [2e8, 1.6e8, 2.3e8, 2.1e8, 1.9e8, 2.2e8, 2.4e8, 1.7e8]
    return run_of({WAITS: waits, EMPTY_CALL: [57_200.0] * 8}, icount=True)


def test_bmf_has_a_latency_of_what_waits(run: RunData) -> None:
    made = json.loads(medians.bmf(run))
    assert list(made[WAITS]) == ["latency"]
    assert made[WAITS]["latency"]["value"] == 2.05e8
    assert list(made[EMPTY_CALL]) == ["instructions"]


def test_github_action_benchmark_has_each_unit(run: RunData) -> None:
    units = {row["name"]: row["unit"] for row in json.loads(medians.github_action_benchmark(run))}
    assert units == {WAITS: "ns", EMPTY_CALL: "instructions"}


def test_openmetrics_has_seconds_of_what_waits(run: RunData) -> None:
    lines = medians.openmetrics(run).splitlines()
    waits = [line for line in lines if WAITS in line and not line.startswith("#")]
    seconds = [line for line in waits if line.startswith("teemark_call_seconds{")]
    assert [float(line.rpartition(" ")[2]) for line in seconds] == [pytest.approx(0.205)]
    assert not any("instructions" in line for line in waits)
    assert any(
        line.startswith("teemark_call_instructions{") and EMPTY_CALL in line for line in lines
    )


def test_lava_has_each_unit(run: RunData) -> None:
    made = medians.lava(run)
    assert f"{WAITS.replace('/', '.')} RESULT=pass UNITS=ns" in made
    assert f"{EMPTY_CALL.replace('/', '.')} RESULT=pass UNITS=instructions" in made


def test_junit_has_a_time_of_what_waits(run: RunData) -> None:
    cases = {case.get("name"): case for case in ET.fromstring(junit.render(run)).iter("testcase")}
    waits, empty = cases["write/tee-ree-fs/4096"], cases["none/tee/none"]
    assert (waits.get("time"), waits.find("system-out")) == ("0.205000000", None)
    assert "57200 instructions" in (empty.findtext("system-out") or "")


def test_csv_has_the_unit_of_each_case(run: RunData) -> None:
    rows = csv.DictReader(io.StringIO(tidy_csv.render(run)))
    assert {(row["case"], row["unit"]) for row in rows} == {
        (WAITS, "ns"),
        (EMPTY_CALL, "instructions"),
    }


@pytest.mark.parametrize("share", [0.45, 0.99])
def test_a_run_that_was_cut_off_gives_no_median_of_half_a_case(share: float) -> None:
    """The run's cases take turns: of one that was cut at 45 % each lacks samples."""
    records = Synthetic().records()
    whole = run_from(records)
    kept = [row for row in records if row["type"] not in ("sample", "end")]
    samples = [row for row in records if row["type"] == "sample"]
    cut = run_from([*kept, *samples[: round(share * len(samples))]])
    assert cut.incomplete is not None
    short = {case.case for case in cut.missing}
    assert short
    everything = set(json.loads(medians.bmf(whole)))
    assert set(json.loads(medians.bmf(cut))) == everything - short
    rows = json.loads(medians.github_action_benchmark(cut))
    assert {row["name"] for row in rows} == everything - short
    made = medians.openmetrics(cut)
    assert not any(f'"{case}"' in made for case in short)
