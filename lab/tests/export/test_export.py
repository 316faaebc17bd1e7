# SPDX-License-Identifier: BSD-2-Clause
"""Exports keep every sample, and stay readable by the tools they are for."""

import contextlib
import csv
import io
import json
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from xml.etree import ElementTree as ET

import jsonschema
import msgspec
import prometheus_client.parser
import pytest
from click.testing import CliRunner, Result
from prometheus_client import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families

import sshserver
import teemark
from synthetic import Synthetic, run_from, write
from teemark.base.errors import TeemarkError, UsageMistake
from teemark.base.sanitize import harmless_cell
from teemark.cli import main as cli
from teemark.export import FORMATS, Format, junit, medians, tidy_csv
from teemark.run import reader
from teemark.run.reader import RunData, parse
from teemark.run.records import Commit, Fail, Skip
from waiting import until


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
    (never,) = (case for case in short.values() if case.asked is None)
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
        got = "" if case.asked is None else f"{case.samples} of {case.asked} samples"
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


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Debian's prometheus-pushgateway on the loopback."""
    program = shutil.which("prometheus-pushgateway")
    if program is None:
        pytest.skip("there is no prometheus-pushgateway (apt install prometheus-pushgateway)")
    address = f"127.0.0.1:{sshserver.free_port()}"
    log = tmp_path_factory.mktemp("gateway") / "log"
    with log.open("wb") as said:
        argv = [program, f"--web.listen-address={address}"]
        process = subprocess.Popen(argv, stdout=said, stderr=said)
    try:

        def ready() -> bool:
            assert process.poll() is None, log.read_text()
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://{address}/-/ready"):
                return True
            return False

        until("the gateway", ready)
        yield f"http://{address}"
    finally:
        process.terminate()
        process.wait()


def export(*words: str) -> Result:
    return CliRunner().invoke(cli.cli, ["export", *words], standalone_mode=False)


def kept(gateway: str) -> dict[tuple[str, ...], float]:
    """Returns what the gateway serves: values by metric, board, plan and case."""
    with urllib.request.urlopen(f"{gateway}/metrics") as answer:
        families = list(
            prometheus_client.parser.text_string_to_metric_families(answer.read().decode())
        )
    return {
        (one.name, *(one.labels.get(name, "") for name in ("board", "plan", "case"))): one.value
        for family in families
        for one in family.samples
        if one.name.startswith("teemark")
    }


def test_a_push_gateway_has_the_last_run_of_each_board_and_plan(
    gateway: str, run: RunData, tmp_path: Path
) -> None:
    few = Synthetic(board='a "b" /', algorithms=("sha256",), samples=6)
    path = str(few.write(tmp_path / "one"))
    done = export(path, "-f", "openmetrics", "--push", gateway)
    assert (done.exception, done.stdout) == (None, "")
    metric, plan = "teemark_call_seconds", few.plan
    found = kept(gateway)
    assert found["teemark_run_info", few.board, plan, ""] == 1
    made = {one.name: one for one in parsed(medians.openmetrics(reader.read(Path(path))))}[metric]
    for sample in made.samples:
        assert found[metric, few.board, plan, sample.labels["case"]] == sample.value
    other = Synthetic(board="other", algorithms=("sha256",), samples=6).write(tmp_path / "other")
    empty = few.records()
    gone = "oneshot/sha256/tee/64"
    fewer = write([one for one in empty if one.get("case") != gone], tmp_path / "fewer")
    for again in (other, fewer):
        assert export(str(again), "-f", "openmetrics", "--push", f"{gateway}/").exception is None
    found = kept(gateway)
    assert (metric, few.board, plan, gone) not in found
    assert (metric, "other", plan, gone) in found


def test_what_is_no_push_gateway(gateway: str, tmp_path: Path) -> None:
    path = str(Synthetic(algorithms=("sha256",), samples=6).write(tmp_path))
    words = [path, "-f", "openmetrics", "--push"]
    assert "can't be reached" in str(export(*words, "http://127.0.0.1:1").exception)
    assert "takes no metrics: 404" in str(export(*words, f"{gateway}/wrong").exception)
    assert "is no address" in str(export(*words, f"file://{tmp_path}").exception)
    assert "csv can't be sent" in str(export(path, "-f", "csv", "--push", gateway).exception)
    file = tmp_path / "too"
    assert export(*words, gateway, "-o", str(file)).return_value == 0
    assert file.read_text().endswith("# EOF\n")


def test_no_address_is_a_mistake_on_the_command_line(tmp_path: Path) -> None:
    path = str(Synthetic(algorithms=("sha256",), samples=6).write(tmp_path))
    for form in ("openmetrics", "bmf"):
        for wrong in ("http://[::1", "http://:x", "http:///p", "http://", "https://[x]/p"):
            error = export(path, "-f", form, "--push", wrong).exception
            assert isinstance(error, UsageMistake), (wrong, error)


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


@pytest.fixture
def bencher() -> Iterator[tuple[str, list[tuple[str, str | None, bytes]]]]:
    """A stand-in for Bencher's server: it answers as its API says, and keeps what came: path, key
    and body. A project `moved` leads to another host name."""
    came: list[tuple[str, str | None, bytes]] = []

    class Api(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            came.append((self.path, self.headers["Authorization"], body))
            asked = json.loads(body)
            if asked["project"] == "moved":
                self.send_response(302)
                self.send_header("Location", f"http://localhost:{server.server_port}/elsewhere")
                self.end_headers()
                return
            try:
                jsonschema.validate(asked, NEW_RUN, format_checker=jsonschema.FormatChecker())
                for one in asked["results"]:
                    jsonschema.validate(json.loads(one), BMF)
                status = 201 if self.headers["Authorization"] == "Bearer secret" else 401
            except jsonschema.ValidationError as error:
                status, said = 400, error.message
            else:
                said = "{}" if status == 201 else "who are you?"
            self.send_response(status)
            self.end_headers()
            self.wfile.write(said.encode())

        def do_GET(self) -> None:
            came.append((self.path, self.headers["Authorization"], b""))
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", came
    server.shutdown()
    server.server_close()


def test_bencher_takes_a_run_with_its_commit(
    bencher: tuple[str, list[tuple[str, str | None, bytes]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The key goes to that server alone, also where that one leads elsewhere."""
    server, came = bencher
    commit = {"hash": "0f" * 20, "branch": "main", "dirty": False}
    made = Synthetic(algorithms=("sha256",), samples=6)
    path = str(write([made.records()[0] | {"commit": commit}, *made.records()[1:]], tmp_path))
    words = [path, "-f", "bmf", "--push"]
    monkeypatch.delenv("BENCHER_API_KEY", raising=False)
    assert "takes no metrics: 401, who are you?" in str(export(*words, f"{server}/ours").exception)
    monkeypatch.setenv("BENCHER_API_KEY", "secret")
    done = export(*words, f"{server}/ours/")
    assert (done.exception, done.stdout, done.stderr) == (None, "", "")
    where, key, body = came[-1]
    sent = json.loads(body)
    assert (where, key) == ("/v0/run", "Bearer secret")
    assert (sent["project"], sent["testbed"]) == ("ours", made.board)
    assert (sent["hash"], sent["branch"]) == (commit["hash"], "main")
    assert sent["results"] == [medians.bmf(reader.read(Path(path)))]
    assert "takes no metrics: 400" in str(export(*words, f"{server}/No project").exception)
    moved = export(*words, f"{server}/moved").exception
    assert "the server sends us to http://localhost:" in str(moved)
    assert came[-1][:2] == ("/v0/run", "Bearer secret"), "nothing goes there, least of all the key"
    assert "names no project" in str(export(*words, server).exception)
    assert "can't be reached" in str(export(*words, "http://127.0.0.1:1/ours").exception)


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
