# SPDX-License-Identifier: BSD-2-Clause
"""A board that can be used: run commands there, copy files there and back.

with open_board("qemu-v8") as board:
    text = board.capture(["teehash", "--version"]).text
    board.push(Path("data.bin"), "/data/data.bin")
"""

import platform
import re
import time
from functools import cached_property
from pathlib import Path

from teemark.base.errors import BoardHangs, ConfigError, ConnectError, ConnectionLost, TeeHangs
from teemark.boards.config import BoardFile, SshConfig
from teemark.boards.endpoint import Endpoint
from teemark.boards.ta_kit import Kit, default_kit
from teemark.boards.transfer import Carrier
from teemark.run.records import Firmware

# Prints the first of tee-supplicant's TA folders that exists. If no supplicant runs, or its options
# name no folder, that is /lib/optee_armtz.
_TA_FOLDER = """\
f=/lib/optee_armtz
for p in /proc/[0-9]*; do
  read -r n 2>/dev/null <"$p/comm" && [ "$n" = tee-supplicant ] || continue
  o=
  for w in $(tr '\\0' ' ' <"$p/cmdline"); do
    case $o in --ta-path | -l) f=$w ;; --ta-dir | -t) f=/lib/$w ;; esac
    case $w in
    --ta-path=*) f=${w#*=} ;;
    --ta-dir=*) f=/lib/${w#*=} ;;
    -l?*) f=${w#-l} ;;
    -t?*) f=/lib/${w#-t} ;;
    esac
    o=$w
  done
done
IFS=:
for d in $f; do [ -d "$d" ] && break; d=${f%%:*}; done
echo "folder $d"
"""


class Board(Carrier):
    """A board over ssh. A virtual board (teemark.boards.virtual) can also be booted and ended."""

    emulated = False
    """True if QEMU plays the board: its timings are not those of silicon."""
    deterministic = False
    """True if the board's clock counts instructions."""

    def __init__(self, file: BoardFile, endpoint: Endpoint) -> None:
        super().__init__(file.name, file.config, endpoint)
        self.file = file
        self.guests: list[Path] = []
        """The user's own Trusted Applications that are on the board for now."""

    def cpu_seconds(self) -> tuple[float, float]:
        """Returns two sums of seconds: how long the board ran on CPUs of this machine, and how long
        it waited for them. A board that is no process of this machine never waits."""
        return time.monotonic(), 0.0

    def tee_hangs(self, why: str) -> TeeHangs:
        """Returns the error that the TEE doesn't answer, with OP-TEE's waiting threads, by the
        secure world's log."""
        log = self.secure_log(0)[1]
        states = {thread: how for how, thread in re.findall(rb"(sleep|wake) +thread (\d+)", log)}
        asleep = sorted(thread.decode() for thread, how in states.items() if how == b"sleep")
        threads = f"; OP-TEE's thread {' and '.join(asleep)} sleeps, by its log" if asleep else ""
        return TeeHangs(
            f"{self.name}: the TEE doesn't answer: {why}{threads}",
            hint="only a reboot ends calls that hang; the secure world's console may say why "
            "(docs/upstream-bugs.md has what is known)",
        )

    def consoles_last(self) -> str:
        """Returns the last lines of the board's consoles; "" if they aren't read."""
        return ""

    def secure_log(self, _after: int) -> tuple[int, bytes]:
        """Returns how many bytes the secure world's console has said, and the last ones of those
        that came after the first `_after`; none if it isn't read."""
        return 0, b""

    def explain(self, error: BaseException | None) -> None:
        """Adds the consoles' last lines to the hint of an error that says that the board hangs."""
        if isinstance(error, BoardHangs | ConnectError | ConnectionLost):
            lines = self.consoles_last()
            if lines and "\n-- " not in (error.hint or ""):
                error.hint = f"{error.hint or 'see its console'}\n{lines}"

    @cached_property
    def ta_directory(self) -> str:
        """Returns the board's folder for TAs, by the board file or its tee-supplicant's options."""
        if self.config.ta_directory is not None:
            return self.config.ta_directory
        return self.ask("where TAs are", {"folder": r"/[\w.+/-]*"}, _TA_FOLDER).one("folder")

    @property
    def firmware(self) -> tuple[Firmware, ...]:
        """Returns the facts of the firmware that the board booted; empty if they aren't known."""
        return ()

    @property
    def kit(self) -> Kit:
        """Returns the development kit that builds TAs for this board's OP-TEE."""
        config = self.config
        if not isinstance(config, SshConfig) or config.ta_kit is None:
            return default_kit()
        key = Path(config.ta_key).expanduser() if config.ta_key else None
        return Kit(Path(config.ta_kit).expanduser(), key)

    @cached_property
    def tas(self) -> Path:
        """Returns the folder of our Trusted Applications for this board, after building them if
        necessary.

        Raises ConfigError if the folder that the board file names has no TA.
        """
        if not isinstance(self.config, SshConfig) or self.config.tas is None:
            return self.kit.ours()
        folder = Path(self.config.tas).expanduser()
        if not any(folder.glob("*.ta")):
            hint = "it is to have the files UUID.ta that the vendor signed"
            raise ConfigError(f"{self.file.path}: tas: {folder} has no TA", hint=hint)
        return folder

    def architecture(self) -> str:
        """Returns aarch64, armhf, or native if the board has this machine's architecture."""
        answer = self.ask("its machine", {"machine": r"[\w.-]+"}, 'echo "machine $(uname -m)"')
        return architecture(answer.one("machine"))


def architecture(machine: str) -> str:
    """Returns the folder's name in build/host for a machine that `uname -m` calls `machine`."""
    if machine.startswith(("armv7", "armv8")):
        return "armhf"
    same = machine == platform.machine() and machine != "aarch64"
    return "native" if same else machine
