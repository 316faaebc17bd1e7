# SPDX-License-Identifier: BSD-2-Clause
"""A run of very many samples is read and judged in little time and memory: lab/bench/million.py,
with fewer samples."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import benches
from teemark.findings.ground import Ground
from teemark.findings.rules import judge
from teemark.run import reader

FEW, SAMPLES = 1_000, 30_000
CPU_A_SAMPLE = 30e-6
"""Seconds; 7 µs on a quiet machine. A million in 10 s leave 10 µs, but this one may be busy."""
BYTES_A_SAMPLE = 250


def test_a_run_of_very_many_samples(tmp_path: Path) -> None:
    module = benches.load("million")
    file = tmp_path / "run.ndjson"

    def took(samples: int) -> float:
        """Seconds of CPU that reading and judging so many samples of 80 cases take."""
        module.write(file, samples)
        began = time.process_time()
        assert judge(Ground.of(reader.read(file)))
        return time.process_time() - began

    took(FEW)  # what is imported and drawn once
    by_cases = took(FEW)
    assert took(SAMPLES) - by_cases < CPU_A_SAMPLE * (SAMPLES - FEW)
    tracemalloc.start()
    run = reader.read(file)
    kept, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(len(case.samples) for case in run.sound) == SAMPLES
    assert kept < BYTES_A_SAMPLE * SAMPLES
    assert most < 1.5 * BYTES_A_SAMPLE * SAMPLES
