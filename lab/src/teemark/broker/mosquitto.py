# SPDX-License-Identifier: BSD-2-Clause
"""mosquitto 2.1 with MQTT-TZ on a board, and clients there that publish and subscribe.

All of it lives in one folder of the board; the packages come from Debian by vboard/scripts/broker.
"""

import shutil
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from teemark.base import paths
from teemark.base.errors import BoardError, MissingOutput
from teemark.boards import Board
from teemark.boards.build import step
from teemark.boards.command_lines import script as script_argv
from teemark.boards.shell import Process, Result

PLACE = "/data/mqtt-tz"
"""The board's folder for all files of the broker; it survives a reboot."""

HOME = f"{PLACE}/mosquitto"
"""The board's folder for mosquitto's programs and libraries."""

PORT = 1883

_START = """\
cd "$1" && : >log && ulimit -n 8192 || exit 1
shift
setsid "$@" -c conf >>log 2>&1 </dev/null &
echo $! >pid
for try in $(seq 120); do
  kill -0 "$(cat pid)" 2>/dev/null || break
  grep -q ' running$' log && exit 0
  sleep 0.5
done
cat log >&2
exit 1
"""

_ENROL = """\
cd "$1" && set -f && while read -r name rules; do
  [ -e "$name" ] || ./teemq key "$name" "$name" </dev/null || exit
  ./teemq enrol admin "$name" $rules </dev/null || exit
done
"""

_STOP = """\
kill -"$2" "$(cat "$1/pid")" 2>/dev/null
for try in $(seq 200); do kill -0 "$(cat "$1/pid")" 2>/dev/null || exit 0; sleep 0.3; done
exit 1
"""

# Ends each process that runs a program beside the folder $1, and waits for it. A broker ends by
# TERM, so that the TA stores what it saw; what doesn't within a minute is killed.
_CLEAR = """\
running() { # the word behind --library-path LIBRARIES is the program
  for at in $(grep -ls "$1/" /proc/[0-9]*/cmdline); do
    tr '\\0' '\\n' <"$at" 2>/dev/null | sed -n 4p | grep -q "^$1/" && echo "$at"
  done | cut -d/ -f3
}
for try in $(seq 600); do
  found=$(running "${1%/*}")
  [ "$found" ] || exit 0
  [ $((try % 100)) -ne 1 ] || kill $found 2>/dev/null
  [ $try -lt 300 ] || kill -9 $found 2>/dev/null
  sleep 0.2
done
exit 1
"""

# Searches the writable memory of process $1: prints how often it holds $2, and its bytes.
_SEARCH = """\
while read -r range rights rest; do
  case $rights in rw*) ;; *) continue ;; esac
  case $rest in *'[v'*) continue ;; esac
  from=$((0x${range%-*} / 4096)) to=$((0x${range#*-} / 4096))
  dd if="/proc/$1/mem" bs=4096 skip=$from count=$((to - from)) 2>/dev/null
done <"/proc/$1/maps" >"$3"
tr -c ' -~' '\\n' <"$3" | grep -c -F "$2"
wc -c <"$3"
rm -f "$3"
"""


def build() -> Path:
    """Returns the folder of mosquitto's packages, fetched if necessary; builds the plugin."""
    folder = paths.vboard() / "broker" / "mosquitto"
    script = paths.root() / "vboard" / "scripts" / "broker"
    if not folder.is_dir():
        step([str(script)], "mosquitto's packages couldn't be fetched", ("apt-get", "dpkg-deb"))
    if not folder.is_dir():
        raise MissingOutput("there is no mosquitto 2.1 where this machine gets its packages")
    step(
        ["make", "-s", "-C", str(paths.root() / "broker"), "ARCH=aarch64"],
        "the broker's plugin couldn't be built",
    )
    return folder


def _stage(folder: Path, target: Path) -> None:
    (target / "bin").mkdir()
    (target / "lib").mkdir()
    for program in (*folder.glob("usr/sbin/mosquitto"), *folder.glob("usr/bin/mosquitto_*")):
        shutil.copy2(program, target / "bin")
    for library in folder.glob("usr/lib/aarch64-linux-gnu/*.so.*"):
        name, _, number = library.name.partition(".so.")
        # A library gets the name that programs ask for; ldconfig makes such names, but not here.
        shutil.copy2(library, target / "lib" / f"{name}.so.{number.split('.')[0]}")


@contextmanager
def installed(board: Board) -> Iterator["Mosquitto"]:
    """Yields mosquitto on the board. What was started there ends with the context, in every
    outcome; what another command left there ends first."""
    mosquitto = Mosquitto(board)
    mosquitto.install()
    try:
        yield mosquitto
    finally:
        mosquitto.clear()


class Mosquitto:
    """One mosquitto on a board, and the keys of its clients there."""

    def __init__(self, board: Board, port: int = PORT, place: str = PLACE) -> None:
        self.board, self.port, self.place = board, port, place

    def install(self) -> None:
        """Puts mosquitto, the plugin and teemq on the board; builds them first if need be. Ends
        what an earlier command left there."""
        folder = build()
        self.clear()
        with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryFile() as packed:
            _stage(folder, Path(scratch))
            with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=6) as archive:
                archive.add(scratch, ".")
            packed.seek(0)
            unpack = 'mkdir -p "$1" && tar -xzC "$1"'
            self.board.script(unpack, HOME, stdin=packed, timeout=None)
        for name in ("teemq", "tz_bench", "mqtt_tz.so"):
            self.board.push(paths.root() / "build/broker/aarch64" / name, f"{self.place}/{name}")

    def clear(self) -> None:
        """Ends every broker and client in this folder of the board, also those of a command that
        was ended before it could end them."""
        self.board.script(_CLEAR, HOME, timeout=180)

    def argv(self, program: str, *argv: str) -> list[str]:
        """Returns the command line of a program on the board that uses mosquitto's libraries: they
        want the C library that came with them."""
        loader = (f"{HOME}/lib/ld-linux-aarch64.so.1", "--library-path")
        return [*loader, f"{HOME}/lib:/usr/lib/aarch64-linux-gnu", program, *argv]

    def teemq(self, *argv: str, stdin: bytes = b"", check: bool = True) -> Result:
        """Runs teemq on the board, in the folder of the keys."""
        script = 'cd "$1" && shift && exec ./teemq "$@"'
        return self.board.script(script, self.place, *argv, stdin=stdin, check=check)

    def claim(self) -> None:
        """Makes the key `admin` the TA's administrator; BoardError if the TA has another one."""
        self.teemq("key", "admin", "admin", check=False)
        done = self.teemq("claim", "admin", check=False)
        listed = any(line.startswith("admin ") for line in self.teemq("list").text.splitlines())
        if done.status and not listed:
            raise BoardError(done.complaint.removeprefix("teemq: "))

    def enrol(self, clients: Mapping[str, Sequence[str]]) -> None:
        """Makes a key for each client, and registers the key with the client's rules in the TA."""
        lines = "".join(f"{' '.join((name, *rules))}\n" for name, rules in clients.items())
        self.board.script(_ENROL, self.place, stdin=lines.encode(), timeout=None)

    # -- the broker -----------------------------------------------------------------------------

    def start(
        self,
        options: Mapping[str, str] | None = None,
        lines: Sequence[str] = (),
        *,
        tz: bool = True,
    ) -> None:
        """Starts mosquitto with the plugin and its options, or without it (`tz` False). `lines` are
        added to its configuration."""
        config = [
            f"listener {self.port} 127.0.0.1",
            "allow_anonymous true",
            "user root",
            f"persistence_location {self.place}/",
            *map("log_type {}".format, ("error", "warning", "notice", "information", "subscribe")),
            *lines,
        ]
        if tz:
            config += [f"plugin {self.place}/mqtt_tz.so"]
            config += [f"plugin_opt_{name} {value}" for name, value in (options or {}).items()]
        text = "\n".join(config) + "\n"
        self.board.script('cat >"$1"', f"{self.place}/conf", stdin=text.encode())
        self.board.script(_START, self.place, *self.argv(f"{HOME}/bin/mosquitto"))

    def stop(self, signal: str = "TERM") -> None:
        """Ends the broker, and waits until it is gone."""
        self.board.script(_STOP, self.place, signal)

    @property
    def pid(self) -> str:
        """Returns the broker's process ID."""
        return self.board.capture(["cat", f"{self.place}/pid"]).text.strip()

    def log(self) -> str:
        return self.board.capture(["cat", f"{self.place}/log"]).text

    def search(self, needle: str) -> tuple[int, int]:
        """Returns how often the broker's writable memory has `needle`, and that memory's bytes."""
        counts = self.board.script(_SEARCH, self.pid, needle, f"{self.place}/memory").text.split()
        return int(counts[0]), int(counts[1])

    # -- clients --------------------------------------------------------------------------------

    def client(self, program: Literal["pub", "sub"], *argv: str) -> list[str]:
        """Returns the command line of mosquitto_pub or _sub on the board."""
        at = ("-h", "127.0.0.1", "-p", str(self.port))
        return self.argv(f"{HOME}/bin/mosquitto_{program}", *at, *argv)

    def subscribe(
        self, name: str, topic: str, *argv: str, count: int = 0, seconds: int = 600
    ) -> Process:
        """Starts a subscriber that prints a line `QOS RETAIN HEX` for each message, and returns it
        once it listens. It ends after `count` messages (0: by `end`) or after `seconds`."""
        script = 'out=$1; shift; exec "$@" >"$out" 2>/dev/null'
        many = ["-C", str(count)] if count else []
        line = ["-i", name, "-t", topic, "-W", str(seconds), "-F", "%q %r %x", *many, *argv]
        before = self.log().count(f": {name} ")
        target = f"{self.place}/{name}.got"
        words = self.client("sub", *line)
        process = self.board.start(script_argv(script, target, *words), marked=False)
        for _ in range(480):
            if self.log().count(f": {name} ") > before:
                return process
            time.sleep(0.25)
        process.abandon()
        raise BoardError(f"{name} didn't subscribe to {topic} within two minutes")

    def end(self, subscriber: Process) -> None:
        """Ends a subscriber that has received its messages."""
        subscriber.signal("TERM")
        subscriber.wait(30)

    def received(self, name: str) -> list[tuple[int, bool, bytes]]:
        """Returns QoS, retain flag and payload of each message that the subscriber has received."""
        text = self.board.capture(["cat", f"{self.place}/{name}.got"]).text
        rows = [line.split(" ") for line in text.splitlines()]
        return [(int(row[0]), row[1] == "1", bytes.fromhex(row[2])) for row in rows]

    def publish(self, name: str, topic: str, payload: bytes, *argv: str) -> Result:
        """Publishes bytes unchanged. An empty payload clears the retained message (`-r`)."""
        line = self.client("pub", "-i", name, "-t", topic, "-s" if payload else "-n", *argv)
        return self.board.capture(line, stdin=payload, check=False)

    def seal(self, name: str, topic: str, plain: bytes) -> bytes:
        return self.teemq("seal", name, topic, stdin=plain).stdout

    def opened(self, name: str, topic: str, payload: bytes) -> bytes | None:
        """Returns the plaintext of a payload that the client can open; None if it can't."""
        done = self.teemq("open", name, topic, stdin=payload, check=False)
        return done.stdout if done.status == 0 else None
