# SPDX-License-Identifier: BSD-2-Clause
"""A run of very many samples is read and judged in little time and memory."""

import random
import time
import tracemalloc
from pathlib import Path

import known_breakdown
from teemark.findings.ground import Ground
from teemark.findings.rules import judge
from teemark.run import reader

FEW, SAMPLES = 1_000, 30_000
CPU_A_SAMPLE = 30e-6
"""Seconds; 7 µs on a quiet machine. A million in 10 s leave 10 µs, but this one may be busy."""
BYTES_A_SAMPLE = 250

SIZES = (0, 55, 56, 64, 1024, 4096, 8192, 16384, 262144, 1048576)
BACKENDS = {"tee": (84_000, 59.0), "ta-c": (77_000, 28.8), "c": (250, 28.7), "openssl": (700, 1.8)}
CALLS = {
    (f"oneshot/{algorithm}/{backend}/{size}", 1): call + byte * size
    for algorithm in ("sha1", "sha256")
    for backend, (call, byte) in BACKENDS.items()
    for size in SIZES
}


def test_a_run_of_very_many_samples(tmp_path: Path) -> None:
    lines = known_breakdown.lines
    file = tmp_path / "run.ndjson"

    def took(samples: int) -> float:
        """Seconds of CPU that reading and judging so many samples of 80 cases take."""
        rng = random.Random(1)
        order = rng.choices(list(CALLS), k=samples)
        with file.open("w") as out:
            out.writelines(lines(CALLS, order, lambda: rng.lognormvariate(0, 0.02)))
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
