# SPDX-License-Identifier: BSD-2-Clause
"""How many messages a second a broker takes, found by queues whose answer is known."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import Mock

import pytest
from msgspec import structs

from teemark.broker import measure
from teemark.broker.measure import IN_A_ROW, STEP
from teemark.broker.mosquitto import Mosquitto
from teemark.cli import main as cli
from teemark.findings.ground import Ground
from teemark.findings.rules import judge
from teemark.findings.subject import subjects
from teemark.plan.file import load_plan
from teemark.report import run_page
from teemark.run import reader
from teemark.run.records import SCHEMA, Machine, Run
from teemark.wording import fmt

RUN = Run(
    schema=SCHEMA,
    teemark="0",
    board="b",
    plan="broker",
    started="2026-11-23T00:00:00Z",
    emulated=True,
    icount=True,
    cases=5,
)


@pytest.mark.parametrize("service", [7e-6, 0.00021, 0.3])
@pytest.mark.parametrize("way", [0, 0.004])
def test_the_highest_rate_is_what_a_queue_serves(
    monkeypatch: pytest.MonkeyPatch, service: float, way: float
) -> None:
    """One server takes `service` seconds a message; the rest of the way takes no server's time."""
    asked = []

    def bench(mosquitto: object, of: object, *numbers: int) -> dict[str, Sequence[int]]:
        rate = numbers[-1]
        asked.append(rate)
        assert len(asked) < 30
        free, found = 0.0, []
        for number in range(IN_A_ROW):
            due = number / rate
            free = max(free, due) + service
            found.append(round((free - due + way) * 1e9))
        return {"latency": found}

    monkeypatch.setattr(measure, "bench", bench)
    found = measure.highest_rate(Mosquitto(Mock()), measure.WAYS[0])
    assert (1 - 2 * STEP) / service - 1 <= found <= (1 + STEP) / service + 1


def read(
    found: measure.Values, monkeypatch: pytest.MonkeyPatch, where: Path, run: Run = RUN
) -> reader.RunData:
    """Returns the run that is written of these values."""
    monkeypatch.setattr(measure, "machine", lambda _: Machine(schema=SCHEMA, teebench="0"))
    monkeypatch.setattr(measure, "header", lambda *_: run)
    measure.write(Mock(), found, datetime(2026, 11, 23, tzinfo=UTC), where)
    return reader.read(where)


def test_what_was_measured_is_a_run_that_reports_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each value is a sample of its case."""
    found = {"broker/cpu-2-qos1/tee/64": (64, 6, 7), "broker/latency-2-qos1/tee/64": (1, 2, 3, 4)}
    data = read(found, monkeypatch, tmp_path)
    assert data.as_asked
    assert {key: tuple(s.ns for s in case.samples) for key, case in data.cases.items()} == found
    assert {case.record.bytes for case in data.cases.values()} == {64}
    assert "latency-2-qos1" in run_page.make([data], [None]).html
    assert data.unverified == 0


def test_what_a_plain_broker_passes_on_is_not_called_verified(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nobody opens those messages."""
    data = read(MEASURED, monkeypatch, tmp_path)
    assert data.unverified == 1
    assert ", but for 1 case." in run_page.make([data], [None]).html


MEASURED: measure.Values = {
    "broker/cpu-1/plain/64": (30000,) * 7,
    "broker/cpu-1/tee/64": (125000, 100000, 150000, 120000, 130000, 110000, 140000),
    "broker/cpu-8/tee/64": (272000,) * 7,
    "broker/cpu-1/tee/1024": (140000,) * 7,
    "broker/cpu-1/tee/65536": (785120,) * 7,
}


def claim(data: reader.RunData) -> str:
    said = next(one for one in judge(Ground.of(data)) if one.key == "message").claim
    return said.replace(fmt.THIN, " ").replace("\u202f", " ").replace("\xa0", " ")


def test_a_report_begins_with_what_a_message_costs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The document of this plan concludes nothing, so its tables don't come first."""
    counts: measure.Values = MEASURED | {"broker/cpu-1/tee/64": (125000,) * 7}
    data = read(counts, monkeypatch, tmp_path)
    assert claim(data) == (
        "A message of 64 B costs the broker 125 000 instructions, of which 95 000 instructions are "
        "for sealing it anew in the TEE; a byte costs 10.0 instructions, and each further reader "
        "21 000 instructions."
    )
    html = run_page.make([data], [None]).html
    places = [html.index(f'id="{key}"') for key in ("headline", "throughput", "published")]
    assert places == sorted(places)
    assert places[0] < html.index("A message of 64") < places[1]


def test_what_scatters_has_its_interval_in_that_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data = read(MEASURED, monkeypatch, tmp_path, structs.replace(RUN, icount=False))
    number = r"(\S+) µs"
    known = r" \(95 % interval (\S+) µs … (\S+) µs\)"
    pattern = f"{number}{known}, of which {number}{known} are .* reader {number}{known}"
    found = re.search(pattern, claim(data))
    assert found, claim(data)
    ends = [float(one) for one in found.groups()]
    assert ends[0::3] == [125, 95, 21]
    assert all(low < middle < high for middle, low, high in zip(*[iter(ends)] * 3, strict=True))
    assert 100 <= ends[1] < ends[2] <= 150


@pytest.mark.parametrize("lacks", MEASURED)
def test_no_sentence_without_all_of_its_figures(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lacks: str
) -> None:
    found = {key: values for key, values in MEASURED.items() if key != lacks}
    data = read(found, monkeypatch, tmp_path)
    assert "message" not in {one.key for one in judge(Ground.of(data))}


APART: measure.Values = {
    "broker/message-8/tee/64": (500000,) * 7,
    "broker/publisher-8/tee/64": (40000,) * 7,
    "broker/subscribers-8/tee/64": (190000,) * 7,
    "broker/cpu-8/plain/64": (150000,) * 7,
    "broker/cpu-8/tee/64": (270000,) * 7,
}


def test_explain_takes_a_message_apart(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The TEE's part is what the broker takes more than without a plugin."""
    data = read(APART, monkeypatch, tmp_path)
    (one,) = subjects([data], [None])[0].breakdowns
    parts = {part.name: value.value for part, value in one.known_parts}
    expected = {"publisher": 40000, "broker": 150000, "sealing": 120000, "subscribers": 190000}
    assert parts == expected | {"unexplained": 0}
    assert cli.run(["explain", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "sealing anew: plugin, driver and TEE 24 %" in said.replace("\u202f", " ")


def test_without_the_plain_broker_its_part_is_not_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = {key: values for key, values in APART.items() if "plain" not in key}
    (one,) = subjects([read(found, monkeypatch, tmp_path)], [None])[0].breakdowns
    assert {part.name for part in one.parts if part.value is None} == {"broker", "sealing"}
    left = [value.value for part, value in one.known_parts if part.name == "unexplained"]
    assert left == [500000 - 40000 - 190000]


def test_the_plan_has_the_cases_that_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    values = dict.fromkeys(measure._MEASURES, (1000000,))
    monkeypatch.setattr(measure, "bench", lambda *_: values)
    monkeypatch.setattr(measure, "highest_rate", lambda *_: 1000)
    said: list[str] = []
    found = measure.measure(Mock(), said.append)
    asked = {case.key for case in load_plan("broker").cases}
    assert set(found) == asked
    more = set(measure.measure(Mock(), said.append, 1000)) - asked
    assert {key for key in more if "cpu" in key} == {f"broker/cpu-{n}/tee/64" for n in (100, 1000)}


def test_run_says_who_measures_the_brokers_plan(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["run", "--plan", "broker"]) == 2
    assert "teemark broker measure" in capsys.readouterr().err
