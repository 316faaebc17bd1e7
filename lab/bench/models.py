# SPDX-License-Identifier: BSD-2-Clause
"""Which model is a hash? Fits several to each line of a run, and compares how far they are off.

    python lab/bench/models.py RUN [--sizes 0,64,1024,16384,262144,1048576]

RUN is one of the exact board, where nothing scatters. For each model: the largest misfit, how many
lines it misses by more than 10 %, and the largest error of predicting a size that was left out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from click import echo as say

from teemark.model.fit import Columns, Fit, fit
from teemark.model.forms import PAGE, blocks_of
from teemark.model.models import Cost, Models, build
from teemark.model.stats import Estimate
from teemark.run import reader

PAGED = ("tee", "ta-c", "ta-ce", "afalg")


def columns(algorithm: str, sizes: list[int]) -> Mapping[str, list[float]]:
    """All terms that are tried."""
    blocks = blocks_of(algorithm)
    assert blocks is not None
    return {
        "call": [1.0] * len(sizes),
        "bytes": [float(n) for n in sizes],
        "blocks": [float(blocks.of(n)) for n in sizes],
        "feed": [float(n > 0) for n in sizes],
        "page": [float(-(-n // PAGE)) for n in sizes],
    }


MODELS = {
    "call + bytes · rate": ("call", "bytes"),
    "call + blocks · b": ("call", "blocks"),
    "call + [n>0] · feed + blocks · b": ("call", "blocks", "feed"),
    "the same + pages · page (TEE, AF_ALG)": ("call", "blocks", "feed", "page"),
}


def fitted(models: Models, cost: Cost, names: Iterable[str], only: list[int] | None) -> Fit | None:
    known: dict[int, Estimate] = {
        stats.bytes: stats.estimate
        for stats in models.stats
        if (stats.workload, stats.algorithm, stats.backend)
        == ("oneshot", cost.algorithm, cost.backend)
        and stats.bytes is not None
        and (only is None or stats.bytes in only)
    }
    sizes = sorted(known)
    every = columns(cost.algorithm, sizes)
    chosen: Columns = {
        name: every[name] for name in names if name != "page" or cost.backend in PAGED
    }
    return fit(sizes, [known[size] for size in sizes], chosen, robust=False)


def line(name: str, fits: Iterable[Fit | None]) -> None:
    found = [one for one in fits if one is not None]
    off = [max(abs(point.residual) for point in one.points) for one in found]
    missed = [one.prediction_error for one in found if one.prediction_error is not None]
    say(
        f"{name:40} {len(found):5} {max(off):9.2%} {sum(o > 0.1 for o in off):7} "
        f"{max(missed):11.2%}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("run", metavar="RUN", type=Path)
    parser.add_argument("--sizes", help="only these, in bytes")
    asked = parser.parse_args()
    models = build(reader.read(asked.run))
    only = [int(size) for size in asked.sizes.split(",")] if asked.sizes else None
    costs = [cost for cost in models.costs if cost.workload == "oneshot"]
    say(f"{'':40} {'lines':>5} {'worst':>9} {'> 10 %':>7} {'left out':>11}")
    for name, terms in MODELS.items():
        line(name, (fitted(models, cost, terms, only) for cost in costs))
    if only is None:
        line("what teemark fits (by its own choice)", (cost.fit for cost in costs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
