# SPDX-License-Identifier: BSD-2-Clause
"""Measures how long a broker takes to end that is killed in the middle of a call of the TEE, and
prints what one waits for in the kernel that takes longer than a second.

    .venv/bin/python lab/tests/tools/kills.py [KILLS] [READERS] [both]

With up to 64 readers the keys are in the TA's memory: a call asks nothing of the normal world. With
more of them each call reads keys from secure storage, by way of tee-supplicant. `both`: that is
killed, too, right before. Who isn't gone after 20 s gets a new tee-supplicant. A TA that panicked
(TEE_ReadObjectData(), whose request ended with the process) forgot what it had seen: then a message
from before is published again, and whether the TA opens it is printed.
"""

from __future__ import annotations

import random
import statistics
import sys

from conftest import SUPPLICANT, reboot, renew_supplicant
from teemark.base.errors import BoardError
from teemark.boards import VirtualBoard, config, ensure_installed
from teemark.broker import measure
from teemark.broker.mosquitto import PLACE, Mosquitto

KILLS, READERS = 50, 100

WAIT_S = 20

KILL = """\
from=$(cut -d' ' -f1 /proc/uptime) shown=
[ "$3" ] && kill -9 $(pidof tee-supplicant)
kill -9 "$1"
past() { now=$(cut -d' ' -f1 /proc/uptime)
  echo "$now $from" | awk '{ printf "%d", ($1 - $2) * 1000 }'; }
while kill -0 "$1" 2>/dev/null && [ $(past) -lt "$2" ]; do
  [ $(past) -lt 1000 ] || [ "$shown" ] && continue
  shown=1 && sed -n '/^State/p' /proc/"$1"/status >&2; cat /proc/"$1"/stack >&2
done
past
"""

SUBSCRIBED = """\
for try in $(seq 600); do [ $(grep -c ' as sub' "$1") -ge "$2" ] && break; sleep 0.1; done
sleep "$3"
"""

LIVES = "pidof tee-supplicant || echo none"


def main(kills: int, readers: int, both: bool) -> None:
    chance, took, lost, waited, hung = random.Random(), list[int](), 0, list[int](), 0
    panics, again = 0, 0
    with VirtualBoard(config.find("qemu-v8")) as board:
        ensure_installed(board)
        mosquitto = Mosquitto(board)
        mosquitto.install()
        measure.enrol(mosquitto, readers)
        mosquitto.enrol({"alice": ["w:tz/#"]})
        for number in range(kills):
            mosquitto.start(lines=["persistence false"])
            console = board.consoles()[1]
            said = len(console.read_bytes())
            old = mosquitto.seal("alice", "tz/old", b"old")
            mosquitto.publish("alice", "tz/old", old, "-q", "1")
            argv = mosquitto.argv(f"{PLACE}/tz_bench", mosquitto.pid)
            argv += [str(readers), "100000", "64", "0", "0", PLACE, "tz/bench"]
            clients = board.start(argv, marked=False)
            board.script(SUBSCRIBED, f"{PLACE}/log", str(readers), f"{chance.uniform(0.1, 2):.2f}")
            argv = [mosquitto.pid, str(WAIT_S * 1000), "both" if both else ""]
            done = board.script(KILL, *argv, timeout=120)
            took.append(int(done.text))
            clients.abandon()
            panicked = b"TA panicked" in console.read_bytes()[said:]
            panics += panicked
            lives = board.script(LIVES).text.strip() != "none"
            lost += not lives
            print(number, f"{took[-1]} ms; supplicant lives: {lives}; {panicked=}", done.complaint)
            try:
                if took[-1] >= WAIT_S * 1000:
                    new = board.capture(SUPPLICANT, check=False)
                    more = board.script(KILL, mosquitto.pid, str(WAIT_S * 1000), "", timeout=120)
                    waited.append(int(more.text))
                    hung += waited[-1] >= WAIT_S * 1000
                    print("  a new supplicant:", new, more, flush=True)
                renew_supplicant(board)
                mosquitto.start(lines=["persistence false"])
                mosquitto.publish("alice", "tz/old", old, "-q", "1")
                opened = mosquitto.teemq("statistics").text.split("\n")[0].endswith(" 1")
                print("  published again:", "opened" if opened else "refused", flush=True)
                again += opened
                mosquitto.stop()
            except (AssertionError, BoardError) as error:
                print("  power cut:", error, flush=True)
                reboot(board)
                ensure_installed(board)
    print(
        f"{kills} killed, {readers} readers: gone after {statistics.median(took):.0f} ms in the "
        f"median, {max(took)} at most; {lost} times tee-supplicant was gone, too; {len(waited)} "
        f"waited for a new one, after which they took {waited} ms; {hung} of these hung; {panics} "
        f"TAs panicked, and {again} took a message once more"
    )


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:] if word.isdigit()]
    kills, readers = *given, *(KILLS, READERS)[len(given) :]
    main(kills, readers, "both" in sys.argv)
