# SPDX-License-Identifier: BSD-2-Clause
"""Made-up outputs and tables with nothing wrong in them: noise, rounding, and true arithmetic."""

import math
import statistics
from collections.abc import Callable
from random import Random

SIZES = (16, 64, 256, 1024, 8192, 16384)


def _noisy(rng: Random, value: float, share: float = 0.05) -> float:
    return value * rng.uniform(1 - share, 1 + share)


def openssl(rng: Random) -> str:
    """For people or for machines; time to 10 ms, rates from the time as it was."""
    machine = rng.random() < 0.3
    asked = rng.choice((1, 3))
    lines, results = [], []
    for name in rng.sample(["sha1", "sha256", "aes-128-cbc", "sha512"], 2):
        call, byte = rng.uniform(1e-7, 5e-6), rng.uniform(5e-10, 1e-7)
        rates = []
        for size in SIZES:
            seconds = asked * rng.uniform(0.93, 1.01)
            count = int(seconds / _noisy(rng, call + byte * size))
            rates.append(count * size / seconds)
            lines += (
                [f"+DT:{name}:{asked}:{size}", f"+R:{count}:{name}:{seconds:f}"]
                if machine
                else [f"Doing {name} ops for {asked}s on {size} size blocks: "
                      f"{count} {name} ops in {seconds:.2f}s"]
            )  # fmt: skip
        results.append((name, rates))
    if machine:
        lines.append("+H:" + ":".join(str(size) for size in SIZES))
        lines += [f"+F:6:{name}:" + ":".join(f"{r:.2f}" for r in rates) for name, rates in results]
    else:
        lines.append("version: 3.0.19")
        lines.append("type  " + "".join(f"{size:>10} bytes" for size in SIZES))
        lines += [f"{name:<14}" + "".join(f"{r / 1e3:>12.2f}k" for r in rs) for name, rs in results]
    return "\n".join(lines)


def xtest(rng: Random) -> str:
    size, loops = rng.choice((1024, 65536)), rng.choice((20, 200))
    floor = rng.uniform(50, 5000)
    times = [floor + rng.expovariate(1 / (0.1 * floor)) for _ in range(loops)]
    mean, sd = statistics.mean(times), statistics.stdev(times)
    return (
        f"Starting test: SHA256, size={size} bytes, random=no, unaligned=no, inner loops=1, "
        f"loops={loops}, warm-up=2 s\n"
        f"min={min(times):g}us max={max(times):g}us mean={mean:g}us stddev={sd:g}us "
        f"(cv {100 * sd / mean:g}%) ({size / mean * 1e6 / 2**20:g}MiB/s)"
    )


def tcrypt(rng: Random) -> str:
    lines = ["[   61.2] tcrypt: testing speed of async sha256 (sha256-ce)"]
    for number, size in enumerate(SIZES):
        seconds = rng.randint(1, 3)
        count = int(seconds / _noisy(rng, 1e-6 + size * 5e-9))
        lines.append(
            f"[   62.{number}] tcrypt: test {number:2} ({size:5} byte blocks,{size:5} bytes per "
            f"update,   1 updates): {count // seconds:6} opers/sec, "
            f"{count * size // seconds:9} bytes/sec"
        )
    return "\n".join(lines)


def kcapi(rng: Random) -> str:
    size, ops = rng.choice(SIZES), rng.uniform(1000, 90000)
    rate = int(ops * size)
    unit, shift, step = ("MB", 20, 10_000) if rate >> 20 else ("kB", 10, 10)
    shown = f"{rate >> shift}.{(rate - (rate >> shift << shift)) // step} {unit}"
    return f"{'SHA-256(G)':<37}|d|{size:8} bytes|{shown:>10}/s|{int(ops)} ops/s"


def cryptsetup(rng: Random) -> str:
    lines = ["#     Algorithm |       Key |      Encryption |      Decryption"]
    for cipher, bits in (("aes-cbc", 128), ("aes-cbc", 256), ("aes-xts", 256)):
        rates = [f"{rng.uniform(20, 3000):.1f} MiB/s" for _ in range(2)]
        lines.append(f"        {cipher}        {bits}b      {rates[0]:>15} {rates[1]:>17}")
    return "\n".join(lines)


def report(rng: Random) -> str:
    """A console's report: a program that measures itself."""
    size, chunk = rng.randint(1, 100) * 1_000_003, 1048576
    chunks = math.ceil(size / chunk)
    calls = chunks + 2
    hashing, reading = size // 40, rng.randint(10_000, 200_000)
    overhead = rng.randint(300, 900) * calls
    total = hashing + reading + overhead
    cpu, inside = int(total * rng.uniform(0.7, 0.999)), hashing + overhead // 2
    one, two = rng.randint(0, 9), rng.randint(1, 300)
    return f"""File size: {size} bytes, will process in chunks of {chunk} bytes
D/TA:  hash_update:166 updated
=== PERFORMANCE ANALYSIS REPORT (Chunked) ===
--- Host Application Stats ---
File Read I/O Time: {reading} us
Context Switches: {one + two}
Voluntary Context Switches: {one}
Involuntary Context Switches: {two}
Total Time: {total} us
CPU Time: {cpu} us ({100 * cpu / total:.2f}%)
--- Trusted Application Stats ---
IPC Calls: {calls}
RPC Count: {rng.randint(2, 9)}
Hash Operations: 1
Hash Compute Time: {hashing} us
TEE Time Delta: {inside} us
REE Time Delta: {inside} us
--- Performance Metrics ---
Average time per hash operation: {total:.2f} us
CPU Utilization: {100 * cpu / total:.2f}%
I/O vs Compute Time Ratio: {reading / hashing:.2f}:1
=== END REPORT ==="""


def scaling(rng: Random) -> str:
    """Two files side by side, the factor between them, and shares of the time."""
    sizes = sorted(rng.sample(range(5, 200), 2))
    calls = [size + 2 for size in sizes]
    hashing = [int(_noisy(rng, size * 26_000)) for size in sizes]
    reading = [int(_noisy(rng, size * 2_500)) for size in sizes]
    overhead = [int(_noisy(rng, 700 * call)) for call in calls]
    total = [sum(one) for one in zip(hashing, reading, overhead, strict=True)]
    names = [f"{size}MB File" for size in sizes]

    def row(name: str, values: list[int], unit: str = " µs") -> str:
        one, other = values
        return f"| {name} | {one:,}{unit} | {other:,}{unit} | {other / one:.2f}x |"

    lines = [
        "# A report of 30 runs",
        "## Scaling",
        f"| Metric | {names[0]} | {names[1]} | Scaling Factor |",
        "|---|---|---|---|",
        row("Total Time", total),
        row("Hash Compute Time", hashing),
        row("File Read I/O Time", reading),
        row("IPC Calls", calls, ""),
        "",
        "## Shares",
        "| File | Total Overhead | Average per Call | Hashing | Overhead | I/O |",
        "|---|---|---|---|---|---|",
    ]
    for index, name in enumerate(names):
        shares = [100 * one[index] / total[index] for one in (hashing, overhead, reading)]
        cells = [f"{overhead[index]:,} µs", f"~{overhead[index] / calls[index]:,.0f} µs"]
        lines.append(f"| {' | '.join([name, *cells, *(f'~{s:.1f}%' for s in shares)])} |")
    return "\n".join(lines)


def steps(rng: Random) -> str:
    """Means and deviations of 100 runs, of a call and of what it is part of."""
    lines = [
        "**Operation (100 Runs)** | `aes128 avg(ms)` | `aes128 stdev(ms)`",
        "----- | :-----: | :-----:",
        "**ENCRYPT** | |",
    ]
    for step in ("prepare", "set_key", "set_iv"):
        mean = rng.uniform(1, 3)
        sd = mean * rng.uniform(0.05, 0.4)
        for part, share in (("All", 1.0), ("Inv", rng.uniform(0.98, 1.0))):
            shown = rng.gauss(mean * share, sd / 10)
            lines.append(f"**`{step} ({part})`** | {shown:.6f} | {_noisy(rng, sd, 0.2):.6f}")
    return "\n".join(lines)


def throughput(rng: Random) -> str:
    """On a core that is known, between its software and its instructions; in two units."""
    clock = rng.choice((0.8, 1.2, 1.5))
    lines = [
        f"Measured on a Cortex-A53 at {clock} GHz, median of 20 runs.",
        "",
        "Algorithm\tThroughput (KB/s)\tThroughput (MB/s)",
    ]
    for name, slow, fast in (("SHA-256", 33.3, 2.38), ("AES-128-CBC", 21.5, 1.32)):
        rate = clock * 1e6 / rng.uniform(fast, slow)
        lines.append(f"{name}\t{rate:,.0f}\t{rate / 1e3:.1f}")
    return "\n".join(lines)


def comparison(rng: Random) -> str:
    """An accelerator that is one, and files of it below its peak."""
    lines = ["# Hardware crypto on a Cortex-A8 at 1 GHz", "", "## Comparison",
             "| Algorithm | Hardware | Software | Improvement |", "|---|---|---|---|"]  # fmt: skip
    files = ["", "## Files", "| Operation | Size | Time | Throughput |", "|---|---|---|---|"]
    for name, software in (("SHA-256", 71.9), ("SHA-1", 140.0)):
        slow = _noisy(rng, software)
        fast = slow * rng.uniform(1.3, 1.8)
        lines.append(f"| {name} | {fast:.1f} MB/s | {slow:.1f} MB/s | {fast / slow:.2f}x |")
        seconds = 50 / (fast * rng.uniform(0.5, 0.9))
        files.append(f"| {name} file | 50 MB | {seconds:.3f} s | {50 / seconds:.1f} MB/s |")
    return "\n".join(lines + files)


MAKERS: tuple[Callable[[Random], str], ...] = (
    openssl, xtest, tcrypt, kcapi, cryptsetup, report, scaling, steps, throughput, comparison,
)  # fmt: skip
