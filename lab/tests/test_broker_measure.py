# SPDX-License-Identifier: BSD-2-Clause
"""How many messages a second a broker takes, found by queues whose answer is known."""

from __future__ import annotations

from collections.abc import Sequence
from unittest.mock import Mock

import pytest

from teemark.broker import measure
from teemark.broker.desk import Desk
from teemark.broker.measure import IN_A_ROW, STEP


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
