# SPDX-License-Identifier: BSD-2-Clause
"""Exports keep every sample, and stay readable by the tools they are for."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from synthetic import Synthetic
from teemark.export import google_benchmark, junit, tidy_csv
from teemark.run.reader import RunData, parse
from teemark.run.records import Fail, Skip


@pytest.fixture(scope="module")
def run() -> RunData:
    records = Synthetic().records()
    return parse([json.dumps(record).encode() + b"\n" for record in records], file="made up")


def table(run: RunData) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(tidy_csv.render(run))))


def test_csv_has_a_row_for_every_sample_and_nothing_rounded(run: RunData) -> None:
    rows = [row for row in table(run) if not row["not_measured"]]
    expected = [sample for case in run.cases.values() for sample in case.samples]
    assert sorted((row["case"], int(row["seq"]), int(row["ns"])) for row in rows) == sorted(
        (sample.case, sample.seq, sample.ns) for sample in expected
    )


def test_csv_tells_starts_apart() -> None:
    run = parse(Synthetic(samples=6, starts=2, algorithms=("sha256",)).lines(), file="made up")
    rows = [row for row in table(run) if not row["not_measured"]]
    assert [row["start"] for row in rows] == ["1"] * (len(rows) // 2) + ["2"] * (len(rows) // 2)
    assert [int(row["seq"]) for row in rows] == list(range(len(rows)))


def test_google_benchmark_gives_time_and_rate_of_one_call(run: RunData) -> None:
    document = json.loads(google_benchmark.render(run))
    assert document["context"]["teemark_emulated"] is True
    key = "oneshot/sha256/tee/65536"
    entries = [entry for entry in document["benchmarks"] if entry["name"] == key]
    samples = [sample for sample in run.cases[key].samples if sample.repeat == 1]
    assert len(entries) == len(samples) == entries[0]["repetitions"]
    first = entries[0]
    assert first["real_time"] == samples[0].ns / samples[0].loops
    assert first["bytes_per_second"] == pytest.approx(65536 * 1e9 / first["real_time"])


def test_junit_counts_cases_failures_skips_and_an_incomplete_run(run: RunData) -> None:
    bad = replace(
        run,
        fails=(Fail(case="oneshot/sha1/tee/0", reason="wrong\x00 <digest>"),),
        skips=(Skip(case="oneshot/sha384/ta-ce/0", code="no-ce", reason="no 'instructions'"),),
        incomplete="interrupted",
    )
    suite = ET.fromstring(junit.render(bad))
    tests = suite.findall("testcase")
    assert suite.get("tests") == str(len(tests)) == str(len(run.cases) - 1 + 3)
    assert [suite.get(name) for name in ("failures", "skipped", "errors")] == ["1", "1", "1"]
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("message") == "wrong\N{REPLACEMENT CHARACTER} <digest>"


@pytest.fixture(scope="module")
def cut() -> RunData:
    """Broken off while it measured; one case wasn't even looked at."""
    records = Synthetic(algorithms=("sha256",)).records()
    keys = [str(record["case"]) for record in records if record["type"] in ("case", "skip")]
    never = keys[-1]
    records = [record for record in records[:300] if record.get("case") != never]
    records[0] |= {"asked": [*keys, never]}
    return parse([json.dumps(record).encode() + b"\n" for record in records], file="cut")


def test_exports_carry_what_was_not_measured(cut: RunData) -> None:
    assert cut.incomplete is not None
    short = {case.case: case for case in cut.missing}
    (never,) = (case for case in short.values() if case.asked is None)
    none = {case.case for case in short.values() if case.samples == 0}
    assert never.case in none < set(short)
    rows = {row["case"]: row["not_measured"] for row in table(cut) if row["not_measured"]}
    assert set(rows) == none | {skip.case for skip in cut.skips}
    assert "the run is incomplete: cut off" in rows[never.case]

    benchmarks = json.loads(google_benchmark.render(cut))["benchmarks"]
    errors = {one["name"]: one["error_message"] for one in benchmarks if "error_occurred" in one}
    assert errors == rows

    suite = ET.fromstring(junit.render(cut))
    by_name = {
        f"{test.get('classname')}.{test.get('name')}": test.find("error")
        for test in suite.findall("testcase")
    }
    for key, case in short.items():
        workload, _, rest = key.partition("/")
        error = by_name[f"teemark.{workload}.{rest}"]
        assert error is not None, key
        got = "" if case.asked is None else f"{case.samples} of {case.asked} samples"
        assert got in (error.get("message") or "")
    assert suite.get("errors") == str(len(short) + 1)


def test_a_whole_run_misses_nothing(run: RunData) -> None:
    assert run.missing == ()
    assert {one.case for one in run.unmeasured} == {skip.case for skip in run.skips}


def test_junit_has_an_error_for_a_tee_that_could_not_be_used(run: RunData) -> None:
    skip = Skip(case="oneshot/sha384/tee/0", code="ta-rejected", reason="signature")
    suite = ET.fromstring(junit.render(replace(run, skips=(skip,))))
    assert suite.get("errors") == "1"
    assert suite.find("testcase[@name='tee']/error") is not None
