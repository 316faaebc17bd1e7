# SPDX-License-Identifier: BSD-2-Clause
"""How many messages a second a broker takes, found by queues whose answer is known."""

from __future__ import annotations

from collections.abc import Sequence
from unittest.mock import Mock

import pytest

from teemark.broker import measure
from teemark.broker.desk import Desk
from teemark.broker.measure import IN_A_ROW, STEP, Row


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
        free, found = 0.0, []
        for number in range(IN_A_ROW):
            due = number / rate
            free = max(free, due) + service
            found.append(round((free - due + way) * 1e9))
        return {"latency": found}

    monkeypatch.setattr(measure, "_bench", bench)
    found = measure.highest_rate(Desk(Mock()), measure.WAYS[0])
    assert (1 - 2 * STEP) / service - 1 <= found <= (1 + STEP) / service + 1
    assert len(asked) < 30


def test_a_byte_of_the_broker_is_the_slope_between_two_lengths() -> None:
    """A message costs 5,000 and 7.00 a byte; more readers cost as much each."""
    rows = [
        Row(
            way.name,
            readers,
            size,
            0,
            {"cpu": (readers * (5000 + 7 * size),), "first": (1_000_000,)},
        )
        for way in measure.WAYS
        for readers, size in ((1, 64), (8, 64), (1, 1024), (1, 65536))
    ]
    said: list[str] = []
    measure.report(rows, "instructions", said.append)
    lines = [line.split() for line in said if line.startswith("  ") and "first" not in line]
    assert {tuple(line[:3]) for line in lines} == {("5,448", "43,584", "7.00")}
