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


def test_csv_has_a_row_for_every_sample_and_nothing_rounded(run: RunData) -> None:
    rows = list(csv.DictReader(io.StringIO(tidy_csv.render(run))))
    expected = [sample for case in run.cases.values() for sample in case.samples]
    assert sorted((row["case"], int(row["seq"]), int(row["ns"])) for row in rows) == sorted(
        (sample.case, sample.seq, sample.ns) for sample in expected
    )


def test_csv_tells_starts_apart() -> None:
    run = parse(Synthetic(samples=6, starts=2, algorithms=("sha256",)).lines(), file="made up")
    rows = list(csv.DictReader(io.StringIO(tidy_csv.render(run))))
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
        skips=(Skip(case="oneshot/sha1/ta-ce/0", code="no-ce", reason="no 'instructions'"),),
        incomplete="interrupted",
    )
    suite = ET.fromstring(junit.render(bad))
    tests = suite.findall("testcase")
    assert suite.get("tests") == str(len(tests)) == str(len(run.cases) - 1 + 3)
    assert [suite.get(name) for name in ("failures", "skipped", "errors")] == ["1", "1", "1"]
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("message") == "wrong\N{REPLACEMENT CHARACTER} <digest>"
