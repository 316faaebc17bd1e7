# SPDX-License-Identifier: BSD-2-Clause
"""A run of very many samples is read and judged in little time and memory: lab/bench/million.py,
with fewer samples."""

from __future__ import annotations

import importlib.util
import time
import tracemalloc
from pathlib import Path

from teemark.model import models
from teemark.model.verdicts import judge
from teemark.run import reader

SAMPLES = 30_000
CPU_A_SAMPLE = 30e-6
"""Seconds; 7 µs on a quiet machine. A million in 10 s leave 10 µs, but this one may be busy."""
BYTES_A_SAMPLE = 250


def test_a_run_of_very_many_samples(tmp_path: Path) -> None:
    bench = Path(__file__).parents[1] / "bench" / "million.py"
    spec = importlib.util.spec_from_file_location("bench_million", bench)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    file = tmp_path / "run.ndjson"
    module.write(file, 1000)
    judge(few := reader.read(file), models.build(few))  # what is imported and drawn once
    module.write(file, SAMPLES)
    began = time.process_time()
    run = reader.read(file)
    verdicts = judge(run, models.build(run))
    took = time.process_time() - began
    assert verdicts
    assert took < CPU_A_SAMPLE * SAMPLES
    tracemalloc.start()
    run = reader.read(file)
    kept, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(len(case.samples) for case in run.sound) == SAMPLES
    assert kept < BYTES_A_SAMPLE * SAMPLES
    assert most < 1.5 * BYTES_A_SAMPLE * SAMPLES
