# SPDX-License-Identifier: BSD-2-Clause
"""Runs of teemark: the median of every case, with its interval."""

from __future__ import annotations

import re

from teemark.audit.figure import Figure, Reading
from teemark.base.work import CIPHER, FILE, ONESHOT, STREAM
from teemark.model.models import stats_of
from teemark.reference.span import Span
from teemark.run.reader import RunData

_PARTS = {
    "0xd03": "cortex-a53", "0xd07": "cortex-a57", "0xd08": "cortex-a72", "0xc08": "cortex-a8",
}  # fmt: skip


def read(run: RunData) -> Reading:
    machine = run.machine
    made = Reading(run.file, title=f"{run.plan or 'cases'} on {run.name}")
    made.emulated = run.emulated
    made.core = _core(machine.cpu.midr)
    made.clock_hz = _clock(machine.cpu.khz_max)
    made.said.append((machine.board.model or "", 1))
    for stats in stats_of(run):
        interval = stats.time.interval
        low, high = (interval.low, interval.high) if interval else (stats.time.min, stats.time.max)
        name = stats.key.replace("/", " ")
        time = Span(low * 1e-9, stats.time.median * 1e-9, high * 1e-9)
        figures = [("time", time, "s", f"{stats.time.median * 1e-3:.6g} µs")]
        if stats.bytes and stats.work.row in (ONESHOT, STREAM, CIPHER, FILE) and low > 0:
            rate = Span(stats.bytes / time.high, stats.bytes / time.mid, stats.bytes / time.low)
            figures.append(("rate", rate, "B/s", f"{rate.mid * 1e-6:.6g} MB/s"))
        made.figures += [
            Figure(text, span, unit, "cases", name, column, 1, size=stats.bytes)
            for column, span, unit, text in figures
        ]
    return made


def _core(midr: tuple[str, ...] | None) -> str:
    """By the part number of the main id register, if all CPUs have the same."""
    parts = {f"0x{(int(text, 16) >> 4) & 0xFFF:03x}" for text in midr or () if _HEX.fullmatch(text)}
    return _PARTS.get(parts.pop(), "") if len(parts) == 1 else ""


_HEX = re.compile(r"0x[0-9a-fA-F]+")


def _clock(khz: tuple[str, ...] | None) -> float:
    clocks = {text for text in khz or () if text.isdigit()}
    return float(clocks.pop()) * 1e3 if len(clocks) == 1 else 0.0
