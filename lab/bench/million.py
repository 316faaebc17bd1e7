# SPDX-License-Identifier: BSD-2-Clause
"""What does the report of a run of a million samples take?

    python lab/bench/million.py [--samples 1000000]

Makes such a run up, has `teemark report` read it, and says what that took of the CPU and of memory.
Exit status 1: more than 10 s or 400 MB.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from click import echo as say
from simulated import lines

SIZES = (0, 55, 56, 64, 1024, 4096, 8192, 16384, 262144, 1048576)
BACKENDS = {"tee": (84_000, 59.0), "ta-c": (77_000, 28.8), "c": (250, 28.7), "openssl": (700, 1.8)}
ALGORITHMS = ("sha1", "sha256")
CPU_S, MEMORY_MB = 10, 400


def write(file: Path, samples: int) -> None:
    rng = random.Random(1)
    calls = {
        (f"oneshot/{algorithm}/{backend}/{size}", 1): call + byte * size
        for algorithm in ALGORITHMS
        for backend, (call, byte) in BACKENDS.items()
        for size in SIZES
    }
    order = rng.choices(list(calls), k=samples)
    with file.open("w") as out:
        out.writelines(lines(calls, order, lambda: rng.lognormvariate(0, 0.02)))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--samples", type=int, default=1_000_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="teemark-") as folder:
        write(Path(folder) / "run.ndjson", asked.samples)
        subprocess.run([sys.executable, "-m", "teemark", "report", folder], check=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu, memory = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    say(f"{asked.samples} samples: {cpu:.1f} s of CPU, {memory:.0f} MB")
    return 0 if cpu <= CPU_S and memory <= MEMORY_MB else 1


if __name__ == "__main__":
    sys.exit(main())
