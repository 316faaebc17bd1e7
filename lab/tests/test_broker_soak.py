# SPDX-License-Identifier: BSD-2-Clause
"""`make soak`: MQTT-TZ for SOAK messages, while clients come and go, the broker is killed and the
power is cut. No message is opened by who may not, none comes twice, no key is lost, and neither
the broker's memory nor the TA's keys grow. Without SOAK in the environment it is skipped."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field

import pytest

from conftest import reboot
from teemark.base import paths
from teemark.boards import VirtualBoard, ensure_installed
from teemark.broker.desk import PLACE, Desk

pytestmark = [pytest.mark.board, pytest.mark.timeout(0)]

MESSAGES = int(os.environ.get("SOAK", "0"))
READERS = 50
KILLS = 20
POWER_CUTS = 10
RESTARTS = KILLS + POWER_CUTS
TOPIC = "tz/soak"
AT_ONCE = 5  # Readers of a message, at most
RATE = 1000  # Messages a second that are asked for: more than a board takes, so they queue up
BATCH = 900
"""Messages of one publisher in one go, to readers who stay for it: fewer than mosquitto queues."""


QUEUED_KIB = BATCH * 5000 * (1 + AT_ONCE) // 1024
"""A broker needs this where a whole batch waits in it, in KiB; it may keep that. Were 300 bytes of
each message lost, it would be reached after 90,000."""


@dataclass(slots=True)
class Tally:
    sent: int = 0
    kills: int = 0
    cuts: int = 0
    got: int = 0
    resident: list[int] = field(default_factory=list)
    """KiB of the broker's process after each batch of one boot; a new boot begins anew."""


def _resident(desk: Desk) -> int:
    text = desk.board.capture(["cat", f"/proc/{desk.pid}/status"]).text
    return int(next(line.split()[1] for line in text.splitlines() if line.startswith("VmRSS")))


def _batch(desk: Desk, tally: Tally, chance: random.Random) -> None:
    """Some readers come, any of them, and a stranger. tz_bench ends with an error if a reader
    misses a message, can't open it, or gets it twice."""
    readers = chance.randint(1, AT_ONCE)
    first = chance.randint(1, READERS - readers + 1)
    stranger = desk.subscribe("stranger", TOPIC, seconds=1800)
    argv = ["env", f"LD_LIBRARY_PATH={PLACE}/2.0/lib", f"{PLACE}/tz_bench", desk.pid]
    argv += [
        f"{readers}:{first}",
        str(BATCH),
        str(chance.choice((0, 64, 5000))),
        str(chance.randrange(3)),
    ]
    desk.board.capture([*argv, str(RATE), PLACE, TOPIC], timeout=1800)
    tally.sent += BATCH
    tally.got += BATCH * readers
    tally.resident.append(_resident(desk))
    desk.end(stranger)
    assert desk.received("stranger") == []


def _restart(desk: Desk, tally: Tally, board: VirtualBoard, chance: random.Random) -> None:
    """Kills the broker or cuts the power; then every client is known still."""
    done = tally.kills + tally.cuts
    if chance.random() < (POWER_CUTS - tally.cuts) / (RESTARTS - done):
        reboot(board)
        ensure_installed(board)  # only /data outlives a boot
        tally.cuts += 1
    else:
        desk.stop("KILL")
        tally.kills += 1
    tally.resident = []
    desk.start()
    known = {line.split()[0] for line in desk.teemq("list").text.splitlines()}
    assert known == {"admin", "pub", *(f"sub{number + 1}" for number in range(READERS))}


@pytest.mark.skipif(not MESSAGES, reason="make soak asks for it")
def test_soak(qemu_v8: VirtualBoard) -> None:
    desk, tally, chance = Desk(qemu_v8), Tally(), random.Random(1)
    desk.install()
    desk.claim()
    readers = {f"sub{number + 1}": ["r:tz/soak"] for number in range(READERS)}
    desk.enrol({"pub": ["w:tz/soak"]} | readers)
    desk.start()
    longest: list[int] = []
    batches = max(1, MESSAGES // BATCH)
    for number in range(batches):
        _batch(desk, tally, chance)
        assert tally.resident[-1] <= tally.resident[0] + QUEUED_KIB, "the broker's memory grows"
        done = tally.kills + tally.cuts
        # The first two thirds are one broker's and one TA's, whose memory stays as it is.
        left = batches - number
        if done < RESTARTS and left <= max(batches // 3, RESTARTS):
            _restart(desk, tally, qemu_v8, chance)
        longest = max(longest, tally.resident, key=len)
        print(f"{tally}", flush=True)
    desk.stop()
    text = f"{tally.sent} messages sent, {tally.got} opened, {tally.kills} brokers killed, "
    text += f"{tally.cuts} power cuts: none lost, none twice, none for the stranger; "
    text += f"the first broker's KiB after each {BATCH}: {longest}\n"
    (paths.root() / "build" / "soak.txt").write_text(text, encoding="utf-8")
    print(text)
