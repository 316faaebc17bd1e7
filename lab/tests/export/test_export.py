# SPDX-License-Identifier: BSD-2-Clause
"""Exports keep every sample, and stay readable by the tools they are for."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import msgspec
import pytest
from prometheus_client import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families

import teemark
from synthetic import Synthetic, run_from, write
from teemark.base.errors import TeemarkError
from teemark.base.sanitize import harmless_cell
from teemark.export import FORMATS, Format, junit, medians, tidy_csv
from teemark.run.reader import RunData, parse
from teemark.run.records import Commit, Fail, Skip


@pytest.fixture(scope="module")
def run() -> RunData:
    records = Synthetic().records()
    return run_from(records)


def table(run: RunData) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(tidy_csv.render(run))))


def test_csv_has_a_row_for_every_sample_and_nothing_rounded(run: RunData) -> None:
    rows = [row for row in table(run) if not row["not_measured"]]
    expected = [sample for case in run.cases.values() for sample in case.samples]
    assert sorted((row["case"], int(row["seq"]), int(row["ns"])) for row in rows) == sorted(
        (sample.case, sample.seq, sample.ns) for sample in expected
    )


def test_csv_tells_starts_apart() -> None:
    run = Synthetic(samples=6, starts=2, algorithms=("sha256",)).run()
    rows = [row for row in table(run) if not row["not_measured"]]
    assert [row["start"] for row in rows] == ["1"] * (len(rows) // 2) + ["2"] * (len(rows) // 2)
    assert [int(row["seq"]) for row in rows] == list(range(len(rows)))


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
    return run_from(records)


def test_exports_carry_what_was_not_measured(cut: RunData) -> None:
    assert cut.incomplete is not None
    short = {case.case: case for case in cut.missing}
    (never,) = (case for case in short.values() if case.total is None)
    none = {case.case for case in short.values() if case.samples == 0}
    assert never.case in none < set(short)
    rows = {row["case"]: row["not_measured"] for row in table(cut) if row["not_measured"]}
    assert set(rows) == none | {skip.case for skip in cut.skips}
    assert "the run is incomplete: cut off" in rows[never.case]

    suite = ET.fromstring(junit.render(cut))
    by_name = {
        f"{test.get('classname')}.{test.get('name')}": test.find("error")
        for test in suite.findall("testcase")
    }
    for key, case in short.items():
        workload, _, rest = key.partition("/")
        error = by_name[f"teemark.{workload}.{rest}"]
        assert error is not None, key
        got = "" if case.total is None else f"{case.samples} of {case.total} samples"
        assert got in (error.get("message") or "")
    assert suite.get("errors") == str(len(short) + 1)


def test_a_whole_run_misses_nothing(run: RunData) -> None:
    assert run.missing == ()
    assert set(run.unmeasured) == {skip.case for skip in run.skips}


def test_junits_time_is_what_other_exports_say_of_several_starts() -> None:
    run = Synthetic(samples=7, starts=3, between=0.2, algorithms=("sha256",)).run()
    said = {one["name"]: one["value"] for one in json.loads(medians.github_action_benchmark(run))}
    tests = ET.fromstring(junit.render(run)).findall("testcase[@time]")
    assert len(tests) > 10
    for test in tests:
        key = f"{test.attrib['classname'].removeprefix('teemark.')}/{test.attrib['name']}"
        assert float(test.attrib["time"]) == pytest.approx(said[key] / 1e9, abs=1e-9), key


def test_junit_has_an_error_for_a_tee_that_could_not_be_used(run: RunData) -> None:
    skip = Skip(case="oneshot/sha384/tee/0", code="ta-rejected", reason="signature")
    suite = ET.fromstring(junit.render(replace(run, skips=(skip,))))
    assert suite.get("errors") == "1"
    assert suite.find("testcase[@name='tee']/error") is not None


EXACT = parse(
    Synthetic(identical=True, noise=0, samples=5, algorithms=("sha256",)).lines(), file="exact"
)
KEY = "oneshot/sha256/tee/65536"

BMF = {  # as Bencher publishes it (bencher.dev/bmf.json)
    "type": "object",
    "patternProperties": {
        ".+": {
            "type": "object",
            "patternProperties": {
                ".+": {
                    "type": "object",
                    "properties": {
                        name: {"type": "number"} for name in ("value", "lower_value", "upper_value")
                    },
                    "required": ["value"],
                    "additionalProperties": False,
                }
            },
        }
    },
}


def test_bmf_is_what_bencher_takes(run: RunData) -> None:
    document = json.loads(medians.bmf(run))
    jsonschema.validate(document, BMF)
    assert set(document) == {case.key for case in run.sound}
    latency = document[KEY]["latency"]
    assert latency["lower_value"] < latency["value"] < latency["upper_value"]
    exact = json.loads(medians.bmf(EXACT))[KEY]["instructions"]
    assert exact["lower_value"] == exact["value"] == exact["upper_value"]


def test_github_action_benchmark_has_what_it_requires(run: RunData) -> None:
    entries = json.loads(medians.github_action_benchmark(run))
    assert {entry["name"] for entry in entries} == {case.key for case in run.sound}
    for entry in entries:
        kinds = {key: type(value) for key, value in entry.items()}
        assert kinds == {"name": str, "unit": str, "value": float, "range": str, "extra": str}
        assert re.fullmatch(r"± \d+(\.\d+)?", entry["range"])  # what its charts can read
    assert {entry["unit"] for entry in entries} == {"ns"}
    ends = json.loads(medians.bmf(run))[KEY]["latency"]
    (shown,) = (float(entry["range"][2:]) for entry in entries if entry["name"] == KEY)
    assert 2 * shown == pytest.approx(ends["upper_value"] - ends["lower_value"], abs=0.2)
    exact = json.loads(medians.github_action_benchmark(EXACT))
    assert {entry["unit"] for entry in exact} == {"instructions"}
    assert not any("range" in entry for entry in exact)


assert EXACT.header is not None
ORIGIN = replace(
    EXACT,
    header=msgspec.structs.replace(
        EXACT.header,
        commit=Commit(hash="8d41e07" + "0" * 33, branch="main"),
        labels={"compiler": 'gcc "12"'},
    ),
)


@pytest.mark.parametrize("form", [one for one in FORMATS if one.name != "bmf"])
def test_each_export_has_the_commit_and_the_labels(form: Format) -> None:
    """BMF alone has no place for them."""
    told, bare = form.render(ORIGIN), form.render(EXACT)
    for word in ("8d41e07", "gcc"):
        assert word in told
        assert word not in bare


@pytest.mark.parametrize("form", FORMATS)
def test_no_export_calls_instructions_a_time(form: Format, run: RunData) -> None:
    """Each says `instructions` where the board counts them, and nowhere else."""
    assert "instructions" in form.render(EXACT)
    assert "instructions" not in form.render(replace(run, skips=()))


def test_junit_has_no_seconds_of_instructions() -> None:
    tests = ET.fromstring(junit.render(EXACT)).findall("testcase")
    assert not any(test.get("time") for test in tests)
    (test,) = (test for test in tests if test.get("name") == "none/tee/none")
    assert test.findtext("system-out") == "387000 instructions a call"


def test_records_for_python_users(tmp_path: Path) -> None:
    """`teemark.load` gives what the CSV has, with numbers as numbers."""
    made = Synthetic(algorithms=("sha256",), samples=3)
    folder = write(made.records(), tmp_path / "run").parent
    records = teemark.load(str(folder))
    rows = table(made.run())
    assert [str(one["ns"]) for one in records if one["ns"]] == [r["ns"] for r in rows if r["ns"]]
    assert {one["unit"] for one in records} == {"ns"}
    assert {type(one["ns"]) for one in records if not one["not_measured"]} == {int}
    with pytest.raises(TeemarkError):
        teemark.load(tmp_path)


def parsed(text: str) -> list[Metric]:
    return list(text_string_to_metric_families(text))  # type: ignore[no-untyped-call]


def test_openmetrics_is_read_by_prometheus(run: RunData) -> None:
    assert run.header is not None
    odd = replace(run, header=msgspec.structs.replace(run.header, board='a "b" \\ c'))
    families = {family.name: family for family in parsed(medians.openmetrics(odd))}
    assert set(families) == {
        "teemark_run_info",
        *(f"teemark_call{end}_seconds" for end in ("", "_low", "_high")),
    }
    family = families["teemark_call_seconds"]
    assert (family.type, family.unit) == ("gauge", "seconds")
    (sample,) = [one for one in family.samples if one.labels["case"] == KEY]
    assert sample.labels["board"] == 'a "b" \\ c'
    assert sample.value == pytest.approx(1.76e-3, rel=0.05)
    (about, exact, *_) = parsed(medians.openmetrics(ORIGIN))
    assert exact.name == "teemark_call_instructions"
    (info,) = about.samples
    assert (about.type, info.labels["label_compiler"]) == ("gauge", 'gcc "12"')


def test_a_text_that_a_spreadsheet_would_compute_is_no_formula(run: RunData) -> None:
    assert run.header is not None
    board = '=HYPERLINK("http://x";"a")'
    odd = replace(run, header=msgspec.structs.replace(run.header, board=board))
    first, *_ = csv.DictReader(tidy_csv.render(odd).splitlines())
    assert first["board"] == f"'{board}"
    assert float(first["ns"]) > 0
    for text in ("=1", "+1", "-1", "@x", "\t=1", "\r=1"):
        assert harmless_cell(text) == f"'{text}"
    for other in ("a=1", "", -1.5, None):
        assert harmless_cell(other) == other


NEW_RUN = {  # as Bencher publishes it: POST /v0/run (bencher.dev/docs/api/run/run)
    "type": "object",
    "required": ["end_time", "results", "start_time"],
    "additionalProperties": False,
    "properties": {
        "project": {"type": "string", "pattern": "^[0-9a-z-]+$"},
        "branch": {"type": "string", "minLength": 1},
        "hash": {"type": "string", "pattern": "^[0-9a-f]{40}$"},
        "testbed": {"type": "string", "minLength": 1},
        "start_time": {"type": "string", "format": "date-time"},
        "end_time": {"type": "string", "format": "date-time"},
        "results": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "settings": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"adapter": {"enum": ["json", "magic"]}},
        },
    },
}


def test_lava_signals_have_a_result_for_every_case(run: RunData, cut: RunData) -> None:
    form = re.compile(
        r"<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=[\w.-]+ RESULT=(pass|fail|skip)"
        r"( UNITS=(ns|instructions) MEASUREMENT=\d+\.\d+)?>"
    )
    for one in (run, cut, EXACT):
        lines = medians.lava(one).splitlines()
        assert all(form.fullmatch(line) for line in lines)
        names = [line.split()[1] for line in lines]
        assert len(names) == len(set(names))
    assert "ID=oneshot.sha256.tee.65536 RESULT=pass UNITS=instructions" in medians.lava(EXACT)
    assert medians.lava(cut).count("RESULT=fail") == len({case.case for case in cut.missing})
    fail = Fail(case=KEY, reason="wrong")
    assert "ID=oneshot.sha256.tee.65536 RESULT=fail>" in medians.lava(replace(run, fails=(fail,)))
