# SPDX-License-Identifier: BSD-2-Clause
"""`make soak`: MQTT-TZ for SOAK messages, while clients come and go, the broker is killed and the
power is cut, mostly while messages are under way. broker/tests/tz_soak.c has the clients, and ends
with an error when a message is opened by the wrong one, comes twice beyond its QoS, or is lost
although no connection broke. Here no key may be lost, and neither the broker's memory nor the TA's
keys may grow. Without SOAK in the environment it is skipped."""

import os
import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from conftest import reboot, renew_supplicant
from teemark.base import paths
from teemark.base.errors import BoardError
from teemark.boards import VirtualBoard, ensure_installed
from teemark.broker.mosquitto import PLACE, Mosquitto

pytestmark = [pytest.mark.board, pytest.mark.timeout(0)]

MESSAGES = int(os.environ.get("SOAK", "0"))
READERS = 50
TOPICS = 18
KILLS = 20
POWER_CUTS = 10
ROUNDS = 100
"""A round is a process of clients on the board that sends such a part of the messages; while
nothing is killed it sends five times as much."""
QUIET = 0.6
"""The share of the messages that one broker and one TA pass on, after the last kill."""
WARM = 3
"""Rounds of that broker after which its memory has to stay as it is."""
GROWS_KIB = 512
"""More than this is a leak: it is 9 bytes of each message of the quiet rounds, or 2 of each copy.
mosquitto's own memory varies by less, as its clients come and go."""


@dataclass(slots=True)
class Tally:
    """What the clients counted, in all rounds. `mid` are the events while messages were sent."""

    kills: int = 0
    cuts: int = 0
    mid: int = 0
    hangs: int = 0
    """Kills after which the TEE didn't answer: they ended with a power cut."""
    rounds: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    resident: list[int] = field(default_factory=list)
    """KiB of the last broker's process after each of its rounds."""


def _resident(mosquitto: Mosquitto) -> int:
    text = mosquitto.board.capture(["cat", f"/proc/{mosquitto.pid}/status"]).text
    return int(next(line.split()[1] for line in text.splitlines() if line.startswith("VmRSS")))


def _start(mosquitto: Mosquitto, persistent: bool) -> None:
    """`persistent`: it writes its sessions to a file, and has them again after it was killed."""
    if not persistent:
        mosquitto.board.script('rm -f "$1"', f"{PLACE}/mosquitto.db")
    mosquitto.start(lines=["persistence true", "autosave_interval 2"] if persistent else [])


def _kill(mosquitto: Mosquitto) -> bool:
    """Kills the broker, and finds a tee-supplicant anew: one whose client was killed may end with
    any later request (docs/upstream-bugs.md). Returns false where the TEE hangs, and prints what
    the broker waits for in the kernel."""
    try:
        mosquitto.stop("KILL")
        renew_supplicant(mosquitto.board)
    except (AssertionError, BoardError) as error:
        where = 'cd "/proc/$1" && cat status stack; ps; dmesg | tail -n 30'
        print(error, mosquitto.board.script(where, mosquitto.pid, check=False).text)
        return False
    return True


def _round(
    board: VirtualBoard, tally: Tally, number: int, persistent: bool, at: tuple[str, int]
) -> str:
    """Sends a round's messages; at a tenth of them (11 is the round's end) the broker is killed or
    the power is cut. Returns which of them happened: a cut where the TEE hung after a kill."""
    event, tenth = at
    mosquitto = Mosquitto(board)
    argv = mosquitto.argv(f"{PLACE}/tz_soak", PLACE, str(number))
    clients = board.start([*argv, str(tally.rounds), str(READERS), str(int(persistent))])
    tally.rounds += 1
    tally.mid += bool(event) and tenth <= 10
    lines, counts = 0, dict[str, int]()
    for line in clients.lines(timeout=3600):
        if not line.startswith(b"sent"):
            continue
        words, lines = line.decode().split(), lines + 1
        counts = dict(zip(words[::2], map(int, words[1::2]), strict=True))
        if lines != tenth or not event:
            continue
        tally.kills += event == "kill"
        if event == "kill" and _kill(mosquitto):
            _start(mosquitto, persistent)
        else:
            tally.hangs += event == "kill"
            tally.cuts += 1
            event = "cut"
            reboot(board)
            ensure_installed(board)  # only /data outlives a boot
            break
    tally.counts.update(counts)
    assert event == "kill" or not counts.get("again0"), "a message was accepted twice"
    if event == "cut":
        clients.abandon()
    else:
        status = clients.wait(60)
        assert status == 0, f"round {tally.rounds}: {clients.complaint}; {counts}"
    return event


def _known(mosquitto: Mosquitto) -> list[str]:
    return sorted(mosquitto.teemq("list").text.splitlines())


def _report(tally: Tally, statistics: str, began: datetime) -> str:
    n, kib = tally.counts, tally.resident
    text = f"begun {began:%Y-%m-%d %H:%M} UTC, on qemu-v8; {tally.rounds} rounds\n"
    text += (
        f"{n['sent']} messages sent, {n['opened']} copies opened, {n['left']} times a client left\n"
    )
    text += f"{tally.kills} brokers killed and {tally.cuts} power cuts, {tally.mid} of both while "
    text += f"messages were under way; {n['broken']} connections broke; {tally.hangs} of the cuts, "
    text += "as the TEE hung after a kill\n"
    text += f"for another client 0; not as sent 0; with another's key {n['tried']} copies tried, 0 "
    text += f"opened; payloads published again {n['replayed']}; twice, and said to be so: QoS 0 "
    text += f"{n['again0']}, QoS 1 {n['again1']}, QoS 2 {n['again2']}; so late after a kill that "
    text += f"they were taken for repeated {n['late']}; of a round before {n['old']}; "
    text += f"lost when a broker died {n['lost']}, otherwise 0\n"
    text += f"the last broker's KiB after each of its rounds: {kib}\n"
    return text + f"the last TA's statistics:\n{statistics}"


@pytest.mark.skipif(not MESSAGES, reason="make soak asks for it")
def test_soak(qemu_v8: VirtualBoard) -> None:
    mosquitto, tally, chance, began = (
        Mosquitto(qemu_v8),
        Tally(),
        random.Random(1),
        datetime.now(UTC),
    )
    mosquitto.install()
    qemu_v8.push(paths.root() / "build" / "broker" / "aarch64" / "tz_soak", f"{PLACE}/tz_soak")
    mosquitto.claim()
    publishers = {f"pub{n}": [f"w:tz/soak/{t}" for t in range(n, TOPICS, 3)] for n in range(3)}
    readers = {f"sub{n + 1}": [f"r:tz/soak/{n % TOPICS}"] for n in range(READERS)}
    mosquitto.enrol(publishers | readers)
    known, persistent = _known(mosquitto), False
    assert len(known) == 1 + len(publishers | readers)
    _start(mosquitto, persistent)
    number = max(10, MESSAGES // ROUNDS // 10 * 10)
    loud = round((1 - QUIET) * MESSAGES / number)
    due = ["kill"] * KILLS + ["cut"] * POWER_CUTS
    due += [""] * (loud - len(due))
    chance.shuffle(due)
    while tally.counts["sent"] < MESSAGES or due:
        quiet = not due
        event = "" if quiet else due.pop()
        at = (event, chance.randint(1, 11))
        event = _round(qemu_v8, tally, number * 5 if quiet else number, persistent, at)
        if event == "cut" or (not due and not quiet):
            persistent = bool(due) and chance.random() < 0.5
            if event != "cut":
                mosquitto.stop()
            _start(mosquitto, persistent)
        assert _known(mosquitto) == known, "a client's key or its rules are lost"
        if quiet:
            tally.resident.append(_resident(mosquitto))
            assert tally.resident[-1] <= max(tally.resident[:WARM]) + GROWS_KIB, "memory grows"
        print(f"{datetime.now(UTC):%H:%M:%S} {event} {tally}", flush=True)
    statistics = mosquitto.teemq("statistics").text
    mosquitto.stop()
    text = _report(tally, statistics, began)
    (paths.root() / "build" / "soak.txt").write_text(text, encoding="utf-8")
    print(text)
