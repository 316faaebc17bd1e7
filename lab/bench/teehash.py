# SPDX-License-Identifier: BSD-2-Clause
"""How fast teehash is, beside what it could be at best and beside the simple way.

    python lab/bench/teehash.py [--part icount|wall|all] [--json FILE]

On the deterministic board (one core, a nanosecond an instruction), 100 MiB in the page cache:

* the rate from the first byte read to the digest, beside the TA's own rate at the same algorithm,
  which teebench measures as the slope of calls that repeat the digest inside;
* the simple way as a baseline (`--mode=tmpref`): ordinary memory as a temporary reference, one
  buffer, read, hash, read, hash, a MiB at a time;
* chunk sizes;
* resident memory for 1 MiB and for 4 GiB.

On the board with two cores and a wall clock: a cold file, and several files with -j 1 and -j 2.

Exit status 1: a target was missed. What a target is for stands in the table.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from teemark.boards import Board, ensure_installed, open_board
from teemark.model.stats import call_times
from teemark.run.reader import parse

MIB = 1 << 20
SIZE = 100 * MIB
ROUNDS = 5
FOLDER = "/data/bench"
BACKENDS = ("tee", "ta-ce")
CHUNKS = ("64K", "256K", "1M", "2M", "4M")

say = Console(stderr=True).print


@dataclass(frozen=True, slots=True)
class Row:
    """One figure, and what it has to be."""

    what: str
    value: float
    unit: str
    least: float | None = None
    most: float | None = None

    @property
    def good(self) -> bool:
        return (self.least is None or self.value >= self.least) and (
            self.most is None or self.value <= self.most
        )

    @property
    def target(self) -> str:
        if self.least is not None:
            return f"≥ {self.least:g}"
        return f"≤ {self.most:g}" if self.most is not None else ""


class Bench:
    def __init__(self, board: Board) -> None:
        self.board = board
        self.rows: list[Row] = []

    def add(self, what: str, value: float, unit: str, **target: float) -> None:
        row = Row(what, value, unit, **target)
        self.rows.append(row)
        say(f"  {what}: {value:.6g} {unit} {row.target}{'' if row.good else '  MISSED'}")

    def teehash(self, *arguments: str) -> dict[str, Any]:
        done = self.board.script(f'cd {FOLDER} && teehash --report=json "$@"', *arguments)
        report: dict[str, Any] = json.loads(done.stdout)
        return report

    def files(self, script: str) -> None:
        self.board.script(f"mkdir -p {FOLDER} && cd {FOLDER} && {script}")


def inside(board: Board, backend: str) -> float:
    """Nanoseconds a byte inside the TA: the slope of calls that repeat a digest of 1 MiB."""
    case = f"oneshot/sha256/{backend}/{MIB}"
    done = board.capture(["teebench", "--samples", "9"], stdin=f"{case} repeat=1,3\n".encode())
    samples = parse(done.stdout.splitlines(keepends=True), file="teebench").cases[case].samples
    one, three = (median(call_times(samples, repeat)) for repeat in (1, 3))
    return (three - one) / 2 / MIB


def hash_ns(report: dict[str, Any]) -> float:
    """First byte read to digest."""
    return float(report["files"][0]["hash_ns"])


def deterministic(bench: Bench) -> None:
    bench.files(f"head -c {SIZE} /dev/urandom >warm && cat warm >/dev/null; truncate -s 1M small")
    bench.teehash("small")  # the TA's own file comes from the disk this once
    simple: dict[str, float] = {}
    ours: dict[str, float] = {}
    for backend, least in zip(BACKENDS, (0.99, 0.90), strict=True):
        own = inside(bench.board, backend)
        most = {"most": 4.5} if backend == "ta-ce" else {}
        bench.add(f"{backend}: inside the TA", own, "instructions/byte", **most)
        for name, options in (
            ("teehash", []),
            ("with a reader thread", ["--reader=thread"]),
            ("the simple way (tmpref)", ["--mode=tmpref"]),
            *((f"chunks of {chunk}", [f"--chunk={chunk}"]) for chunk in CHUNKS),
        ):
            report = bench.teehash(f"--backend={backend}", *options, "warm")
            total = hash_ns(report)
            bench.add(f"{backend}, {name}: all of it", total / SIZE, "instructions/byte")
            if not options:
                ours[backend] = total
                parts = report["files"][0]
                bench.add(
                    f"{backend}, {name}: reading", parts["read_ns"] / SIZE, "instructions/byte"
                )
                bench.add(
                    f"{backend}, {name}: crossing and mapping",
                    parts["call_ns"] / SIZE - own,
                    "instructions/byte",
                )
                bench.add(
                    f"{backend}, {name}: unaccounted",
                    (total - parts["read_ns"] - parts["call_ns"]) / total * 100,
                    "%",
                    most=1,
                )
                rate = own * SIZE / total
                bench.add(f"{backend}: of the TA's own rate", rate, "", least=least)
            elif name.startswith("the simple"):
                simple[backend] = total
        bench.add(
            f"{backend}: faster than the simple way",
            simple[backend] / ours[backend],
            "times",
            least=1,
        )
    bench.add("ta-ce: faster than tee", ours["tee"] / ours["ta-ce"], "times", least=1)
    memory(bench)


def memory(bench: Bench) -> None:
    bench.files("truncate -s 4G large")
    empty = float(bench.board.script("grep VmHWM /proc/self/status | tr -dc 0-9").text) * 1024
    peaks = [
        bench.teehash("--backend=ta-ce", name)["host"]["peak_memory"]["value"]
        for name in ("small", "large")
    ]
    bench.add("memory above an empty program, 4 GiB", (peaks[1] - empty) / MIB, "MiB", most=4)
    bench.add("difference of 1 MiB and 4 GiB", abs(peaks[1] - peaks[0]) / MIB, "MiB", most=0.25)


def wall_clock(bench: Bench) -> None:
    bench.files(
        f"head -c {2 * SIZE} /dev/urandom >cold && sync; "
        "for i in 1 2 3 4 5 6 7 8; do head -c 33554432 /dev/urandom >j$i; done; cat j? >/dev/null"
    )
    for backend in BACKENDS:
        file = bench.teehash(f"--backend={backend}", "--cold", "cold")["files"][0]
        bench.add(
            f"{backend}, cold: total by the longer of reading and hashing",
            file["total_ns"] / max(file["read_ns"], file["call_ns"]),
            "times",
            most=1.05,
        )
    parallel(bench)


def parallel(bench: Bench) -> None:
    """What a second session gains shows only where the machine has a second processor to give: the
    plain C of the normal world says whether it has, in the same minutes. The best of the rounds
    counts, since neighbours only ever take time away. Reading is inline, so that `-j 1` keeps one
    processor busy and not, by its reader thread, part of the second one."""
    names = [f"j{i}" for i in range(1, 9)]
    best: dict[tuple[str, int], float] = {}
    for _ in range(ROUNDS):
        for backend in ("c", *BACKENDS):
            for jobs in (1, 2):
                report = bench.teehash(
                    f"--backend={backend}", "--reader=inline", f"-j{jobs}", *names
                )
                took = report["host"]["total_time"]["value"]
                best[backend, jobs] = min(took, best.get((backend, jobs), took))
    gain = {backend: best[backend, 1] / best[backend, 2] for backend in ("c", *BACKENDS)}
    bench.add("c: 8 files, -j 2 by -j 1 (what this machine gives)", gain["c"], "times")
    for backend in BACKENDS:
        if gain["c"] < 1.85:
            bench.add(f"{backend}: the same (not judged: busy machine)", gain[backend], "times")
        else:
            bench.add(f"{backend}: the same", gain[backend], "times", least=1.8)


PARTS: dict[str, tuple[str, Callable[[Bench], None]]] = {
    "icount": ("qemu-v8-icount", deterministic),
    "wall": ("qemu-v8", wall_clock),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--part", choices=[*PARTS, "all"], default="all")
    parser.add_argument("--board", help="instead of the part's own")
    parser.add_argument("--json", type=Path, help="write the figures there, too")
    options = parser.parse_args()
    rows: list[tuple[str, Row]] = []
    for part, (name, measure) in PARTS.items():
        if options.part not in (part, "all"):
            continue
        name = options.board or name  # noqa: PLW2901
        say(f"[bold]{name}[/bold]: booting …")
        with open_board(name) as board:
            ensure_installed(board)
            bench = Bench(board)
            measure(bench)
            rows += [(name, row) for row in bench.rows]
    table = Table("board", "figure", "value", "unit", "target", "")
    for name, row in rows:
        verdict = "" if not row.target else "ok" if row.good else "[red]missed[/red]"
        table.add_row(name, row.what, f"{row.value:.5g}", row.unit, row.target, verdict)
    Console(width=130).print(table)
    if options.json:
        found = [asdict(row) | {"board": name, "good": row.good} for name, row in rows]
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0 if all(row.good for _, row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
