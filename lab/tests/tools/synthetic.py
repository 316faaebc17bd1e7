# SPDX-License-Identifier: BSD-2-Clause
"""A run made up with known truth: what models must find again, and what reports are shown with."""

import itertools
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from statistics import NormalDist
from typing import Any

import msgspec

from teemark.model.breakdown import Breakdown
from teemark.model.stats import Estimate
from teemark.run import reader
from teemark.run.reader import RunData
from teemark.run.records import Algorithm

SIZES = (0, 64, 1024, 4096, 65536, 1048576)

# call in ns, ns per byte of whole blocks
Truth = dict[tuple[str, str], tuple[float, float]]
TRUTH: Truth = {
    ("sha1", "tee"): (402_000, 12.9),
    ("sha1", "ta-c"): (405_000, 9.8),
    ("sha1", "ta-ce"): (431_000, 7.9),
    ("sha1", "c"): (310, 9.1),
    ("sha1", "ce"): (250, 7.2),
    ("sha1", "openssl"): (1_450, 7.0),
    ("sha1", "afalg"): (61_000, 7.4),
    ("sha256", "tee"): (409_000, 20.6),
    ("sha256", "ta-c"): (407_000, 15.3),
    ("sha256", "ta-ce"): (433_000, 12.4),
    ("sha256", "c"): (420, 14.9),
    ("sha256", "ce"): (260, 11.8),
    ("sha256", "openssl"): (1_520, 16.3),
    ("sha256", "afalg"): (60_500, 9.4),
    ("sha512", "tee"): (411_000, 15.2),
    ("sha512", "ta-c"): (408_000, 11.0),
    ("sha512", "c"): (520, 10.6),
    ("sha512", "openssl"): (1_580, 11.9),
    ("sha512", "afalg"): (62_000, 10.2),
}
EMPTY_CALL = 387_000


def work(algorithm: str, backend: str, size: int, truth: Truth | None = None) -> float:
    """Returns what computing takes: padding fills blocks too."""
    block, padding = (128, 17) if algorithm == "sha512" else (64, 9)
    return (truth or TRUTH)[algorithm, backend][1] * block * -(-(size + padding) // block)


INSIDE = 250
"""Says what a TA does in a call besides its work, nanoseconds."""


@dataclass
class Synthetic:
    """Makes the lines of a run; every value comes from the seed."""

    seed: int = 1
    samples: int = 12
    noise: float = 0.02
    identical: bool = False  # as on a board that counts instructions
    truth: Truth = field(default_factory=lambda: dict(TRUTH))
    board: str = "synthetic"
    plan: str = "quick"
    emulated: bool = True
    repeat: tuple[int, ...] = (1, 2, 4, 8)
    harness: float = 1.9  # ns
    algorithms: tuple[str, ...] = ("sha1", "sha256", "sha512")
    page: float = 0.0  # of 4 KiB, on the way into a TA, ns
    counter: float | None = None  # the TA counts along, so many times as fast as it should
    counter_noise: float = 0.0  # of its own, besides that of the call
    starts: int = 1
    between: float = 0.0  # how far the starts lie apart, as a share: a standard deviation

    def inside(self, key: str, n: int) -> float | None:
        """Returns what a call to a TA takes inside, nanoseconds; None for the normal world."""
        _, algorithm, backend, size = key.split("/", 3)
        if not key.startswith("oneshot") or not backend.startswith("t"):
            return None
        return INSIDE + n * work(algorithm, backend, int(size), self.truth)

    def records(self) -> list[dict[str, object]]:
        """One start is written as schema 1 does, without a start record."""
        rng = random.Random(self.seed)
        head: dict[str, object] = {
            "type": "run",
            "schema": 1,
            "teemark": "0.1.0",
            "board": self.board,
            "board_summary": "made up, with known truth",
            "plan": self.plan,
            "plan_summary": "What one call costs, and digests in every backend.",
            "plan_title": "What a call into the TEE and a digest cost",
            "started": "2026-01-02T03:04:05Z",
            "emulated": self.emulated,
            "icount": self.identical,
            "cases": 2 + 7 * 3 * len(SIZES),
        }
        if self.starts == 1:
            return [head, deepcopy(MACHINE), *self.start(rng)]
        made = [head | {"schema": 2, "starts": self.starts}]
        for number in range(1, self.starts + 1):
            begin: dict[str, object] = {"type": "start", "number": number, "kind": "round"}
            made += [begin, deepcopy(MACHINE), *self.start(rng, rng.gauss(1.0, self.between))]
        return made

    def start(self, rng: random.Random, shift: float = 1.0) -> list[dict[str, object]]:
        """Returns what teebench says after its machine record; all samples take `shift` times as
        long."""
        cases: list[dict[str, object]] = []
        skips: list[dict[str, object]] = []
        first: list[dict[str, object]] = [
            {"type": "first", "case": None, "what": "context", "ns": 812_000},
            {"type": "first", "case": None, "what": "session", "ns": 115_300_000},
            {"type": "first", "case": None, "what": "invoke", "ns": 1_934_000},
        ]
        values: list[tuple[str, int, float]] = []

        def case(key: str, size: int | None, truth: float, repeats: tuple[int, ...] = (1,)) -> None:
            workload, algorithm, backend, parameters = key.split("/", 3)
            cases.append(
                {
                    "type": "case",
                    "case": key,
                    "workload": workload,
                    "algorithm": algorithm,
                    "backend": backend,
                    "parameters": parameters,
                    "bytes": size,
                    "verified": True,
                    "samples": self.samples,
                    "repeat": list(repeats),
                    "loops": [max(1, int(1e6 / truth / n)) for n in repeats],
                    "min_ns": 1_000_000,
                    "call_ns": int(truth),
                }
            )
            first.append({"type": "first", "case": key, "what": "call", "ns": int(truth * 1.7)})

        case("invoke/none/tee/none", None, EMPTY_CALL)
        values += [("invoke/none/tee/none", 1, EMPTY_CALL)] * self.samples
        case("invoke/none/empty/none", None, self.harness)
        values += [("invoke/none/empty/none", 1, self.harness)] * self.samples
        for algorithm in self.algorithms:
            for size in SIZES:
                for backend in ("tee", "ta-c", "ta-ce", "c", "ce", "openssl", "afalg"):
                    key = f"oneshot/{algorithm}/{backend}/{size}"
                    truth = self.truth.get((algorithm, backend))
                    if truth is None:
                        skips.append(
                            {
                                "type": "skip",
                                "case": key,
                                "code": "unsupported-algorithm",
                                "reason": f"{backend} has no {algorithm}: "
                                "the CPU has no instructions for it",
                            }
                        )
                        continue
                    call = truth[0]
                    if backend.startswith("t"):
                        call += self.page * -(-size // 4096)
                    by_size = work(algorithm, backend, size, self.truth)
                    repeats = self.repeat if backend.startswith("t") and size == 4096 else (1,)
                    case(key, size, call + by_size, repeats)
                    for n in repeats:
                        values += [(key, n, call + n * by_size)] * self.samples
        rng.shuffle(values)
        counting = random.Random(self.seed + 1)
        samples: list[dict[str, object]] = []
        for seq, (key, n, truth_ns) in enumerate(values):
            loops = max(1, int(1e6 / truth_ns))
            factor = 1.0 if self.identical else max(0.1, rng.gauss(1.0, self.noise))
            ns = int(truth_ns * loops * factor * shift)
            samples.append(
                {
                    "type": "sample",
                    "case": key,
                    "seq": seq,
                    "repeat": n,
                    "loops": loops,
                    "ns": ns,
                    "source": "client-clock",
                    "user_us": ns // 10_000,
                    "sys_us": ns // 1_200,
                    "nvcsw": 0,
                    "nivcsw": 0,
                    "runq_ns": 0,
                }
            )
            inside = self.inside(key, n) if self.counter is not None else None
            if inside is None or self.counter is None:
                continue
            factor *= self.counter * max(0.1, counting.gauss(1.0, self.counter_noise))
            samples.append(
                {
                    "type": "sample",
                    "case": key,
                    "seq": seq,
                    "repeat": n,
                    "loops": loops,
                    "ns": int(inside * loops * factor * shift),
                    "source": "ta-counter",
                }
            )
        end: dict[str, object] = {
            "type": "end",
            "complete": True,
            "reason": "done",
            "duration_ns": sum(int(str(s["ns"])) for s in samples if s["source"] == "client-clock"),
        }
        return [*skips, *cases, *first, *samples, end]

    def lines(self) -> list[bytes]:
        return lines_of(self.records())

    def run(self, file: str = "x") -> RunData:
        return run_from(self.records(), file)

    def write(self, folder: Path) -> Path:
        return write(self.records(), folder)


def lines_of(records: Iterable[Mapping[str, object]]) -> list[bytes]:
    """The records as they stand in a run's file."""
    return [json.dumps(record).encode() + b"\n" for record in records]


def write(records: Iterable[Mapping[str, object]], folder: Path) -> Path:
    """The run's file, in a folder that is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "run.ndjson"
    file.write_bytes(b"".join(lines_of(records)))
    return file


def run_from(records: Iterable[Mapping[str, object]], file: str = "x") -> RunData:
    return reader.parse(lines_of(records), file=file)


def run_of(
    cases: Mapping[str, Sequence[float]],
    *,
    loops: int = 1,
    icount: bool = False,
    plan: str = "quick",
    reports: Mapping[str, Sequence[Mapping[str, object]]] | None = None,
    **more: object,
) -> RunData:
    """A run with these cases and these times of a call, nanoseconds, in turns; "KEY x4" are those
    of calls with 4 operations. `reports` are those of teehash, by step; `more` goes into every case
    record."""
    head = Synthetic(identical=icount).records()[0] | {"plan": plan}
    records: list[dict[str, object]] = [head, deepcopy(MACHINE)]
    repeats: dict[str, list[int]] = {}
    for name in cases:
        key, _, repeat = name.partition(" x")
        repeats.setdefault(key, []).append(int(repeat or 1))
    for key, counts in repeats.items():
        times = cases.get(key) or cases[f"{key} x{counts[0]}"]
        workload, algorithm, backend, parameters = key.split("/", 3)
        size = next((word for word in parameters.split("/") if word.isdigit()), None)
        records.append(
            {
                "type": "case",
                "case": key,
                "workload": workload,
                "algorithm": algorithm,
                "backend": backend,
                "parameters": parameters,
                "bytes": int(size) if size else None,
                "verified": True,
                "samples": len(times),
                "repeat": counts,
                "loops": [loops] * len(counts),
            }
            | more
        )
    seq = itertools.count()
    for turn in itertools.zip_longest(*cases.values()):
        for name, ns in zip(cases, turn, strict=True):
            key, _, repeat = name.partition(" x")
            if ns is not None:
                records.append(
                    {"type": "sample", "case": key, "seq": next(seq), "repeat": int(repeat or 1)}
                    | {"loops": loops, "ns": round(ns * loops), "source": "client-clock"}
                )
    for step, told in (reports or {}).items():
        records += [
            {"type": "teehash", "case": step, "seq": number, "argv": ["teehash"], "report": report}
            for number, report in enumerate(told)
        ]
    records.append({"type": "end", "complete": True, "reason": "done"})
    return run_from(records)


def run_with(
    medians: Mapping[str, float], spread: float = 0.0, count: int = 20, **more: Any
) -> RunData:
    """A run with these medians of so many samples, which count instructions where nothing scatters;
    `more` is run_of()'s."""
    times = {
        key: scattered(ns, spread, count) if spread else [ns] * count for key, ns in medians.items()
    }
    return run_of(times, icount=not spread, **more)


def scattered(median: float, spread: float, count: int = 20, seed: int = 1) -> list[float]:
    """Values about a median, so many times which they scatter: evenly spread quantiles of a normal
    distribution, in random order."""
    quantile = NormalDist().inv_cdf
    values = [median * (1 + spread * quantile((i + 0.5) / count)) for i in range(count)]
    random.Random(f"{median} {seed}").shuffle(values)
    return values


_BLOCKS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("sha1", "sha224", "sha256", "sm3"), (64, 9)),
    **dict.fromkeys(("sha384", "sha512"), (128, 17)),
    **{f"sha3-{bits}": (200 - bits // 4, 1) for bits in (224, 256, 384, 512)},
}


def known_algorithm(name: str) -> Algorithm:
    """Returns what teebench says of an algorithm."""
    digest = name.removeprefix("hmac-")
    kind = "digest" if digest == name else "mac"
    known = _BLOCKS.get(digest)
    if name.startswith("aes-"):
        kind, known = "aead" if name.endswith("-gcm") else "cipher", (16, 0)
    if known is None:
        return Algorithm(name=name, title=name)
    block, pad = known
    return Algorithm(name=name, title=name, class_=kind, block_bytes=block, pad_bytes=pad)


_TITLES = {
    "sha1": "SHA-1",
    "sha256": "SHA-256",
    "sha512": "SHA-512",
    "aes-128-cbc": "AES-128-CBC",
}
_DIGESTS = tuple(name for name in _BLOCKS if name not in _TITLES)
_OTHERS = (*_DIGESTS, *(f"hmac-{name}" for name in _BLOCKS), "aes-256-gcm", "aes-256-cbc")
"""More that teebench has; they go by their names."""

MACHINE: dict[str, object] = {
    "type": "machine",
    "schema": 1,
    "teebench": "0.1.0",
    "pid": 412,
    "backends": [
        {"name": name, "title": title, "secure": place < 3, "local": name in ("c", "ce", "openssl")}
        for place, (name, title) in enumerate(
            {
                "tee": "TEE API",
                "ta-c": "C, in the TA",
                "ta-ce": "CE, in the TA",
                "c": "C, normal world",
                "ce": "CE, normal world",
                "openssl": "OpenSSL",
                "afalg": "kernel (AF_ALG)",
            }.items()
        )
    ],
    "algorithms": [
        msgspec.to_builtins(known_algorithm(name)) | {"title": _TITLES.get(name, name)}
        for name in (*_TITLES, *_OTHERS)
    ],
}


def unexplained(one: Breakdown) -> Estimate:
    """Returns what is left of a call without its parts."""
    left = one.parts[-1]
    assert left.name == "unexplained"
    assert left.value is not None
    return left.value
