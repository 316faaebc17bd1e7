# SPDX-License-Identifier: BSD-2-Clause
"""How many messages a second a broker takes, found by queues whose answer is known."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import Mock

import pytest

from teemark.broker import measure
from teemark.broker.desk import Desk
from teemark.broker.measure import IN_A_ROW, STEP
from teemark.cli import main as cli
from teemark.plan import plan
from teemark.report import run_page
from teemark.run import reader
from teemark.run.records import SCHEMA, Machine, Run

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

    def bench(desk: object, of: object, *numbers: int) -> dict[str, Sequence[int]]:
        rate = numbers[-1]
        asked.append(rate)
        assert len(asked) < 30
        free, found = 0.0, []
        for number in range(IN_A_ROW):
            due = number / rate
            free = max(free, due) + service
            found.append(round((free - due + way) * 1e9))
        return {"latency": found}

    monkeypatch.setattr(measure, "_bench", bench)
    found = measure.highest_rate(Desk(Mock()), measure.WAYS[0])
    assert (1 - 2 * STEP) / service - 1 <= found <= (1 + STEP) / service + 1


def test_what_was_measured_is_a_run_that_reports_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each value is a sample of its case."""
    started = datetime(2026, 11, 23, tzinfo=UTC)
    monkeypatch.setattr(measure, "machine", lambda _: Machine(schema=SCHEMA, teebench="0"))
    monkeypatch.setattr(measure, "header", lambda *_: RUN)
    found = {"broker/cpu-2-qos1/tee/64": (64, 6, 7), "broker/latency-2-qos1/tee/64": (1, 2, 3, 4)}
    measure.write(Mock(), found, started, tmp_path)
    data = reader.read(tmp_path)
    assert data.as_asked
    assert {key: tuple(s.ns for s in case.samples) for key, case in data.cases.items()} == found
    assert {case.case.bytes for case in data.cases.values()} == {64}
    assert "latency-2-qos1" in run_page.make([data], [None]).html


def test_the_plan_has_the_cases_that_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    values = dict.fromkeys(("first", "cpu", "latency"), (1000000,))
    monkeypatch.setattr(measure, "_bench", lambda *_: values)
    monkeypatch.setattr(measure, "highest_rate", lambda *_: 1000)
    said: list[str] = []
    found = measure.measure(Mock(), said.append)
    assert set(found) == {case.key for case in plan.load("broker").cases}


def test_run_says_who_measures_the_brokers_plan(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["run", "--plan", "broker"]) == 2
    assert "teemark broker measure" in capsys.readouterr().err
