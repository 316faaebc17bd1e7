# SPDX-License-Identifier: BSD-2-Clause
"""Measures what a pool of sessions would bring the broker's plugin: messages a second through one
and through two sessions of the broker TA in threads, on a board of two cores; and the same without
a TEE, which shows what two threads bring on this machine at all (broker/tests/tz_pool.c).

    .venv/bin/python lab/tests/tools/session_pool.py [ROUNDS]
"""

from __future__ import annotations

import statistics
import sys

from teemark.base import paths
from teemark.boards import VirtualBoard, config, ensure_installed
from teemark.broker.mosquitto import PLACE, Mosquitto

ROUNDS = 7
MESSAGES = 500


def main(rounds: int) -> None:
    found: dict[tuple[str, int], list[int]] = {}
    with VirtualBoard(config.find("qemu-v8")) as board:
        ensure_installed(board)
        mosquitto = Mosquitto(board)
        mosquitto.install()
        board.push(paths.build() / "broker" / "aarch64" / "tz_pool", f"{PLACE}/tz_pool")
        mosquitto.claim()
        mosquitto.enrol({f"{who}{n}": [f"{rule}:tz/#"] for n in (0, 1) for who, rule in WHO})
        for number in range(rounds + 1):  # the first warms up
            for world in ("tee", "normal"):
                for sessions in (1, 2):
                    line = [f"{PLACE}/tz_pool", PLACE, str(sessions), str(MESSAGES), world]
                    rate = int(board.capture(line).text)
                    if number:
                        found.setdefault((world, sessions), []).append(rate)
    for (world, sessions), rates in found.items():
        low, middle, high = min(rates), statistics.median(rates), max(rates)
        print(f"{world}, {sessions} sessions: {middle:.0f} messages a second ({low} … {high})")


WHO = (("pub", "w"), ("sub", "r"))

if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
