# SPDX-License-Identifier: BSD-2-Clause
"""What does the report of a run of a million samples take?

    python lab/bench/million.py [--samples 1000000]

Makes such a run up, has `teemark report` read it, and says what that took of the CPU and of memory.
Exit status 1: more than 10 s or 400 MB.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from click import echo as say

SIZES = (0, 55, 56, 64, 1024, 4096, 8192, 16384, 262144, 1048576)
BACKENDS = {"tee": (84_000, 59.0), "ta-c": (77_000, 28.8), "c": (250, 28.7), "openssl": (700, 1.8)}
ALGORITHMS = ("sha1", "sha256")
CPU_S, MEMORY_MB = 10, 400


def write(file: Path, samples: int) -> None:
    rng = random.Random(1)
    times = {
        f"oneshot/{algorithm}/{backend}/{size}": call + byte * size
        for algorithm in ALGORITHMS
        for backend, (call, byte) in BACKENDS.items()
        for size in SIZES
    }
    keys = list(times)
    with file.open("w") as out:

        def line(record: dict[str, object]) -> None:
            out.write(json.dumps(record) + "\n")

        line({"type": "machine", "schema": 1, "teebench": "0.1.0"})
        for key in keys:
            workload, algorithm, backend, size = key.split("/")
            line(
                {"type": "case", "case": key, "workload": workload, "algorithm": algorithm}
                | {"backend": backend, "parameters": size, "bytes": int(size), "verified": True}
                | {"samples": samples // len(keys), "repeat": [1], "loops": [1]}
            )
        for seq in range(samples):
            key = keys[rng.randrange(len(keys))]
            ns = int(times[key] * rng.lognormvariate(0, 0.02))
            line(
                {"type": "sample", "case": key, "seq": seq, "repeat": 1, "loops": 1, "ns": ns}
                | {"source": "client-clock", "user_us": ns // 2000, "sys_us": ns // 2000}
                | {"nvcsw": 0, "nivcsw": 0, "runq_ns": 0}
            )
        line({"type": "end", "complete": True, "reason": "done"})


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
