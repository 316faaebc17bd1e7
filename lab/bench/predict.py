# SPDX-License-Identifier: BSD-2-Clause
"""How often does a prediction hold? What RUN predicts for the sizes that only OTHER measured.

    teemark run --plan quick -o RUN
    teemark run --plan lab/bench/other-sizes.toml -o OTHER
    python lab/bench/predict.py RUN OTHER

A prediction holds where its interval meets that of the measured median. Exit status 1 if fewer than
90 % hold.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from click import echo as say

from teemark.model.models import build
from teemark.model.predict import Unpredictable, predict
from teemark.run import reader

ENOUGH = 0.9


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("run", metavar="RUN", type=Path)
    parser.add_argument("other", metavar="OTHER", type=Path)
    asked = parser.parse_args()
    models, others = build(reader.read(asked.run)), build(reader.read(asked.other))
    held, off = [], []
    for stats in others.stats:
        if models.case(stats.key) is not None or stats.bytes is None:
            continue
        try:
            found = predict(models, stats.work)
        except (Unpredictable, ValueError) as why:
            say(f"?   {stats.key:40} {why}")
            continue
        mine, its = found.interval, stats.estimate.interval
        held.append(mine is not None and its is not None and mine.overlaps(its))
        off.append(found.figure.value / stats.time.median - 1)
        say(
            f"{'    ' if held[-1] else 'OUT '}{stats.key:40} {found.figure.value:14.0f} "
            f"{stats.time.median:14.0f} {off[-1]:+8.2%} (±{found.off:.2%})"
        )
    share = sum(held) / max(len(held), 1)
    worst = max(map(abs, off), default=0.0)
    say(f"{share:.0%} of {len(held)} predictions hold; the worst is {worst:.2%} off")
    return 0 if share >= ENOUGH else 1


if __name__ == "__main__":
    sys.exit(main())
