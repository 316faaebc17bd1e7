# SPDX-License-Identifier: BSD-2-Clause
"""Late wake-ups on the board that counts instructions, beside real calls into OP-TEE."""

import pytest

from teemark.boards import VirtualBoard
from teemark.exact import record
from teemark.measure import latency
from teemark.measure.latency import Options

pytestmark = [pytest.mark.board, pytest.mark.timeout(1800)]

STRETCH = 5218
"""The longest stretch of an empty call that a trace of OP-TEE 4.10 shows, instructions; that of
Debian's 4.5 isn't known from inside, and is taken to be no more than half as long again."""


def test_empty_calls_delay_wake_ups_by_no_more_than_their_longest_stretch_but_for_few(
    qemu_v8_icount: VirtualBoard,
) -> None:
    options = Options(samples=200, period_us=500, settle_ms=100)
    base = latency.measure(qemu_v8_icount, options, "an empty loop", ())
    (case,) = record.plan_of(["invoke/none/tee/none"], 1).cases[1:]
    calls = latency.measure(qemu_v8_icount, options, case.key, latency.calls(case))
    assert (len(base.late), len(calls.late)) == (200, 200)
    assert base.quantile(0.9) < 15_000
    assert calls.quantile(0.5) > base.quantile(0.5)
    assert calls.quantile(0.9) < base.quantile(0.9) + 1.5 * STRETCH
